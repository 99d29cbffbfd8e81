"""ConstrainedGaussianMixture: EM for Gaussian mixtures under must-links and cannot-links."""

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from conclust._declare import PAIRS, Named, Takes
from conclust._kernels.place_hard import sum_costs
from conclust._lloyd.best import best_of_starts, n_starts
from conclust._lloyd.start import centered, init_centers
from conclust._placement.hard import Outcome, Placement, place
from conclust._placement.marginals import MAX_STATES, ApartMarginals
from conclust._placement.units import Units, hard_units, raise_infeasible
from conclust._progress import Rounds
from conclust._sklearn import (
    Interval,
    StrOptions,
    fit_context,
    gaussian_parameters,
    log_gaussian,
    precision_cholesky,
    scaled_tolerance,
)
from conclust._validation import check_enough_rows, check_inputs, check_new_rows, weights_of_rows
from conclust.cluster._cop_kmeans import cop_kmeans
from conclust.constraints import Constraints

WAY_OUT = "Raise n_components, drop one of these statements, or use PCKMeans, which may break them."


class Round(NamedTuple):
    """What one iteration did."""

    log_likelihood: float  # per unit of weight, before the components moved
    change: float  # since the last iteration
    seconds: float


class Mixture(NamedTuple):
    """A Gaussian mixture; shapes of the last two as in scikit-learn's GaussianMixture."""

    weights: np.ndarray  # (n_components,)
    means: np.ndarray  # (n_components, n_features)
    covariances: np.ndarray
    precisions_cholesky: np.ndarray


class Expected(NamedTuple):
    """What the E-step finds."""

    responsibilities: np.ndarray  # (n_samples, n_components)
    log_likelihood: float  # per unit of weight
    score: np.ndarray  # (n_units, n_components) summed log densities of each unit
    pins: np.ndarray  # (n_units,) see `ApartMarginals`


class Run(NamedTuple):
    """The result of one start."""

    mixture: Mixture
    responsibilities: np.ndarray  # (n_samples, n_components)
    labels: np.ndarray  # (n_samples,) int32, every statement kept
    log_likelihood: float  # of the last iteration
    converged: bool
    history: list[Round]
    exact: bool  # no component of the cannot-link graph was too entangled


def constrained_gaussian_mixture(
    X: np.ndarray,
    units: Units,
    responsibilities: np.ndarray,
    *,
    labels: np.ndarray | None = None,
    covariance_type: str = "full",
    reg_covar: float = 1e-6,
    sample_weight: np.ndarray | None = None,
    max_iter: int = 100,
    tol: float = 1e-3,
    max_states: int = MAX_STATES,
    on_round: Callable[[Round], object] | None = None,
) -> Run:
    """Fit a Gaussian mixture by EM from one start.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred, for accuracy.
    units : Units
        Linked rows.
    responsibilities : ndarray of shape (n_samples, n_components)
        The start: how much each row belongs to each component. Need not keep the links.
    labels : ndarray of shape (n_samples,), default=None
        A labelling that keeps every link, if one is known; looked for by default.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
    reg_covar : float, default=1e-6
    sample_weight : ndarray of shape (n_samples,), default=None
    max_iter : int, default=100
    tol : float, default=1e-3
        Stop when the log-likelihood per unit of weight changes by less.
    max_states : int, default=100_000
        See `ApartMarginals`.
    on_round : callable, default=None

    Returns
    -------
    Run

    Notes
    -----
    The log-likelihood never falls, but for what `reg_covar` adds to the covariances.
    """
    weight = np.ones(len(X), dtype=X.dtype) if sample_weight is None else sample_weight
    e_step = ExpectationStep(
        X, units, weight, responsibilities.shape[1], covariance_type, max_states
    )
    mixture = m_step(X, responsibilities, weight, covariance_type, reg_covar)
    rounds = Rounds(Round, on_round)
    likelihood = -np.inf
    pins: np.ndarray | None = None
    if labels is not None:
        pins = np.empty(units.graph.n_units, np.int64)
        pins[units.unit] = labels[units.rows]
    converged = False
    for _ in range(max_iter):
        expected = e_step(mixture, pins)
        pins = expected.pins
        mixture = m_step(X, expected.responsibilities, weight, covariance_type, reg_covar)
        before, likelihood = likelihood, expected.log_likelihood
        change = likelihood - before
        rounds.note(likelihood, change)
        converged = abs(change) < tol
        if converged:
            break
    expected = e_step(mixture, pins)
    return Run(
        mixture,
        expected.responsibilities,
        _most_probable(expected, units),
        likelihood,
        converged,
        rounds.history,
        bool(e_step.marginals.exact.all()),
    )


