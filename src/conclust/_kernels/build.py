"""BUILD: the tree behind a set of triplets, or the samples at which there is none."""

import numpy as np

from conclust._kernels._jit import jit
from conclust._kernels.disjoint_set import find, union

SHORT = 32  # triplets that are tried one by one


@jit
def build(triplets, n, parent, stuck):
    """Build the tree that satisfies all triplets, the least resolved one (Aho et al. 1981).

    triplets   (m, 3) int64   in    rows (a, b, c): ab|c, samples in 0..n-1, a != b, c not a or b
    n                 int     in    number of samples
    parent     (2n,)  int64   out   of leaves 0..n-1, the root n (-1) and further nodes
    stuck      (n,)   int64   out   samples that no tree can split, when there are any

    Returns the number of nodes and the number of stuck samples; with stuck samples `parent` is
    not filled. Time O(m + n) for each level of the tree.
    """
    n_rows = len(triplets)
    leaves = np.arange(n)
    rows = np.arange(n_rows)
    sorted_leaves = np.empty(n, np.int64)
    sorted_rows = np.empty(n_rows, np.int64)
    up = np.arange(n)
    size = np.ones(n, np.int64)
    part = np.full(n, -1, np.int64)
    leaf_start = np.empty(n + 1, np.int64)
    row_start = np.empty(n + 1, np.int64)
    # Each open node: its number, its leaves and its rows, as ranges of the two lists. Entries are
    # set one by one: assigning a row at once takes two seconds more to compile.
    open_nodes = np.empty((n + 1, 5), np.int64)
    n_nodes = n + 1
    parent[n] = -1
    open_nodes[0, 0], open_nodes[0, 1], open_nodes[0, 2] = n, 0, n
    open_nodes[0, 3], open_nodes[0, 4] = 0, n_rows
    n_open = 1
    while n_open:
        n_open -= 1
        node, first, last = open_nodes[n_open, 0], open_nodes[n_open, 1], open_nodes[n_open, 2]
        first_row, last_row = open_nodes[n_open, 3], open_nodes[n_open, 4]
        if first_row == last_row:
            for at in range(first, last):
                parent[leaves[at]] = node
            continue
        for at in range(first, last):
            up[leaves[at]] = leaves[at]
            size[leaves[at]] = 1
        for at in range(first_row, last_row):
            union(up, size, triplets[rows[at], 0], triplets[rows[at], 1])
        n_parts = 0
        for at in range(first, last):
            root = find(up, leaves[at])
            if part[root] < 0:
                part[root] = n_parts
                leaf_start[n_parts] = 0
                row_start[n_parts] = 0
                n_parts += 1
            leaf_start[part[root]] += 1
        if n_parts == 1:
            for at in range(first, last):
                stuck[at - first] = leaves[at]
            return n_nodes, last - first
        kept = 0
        for at in range(first_row, last_row):
            r = rows[at]
            root = find(up, triplets[r, 0])
            if find(up, triplets[r, 2]) == root:
                row_start[part[root]] += 1
                rows[first_row + kept] = r
                kept += 1
        # Counts become starts; filling moves each start to its stop.
        leaf_at, row_at = first, first_row
        for p in range(n_parts):
            leaf_at, leaf_start[p] = leaf_at + leaf_start[p], leaf_at
            row_at, row_start[p] = row_at + row_start[p], row_at
        for at in range(first, last):
            p = part[find(up, leaves[at])]
            sorted_leaves[leaf_start[p]] = leaves[at]
            leaf_start[p] += 1
        for at in range(first_row, first_row + kept):
            p = part[find(up, triplets[rows[at], 0])]
            sorted_rows[row_start[p]] = rows[at]
            row_start[p] += 1
        leaf_at, row_at = first, first_row
        for p in range(n_parts):
            if leaf_start[p] - leaf_at == 1:
                parent[sorted_leaves[leaf_at]] = node
            else:
                parent[n_nodes] = node
                open_nodes[n_open, 0] = n_nodes
                open_nodes[n_open, 1], open_nodes[n_open, 2] = leaf_at, leaf_start[p]
                open_nodes[n_open, 3], open_nodes[n_open, 4] = row_at, row_start[p]
                n_nodes += 1
                n_open += 1
            leaf_at, row_at = leaf_start[p], row_start[p]
        for at in range(first, last):
            part[find(up, leaves[at])] = -1
        for at in range(first, last):
            leaves[at] = sorted_leaves[at]
        for at in range(first_row, first_row + kept):
            rows[at] = sorted_rows[at]
    return n_nodes, 0


@jit
def linked_groups(must_link, triplets, n, group):
    """Join must-linked samples, and what triplets add: ab|c with c linked to a links all three.

    must_link   (l, 2) int64   in
    triplets    (m, 3) int64   in
    group       (n,)   int64   out   a number for each sample; equal numbers belong together
    """
    up = np.arange(n)
    size = np.ones(n, np.int64)
    for r in range(len(must_link)):
        union(up, size, must_link[r, 0], must_link[r, 1])
    changed = len(must_link) > 0
    while changed:
        changed = False
        for r in range(len(triplets)):
            a, b, c = find(up, triplets[r, 0]), find(up, triplets[r, 1]), find(up, triplets[r, 2])
            if a != b and c in (a, b):
                union(up, size, a, b)
                changed = True
    for i in range(n):
        group[i] = find(up, i)


