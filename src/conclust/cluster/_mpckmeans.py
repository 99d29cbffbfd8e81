"""MPCKMeans: k-means that pays for broken statements and learns how to measure distance."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_random_state

from conclust._kernels.penalty import broken_price
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._validation import check_inputs, weights_of_rows
from conclust.cluster._centers import CentersMixin
from conclust.cluster._lloyd import Matrix, centred
from conclust.cluster._pckmeans import (
    FloatArray,
    IntArray,
    Links,
    best_of_starts,
    best_to_move,
    link_rows,
    mean_squared_deviation,
    means_of,
    place_rows,
    start_centers,
    warn_if_degenerate,
)
from conclust.constraints import Constraints

# Numbers in one block of rows: 8 MB of temporaries.
BLOCK = 1 << 20
# Rows between which the longest distance is sought; each costs one pass over the data.
N_FAR = 16
# Halvings of a step of the metric that would raise the objective, before it is given up.
MAX_HALVINGS = 5


class Round(NamedTuple):
    """What one iteration did: the objective after each of its three steps, none above the last."""

    after_assignment: float
    after_centers: float
    objective: float  # after the metrics
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
        factors = np.broadcast_to(
            np.linalg.cholesky(self.matrices), (len(centers), *self.matrices.shape[1:])
        )
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
    n_samples, n_features = X.shape
    labels = np.empty(n_samples, dtype=np.int32)
    cost = np.empty(n_samples)
    table = np.empty((len(kept), len(centers)))
    for start, stop in _blocks(n_samples, max(n_features, len(centers))):
        block = metrics.squared(X[start:stop], centers) - metrics.log_det
        labels[start:stop] = block.argmin(axis=1)
        cost[start:stop] = block.min(axis=1)
        first, last = np.searchsorted(kept, (start, stop))
        table[first:last] = block[kept[first:last] - start]
    return labels, cost, table


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
    prior_variance : float
        σ², their variance along each feature.
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
    prior_variance: float

    def differences(self, which: Any) -> Matrix:
        """Return x_i − x_j of some pairs."""
        i, j = self.links.rows[self.links.pairs[which]].T
        return self.X[i] - self.X[j]

    def prices(self, metrics: Metrics) -> FloatArray:
        """(n_pairs, n_metrics) price of each pair where it is broken."""
        lengths = np.empty((len(self.links), self.n_metrics))
        for start, stop in _blocks(len(lengths), self.X.shape[1]):
            lengths[start:stop] = metrics.lengths(self.differences(slice(start, stop)))
        short = np.maximum(metrics.lengths(self.far).max(axis=0) - lengths, 0.0)
        price = np.where(self.links.sign[:, np.newaxis] > 0, lengths, short)
        return price * self.link_weight[:, np.newaxis]


def differences_of_far_rows(X: Matrix, sample_weight: FloatArray) -> Matrix:
    """Differences between rows far from each other, every feature counted in its own spread.

    The first row is the one farthest from the mean, each next one the one farthest from those
    before. Rows of weight 0 are left out.
    """
    X = X[sample_weight > 0]
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).reshape(1, -1)
    squares = X.multiply(X) if sp.issparse(X) else X * X
    variance = np.asarray(squares.mean(axis=0), dtype=np.float64).ravel() - mean.ravel() ** 2
    metric = Diagonal(1.0 / np.where(variance > 0, variance, 1.0)[np.newaxis])
    nearest = metric.squared(X, mean).ravel()
    rows: list[int] = [int(nearest.argmax())]
    nearest[:] = np.inf
    while len(rows) < min(N_FAR, X.shape[0]):
        last = X[rows[-1:]].toarray() if sp.issparse(X) else X[rows[-1:]]
        nearest = np.minimum(nearest, metric.squared(X, last.astype(np.float64)).ravel())
        nearest[rows] = -np.inf
        rows.append(int(nearest.argmax()))
    i, j = np.triu_indices(len(rows), k=1)
    chosen = X[rows]
    # One row has no pair: its distance to itself.
    return chosen[i] - chosen[j] if len(i) else chosen - chosen


# --- the metrics -------------------------------------------------------------------------------


class Terms(NamedTuple):
    """What the objective is as a function of one metric A, labels and centres given.

    ⟨A, scatter⟩ − mass · ln det A + Σ_n weight[n] · max(0, longest(A) − ‖broken[n]‖²_A)
    """

    scatter: FloatArray  # of the rows about their centres, the broken must-links and the prior
    mass: float
    broken: Matrix  # differences of the broken cannot-links
    weight: FloatArray


def terms_of(
    problem: Problem, labels: npt.NDArray[np.int32], centers: FloatArray
) -> list[Terms]:
    """Collect the terms of each metric."""
    links, kind = problem.links, problem.kind
    n_features = problem.X.shape[1]
    ends = labels[links.rows][links.pairs]
    broken = (ends[:, 0] == ends[:, 1]) != (links.sign > 0)
    shared = problem.n_metrics == 1
    prior = problem.prior_mass * problem.prior_variance * kind.plain(1, n_features)[0]
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
        terms.append(
            Terms(scatter, mass, problem.differences(cannot), problem.link_weight[cannot])
        )
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
    total = float((matrix * terms.scatter).sum()) - terms.mass * float(metric.log_det[0])
    if len(terms.weight):
        short = metric.lengths(problem.far).max() - metric.lengths(terms.broken)[:, 0]
        total += float(terms.weight @ np.maximum(short, 0.0))
    return total


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
    target = terms.mass * problem.kind.inverse(
        scatter, problem.prior_mass * problem.prior_variance
    )
    before = value(problem, terms, matrix)
    for halvings in range(MAX_HALVINGS + 1):
        tried = matrix + (target - matrix) / 2**halvings
        if value(problem, terms, tried) <= before:
            return tried
    return matrix


# --- the algorithm -----------------------------------------------------------------------------


def mpckmeans(
    problem: Problem,
    centers_init: np.ndarray,
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
    max_iter : int, default=300
    tol : float, default=0.0
        Stop once an iteration lowers the objective by at most this per unit of row weight.
    on_round : callable, default=None
        Called with the `Round` of each iteration.

    Returns
    -------
    Run
    """
    X, weight, links = problem.X, problem.weight, problem.links
    centers = centers_init.astype(np.float64)
    matrices = problem.kind.plain(problem.n_metrics, X.shape[1]) / problem.prior_variance
    labels = np.full(X.shape[0], -1, dtype=np.int32)
    paid = np.zeros(len(links))
    history: list[Round] = []
    converged = False
    for iteration in range(max_iter):
        began = time.perf_counter()
        metrics = problem.kind(matrices)
        price = problem.prices(metrics)
        previous = labels
        labels, cost, table = nearest_under(metrics, X, centers, links.rows)
        if len(links):
            placed = (labels if iteration == 0 else previous)[links.rows]
            table *= weight[links.rows, np.newaxis]
            place_rows(table, links, price, placed)
            labels[links.rows] = placed
            cost = cost * weight
            cost[links.rows] = table[np.arange(len(placed)), placed]
        else:
            cost = cost * weight
        n_changed = int(np.count_nonzero(labels != previous))
        n_broken = broken_price(links.pairs, links.sign, price, labels[links.rows], paid)
        after_assignment = float(cost.sum()) + float(paid.sum()) + _prior(problem, metrics)
        n_changed += _refill(problem, labels, metrics, price, cost)
        mass = np.bincount(labels, weights=weight, minlength=problem.n_clusters)
        filled = mass > 0
        centers[filled] = means_of(X, labels, mass, weight)[filled]
        terms = terms_of(problem, labels, centers)
        after_centers = sum(
            value(problem, t, m) for t, m in zip(terms, matrices, strict=True)
        )
        matrices = np.array(
            [step(problem, t, m) for t, m in zip(terms, matrices, strict=True)]
        )
        objective = sum(value(problem, t, m) for t, m in zip(terms, matrices, strict=True))
        record = Round(
            after_assignment,
            after_centers,
            objective,
            n_broken,
            n_changed,
            time.perf_counter() - began,
        )
        history.append(record)
        if on_round is not None:
            on_round(record)
        fell = history[-2].objective - objective if len(history) > 1 else np.inf
        converged = n_changed == 0 or fell <= tol * weight.sum()
        if converged:
            break
    metrics = problem.kind(matrices)
    inertia = _inertia(problem, metrics, labels, centers)
    return Run(labels, centers, matrices, inertia, history[-1].objective, converged, history)


