"""ITML: the metric nearest to a prior that keeps must-links short and cannot-links long."""

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state

from conclust._declare import PAIRS, Takes
from conclust._kernels.bregman import project_in_turn
from conclust._progress import Rounds, progress
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._threads import one_blas_thread
from conclust._validation import check_inputs
from conclust.constraints import Constraints
from conclust.metric_learning._mahalanobis import MahalanobisMixin, rowwise_difference

# So many pairs of rows are enough for percentiles: their ranks err by some 0.15 % of all pairs.
MAX_PAIRS = 20_000


class Sweep(NamedTuple):
    """What one round over all statements did."""

    objective: float  # LogDet divergence from the prior, and of the bounds: best for this metric
    gap: float  # how far the objective is from the optimum, at most
    n_violated: int  # statements outside their bounds as given


class Metric(NamedTuple):
    """A learned metric A = HᵀH and how it was found."""

    factor: np.ndarray  # (d, d) H
    multiplier: np.ndarray  # (m,) λ
    history: list[Sweep]
    converged: bool


def bound_divergence(bound: np.ndarray, given: np.ndarray) -> np.ndarray:
    """D(ξ, ξ₀) for numbers: ξ/ξ₀ − ln(ξ/ξ₀) − 1."""
    ratio = bound / given
    return ratio - np.log(ratio) - 1


def learn_metric(
    differences: np.ndarray,
    sign: np.ndarray,
    bound: np.ndarray,
    gamma: np.ndarray,
    *,
    max_iter: int = 5000,
    tol: float = 1e-3,
    on_sweep: Callable[[Sweep], object] | None = None,
) -> Metric:
    """Minimise D(A, I) + Σ γ_c D(ξ_c, bound_c) with vᵀAv ≤ ξ_c (sign +1) or ≥ ξ_c (sign −1).

    Cyclic Bregman projections, Algorithm 1 of [1]_. For another prior A₀ = H₀ᵀH₀ pass H₀v for v:
    the divergence does not change under linear maps.

    Parameters
    ----------
    differences : ndarray of shape (m, d)
        v of each statement, none of them 0.
    sign : ndarray of shape (m,)
        +1 for must-links, −1 for cannot-links.
    bound : ndarray of shape (m,)
        Squared distances not to be exceeded, or to be reached.
    gamma : ndarray of shape (m,)
        The price of giving way.
    max_iter : int, default=5000
        Rounds over all statements.
    tol : float, default=1e-3
        Stop when the objective is within this share of its optimum, by the duality gap.
    on_sweep : callable, default=None
        Called with each `Sweep`.

    Returns
    -------
    Metric
    """
    m, d = differences.shape
    factor = np.eye(d)
    current, multiplier = bound.copy(), np.zeros(m)
    image, row = np.empty(d), np.empty(d)
    log_det = 0.0
    rounds = Rounds(Sweep, on_sweep)
    converged = False
    for _ in range(max_iter):
        log_det += project_in_turn(
            differences, sign, gamma, factor, current, multiplier, image, row
        )
        squared = ((differences @ factor.T) ** 2).sum(axis=1)
        kept = sign * (squared - bound) <= 0
        # The best bounds for this A: as given where it keeps them, else just what it reaches.
        slack = np.where(kept, bound, squared)
        primal = (factor**2).sum() - log_det - d + gamma @ bound_divergence(slack, bound)
        # The Lagrange dual at λ is −ln det A + Σ γ ln(1 − δ λ bound / γ), the latter bound / ξ.
        dual = -log_det + gamma @ np.log(bound / current)
        rounds.note(float(primal), float(primal - dual), int(m - kept.sum()))
        if primal - dual <= tol * max(primal, 1e-12):
            converged = True
            break
    return Metric(factor, multiplier, rounds.history, converged)