@jit
def spanning_rows(triplets, inside, chosen):
    """Choose rows whose pairs span the samples inside: they contradict each other already.

    triplets   (m, 3) int64   in
    inside     (n,)   bool    in    the stuck samples
    chosen     (m,)   bool    out
    """
    n = len(inside)
    up = np.arange(n)
    size = np.ones(n, np.int64)
    for r in range(len(triplets)):
        a, b, c = triplets[r]
        if inside[a] and inside[b] and inside[c] and find(up, a) != find(up, b):
            union(up, size, a, b)
            chosen[r] = True


@jit
def fits(taken, n, triplet, up, leaves, rows):
    """Whether one more triplet keeps a consistent set consistent.

    taken          (t, 3) int64   in    consistent
    triplet        (3,)   int64   in
    up, leaves     (n,)   int64         scratch
    rows           (t,)   int64         scratch

    Only the part that holds the triplet can get stuck, so BUILD follows that one alone.
    """
    a, b, c = triplet
    n_leaves, n_rows = n, len(taken)
    for i in range(n):
        leaves[i] = i
    for r in range(n_rows):
        rows[r] = r
    while True:
        for at in range(n_leaves):
            up[leaves[at]] = leaves[at]
        n_parts = n_leaves
        for at in range(-1, n_rows):
            p = find(up, a if at < 0 else taken[rows[at], 0])
            q = find(up, b if at < 0 else taken[rows[at], 1])
            if p != q:
                up[p] = q
                n_parts -= 1
        if n_parts == 1:
            return False
        part = find(up, a)
        if find(up, c) != part:
            return True  # decided here; what lies below is a part of a consistent set
        kept = 0
        for at in range(n_leaves):
            if find(up, leaves[at]) == part:
                leaves[kept] = leaves[at]
                kept += 1
        n_leaves, kept = kept, 0
        for at in range(n_rows):
            r = rows[at]
            if find(up, taken[r, 0]) == part and find(up, taken[r, 2]) == part:
                rows[kept] = r
                kept += 1
        n_rows = kept


@jit
def keep_consistent_triplets(triplets, n, run, kept):
    """Take triplets in the order given, skipping each that contradicts those taken before.

    triplets   (m, 3) int64   in
    n                 int     in
    run               int     in    how many to try first
    kept       (m,)   bool    out

    Long runs are tried as a whole, and halved when they do not fit; short ones row by row.
    """
    m = len(triplets)
    taken = np.empty_like(triplets)
    parent = np.empty(2 * n, np.int64)
    stuck = np.empty(n, np.int64)
    up, leaves, rows = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(m, np.int64)
    n_taken, at, run = 0, 0, max(run, 1)
    while at < m:
        run = min(run, m - at)
        taken[n_taken : n_taken + run] = triplets[at : at + run]
        _, n_stuck = build(taken[: n_taken + run], n, parent, stuck)
        if n_stuck == 0:
            kept[at : at + run] = True
            n_taken += run
            at += run
            run *= 2
        elif run > SHORT:
            run //= 2
        else:
            for r in range(at, at + run):
                kept[r] = fits(taken[:n_taken], n, triplets[r], up, leaves, rows)
                if kept[r]:
                    taken[n_taken] = triplets[r]
                    n_taken += 1
            at += run


@jit
def displayed(parent, triplets, holds):
    """Which triplets a rooted tree satisfies: ab|c when a and b meet below where they meet c.

    parent     (v,)   int64   in    -1 at the root
    triplets   (m, 3) int64   in    nodes, none above another
    holds      (m,)   bool    out

    Pairs meet where the Euler tour is shallowest between them: O(v log v + m).
    """
    v = len(parent)
    child = np.full(v, -1, np.int64)
    sibling = np.full(v, -1, np.int64)
    root = -1
    for i in range(v):
        if parent[i] < 0:
            root = i
        else:
            sibling[i] = child[parent[i]]
            child[parent[i]] = i
    # The tour lists each node when entered and again after each child; depth decides.
    first_seen = np.full(v, -1, np.int64)
    tour = np.empty(2 * v, np.int64)
    depth = np.zeros(v, np.int64)
    length = 0
    node = root
    while node >= 0:
        tour[length] = depth[node]
        if first_seen[node] < 0:
            first_seen[node] = length
        length += 1
        down = child[node]
        if down >= 0:
            child[node] = sibling[down]
            depth[down] = depth[node] + 1
            node = down
        else:
            node = parent[node]
    n_levels = 1
    while (1 << n_levels) <= length:
        n_levels += 1
    table = np.empty((n_levels, length), np.int64)
    table[0] = tour[:length]
    for level in range(1, n_levels):
        half = 1 << (level - 1)
        for i in range(length - 2 * half + 1):
            table[level, i] = min(table[level - 1, i], table[level - 1, i + half])
    meet = np.empty(3, np.int64)
    for r in range(len(triplets)):
        for side in range(3):
            p = first_seen[triplets[r, side]]
            q = first_seen[triplets[r, (side + 1) % 3]]
            p, q = min(p, q), max(p, q)
            level = 0
            while (2 << level) <= q - p + 1:
                level += 1
            meet[side] = min(table[level, p], table[level, q + 1 - (1 << level)])
        holds[r] = meet[0] > meet[1] and meet[0] > meet[2]
