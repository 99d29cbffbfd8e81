"""One sweep over the rows: nearest centre, sums per cluster, and what the linked rows need.

The nearest centre of a row x is found from a product alone, the lowest cluster on ties:

    argmin_c ‖c‖² − 2 x·c                     (‖x‖² is the same for every c)

A sweep labels every row with its nearest centre and adds it to the sum of that cluster. For
*linked* rows, whose cluster is decided elsewhere, it also leaves the two nearest centres and the
distance to the first (and to all, where asked); `move_dense` or `move_csr` then moves those placed
differently. Each thread sweeps its own range of rows with its own work space and sums. The kernels
for dense and CSR data differ in their first arguments only.
"""

from typing import NamedTuple

import numpy as np

from conclust._kernels._jit import helper, inlined, jit

# Rows per product, as in scikit-learn: a block and its product stay in cache.
BLOCK = 256
FREE = -1  # the label of a row before the first sweep


class Factors(NamedTuple):
    """The centres as a sweep multiplies them: by rows or by columns, the other one empty."""

    rows: np.ndarray  # (k, d) float: −2 · centres; rounds as scikit-learn's product
    columns: np.ndarray  # (d, k) float: the same transposed, for a faster product
    norms: np.ndarray  # (k,) float: ‖c‖²


class Linked(NamedTuple):
    """The rows that the caller places, and what a sweep leaves about them."""

    rows: np.ndarray  # (m,) int64, ascending
    norms: np.ndarray  # (m,) float: ‖x‖²
    before: np.ndarray  # (m,) int32, out: their labels before the sweep
    nearest: np.ndarray  # (m,) int32, out: nearest centre
    second: np.ndarray  # (m,) int32, out: nearest but that one; k = 1: that one
    nearest_distance: np.ndarray  # (m,) float, out: squared distance to the nearest centre
    distances: np.ndarray  # (m or 0, k) float, out: squared distance to every centre
    moved: np.ndarray  # (m,) uint32, work of `move_dense` and `move_csr`


class Totals(NamedTuple):
    """What each cluster holds."""

    sums: np.ndarray  # (k, d) float: weighted sum of its rows
    masses: np.ndarray  # (k,) float: their weight


class Work(NamedTuple):
    """Room for one block of rows."""

    product: np.ndarray  # (k · BLOCK,) float
    best: np.ndarray  # (2, BLOCK) float
    near: np.ndarray  # (2, BLOCK) int32


@jit
def sweep_dense(X, weight, factors, start, stop, slot, eps, linked, work, labels, totals):
    """Label and add up the rows ``start:stop``; rank the centres for the linked ones.

    X            (n, d)         float    in     C-contiguous
    weight       (n,) or (0,)   float    in     weight of each row; empty: all 1
    factors                     Factors  in
    start, stop                 int      in
    slot                        int      in     the first linked row at or after ``start``
    eps                         float    in     rounding of the type of X
    linked                      Linked   inout
    work                        Work     work
    labels       (n,)           int32    inout  cluster of each row
    totals                      Totals   inout

    Returns how many rows changed cluster.
    """
    norms = factors.norms
    rows, row_norms, before, nearest, second, nearest_distance, distances, _ = linked
    product, best, near = work
    sums, masses = totals
    n_clusters, n_features = sums.shape
    rounding = n_features * eps
    n_changed = 0
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        n_rows = last - first
        # With rows last, the search for the minimum is a loop over rows that vectorises.
        scores = product[: n_clusters * n_rows].reshape((n_clusters, n_rows))
        if factors.columns.shape[0]:
            np.dot(factors.columns.T, X[first:last].T, scores)
        else:
            np.dot(factors.rows, X[first:last].T, scores)
        if slot < rows.shape[0] and rows[slot] < last:
            _two_nearest_of_block(scores, norms, best[0], near[0], best[1], near[1])
        else:
            _nearest_of_block(scores, norms, best[0], near[0])
        while slot < rows.shape[0] and rows[slot] < last:
            i = rows[slot] - first
            before[slot] = labels[rows[slot]]
            nearest[slot] = near[0, i]
            second[slot] = near[1, i]
            nearest_distance[slot] = _squared_distance(row_norms[slot], best[0, i], rounding)
            if distances.shape[0]:
                for cluster in range(n_clusters):
                    distances[slot, cluster] = _squared_distance(
                        row_norms[slot], norms[cluster] + scores[cluster, i], rounding
                    )
            slot += 1
        n_changed += _relabel(labels[first:last], near[0])
        for i in range(n_rows):
            row, cluster = first + i, near[0, i]
            mass = weight[row] if weight.shape[0] else X.dtype.type(1)
            masses[cluster] += mass
            for feature in range(n_features):
                sums[cluster, feature] += X[row, feature] * mass
    return n_changed