def _prior(problem: Problem, metrics: Metrics) -> float:
    """What the prior adds to the objective: ν Σ_h (σ² tr A_h − ln det A_h)."""
    unit = problem.kind.plain(1, problem.X.shape[1])
    trace = float((metrics.matrices * unit).sum())
    return problem.prior_mass * (problem.prior_variance * trace - float(metrics.log_det.sum()))


def _refill(
    problem: Problem,
    labels: npt.NDArray[np.int32],
    metrics: Metrics,
    price: FloatArray,
    cost: FloatArray,
) -> int:
    """Give each empty cluster the row whose move there saves most; return how many moved."""
    n_moved = 0
    mass = np.bincount(labels, weights=problem.weight, minlength=problem.n_clusters)
    for cluster in np.flatnonzero(mass == 0):
        log_det = metrics.log_det[cluster if problem.n_metrics > 1 else 0]
        alone = -log_det * problem.weight
        row = best_to_move(labels, problem.links, price, cost, alone, int(cluster))
        if row >= 0:
            labels[row] = cluster
            cost[row] = alone[row]
            n_moved += 1
    return n_moved


def _inertia(
    problem: Problem, metrics: Metrics, labels: npt.NDArray[np.int32], centers: FloatArray
) -> float:
    total = 0.0
    for start, stop in _blocks(len(labels), problem.X.shape[1]):
        squared = metrics.squared(problem.X[start:stop], centers)
        own = squared[np.arange(stop - start), labels[start:stop]]
        total += float(own @ problem.weight[start:stop])
    return total


