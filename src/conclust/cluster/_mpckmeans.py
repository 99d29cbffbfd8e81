"""MPCKMeans: k-means that pays for broken statements and learns how to measure distance."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms

from conclust._arrays import FloatArray, IntArray, Matrix
from conclust._kernels.place_soft import broken_price
from conclust._lloyd.best import best_of_starts, warn_if_degenerate
from conclust._lloyd.start import means_of, start_centers
from conclust._pairs import violated
from conclust._placement.links import Links, link_rows
from conclust._placement.soft import best_to_move, place_rows
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._validation import check_inputs, weights_of_rows
from conclust.cluster._by_centers import CentersMixin
from conclust.constraints import Constraints

# Numbers in one block of rows: 8 MB of temporaries.
BLOCK = 1 << 20
# Rows between which the longest distance is sought; each costs one pass over the data.
N_FAR = 16
# Halvings of a step of the metric that would raise the objective, before it is given up.
MAX_HALVINGS = 5


class Round(NamedTuple):
    """What one iteration did; the objective does not rise in any of its three steps."""

    objective: float  # after the last step, the metrics
    after_assignment: float
    after_centers: float
    n_violated: int  # broken pairs
    n_changed: int  # rows whose cluster is not the one they had
    seconds: float


class Run(NamedTuple):
    """The result of one start, in the coordinates of the X it was given."""

    labels: npt.NDArray[np.int32]  # (n_samples,)
    centers: FloatArray  # (n_clusters, n_features)
    metrics: FloatArray  # (n_clusters or 1, n_features[, n_features])
    inertia: float
    objective: float
    converged: bool
    history: list[Round]


class Standardised(NamedTuple):
    """Data of unit variance along each feature, dense ones about their mean."""

    X: Matrix
    mean: FloatArray  # (n_features,) 0 for sparse data
    scale: FloatArray  # (n_features,) 1 where nothing varies


def standardised(X: Matrix, sample_weight: FloatArray) -> Standardised:
    """Bring all features to the same spread, in float64; sparse data stay sparse."""
    X = X.astype(np.float64)
    total = sample_weight.sum()
    mean = np.asarray(sample_weight @ X).ravel() / total
    if sp.issparse(X):
        variance = Diagonal.scatter(X, sample_weight) / total - mean**2
    else:
        X -= mean
        variance = Diagonal.scatter(X, sample_weight) / total
    # Below the square of the rounding of the mean nothing varies.
    varies = variance > (10 * np.finfo(np.float64).eps * np.abs(mean)) ** 2
    scale = np.sqrt(np.where(varies, variance, 1.0))
    if sp.issparse(X):
        X.data /= scale[X.indices]
        return Standardised(X, np.zeros_like(mean), scale)
    X /= scale
    return Standardised(X, mean, scale)


# --- distances under metrics -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Diagonal:
    """One diagonal metric per cluster, or one for all; X may be sparse.

    Attributes
    ----------
    matrices : ndarray of shape (n_metrics, n_features)
        The diagonals, positive.
    """

    matrices: FloatArray

    @property
    def log_det(self) -> FloatArray:
        """(n_metrics,) logarithm of the determinants."""
        return np.log(self.matrices).sum(axis=1)

    def squared(self, X: Matrix, centers: FloatArray) -> FloatArray:
        """(n_samples, n_clusters) squared distances of the rows to the centres."""
        matrices = np.broadcast_to(self.matrices, centers.shape)
        scaled = matrices * centers
        squares = X.multiply(X) if sp.issparse(X) else X * X
        expanded = squares @ matrices.T - 2 * (X @ scaled.T) + (scaled * centers).sum(axis=1)
        return np.maximum(expanded, 0.0)

    def lengths(self, differences: Matrix) -> FloatArray:
        """(n_differences, n_metrics) squared length of each difference under each metric."""
        if sp.issparse(differences):
            return differences.multiply(differences) @ self.matrices.T
        return (differences * differences) @ self.matrices.T

    @staticmethod
    def scatter(differences: Matrix, weight: FloatArray) -> FloatArray:
        """(n_features,) Σ w δ², such that Σ w ‖δ‖² under A is its product with A."""
        if sp.issparse(differences):
            return np.asarray(weight @ differences.multiply(differences)).ravel()
        return weight @ (differences * differences)

    @staticmethod
    def plain(n_metrics: int, n_features: int) -> FloatArray:
        """Return unit metrics."""
        return np.ones((n_metrics, n_features))

    @staticmethod
    def inverse(scatter: FloatArray, floor: float) -> FloatArray:
        """Inverse of one scatter, its entries raised to `floor` first."""
        return 1.0 / np.maximum(scatter, floor)


@dataclass(frozen=True, eq=False)
class Full:
    """One full metric per cluster, or one for all; dense X.

    Attributes
    ----------
    matrices : ndarray of shape (n_metrics, n_features, n_features)
        Symmetric, positive definite.
    """

    matrices: FloatArray

    @property
    def log_det(self) -> FloatArray:
        """(n_metrics,) logarithm of the determinants."""
        return np.linalg.slogdet(self.matrices)[1]

    def squared(self, X: Matrix, centers: FloatArray) -> FloatArray:
        """(n_samples, n_clusters) squared distances of the rows to the centres."""
        factors = np.linalg.cholesky(self.matrices)
        if len(factors) == 1:
            return euclidean_distances(X @ factors[0], centers @ factors[0], squared=True)
        squared = np.empty((X.shape[0], len(centers)))
        for cluster, (center, factor) in enumerate(zip(centers, factors, strict=True)):
            squared[:, cluster] = (((X - center) @ factor) ** 2).sum(axis=1)
        return squared

    def lengths(self, differences: Matrix) -> FloatArray:
        """(n_differences, n_metrics) squared length of each difference under each metric."""
        lengths = np.empty((len(differences), len(self.matrices)))
        for h, factor in enumerate(np.linalg.cholesky(self.matrices)):
            lengths[:, h] = ((differences @ factor) ** 2).sum(axis=1)
        return lengths

    @staticmethod
    def scatter(differences: Matrix, weight: FloatArray) -> FloatArray:
        """(n_features, n_features) Σ w δδᵀ."""
        return (differences.T * weight) @ differences

    @staticmethod
    def plain(n_metrics: int, n_features: int) -> FloatArray:
        """Return unit metrics."""
        return np.tile(np.eye(n_features), (n_metrics, 1, 1))

    @staticmethod
    def inverse(scatter: FloatArray, floor: float) -> FloatArray:
        """Inverse of one scatter, its eigenvalues raised to `floor` first."""
        values, vectors = np.linalg.eigh(scatter)
        return (vectors / np.maximum(values, floor)) @ vectors.T


Metrics = Diagonal | Full
KINDS: dict[str, type[Diagonal] | type[Full]] = {"diagonal": Diagonal, "full": Full}


def nearest_under(
    metrics: Metrics, X: Matrix, centers: FloatArray, kept: IntArray
) -> tuple[npt.NDArray[np.int32], FloatArray, FloatArray]:
    """Find the cheapest centre of each row, in blocks: squared distance minus log-determinant.

    Parameters
    ----------
    metrics : Diagonal or Full
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    centers : ndarray of shape (n_clusters, n_features)
    kept : ndarray of shape (n_kept,)
        Rows whose whole table is wanted, ascending.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    cost : ndarray of shape (n_samples,)
        Of each row in the cluster of its label.
    table : ndarray of shape (n_kept, n_clusters)
        Of the kept rows in each cluster.
    """
    n_samples = X.shape[0]
    labels = np.empty(n_samples, dtype=np.int32)
    cost = np.empty(n_samples)
    table = np.empty((len(kept), len(centers)))
    log_det = metrics.log_det
    for start, stop in _blocks(n_samples, max(_width(X), len(centers))):
        block = metrics.squared(X[start:stop].astype(np.float64, copy=False), centers) - log_det
        labels[start:stop] = block.argmin(axis=1)
        cost[start:stop] = block.min(axis=1)
        first, last = np.searchsorted(kept, (start, stop))
        table[first:last] = block[kept[first:last] - start]
    return labels, cost, table


def _width(X: Matrix) -> int:
    """Numbers stored per row."""
    return X.nnz // X.shape[0] + 1 if sp.issparse(X) else X.shape[1]


def _blocks(n_rows: int, width: int) -> list[tuple[int, int]]:
    step = max(BLOCK // max(width, 1), 1)
    return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


# --- prices under metrics ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Problem:
    """What does not change while labels, centres and metrics do.

    Attributes
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Of unit variance along each feature.
    weight : ndarray of shape (n_samples,)
        Of the rows.
    links : Links
    link_weight : ndarray of shape (n_pairs,)
        Penalty times weight of each pair.
    n_clusters : int
    n_metrics : int
        `n_clusters`, or 1 where all clusters share one metric.
    kind : type
        Diagonal or Full.
    far : {ndarray, CSR matrix} of shape (n_far, n_features)
        Differences between rows far from each other, from which the longest is taken.
    prior_mass : float
        ν, the weight of the rows the prior stands for.
    """

    X: Matrix
    weight: FloatArray
    links: Links
    link_weight: FloatArray
    n_clusters: int
    n_metrics: int
    kind: type[Diagonal] | type[Full]
    far: Matrix
    prior_mass: float

    def differences(self, which: Any) -> Matrix:
        """Return x_i − x_j of some pairs."""
        i, j = self.links.rows[self.links.pairs[which]].T
        return self.X[i] - self.X[j]

    def prices(self, metrics: Metrics) -> FloatArray:
        """(n_pairs, n_metrics) price of each pair where it is broken."""
        lengths = np.empty((len(self.links), self.n_metrics))
        for start, stop in _blocks(len(lengths), 2 * _width(self.X)):
            lengths[start:stop] = metrics.lengths(self.differences(slice(start, stop)))
        short = np.maximum(metrics.lengths(self.far).max(axis=0) - lengths, 0.0)
        price = np.where(self.links.sign[:, np.newaxis] > 0, lengths, short)
        return price * self.link_weight[:, np.newaxis]


def differences_of_far_rows(X: Matrix, sample_weight: FloatArray) -> Matrix:
    """Differences between rows far from each other.

    The first row is the one farthest from the mean, each next one the one farthest from those
    before. Rows of weight 0 are left out.
    """
    mean = np.asarray(sample_weight @ X).reshape(1, -1) / sample_weight.sum()
    norms = row_norms(X, squared=True)[:, np.newaxis]
    rows: list[int] = []
    nearest = euclidean_distances(X, mean, X_norm_squared=norms).ravel()
    nearest[sample_weight == 0] = -np.inf
    for _ in range(min(N_FAR, int(np.count_nonzero(sample_weight)))):
        rows.append(int(nearest.argmax()))
        distance = euclidean_distances(X, X[rows[-1:]], X_norm_squared=norms).ravel()
        nearest = distance if len(rows) == 1 else np.minimum(nearest, distance)
        nearest[sample_weight == 0] = -np.inf
        nearest[rows] = -np.inf
    i, j = np.triu_indices(len(rows), k=1)
    far = X[rows]
    # A single row has no pair but itself.
    return far[i] - far[j] if len(i) else far - far


def pose(
    X: Matrix,
    links: Links,
    sample_weight: FloatArray,
    *,
    n_clusters: int,
    metric: str,
    shared: bool,
    penalty: float,
    regularization: float,
) -> Problem:
    """Collect what stays the same in all starts; parameters as in `MPCKMeans`."""
    unit = float(sample_weight.sum()) / int(np.count_nonzero(sample_weight))
    return Problem(
        X=X,
        weight=sample_weight,
        links=links,
        link_weight=penalty * unit * links.weight,
        n_clusters=n_clusters,
        n_metrics=1 if shared else n_clusters,
        kind=KINDS[metric],
        far=differences_of_far_rows(X, sample_weight),
        prior_mass=regularization * unit,
    )


# --- the metrics -------------------------------------------------------------------------------


class Terms(NamedTuple):
    """What the objective is as a function of one metric A, labels and centres given.

    ⟨A, scatter⟩ − mass · ln det A + Σ_n weight[n] · max(0, longest(A) − ‖broken[n]‖²_A)
    """

    scatter: FloatArray  # of the rows about their centres, the broken must-links and the prior
    mass: float
    broken: Matrix  # differences of the broken cannot-links
    weight: FloatArray


def terms_of(problem: Problem, labels: npt.NDArray[np.int32], centers: FloatArray) -> list[Terms]:
    """Collect the terms of each metric."""
    links, kind = problem.links, problem.kind
    n_features = problem.X.shape[1]
    ends = labels[links.rows][links.pairs]
    broken = violated(labels[links.rows], links.pairs, links.sign)
    shared = problem.n_metrics == 1
    prior = problem.prior_mass * kind.plain(1, n_features)[0]
    terms = []
    for h in range(problem.n_metrics):
        inside = np.ones_like(ends, dtype=bool) if shared else ends == h
        # Each end of a broken must-link pays half, at the price of its own cluster.
        must = np.flatnonzero(broken & (links.sign > 0) & inside.any(axis=1))
        half = problem.link_weight[must] * inside[must].sum(axis=1) / 2
        cannot = np.flatnonzero(broken & (links.sign < 0) & inside.all(axis=1))
        scatter = prior + kind.scatter(problem.differences(must), half)
        mass = problem.prior_mass
        for cluster in range(problem.n_clusters) if shared else (h,):
            rows = np.flatnonzero(labels == cluster)
            weight = problem.weight[rows]
            scatter = scatter + _scatter_about(kind, problem.X[rows], centers[cluster], weight)
            mass += float(weight.sum())
        terms.append(Terms(scatter, mass, problem.differences(cannot), problem.link_weight[cannot]))
    return terms


def _scatter_about(
    kind: type[Diagonal] | type[Full], X: Matrix, center: FloatArray, weight: FloatArray
) -> FloatArray:
    """Scatter of rows about a centre, in blocks; sparse rows are not written out."""
    if sp.issparse(X):
        # Σ w (x − c)² = Σ w x² − 2c Σ w x + c² Σ w
        sums = np.asarray(weight @ X).ravel()
        about = kind.scatter(X, weight) - 2 * center * sums + center**2 * weight.sum()
        return np.maximum(about, 0.0)
    total = np.zeros_like(kind.plain(1, X.shape[1])[0])
    for start, stop in _blocks(*X.shape):
        total += kind.scatter(X[start:stop] - center, weight[start:stop])
    return total


def value(problem: Problem, terms: Terms, matrix: FloatArray) -> float:
    """The part of the objective that one metric decides."""
    metric = problem.kind(matrix[np.newaxis])
    total = float((matrix * terms.scatter).sum() - terms.mass * metric.log_det[0])
    if len(terms.weight):
        short = metric.lengths(problem.far).max() - metric.lengths(terms.broken)[:, 0]
        total += float(terms.weight @ np.maximum(short, 0.0))
    return total


def total_value(problem: Problem, terms: list[Terms], metrics: Metrics) -> float:
    """The objective, from the terms of every metric."""
    return sum(value(problem, t, m) for t, m in zip(terms, metrics.matrices, strict=True))


def step(problem: Problem, terms: Terms, matrix: FloatArray) -> FloatArray:
    """Return the metric that minimises the objective, or one that does not raise it.

    With no broken cannot-link the minimum is mass · scatter⁻¹. With some, the objective is convex
    but not smooth, since the longest of the far differences depends on the metric: the minimum for
    the one that is longest now gives the direction, and the step is halved until it does not raise
    the objective.
    """
    metric = problem.kind(matrix[np.newaxis])
    scatter = terms.scatter
    if len(terms.weight):
        far = metric.lengths(problem.far)[:, 0]
        longest = problem.far[[int(far.argmax())]]
        active = metric.lengths(terms.broken)[:, 0] < far.max()
        weight = terms.weight[active]
        scatter = scatter + problem.kind.scatter(longest, np.array([weight.sum()]))
        scatter = scatter - problem.kind.scatter(terms.broken[active], weight)
    # Broken cannot-links may take out more than there is. What the prior puts in always stays.
    target = terms.mass * problem.kind.inverse(scatter, problem.prior_mass)
    before = value(problem, terms, matrix)
    for halvings in range(MAX_HALVINGS + 1):
        tried = matrix + (target - matrix) / 2**halvings
        if value(problem, terms, tried) <= before:
            return tried
    return matrix


def first_matrices(problem: Problem, number: int) -> FloatArray:
    """Return the metrics of start `number`: plain, or every other time as must-links suggest.

    From plain distances clusters along features that do not matter are never left again: the
    metric that fits them makes them fit. With w δδᵀ/2 as the scatter of each must-linked pair, the
    metric sees what varies inside clusters before there are any.
    """
    plain = problem.kind.plain(problem.n_metrics, problem.X.shape[1])
    must = np.flatnonzero(problem.links.sign > 0)
    if number % 2 == 0 or not len(must):
        return plain
    weight = problem.links.weight[must]
    scatter = plain[0] + problem.kind.scatter(problem.differences(must), weight / 2)
    matrix = (1.0 + weight.sum()) * problem.kind.inverse(scatter, 1.0)
    return np.tile(matrix, (problem.n_metrics, *[1] * matrix.ndim))


# --- the algorithm -----------------------------------------------------------------------------


def mpckmeans(
    problem: Problem,
    centers_init: np.ndarray,
    matrices_init: FloatArray,
    *,
    max_iter: int = 300,
    tol: float = 0.0,
    on_round: Callable[[Round], object] | None = None,
) -> Run:
    """Run metric pairwise constrained k-means from given centres.

    Parameters
    ----------
    problem : Problem
    centers_init : ndarray of shape (n_clusters, n_features)
    matrices_init : ndarray of shape (n_metrics, n_features[, n_features])
    max_iter : int, default=300
    tol : float, default=0.0
        Stop once an iteration lowers the objective by at most this per unit of row weight.
    on_round : callable, default=None
        Called with the `Round` of each iteration.

    Returns
    -------
    Run
    """
    X, weight = problem.X, problem.weight
    centers = centers_init.astype(np.float64)
    metrics = problem.kind(matrices_init)
    labels = np.full(X.shape[0], -1, dtype=np.int32)
    history: list[Round] = []
    converged = False
    for _ in range(max_iter):
        began = time.perf_counter()
        assigned = assign(problem, metrics, centers, labels)
        n_changed = assigned.n_changed + _refill(problem, metrics, assigned, labels)
        mass = np.bincount(labels, weights=weight, minlength=problem.n_clusters)
        centers[mass > 0] = means_of(X, labels, mass, weight)[mass > 0]
        terms = terms_of(problem, labels, centers)
        after_centers = total_value(problem, terms, metrics)
        matrices = [step(problem, t, m) for t, m in zip(terms, metrics.matrices, strict=True)]
        metrics = problem.kind(np.array(matrices))
        record = Round(
            objective=total_value(problem, terms, metrics),
            after_assignment=assigned.objective,
            after_centers=after_centers,
            n_violated=assigned.n_broken,
            n_changed=n_changed,
            seconds=time.perf_counter() - began,
        )
        history.append(record)
        if on_round is not None:
            on_round(record)
        fell = history[-2].objective - record.objective if len(history) > 1 else np.inf
        converged = n_changed == 0 or fell <= tol * weight.sum()
        if converged:
            break
    objective = history[-1].objective
    if history[-1].n_changed:
        # So that labels agree with the centres and metrics returned.
        objective = assign(problem, metrics, centers, labels).objective
    inertia = _inertia(problem, metrics, labels, centers)
    return Run(labels, centers, metrics.matrices, inertia, objective, converged, history)


class Assigned(NamedTuple):
    """What assigning the rows did."""

    objective: float
    cost: FloatArray  # (n_samples,) of each row where it is, weighted
    price: FloatArray  # (n_pairs, n_metrics)
    n_broken: int
    n_changed: int


def assign(
    problem: Problem, metrics: Metrics, centers: FloatArray, labels: npt.NDArray[np.int32]
) -> Assigned:
    """Label the free rows anew and the linked rows from where they were, in place."""
    links, weight = problem.links, problem.weight
    price = problem.prices(metrics)
    previous = labels.copy()
    labels[:], cost, table = nearest_under(metrics, problem.X, centers, links.rows)
    cost *= weight
    placed = labels[links.rows]
    if len(links):
        before = previous[links.rows]
        placed = np.where(before < 0, placed, before)
        table *= weight[links.rows, np.newaxis]
        place_rows(table, links, price, placed)
        labels[links.rows] = placed
        cost[links.rows] = table[np.arange(len(placed)), placed]
    paid = np.empty(len(links))
    n_broken = broken_price(links.pairs, links.sign, price, placed, paid)
    objective = float(cost.sum()) + float(paid.sum()) + _prior(problem, metrics)
    return Assigned(objective, cost, price, n_broken, int((labels != previous).sum()))


def _prior(problem: Problem, metrics: Metrics) -> float:
    """What the prior adds to the objective: ν Σ_h (tr A_h − ln det A_h)."""
    unit = problem.kind.plain(1, problem.X.shape[1])
    trace = float((metrics.matrices * unit).sum())
    log_det = float(metrics.log_det.sum())
    return problem.prior_mass * (trace - log_det)


def _refill(
    problem: Problem, metrics: Metrics, assigned: Assigned, labels: npt.NDArray[np.int32]
) -> int:
    """Give each empty cluster the row whose move there saves most; return how many moved."""
    n_moved = 0
    rounding = 1e-12 * problem.X.shape[1]  # distances are in units of variance
    cost = assigned.cost.copy()
    mass = np.bincount(labels, weights=problem.weight, minlength=problem.n_clusters)
    log_det = np.broadcast_to(metrics.log_det, problem.n_clusters)
    for cluster in np.flatnonzero(mass == 0).tolist():
        alone = -log_det[cluster] * problem.weight
        row = best_to_move(labels, problem.links, assigned.price, cost, alone, cluster, rounding)
        if row >= 0:
            labels[row] = cluster
            cost[row] = alone[row]
            n_moved += 1
    return n_moved


def _inertia(
    problem: Problem, metrics: Metrics, labels: npt.NDArray[np.int32], centers: FloatArray
) -> float:
    total = 0.0
    for start, stop in _blocks(len(labels), max(_width(problem.X), len(centers))):
        squared = metrics.squared(problem.X[start:stop], centers)
        own = squared[np.arange(stop - start), labels[start:stop]]
        total += float(own @ problem.weight[start:stop])
    return total


# --- the estimator -----------------------------------------------------------------------------


class MPCKMeans(CentersMixin):
    r"""Metric pairwise constrained k-means: statements also teach how to measure distance.

    As in `PCKMeans` breaking a statement costs, and nothing is infeasible. Besides, each iteration
    fits a metric, diagonal or full, to the clusters and to the statements they break: features
    along which clusters are tight count more, and so do those that part the pairs that must be
    parted. Worth it when features differ in worth or hang together.

    Parameters
    ----------
    n_clusters : int, default=8

    metric : {"diagonal", "full"}, default="diagonal"
        One weight per feature, or a matrix of n_features × n_features. "full" also sees features
        that hang together; it needs dense X, and far more rows than features.

    shared : bool, default=True
        One metric for all clusters, or one for each: then clusters may differ in size and shape,
        and the log-determinant decides how much. A metric of its own needs many rows in each
        cluster.

    penalty : float, default=0.05
        Factor on the price of every broken statement; see Notes. The 1 of [1]_ obeys true
        statements slightly better, and wrong ones too.

    regularization : float, default=0.1
        As many rows as spread out as the whole data stand behind each metric. The larger, the
        closer to plain distances between standardised features.

    init : {"neighborhoods", "k-means++", "random"}, callable or array-like of shape \
            (n_clusters, n_features), default="neighborhoods"
        As in `PCKMeans`, among standardised features. A callable receives those, and returns
        centres in them; an array is in the units of X.

    n_init : int, default=10
        Number of starts; the one with the lowest objective is kept. An array as `init` is started
        from once.

    max_iter : int, default=300
        Iterations of one start at most.

    tol : float, default=1e-4
        A start ends when an iteration lowers the objective by at most this per row, or when no row
        changes its cluster.

    verbose : int, default=0
        Show progress on stderr.

    random_state : int, RandomState or None, default=None
        Draws the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.

    cluster_centers_ : ndarray of shape (n_clusters, n_features)

    metrics_ : ndarray of shape (n_clusters, n_features) or (n_clusters, n_features, n_features)
        The diagonals, or the matrices, of :math:`A_h`. Where the metric is shared, a read-only view
        that repeats one.

    inertia_ : float
        Weighted sum of squared distances, each under the metric of its cluster.

    objective_ : float
        What the fit minimised; see Notes.

    n_iter_ : int
        Iterations of the start that was kept.

    converged_ : bool
        False when that start was cut off by `max_iter`.

    history_ : list of Round
        One record per iteration of that start: ``objective``, the same ``after_assignment`` and
        ``after_centers``, ``n_violated``, ``n_changed``, ``seconds``. The objective never rises.

    report_ : ConstraintReport
        Which statements the labels keep.

    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    PCKMeans : Keeps to plain distances; faster.
    COPKMeans : Keeps every statement, or says why it cannot.

    Notes
    -----
    Features are divided by their standard deviations first, so that their units do not matter;
    `cluster_centers_` and `metrics_` are in the units of X again. With weights :math:`s_i` of
    samples and :math:`w_{ij}` of statements, penalty :math:`p`,
    :math:`\lVert v \rVert_A^2 = v^T A v`, must-links M and cannot-links C, labels, centres and
    metrics minimise

    .. math::

        \sum_i s_i \bigl( \lVert x_i - \mu_{l_i} \rVert_{A_{l_i}}^2 - \ln\det A_{l_i} \bigr)
        + p \sum_{(i, j) \in M,\, l_i \ne l_j} w_{ij} f_M
        + p \sum_{(i, j) \in C,\, l_i = l_j} w_{ij} f_C
        + \nu \sum_h \bigl( \operatorname{tr} A_h - \ln\det A_h \bigr)

    .. math::

        f_M = \tfrac12 \lVert x_i - x_j \rVert_{A_{l_i}}^2
            + \tfrac12 \lVert x_i - x_j \rVert_{A_{l_j}}^2, \qquad
        f_C = \max\bigl(0,\; \max_{v \in V} \lVert v \rVert_{A_h}^2
            - \lVert x_i - x_j \rVert_{A_h}^2 \bigr).

    Departures from [1]_:

    * V holds the differences between 16 rows far from each other, chosen once. The paper takes the
      most distant pair of all under the current metric, which costs O(n²) to find and makes the
      objective jump. The outer maximum keeps the price of pairs farther apart than any in V at 0.
    * The last sum is new: :math:`\nu` (`regularization`) rows of unit variance stand behind every
      metric. It keeps metrics of small clusters finite, and being part of the objective does not
      disturb its fall.
    * The metric :math:`A_h = m_h S_h^{-1}` (mass times inverse scatter, broken must-links added and
      broken cannot-links taken out) minimises the objective only while the longest of V stays the
      same and :math:`S_h` positive; entries or eigenvalues below :math:`\nu` are raised to it. The
      objective being convex in :math:`A_h`, a step that would raise it is halved, at last given up.
    * Every other start begins with the metric that whitens the differences of must-linked pairs,
      the first one with plain distances as in the paper.
    * The assignment is that of `PCKMeans`.

    Every step lowers the objective or leaves it. `sample_weight` in other units changes nothing:
    :math:`p` and :math:`\nu` count in mean weights.

    An iteration costs O(n_samples · n_clusters · n_features), for "full" times n_features (once and
    not n_clusters times if shared), and memory for n_clusters · n_features² numbers. Prices take
    8 bytes per pair, times n_clusters unless shared. Works in float64 on a copy of X; float32 comes
    back as float32, sparse X stays sparse. Rare features of sparse X weigh much, as rare words in
    texts do: `PCKMeans`, or fewer dimensions, may serve better there.

    `predict` does not re-apply statements: new rows go to the centre where squared distance minus
    log-determinant is least.

    References
    ----------
    .. [1] M. Bilenko, S. Basu and R. J. Mooney, "Integrating Constraints and Metric Learning in
       Semi-Supervised Clustering", ICML 2004. :doi:`10.1145/1015330.1015360`

    Examples
    --------
    The second feature is noise; that far rows belong together says so.

    >>> from conclust import Constraints, MPCKMeans
    >>> X = [[0, 0], [0.2, 5], [0.1, 9], [1, 1], [1.2, 4], [1.1, 8]]
    >>> known = Constraints(must_link=[(0, 2), (3, 5)], cannot_link=[(0, 3), (1, 4)])
    >>> model = MPCKMeans(2, random_state=0).fit(X, constraints=known)
    >>> model.report_
    ConstraintReport(4 of 4 kept: 2 of 2 must-link, 2 of 2 cannot-link)
    >>> bool(model.metrics_[0, 0] > 10 * model.metrics_[0, 1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"diagonal", "full"})],
        "shared": ["boolean"],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "regularization": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"neighborhoods", "k-means++", "random"}), callable, "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "diagonal",
        shared: bool = True,
        penalty: float = 0.05,
        regularization: float = 0.1,
        init: Any = "neighborhoods",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.metric = metric
        self.shared = shared
        self.penalty = penalty
        self.regularization = regularization
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
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
    ) -> "MPCKMeans":
        """Cluster X and learn metrics, heeding the statements.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Dense for ``metric="full"``.
        y : ignored
        constraints : Constraints, default=None
            Must-links and cannot-links.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        if self.metric == "full" and sp.issparse(X):
            raise TypeError(
                'metric="full" needs dense X, and a matrix of n_features × n_features. For sparse '
                'X use metric="diagonal", or reduce it first, with TruncatedSVD for example.'
            )
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = weights_of_rows(sample_weight, X).astype(np.float64)
        random_state = check_random_state(self.random_state)
        data = standardised(X, weight)
        links = link_rows(constraints)
        problem = pose(
            data.X,
            links,
            weight,
            n_clusters=self.n_clusters,
            metric=self.metric,
            shared=self.shared,
            penalty=self.penalty,
            regularization=self.regularization,
        )
        is_drawn = isinstance(self.init, str) or callable(self.init)

        def start(generator: np.random.RandomState, number: int, on_round: Any) -> Run:
            centers = start_centers(
                data.X, links, self.n_clusters, self.init, weight, generator, number, data.mean
            )
            return mpckmeans(
                problem,
                centers if is_drawn else centers / data.scale,
                first_matrices(problem, number),
                max_iter=self.max_iter,
                tol=self.tol,
                on_round=on_round,
            )

        best = best_of_starts(self, start, random_state, self.n_init)
        warn_if_degenerate(best.labels, self.n_clusters)
        self.labels_ = best.labels
        self.cluster_centers_ = (best.centers * data.scale + data.mean).astype(X.dtype)
        metrics = best.metrics / data.scale
        metrics = metrics / (data.scale if metrics.ndim == 2 else data.scale[:, np.newaxis])
        metrics = metrics.astype(X.dtype)
        self.metrics_ = np.broadcast_to(metrics, (self.n_clusters, *metrics.shape[1:]))
        self.inertia_, self.objective_ = best.inertia, best.objective
        self.n_iter_, self.converged_ = len(best.history), best.converged
        self.history_, self.report_ = best.history, constraints.report(best.labels)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """Cluster of each row: least squared distance minus log-determinant.

        Statements are not re-applied.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int32
        """
        return self._nearest(X)[0]

    def transform(self, X: Any) -> np.ndarray:
        """Distances of each row to each centre, under the metric of its cluster.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        X = self._check_new_rows(X)
        metrics, X, centers = self._measure(X)
        distances = np.empty((X.shape[0], len(centers)), dtype=self.cluster_centers_.dtype)
        for start, stop in _blocks(X.shape[0], max(_width(X), len(centers))):
            squared = metrics.squared(X[start:stop].astype(np.float64, copy=False), centers)
            distances[start:stop] = np.sqrt(squared)
        return distances

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the objective of the rows where `predict` puts them, without statements.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        X = self._check_new_rows(X)
        weight = weights_of_rows(sample_weight, X)
        return -float(self._nearest(X)[1] @ weight)

    def _nearest(self, X: Any) -> tuple[npt.NDArray[np.int32], FloatArray]:
        metrics, X, centers = self._measure(self._check_new_rows(X))
        return nearest_under(metrics, X, centers, np.empty(0, np.int64))[:2]

    def _measure(self, X: Matrix) -> tuple[Metrics, Matrix, FloatArray]:
        """Metrics, rows and centres, dense rows moved to the centres for accuracy."""
        metrics = KINDS[self.metric](self.metrics_.astype(np.float64))
        centers = self.cluster_centers_.astype(np.float64)
        if sp.issparse(X):
            return metrics, X, centers
        origin = centers.mean(axis=0)
        return metrics, X - origin, centers - origin

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric == "diagonal"
        return tags
