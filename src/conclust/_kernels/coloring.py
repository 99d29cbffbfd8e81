"""Exact questions about small graphs: cores, cliques, odd cycles, colourings.

Clusters that hold no cannot-link are a colouring of the cannot-link graph, so these searches say
whether a hard assignment into k clusters exists, and name a reason when it does not. Every graph
is CSR (`indptr`, `indices`), symmetric, without loops; `alive` masks the vertices to look at.
"""

import numpy as np

from conclust._kernels._jit import helper, inlined, jit

# Outcomes of a budgeted search.
NONE = 0  # searched to the end: there is none
FOUND = 1
UNKNOWN = 2  # the budget ran out

FREE = -1  # no colour yet

# Edge visits spent on looking for a shorter odd cycle once one is known.
CYCLE_BUDGET = 20_000_000


@jit
def core(indptr, indices, k, alive):
    """Shrink `alive` to its k-core: what is left when vertices of degree < k keep being removed.

    indptr, indices       int64   in       CSR of the graph
    k                     int     in       least degree inside the core
    alive         (n,)    bool    in/out   vertices to look at; on return, those of the core

    Returns the removed vertices in the order of removal, (n_removed,) int64. Each had fewer than
    k neighbours left when it went, so whatever colours the core takes, the others can be coloured
    in the reverse order with k colours: only the core decides whether a colouring exists.
    """
    n = len(indptr) - 1
    degree = np.empty(n, np.int64)
    removed = np.empty(n, np.int64)
    n_removed = 0
    for v in range(n):
        degree[v] = _degree(indptr, indices, v, alive)
    for v in range(n):
        if alive[v] and degree[v] < k:
            alive[v] = False
            removed[n_removed] = v
            n_removed += 1
    at = 0
    while at < n_removed:
        for e in range(indptr[removed[at]], indptr[removed[at] + 1]):
            v = indices[e]
            if not alive[v]:
                continue
            degree[v] -= 1
            if degree[v] < k:
                alive[v] = False
                removed[n_removed] = v
                n_removed += 1
        at += 1
    return removed[:n_removed]


@jit
def two_color(indptr, indices, component, side, odd):
    """Number the connected components and colour each with two colours.

    indptr, indices       int64   in    CSR of the graph
    component     (n,)    int64   out   component of each vertex, in order of its first vertex
    side          (n,)    int64   out   0 or 1, the parity of the distance from the first vertex
    odd           (n,)    bool    out   odd[c]: component c has an odd cycle, `side` is no colouring

    Returns the number of components. A connected graph has two 2-colourings or none: `side` and
    its reverse are all there are.
    """
    n = len(indptr) - 1
    component[:] = -1
    queue = np.empty(n, np.int64)
    n_components = 0
    for root in range(n):
        if component[root] >= 0:
            continue
        component[root], side[root] = n_components, 0
        odd[n_components] = False
        queue[0] = root
        start, stop = 0, 1
        while start < stop:
            v = queue[start]
            start += 1
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if component[w] < 0:
                    component[w], side[w] = n_components, 1 - side[v]
                    queue[stop] = w
                    stop += 1
                elif side[w] == side[v]:
                    odd[n_components] = True
        n_components += 1
    return n_components


