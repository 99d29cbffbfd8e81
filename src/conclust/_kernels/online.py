"""Clusters with centres, sizes and covariances that rows join and leave one at a time.

A cluster is its mass m (summed weights), centre v, scatter W = Σ w (x - v)(x - v)ᵀ, the inverse of
A = W + r I and log |A|. Its covariance is S = A / (m + n), so that D(x, v; S) = (m + n) dᵀA⁻¹d
with d = x - v. Rows that join or leave change A by a rank-one term, A⁻¹ by Sherman and Morrison's
formula, log |A| by the matrix determinant lemma. Everything is centred: second moments about the
origin, as in the paper, lose all digits where the data lie far from it.

Three kinds: IDENTITY (A⁻¹ stays 1), DIAGONAL and FULL. For the first two, `scatter` and `inverse`
are diagonals of shape (n_clusters, 1, n_features); for FULL the last two axes are n_features long.
"""

import numpy as np

from conclust._kernels._jit import helper, inlined, jit

IDENTITY, DIAGONAL, FULL = 0, 1, 2

# A⁻¹ is computed anew from W after so many updates, or when one divides by less than this.
REFRESH = 1000
NEAR_SINGULAR = 1e-8


@jit
def invert(kind, cluster, ridge, scatter, inverse, log_det):
    """Compute A⁻¹ and log |A| of one cluster from its scatter.

    kind, cluster                          int       in
    ridge                                  float     in    r > 0
    scatter    (n_clusters, 1 or p, p)     float64   in
    inverse    (n_clusters, 1 or p, p)     float64   out
    log_det    (n_clusters,)               float64   out
    """
    n_features = scatter.shape[2]
    if kind == FULL:
        matrix = scatter[cluster].copy()
        for f in range(n_features):
            matrix[f, f] += ridge
        # L of A = L Lᵀ, then its inverse in place, then A⁻¹ = L⁻ᵀ L⁻¹.
        log_det[cluster] = _factor(matrix)
        _invert_triangle(matrix)
        for f in range(n_features):
            for g in range(f + 1):
                total = 0.0
                for h in range(f, n_features):
                    total += matrix[h, f] * matrix[h, g]
                inverse[cluster, f, g] = total
                inverse[cluster, g, f] = total
    elif kind == DIAGONAL:
        log_det[cluster] = 0.0
        for f in range(n_features):
            inverse[cluster, 0, f] = 1.0 / (scatter[cluster, 0, f] + ridge)
            log_det[cluster] -= np.log(inverse[cluster, 0, f])


@inlined
def _factor(matrix):
    """Overwrite the lower triangle with Cholesky's factor; return log of the determinant."""
    log_det = 0.0
    for f in range(len(matrix)):
        for g in range(f):
            for h in range(g):
                matrix[f, g] -= matrix[f, h] * matrix[g, h]
            matrix[f, g] /= matrix[g, g]
            matrix[f, f] -= matrix[f, g] * matrix[f, g]
        matrix[f, f] = np.sqrt(matrix[f, f])
        log_det += 2.0 * np.log(matrix[f, f])
    return log_det


@inlined
def _invert_triangle(matrix):
    """Overwrite a lower triangle with its inverse."""
    for g in range(len(matrix)):
        matrix[g, g] = 1.0 / matrix[g, g]
        for f in range(g + 1, len(matrix)):
            total = 0.0
            for h in range(g, f):
                total += matrix[f, h] * matrix[h, g]
            matrix[f, g] = -total / matrix[f, f]