@jit
def sweep_csr(
    data, indices, indptr, weight, factors, start, stop, slot, eps, linked, work, labels, totals
):
    """Do the work of `sweep_dense` on CSR rows.

    ``factors.columns``, so that a nonzero meets its k factors side by side.
    """
    _, columns, norms = factors
    rows, row_norms, before, nearest, second, nearest_distance, distances, _ = linked
    sums, masses = totals
    n_clusters = norms.shape[0]
    n_changed = 0
    for row in range(start, stop):
        scores = work.product[:n_clusters]
        scores[:] = 0
        for t in range(indptr[row], indptr[row + 1]):
            value, feature = data[t], indices[t]
            for cluster in range(n_clusters):
                scores[cluster] += columns[feature, cluster] * value
        for cluster in range(n_clusters):
            scores[cluster] += norms[cluster]
        label = _nearest(scores)
        if slot < rows.shape[0] and rows[slot] == row:
            rounding = (indptr[row + 1] - indptr[row]) * eps
            before[slot] = labels[row]
            nearest[slot] = label
            second[slot] = _second_nearest(scores, label)
            nearest_distance[slot] = _squared_distance(row_norms[slot], scores[label], rounding)
            if distances.shape[0]:
                for cluster in range(n_clusters):
                    distances[slot, cluster] = _squared_distance(
                        row_norms[slot], scores[cluster], rounding
                    )
            slot += 1
        n_changed += labels[row] != label
        labels[row] = label
        mass = weight[row] if weight.shape[0] else data.dtype.type(1)
        masses[label] += mass
        for t in range(indptr[row], indptr[row + 1]):
            sums[label, indices[t]] += data[t] * mass
    return n_changed


@jit
def move_dense(X, weight, start, stop, linked, placed, labels, totals):
    """Move the linked rows ``start:stop`` from their nearest cluster to where they belong.

    placed       (m,)           int32    in     cluster of each linked row

    The others are those of `sweep_dense`, as it left them. Returns what the moves add to its count
    of rows that changed cluster.
    """
    sums, masses = totals
    n_changed = _count_changes(start, stop, placed, linked.before, linked.nearest)
    for n in range(start, _list_moves(start, stop, placed, linked.nearest, linked.moved)):
        slot = linked.moved[n]
        row, source, target = linked.rows[slot], linked.nearest[slot], placed[slot]
        labels[row] = target
        mass = weight[row] if weight.shape[0] else X.dtype.type(1)
        masses[source] -= mass
        masses[target] += mass
        # Two loops: in one the compiler would have to reckon with source and target overlapping.
        for feature in range(X.shape[1]):
            sums[source, feature] -= X[row, feature] * mass
        for feature in range(X.shape[1]):
            sums[target, feature] += X[row, feature] * mass
    return n_changed


@jit
def move_csr(data, indices, indptr, weight, start, stop, linked, placed, labels, totals):
    """Do the work of `move_dense` on CSR rows."""
    sums, masses = totals
    n_changed = _count_changes(start, stop, placed, linked.before, linked.nearest)
    for n in range(start, _list_moves(start, stop, placed, linked.nearest, linked.moved)):
        slot = linked.moved[n]
        row, source, target = linked.rows[slot], linked.nearest[slot], placed[slot]
        labels[row] = target
        mass = weight[row] if weight.shape[0] else data.dtype.type(1)
        masses[source] -= mass
        masses[target] += mass
        for t in range(indptr[row], indptr[row + 1]):
            sums[source, indices[t]] -= data[t] * mass
            sums[target, indices[t]] += data[t] * mass
    return n_changed


@jit
def measure_dense(X, centers, norms, start, stop, labels, out):
    """Squared distance of the rows ``start:stop`` to the centre of their cluster.

    X            (n, d)         float    in
    centers      (k, d)         float    in
    norms        (k,)           float    in     ‖c‖²; used for CSR rows only
    start, stop                 int      in
    labels       (n,)           int32    in
    out          (stop − start,) float   out
    """
    for row in range(start, stop):
        out[row - start] = _distance_dense(X, row, centers, labels[row])