@jit
def odd_cycle(indptr, indices, alive, cycle):
    """Find an odd cycle, the shortest where that is cheap.

    indptr, indices       int64   in    CSR of the graph
    alive         (n,)    bool    in    vertices to look at
    cycle         (n,)    int64   out   the vertices of the cycle, in order

    Returns the length of the cycle, 0 when the graph is 2-colourable. Breadth-first from every
    root, an edge inside a level at depth t closes an odd walk of 2t + 1 edges, and a shortest odd
    cycle is met so from any of its own vertices. Every root is tried until the budget is spent.
    """
    n = len(indptr) - 1
    seen = np.full(n, -1, np.int64)  # the root whose search reached the vertex last
    settled = np.zeros(n, np.bool_)  # in a component known to be 2-colourable
    depth = np.empty(n, np.int64)
    parent = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    length = 0
    spent = 0
    for root in range(n):
        if not alive[root] or settled[root]:
            continue
        if length == 3 or (length > 0 and spent > CYCLE_BUDGET):
            break
        seen[root], depth[root], parent[root] = root, 0, -1
        queue[0] = root
        start, stop = 0, 1
        closed = False
        while start < stop and not closed:
            v = queue[start]
            start += 1
            # A cycle through this level or a later one has at least 2 depth + 1 vertices.
            if length > 0 and 2 * depth[v] + 1 >= length:
                closed = True
                break
            spent += indptr[v + 1] - indptr[v]
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                if not alive[w]:
                    continue
                if seen[w] != root:
                    seen[w], depth[w], parent[w] = root, depth[v] + 1, v
                    queue[stop] = w
                    stop += 1
                elif depth[w] == depth[v]:
                    length = _close_cycle(v, w, parent, cycle)
                    closed = True
                    break
        if not closed:
            for q in range(stop):
                settled[queue[q]] = True
    return length


@helper
def _close_cycle(v, w, parent, cycle):
    """Write the tree path from v over the meeting point to w; return its number of vertices."""
    n_left = 0
    a, b = v, w
    while a != b:  # same depth, so both sides meet after the same number of steps
        cycle[n_left] = a
        n_left += 1
        a, b = parent[a], parent[b]
    cycle[n_left] = a
    b = w
    for step in range(n_left):
        cycle[2 * n_left - step] = b
        b = parent[b]
    return 2 * n_left + 1


@jit
def find_clique(indptr, indices, alive, size, budget, members):
    """Look for `size` vertices that are all neighbours of each other.

    indptr, indices           int64   in    CSR of the graph, indices sorted in each row
    alive             (n,)    bool    in    vertices to look at
    size                      int     in    vertices wanted
    budget                    int     in    most candidates to try
    members   (>= size,)      int64   out   the clique, where one is found

    Returns FOUND, NONE (there is no such clique) or UNKNOWN (budget spent).

    A clique lies in the (size - 1)-core, and its vertex that comes first in a degeneracy order
    has all the others among its later neighbours. Roots are taken from the innermost, and
    candidates by how many other candidates they know, so that a plain clique is met at once.
    """
    n = len(indptr) - 1
    if size <= 0:
        return FOUND
    inside = alive.copy()
    core(indptr, indices, size - 1, inside)
    order = _degeneracy_order(indptr, indices, inside)
    rank = np.full(n, -1, np.int64)
    for at in range(len(order)):
        rank[order[at]] = at
    widest = 0
    for v in order:
        widest = max(widest, _count_later(indptr, indices, rank, v))
    # Level d lists the candidates that know all of members[:d], most promising first.
    candidates = np.empty((size + 1, widest + 1), np.int64)
    n_candidates = np.zeros(size + 1, np.int64)
    following = np.zeros(size + 1, np.int64)
    known = np.empty(widest + 1, np.int64)
    spent = 0
    for at in range(len(order) - 1, -1, -1):
        root = order[at]
        n_level = 0
        for e in range(indptr[root], indptr[root + 1]):
            if rank[indices[e]] > at:
                candidates[1, n_level] = indices[e]
                n_level += 1
        members[0] = root
        if size == 1:
            return FOUND
        n_candidates[1] = _sift(indptr, indices, candidates[1], n_level, size - 2, known)
        following[1] = 0
        depth = 1
        while depth > 0:
            missing = size - depth
            if n_candidates[depth] - following[depth] < missing:
                depth -= 1
                continue
            spent += 1
            if spent > budget:
                return UNKNOWN
            v = candidates[depth, following[depth]]
            following[depth] += 1
            members[depth] = v
            if missing == 1:
                return FOUND
            n_level = 0
            for c in range(following[depth], n_candidates[depth]):
                if linked(indptr, indices, v, candidates[depth, c]):
                    candidates[depth + 1, n_level] = candidates[depth, c]
                    n_level += 1
            depth += 1
            n_candidates[depth] = _sift(
                indptr, indices, candidates[depth], n_level, missing - 2, known
            )
            following[depth] = 0
    return NONE