class ExpectationStep:
    r"""Responsibilities under a mixture, linked rows together.

    Rows joined by links, must or cannot, form a part. With weights :math:`w_i` of mean
    :math:`\bar w` in the part, its log-likelihood is

    .. math::

        \bar w \log \sum_{l} \prod_i
            \bigl(\pi_{l_i} N(x_i; \mu_{l_i}, \Sigma_{l_i})\bigr)^{w_i / \bar w}

    over the labellings :math:`l` of the part that keep its links. A free row is a part of its own;
    equal weights leave the sum as it is; and the M-step with :math:`w_i` times the responsibilities
    is exact, so EM keeps its guarantee with weights. A part without weight has the likelihood 0
    and the responsibilities that equal weights would give.
    """

    def __init__(
        self,
        X: np.ndarray,
        units: Units,
        weight: np.ndarray,
        n_components: int,
        covariance_type: str,
        max_states: int = MAX_STATES,
    ):
        self.X, self.units, self.covariance_type = X, units, covariance_type
        self.n_components = n_components
        self.marginals = ApartMarginals(units.graph, n_components, max_states=max_states)
        self.total = float(weight.sum(dtype=np.float64))
        part = units.graph.component[units.unit]
        weight_of_rows = weight[units.rows].astype(np.float64)
        n_parts = len(units.graph.odd)
        sizes = np.bincount(part, minlength=n_parts)
        self.mean_weight = np.bincount(part, weight_of_rows, n_parts) / np.maximum(sizes, 1)
        mean = self.mean_weight[part]
        self.power = np.divide(weight_of_rows, mean, out=np.ones_like(mean), where=mean > 0)
        self.free_weight = weight.astype(np.float64)
        self.free_weight[units.rows] = 0

    def __call__(self, mixture: Mixture, pins: np.ndarray | None) -> Expected:
        """Return the responsibilities, never with a lower likelihood than under the old pins."""
        rows, unit, graph = self.units
        joint = log_joint(self.X, mixture, self.covariance_type)
        score = np.zeros((graph.n_units, self.n_components))
        sum_costs(joint[rows], unit, self.power, score)
        found = self.marginals(score, pins)
        log_norm, responsibilities = _normalize(joint)
        responsibilities[rows] = found.probability[unit]
        likelihood = self.free_weight @ log_norm + self.mean_weight @ found.log_z
        return Expected(responsibilities, float(likelihood / self.total), score, found.labels)


def log_joint(X: np.ndarray, mixture: Mixture, covariance_type: str) -> np.ndarray:
    """Return log π_c + log N(x; μ_c, Σ_c), (n_samples, n_components)."""
    density = log_gaussian(X, mixture.means, mixture.precisions_cholesky, covariance_type)
    return density + np.log(mixture.weights)


def m_step(
    X: np.ndarray,
    responsibilities: np.ndarray,
    weight: np.ndarray,
    covariance_type: str,
    reg_covar: float,
) -> Mixture:
    """The mixture that explains weighted responsibilities best.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    responsibilities : ndarray of shape (n_samples, n_components)
    weight : ndarray of shape (n_samples,)
    covariance_type : {"full", "tied", "diag", "spherical"}
    reg_covar : float
        Added to the diagonals of the covariances.

    Returns
    -------
    Mixture
    """
    mass = responsibilities * weight[:, None]
    if covariance_type == "tied":
        # scikit-learn's sum of squares takes every row once, whatever the responsibilities.
        counts, means, _ = gaussian_parameters(X, mass, reg_covar, "spherical")
        covariances = ((X * weight[:, None]).T @ X - (counts * means.T) @ means) / counts.sum()
        covariances.flat[:: X.shape[1] + 1] += reg_covar
    else:
        counts, means, covariances = gaussian_parameters(X, mass, reg_covar, covariance_type)
    return Mixture(
        counts / counts.sum(),
        means,
        covariances,
        precision_cholesky(covariances, covariance_type),
    )


