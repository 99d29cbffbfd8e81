"""Lloyd's loop with linked rows: the modified COP-Kmeans, and the sweep all k-means here share."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Literal, NamedTuple, Self

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_array, check_random_state
from sklearn.utils.extmath import row_norms

from conclust._kernels.lloyd import fingerprint, iterate_dense
from conclust._kernels.nearest import (
    BLOCK,
    FREE,
    measure_csr,
    measure_dense,
    move_csr,
    move_dense,
    sweep_csr,
    sweep_dense,
)
from conclust._kernels.pairs import count_broken, place_pairs, plan_pairs
from conclust._sklearn import threadpool_controller

# Multiplications that pay for waking one more thread (some 50 µs).
GRAIN = 1 << 20
# Multiplications per iteration up to which whole iterations run in one call, in one thread.
SMALL = 1 << 22
# Part of the inertia that counts as a fall where new orders of the pairs make it go up and down.
FALL = 1e-3
# Rows that are measured at a time where one number per row is all that is wanted.
CHUNK = 1 << 13

# A dense array or a CSR matrix, float32 or float64, and where centres may come from.
Matrix = Any
Init = str | np.ndarray | Callable[..., np.ndarray]


class Round(NamedTuple):
    """What one iteration did."""

    inertia: float  # weighted sum of squared distances to the centres the rows were assigned to
    n_changed: int  # rows whose cluster is not the one they had
    n_violated: int  # pairs broken by the assignment
    center_shift: float  # Σ ‖new centre − old centre‖²
    seconds: float


class Run(NamedTuple):
    """The result of one run, in the coordinates of the X it was given."""

    labels: np.ndarray  # (n_samples,) int32
    centers: np.ndarray  # (n_clusters, n_features)
    inertia: float
    n_iter: int
    converged: bool  # False: the last iteration still moved rows and centres
    history: list[Round]


class Centred(NamedTuple):
    """Data moved to their mean, and that mean; sparse data stay where they are."""

    X: Matrix
    mean: np.ndarray  # (n_features,)


class Assigned(NamedTuple):
    """What an assignment did, or what a correction adds to it."""

    n_changed: int  # rows whose cluster is not the one they had
    inertia: float  # weighted sum of squared distances to the centres


class Plan(NamedTuple):
    """The pairs that place rows when visited in some order; see `plan_pairs`."""

    openings: np.ndarray
    opening_sign: np.ndarray
    extensions: np.ndarray
    extension_sign: np.ndarray


# --- before the loop ---------------------------------------------------------------------------


def centred(X: Matrix, *, copy: bool = True) -> Centred:
    """Move dense data to their mean, where ‖x‖² + ‖c‖² − 2 x·c loses fewest digits.

    Distances do not change. Whoever calls adds ``mean`` to the centres found. Done once for all
    starts and rounds; ``copy=False`` overwrites X, for a caller who holds the only reference.
    """
    if sp.issparse(X):
        return Centred(X, np.zeros(X.shape[1], dtype=X.dtype))
    mean = X.mean(axis=0)
    return Centred(np.subtract(X, mean, out=None if copy else X), mean)


def init_centers(
    X: Matrix,
    n_clusters: int,
    init: Init,
    sample_weight: np.ndarray | None,
    random_state: np.random.RandomState,
    *,
    mean: np.ndarray | None = None,
) -> np.ndarray:
    """Choose the centres to start from, with the draws scikit-learn's ``KMeans`` would make.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Centred or not.
    n_clusters : int
    init : {"k-means++", "random"}, array-like of shape (n_clusters, n_features) or callable
        "random" takes distinct rows, with probabilities proportional to their weights. A callable
        receives ``(X, n_clusters, random_state=...)`` with X as it is given here.
    sample_weight : ndarray of shape (n_samples,) or None
        Not used by arrays and callables.
    random_state : RandomState
    mean : ndarray of shape (n_features,), default=None
        What `centred` took from X; an array ``init`` is moved likewise.

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        A new array, of the type of X.
    """
    n_samples = X.shape[0]
    if n_samples < n_clusters:
        raise ValueError(f"n_samples={n_samples} should be >= n_clusters={n_clusters}.")
    if isinstance(init, str) and init == "k-means++":
        return kmeans_plusplus(
            X, n_clusters, sample_weight=sample_weight, random_state=random_state
        )[0]
    if isinstance(init, str) and init == "random":
        weight = np.ones(n_samples) if sample_weight is None else sample_weight
        n_heavy = np.count_nonzero(weight)
        if n_heavy < n_clusters:
            raise ValueError(
                f'init="random" draws n_clusters={n_clusters} rows with positive weight, but '
                f"sample_weight has only {n_heavy}. Lower n_clusters or pass an array as init."
            )
        rows = random_state.choice(n_samples, n_clusters, replace=False, p=weight / weight.sum())
        return X[rows].toarray() if sp.issparse(X) else X[rows]
    if isinstance(init, str):
        raise ValueError(
            f"init={init!r} is unknown; use 'k-means++', 'random', an array of shape "
            "(n_clusters, n_features) or a callable."
        )
    if callable(init):
        origin = "init(X, n_clusters, random_state=...) returned an array of"
        given = init(X, n_clusters, random_state=random_state)
    else:
        origin = "init has"
        given = init
    centers = check_array(given, dtype=X.dtype, order="C", copy=True, input_name="init")
    if centers.shape != (n_clusters, X.shape[1]):
        raise ValueError(
            f"{origin} shape {centers.shape}, but n_clusters={n_clusters} and X has "
            f"{X.shape[1]} features: it must be {(n_clusters, X.shape[1])}."
        )
    if mean is not None and not callable(init):
        centers -= mean
    return centers


# --- threads -----------------------------------------------------------------------------------


def one_blas_thread() -> Any:
    """Hold BLAS at one thread, as a context: beside our own threads its pool fights for the cores.

    Whoever runs several fits in threads of its own should hold this around all of them.
    """
    return threadpool_controller().limit(limits=1, user_api="blas")


def available_threads() -> int:
    """As many threads as scikit-learn would use: OMP_NUM_THREADS and joblib's workers count."""
    openmp = threadpool_controller().select(user_api="openmp").info()
    limit = min((pool["num_threads"] for pool in openmp), default=1)
    return min(limit, joblib.cpu_count(only_physical_cores=True))


