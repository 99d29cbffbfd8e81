"""GeneralizedKMeans: hard constrained k-means with cluster sizes and covariances.

After Miyamoto & Kondoh (2014).
"""

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from conclust._declare import PAIRS, Named, Takes
from conclust._kernels import online as kernels
from conclust._kernels.place_hard import sum_costs
from conclust._lloyd.best import best_of_starts, n_starts, warn_if_degenerate
from conclust._lloyd.start import centered, init_centers
from conclust._placement.hard import place
from conclust._placement.units import STILL, Units, hard_units, raise_infeasible
from conclust._progress import Rounds
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._summaries import Shown
from conclust._threads import one_blas_thread
from conclust._validation import check_inputs, check_new_rows, weights_of_rows
from conclust.cluster._cop_kmeans import cop_kmeans
from conclust.constraints import Constraints, must_link_components
from conclust.exceptions import DegenerateClusteringWarning

KINDS = {"identity": kernels.IDENTITY, "diag": kernels.DIAGONAL, "full": kernels.FULL}
# Every covariance counts 3 rows per feature of the overall variance besides its own rows: small
# clusters stay regular, and rank-one updates stay exact.
PRIOR_ROWS = 3
BLOCK = 4096  # rows measured at once: they stay in the cache
MAX_CHAIN = 64  # units that move at once; longer Kempe chains rarely pay
WAY_OUT = "Raise n_clusters, drop one of these statements, or use PCKMeans, which may break them."


class Round(NamedTuple):
    """What one pass over the rows did."""

    objective: float  # Σ w (D(x, v; S) - λ α), of the clusters after the pass
    n_changed: int  # rows whose cluster changed
    n_clusters: int  # clusters that have rows
    seconds: float


class Shape(NamedTuple):
    """What the clusters are made of: the parameters that do not change in a run."""

    kind: int
    size_weight: float  # λ
    log_det: bool
    prior: float  # n: rows of the overall variance that each covariance counts
    variance: float  # the overall variance, averaged over features
    total_mass: float


class Clusters(NamedTuple):
    """Mass, centre and spread of each cluster; see `conclust._kernels.online`."""

    mass: np.ndarray  # (n_clusters,)
    center: np.ndarray  # (n_clusters, n_features)
    scatter: np.ndarray  # (n_clusters, 1 or n_features, n_features)
    inverse: np.ndarray  # as scatter
    log_det: np.ndarray  # (n_clusters,)


class Run(NamedTuple):
    """The result of one start, in the coordinates of the X it was given."""

    labels: np.ndarray  # (n_samples,) int32, every statement kept
    clusters: Clusters
    objective: float
    criterion: float  # the objective with log |S|: by this, starts are compared
    collapsed: bool  # some cluster has no rows, or would have none if on-line passes allowed it
    converged: bool
    history: list[Round]


def shape_of(
    X: np.ndarray, weight: np.ndarray, covariance: str, size_weight: float, log_det: bool
) -> Shape:
    """Settle what clusters of these rows are made of.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    weight : ndarray of shape (n_samples,)
    covariance : {"full", "diag", "identity"}
    size_weight : float
    log_det : bool

    Returns
    -------
    Shape
    """
    total = float(weight.sum())
    mean = weight @ X / total
    variance = float((weight @ (X - mean) ** 2).mean() / total)
    return Shape(
        KINDS[covariance],
        float(size_weight),
        bool(log_det),
        float(PRIOR_ROWS * X.shape[1]) if covariance != "identity" else 0.0,
        variance if variance > 0 else 1.0,
        total,
    )


def clusters_of(
    X: np.ndarray, weight: np.ndarray, labels: np.ndarray, centers: np.ndarray, shape: Shape
) -> Clusters:
    """Compute mass, centre and spread of each cluster from its rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    weight : ndarray of shape (n_samples,)
    labels : ndarray of shape (n_samples,)
    centers : ndarray of shape (n_clusters, n_features)
        Where clusters without rows stay.
    shape : Shape

    Returns
    -------
    Clusters
    """
    n_clusters, n_features = centers.shape
    full = shape.kind == kernels.FULL
    center = centers.astype(np.float64)
    mass = np.zeros(n_clusters)
    scatter = np.zeros((n_clusters, n_features if full else 1, n_features))
    inverse = np.ones_like(scatter)
    log_det = np.zeros(n_clusters)
    for cluster in range(n_clusters):
        rows = np.flatnonzero(labels == cluster)
        weight_here = weight[rows]
        mass[cluster] = weight_here.sum()
        if mass[cluster] > 0:
            members = X[rows]
            center[cluster] = weight_here @ members / mass[cluster]
            members -= center[cluster]
            if full:
                scatter[cluster] = (members * weight_here[:, None]).T @ members
            else:
                scatter[cluster, 0] = weight_here @ members**2
        kernels.invert(shape.kind, cluster, shape.prior * shape.variance, scatter, inverse, log_det)
    return Clusters(mass, center, scatter, inverse, log_det)


