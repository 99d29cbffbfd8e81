"""Whole iterations of constrained k-means in one call: on small data calls cost more than work."""

import numpy as np

from conclust._kernels._jit import helper, inlined, jit
from conclust._kernels.nearest import Factors, move_dense, sweep_dense
from conclust._kernels.place_in_order import count_violated, place_pairs

# Python calls these kernels, too, but rarely where it calls `iterate_dense`: here they are parts.
_sweep, _move = helper(sweep_dense), helper(move_dense)
_place, _count_violated = helper(place_pairs), helper(count_violated)


@jit
def iterate_dense(
    X, total_norm, eps, linked, work, labels, totals, pairs, sign, plan, placed, centers, tol,
    records, prints,
):  # fmt: skip
    """Iterate until labels stay or come back, centres stay, a cluster is empty, `records` is full.

    total_norm                  float    in     Σ ‖x‖²
    pairs, sign                          in     of `plan_pairs`
    plan                        Plan     in     what it found
    placed       (m,)           int32    out    cluster of each linked row
    centers      (k, d)         float    inout  where to start; the means of the last labels
    tol                         float    in     Σ ‖new − old centre‖² that ends the loop
    records      (r, 4)         float64  out    inertia, rows changed, pairs broken, shift
    prints       (b + r,)       uint64   inout  `fingerprint` of the labels, after those met before

    The others are those of `sweep_dense`; rows weigh 1. Returns how many iterations were finished,
    and whether a cluster was left empty: then ``centers`` are those of the last sweep, ``totals``
    those after it, and the shift is still to be written. Otherwise the rows are assigned once more
    where the last iteration changed labels, so that ``labels`` and ``placed`` agree with
    ``centers``.
    """
    sums, masses = totals
    n_clusters, n_features = centers.shape
    n_before = prints.shape[0] - records.shape[0]
    unweighted = np.empty(0, dtype=X.dtype)
    rows = np.empty((0, 0), dtype=X.dtype)
    columns = np.empty((n_features, n_clusters), dtype=X.dtype)
    norms = np.empty(n_clusters, dtype=X.dtype)
    factors = Factors(rows, columns, norms)
    n_done = 0
    is_last = False
    while True:
        # The centres of the last means only label the rows.
        for cluster in range(n_clusters):
            norm = X.dtype.type(0)
            for feature in range(n_features):
                value = centers[cluster, feature]
                columns[feature, cluster] = -2 * value
                norm += value * value
            norms[cluster] = norm
        sums[:] = 0
        masses[:] = 0
        n_changed = _sweep(
            X, unweighted, factors, 0, X.shape[0], 0, eps, linked, work, labels, totals
        )
        _place(linked.nearest, linked.second, linked.nearest_distance, plan, placed)
        n_changed += _move(X, unweighted, 0, placed.shape[0], linked, placed, labels, totals)
        if is_last:
            return n_done, False
        n_iter = n_done
        n_done += 1
        inertia = total_norm
        is_empty = False
        for cluster in range(n_clusters):
            is_empty |= masses[cluster] == 0
            inertia += masses[cluster] * norms[cluster]
            for feature in range(n_features):
                inertia -= 2 * centers[cluster, feature] * sums[cluster, feature]
        records[n_iter, 0] = max(inertia, 0.0)
        records[n_iter, 1] = n_changed
        records[n_iter, 2] = _count_violated(pairs, sign, placed)
        prints[n_before + n_iter] = fingerprint(labels)
        if is_empty:
            return n_done, True
        shift = 0.0
        for cluster in range(n_clusters):
            share = 1 / masses[cluster]
            for feature in range(n_features):
                mean = X.dtype.type(sums[cluster, feature] * share)
                step = mean - centers[cluster, feature]
                shift += step * step
                centers[cluster, feature] = mean
        records[n_iter, 3] = shift
        if n_changed == 0:
            return n_done, False
        is_last = n_done == records.shape[0] or shift <= tol or _repeats(prints, n_before + n_iter)


@jit
def fingerprint(labels):
    """Return 64 bits that differ for different labels, but for one chance in 10^19.

    labels       (n,)           int32    in
    """
    total = np.uint64(0)
    for i in range(labels.shape[0]):
        # splitmix64 of the position, times the label
        mixed = np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = mixed ^ (mixed >> np.uint64(27))
        total += mixed * np.uint64(labels[i] + 1)
    return total


@inlined
def _repeats(prints, last):
    """Whether the last labels were met before: nothing is drawn, so they come back for ever."""
    n = 0
    while prints[n] != prints[last]:
        n += 1
    return n < last
