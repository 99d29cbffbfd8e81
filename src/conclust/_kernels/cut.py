"""Where to cut a dendrogram: what each split is worth, and the best set of splits."""

import numpy as np

from conclust._kernels._jit import jit

# Sums of weights that differ by less are equal: they were added in another order.
ROUNDING = 1e-9


@jit
def meetings(children, pairs, merge):
    """The merge that first puts the two samples of each pair into one cluster.

    children   (n-1, 2) int64   in    as scipy numbers them
    pairs      (m, 2)   int64   in    two different samples each
    merge      (m,)     int64   out
    """
    n = len(children) + 1
    parent = np.full(2 * n - 1, -1, np.int64)
    for v in range(n - 1):
        parent[children[v, 0]] = n + v
        parent[children[v, 1]] = n + v
    for r in range(len(pairs)):
        a, b = pairs[r]
        # A cluster has a higher number than its parts, so the lower one climbs.
        while a != b:
            if a < b:
                a = parent[a]
            else:
                b = parent[b]
        merge[r] = a - n


@jit
def depths(parent, depth):
    """How deep each node of a tree is: 0 at the root, which comes after the leaves.

    parent   (v,) int64   in    of leaves, then of inner nodes, each after its parent
    depth    (v,) int64   out

    Returns the number of leaves.
    """
    n = 0
    while parent[n] >= 0:
        n += 1
    depth[n] = 0
    for v in range(n + 1, len(parent)):
        depth[v] = depth[parent[v]] + 1
    for v in range(n):
        depth[v] = depth[parent[v]] + 1
    return n


@jit
def levels(parent, triplets, level):
    """How deep in a tree c leaves a and b: 0 at the root.

    parent     (v,)   int64   in    as in `depths`
    triplets   (m, 3) int64   in    satisfied by the tree
    level      (m,)   int64   out
    """
    depth = np.empty(len(parent), np.int64)
    depths(parent, depth)
    for r in range(len(triplets)):
        a, c = triplets[r, 0], triplets[r, 2]
        while a != c:
            if depth[a] >= depth[c]:
                a = parent[a]
            else:
                c = parent[c]
        level[r] = depth[a]