# --- the estimator -----------------------------------------------------------------------------


class MPCKMeans(CentersMixin):
    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "diagonal",
        shared: bool = False,
        penalty: float = 1.0,
        regularization: float = 1.0,
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

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Constraints | None = None,
        sample_weight: Any = None,
    ) -> "MPCKMeans":
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = weights_of_rows(sample_weight, X)
        random_state = check_random_state(self.random_state)
        links = link_rows(constraints)
        X, mean = centred(X)
        kind = KINDS[self.metric]
        unit = float(weight.sum(dtype=np.float64)) / max(np.count_nonzero(weight), 1)
        variance = mean_squared_deviation(X, weight) / unit / X.shape[1] or 1.0
        problem = Problem(
            X=X,
            weight=weight.astype(np.float64),
            links=links,
            link_weight=self.penalty * unit * links.weight,
            n_clusters=self.n_clusters,
            n_metrics=1 if self.shared else self.n_clusters,
            kind=kind,
            far=differences_of_far_rows(X, weight),
            prior_mass=self.regularization * X.shape[1] * unit,
            prior_variance=variance,
        )

        def start(generator: np.random.RandomState, number: int, on_round: Any) -> Run:
            return mpckmeans(
                problem,
                start_centers(
                    X, links, self.n_clusters, self.init, weight, generator, number, mean
                ),
                max_iter=self.max_iter,
                tol=self.tol,
                on_round=on_round,
            )

        best = best_of_starts(self, start, random_state)
        warn_if_degenerate(best.labels, self.n_clusters)
        self.labels_ = best.labels
        self.cluster_centers_ = best.centers + mean
        self.metrics_ = best.metrics
        self.inertia_, self.objective_ = best.inertia, best.objective
        self.n_iter_, self.converged_ = len(best.history), best.converged
        self.history_, self.report_ = best.history, constraints.report(best.labels)
        return self