def _normalize(joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log of the sum of exp over each row, and exp divided by that sum."""
    top = joint.max(axis=1)
    shares = np.exp(joint - top[:, None])
    sums = shares.sum(axis=1)
    shares /= sums[:, None]
    return top + np.log(sums), shares


def _most_probable(expected: Expected, units: Units) -> np.ndarray:
    """Label free rows by themselves, linked ones by the best labelling found that keeps links."""
    labels = expected.responsibilities.argmax(axis=1).astype(np.int32)
    known = expected.pins if (expected.pins >= 0).all() else None
    placed = place(-expected.score, units.graph, previous=known)
    labels[units.rows] = placed.labels[units.unit]
    return labels


class ConstrainedGaussianMixture(ClusterMixin, BaseEstimator):
    r"""Gaussian mixture whose EM knows which rows come from the same component, and which do not.

    Must-linked rows share one component; rows with a cannot-link come from different ones. The
    E-step sums over the labellings that keep all statements and no others, so a statement moves
    not only its two rows but the components, and through them every other row.

    Parameters
    ----------
    n_components : int, default=2
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        As in scikit-learn's :class:`~sklearn.mixture.GaussianMixture`.
    init : {"kmeans", "random"} or array-like of shape (n_components, n_features), default="kmeans"
        Where EM starts: at the clusters of k-means under the same statements (`COPKMeans`), started
        by k-means++ or at the centres given; or at random responsibilities.
    n_init : int, default=1
        Starts; the one with the highest likelihood is kept. From an array there is but one.
    max_iter : int, default=100
    tol : float, default=1e-3
        Stop when the log-likelihood per sample changes by less.
    reg_covar : float, default=1e-6
        Added to the diagonals of the covariances, to keep them positive.
    max_states : int, default=100_000
        Labellings looked at in one connected component of the cannot-link graph, in each E-step,
        before the sum over labellings is bounded instead of computed; see Notes.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        The most probable labelling that keeps every statement.
    responsibilities_ : ndarray of shape (n_samples, n_components)
        Probability of each component for each row of `fit`, given the rows and all statements.
    weights_, means_, covariances_, precisions_, precisions_cholesky_ : ndarray
        As in scikit-learn's GaussianMixture.
    lower_bound_ : float
        Log-likelihood per sample of the last iteration.
    exact_ : bool
        Whether all sums over labellings were computed, none bounded.
    converged_ : bool
    n_iter_ : int
    history_ : list of Round
        Log-likelihood per sample and its change, of the start that was kept.
    report_ : ConstraintReport
        Which statements `labels_` keeps: all.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    GeneralizedKMeans : Hard assignments; faster, weaker.
    MPCKMeans : Learns a metric per cluster, and may break statements.

    Notes
    -----
    It maximises the joint density of the rows and of the event that all statements hold,

    .. math::

        \log \sum_{l} \prod_i \pi_{l_i} N(x_i; \mu_{l_i}, \Sigma_{l_i})

    over labellings :math:`l` that keep them: the right one when pairs are drawn first and answered
    then. [1]_ divides by the probability of the event under the weights :math:`\pi` alone; that
    leaves the means and covariances of an iteration as they are but has no closed form for
    :math:`\pi`.

    Must-links are exact. Cannot-links are exact with two components, where the cannot-link graph is
    a forest, and where a sweep along it fits `max_states`; a larger entangled part is bounded from
    below by pinning some of its rows to one component each. Either way no statement is ever broken
    and the log-likelihood (its bound, where `exact_` is false) never falls, but for what
    `reg_covar` adds. Weights of statements play no part: every statement is certain.

    Without statements it is scikit-learn's GaussianMixture. Memory: two arrays of shape (n_samples,
    n_components).

    References
    ----------
    .. [1] N. Shental, A. Bar-Hillel, T. Hertz and D. Weinshall, "Computing Gaussian Mixture Models
       with EM Using Equivalence Constraints", NIPS 16, 2004.

    Examples
    --------
    >>> from conclust import ConstrainedGaussianMixture, Constraints
    >>> from conclust.datasets import make_wedges
    >>> X, y = make_wedges(random_state=0)
    >>> known = Constraints(must_link=[(0, 1)], cannot_link=[(0, 100), (1, 200)])
    >>> model = ConstrainedGaussianMixture(2, random_state=0).fit(X, constraints=known)
    >>> bool((model.labels_[:60] == model.labels_[0]).all())
    True
    >>> model.predict_proba(X[:1]).shape
    (1, 2)
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="hard",
        when="clusters are elongated or differ in spread; probabilities",
        hard=True,
        sparse=False,
        names=(Named("gmm", "a Gaussian mixture under statements"),),
        clusters="n_components",
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions({"full", "tied", "diag", "spherical"})],
        "init": [StrOptions({"kmeans", "random"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "max_states": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        covariance_type: str = "full",
        init: Any = "kmeans",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_states: int = MAX_STATES,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_states = max_states
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Constraints | None = None,
        sample_weight: Any = None,
    ) -> "ConstrainedGaussianMixture":
        """Fit the mixture and label the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        constraints : Constraints, default=None
            Must-links and cannot-links.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self

        Raises
        ------
        InconsistentConstraintsError
            When the statements contradict each other, whatever the number of components.
        InfeasibleConstraintsError
            When no labelling with `n_components` components keeps them.
        """
        X, constraints = check_inputs(self, X, constraints)
        check_enough_rows(len(X), self.n_components, "n_components")
        weight = weights_of_rows(sample_weight, X)
        units = hard_units(constraints, self.n_components, WAY_OUT, argument="n_components")
        random_state = check_random_state(self.random_state)
        data = centered(X)

        def start(number: int, on_round: Any) -> Run:
            first, labels, failed = self._start(data.X, data.mean, units, weight, random_state)
            if failed is not None:
                raise_infeasible(
                    constraints, self.n_components, failed, WAY_OUT, argument="n_components"
                )
            return constrained_gaussian_mixture(
                data.X,
                units,
                first,
                labels=labels,
                covariance_type=self.covariance_type,
                reg_covar=self.reg_covar,
                sample_weight=weight,
                max_iter=self.max_iter,
                tol=self.tol,
                max_states=self.max_states,
                on_round=on_round,
            )

        best = best_of_starts(
            start,
            n_starts(self.init, self.n_init),
            lambda run: (-run.log_likelihood,),
            what=type(self).__name__,
            verbose=self.verbose,
        )
        self.weights_, self.means_ = best.mixture.weights, best.mixture.means + data.mean
        self.covariances_ = best.mixture.covariances
        self.precisions_cholesky_ = best.mixture.precisions_cholesky
        self.precisions_ = _precisions(self.precisions_cholesky_, self.covariance_type)
        self.labels_, self.responsibilities_ = best.labels, best.responsibilities
        self.lower_bound_, self.converged_ = best.log_likelihood, best.converged
        self.exact_ = best.exact
        self.n_iter_, self.history_ = len(best.history), best.history
        self.report_ = constraints.report(best.labels)
        if not best.converged:
            warnings.warn(
                f"EM stopped after max_iter={self.max_iter} iterations, the last of which changed "
                f"the log-likelihood per sample by {best.history[-1].change:.2g}. Raise max_iter "
                f"or tol={self.tol}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _start(
        self,
        X: np.ndarray,
        mean: np.ndarray,
        units: Units,
        weight: np.ndarray,
        random_state: np.random.RandomState,
    ) -> tuple[np.ndarray, np.ndarray, Placement | None]:
        """Responsibilities, labels that keep every link, and why there are none."""
        if isinstance(self.init, str) and self.init == "random":
            responsibilities = random_state.uniform(size=(len(X), self.n_components))
            responsibilities /= responsibilities.sum(axis=1, keepdims=True)
            labels = responsibilities.argmax(axis=1)
            cost = np.zeros((units.graph.n_units, self.n_components))
            sum_costs(-responsibilities[units.rows], units.unit, np.empty(0), cost)
            placed = place(cost, units.graph)
            labels[units.rows] = placed.labels[units.unit]
            failed = None if placed.outcome is Outcome.FEASIBLE else placed
            return responsibilities.astype(X.dtype, copy=False), labels, failed
        init = "k-means++" if isinstance(self.init, str) else self.init
        centers = init_centers(X, self.n_components, init, weight, random_state, mean=mean)
        tol = scaled_tolerance(X, 1e-4)  # as scikit-learn starts its mixtures
        run = cop_kmeans(X, units, centers, sample_weight=weight, tol=tol)
        responsibilities = np.eye(self.n_components, dtype=X.dtype)[run.labels]
        return responsibilities, run.labels, None if run.history else run.placement

    def predict(self, X: Any) -> np.ndarray:
        """Most probable component of each row; statements are not applied again.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int32
        """
        return self._log_joint(X).argmax(axis=1).astype(np.int32)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each component for each row; statements are not applied again.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return _normalize(self._log_joint(X))[1]

    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return _normalize(self._log_joint(X))[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())

    def _log_joint(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = check_new_rows(self, X, dtype=self.means_.dtype)
        # Moved to where the components are: squares of large numbers would lose digits.
        middle = self.means_.mean(axis=0)
        mixture = Mixture(
            self.weights_, self.means_ - middle, self.covariances_, self.precisions_cholesky_
        )
        return log_joint(X - middle, mixture, self.covariance_type)


def _precisions(cholesky: np.ndarray, covariance_type: str) -> np.ndarray:
    if covariance_type in {"full", "tied"}:
        return cholesky @ np.swapaxes(cholesky, -1, -2)
    return cholesky**2
