"""ConstrainedGaussianMixture: EM for Gaussian mixtures, statements certain or in doubt."""

import copy
import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from conclust import blocks
from conclust._arrays import Labels, in_parts, is_source, labels_of
from conclust._declare import PAIRS, Named, Takes
from conclust._kernels.place_hard import sum_costs
from conclust._known_labels import SEEDS
from conclust._living import Living, told
from conclust._lloyd.best import best_of_starts, n_starts
from conclust._lloyd.start import centered, init_centers, scaled_tolerance
from conclust._pairs import SignedPairs
from conclust._placement.belief import Rates, is_forest
from conclust._placement.hard import Outcome, Placement, place
from conclust._placement.links import link_rows
from conclust._placement.marginals import MAX_STATES
from conclust._placement.units import Units, hard_units, raise_infeasible
from conclust._sklearn import (
    Interval,
    StrOptions,
    fit_context,
)
from conclust._statements import by_statement, most_doubted
from conclust._summaries import Shown
from conclust._threads import one_blas_thread
from conclust._validation import check_enough_rows, check_inputs, check_new_rows, weights_of_rows
from conclust.cluster._certain_mixture import Run, constrained_gaussian_mixture
from conclust.cluster._constrained_kmeans import constrained_kmeans
from conclust.cluster._cop_kmeans import cop_kmeans
from conclust.cluster._doubting_mixture import (
    CERTAIN,
    Scatter,
    doubting_mixture,
    rates_of_shares,
    softened,
    wrong_shares,
)
from conclust.cluster._mixture import Mixture, log_joint, normalize, precisions_of
from conclust.cluster._mixture_in_blocks import DoubtInBlocks, mixture_in_blocks
from conclust.cluster._pckmeans import pckmeans
from conclust.cluster._penalty import MULTIPLES, NO_PAIRS, price_by_regret
from conclust.constraints import Constraints

if TYPE_CHECKING:
    import pandas as pd

WAY_OUT = "Raise n_components, drop one of these statements, or use PCKMeans, which may break them."