@jit
def shift_row(
    X,
    row,
    weight,
    cluster,
    sign,
    kind,
    ridge,
    mass,
    center,
    scatter,
    inverse,
    log_det,
    updates,
    d,
    u,
):
    """Let a row join a cluster (sign 1) or leave it (sign -1).

    X          (n_samples, n_features)     float64   in
    row                                    int       in
    weight                                 float     in       of the row
    cluster, sign, kind                    int       in
    ridge                                  float     in       r
    mass       (n_clusters,)               float64   in/out
    center     (n_clusters, n_features)    float64   in/out
    scatter    (n_clusters, 1 or p, p)     float64   in/out
    inverse    (n_clusters, 1 or p, p)     float64   in/out
    log_det    (n_clusters,)               float64   in/out
    updates    (n_clusters,)               int64     in/out   since A⁻¹ was computed anew
    d, u       (n_features,)               float64   work

    With d = x - v, v the old centre, and c = m w / (m ± w): v ± w d / (m ± w), W ± c d dᵀ,
    A⁻¹ ∓ c u uᵀ / (1 ± c dᵀu), u = A⁻¹d. A cluster must keep some mass.
    """
    if weight == 0:
        return
    n_features = X.shape[1]
    before = mass[cluster]
    after = before + sign * weight
    mass[cluster] = after
    for f in range(n_features):
        d[f] = X[row, f] - center[cluster, f]
        center[cluster, f] += sign * weight / after * d[f]
    change = sign * before * weight / after
    if kind != FULL:
        for f in range(n_features):
            scatter[cluster, 0, f] = max(scatter[cluster, 0, f] + change * d[f] * d[f], 0.0)
        invert(kind, cluster, ridge, scatter, inverse, log_det)
        return
    for f in range(n_features):
        u[f] = 0.0
    for f in range(n_features):
        for g in range(n_features):
            u[g] += inverse[cluster, f, g] * d[f]
            scatter[cluster, f, g] += change * d[f] * d[g]
    divisor = 1.0
    for f in range(n_features):
        divisor += change * d[f] * u[f]
    updates[cluster] += 1
    if divisor < NEAR_SINGULAR or updates[cluster] >= REFRESH:
        invert(kind, cluster, ridge, scatter, inverse, log_det)
        updates[cluster] = 0
        return
    log_det[cluster] += np.log(divisor)
    factor = change / divisor
    for f in range(n_features):
        scaled = factor * u[f]
        for g in range(n_features):
            inverse[cluster, f, g] -= scaled * u[g]


@helper
def _costs(X, weight, start, stop, kind, center, inverse, offset, scale, d, u, cost):
    """Cost of a unit in every cluster: D(x, v; S) and the offset, summed over its rows.

    X, weight, kind, center, inverse, offset, scale    in    see `online_pass`
    start, stop                        int             in    the unit's rows
    d, u     (n_features,)             float64         work
    cost     (n_clusters,)             float64         out

    All clusters in one call, whole arrays and positions: calls and views that are counted cost more
    than the sums themselves.
    """
    n_clusters, n_features = center.shape
    for c in range(n_clusters):
        cost[c] = 0.0
        for row in range(start, stop):
            total = 0.0
            if kind == FULL:
                for f in range(n_features):
                    d[f] = X[row, f] - center[c, f]
                    u[f] = 0.0
                # Row by row, so that the inner loop adds vectors: compilers make that fast.
                for f in range(n_features):
                    step = d[f]
                    for g in range(n_features):
                        u[g] += step * inverse[c, f, g]
                for f in range(n_features):
                    total += d[f] * u[f]
            else:
                for f in range(n_features):
                    step = X[row, f] - center[c, f]
                    total += step * step * inverse[c, 0, f]
            cost[c] += weight[row] * (scale[c] * total + offset[c])


@jit
def set_offsets(
    cluster,
    kind,
    n_features,
    prior,
    total_mass,
    size_weight,
    log_dets,
    mass,
    log_det,
    scale,
    offset,
):
    """Factor and offset of a cluster's cost: D = scale dᵀA⁻¹d, cost = D - λ m / M (+ log |S|).

    cluster, kind, n_features              int       in
    prior                                  float     in    n: rows that S counts besides its own
    total_mass, size_weight                float     in    M, λ
    log_dets                               bool      in    whether log |S| counts
    mass, log_det    (n_clusters,)         float64   in
    scale, offset    (n_clusters,)         float64   out
    """
    count = mass[cluster] + prior
    scale[cluster] = 1.0 if kind == IDENTITY else count
    offset[cluster] = -size_weight * mass[cluster] / total_mass
    if log_dets and kind != IDENTITY:
        offset[cluster] += log_det[cluster] - n_features * np.log(count)