def squared_distance_percentiles(
    X: Any, shares: tuple[float, float], random_state: np.random.RandomState
) -> np.ndarray:
    """Percentiles of the squared distances between rows; of random ones if there are many."""
    n = X.shape[0]
    if n * (n - 1) // 2 <= MAX_PAIRS:
        a, b = np.triu_indices(n, k=1)
    else:
        a = random_state.randint(n, size=MAX_PAIRS)
        b = (a + random_state.randint(1, n, size=MAX_PAIRS)) % n
    squared = np.empty(len(a))
    step = max(1, 2**22 // max(X.shape[1], 1))  # at most 32 MB of differences at a time
    for start in range(0, len(a), step):
        part = slice(start, start + step)
        squared[part] = (rowwise_difference(X, a[part], b[part]) ** 2).sum(axis=1)
    return np.percentile(squared, shares) if len(squared) else np.ones(2)


class ITML(MahalanobisMixin):
    """Information-theoretic metric learning: must-links short, cannot-links long, else as it was.

    Learns a Mahalanobis metric as near as possible to a prior one, in relative entropy of the
    Gaussians the two stand for, under which must-linked rows are at most as far apart as the
    nearest pairs of the data and cannot-linked rows at least as far as the farthest pairs. Bounds
    give way at a price, so contradictory statements do no harm. Put it before any clusterer.

    Parameters
    ----------
    gamma : float, default=1.0
        The price of giving way, times the weight of the statement: small stays with the prior,
        large insists on the bounds.
    prior : {"identity", "covariance"} or array-like of shape (n_features, n_features), \
            default="identity"
        The metric to stay near: Euclidean, the inverse covariance of X (a singular one gets a
        ridge), or a positive definite matrix. It is also what no constraints give.
    percentiles : tuple of two floats, default=(5, 95)
        The bounds, as percentiles of the squared distances between rows, in the prior metric.
    bounds : tuple of two floats, default=None
        The bounds themselves, as distances: at most the first for must-links, at least the second
        for cannot-links. Percentiles are not used then.
    max_iter : int, default=5000
        Rounds over all statements at most.
    tol : float, default=1e-3
        Stop when the objective is within this share of its optimum.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Draws pairs for the percentiles when X has more than 200 rows.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        L: ``transform(X)`` is ``X @ L.T``.
    mahalanobis_matrix_ : ndarray of shape (n_features, n_features)
        The metric LᵀL, positive definite.
    bounds_ : tuple of two floats
        The bounds used, as distances.
    multipliers_ : ndarray of shape (len(constraints),)
        How hard each statement pulls at the metric: 0 where its bound holds by itself, and where
        its two rows are equal.
    n_iter_ : int
        Rounds over all statements.
    history_ : list of Sweep
        Objective, duality gap and statements outside their bounds after each round.
    converged_ : bool
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    RelativeMetric : Learns from statements "a is nearer to b than to c".
    MPCKMeans : Learns metrics and clusters together.

    Notes
    -----
    Minimises D(A, A₀) + γ Σ w_c D(ξ_c, ξ⁰_c), with D(A, B) = tr(AB⁻¹) − ln det(AB⁻¹) − d, by cyclic
    projections of O(d²) each; a round costs O(m d²), memory is O(m d + d²). The step is
    derived from the problem, for every γ, rather than copied from [1]_. A sparse X is not made
    dense, but the metric is: d² numbers.

    References
    ----------
    .. [1] J. V. Davis, B. Kulis, P. Jain, S. Sra and I. S. Dhillon. Information-theoretic metric
       learning. ICML 2007. doi:10.1145/1273496.1273523

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from conclust import Constraints, ITML
    >>> X = [[0, 0], [0, 3], [1, 0], [1, 3]]
    >>> known = Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2)])
    >>> metric = ITML().fit(X, constraints=known)
    >>> KMeans(2, random_state=0).fit(metric.transform(X)).labels_.tolist()
    [1, 1, 0, 0]
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="soft, a linear metric",
        when="before any clusterer; few statements",
        weights="weights",
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "prior": [StrOptions({"identity", "covariance"}), "array-like"],
        "percentiles": [tuple, list, np.ndarray],
        "bounds": [tuple, list, np.ndarray, None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        prior: Any = "identity",
        percentiles: Any = (5, 95),
        bounds: Any = None,
        max_iter: int = 5000,
        tol: float = 1e-3,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.gamma = gamma
        self.prior = prior
        self.percentiles = percentiles
        self.bounds = bounds
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> "ITML":
        """Learn the metric.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Must-links and cannot-links.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, constraints = check_inputs(self, X, constraints)
        random_state = check_random_state(self.random_state)
        start = _prior_factor(self.prior, X)
        pairs = constraints.pairs()
        differences = rowwise_difference(X, *pairs.pairs.T)
        if start is not None:
            differences = np.ascontiguousarray(differences @ start.T)
        near, far = self._squared_bounds(X, start, random_state)
        usable = differences.any(axis=1)  # equal rows stay equal in every metric
        sign = pairs.sign[usable].astype(np.float64)
        # Products of one small matrix with one vector: more threads only wait for each other.
        with one_blas_thread(), progress(self.verbose, "ITML", self.max_iter) as show:
            found = learn_metric(
                differences[usable],
                sign,
                np.where(sign > 0, near, far),
                self.gamma * pairs.weight[usable],
                max_iter=self.max_iter if usable.any() else 0,
                tol=self.tol,
                on_sweep=lambda record: show(record, advance=1),
            )
        self.converged_ = found.converged or not usable.any()
        if not self.converged_:
            warnings.warn(
                f"ITML stopped after max_iter={self.max_iter} rounds, {found.history[-1].gap:.2g} "
                f"above the optimum at most (objective {found.history[-1].objective:.2g}). Raise "
                "max_iter or tol, or lower gamma.",
                ConvergenceWarning,
                stacklevel=2,
            )
        factor = found.factor if start is None else found.factor @ start
        self.components_ = factor.astype(X.dtype)
        self.bounds_ = (float(np.sqrt(near)), float(np.sqrt(far)))
        self.multipliers_ = np.zeros(len(constraints))
        np.add.at(self.multipliers_, pairs.statement[usable], found.multiplier)
        self.history_, self.n_iter_ = found.history, max(1, len(found.history))
        return self

    def _squared_bounds(
        self, X: Any, start: np.ndarray | None, random_state: np.random.RandomState
    ) -> tuple[float, float]:
        """Largest squared distance of a must-link and smallest of a cannot-link."""
        if self.bounds is not None:
            near, far = _two_numbers("bounds", self.bounds)
            if not 0 < near < far:
                raise ValueError(
                    f"bounds={self.bounds!r} must be (near, far) with 0 < near < far: the largest "
                    "distance of a must-link and the smallest of a cannot-link."
                )
            return near**2, far**2
        shares = _two_numbers("percentiles", self.percentiles)
        if not 0 <= shares[0] < shares[1] <= 100:
            raise ValueError(
                f"percentiles={self.percentiles!r} must be (low, high) with 0 <= low < high <= 100."
            )
        rows = X if start is None else np.asarray(X @ start.T)
        near, far = squared_distance_percentiles(rows, shares, random_state)
        # Many equal rows: a bound of 0 cannot be met by a positive definite metric.
        far = far if far > 0 else 1.0
        return max(near, 1e-6 * far), far


def _two_numbers(name: str, value: Any) -> tuple[float, float]:
    try:
        low, high = (float(v) for v in value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r} must be two numbers.") from None
    return low, high


def _prior_factor(prior: Any, X: Any) -> np.ndarray | None:
    """H₀ with A₀ = H₀ᵀH₀; None for the identity."""
    if isinstance(prior, str) and prior == "identity":
        return None
    d = X.shape[1]
    if isinstance(prior, str):
        dense = X.toarray() if hasattr(X, "toarray") else X
        covariance = np.cov(dense, rowvar=False, bias=True, dtype=np.float64).reshape(d, d)
        largest = np.linalg.eigvalsh(covariance)[-1]
        if not largest > 0:
            return None
        ridge = 1e-9 * largest
        covariance.flat[:: d + 1] += ridge
        # A₀ = (C Cᵀ)⁻¹ = C⁻ᵀ C⁻¹ for the Cholesky factor C of the covariance.
        return solve_triangular(np.linalg.cholesky(covariance), np.eye(d), lower=True)
    prior = check_array(prior, dtype=np.float64, input_name="prior")
    if prior.shape != (d, d):
        raise ValueError(f"prior has shape {prior.shape}, but X has {d} features: pass {(d, d)}.")
    if not np.allclose(prior, prior.T):
        raise ValueError("prior is not symmetric; pass (prior + prior.T) / 2.")
    try:
        return np.linalg.cholesky(prior).T
    except np.linalg.LinAlgError:
        raise ValueError(
            "prior is not positive definite; add a small multiple of the identity to it."
        ) from None
