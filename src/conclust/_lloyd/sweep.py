"""Four verbs over the rows of one X: sweep, add, means, inertia."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from conclust._arrays import Matrix
from conclust._kernels._short import LITTLE, PATIENCE, is_worth_compiling, short
from conclust._kernels.lloyd import fingerprint, iterate_dense
from conclust._kernels.nearest import (
    BLOCK,
    FREE,
    Factors,
    Linked,
    Totals,
    Work,
    measure_csr,
    measure_dense,
    move_csr,
    move_dense,
    sweep_csr,
    sweep_dense,
)
from conclust._placement.in_order import Plan
from conclust._threads import available_threads, one_blas_thread

# Multiplications that pay for waking one more thread (some 50 µs).
GRAIN = 1 << 20
# Multiplications per iteration up to which whole iterations run in one call, in one thread.
SMALL = 1 << 22
# Rows that are measured at a time where one number per row is all that is wanted.
CHUNK = 1 << 13


class Assigned(NamedTuple):
    """What an assignment did, or what a correction adds to it."""

    n_changed: int  # rows whose cluster is not the one they had
    inertia: float  # weighted sum of squared distances to the centres


class NearestCenters:
    """`Rows` in memory, dense or CSR; buffers and threads are kept from sweep to sweep.

    A context manager; inside, BLAS keeps to one thread.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), float32 or float64
        C-contiguous; centred, for accuracy.
    n_clusters : int
    sample_weight : ndarray of shape (n_samples,), default=None
        Of the type of X.
    linked : ndarray of shape (n_linked,), int64, default=None
        Rows the caller places, ascending and distinct.
    all_distances : bool, default=False
        Whether a sweep also fills ``distances``.
    spherical : bool, default=False
        Rows and centres have unit length: `means` are brought back to the sphere, which is where
        the sum of squared distances, 2 Σ w (1 − cos), is least there.
    n_threads : int, default=None
        At most so many threads; None for `available_threads`.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,), int32
        `FREE` before the first sweep; a sweep puts linked rows at their nearest centre, too.
    nearest, second : ndarray of shape (n_linked,), int32
        The two nearest centres of each linked row, the lowest cluster on ties; equal when there is
        but one cluster.
    nearest_distance : ndarray of shape (n_linked,)
        Its squared distance to the nearest centre.
    distances : ndarray of shape (n_linked, n_clusters) or (0, n_clusters)
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
        linked: np.ndarray | None = None,
        all_distances: bool = False,
        spherical: bool = False,
        n_threads: int | None = None,
    ):
        n_samples, n_features = X.shape
        self.X = X
        self.n_clusters = n_clusters
        self._spherical = spherical
        self.weight = np.asarray(() if sample_weight is None else sample_weight, dtype=X.dtype)
        rows = np.asarray(() if linked is None else linked, dtype=np.int64)
        n_linked = len(rows)

        self.forget()
        self.nearest = np.empty(n_linked, dtype=np.int32)
        self.second = np.empty(n_linked, dtype=np.int32)
        self.nearest_distance = np.empty(n_linked, dtype=X.dtype)
        self.distances = np.empty((n_linked * all_distances, n_clusters), dtype=X.dtype)
        self.linked = Linked(
            rows,
            np.empty(n_linked, dtype=X.dtype),
            np.empty(n_linked, dtype=np.int32),
            self.nearest,
            self.second,
            self.nearest_distance,
            self.distances,
            np.empty(n_linked, dtype=np.uint32),
        )
        self._eps = float(np.finfo(X.dtype).eps)

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
        worth = n_linked * n_features // GRAIN + 1  # few are moved sooner than a thread is woken
        self._slots = _split(n_linked, min(worth, len(self._rows)), BLOCK)
        starts = [start for start, _ in self._rows]
        self._first_slots = np.searchsorted(rows, starts).tolist()
        n_threads = len(self._rows)
        # With some BLAS the limit belongs to the thread that asks for it, so every worker asks.
        self._pool = (
            ThreadPoolExecutor(n_threads - 1, initializer=one_blas_thread)
            if n_threads > 1
            else None
        )
        self._held = ExitStack()
        self._work = [
            Work(
                np.empty(n_clusters * BLOCK, dtype=X.dtype),
                np.empty((2, BLOCK), dtype=X.dtype),
                np.empty((2, BLOCK), dtype=np.int32),
            )
            for _ in range(n_threads)
        ]
        # Moving linked rows subtracts; in double precision nothing is lost by that. Without them
        # the sums are scikit-learn's, bit by bit.
        exact = np.float64 if n_linked else X.dtype
        self._sums = np.empty((n_threads, n_clusters, n_features), dtype=exact)
        self._masses = np.empty((n_threads, n_clusters), dtype=exact)
        self._totals = [Totals(*part) for part in zip(self._sums, self._masses, strict=True)]

        with one_blas_thread():  # workers that wake here limit BLAS for all; this gives it back
            self._total_norm = self._measure_norms()

    def __enter__(self) -> Self:
        self._held.enter_context(one_blas_thread())
        if self._pool is not None:
            self._held.enter_context(self._pool)
        return self

    def __exit__(self, *exception: object) -> None:
        self._held.close()

    def forget(self) -> None:
        """Begin anew: labels handed out stay as they are."""
        self._labels: np.ndarray | None = None

    @property
    def labels(self) -> np.ndarray:
        """(n_samples,) int32, made when they are first needed: not twice before the first sweep."""
        if self._labels is None:
            self._labels = self._new_labels()
        return self._labels

    @labels.setter
    def labels(self, labels: np.ndarray) -> None:
        self._labels = labels

    def _new_labels(self) -> np.ndarray:
        return np.full(self.X.shape[0], FREE, dtype=np.int32)

    def fingerprint(self) -> int:
        """64 bits that differ for different labels, but for one chance in 10^19."""
        return int(fingerprint(self.labels))

    def sweep(self, centers: np.ndarray) -> Assigned:
        """Give every row its nearest centre and sum anew; rank the centres for linked rows."""
        unused = np.empty((0, 0), dtype=self.X.dtype)
        norms = _squared_norms(centers)
        # The product is faster with the centres transposed in memory, but then it does not round as
        # scikit-learn's; that matters where rows lie halfway between two centres.
        if sp.issparse(self.X) or len(self.linked.rows):
            factors = Factors(unused, np.multiply(centers.T, -2, order="C"), norms)
        else:
            factors = Factors(np.multiply(centers, -2, order="C"), unused, norms)
        self._sums.fill(0)
        self._masses.fill(0)
        self._n_changed = self._label(factors)
        self._inertia = self._inertia_of_sums(centers)
        return Assigned(self._n_changed, self._inertia)

    def _label(self, factors: Factors) -> int:
        """Label and add up all rows; return how many changed cluster."""
        labels = self.labels  # made here, rather than by each thread

        def part(thread: int, start: int, stop: int) -> int:
            return self._kernels[0](
                *self._data,
                self.weight,
                factors,
                start,
                stop,
                self._first_slots[thread],
                self._eps,
                self.linked,
                self._work[thread],
                labels,
                self._totals[thread],
            )

        return sum(self._in_threads(part, self._rows))

    def add(self, placed: np.ndarray, centers: np.ndarray) -> Assigned:
        """Move the linked rows to the clusters in ``placed``, (n_linked,) int32: labels and sums.

        ``centers`` are those of the last sweep. Returns what this adds to the answer of `sweep`.
        """
        n_changed = self._put(placed)
        before, self._inertia = self._inertia, self._inertia_of_sums(centers)
        return Assigned(n_changed, self._inertia - before)

    def _put(self, placed: np.ndarray) -> int:
        """Move the linked rows; return what that adds to the rows that changed cluster."""

        def part(thread: int, start: int, stop: int) -> int:
            return self._kernels[1](
                *self._data,
                self.weight,
                start,
                stop,
                self.linked,
                placed,
                self.labels,
                self._totals[thread],
            )

        return sum(self._in_threads(part, self._slots))

    @property
    def total_norm(self) -> float:
        """Weighted sum of the squared norms of all rows."""
        return self._total_norm

    @property
    def totals(self) -> Totals:
        """Sums and masses of the clusters after the last sweep and `add`, all threads together."""
        return Totals(self._sums.sum(axis=0), self._masses.sum(axis=0))

    @property
    def n_free_changed(self) -> int:
        """Rows not linked whose cluster the last sweep changed."""
        return self._n_changed - int(np.count_nonzero(self.nearest != self.linked.before))

    @property
    def all_filled(self) -> bool:
        """Whether every cluster has rows after the last sweep and `add`."""
        masses = self._masses.sum(axis=0)
        # Fractions that went and came may leave a rounding error where nothing is left.
        return bool((masses > 1e-9 * masses.sum()).all())

    @property
    def is_small(self) -> bool:
        """Whether `iterate` can take these rows, and is worth it.

        Few numbers, dense, linked ones, equal weights, free centres; asked before each iteration,
        for it is not compiled for the first ten thousand.
        """
        few = self.X.shape[0] * self.X.shape[1] * self.n_clusters <= SMALL
        dense = not (sp.issparse(self.X) or self._spherical)
        fits = few and dense and len(self.linked.rows) > 0 and not len(self.weight)
        return fits and is_worth_compiling(iterate_dense, PATIENCE // 10_000)

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
            self._eps,
            self.linked,
            self._work[0],
            self.labels,
            self._totals[0],
            pairs,
            sign,
            plan,
            placed,
            centers,
            tol,
            records,
            prints,
        )
        return records[:n_iter], prints[: len(seen) + n_iter].tolist(), is_empty

    def move(self, i: int, cluster: int) -> None:
        """Move one row to another cluster: label and sums."""
        weight = self.weight[i] if len(self.weight) else self.X.dtype.type(1)
        for place, sign in ((self.labels[i], -1), (cluster, 1)):
            self._sums[0, place] += sign * weight * self.row(i)
            self._masses[0, place] += sign * weight
        self.labels[i] = cluster

    def drop(self, rows: np.ndarray) -> None:
        """Take rows out of their clusters: label `FREE`, and neither means nor inertia see them."""
        own = self.labels[rows]
        mass = self.weight[rows] if len(self.weight) else None
        self._sums[0] -= self.sums(rows, own, self.n_clusters).astype(self._sums.dtype)
        self._masses[0] -= np.bincount(own, mass, self.n_clusters).astype(self._masses.dtype)
        self.labels[rows] = FREE

    def means(self, centers: np.ndarray, *, refill: bool = True) -> np.ndarray:
        """Mean of each cluster, from the sums.

        ``centers`` are those of the last sweep. An empty cluster restarts at a row far from its
        centre or, without ``refill``, stays where it was.
        """
        sums, masses = self.totals
        if len(self.linked.rows) and len(self.weight):
            # Fractions that went and came may leave a rounding error where nothing is left.
            gone = self._held_masses() == 0
            sums[gone] = 0
            masses[gone] = 0
        if refill and not masses.all():
            self._relocate(centers, sums, masses)
        means = _average(sums, masses).astype(self.X.dtype, copy=False)
        if not refill or self._spherical:
            means[masses == 0] = centers[masses == 0]
        return on_sphere(means, centers) if self._spherical else means

    def _held_masses(self) -> np.ndarray:
        """Weight of the rows of each cluster, counted anew."""
        held = self.labels != FREE
        return np.bincount(self.labels[held], self.weight[held], self.n_clusters)

    def inertia(self, centers: np.ndarray) -> float:
        """Weighted sum of the squared distances of all rows to the centre of their cluster."""
        norms = _squared_norms(centers)

        def part(thread: int, first: int, last: int) -> float:
            total, out = 0.0, np.empty(min(CHUNK, last - first), dtype=self.X.dtype)
            for start, stop in _chunks(first, last):
                here = out[: stop - start]
                measure = self._measuring(stop - start)
                measure(*self._data, centers, norms, start, stop, self.labels, here)
                here[self.labels[start:stop] == FREE] = 0
                total += self._weighted_sum(here, start, stop)
            return total

        return sum(self._in_threads(part, self._rows))

    def distances_to_own(self, centers: np.ndarray) -> np.ndarray:
        """Squared distance of each row to the centre of its cluster, (n_samples,)."""
        norms = _squared_norms(centers)
        distances = np.empty(self.X.shape[0], dtype=self.X.dtype)

        def part(thread: int, start: int, stop: int) -> None:
            here = distances[start:stop]
            measure = self._measuring(stop - start)
            measure(*self._data, centers, norms, start, stop, self.labels, here)

        self._in_threads(part, self._rows)
        return distances

    def sums(self, rows: np.ndarray | None, part: np.ndarray, n_parts: int) -> np.ndarray:
        """Weighted sums of some rows (None: of all) by part, (n_parts, n_features) float64."""
        X = self.X if rows is None else self.X[rows]
        if not len(self.weight):
            weight = np.ones(X.shape[0])
        else:
            weight = (self.weight if rows is None else self.weight[rows]).astype(np.float64)
        members = sp.csr_array((weight, (part, np.arange(len(part)))), (n_parts, len(part)))
        sums = members @ X
        return sums.toarray() if sp.issparse(sums) else sums

    def squared_distances(self, points: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
        """Squared distances to some points, block by block of rows: ``start, stop, distances``."""
        columns, norms = np.ascontiguousarray(-2 * points.T), _squared_norms(points)
        for start, stop, chunk in self._chunks_of_rows():
            distances = chunk @ columns
            distances += norms
            distances += _squared_norms(chunk)[:, np.newaxis]
            yield start, stop, np.maximum(distances, 0, out=distances)

    def row(self, i: int) -> np.ndarray:
        """One row as a dense array, (n_features,); not to be written to."""
        return self.X[[i]].toarray()[0] if sp.issparse(self.X) else self.X[i]

    def _chunks_of_rows(self) -> Iterator[tuple[int, int, Matrix]]:
        """All rows in order, some at a time: ``start, stop, rows``."""
        for start, stop in _chunks(0, self.X.shape[0]):
            yield start, stop, self.X[start:stop]

    def _measure_norms(self) -> float:
        """Fill the norms of linked rows; return the weighted sum of all squared norms."""
        rows = self.linked.rows

        def part(thread: int, first: int, last: int) -> list[float]:
            totals = []
            for start, stop in _chunks(first, last):
                norms = _squared_norms(self.X[start:stop])
                here = slice(*np.searchsorted(rows, (start, stop)))
                self.linked.norms[here] = norms[rows[here] - start]
                totals.append(self._weighted_sum(norms, start, stop))
            return totals

        ranges = _split(self.X.shape[0], len(self._rows), CHUNK)
        # One after the other, so that their sum is the same whatever the number of threads.
        return sum(total for totals in self._in_threads(part, ranges) for total in totals)

    def _measuring(self, n_rows: int) -> Callable[..., Any]:
        """The kernel that measures distances of rows to their centres, or the same interpreted."""
        return short(self._kernels[2], n_rows * self.X.shape[1], LITTLE)

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
        distances = self.distances_to_own(centers)
        if distances.max() == 0:
            return  # fewer distinct rows than clusters: every row lies on its centre
        empty = np.flatnonzero(masses == 0)
        farthest = np.argpartition(distances, -len(empty))[: -len(empty) - 1 : -1]
        for cluster, row in zip(empty, farthest, strict=True):
            mass = self.weight[row] if len(self.weight) else self.X.dtype.type(1)
            part = mass * self.row(row)
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


def swept(rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Nearest centre of each row, (n_samples,) int32, in one thread."""
    middle = centers.mean(axis=0)  # of the rows, about
    with NearestCenters(rows - middle, len(centers), n_threads=1) as near:
        near.sweep(centers - middle)
        return near.labels


def on_sphere(means: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Means brought to unit length; rows that cancel out have no mean direction: the centre stays.

    Parameters
    ----------
    means : ndarray of shape (n_clusters, n_features)
    centers : ndarray of shape (n_clusters, n_features)
        The centres so far.
    """
    lengths = np.sqrt(_squared_norms(means))[:, np.newaxis]
    has_direction = lengths > np.finfo(means.dtype).eps
    return np.where(has_direction, means / np.where(has_direction, lengths, 1), centers)


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
