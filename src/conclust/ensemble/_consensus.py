"""Consensus of many clusterings, exactly, without the n × n co-association matrix."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from conclust._arrays import FloatArray, IntArray
from conclust._kernels.codes import (
    agreement,
    count_codes,
    distances_to_row,
    extreme_pairs,
    nearest_profiles,
)
from conclust._lloyd.best import best_of_starts
from conclust._lloyd.fill import fill_empty
from conclust._lloyd.start import plus_plus
from conclust._pairs import distinct_numbers, pair_of

# A row moves to another cluster only when that is nearer by more than this share of Σ α: sums
# formed in another order must not make labels flicker.
TIE = 1e-12


class Consensus(NamedTuple):
    """The result of kernel k-means on label codes."""

    labels: npt.NDArray[np.int32]  # (n_samples,)
    profiles: FloatArray  # (T, V, k): share of cluster k whose code in clustering T is V
    objective: float  # Σ_i d²(i, its cluster)
    n_iter: int


class ConfidentPairs(NamedTuple):
    """Pairs of samples and how sure the ensemble is of them."""

    pairs: IntArray  # (m, 2)
    confidence: FloatArray  # (m,) between -1 (always apart) and 1 (always together)


class CoAssociation:
    """What T weighted clusterings say about pairs of samples, kept as n × T small integers.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_clusterings)
        Cluster of each sample in each clustering, from 0.
    weights : array-like of shape (n_clusterings,), default=None
        Non-negative, not all zero; equal by default.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_clusterings), uint8 or uint16
        Cluster of each sample in each clustering.
    weights : ndarray of shape (n_clusterings,)
        How much each clustering counts.

    See Also
    --------
    consensus : Clusters of several clusterings in one call.
    ConstrainedKMeansEnsemble : Keeps one of these as `co_association_`.

    Notes
    -----
    With H_t the indicator matrix of clustering t, the papers' K^t = 2 H_t H_tᵀ − 11ᵀ, so the sum
    K = Σ α_t K^t is, up to a constant that does not move kernel k-means, the Gram matrix of the
    rows [√(2 α_t) H_t]. Everything here works on the codes: n·T bytes instead of 8·n².

    Examples
    --------
    >>> from conclust.ensemble import CoAssociation
    >>> three_rows_twice = CoAssociation([[0, 0], [0, 1], [1, 1]])
    >>> three_rows_twice.confidence([(0, 1), (0, 2)])
    array([ 0., -1.])
    """

    def __init__(self, labels: Any, weights: Any = None):
        self.codes = _as_codes(labels)
        n_rounds = self.codes.shape[1]
        self.weights = np.ones(n_rounds) if weights is None else np.array(weights, dtype=np.float64)
        if self.weights.shape != (n_rounds,):
            raise ValueError(
                f"weights has shape {self.weights.shape}, but there are {n_rounds} clusterings."
            )
        if not (np.isfinite(self.weights).all() and (self.weights >= 0).all()):
            raise ValueError("weights must be finite and not negative.")
        if n_rounds and not self.weights.any():
            raise ValueError("weights are all zero; leave them out for equal weights.")

    @cached_property
    def _collapsed(self) -> tuple[IntArray, IntArray, IntArray]:
        """First sample, code row of each sample, and number of samples of each distinct row."""
        return collapse(self.codes)

    def confidence(self, pairs: Any) -> FloatArray:
        """How sure the clusterings are that two samples belong together.

        Parameters
        ----------
        pairs : array-like of shape (m, 2)
            The pairs to judge.

        Returns
        -------
        ndarray of shape (m,)
            K(i, j) / Σ α, from -1 (always apart) to 1 (always together).
        """
        pairs = np.ascontiguousarray(np.asarray(pairs, dtype=np.int64).reshape(-1, 2))
        out = np.empty(len(pairs))
        agreement(self.codes, self.weights, pairs, out)
        return 2 * out / self.weights.sum() - 1

    def most_confident(
        self, n: int, *, exclude: Any = None, random_state: Any = None
    ) -> ConfidentPairs:
        """The n pairs most surely together, ties drawn uniformly.

        Parameters
        ----------
        n : int
            How many pairs.
        exclude : array-like of shape (m, 2), default=None
            Pairs not to be returned.
        random_state : int, RandomState or None, default=None
            Seed or generator of the random numbers; an int gives the same result each time.

        Returns
        -------
        ConfidentPairs
            Most confident first; fewer than n when there are no more pairs.
        """
        return self._extreme(n, 1.0, exclude, random_state)

    def least_confident(
        self, n: int, *, exclude: Any = None, random_state: Any = None
    ) -> ConfidentPairs:
        """The n pairs most surely apart, ties drawn uniformly.

        Parameters
        ----------
        n : int
            How many pairs.
        exclude : array-like of shape (m, 2), default=None
            Pairs not to be returned.
        random_state : int, RandomState or None, default=None
            Seed or generator of the random numbers; an int gives the same result each time.

        Returns
        -------
        ConfidentPairs
            Least confident first; fewer than n when there are no more pairs.
        """
        return self._extreme(n, -1.0, exclude, random_state)

    def _extreme(self, n: int, sign: float, exclude: Any, random_state: Any) -> ConfidentPairs:
        random_state = check_random_state(random_state)
        exclude = np.empty((0, 2), np.int64) if exclude is None else np.asarray(exclude, np.int64)
        n_samples = len(self.codes)
        n_all = n_samples * (n_samples - 1) // 2
        # Take as many more as may be excluded: what is left is still the right order.
        size = min(n + len(exclude), n_all)
        if size == 0:
            return ConfidentPairs(np.empty((0, 2), np.int64), np.empty(0))
        first, row, count = self._collapsed
        pairs = _unanimous(self, size, sign, random_state)
        if pairs is None:
            value, key = np.empty(size), np.empty(size)
            i, j = np.empty(size, np.int64), np.empty(size, np.int64)
            found = extreme_pairs(
                self.codes[first], count, self.weights, sign,
                np.uint64(random_state.randint(2**31 - 1)), value, key, i, j,
            )  # fmt: skip
            order = np.lexsort((-key[:found], -value[:found]))
            pairs = _draw_samples(i[order], j[order], row, count, random_state)
        if len(exclude):
            known = np.sort(exclude, axis=1) @ np.array([n_samples, 1])
            pairs = pairs[~np.isin(np.sort(pairs, axis=1) @ np.array([n_samples, 1]), known)]
        pairs = pairs[:n]
        return ConfidentPairs(pairs, self.confidence(pairs))

    def cluster(
        self,
        n_clusters: int,
        *,
        n_init: int = 10,
        max_iter: int = 100,
        init: Any = None,
        random_state: Any = None,
    ) -> Consensus:
        """Kernel k-means on K = Σ α_t K^t, run exactly on the codes.

        Parameters
        ----------
        n_clusters : int
            How many clusters to form.
        n_init : int, default=10
            Starts (k-means++ in the kernel's feature space); the lowest objective is kept.
        max_iter : int, default=100
            Iterations of one start at most.
        init : array-like of shape (n_samples,), default=None
            Labels to start from instead.
        random_state : int, RandomState or None, default=None
            Seed or generator of the random numbers; an int gives the same result each time.

        Returns
        -------
        Consensus
            `labels`, the `profiles` that `assign` takes, `objective` and `n_iter`.
        """
        random_state = check_random_state(random_state)
        n_samples = len(self.codes)
        if not 1 <= n_clusters <= n_samples:
            raise ValueError(
                f"n_clusters={n_clusters} must lie between 1 and the number of samples, "
                f"{n_samples}."
            )
        if init is not None:
            # Samples with equal codes may start apart, so nothing is collapsed here.
            given = np.array(init, dtype=np.int64)
            return _kernel_kmeans(
                self.codes, np.ones(n_samples), self.weights, given, n_clusters, max_iter
            )
        first, row, count = self._collapsed
        codes, mass = self.codes[first], count.astype(np.float64)
        distances = np.empty(len(codes))

        def distances_to_sample(i: int) -> FloatArray:
            distances_to_row(codes, self.weights, i, distances)
            return distances

        def start(number: int, on_round: Any) -> Consensus:
            labels = plus_plus(mass, n_clusters, distances_to_sample, random_state)
            return _kernel_kmeans(codes, mass, self.weights, labels, n_clusters, max_iter)

        best = best_of_starts(start, n_init, lambda run: (run.objective,))
        return best._replace(labels=best.labels[row])

    def assign(self, codes: Any, profiles: FloatArray) -> npt.NDArray[np.int32]:
        """Nearest consensus cluster of new code rows.

        Parameters
        ----------
        codes : array-like of shape (n, n_clusterings)
            The label of each row in each clustering.
        profiles : ndarray
            Of the ``Consensus``.

        Returns
        -------
        ndarray of shape (n,), int32
            The cluster of each row.
        """
        return nearest_consensus(codes, profiles, self.weights)


def nearest_consensus(
    codes: Any, profiles: FloatArray, weights: FloatArray
) -> npt.NDArray[np.int32]:
    """Nearest consensus cluster of code rows; see `CoAssociation.assign`."""
    labels = np.full(len(codes), -1, dtype=np.int64)
    lookup, base = _lookup(profiles, weights)
    nearest_profiles(_as_codes(codes), lookup, base, 0.0, labels, np.empty(len(labels)))
    return labels.astype(np.int32)


def consensus(
    labels: Any,
    weights: Any = None,
    n_clusters: int = 8,
    *,
    n_init: int = 10,
    max_iter: int = 100,
    random_state: Any = None,
) -> npt.NDArray[np.int32]:
    """Combine clusterings of the same samples into one.

    Parameters
    ----------
    labels : array-like of shape (n_samples, n_clusterings)
        One column per clustering, clusters numbered from 0.
    weights : array-like of shape (n_clusterings,), default=None
        How much each clustering counts.
    n_clusters : int, default=8
        How many clusters to form.
    n_init : int, default=10
        Starts, of which the best is kept.
    max_iter : int, default=100
        Iterations of one start at most.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Returns
    -------
    ndarray of shape (n_samples,), int32
        The best of `n_init` runs of kernel k-means on the weighted co-association.

    See Also
    --------
    ConstrainedKMeansEnsemble : Makes the clusterings, too.

    Examples
    --------
    >>> from conclust.ensemble import consensus
    >>> three_opinions = [[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]]
    >>> labels = consensus(three_opinions, n_clusters=2, random_state=0)
    >>> (labels == labels[0]).tolist()
    [True, True, False, False]
    """
    together = CoAssociation(labels, weights)
    return together.cluster(
        n_clusters, n_init=n_init, max_iter=max_iter, random_state=random_state
    ).labels


def collapse(codes: npt.NDArray[Any]) -> tuple[IntArray, IntArray, IntArray]:
    """Find the distinct rows: first sample of each, row of each sample, samples per row."""
    n_samples, n_rounds = codes.shape
    # A random linear key sorts far faster than rows; equal rows have equal keys, and whether the
    # reverse holds is checked.
    factors = np.random.RandomState(0).randint(2**62, size=n_rounds, dtype=np.int64) | 1
    key = (codes.astype(np.int64) * factors).sum(axis=1) if n_rounds else np.zeros(n_samples, int)
    _, first, row, count = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    row = row.ravel()
    if (codes[first][row] != codes).any():
        _, first, row, count = np.unique(
            codes, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        row = row.ravel()
    return first, row, count.astype(np.int64)


def _as_codes(labels: Any) -> npt.NDArray[Any]:
    labels = np.asarray(labels)
    if labels.ndim != 2:
        raise ValueError(
            f"labels has shape {labels.shape}; it needs one row per sample and one column per "
            "clustering."
        )
    if labels.dtype in (np.uint8, np.uint16):
        return np.ascontiguousarray(labels)
    if labels.size and (labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() > 65_535):
        raise ValueError("labels must be integers from 0 to 65535, one column per clustering.")
    dtype = np.uint8 if labels.size == 0 or labels.max() < 256 else np.uint16
    return np.ascontiguousarray(labels.astype(dtype))


def _profiles(
    codes: npt.NDArray[Any], mass: FloatArray, labels: IntArray, n_codes: int, n_clusters: int
) -> FloatArray:
    """Share of each cluster that holds each code."""
    counts = np.zeros((codes.shape[1], n_codes, n_clusters))
    count_codes(codes, mass, labels, counts)
    total = np.bincount(labels, weights=mass, minlength=n_clusters)
    return counts / np.where(total > 0, total, 1)


def _lookup(profiles: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    base = (weights[:, None] * (1 + (profiles**2).sum(axis=1))).sum(axis=0)
    return 2 * weights[:, None, None] * profiles, base


def _kernel_kmeans(
    codes: npt.NDArray[Any],
    mass: FloatArray,
    weights: FloatArray,
    labels: IntArray,
    n_clusters: int,
    max_iter: int,
) -> Consensus:
    n_codes = int(codes.max(initial=0)) + 1
    distances = np.empty(len(codes))
    keep = TIE * weights.sum()
    labels = labels.copy()

    def distances_to_own(labels: IntArray) -> FloatArray:
        lookup, base = _lookup(_profiles(codes, mass, labels, n_codes, n_clusters), weights)
        own = np.empty(len(codes))
        nearest_profiles(codes, lookup, base, np.inf, labels.copy(), own)
        return own

    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        fill_empty(labels, n_clusters, distances_to_own)
        profiles = _profiles(codes, mass, labels, n_codes, n_clusters)
        lookup, base = _lookup(profiles, weights)
        if not nearest_profiles(codes, lookup, base, keep, labels, distances):
            break
    fill_empty(labels, n_clusters, distances_to_own)
    profiles = _profiles(codes, mass, labels, n_codes, n_clusters)
    objective = _objective(profiles, mass, weights, labels)
    return Consensus(labels.astype(np.int32), profiles, objective, n_iter)


def _objective(
    profiles: FloatArray, mass: FloatArray, weights: FloatArray, labels: IntArray
) -> float:
    """Σ_i d²(i, c) = Σ_c m_c Σ_t α_t (1 − Σ_v P[c, t, v]²)."""
    total = np.bincount(labels, weights=mass, minlength=profiles.shape[2])
    spread = (weights[:, None] * (1 - (profiles**2).sum(axis=1))).sum(axis=0)
    return float((total * spread).sum())


# So many pairs are drawn to see which share of them all clusterings part; if it is less than the
# second number, drawing would take too long and the distinct rows are scanned instead.
N_TRIALS, LEAST_SHARE = 10_000, 1e-3


def _unanimous(
    together: CoAssociation, size: int, sign: float, random_state: Any
) -> IntArray | None:
    """Draw pairs on which all clusterings agree, when there are enough of them; else None."""
    _, row, count = together._collapsed
    by_row = np.argsort(row, kind="stable")
    starts = np.cumsum(count) - count
    n_samples = len(row)
    if sign > 0:
        inner = count * (count - 1) // 2
        if inner.sum() < size:
            return None
        return _distinct_pairs(
            lambda n: _inside_rows(n, inner, count, starts, by_row, random_state), size, n_samples
        )
    weight = together.weights
    used = weight > 0

    def draw(n: int) -> IntArray:
        pairs = random_state.randint(n_samples, size=(n, 2))
        agree = (together.codes[pairs[:, 0]] == together.codes[pairs[:, 1]])[:, used].any(axis=1)
        return pairs[~agree & (pairs[:, 0] != pairs[:, 1])]

    share = len(draw(N_TRIALS)) / N_TRIALS
    # Rejection must be cheap, and must not have to find nearly all of the pairs there are.
    if share * n_samples**2 / 2 < 4 * size or share < LEAST_SHARE:
        return None
    return _distinct_pairs(draw, size, n_samples)


def _inside_rows(
    n: int, inner: IntArray, count: IntArray, starts: IntArray, by_row: IntArray, random_state: Any
) -> IntArray:
    r = random_state.choice(len(inner), size=n, p=inner / inner.sum())
    a = random_state.randint(0, count[r])
    b = random_state.randint(0, np.maximum(count[r] - 1, 1))
    b += b >= a
    return by_row[starts[r][:, None] + np.column_stack([a, b])]


def _distinct_pairs(draw: Any, size: int, n_samples: int) -> IntArray:
    pairs = np.sort(draw(2 * size), axis=1)
    while True:
        key = pairs[:, 0] * n_samples + pairs[:, 1]
        first = np.sort(np.unique(key, return_index=True)[1])
        if len(first) >= size:
            return pairs[first[:size]]
        pairs = np.concatenate([pairs[first], np.sort(draw(2 * size), axis=1)])


def _draw_samples(
    i: IntArray, j: IntArray, row: IntArray, count: IntArray, random_state: Any
) -> IntArray:
    """Replace pairs of code rows by pairs of samples that have those codes, all different."""
    by_row = np.argsort(row, kind="stable")
    starts = np.cumsum(count) - count
    pairs = np.empty((len(i), 2), dtype=np.int64)
    n_rows = len(count)
    block = i * n_rows + j
    order = np.argsort(block, kind="stable")
    for same in np.split(order, np.flatnonzero(np.diff(block[order])) + 1):
        a, b = i[same[0]], j[same[0]]
        members_a = by_row[starts[a] : starts[a] + count[a]]
        members_b = by_row[starts[b] : starts[b] + count[b]]
        n_pairs = count[a] * (count[a] - 1) // 2 if a == b else count[a] * count[b]
        chosen = distinct_numbers(int(n_pairs), len(same), random_state)
        if a == b:
            x, y = pair_of(chosen, count[a]).T
        else:
            x, y = chosen // count[b], chosen % count[b]
        pairs[same] = np.column_stack([members_a[x], members_b[y]])
    return np.sort(pairs, axis=1)