@jit
def measure_csr(data, indices, indptr, centers, norms, start, stop, labels, out):
    """Do the work of `measure_dense` on CSR rows."""
    for row in range(start, stop):
        out[row - start] = _distance_csr(data, indices, indptr, row, centers, norms, labels[row])


@helper
def _nearest_of_block(scores, norms, best, near):
    n_clusters, n_rows = scores.shape
    for i in range(n_rows):
        best[i] = norms[0] + scores[0, i]
        near[i] = 0
    for cluster in range(1, n_clusters):
        for i in range(n_rows):
            score = norms[cluster] + scores[cluster, i]
            nearer = score < best[i]
            best[i] = score if nearer else best[i]
            near[i] = np.int32(cluster) if nearer else near[i]


@helper
def _two_nearest_of_block(scores, norms, best, near, next_best, next_near):
    n_clusters, n_rows = scores.shape
    for i in range(n_rows):
        best[i] = norms[0] + scores[0, i]
        near[i] = 0
        next_best[i] = np.inf
        next_near[i] = 0
    for cluster in range(1, n_clusters):
        for i in range(n_rows):
            score = norms[cluster] + scores[cluster, i]
            nearer = score < best[i]
            runner_up = score < next_best[i]
            next_near[i] = near[i] if nearer else np.int32(cluster) if runner_up else next_near[i]
            next_best[i] = best[i] if nearer else score if runner_up else next_best[i]
            near[i] = np.int32(cluster) if nearer else near[i]
            best[i] = score if nearer else best[i]


@helper
def _relabel(labels, near):
    n_changed = 0
    for i in range(labels.shape[0]):
        n_changed += labels[i] != near[i]
        labels[i] = near[i]
    return n_changed


@inlined
def _nearest(scores):
    label = 0
    for cluster in range(1, scores.shape[0]):
        if scores[cluster] < scores[label]:
            label = cluster
    return label


@inlined
def _second_nearest(scores, nearest):
    label = nearest
    for cluster in range(scores.shape[0]):
        if cluster != nearest and (label == nearest or scores[cluster] < scores[label]):
            label = cluster
    return label


@helper
def _count_changes(start, stop, placed, before, nearest):
    n_changed = 0
    for slot in range(start, stop):
        n_changed += int(placed[slot] != before[slot]) - int(nearest[slot] != before[slot])
    return n_changed


@helper
def _list_moves(start, stop, placed, nearest, moved):
    # A list first, without a branch: a loop that guesses wrong at each move waits for each row.
    end = start
    for slot in range(start, stop):
        moved[end] = slot
        end += placed[slot] != nearest[slot]
    return end


@helper
def _squared_distance(norm, score, rounding):
    # ‖x‖² + (‖c‖² − 2 x·c), and 0 where that is all rounding: of two rows that lie on their centres
    # neither is nearer.
    distance = norm + score
    return distance if distance > rounding * norm else 0.0


@inlined
def _distance_dense(X, row, centers, cluster):
    # Four partial sums: one would wait for each addition.
    n_features = X.shape[1]
    whole = n_features - n_features % 4
    zero = X.dtype.type(0)
    a, b, c, d = zero, zero, zero, zero
    for f in range(0, whole, 4):
        a += (X[row, f] - centers[cluster, f]) ** 2
        b += (X[row, f + 1] - centers[cluster, f + 1]) ** 2
        c += (X[row, f + 2] - centers[cluster, f + 2]) ** 2
        d += (X[row, f + 3] - centers[cluster, f + 3]) ** 2
    for f in range(whole, n_features):
        a += (X[row, f] - centers[cluster, f]) ** 2
    return (a + b) + (c + d)


@inlined
def _distance_csr(data, indices, indptr, row, centers, norms, cluster):
    # ‖c‖² plus (x − c)² − c² over the nonzeros of x.
    total = data.dtype.type(0)
    for t in range(indptr[row], indptr[row + 1]):
        coordinate = centers[cluster, indices[t]]
        total += (data[t] - coordinate) ** 2 - coordinate * coordinate
    return max(total + norms[cluster], data.dtype.type(0))