# --- the sweep ---------------------------------------------------------------------------------


class NearestCenters:
    """Nearest centres for the rows of one X, again and again: its buffers and threads are kept.

    One iteration is ``sweep``, then ``add`` where some rows are kept for the caller to place, then
    ``means``. A context manager; inside, BLAS keeps to one thread.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), float32 or float64
        C-contiguous; centred, for accuracy.
    n_clusters : int
    sample_weight : ndarray of shape (n_samples,), default=None
        Of the type of X.
    kept : ndarray of shape (n_kept,), int64, default=None
        Rows the caller places, ascending and distinct.
    all_distances : bool, default=False
        Whether a sweep also fills ``distances``.
    n_threads : int, default=None
        At most so many threads; None for `available_threads`.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,), int32
        `FREE` before the first sweep; a sweep puts kept rows at their nearest centre, too.
    nearest, second : ndarray of shape (n_kept,), int32
        The two nearest centres of each kept row, the lowest cluster on ties; equal when there is
        but one cluster.
    gap : ndarray of shape (n_kept,)
        Its squared distance to the nearest centre.
    distances : ndarray of shape (n_kept, n_clusters) or (0, n_clusters)
        Its squared distance to every centre.

    Notes
    -----
    A sweep costs O(n_samples · n_clusters · n_features) multiplications, in BLAS for dense X, and
    O(n_clusters · n_features) memory per thread. The last bits of the means depend on the number of
    threads.
    """

    def __init__(
        self,
        X: Matrix,
        n_clusters: int,
        *,
        sample_weight: np.ndarray | None = None,
        kept: np.ndarray | None = None,
        all_distances: bool = False,
        n_threads: int | None = None,
    ):
        n_samples, n_features = X.shape
        self.X = X
        self.n_clusters = n_clusters
        self.weight = np.asarray(() if sample_weight is None else sample_weight, dtype=X.dtype)
        self.kept = np.asarray(() if kept is None else kept, dtype=np.int64)
        n_kept = len(self.kept)

        self.forget()
        self._before = np.empty(n_kept, dtype=np.int32)
        self._moved = np.empty(n_kept, dtype=np.uint32)
        self.nearest = np.empty(n_kept, dtype=np.int32)
        self.second = np.empty(n_kept, dtype=np.int32)
        self.gap = np.empty(n_kept, dtype=X.dtype)
        self.distances = np.empty((n_kept * all_distances, n_clusters), dtype=X.dtype)

        if sp.issparse(X):
            self._data: tuple[np.ndarray, ...] = (X.data, X.indices, X.indptr)
            self._kernels: tuple[Callable[..., Any], ...] = (sweep_csr, move_csr, measure_csr)
            work = X.nnz * n_clusters
        else:
            self._data = (X,)
            self._kernels = (sweep_dense, move_dense, measure_dense)
            work = n_samples * n_features * n_clusters
        most = work // GRAIN + 1
        if most > 1:
            most = min(most, available_threads() if n_threads is None else n_threads)
        self._rows = _split(n_samples, most, BLOCK)
        self._slots = _split(n_kept, len(self._rows), BLOCK)
        n_threads = len(self._rows)
        # With some BLAS the limit belongs to the thread that asks for it, so every worker asks.
        self._pool = (
            ThreadPoolExecutor(n_threads - 1, initializer=one_blas_thread)
            if n_threads > 1
            else None
        )
        self._held = ExitStack()
        self._product = np.empty((n_threads, n_clusters * BLOCK), dtype=X.dtype)
        self._best = np.empty((n_threads, 2, BLOCK), dtype=X.dtype)
        self._near = np.empty((n_threads, 2, BLOCK), dtype=np.int32)
        # Moving kept rows subtracts; in double precision nothing is lost by that. Without them the
        # sums are scikit-learn's, bit by bit.
        exact = np.float64 if n_kept else X.dtype
        self._sums = np.empty((n_threads, n_clusters, n_features), dtype=exact)
        self._masses = np.empty((n_threads, n_clusters), dtype=exact)

        self._kept_norms = np.empty(n_kept, dtype=X.dtype)
        self._total_norm = 0.0
        for start, stop in _chunks(0, n_samples):
            norms = _squared_norms(X[start:stop])
            first, last = np.searchsorted(self.kept, (start, stop))
            self._kept_norms[first:last] = norms[self.kept[first:last] - start]
            self._total_norm += self._weighted_sum(norms, start, stop)

    def __enter__(self) -> Self:
        self._held.enter_context(one_blas_thread())
        if self._pool is not None:
            self._held.enter_context(self._pool)
        return self

    def __exit__(self, *exception: object) -> None:
        self._held.close()

    def forget(self) -> None:
        """Begin anew: labels handed out stay as they are."""
        self.labels = np.full(self.X.shape[0], FREE, dtype=np.int32)

    def sweep(self, centers: np.ndarray) -> Assigned:
        """Give every row its nearest centre and sum anew; rank the centres for the kept rows."""
        if sp.issparse(self.X):
            scaled = np.multiply(centers.T, -2, order="C")
        else:
            # The product is faster with the centres transposed in memory, but then it does not
            # round as scikit-learn's; that matters where rows lie halfway between two centres.
            scaled = np.multiply(centers, -2, order="F" if len(self.kept) else "C")
        norms = _squared_norms(centers)
        self._sums.fill(0)
        self._masses.fill(0)

        def part(thread: int, start: int, stop: int) -> int:
            return self._kernels[0](
                *self._data,
                self.weight,
                scaled,
                norms,
                start,
                stop,
                self.kept,
                self._kept_norms,
                self._product[thread],
                self._best[thread],
                self._near[thread],
                self.labels,
                self._before,
                self.nearest,
                self.second,
                self.gap,
                self.distances,
                self._sums[thread],
                self._masses[thread],
            )

        self._n_changed = sum(self._in_threads(part, self._rows))
        self._inertia = self._inertia_of_sums(centers)
        return Assigned(self._n_changed, self._inertia)

    def add(self, placed: np.ndarray, centers: np.ndarray) -> Assigned:
        """Move the kept rows to the clusters in ``placed``, (n_kept,) int32: labels and sums.

        ``centers`` are those of the last sweep. Returns what this adds to the answer of `sweep`.
        """

        def part(thread: int, start: int, stop: int) -> int:
            return self._kernels[1](
                *self._data,
                self.weight,
                start,
                stop,
                self.kept,
                placed,
                self._before,
                self.nearest,
                self._moved,
                self.labels,
                self._sums[thread],
                self._masses[thread],
            )

        n_changed = sum(self._in_threads(part, self._slots))
        before, self._inertia = self._inertia, self._inertia_of_sums(centers)
        return Assigned(n_changed, self._inertia - before)

    @property
    def n_free_changed(self) -> int:
        """Rows not kept whose cluster the last sweep changed."""
        return self._n_changed - int(np.count_nonzero(self.nearest != self._before))

    @property
    def all_filled(self) -> bool:
        """Whether every cluster has rows after the last sweep and `add`."""
        masses = self._masses.sum(axis=0)
        # Fractions that went and came may leave a rounding error where nothing is left.
        return bool((masses > 1e-9 * masses.sum()).all())

    @property
    def is_small(self) -> bool:
        """Whether `iterate` can take these rows: few numbers, dense, kept ones, equal weights."""
        few = self.X.shape[0] * self.X.shape[1] * self.n_clusters <= SMALL
        dense = not sp.issparse(self.X)
        return few and dense and len(self.kept) > 0 and not len(self.weight)

    def iterate(
        self,
        centers: np.ndarray,
        plan: "Plan",
        pairs: np.ndarray,
        sign: np.ndarray,
        placed: np.ndarray,
        max_iter: int,
        tol: float,
        seen: list[int],
    ) -> tuple[np.ndarray, list[int], bool]:
        """Iterate with pairs in one thread; see `iterate_dense`. Overwrites `centers`, `placed`.

        ``seen`` are fingerprints of labels met before. Returns the records, (n_iter, 4), ``seen``
        with the labels met now, and whether the last iteration left a cluster empty: it then waits
        for `means`.
        """
        records = np.empty((max_iter, 4))
        prints = np.empty(len(seen) + max_iter, dtype=np.uint64)
        prints[: len(seen)] = seen
        self._sums[1:] = 0
        self._masses[1:] = 0
        n_iter, is_empty = iterate_dense(
            self.X,
            self._total_norm,
            self.kept,
            self._kept_norms,
            self._product[0],
            self._best[0],
            self._near[0],
            self.labels,
            self._before,
            self.nearest,
            self.second,
            self.gap,
            self.distances,
            self._moved,
            self._sums[0],
            self._masses[0],
            pairs,
            sign,
            *plan,
            placed,
            centers,
            tol,
            records,
            prints,
        )
        return records[:n_iter], prints[: len(seen) + n_iter].tolist(), is_empty

    def means(self, centers: np.ndarray) -> np.ndarray:
        """Mean of each cluster, from the sums; an empty one restarts at a row far from its centre.

        ``centers`` are those of the last sweep.
        """
        sums = self._sums.sum(axis=0)
        masses = self._masses.sum(axis=0)
        if len(self.kept) and len(self.weight):
            # Fractions that went and came may leave a rounding error where nothing is left.
            gone = np.bincount(self.labels, self.weight, self.n_clusters) == 0
            sums[gone] = 0
            masses[gone] = 0
        if not masses.all():
            self._relocate(centers, sums, masses)
        return _average(sums, masses).astype(self.X.dtype, copy=False)

    def inertia(self, centers: np.ndarray) -> float:
        """Weighted sum of the squared distances of all rows to the centre of their cluster."""
        norms = _squared_norms(centers)

        def part(thread: int, first: int, last: int) -> float:
            total, out = 0.0, np.empty(min(CHUNK, last - first), dtype=self.X.dtype)
            for start, stop in _chunks(first, last):
                here = out[: stop - start]
                self._kernels[2](*self._data, centers, norms, start, stop, self.labels, here)
                total += self._weighted_sum(here, start, stop)
            return total

        return sum(self._in_threads(part, self._rows))

    def _inertia_of_sums(self, centers: np.ndarray) -> float:
        # Σ w ‖x − c‖² = Σ w ‖x‖² + Σ_c (mass ‖c‖² − 2 c · sum): no row is looked at again.
        centers = centers.astype(np.float64, copy=False)
        total = self._total_norm + self._masses.sum(axis=0) @ _squared_norms(centers)
        for sums in self._sums:
            total -= 2 * np.vdot(centers, sums.astype(np.float64, copy=False))
        return max(float(total), 0.0)

    def _relocate(self, centers: np.ndarray, sums: np.ndarray, masses: np.ndarray) -> None:
        """Give each empty cluster one of the rows farthest from their centres.

        As scikit-learn does it, down to the order in which numpy leaves those rows.
        """
        norms = _squared_norms(centers)
        distances = np.empty(self.X.shape[0], dtype=self.X.dtype)
        self._kernels[2](*self._data, centers, norms, 0, len(distances), self.labels, distances)
        if distances.max() == 0:
            return  # fewer distinct rows than clusters: every row lies on its centre
        empty = np.flatnonzero(masses == 0)
        farthest = np.argpartition(distances, -len(empty))[: -len(empty) - 1 : -1]
        for cluster, row in zip(empty, farthest, strict=True):
            mass = self.weight[row] if len(self.weight) else self.X.dtype.type(1)
            part = mass * (self.X[[row]].toarray()[0] if sp.issparse(self.X) else self.X[row])
            sums[self.labels[row]] -= part
            masses[self.labels[row]] -= mass
            sums[cluster] = part
            masses[cluster] = mass

    def _weighted_sum(self, values: np.ndarray, start: int, stop: int) -> float:
        if len(self.weight):
            values *= self.weight[start:stop]
        return float(values.sum(dtype=np.float64))

    def _in_threads(self, part: Callable[..., Any], ranges: list[tuple[int, int]]) -> list[Any]:
        """Call ``part(thread, start, stop)`` for each range, the first one in this thread."""
        if self._pool is None:
            return [part(0, *ranges[0])]
        waiting = [
            self._pool.submit(part, thread, *ranges[thread]) for thread in range(1, len(ranges))
        ]
        return [part(0, *ranges[0]), *(one.result() for one in waiting)]