def objective(clusters: Clusters, shape: Shape, *, log_det: bool | None = None) -> float:
    """Sum w (D(x, v; S) − λ α [+ log |S|]) over all rows, each in its own cluster.

    From the clusters alone: the distances of a cluster's rows add up to (m + n) tr(A⁻¹ W).
    """
    scale, offset = offsets(clusters, shape, log_det=log_det)
    spread = (clusters.inverse * clusters.scatter).sum(axis=(1, 2))
    return float(scale @ spread + clusters.mass @ offset)


def offsets(
    clusters: Clusters, shape: Shape, *, log_det: bool | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Factor and offset of each cluster: cost(x) = factor (x − v)ᵀ A⁻¹ (x − v) + offset."""
    n_clusters, n_features = clusters.center.shape
    scale, offset = np.empty(n_clusters), np.empty(n_clusters)
    log_dets = shape.log_det if log_det is None else log_det
    for cluster in range(n_clusters):
        kernels.set_offsets(
            cluster,
            shape.kind,
            n_features,
            shape.prior,
            shape.total_mass,
            shape.size_weight,
            log_dets,
            clusters.mass,
            clusters.log_det,
            scale,
            offset,
        )
    return scale, offset


def costs(X: np.ndarray, clusters: Clusters, shape: Shape) -> np.ndarray:
    """Return D(x, v; S) − λ α [+ log |S|], (n_samples, n_clusters)."""
    scale, offset = offsets(clusters, shape)
    out = np.empty((len(X), len(scale)))
    for cluster, center in enumerate(clusters.center):
        inverse = clusters.inverse[cluster]
        full = shape.kind == kernels.FULL
        out[:, cluster] = _squared(X - center, inverse if full else inverse[0])
    return out * scale + offset


def generalized_kmeans(
    X: np.ndarray,
    units: Units,
    labels: np.ndarray,
    centers: np.ndarray,
    shape: Shape,
    *,
    update: str = "batch",
    sample_weight: np.ndarray | None = None,
    max_iter: int = 100,
    time_limit: float = 10.0,
    random_state: np.random.RandomState | None = None,
    on_round: Callable[[Round], object] | None = None,
) -> Run:
    """Alternate placing rows and updating clusters, from one start.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float64
        Centred, for accuracy.
    units : Units
        Linked rows.
    labels : ndarray of shape (n_samples,)
        The clusters to start from; keep every link.
    centers : ndarray of shape (n_clusters, n_features)
        Where clusters without rows stay.
    shape : Shape
    update : {"batch", "online"}, default="batch"
        Clusters change after all rows have been placed, or after each move.
    sample_weight : ndarray of shape (n_samples,), default=None
    max_iter : int, default=100
        Passes over the rows.
    time_limit : float, default=10.0
        Batch: seconds for the exact solver in one placement.
    random_state : RandomState, default=None
        On-line: draws the order of visits.
    on_round : callable, default=None

    Returns
    -------
    Run

    Notes
    -----
    No pass is sure to lower the objective, since moving a row changes the metric of all others. A
    run ends when nothing moves, or when a labelling comes back; then the better of the last two is
    the answer.
    """
    weight = np.ones(len(X)) if sample_weight is None else sample_weight
    labels = labels.astype(np.int32)
    clusters = clusters_of(X, weight, labels, centers, shape)
    if update == "batch":
        step: Any = BatchPass(X, units, weight, shape, time_limit)
    else:
        step = OnlinePass(X, units, weight, shape, random_state or np.random.RandomState(0))
    rounds = Rounds(Round, on_round)
    seen = {hash(labels.tobytes())}
    converged = False
    with one_blas_thread():
        for _ in range(max_iter):
            before = labels, clusters
            labels, clusters = step(labels, clusters)
            n_changed = int(np.count_nonzero(labels != before[0]))
            n_clusters = int(np.count_nonzero(clusters.mass))
            rounds.note(objective(clusters, shape), n_changed, n_clusters)
            converged = n_changed == 0
            if converged:
                break
            name = hash(labels.tobytes())
            if name in seen:
                if criterion(before[1], shape) < criterion(clusters, shape):
                    labels, clusters = before
                break
            seen.add(name)
    return Run(
        labels,
        clusters,
        objective(clusters, shape),
        criterion(clusters, shape),
        bool(step.n_refused or (np.bincount(labels, minlength=len(centers)) == 0).any()),
        converged,
        rounds.history,
    )


def criterion(clusters: Clusters, shape: Shape) -> float:
    """Compare labellings: by the objective with log |S|, without which all fit equally well."""
    return objective(clusters, shape, log_det=True)


class BatchPass:
    """Place all rows, units by `place`; then compute the clusters anew."""

    def __init__(
        self, X: np.ndarray, units: Units, weight: np.ndarray, shape: Shape, time_limit: float
    ):
        self.X, self.units, self.weight, self.shape = X, units, weight, shape
        self.time_limit = time_limit
        self.moving = True
        self.n_refused = 0

    def __call__(self, labels: np.ndarray, clusters: Clusters) -> tuple[np.ndarray, Clusters]:
        """Return the labels and the clusters after one pass."""
        rows, unit, graph = self.units
        new = np.empty_like(labels)
        kept = np.empty((len(rows), len(clusters.mass)))
        for start in range(0, len(self.X), BLOCK):
            here = slice(start, start + BLOCK)
            cost = costs(self.X[here], clusters, self.shape)
            new[here] = cost.argmin(axis=1)
            inside = slice(*np.searchsorted(rows, [start, start + BLOCK]))
            kept[inside] = cost[rows[inside] - start]
        if len(rows):
            cost_of_units = np.empty((graph.n_units, len(clusters.mass)))
            sum_costs(kept, unit, self.weight[rows], cost_of_units)
            now = np.empty(graph.n_units, np.int64)
            now[unit] = labels[rows]
            placed = place(
                cost_of_units,
                graph,
                previous=now,
                fresh=self.moving,
                time_limit=self.time_limit,
            )
            new[rows] = placed.labels[unit]
        self.moving = bool(np.count_nonzero(new != labels) > STILL * len(labels))
        return new, clusters_of(self.X, self.weight, new, clusters.center, self.shape)


class OnlinePass:
    """Visit the units one by one, in an order drawn once; clusters change with every move.

    The rows are copied in the order of visits: reading them in random order would take longer than
    measuring them.
    """

    def __init__(
        self,
        X: np.ndarray,
        units: Units,
        weight: np.ndarray,
        shape: Shape,
        random_state: np.random.RandomState,
    ):
        self.shape = shape
        self.n_refused = 0
        graph = units.graph
        unit = np.full(len(X), -1, np.int64)
        unit[units.rows] = units.unit
        free = np.flatnonzero(unit < 0)
        unit[free] = graph.n_units + np.arange(len(free))
        n_units = graph.n_units + len(free)
        self.order = random_state.permutation(n_units)
        rank = np.argsort(self.order)
        self.rows = np.argsort(rank[unit], kind="stable")  # unit after unit, as they are visited
        sizes = np.bincount(unit, minlength=n_units)
        self.last = np.cumsum(sizes[self.order])[rank]
        self.first = self.last - sizes
        self.X, self.weight, self.unit = X[self.rows], weight[self.rows], unit
        self.indptr, self.indices = graph.indptr, graph.indices

    def __call__(self, labels: np.ndarray, clusters: Clusters) -> tuple[np.ndarray, Clusters]:
        """Return the labels and the clusters after one pass."""
        of_units = labels[self.rows[self.first]].astype(np.int64)
        new = Clusters(*(part.copy() for part in clusters))
        shape = self.shape
        self.n_refused = kernels.online_pass(
            self.X,
            self.weight,
            self.order,
            self.first,
            self.last,
            self.indptr,
            self.indices,
            MAX_CHAIN,
            shape.kind,
            shape.prior * shape.variance,
            shape.prior,
            shape.size_weight,
            shape.log_det,
            of_units,
            *new,
            np.zeros(len(new.mass), np.int64),
        )
        return of_units[self.unit].astype(np.int32), new


class GeneralizedKMeans(Shown, ClusterMixin, BaseEstimator):
    r"""K-means with cluster sizes and covariances that keeps every must-link and cannot-link.

    Each row goes to the cluster with the least :math:`D(x, v_j; S_j) - \lambda \alpha_j`, as far as
    the statements allow: the Mahalanobis distance in the cluster's own covariance, less a bonus for
    its share of the rows. Must-linked rows move as one.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    update : {"batch", "online"}, default="batch"
        Change the clusters after all rows have been placed, or after each move of a row (with the
        rows must-linked to it, and a chain of cannot-linked ones that change sides with it). Other
        estimators have a method of this name, to go on with new rows; this one has not.
    size_weight : float, default=1.0
        :math:`\lambda`, the bonus for large clusters. The paper uses 10, under which clusters often
        run empty unless a cannot-link holds them: see `collapsed_`.
    covariance : {"full", "diag", "identity"}, default="full"
        Shape of the clusters; "identity" measures Euclidean distances.
    log_det : bool, default=False
        Add :math:`\ln |S_j|` to the cost, which makes it a Gaussian's log density. Without it
        (as in the paper) a cluster pays nothing for being wide; it helps where clusters are
        elongated or differ in spread, and hurts where the data have no such shape.
    init : {"k-means++", "random"}, array-like or callable, default="k-means++"
        Where the k-means under the same statements (`COPKMeans`) starts, whose clusters are the
        start of this method.
    n_init : int, default=10
        Starts; kept is one that did not collapse, and among these the one with the lowest
        objective, :math:`\ln |S_j|` included. From an array there is but one start.
    max_iter : int, default=100
        Passes over the rows, not counting the k-means before.
    time_limit : float, default=10.0
        Seconds for the exact solver in one placement; hardly any data set reaches it.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Draws the starts and, on-line, the order of visits.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    cluster_sizes_ : ndarray of shape (n_clusters,)
        :math:`\alpha`, the share of the rows (of their weight) in each cluster.
    covariances_, precisions_ : ndarray
        S and its inverse: of shape (n_clusters, n_features, n_features) for "full", the diagonals,
        (n_clusters, n_features), otherwise.
    objective_ : float
        The weighted sum over rows of the cost in their clusters.
    collapsed_ : bool
        Whether clusters ran empty, or (on-line) were only kept from it by their last rows.
    converged_ : bool
        False when a labelling came back or `max_iter` was reached.
    n_iter_ : int
    history_ : list of Round
        Of the start that was kept; the objective need not fall.
    report_ : ConstraintReport
        Which statements the labels keep: all.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    COPKMeans : The same with Euclidean distances and without sizes; never collapses.
    ConstrainedGaussianMixture : Weighs labellings instead of choosing one; slower, mostly better.

    Notes
    -----
    With :math:`W_j` the scatter of cluster j, :math:`m_j` its rows and p features,

    .. math::

        S_j = \frac{W_j + \nu s^2 I}{m_j + \nu}, \qquad \nu = 3p,

    where :math:`s^2` is the mean variance of the features: covariances of small clusters stay
    regular, and rank-one updates of :math:`S_j^{-1}` stay exact. On-line, centre, size, scatter and
    inverse follow each move by Sherman and Morrison's formula in O(p²), about the centre and not
    the origin, and are computed anew every 1000 moves of a cluster or when a divisor gets small.

    A pass costs O(n_samples · n_clusters · n_features²). Data are held as float64 and dense.
    `predict` does not re-apply statements.

    References
    ----------
    S. Miyamoto and H. Kondoh (2014). Generalizations of K-Means Algorithms for Constrained
    Clustering. IJCSIA 4(1).

    Examples
    --------
    >>> from sklearn.metrics import rand_score
    >>> from conclust import GeneralizedKMeans, sample_constraints
    >>> from conclust.datasets import make_wedges
    >>> X, y = make_wedges(random_state=0)
    >>> known = sample_constraints(y, n_cannot_link=100, random_state=0)
    >>> model = GeneralizedKMeans(2, update="online", size_weight=10, n_init=5, random_state=0)
    >>> rand_score(y, model.fit_predict(X, constraints=known))
    1.0
    >>> model.cluster_sizes_.round(2)
    array([0.77, 0.23])
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="hard",
        when="clusters of unequal size and shape, batch or on-line",
        hard=True,
        sparse=False,
        names=(Named("gkmeans", "clusters of unequal size and shape"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "update": [StrOptions({"batch", "online"})],
        "size_weight": [Interval(Real, 0, None, closed="left")],
        "covariance": [StrOptions({"full", "diag", "identity"})],
        "log_det": ["boolean"],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        update: str = "batch",
        size_weight: float = 1.0,
        covariance: str = "full",
        log_det: bool = False,
        init: Any = "k-means++",
        n_init: int = 10,
        max_iter: int = 100,
        time_limit: float = 10.0,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.update = update
        self.size_weight = size_weight
        self.covariance = covariance
        self.log_det = log_det
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.time_limit = time_limit
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
    ) -> "GeneralizedKMeans":
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to cluster.
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Must-links and cannot-links.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two, in masses and covariances, too.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InconsistentConstraintsError
            When the statements contradict each other, whatever the number of clusters.
        InfeasibleConstraintsError
            When no assignment into `n_clusters` clusters keeps them.
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = weights_of_rows(sample_weight, X).astype(np.float64)
        units = hard_units(constraints, self.n_clusters, WAY_OUT)
        random_state = check_random_state(self.random_state)
        dtype = X.dtype
        X, mean, _ = centered(X.astype(np.float64, copy=False))
        shape = shape_of(X, weight, self.covariance, self.size_weight, self.log_det)

        def start(number: int, on_round: Any) -> Run:
            before = cop_kmeans(
                X,
                units,
                init_centers(X, self.n_clusters, self.init, weight, random_state, mean=mean),
                sample_weight=None if sample_weight is None else weight,
                time_limit=self.time_limit,
            )
            if not before.history:
                raise_infeasible(constraints, self.n_clusters, before.placement, WAY_OUT)
            return generalized_kmeans(
                X,
                units,
                before.labels,
                before.centers,
                shape,
                update=self.update,
                sample_weight=weight,
                max_iter=self.max_iter,
                time_limit=self.time_limit,
                random_state=random_state,
                on_round=on_round,
            )

        best = best_of_starts(
            start,
            n_starts(self.init, self.n_init),
            lambda run: (run.collapsed, run.criterion),
            what=type(self).__name__,
            verbose=self.verbose,
        )
        self._keep(best, shape, mean, dtype)
        self.report_ = constraints.report(best.labels)
        n_units = min(len(np.unique(X, axis=0)), must_link_components(constraints)[1])
        if n_units < self.n_clusters:
            warn_if_degenerate(best.labels, self.n_clusters)
        elif best.collapsed:
            self._warn_collapsed(int(np.count_nonzero(best.clusters.mass)))
        return self

    def _keep(self, run: Run, shape: Shape, mean: np.ndarray, dtype: Any) -> None:
        clusters = run.clusters
        scale, self._offset = offsets(clusters, shape)
        ridge = shape.prior * shape.variance
        if self.covariance == "full":
            covariances = clusters.scatter + ridge * np.eye(len(mean))
            precisions = clusters.inverse
            by_cluster = scale[:, None, None]
        else:
            covariances, precisions = clusters.scatter[:, 0] + ridge, clusters.inverse[:, 0]
            by_cluster = scale[:, None]
        if self.covariance == "identity":
            covariances = np.ones_like(covariances)
        self.labels_ = run.labels
        self.cluster_centers_ = (clusters.center + mean).astype(dtype)
        self.cluster_sizes_ = clusters.mass / shape.total_mass
        self.covariances_ = covariances / by_cluster
        self.precisions_ = precisions * by_cluster
        self.objective_, self.collapsed_ = run.objective, run.collapsed
        self.converged_ = run.converged
        self.n_iter_, self.history_ = len(run.history), run.history

    def _warn_collapsed(self, n_found: int) -> None:
        warnings.warn(
            f"size_weight={self.size_weight} emptied clusters: {n_found} of "
            f"n_clusters={self.n_clusters} are left, on-line ones held by their last rows. Lower "
            "size_weight (1 or less), add cannot-links, or pass log_det=True.",
            DegenerateClusteringWarning,
            stacklevel=3,
        )

    def predict(self, X: Any) -> np.ndarray:
        """Cheapest cluster of each row; statements are not applied again.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, new or old.

        Returns
        -------
        ndarray of shape (n_samples,), int32
            The cluster of each row.
        """
        check_is_fitted(self)
        X = check_new_rows(self, X, dtype=self.cluster_centers_.dtype)
        out = np.empty((len(X), self.n_clusters))
        for cluster, center in enumerate(self.cluster_centers_):
            out[:, cluster] = _squared(X - center, self.precisions_[cluster])
        return (out + self._offset).argmin(axis=1).astype(np.int32)


def _squared(apart: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """Squared lengths of the rows in the metric of a precision matrix or of its diagonal."""
    if precision.ndim == 1:
        return apart**2 @ precision
    apart = apart @ np.linalg.cholesky(precision)
    return np.einsum("ij,ij->i", apart, apart)
