"""Kernel k-means on label codes: the kernel Σ α_t H_t H_tᵀ is never built.

Row i of `codes` holds the cluster of sample i in each of T clusterings. In the feature space of
the kernel, sample i is the concatenation of √α_t e_{code}, and the mean of a cluster c is the share
P[c, t, v] of its samples with code v in clustering t, so that

    d²(i, c) = Σ_t α_t (1 − 2 P[c, t, code_it] + Σ_v P[c, t, v]²).
"""

import numpy as np

from conclust._kernels._jit import helper, jit


@jit
def count_codes(codes, mass, labels, counts):
    """Count the codes of the members of each cluster.

    codes    (n, T)       uint8|uint16   in
    mass     (n,)         float64        in    how many samples each row stands for
    labels   (n,)         int64          in    cluster of each row
    counts   (T, V, k)    float64        out   zero on entry; k is last: lookups are contiguous
    """
    for i in range(codes.shape[0]):
        for t in range(codes.shape[1]):
            counts[t, codes[i, t], labels[i]] += mass[i]


@jit
def nearest_profiles(codes, lookup, base, keep, labels, distances):
    """Give each row its nearest cluster mean; a tie stays where it is.

    codes      (n, T)     uint8|uint16   in
    lookup     (T, V, k)  float64        in    2 α_t P[c, t, v]
    base       (k,)       float64        in    Σ_t α_t (1 + Σ_v P[c, t, v]²)
    keep                  float          in    another cluster must be nearer by more than this
    labels     (n,)       int64          in/out  -1: none yet
    distances  (n,)       float64        out   to the cluster chosen

    Returns how many labels changed.
    """
    n_clusters = len(base)
    score = np.empty(n_clusters)
    n_changed = 0
    for i in range(codes.shape[0]):
        for c in range(n_clusters):
            score[c] = base[c]
        for t in range(codes.shape[1]):
            row = lookup[t, codes[i, t]]
            for c in range(n_clusters):
                score[c] -= row[c]
        best = 0
        for c in range(1, n_clusters):
            if score[c] < score[best]:
                best = c
        old = labels[i]
        if old >= 0 and score[old] <= score[best] + keep:
            best = old
        if best != old:
            n_changed += 1
            labels[i] = best
        distances[i] = max(score[best], 0.0)
    return n_changed


@jit
def distances_to_row(codes, weights, row, out):
    """Squared distances of all rows to one: Σ_t 2 α_t [code_it ≠ code_jt].

    codes    (n, T)   uint8|uint16   in
    weights  (T,)     float64        in
    row               int            in
    out      (n,)     float64        out
    """
    for i in range(codes.shape[0]):
        total = 0.0
        for t in range(codes.shape[1]):
            if codes[i, t] != codes[row, t]:
                total += weights[t]
        out[i] = 2.0 * total


@jit
def agreement(codes, weights, pairs, out):
    """Weight of the clusterings in which two rows share a cluster.

    codes    (n, T)   uint8|uint16   in
    weights  (T,)     float64        in
    pairs    (m, 2)   int64          in
    out      (m,)     float64        out
    """
    for p in range(len(pairs)):
        total = 0.0
        for t in range(codes.shape[1]):
            if codes[pairs[p, 0], t] == codes[pairs[p, 1], t]:
                total += weights[t]
        out[p] = total


@helper
def _uniform(state):
    """Next number in (0, 1] of a splitmix64 generator.

    state   (1,) uint64   in/out
    """
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (np.float64(z >> np.uint64(11)) + 1.0) * (1.0 / 9007199254740992.0)


@helper
def _sift_down(value, key, first, second, size, root):
    """Restore a min-heap on (value, key) below `root`."""
    while True:
        child = 2 * root + 1
        if child >= size:
            return
        right = child + 1
        if right < size and (
            value[right] < value[child]
            or (value[right] == value[child] and key[right] < key[child])
        ):
            child = right
        if value[root] < value[child] or (value[root] == value[child] and key[root] <= key[child]):
            return
        value[root], value[child] = value[child], value[root]
        key[root], key[child] = key[child], key[root]
        first[root], first[child] = first[child], first[root]
        second[root], second[child] = second[child], second[root]
        root = child


@helper
def _offer(new_value, count, i, j, state, value, key, first, second, size):
    """Offer `count` equal sample pairs; each draws a key, and the largest (value, key) stay.

    The keys of `count` pairs are drawn in falling order, max of m uniforms being u^(1/m), so
    the work is proportional to the pairs accepted. Returns the new size.
    """
    draw = 1.0
    capacity = len(value)
    for left in range(count, 0, -1):
        draw *= _uniform(state) ** (1.0 / left)
        if size < capacity:
            at = size
            size += 1
            value[at], key[at], first[at], second[at] = new_value, draw, i, j
            while at > 0:
                parent = (at - 1) // 2
                if value[parent] < value[at] or (
                    value[parent] == value[at] and key[parent] <= key[at]
                ):
                    break
                value[parent], value[at] = value[at], value[parent]
                key[parent], key[at] = key[at], key[parent]
                first[parent], first[at] = first[at], first[parent]
                second[parent], second[at] = second[at], second[parent]
                at = parent
        elif new_value > value[0] or (new_value == value[0] and draw > key[0]):
            value[0], key[0], first[0], second[0] = new_value, draw, i, j
            _sift_down(value, key, first, second, size, 0)
        else:
            break
    return size


@jit
def extreme_pairs(codes, mass, weights, sign, seed, value, key, first, second):
    """Find the sample pairs with the largest sign × agreement, ties drawn uniformly.

    codes    (n, T)      uint8|uint16   in    distinct rows
    mass     (n,)        int64          in    how many samples each row stands for
    weights  (T,)        float64        in
    sign                 float          in    +1 largest, -1 smallest agreement
    seed                 uint64         in
    value, key           (size,) float64  out   a heap of the pairs kept
    first, second        (size,) int64    out   their rows

    Returns how many were found: fewer than `size` only when there are no more pairs.
    """
    state = np.array([seed], np.uint64)
    total = weights.sum()
    size = 0
    capacity = len(value)
    n, n_rounds = codes.shape
    for i in range(n):
        if mass[i] > 1:
            size = _offer(
                sign * total,
                mass[i] * (mass[i] - 1) // 2,
                i,
                i,
                state,
                value,
                key,
                first,
                second,
                size,
            )
    for i in range(n):
        for j in range(i):
            agree = 0.0
            if sign > 0:
                lost = 0.0
                limit = total - value[0] + 1e-9 * total if size == capacity else np.inf
                for t in range(n_rounds):
                    if codes[i, t] != codes[j, t]:
                        lost += weights[t]
                        if lost > limit:
                            break
                if lost > limit:
                    continue
                agree = total - lost
            else:
                limit = -value[0] + 1e-9 * total if size == capacity else np.inf
                for t in range(n_rounds):
                    if codes[i, t] == codes[j, t]:
                        agree += weights[t]
                        if agree > limit:
                            break
                if agree > limit:
                    continue
            # Sums in another order differ in the last bits; levels must compare equal.
            level = np.round(agree / total, 12) * total if total > 0 else 0.0
            size = _offer(
                sign * level, mass[i] * mass[j], i, j, state, value, key, first, second, size
            )
    return size