@helper
def _sift(indptr, indices, candidates, n_candidates, least, known):
    """Drop candidates that know fewer than `least` others; sort the rest, best known first."""
    for a in range(n_candidates):
        known[a] = 0
    for a in range(n_candidates):
        for b in range(a):
            if linked(indptr, indices, candidates[a], candidates[b]):
                known[a] += 1
                known[b] += 1
    n_kept = 0
    for a in range(n_candidates):
        vertex, count = candidates[a], known[a]
        if count < least:
            continue
        at = n_kept
        while at > 0 and known[at - 1] < count:
            known[at], candidates[at] = known[at - 1], candidates[at - 1]
            at -= 1
        known[at], candidates[at] = count, vertex
        n_kept += 1
    return n_kept


@jit
def linked(indptr, indices, u, v):
    """Say whether u and v are neighbours, by bisection in the sorted row of u."""
    low, high = indptr[u], indptr[u + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low < indptr[u + 1] and indices[low] == v


@inlined
def _degree(indptr, indices, v, alive):
    degree = 0
    for e in range(indptr[v], indptr[v + 1]):
        if alive[indices[e]]:
            degree += 1
    return degree


@helper
def _count_later(indptr, indices, rank, v):
    later = 0
    for e in range(indptr[v], indptr[v + 1]):
        if rank[indices[e]] > rank[v]:
            later += 1
    return later


@helper
def _degeneracy_order(indptr, indices, alive):
    """Order the vertices by always removing one of least degree; buckets, O(n + m)."""
    n = len(indptr) - 1
    degree = np.zeros(n, np.int64)
    left = alive.copy()
    n_left = 0
    top = 0
    for v in range(n):
        if alive[v]:
            degree[v] = _degree(indptr, indices, v, alive)
            top = max(top, degree[v])
            n_left += 1
    # Each bucket is a doubly linked list of the vertices of one degree.
    head = np.full(top + 1, -1, np.int64)
    after = np.full(n, -1, np.int64)
    before = np.full(n, -1, np.int64)
    for v in range(n - 1, -1, -1):
        if alive[v]:
            _link(head, after, before, degree[v], v)
    order = np.empty(n_left, np.int64)
    low = 0
    for at in range(n_left):
        while head[low] < 0:
            low += 1
        v = head[low]
        _unlink(head, after, before, low, v)
        left[v] = False
        order[at] = v
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if left[w]:
                _unlink(head, after, before, degree[w], w)
                degree[w] -= 1
                _link(head, after, before, degree[w], w)
        low = max(low - 1, 0)
    return order


@helper
def _link(head, after, before, bucket, v):
    after[v], before[v] = head[bucket], -1
    if head[bucket] >= 0:
        before[head[bucket]] = v
    head[bucket] = v


@helper
def _unlink(head, after, before, bucket, v):
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        head[bucket] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]