def _chunks(first: int, last: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows small enough for one number per row not to count as memory."""
    for start in range(first, last, CHUNK):
        yield start, min(start + CHUNK, last)


def _split(n: int, n_parts: int, block: int) -> list[tuple[int, int]]:
    """Cut ``range(n)`` into at most ``n_parts`` ranges of whole blocks, as even as can be."""
    n_blocks = max(-(-n // block), 1)
    n_parts = min(n_parts, n_blocks)
    if n_parts == 1:
        return [(0, n)]
    # As OpenMP's static schedule deals them out, so that our partial sums are scikit-learn's.
    sizes = [n_blocks // n_parts + (part < n_blocks % n_parts) for part in range(n_parts)]
    stops = [min(block * int(stop), n) for stop in np.cumsum(sizes)]
    return list(zip([0, *stops[:-1]], stops, strict=True))


def _average(sums: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Divide sums by masses; a cluster still empty goes where scikit-learn would put it."""
    if masses.all():
        sums *= (1 / masses)[:, np.newaxis]
        return sums
    largest = int(masses.argmax())
    total = sums[largest].copy()
    filled = masses > 0
    sums[filled] *= (1 / masses[filled])[:, np.newaxis]
    for cluster in np.flatnonzero(~filled):
        # scikit-learn overwrites in ascending order, so a cluster before the largest receives its
        # sum and not its mean. A copy of the mean would win every tie against the largest cluster.
        sums[cluster] = total if cluster < largest else sums[largest]
    return sums


def _squared_norms(rows: Matrix) -> np.ndarray:
    if sp.issparse(rows):
        return row_norms(rows, squared=True)
    return np.einsum("ij,ij->i", rows, rows)


def assign_nearest(X: Matrix, centers: np.ndarray, *, n_threads: int | None = None) -> np.ndarray:
    """Nearest centre of each row, (n_samples,) int32; the lowest cluster on ties."""
    with NearestCenters(X, len(centers), n_threads=n_threads) as rows:
        rows.sweep(np.ascontiguousarray(centers, dtype=X.dtype))
    return rows.labels


# --- the algorithm -----------------------------------------------------------------------------


def constrained_kmeans(
    X: Matrix,
    pairs: np.ndarray,
    sign: np.ndarray,
    priority: np.ndarray | None,
    centers_init: np.ndarray,
    *,
    sample_weight: np.ndarray | None = None,
    max_iter: int = 300,
    tol: float = 0.0,
    order: Literal["given", "random"] = "given",
    random_state: int | np.random.RandomState | None = None,
    n_threads: int | None = None,
    on_round: Callable[[Round], object] | None = None,
) -> Run:
    """Run the modified COP-Kmeans (Algorithm 2 of [1]_): k-means that heeds pairs, and never fails.

    In each iteration the rows named in pairs are placed first, pair after pair in descending
    priority: each gets its nearest centre as far as its pair and the rows placed before it allow.
    Then every other row goes to its nearest centre, and the centres move to the means.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), float32 or float64
        C-contiguous. Pass dense data through `centred` first, for accuracy.
    pairs : ndarray of shape (n_pairs, 2)
        Row numbers.
    sign : ndarray of shape (n_pairs,)
        +1 for a must-link, −1 for a cannot-link.
    priority : ndarray of shape (n_pairs,) or None
        Pairs are visited in descending priority, ties (and None) in the order given.
    centers_init : ndarray of shape (n_clusters, n_features)
        In the coordinates of X; left as they are.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weight of each row in the means and in the inertia.
    max_iter : int, default=300
    tol : float, default=0.0
        Stop once Σ ‖new centre − old centre‖² is at most this. Absolute: scale it beforehand.
    order : {"given", "random"}, default="given"
        "random" ignores priorities and draws a new order in each iteration, as in [2]_.
    random_state : int, RandomState or None, default=None
        For ``order="random"``.
    n_threads : int, default=None
        None for as many as scikit-learn would use.
    on_round : callable, default=None
        Called with the `Round` of each iteration.

    Returns
    -------
    Run

    Notes
    -----
    Stops when no label changes, when the centres stay within ``tol``, when labels come
    back (with conflicting pairs they may cycle), or after ``max_iter`` iterations. With
    ``order="random"`` the rows in pairs may change for ever: there it stops when no other row
    changes and the inertia does not fall by a thousandth. Unless no label changed, the rows are
    assigned once more (in the last order) so that labels agree with the centres returned. A cluster
    left empty restarts at the row farthest from its own centre. Without pairs this is
    scikit-learn's ``KMeans(algorithm="lloyd")`` with the same start: same labels, inertia, centres
    and number of iterations.

    Beside plain k-means an iteration costs O(n_pairs), and O(n_features) for each row that is not
    placed at its nearest centre. Memory grows by some 50 bytes per row named in pairs.

    References
    ----------
    .. [1] M. Okabe and S. Yamada, "Clustering by Learning Constraints Priorities".
    .. [2] M. Okabe and S. Yamada, "Clustering with Extended Constraints by Co-Training".
    """
    with ConstrainedLloyd(
        X, pairs, sign, len(centers_init), sample_weight=sample_weight, n_threads=n_threads
    ) as rows:
        return rows.run(
            priority,
            centers_init,
            max_iter=max_iter,
            tol=tol,
            order=order,
            random_state=random_state,
            on_round=on_round,
        )


class ConstrainedLloyd:
    """`constrained_kmeans` again and again on the same rows and pairs: buffers are kept.

    A context manager; the parameters, here and of `run`, are those of `constrained_kmeans`.
    """

    def __init__(
        self,
        X: Matrix,
        pairs: np.ndarray,
        sign: np.ndarray,
        n_clusters: int,
        *,
        sample_weight: np.ndarray | None = None,
        n_threads: int | None = None,
    ):
        kept, self._pairs = _among_themselves(np.asarray(pairs).reshape(-1, 2), X.shape[0])
        self._sign = np.asarray(sign).astype(np.int8)
        self._placed = np.empty(len(kept), dtype=np.int32)
        self._rows = NearestCenters(
            X, n_clusters, sample_weight=sample_weight, kept=kept, n_threads=n_threads
        )

    def __enter__(self) -> Self:
        self._rows.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._rows.__exit__(*exception)

    def run(
        self,
        priority: np.ndarray | None,
        centers_init: np.ndarray,
        *,
        max_iter: int = 300,
        tol: float = 0.0,
        order: Literal["given", "random"] = "given",
        random_state: int | np.random.RandomState | None = None,
        on_round: Callable[[Round], object] | None = None,
    ) -> Run:
        """Run once from the centres given."""
        rows, pairs, sign, placed = self._rows, self._pairs, self._sign, self._placed
        rows.forget()
        generator = check_random_state(random_state) if order == "random" else None
        # Sorted once: Algorithm 2 repeats its line 5, but priorities do not change within a run.
        plan = self._plan(_descending(priority, len(pairs)))
        centers = np.array(centers_init, dtype=rows.X.dtype, order="C")
        history: list[Round] = []

        def note(record: Round) -> None:
            history.append(record)
            if on_round is not None:
                on_round(record)

        seen: list[int] = []
        lowest = np.inf
        unchanged = converged = cycles = False
        while len(history) < max_iter and not (converged or cycles):
            began = time.perf_counter()
            if generator is None and rows.is_small:
                # Whole iterations in one call; it comes back where a cluster is empty.
                records, seen, is_empty = rows.iterate(
                    centers, plan, pairs, sign, placed, max_iter - len(history), tol, seen
                )
                seconds = (time.perf_counter() - began) / len(records)
                for inertia, n_changed, n_broken, shift in records[: len(records) - is_empty]:
                    note(Round(inertia, int(n_changed), int(n_broken), shift, seconds))
                if not is_empty:  # the rows are assigned to the last centres already
                    unchanged, converged = True, n_changed == 0 or shift <= tol
                    break
                seen.pop()  # what follows does not follow from these labels alone
                assigned = Assigned(int(records[-1, 1]), float(records[-1, 0]))
            else:
                if generator is not None:
                    plan = self._plan(generator.permutation(len(pairs)).astype(np.uint32))
                assigned = self._assign(centers, plan)
            filled = rows.all_filled
            previous, centers = centers, rows.means(centers)
            step = (centers - previous).ravel()
            shift = float(step @ step)
            seconds = time.perf_counter() - began
            n_broken = count_broken(pairs, sign, placed)
            note(Round(assigned.inertia, assigned.n_changed, n_broken, shift, seconds))
            unchanged = assigned.n_changed == 0
            converged = unchanged or shift <= tol
            if generator is not None:
                falls = assigned.inertia < lowest * (1 - FALL)
                converged |= not (falls or rows.n_free_changed)
                lowest = min(lowest, assigned.inertia)
            elif len(placed) and filled:
                # The means follow from the labels: those met before would come back for ever.
                met = int(fingerprint(rows.labels))
                cycles = met in seen
                seen.append(met)
        if not unchanged:
            self._assign(centers, plan)
        inertia = rows.inertia(centers)
        return Run(rows.labels, centers, inertia, len(history), converged, history)

    def _assign(self, centers: np.ndarray, plan: Plan) -> Assigned:
        rows, placed = self._rows, self._placed
        swept = rows.sweep(centers)
        if not len(placed):
            return swept
        place_pairs(rows.nearest, rows.second, rows.gap, *plan, placed)
        moved = rows.add(placed, centers)
        return Assigned(swept.n_changed + moved.n_changed, swept.inertia + moved.inertia)

    def _plan(self, order: np.ndarray) -> Plan:
        pairs, sign = self._pairs, self._sign
        full = Plan(*(np.empty_like(given) for given in (pairs, sign, pairs, sign)))
        is_placed = np.zeros(len(self._placed), dtype=bool)
        n_openings, n_extensions = plan_pairs(pairs, sign, order, is_placed, *full)
        lengths = (n_openings, n_openings, n_extensions, n_extensions)
        return Plan(*(table[:length].copy() for table, length in zip(full, lengths, strict=True)))


def _among_themselves(pairs: np.ndarray, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that occur in pairs, ascending, and the pairs as positions among them."""
    # Marks instead of a sort: this runs once per round of an ensemble.
    position = np.zeros(n_samples, dtype=np.uint32)
    position[pairs] = 1
    rows = np.flatnonzero(position)
    position[rows] = np.arange(len(rows), dtype=np.uint32)
    return rows, position[pairs]


def _descending(priority: np.ndarray | None, n_pairs: int) -> np.ndarray:
    if priority is None:
        return np.arange(n_pairs, dtype=np.uint32)
    return np.argsort(-np.asarray(priority), kind="stable").astype(np.uint32)