class ConstrainedGaussianMixture(Living, Shown, ClusterMixin, BaseEstimator):
    r"""Gaussian mixture whose EM knows which rows come from the same component, and which do not.

    Must-linked rows share one component; rows with a cannot-link come from different ones. The
    E-step sums over the labellings that keep all statements and no others, so a statement moves
    not only its two rows but the components, and through them every other row.

    Parameters
    ----------
    n_components : int, default=2
        How many components, hence clusters.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        As in scikit-learn's :class:`~sklearn.mixture.GaussianMixture`.
    init : {"kmeans", "random"} or array-like of shape (n_components, n_features), default="kmeans"
        Where EM starts: at the clusters of k-means under the same statements (`COPKMeans`), started
        by k-means++ or at the centres given; or at random responsibilities.
    seeds : {"auto", "hard", "soft", "init"} or None, default="auto"
        What the classes of some rows are, given as `y` to `fit`. "hard": bound to their clusters.
        "soft", with a `flip_rate`: statements like others. "init": places where components
        start, no more. None: ignored. "auto": "soft" with a `flip_rate`, else "hard", but a `y`
        that leaves no row open is ignored, as scikit-learn's clusterers do.
    n_init : int, default=1
        Starts; the one with the highest likelihood is kept. From an array there is but one.
    max_iter : int, default=100
        Iterations of one start at most.
    tol : float, default=1e-3
        Stop when the log-likelihood per sample changes by less.
    reg_covar : float, default=1e-6
        Added to the diagonals of the covariances, to keep them positive.
    max_states : int, default=100_000
        Labellings looked at in one connected component of the cannot-link graph, in each E-step,
        before the sum over labellings is bounded instead of computed; see Notes.
    flip_rate : float, (float, float) or "auto", default=0.0
        How often statements are wrong. 0: never, and all are kept. Otherwise statements are
        evidence, and what the rows contradict is doubted rather than kept. A number below 0.5: each
        is wrong with this probability, whatever is true. Two of them: the share of must-links and
        that of cannot-links that are wrong. "auto": both rates are estimated.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        The most probable labelling that keeps every statement; with a `flip_rate`, the most
        probable label of each row.
        Of a collection of an engine, one of that engine, not computed yet, as `predict` gives.
    responsibilities_ : ndarray of shape (n_samples, n_components)
        Probability of each component for each row of `fit`, given the rows and all statements; not
        there for rows in blocks.
    weights_, means_, covariances_, precisions_, precisions_cholesky_ : ndarray
        As in scikit-learn's GaussianMixture.
    lower_bound_ : float
        Log-likelihood per sample of the last iteration.
    exact_ : bool
        Whether all sums over labellings were computed, none bounded (or approximated).
    flip_rate_ : (float, float)
        Share of must-links and of cannot-links that are wrong: as given, or estimated.
    doubt_ : ndarray of shape (len(constraints),)
        Probability that each statement is wrong; 0 for all where they are certain.
    converged_ : bool
    n_iter_ : int
    history_ : list of Round
        Log-likelihood per sample and its change, of the start that was kept.
    classes_ : ndarray of shape (n_components,)
        The class of each component, None for one without; with known labels only.
    constraints_ : Constraints
        All statements, those of known labels included.
    changes_ : DataFrame
        What the last :meth:`update` changed.
    report_ : ConstraintReport
        Which statements `labels_` keeps: all, unless there is a `flip_rate`.
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

    With a `flip_rate`, pairs in two clusters are said to be must-links with probability
    :math:`ε_M`, pairs in one to be cannot-links with :math:`ε_C`. A must-link of weight w
    multiplies the odds of its two rows being together by :math:`((1 - ε_C) / ε_M)^w`, a cannot-link
    those of being apart by :math:`((1 - ε_M) / ε_C)^w`, and nothing is certain: contradictory
    statements are welcome. The E-step is belief propagation along the statements: exact where they
    form a forest (EM then never lowers the likelihood), damped elsewhere. An estimated rate is the
    expected share of statements about such pairs that are wrong, as if two of twenty more were,
    between 0.005 and 0.4. Weights are those of one more row in every component. The shared
    covariance is drawn towards the variances of the features as by d rows; own ones towards the
    shared one as by 0.2 d. Each start runs EM from `PCKMeans` and from plain k-means; the
    statements choose between them, for rows outnumber them. O(n k d + m k) an iteration under a
    shared covariance. Rows of low `sample_weight` count less in the components, not in statements.

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

    A fifth of the answers wrong, nobody knows which:

    >>> from sklearn.datasets import load_iris
    >>> from conclust import sample_constraints
    >>> X, y = load_iris(return_X_y=True)
    >>> told = sample_constraints(y, 300, noise=0.2, random_state=0)
    >>> model = ConstrainedGaussianMixture(
    ...     3, covariance_type="tied", flip_rate="auto", random_state=0
    ... ).fit(X, constraints=told)
    >>> [round(rate, 1) for rate in model.flip_rate_]  # a third of the must-links
    [0.3, 0.1]
    >>> float(model.suspects(40)["flipped"].mean()) > 0.9
    True
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="hard",
        when="clusters are elongated or differ in spread; probabilities",
        hard=True,
        sparse=False,
        blocks=blocks.open,
        names=(
            Named("gmm", "a Gaussian mixture under statements"),
            Named(
                "doubt",
                "a Gaussian mixture that estimates how many statements are wrong, and which",
                {"flip_rate": "auto", "covariance_type": "tied"},
            ),
        ),
        clusters="n_components",
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions({"full", "tied", "diag", "spherical"})],
        "init": [StrOptions({"kmeans", "random"}), "array-like"],
        "seeds": SEEDS,
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "max_states": [Interval(Integral, 1, None, closed="left")],
        "flip_rate": [Interval(Real, 0, 0.5, closed="left"), tuple, list, StrOptions({"auto"})],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        covariance_type: str = "full",
        init: Any = "kmeans",
        seeds: str | None = "auto",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_states: int = MAX_STATES,
        flip_rate: Any = 0.0,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.init = init
        self.seeds = seeds
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_states = max_states
        self.flip_rate = flip_rate
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    @told
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
        X : {array-like, Blocks} of shape (n_samples, n_features)
            The rows to cluster. Blocks: see :func:`conclust.blocks.open`; with
            ``covariance_type="tied"``.
        y : array-like of shape (n_samples,), default=None
            Class of each row, -1, None or NaN where it is not known; see `seeds`.
        constraints : Constraints, default=None
            Must-links and cannot-links.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; None for 1 each.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InconsistentConstraintsError
            When the statements contradict each other, whatever the number of components; never
            with a `flip_rate`.
        InfeasibleConstraintsError
            When no labelling with `n_components` components keeps them; never with a `flip_rate`.
        """
        self._refuse_blocks(X)
        X, constraints = check_inputs(self, X, constraints)
        check_enough_rows(X.shape[0], self.n_components, "n_components")
        # For rows in blocks no array of ones.
        is_plain = sample_weight is None and is_source(X)
        weight = None if is_plain else weights_of_rows(sample_weight, X)
        self.constraints_ = constraints
        # Products of many rows and few features: two threads take twice as long as one.
        with one_blas_thread():
            if is_certain(self.flip_rate):
                best = self._keep_all(X, constraints, weight)
            else:
                best = self._doubt(X, constraints, weight)
        self.weights_, self.means_ = best.mixture.weights, best.mixture.means
        self.covariances_ = best.mixture.covariances
        self.precisions_cholesky_ = best.mixture.precisions_cholesky
        self.precisions_ = precisions_of(self.precisions_cholesky_, self.covariance_type)
        self.labels_ = best.labels
        self.__dict__.pop("responsibilities_", None)
        if best.responsibilities is not None:
            self.responsibilities_ = best.responsibilities
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

    def _refuse_blocks(self, X: Any) -> None:
        """Say what is not done with rows in blocks."""
        if not is_source(X):
            return
        is_random = isinstance(self.init, str) and self.init == "random"
        for name, is_refused, way_out in (
            ("covariance_type", self.covariance_type != "tied", "'tied'"),
            ("init", is_random, "'kmeans' or an array"),
        ):
            if is_refused:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} needs all rows at once, and X is {X!r}. In "
                    f"blocks {name} must be {way_out}; if the rows fit into memory, pass "
                    "X.to_numpy()."
                )

    def _keep_all(self, X: Any, constraints: Constraints, weight: np.ndarray | None) -> Run:
        """The best start of EM under statements that are certain."""
        self.flip_rate_, self.doubt_ = (0.0, 0.0), np.zeros(len(constraints))
        units = hard_units(constraints, self.n_components, WAY_OUT, argument="n_components")
        random_state = check_random_state(self.random_state)
        data = centered(X)

        how: dict[str, Any] = {
            "reg_covar": self.reg_covar,
            "sample_weight": weight,
            "max_iter": self.max_iter,
            "tol": self.tol,
            "max_states": self.max_states,
        }

        def start(number: int, on_round: Any) -> Run:
            first, labels, failed = self._start(data.X, data.mean, units, weight, random_state)
            if failed is not None:
                raise_infeasible(
                    constraints, self.n_components, failed, WAY_OUT, argument="n_components"
                )
            if first is None:
                k = self.n_components
                return mixture_in_blocks(data.X, units, labels, k, on_round=on_round, **how)
            return constrained_gaussian_mixture(
                data.X,
                units,
                first,
                labels=labels,
                covariance_type=self.covariance_type,
                on_round=on_round,
                **how,
            )

        best = best_of_starts(
            start,
            n_starts(self.init, self.n_init),
            lambda run: (-run.log_likelihood,),
            what=type(self).__name__,
            verbose=self.verbose,
        )
        moved = best.mixture._replace(means=best.mixture.means + data.mean)
        return best._replace(mixture=moved)

    def _doubt(self, X: Any, constraints: Constraints, weight: np.ndarray | None) -> Run:
        """The best start of EM under statements that may be wrong."""
        pairs = constraints.pairs()
        given = rates_of(self.flip_rate, pairs)
        random_state = check_random_state(self.random_state)
        data = centered(X)
        rows: Any = (
            DoubtInBlocks(data.X, weight, pairs, self.n_components)
            if is_source(X)
            else Scatter(data.X, weight)
        )
        how: dict[str, Any] = {
            "rates": given,
            "reg_covar": self.reg_covar,
            "max_iter": self.max_iter,
            "tol": self.tol,
        }

        def run(first: np.ndarray, on_round: Any) -> Any:
            if is_source(X):
                return rows.run(first, on_round=on_round, **how)
            kind = self.covariance_type
            return doubting_mixture(
                rows, pairs, first, covariance_type=kind, on_round=on_round, **how
            )

        def start(number: int, on_round: Any) -> Any:
            firsts = self._soft_starts(data.X, data.mean, constraints, weight, random_state)
            found = [run(first, on_round) for first in firsts]
            return best_of_starts(lambda number, on_round: found[number], len(found), worth)

        def worth(run: Any) -> tuple[float, ...]:
            return -run.log_evidence, -run.log_likelihood

        best = best_of_starts(
            start,
            n_starts(self.init, self.n_init),
            worth,
            what=type(self).__name__,
            verbose=self.verbose,
        )
        self.flip_rate_ = shares_of(self.flip_rate) or wrong_shares(best.doubt, pairs)
        self.doubt_ = by_statement(best.doubt, pairs.statement, len(constraints))
        if is_source(X):
            moved, shares, labels = data.mean, None, rows.labels(best)
        else:
            moved, shares = rows.mean + data.mean, best.responsibilities
            labels = shares.argmax(axis=1).astype(np.int32)
        return Run(
            best.mixture._replace(means=best.mixture.means + moved),
            shares,
            labels,
            best.log_likelihood,
            best.converged,
            best.history,
            is_forest(pairs),
        )

    def _soft_starts(
        self,
        X: Any,
        mean: np.ndarray,
        constraints: Constraints,
        weight: np.ndarray | None,
        random_state: np.random.RandomState,
    ) -> list[np.ndarray]:
        """Responsibilities (in blocks: labels) to start from: soft and plain k-means."""
        if self._resumes is not None:
            return [self._resumes]
        if isinstance(self.init, str) and self.init == "random":
            drawn = random_state.uniform(size=(len(X), self.n_components))
            return [drawn / drawn.sum(axis=1, keepdims=True)]
        init = "k-means++" if isinstance(self.init, str) else self.init
        centers = init_centers(X, self.n_components, init, weight, random_state, mean=mean)
        tol = scaled_tolerance(X, 1e-4)
        starts = [constrained_kmeans(X, *NO_PAIRS, centers, sample_weight=weight, tol=tol).labels]
        if constraints:
            links = link_rows(constraints)
            counted = np.ones(X.shape[0], dtype=X.dtype) if weight is None else weight
            price = MULTIPLES[1] * price_by_regret(X, centers, counted)
            found = pckmeans(X, links, price, centers, sample_weight=weight, tol=tol)
            starts.insert(0, found.labels)
        if is_source(X):
            return starts
        return [softened(labels, self.n_components) for labels in starts]

    def _start(
        self,
        X: Any,
        mean: np.ndarray,
        units: Units,
        weight: np.ndarray | None,
        random_state: np.random.RandomState,
    ) -> tuple[np.ndarray | None, np.ndarray, Placement | None]:
        """Responsibilities (None in blocks), labels that keep every link, why there are none."""
        if self._resumes is not None or (isinstance(self.init, str) and self.init == "random"):
            responsibilities = self._resumes
            if responsibilities is None:
                responsibilities = random_state.uniform(size=(len(X), self.n_components))
                responsibilities /= responsibilities.sum(axis=1, keepdims=True)
            labels = responsibilities.argmax(axis=1)
            cost = np.empty((units.graph.n_units, self.n_components))
            sum_costs(-responsibilities[units.rows], units.unit, np.empty(0), cost)
            placed = place(cost, units.graph)
            labels[units.rows] = placed.labels[units.unit]
            failed = None if placed.outcome is Outcome.FEASIBLE else placed
            return responsibilities.astype(X.dtype, copy=False), labels, failed
        init = "k-means++" if isinstance(self.init, str) else self.init
        centers = init_centers(X, self.n_components, init, weight, random_state, mean=mean)
        tol = scaled_tolerance(X, 1e-4)  # as scikit-learn starts its mixtures
        run = cop_kmeans(X, units, centers, sample_weight=weight, tol=tol)
        failed = None if run.history else run.placement
        if is_source(X):
            return None, run.labels, failed
        return np.eye(self.n_components, dtype=X.dtype)[run.labels], run.labels, failed

    # ------------------------------------------------------------------ known labels, going on

    _resumes: np.ndarray | None = None  # responsibilities that a copy made by `update` starts from

    @property
    def _keeps_all(self) -> bool:
        return is_certain(self.flip_rate)

    @property
    def _by_cluster(self) -> dict[str, int]:  # type: ignore[override]
        shared = {"means_": 0, "weights_": 0}
        if hasattr(self, "responsibilities_"):
            shared["responsibilities_"] = 1
        if self.covariance_type == "tied":
            return shared
        return shared | dict.fromkeys(("covariances_", "precisions_", "precisions_cholesky_"), 0)

    def _centers(self, X: Any) -> np.ndarray:
        return self.means_

    def _bind(self, rows: np.ndarray, numbers: np.ndarray) -> None:
        super()._bind(rows, numbers)
        if not hasattr(self, "responsibilities_"):
            return
        self.responsibilities_ = self.responsibilities_.copy()
        self.responsibilities_[rows] = np.eye(self._n_clusters)[numbers]

    def _resumed(
        self, X: Any, labels: np.ndarray, centers: np.ndarray
    ) -> "ConstrainedGaussianMixture":
        n_old, n_clusters = len(self.labels_), len(centers)
        found = np.zeros((len(labels), n_clusters), dtype=self.means_.dtype)
        found[:n_old, : self._n_clusters] = self.responsibilities_
        if len(labels) > n_old:
            new = X.iloc[n_old:] if hasattr(X, "iloc") else X[n_old:]
            found[n_old:, : self._n_clusters] = self.predict_proba(new)
        opened = labels >= self._n_clusters
        found[opened] = np.eye(n_clusters)[labels[opened]]
        inner: ConstrainedGaussianMixture = copy.copy(self)
        inner.n_components, inner.n_init, inner._resumes = n_clusters, 1, found
        return inner

    def suspects(self, n: int = 10) -> "pd.DataFrame":
        """The statements least believed after the fit: "please look at these again".

        Parameters
        ----------
        n : int, default=10
            How many statements at most, the least believed first.

        Returns
        -------
        DataFrame
            The statements as in ``constraints.to_frame()``, with their number `statement` and
            `doubt`, the probability that it is wrong, most doubtful first.
        """
        check_is_fitted(self)
        if is_certain(self.flip_rate):
            raise ValueError(
                f"flip_rate={self.flip_rate!r}: every statement is certain, so none is suspect. "
                'Fit with flip_rate="auto".'
            )
        return most_doubted(self.constraints_, self.doubt_, n)

    def predict(self, X: Any) -> np.ndarray:
        """Most probable component of each row; statements are not applied again.

        Parameters
        ----------
        X : {array-like, Blocks} of shape (n_samples, n_features)
            The rows, new or old.

        Returns
        -------
        ndarray of shape (n_samples,), int32
            The cluster of each row. Of a collection, one of the same engine that is not computed
            yet: a dask array, a Ray dataset with the column ``label``.
        """
        return labels_of(self._check_new_rows(X), self._label)

    @property
    def _label(self) -> Callable[[Any], Labels]:
        return partial(likeliest, mixture=self._mixture, covariance_type=self.covariance_type)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each component for each row; statements are not applied again.

        Parameters
        ----------
        X : {array-like, Blocks} of shape (n_samples, n_features)
            The rows, new or old.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Probability of each component for each row.
        """
        parts = in_parts(self._check_new_rows(X))
        return np.concatenate([normalize(self._log_joint(rows))[1] for _, rows in parts])

    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of each row.

        Parameters
        ----------
        X : {array-like, Blocks} of shape (n_samples, n_features)
            The rows, new or old.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-density of each row.
        """
        parts = in_parts(self._check_new_rows(X))
        return np.concatenate([normalize(self._log_joint(rows))[0] for _, rows in parts])

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows.

        Parameters
        ----------
        X : {array-like, Blocks} of shape (n_samples, n_features)
            The rows, new or old.
        y : ignored
            Here because scikit-learn's API asks for it.

        Returns
        -------
        float
            The higher, the better the rows fit.
        """
        return float(self.score_samples(X).mean())

    def _check_new_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_new_rows(self, X, dtype=self.means_.dtype)

    @property
    def _mixture(self) -> Mixture:
        return Mixture(self.weights_, self.means_, self.covariances_, self.precisions_cholesky_)

    def _log_joint(self, X: np.ndarray) -> np.ndarray:
        return log_joint_there(X, self._mixture, self.covariance_type)


def log_joint_there(X: np.ndarray, mixture: Mixture, covariance_type: str) -> np.ndarray:
    """`log_joint`, moved to where the components are: squares of large numbers lose digits."""
    middle = mixture.means.mean(axis=0)
    moved = mixture._replace(means=mixture.means - middle)
    return log_joint(X - middle, moved, covariance_type)


def likeliest(X: np.ndarray, mixture: Mixture, covariance_type: str) -> Labels:
    """Most probable component of each row."""
    return log_joint_there(X, mixture, covariance_type).argmax(axis=1).astype(np.int32)


def is_certain(flip_rate: Any) -> bool:
    """Whether no statement can be wrong."""
    return not isinstance(flip_rate, str | tuple | list) and flip_rate == 0


def rates_of(flip_rate: Any, pairs: SignedPairs) -> Rates | None:
    """The rates given, kept off 0, or None where they are to be estimated."""
    shares = shares_of(flip_rate)
    if shares is None:
        return None
    if isinstance(flip_rate, tuple | list):
        return rates_of_shares(shares, pairs)
    return Rates(*(max(rate, CERTAIN) for rate in shares))


def shares_of(flip_rate: Any) -> tuple[float, float] | None:
    """The shares of wrong must-links and cannot-links that are given, or None."""
    if isinstance(flip_rate, str):
        return None
    both = flip_rate if isinstance(flip_rate, tuple | list) else (flip_rate, flip_rate)
    if len(both) != 2 or not all(
        isinstance(rate, Real) and 0 <= float(rate) < 0.5 for rate in both
    ):
        raise ValueError(
            f"flip_rate={flip_rate!r} must be 'auto', 0 to below 0.5, or two such numbers: "
            "the share of must-links and of cannot-links that are wrong."
        )
    return float(both[0]), float(both[1])