@jit
def online_pass(
    X,
    weight,
    order,
    first,
    last,
    indptr,
    indices,
    max_chain,
    kind,
    ridge,
    prior,
    size_weight,
    log_dets,
    labels,
    mass,
    center,
    scatter,
    inverse,
    log_det,
    updates,
):
    """Visit every unit once; move it, and what its links drag along, where that lowers the cost.

    X           (n_samples, n_features)    float64   in
    weight      (n_samples,)               float64   in
    order       (n_units,)                 int64     in       the order of visits
    first, last (n_units,)                 int64     in       each unit's rows, first:last
    indptr      (n_linked + 1,)            int64     in       CSR of the "apart" graph: the first
    indices                                int64     in       n_linked units, the others are free
    max_chain                              int       in       units that may move at once
    kind                                   int       in
    ridge, prior, size_weight              float     in       r, n and λ
    log_dets                               bool      in
    labels      (n_units,)                 int64     in/out   keeps every link, on entry and return
    mass, center, scatter, inverse, log_det, updates  in/out  see `shift_row`

    A free unit goes to its cheapest cluster. A linked one that wants from a to b takes its Kempe
    chain along: the units of a and b that links join to it, which all change sides, so no link
    breaks; a linked pair that swaps is the smallest case. No cluster loses its last mass.

    Returns the number of units that wanted to leave but would have left their cluster empty.
    """
    n_clusters, n_features = center.shape
    n_linked = len(indptr) - 1
    total_mass = mass.sum()
    least_mass = 1e-12 * total_mass
    scale, offset = np.empty(n_clusters), np.empty(n_clusters)
    for c in range(n_clusters):
        set_offsets(
            c, kind, n_features, prior, total_mass, size_weight, log_dets, mass, log_det, scale,
            offset,
        )  # fmt: skip
    d, w = np.empty(n_features), np.empty(n_features)  # work space
    cost, other_cost = np.empty(n_clusters), np.empty(n_clusters)
    chain = np.empty(max(max_chain, 1), np.int64)
    stamp = np.zeros(n_linked, np.int64)
    now = 0
    n_refused = 0
    for u in order:
        a = labels[u]
        _costs(
            X, weight, first[u], last[u], kind, center, inverse, offset, scale, d, w, cost
        )  # fmt: skip
        slack = 1e-10 * (1.0 + abs(cost[a]))
        best, gain, length = a, slack, 0
        for b in range(n_clusters):
            if cost[a] - cost[b] <= (slack if u < n_linked else gain):
                continue
            size = 1
            chain[0] = u
            saved = cost[a] - cost[b]
            if u < n_linked:
                now += 1
                size = _chain(u, b, indptr, indices, labels, max_chain, stamp, now, chain)
                for at in range(1, size):
                    v = chain[at]
                    _costs(
                        X, weight, first[v], last[v], kind, center, inverse, offset, scale, d, w,
                        other_cost,
                    )  # fmt: skip
                    saved += other_cost[labels[v]] - other_cost[b if labels[v] == a else a]
            if size == 0 or saved <= gain:
                continue
            flow = 0.0  # from a to b
            for at in range(size):
                v = chain[at]
                for row in range(first[v], last[v]):
                    flow += weight[row] if labels[v] == a else -weight[row]
            if mass[a] - flow > least_mass and mass[b] + flow > least_mass:
                best, gain, length = b, saved, size
            else:
                n_refused += 1
        if best == a:
            continue
        if u < n_linked:
            now += 1
            length = _chain(u, best, indptr, indices, labels, max_chain, stamp, now, chain)
        else:
            chain[0] = u
        # All join before any leaves, so that no cluster runs empty on the way.
        for sign in (1, -1):
            for at in range(length):
                v = chain[at]
                side = (best if labels[v] == a else a) if sign == 1 else labels[v]
                for row in range(first[v], last[v]):
                    shift_row(
                        X, row, weight[row], side, sign, kind, ridge, mass, center, scatter,
                        inverse, log_det, updates, d, w,
                    )  # fmt: skip
        for at in range(length):
            v = chain[at]
            labels[v] = best if labels[v] == a else a
        for c in (a, best):
            set_offsets(
                c, kind, n_features, prior, total_mass, size_weight, log_dets, mass, log_det, scale,
                offset,
            )  # fmt: skip
    return n_refused


@helper
def _chain(u, b, indptr, indices, labels, max_chain, stamp, now, chain):
    """Collect the units of u's cluster and of b that links join to u.

    Returns how many, u first, or 0 when there are more than max_chain.
    """
    a = labels[u]
    chain[0] = u
    stamp[u] = now
    size, at = 1, 0
    while at < size:
        v = chain[at]
        at += 1
        other = b if labels[v] == a else a
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if labels[w] == other and stamp[w] != now:
                if size == max_chain:
                    return 0
                stamp[w] = now
                chain[size] = w
                size += 1
    return size