@jit
def branches(parent, min_size, count):
    """How many branches of min_size leaves or more a tree has when it is cut below each level.

    parent   (v,) int64   in    as in `depths`
    count    (l,) int64   out   below the root (its children), below these, and so on

    A branch without such parts counts as one.
    """
    n_nodes = len(parent)
    depth = np.empty(n_nodes, np.int64)
    n = depths(parent, depth)
    size, found = np.zeros(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    size[:n] = 1
    for v in range(n):
        size[parent[v]] += 1
    for v in range(n_nodes - 1, n, -1):
        size[parent[v]] += size[v]
    for level in range(len(count)):
        found[:] = 0
        # Leaves come first in the numbering but last on the way up.
        for at in range(n_nodes):
            v = at if at < n else n_nodes - 1 - (at - n)
            if depth[v] <= level + 1:
                found[v] = max(found[v], 1 if size[v] >= min_size else 0)
                if parent[v] >= 0:
                    found[parent[v]] += found[v]
        count[level] = found[n]


@jit
def best_splits(children, size, gain, closed, n_clusters, min_size, at_most, split):
    """Choose merges to undo, from the top down, so that their gains add up to the most.

    children     (n-1, 2) int64     in
    size         (2n-1,)  int64     in    samples in each cluster
    gain         (n-1,)   float64   in    what undoing a merge is worth
    closed       (n-1,)   bool      in    merges that are never undone
    n_clusters            int       in    clusters of min_size or more to end with
    min_size              int       in    smaller branches are set aside and count for nothing
    at_most               bool      in    stop at the fewest clusters that are worth the most
    split        (n-1,)   bool      out

    A knapsack on the tree: best[v, k] is the most that splitting v into k clusters is worth, ties
    by the sum of the merge numbers, so that late merges go first. Returns how many clusters there
    are then, 0 if there are not as many to be had. Time and memory O(n · n_clusters).
    """
    n = len(children) + 1
    room = np.zeros(2 * n - 1, np.int64)  # the most clusters each branch can give
    for v in range(n):
        room[v] = 1 if min_size <= 1 else 0
    for v in range(n - 1):
        a, b = children[v]
        whole = 1 if size[n + v] >= min_size else 0
        room[n + v] = whole if closed[v] else min(max(room[a] + room[b], whole), n_clusters)
    start = np.zeros(2 * n, np.int64)
    for v in range(2 * n - 1):
        start[v + 1] = start[v] + room[v] + 1
    if room[2 * n - 2] < n_clusters:
        return 0
    best = np.zeros(start[2 * n - 1])
    order = np.zeros(start[2 * n - 1])
    left = np.zeros(start[2 * n - 1], np.int32)
    for v in range(n - 1):
        a, b = children[v]
        at = start[n + v]
        for k in range(2, room[n + v] + 1):
            if room[a] == 0 or room[b] == 0:
                # One branch is too small: it is set aside, and the other is split further.
                big = b if room[a] == 0 else a
                best[at + k] = best[start[big] + k] + gain[v]
                order[at + k] = order[start[big] + k]
                continue
            first = True
            for i in range(max(1, k - room[b]), min(room[a], k - 1) + 1):
                value = best[start[a] + i] + best[start[b] + k - i] + gain[v]
                late = order[start[a] + i] + order[start[b] + k - i] + v
                if (
                    first
                    or value > best[at + k] + ROUNDING
                    or (value > best[at + k] - ROUNDING and late > order[at + k])
                ):
                    best[at + k], order[at + k], left[at + k] = value, late, i
                    first = False
    n_found = n_clusters
    if at_most:
        top = start[2 * n - 2]
        for k in range(n_clusters - 1, 0, -1):
            if best[top + k] > best[top + n_found] - ROUNDING:
                n_found = k
    wanted = np.zeros(2 * n - 1, np.int64)
    wanted[2 * n - 2] = n_found
    for v in range(n - 2, -1, -1):
        k = wanted[n + v]
        if k < 2:
            continue
        split[v] = True
        a, b = children[v]
        if room[a] == 0:
            wanted[b] = k
        elif room[b] == 0:
            wanted[a] = k
        else:
            wanted[a] = left[start[n + v] + k]
            wanted[b] = k - wanted[a]
    return n_found


@jit
def latest_splits(children, size, closed, n_clusters, min_size, split):
    """Undo the latest merges until there are enough clusters; see `best_splits`.

    A merge with a branch that is too small is undone only to reach the ones below it.
    """
    n = len(children) + 1
    present = np.zeros(2 * n - 1, np.bool_)
    present[2 * n - 2] = True
    n_found = 1
    if size[2 * n - 2] < min_size:
        return False
    for v in range(n - 2, -1, -1):
        if n_found == n_clusters:
            break
        if not present[n + v] or closed[v]:
            continue
        a, b = children[v]
        big_a, big_b = size[a] >= min_size, size[b] >= min_size
        if big_a or big_b:
            split[v] = True
            present[a], present[b] = big_a, big_b
            n_found += big_a and big_b
    return n_found == n_clusters


@jit
def pieces(children, split, piece):
    """Number the branches left after undoing merges; return how many there are.

    split   (n-1,)   bool    in    closed towards the root
    piece   (2n-1,)  int64   out   the piece each cluster lies in, -1 above the pieces
    """
    n = len(children) + 1
    n_pieces = 0
    piece[2 * n - 2] = -1
    for v in range(2 * n - 2, -1, -1):  # parents first
        if piece[v] < 0 and not (v >= n and split[v - n]):
            piece[v] = n_pieces
            n_pieces += 1
        if v >= n:
            piece[children[v - n, 0]] = piece[v]
            piece[children[v - n, 1]] = piece[v]
    return n_pieces


@jit
def move_branches(
    children, n_forced, top, links, weight, link_starts, link_of, rows, starts, row_of, far, labels
):
    """Move branches to other clusters as long as that breaks less weight of cannot-links.

    children        (n-1, 2) int64     in
    n_forced, top            int       in       merges before n_forced are never undone; those
                                                before top break no cannot-link
    links, weight   (l, 2), (l,)       in       cannot-links
    link_starts, link_of               in       the links of each sample
    rows            (m, 3)   int64     in       triplets, which are not broken either
    starts, row_of                     in       the triplets of each sample
    far             (k, k)   float64   in       between clusters: the nearest one takes a branch
    labels          (n,)     int64     in/out   no cluster is emptied

    Larger branches first, sweep after sweep, until nothing moves.
    """
    n, k = len(labels), len(far)
    n_nodes = n + top
    parent = np.full(n_nodes, -1, np.int64)
    size = np.ones(n_nodes, np.int64)
    for v in range(top):
        for side in range(2):
            parent[children[v, side]] = n + v
        size[n + v] = size[children[v, 0]] + size[children[v, 1]]
    # The samples of a branch are a range of `order`.
    first, order = np.empty(n_nodes, np.int64), np.empty(n, np.int64)
    at = 0
    for v in range(n_nodes - 1, -1, -1):
        if parent[v] < 0:
            first[v] = at
            at += size[v]
        if v >= n:
            a, b = children[v - n]
            first[a], first[b] = first[v], first[v] + size[a]
        else:
            order[first[v]] = v
    held = np.bincount(labels, minlength=k)
    cost, broken = np.empty(k), np.empty(n_nodes)
    moved = True
    while moved:
        moved = False
        broken[:] = 0.0
        for e in range(len(links)):
            if labels[links[e, 0]] == labels[links[e, 1]]:
                broken[links[e, 0]] += weight[e]
                broken[links[e, 1]] += weight[e]
        for v in range(n_nodes):
            if parent[v] >= 0:
                broken[parent[v]] += broken[v]
        for v in range(n_nodes - 1, -1, -1):
            in_group = 0 <= parent[v] < n + n_forced
            old = labels[order[first[v]]]
            if broken[v] == 0 or in_group or held[old] == size[v]:
                continue
            cost[:] = 0.0
            whole = True
            for at in range(first[v], first[v] + size[v]):
                i = order[at]
                whole = whole and labels[i] == old
                for e in link_of[link_starts[i] : link_starts[i + 1]]:
                    cost[labels[links[e, 0] + links[e, 1] - i]] += weight[e]
            while whole:
                new = old
                for c in range(k):
                    if cost[c] < cost[new] - ROUNDING or (
                        new != old and cost[c] <= cost[new] and far[old, c] < far[old, new]
                    ):
                        new = c
                if new == old:
                    break
                for at in range(first[v], first[v] + size[v]):
                    labels[order[at]] = new
                for at in range(first[v], first[v] + size[v]):
                    i = order[at]
                    for r in row_of[starts[i] : starts[i + 1]]:
                        a, b, c = rows[r]
                        whole = whole and not is_violated(labels[a], labels[b], labels[c])
                if whole:
                    held[old] -= size[v]
                    held[new] += size[v]
                    moved = True
                    break
                for at in range(first[v], first[v] + size[v]):
                    labels[order[at]] = old
                cost[new] = np.inf
                whole = True


@jit
def cluster_sizes(children, size):
    """Count the samples in each cluster.

    children   (n-1, 2) int64   in
    size       (2n-1,)  int64   out
    """
    n = len(children) + 1
    size[:n] = 1
    for v in range(n - 1):
        size[n + v] = size[children[v, 0]] + size[children[v, 1]]


@jit
def is_violated(a, b, c):
    """Whether c shares a cluster with exactly one of a and b (not Definition 4.2)."""
    return (c == a) != (c == b)


@jit
def change(rows, starts, row_of, labels, u, label):
    """How many more triplets are broken, and how many fewer have a and b together without c.

    That is, when unit u gets another label.
    """
    old, more, fewer = labels[u], 0, 0
    for at in range(starts[u], starts[u + 1]):
        a, b, c = rows[row_of[at]]
        more -= is_violated(labels[a], labels[b], labels[c])
        fewer += labels[a] == labels[b] and labels[a] != labels[c]
        labels[u] = label
        more += is_violated(labels[a], labels[b], labels[c])
        fewer -= labels[a] == labels[b] and labels[a] != labels[c]
        labels[u] = old
    return more, fewer


@jit
def settle(rows, starts, row_of, labels, n_clusters, max_steps):
    """Move units between clusters until no triplet is broken: min-conflicts with a tabu list.

    rows        (m, 3) int64   in       triplets of units
    starts      (u+1,) int64   in       with row_of: the rows that name each unit
    row_of      (3m,)  int64   in
    labels      (u,)   int64   in/out   cluster of each unit

    Each step takes one broken triplet and moves one of its units where the fewest are broken, then
    the most have a and b together without c.
    Returns how many are still broken.
    """
    m, n_units = len(rows), len(labels)
    size = np.zeros(n_clusters, np.int64)
    for u in range(n_units):
        size[labels[u]] += 1
    broken = np.empty(m, np.int64)
    place = np.full(m, -1, np.int64)
    n_broken = 0
    for r in range(m):
        a, b, c = rows[r]
        if is_violated(labels[a], labels[b], labels[c]):
            broken[n_broken], place[r] = r, n_broken
            n_broken += 1
    free_at = np.zeros((n_units, n_clusters), np.int64)
    fewest = n_broken
    for step in range(max_steps):
        if n_broken == 0:
            break
        r = broken[(7 * step) % n_broken]
        best, best_fewer, best_u, best_label = m + 1, 0, -1, -1
        for side in range(3):
            u = rows[r, side]
            if size[labels[u]] == 1:
                continue
            for shift in range(1, n_clusters):
                label = (labels[u] + shift) % n_clusters
                more, fewer = change(rows, starts, row_of, labels, u, label)
                if (more < best or (more == best and fewer < best_fewer)) and (
                    free_at[u, label] <= step or n_broken + more < fewest
                ):
                    best, best_fewer, best_u, best_label = more, fewer, u, label
        if best_u < 0:
            continue
        u = best_u
        free_at[u, labels[u]] = step + 8
        size[labels[u]] -= 1
        size[best_label] += 1
        labels[u] = best_label
        for at in range(starts[u], starts[u + 1]):
            r = row_of[at]
            a, b, c = rows[r]
            now = is_violated(labels[a], labels[b], labels[c])
            if now and place[r] < 0:
                broken[n_broken], place[r] = r, n_broken
                n_broken += 1
            elif not now and place[r] >= 0:
                n_broken -= 1
                broken[place[r]] = broken[n_broken]
                place[broken[n_broken]] = place[r]
                place[r] = -1
        fewest = min(fewest, n_broken)
    return n_broken