@jit
def color(indptr, indices, alive, n_colors, budget, colors):
    """Colour the graph so that no two neighbours share a colour: DSATUR with backtracking.

    indptr, indices         int64   in    CSR of the graph, indices sorted in each row
    alive           (n,)    bool    in    vertices to look at, best one connected component
    n_colours               int     in    colours allowed
    budget                  int     in    most colours to try on a vertex
    colours         (n,)    int64   out   0..n_colours-1, FREE where not alive or not FOUND

    Returns FOUND, NONE (no colouring exists) or UNKNOWN (budget spent).

    Next comes the vertex whose neighbours show most colours, ties by degree, then by number.
    Colours are interchangeable, so a vertex tries those in use and a single new one, and a clique
    found greedily gets the first colours once and for all.
    """
    n = len(indptr) - 1
    colors[:] = FREE
    degree = np.zeros(n, np.int64)
    n_alive = 0
    for v in range(n):
        if alive[v]:
            degree[v] = _degree(indptr, indices, v, alive)
            n_alive += 1
    if n_alive == 0:
        return FOUND
    stack = np.empty(n_alive, np.int64)
    n_fixed = _greedy_clique(indptr, indices, alive, degree, stack)
    if n_fixed > n_colors:
        return NONE
    used = np.zeros(n_alive + 1, np.int64)  # colours in use below each level of the stack
    shown = np.zeros((n, n_colors), np.int32)  # neighbours of each vertex, by colour
    saturation = np.zeros(n, np.int64)  # colours shown at least once
    # The vertices without colour, in one doubly linked list for each saturation.
    head = np.full(n_colors + 1, -1, np.int64)
    after = np.full(n, -1, np.int64)
    before = np.full(n, -1, np.int64)
    for v in range(n):
        if alive[v]:
            _link(head, after, before, 0, v)
    for depth in range(n_fixed):
        v = stack[depth]
        _unlink(head, after, before, saturation[v], v)
        colors[v] = depth
        _show(indptr, indices, alive, v, 1, colors, shown, saturation, head, after, before)
        used[depth + 1] = depth + 1
    depth = n_fixed
    if depth < n_alive:
        stack[depth] = _most_saturated(head, after, degree)
    spent = 0
    while depth < n_alive:
        v = stack[depth]
        # On the way back v still wears the colour that failed: take it off, try the next.
        tried = colors[v]
        if tried == FREE:
            _unlink(head, after, before, saturation[v], v)
        else:
            _show(indptr, indices, alive, v, -1, colors, shown, saturation, head, after, before)
        chosen = FREE
        for c in range(tried + 1, min(used[depth] + 1, n_colors)):
            if shown[v, c] == 0:
                chosen = c
                break
        colors[v] = chosen
        if chosen == FREE:
            _link(head, after, before, saturation[v], v)
            if depth == n_fixed:
                colors[:] = FREE
                return NONE
            depth -= 1
            continue
        spent += 1
        if spent > budget:
            colors[:] = FREE
            return UNKNOWN
        _show(indptr, indices, alive, v, 1, colors, shown, saturation, head, after, before)
        used[depth + 1] = max(used[depth], chosen + 1)
        depth += 1
        if depth < n_alive:
            stack[depth] = _most_saturated(head, after, degree)
    return FOUND


@helper
def _show(indptr, indices, alive, v, step, colors, shown, saturation, head, after, before):
    """Tell the neighbours of v that its colour came (step = 1) or goes (step = -1)."""
    c = colors[v]
    for e in range(indptr[v], indptr[v + 1]):
        w = indices[e]
        shown[w, c] += step
        if not alive[w] or shown[w, c] != max(step, 0):
            continue  # others show this colour too
        if colors[w] == FREE:
            _unlink(head, after, before, saturation[w], w)
            _link(head, after, before, saturation[w] + step, w)
        saturation[w] += step


@helper
def _most_saturated(head, after, degree):
    """Return the vertex of largest degree, then lowest number, in the last list with any."""
    top = len(head) - 1
    while head[top] < 0:
        top -= 1
    best = head[top]
    v = after[best]
    while v >= 0:
        if degree[v] > degree[best] or (degree[v] == degree[best] and v < best):
            best = v
        v = after[v]
    return best


@helper
def _greedy_clique(indptr, indices, alive, degree, members):
    """Write a maximal clique: the vertex of largest degree, then always the largest that fits."""
    top = -1
    for v in range(len(alive)):
        if alive[v] and (top < 0 or degree[v] > degree[top]):
            top = v
    members[0] = top
    n_members = 1
    while True:
        best = -1
        for e in range(indptr[top], indptr[top + 1]):
            w = indices[e]
            if not alive[w] or (best >= 0 and degree[w] <= degree[best]):
                continue
            fits = True
            for m in range(n_members):
                if not linked(indptr, indices, members[m], w):
                    fits = False
                    break
            if fits:
                best = w
        if best < 0:
            return n_members
        members[n_members] = best
        n_members += 1
