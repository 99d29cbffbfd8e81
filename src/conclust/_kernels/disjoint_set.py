"""Union-find on plain arrays: iterative, path halving, union by size."""

import numpy as np

from conclust._kernels._jit import helper, jit


@helper
def find(parent, i):
    """Return the root of i, halving the path on the way.

    parent   (n,) int64   in/out
    """
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@helper
def union(parent, size, i, j):
    """Join the sets of i and j; return the root of the joined set.

    parent, size   (n,) int64   in/out
    """
    i = find(parent, i)
    j = find(parent, j)
    if i == j:
        return i
    if size[i] < size[j]:
        i, j = j, i
    parent[j] = i
    size[i] += size[j]
    return i


@jit
def components(pairs, n, component):
    """Number the connected components of a graph in the order of their first vertex.

    pairs       (m, 2) int64   in    edges
    n                  int     in    number of vertices
    component   (n,)   int64   out   component of each vertex

    Returns the number of components.
    """
    # Filled here: each numpy function adds as much to the first call as a kernel of ours.
    parent = np.empty(n, np.int64)
    size = np.empty(n, np.int64)
    for i in range(n):
        parent[i] = i
        size[i] = 1
        component[i] = -1
    for e in range(len(pairs)):
        union(parent, size, pairs[e, 0], pairs[e, 1])
    n_components = 0
    for i in range(n):
        # The root is numbered when its first member is met, and read for the others.
        root = find(parent, i)
        if component[root] < 0:
            component[root] = n_components
            n_components += 1
        component[i] = component[root]
    return n_components


@jit
def keep_consistent(pairs, sign, order, n, kept):
    """Take statements one by one, skipping each that contradicts those taken before.

    pairs   (m, 2) int64   in    samples, in 0..n-1
    sign    (m,)   int8    in    +1 together, -1 apart
    order   (m,)   int64   in    visiting order
    kept    (m,)   bool    out

    A must-link is skipped when its two sets are already apart, a cannot-link when its ends are
    already together. Each set keeps a linked list of the cannot-links that touch it; joining two
    sets concatenates their lists, and testing a must-link walks the shorter one.
    """
    parent = np.empty(n, np.int64)
    size = np.empty(n, np.int64)
    # Each cannot-link m has two list cells: 2m in the list of its first end, 2m + 1 in the other.
    first = np.empty(n, np.int64)
    last = np.empty(n, np.int64)
    length = np.empty(n, np.int64)
    following = np.empty(2 * len(pairs), np.int64)
    for i in range(n):
        parent[i] = i
        size[i] = 1
        first[i] = -1
        last[i] = -1
        length[i] = 0
    for cell in range(len(following)):
        following[cell] = -1
    for m in order:
        i = find(parent, pairs[m, 0])
        j = find(parent, pairs[m, 1])
        if sign[m] < 0:
            kept[m] = i != j
            if i == j:
                continue
            for side in range(2):
                cell = 2 * m + side
                root = i if side == 0 else j
                if first[root] < 0:
                    first[root] = cell
                else:
                    following[last[root]] = cell
                last[root] = cell
                length[root] += 1
            continue
        kept[m] = True
        if i == j:
            continue
        short, other = (i, j) if length[i] <= length[j] else (j, i)
        cell = first[short]
        while cell >= 0:
            far_end = pairs[cell // 2, 1 - cell % 2]
            if find(parent, far_end) == other:
                kept[m] = False
                break
            cell = following[cell]
        if not kept[m]:
            continue
        root = union(parent, size, i, j)
        gone = j if root == i else i
        if first[gone] >= 0:
            if first[root] < 0:
                first[root] = first[gone]
            else:
                following[last[root]] = first[gone]
            last[root] = last[gone]
            length[root] += length[gone]
