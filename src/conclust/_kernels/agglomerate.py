"""Agglomerative clustering under triplets and cannot-links, on plain arrays.

The generic algorithm of Müllner (2011): every cluster remembers a few nearest clusters of a higher
number that are not known to be refused, with distances that are exact or too small. The smallest
is looked up; if it is out of date, or the triplets turn out to refuse the pair, the next one takes
its place, or its row is searched again when there is none; otherwise the two merge. A refused pair
stays refused as long as both clusters stay as they are, so the remembered distances remain lower
bounds. It stays refused even when they grow, until one of them takes in a sample that the refusal
names, the witness; so a new cluster inherits what its two parts were refused.
"""

import numpy as np

from conclust._kernels import live_tree
from conclust._kernels._jit import jit
from conclust._kernels.disjoint_set import find

CENTROID, WARD, AVERAGE, COMPLETE, SINGLE = range(5)

may_merge, merge_leaves, stamp = live_tree.may_merge, live_tree.merge, live_tree.stamp
surely_not, mark_open = live_tree.surely_not, live_tree.mark_open
OPEN, N_STAMPS = live_tree.OPEN, live_tree.N_STAMPS

MANY = 32
N_NEAREST = 6  # remembered by each cluster
FIRST_LIST = 1024
pair_key, slot_of, refuse = live_tree.pair_key, live_tree.slot_of, live_tree.refuse
roomy = live_tree.roomy
LIVE, WITNESS = live_tree.LIVE, live_tree.WITNESS


@jit
def distances_from(points, square, linkage, size, slots, column, s, start, stop, out):
    """Distances of cluster s to those in columns start, …, stop - 1; squared for centroid, ward.

    points   (d, n) float64   in    centres, one column each; unused with `square`
    square   (n, n) float64   in    distances between clusters, or (0, 0)
    slots    (n,)   int64     in    the cluster in each column
    column   (n,)   int64     in    the column of each cluster
    """
    if len(square):
        for k in range(start, stop):
            out[k] = square[s, slots[k]]
        return
    # Feature by feature over contiguous columns: the compiler can use vector instructions.
    out[start:stop] = 0.0
    for f in range(len(points)):
        x = points[f, column[s]]
        centres = points[f]
        for k in range(start, stop):
            gap = centres[k] - x
            out[k] += gap * gap
    if linkage == WARD:
        for k in range(start, stop):
            out[k] *= 2.0 * size[s] * size[slots[k]] / (size[s] + size[slots[k]])


@jit
def distance_between(points, square, linkage, size, column, x, y):
    if len(square):
        return square[x, y]
    total = 0.0
    for f in range(len(points)):
        gap = points[f, column[x]] - points[f, column[y]]
        total += gap * gap
    if linkage == WARD:
        total *= 2.0 * size[x] * size[y] / (size[x] + size[y])
    return total


@jit
def close_up(points, slots, column, alive, n_columns):
    """Drop the columns of clusters that are gone; return how many are left."""
    n_kept = 0
    for k in range(n_columns):
        s = slots[k]
        if alive[s]:
            slots[n_kept] = s
            n_kept += 1
    for f in range(len(points)):
        for k in range(n_kept):
            points[f, k] = points[f, column[slots[k]]]
    for k in range(n_kept):
        column[slots[k]] = k
    return n_kept


@jit
def join(points, square, linkage, size, alive, column, x, y):
    """Put cluster x into cluster y: centres, or the update of Lance and Williams."""
    nx, ny = size[x], size[y]
    alive[x] = False
    if not len(square):
        for f in range(len(points)):
            at = column[y]
            points[f, at] += (points[f, column[x]] - points[f, at]) * (nx / (nx + ny))
        size[y] = nx + ny
        return
    between = square[x, y]
    for k in range(len(alive)):
        if not alive[k] or k == y:
            continue
        dx, dy = square[x, k], square[y, k]
        if linkage == SINGLE:
            d = min(dx, dy)
        elif linkage == COMPLETE:
            d = max(dx, dy)
        elif linkage == AVERAGE:
            d = (nx * dx + ny * dy) / (nx + ny)
        elif linkage == CENTROID:
            d = (nx * dx + ny * dy) / (nx + ny) - nx * ny * between / (nx + ny) ** 2
            d = max(d, 0.0)
        else:
            nk = size[k]
            d = ((nx + nk) * dx + (ny + nk) * dy - nk * between) / (nx + ny + nk)
            d = max(d, 0.0)
        square[y, k] = d
        square[k, y] = d
    size[y] = nx + ny


@jit
def add_prices(links, link_weight, link_head, home, s, sign, out):
    """Add (sign +1) or take back (sign -1) the prices of the cannot-links of cluster s."""
    cell = link_head[s, 0]
    while cell >= 0:
        j = find(home, links[cell >> 1, 1 - (cell & 1)])
        if j != s:
            out[j] = out[j] + link_weight[cell >> 1] if sign > 0 else 0.0
        cell = links[cell >> 1, 2 + (cell & 1)]


@jit
def join_links(links, link_head, x, y):
    """Append the cannot-links of cluster x to those of y."""
    if link_head[x, 0] < 0:
        return
    if link_head[y, 0] < 0:
        link_head[y, 0] = link_head[x, 0]
    else:
        last = link_head[y, 1]
        links[last >> 1, 2 + (last & 1)] = link_head[x, 0]
    link_head[y, 1] = link_head[x, 1]


@jit
def allowed(leaf_of, sample_of, no, no_head, node, leaf, row, free, clock, work, refused, s, j):
    """Whether the triplets let clusters s (stamped) and j merge; free clusters always may."""
    x, y = leaf_of[s], leaf_of[j]
    if x < 0 or y < 0 or leaf[x, LIVE] == 0 or leaf[y, LIVE] == 0:
        return True
    if may_merge(node, leaf, row, free, clock, work, refused, x, y):
        return True
    if clock[WITNESS] >= 0:
        witness = sample_of[clock[WITNESS]]
        refuse(refused, clock, pair_key(s, j), witness)
        note(no, no_head, s, j, witness)
        note(no, no_head, j, s, witness)
    return False


@jit
def note(no, no_head, s, j, witness):
    """List j among those refused to s; entry 0 of `no` counts them."""
    no[0, 0] += 1
    entry = no[0, 0]
    no[entry, 0], no[entry, 1], no[entry, 2] = j, witness, no_head[s]
    no_head[s] = entry


@jit
def inherit(no, no_head, home, refused, clock, x, y):
    """What cluster x was refused is refused to y, which it has joined."""
    entry = no_head[x]
    no_head[x] = -1
    while entry >= 0:
        after = no[entry, 2]
        z, witness = find(home, no[entry, 0]), no[entry, 1]
        if z != y and is_outside(home, witness, y, z):
            key = pair_key(y, z)
            if not still_refused(refused, home, key, y, z):
                refuse(refused, clock, key, witness)
                no[entry, 2] = no_head[y]
                no_head[y] = entry
        entry = after


@jit
def is_outside(home, witness, x, y):
    """Whether a witness is in neither of the clusters x and y, which are then still refused.

    A witness is a sample, and `home` knows where it is now: a leaf of the live tree would not do,
    because clusters that no triplet names any more merge without the tree being told.
    """
    now_in = find(home, witness)
    return now_in not in (x, y)


@jit
def still_refused(refused, home, key, x, y):
    at = slot_of(refused, key)
    return refused[at, 0] == key and is_outside(home, refused[at, 1], x, y)


@jit
def offer(best, nearest, count, bound, at, d, to, ident):
    """Enter a cluster into the list of cluster `at`, if it is among the nearest.

    best      (n, N_NEAREST) float64    in/out   distances, smallest first, ties by number
    nearest   (n, N_NEAREST, 2) int64   in/out   clusters and their identity at the time
    count     (n,) int64                in/out   length of each list
    bound     (n,) float64              in/out   no cluster left out is nearer; infinite: none is

    The first one is displaced by what is strictly nearer only.
    """
    p = count[at]
    while p > 0 and (
        d < best[at, p - 1] or (p > 1 and d == best[at, p - 1] and to < nearest[at, p - 1, 0])
    ):
        p -= 1
    if p == count[at] and (p == N_NEAREST or bound[at] < np.inf):
        bound[at] = min(bound[at], best[at, p - 1])
        return
    if count[at] < N_NEAREST:
        count[at] += 1
    else:
        bound[at] = best[at, N_NEAREST - 2] if p < N_NEAREST - 1 else d
    last = count[at] - 1
    while last > p:
        best[at, last] = best[at, last - 1]
        nearest[at, last] = nearest[at, last - 1]
        last -= 1
    best[at, p], nearest[at, p, 0], nearest[at, p, 1] = d, to, ident
    # One that was the first goes where it belongs among equals.
    q = 1
    while p == 0 and q + 1 < count[at] and best[at, q] == best[at, q + 1]:
        if nearest[at, q, 0] > nearest[at, q + 1, 0]:
            for side in range(2):
                v, w = nearest[at, q, side], nearest[at, q + 1, side]
                nearest[at, q, side], nearest[at, q + 1, side] = w, v
        q += 1


@jit
def drop_first(best, nearest, count, at):
    for p in range(1, count[at]):
        best[at, p - 1] = best[at, p]
        nearest[at, p - 1] = nearest[at, p]
    count[at] -= 1


@jit
def search(
    distance,
    slots,
    start,
    stop,
    s,
    alive,
    ident,
    home,
    leaf_of,
    n_no,
    node,
    leaf,
    row,
    free,
    clock,
    work,
    refused,
    lowest,
    best,
    nearest,
    count,
    bound,
):
    """List the nearest clusters after s that are not known to be refused; tell those before of s.

    distance   (n,) float64   in       of cluster s to those in columns start, …, stop - 1
    lowest     (n,) float64   in/out   the first distance in each list
    best … bound              in/out   what each cluster remembers, see `offer`

    After MANY refusals in a row of questions about s, all are answered at once.
    """
    lowest[s], bound[s], count[s] = np.inf, np.inf, 0
    constrained = leaf_of[s] >= 0 and leaf[leaf_of[s], LIVE] > 0
    if constrained:
        stamp(node, leaf, clock, leaf_of[s])
    now = clock[N_STAMPS]
    n_refusals = 0
    for k in range(start, stop):
        j = slots[k]
        after = j > s
        if distance[k] > bound[s if after else j] or not alive[j] or j == s:
            continue
        if constrained and leaf_of[j] >= 0 and leaf[leaf_of[j], LIVE] > 0:
            if n_refusals >= MANY:
                if leaf[leaf_of[j], OPEN] != now:
                    continue
            elif surely_not(node, leaf, row, free, clock, work, refused, leaf_of[s], leaf_of[j]):
                n_refusals += 1
                if n_refusals == MANY:
                    mark_open(node, leaf, row, free, clock, work, refused, leaf_of[s])
                continue
            if n_no[s] > 0 and n_no[j] > 0:
                key = pair_key(s, j)
                if still_refused(refused, home, key, s, j):
                    continue
        at, to = (s, j) if after else (j, s)
        offer(best, nearest, count, bound, at, distance[k], to, ident[to])
        lowest[at] = best[at, 0]


@jit
def agglomerate(
    points,
    square,
    linkage,
    forced,
    leaf_of,
    sample_of,
    node,
    leaf,
    row,
    free,
    clock,
    work,
    refused,
    links,
    link_weight,
    link_head,
    children,
    heights,
    broken,
):
    """Merge the closest allowed clusters until one is left.

    points        (d, n) float64   in/out   centres in columns; not read with `square`
    square        (n, n) float64   in/out   distances, instead of centres; (0, 0) with centres
    linkage              int       in
    forced        (f, 2) int64     in       samples whose clusters are merged first, in this order
    leaf_of       (n,)   int64     in/out   leaf of the live tree for each cluster, -1 for none
    sample_of     (l,)   int64     in       a sample of each leaf at the start
    node … refused                 in/out   the live tree, see :mod:`conclust._kernels.live_tree`
    links         (c, 4) int64     in/out   cannot-links: two clusters, and the next link of each
    link_weight   (c,)   float64   in       prices, each above any distance
    link_head     (n, 2) int64     in/out   first and last link of each cluster
    children      (n-1, 2) int64   out      as scipy numbers them
    heights       (n-1,) float64   out      distances at the merges
    broken        (n-1,) float64   out      price of the cannot-links that each merge breaks

    Returns the number of merges: n - 1, fewer only when the triplets are inconsistent.
    """
    n = len(leaf_of)
    size = np.ones(n)
    alive = np.ones(n, np.bool_)
    ident = np.arange(n)
    home = np.arange(n)
    no = np.zeros((FIRST_LIST, 3), np.int64)
    no_head = np.full(n, -1, np.int64)
    n_no = np.zeros(n, np.int64)
    lowest = np.full(n, np.inf)
    best = np.empty((n, N_NEAREST))
    nearest = np.full((n, N_NEAREST, 2), -1, np.int64)
    count = np.zeros(n, np.int64)
    bound = np.full(n, -1.0)
    distance = np.empty(n)
    slots, column, n_columns = np.arange(n), np.arange(n), n
    price = np.zeros(n)
    n_done = 0
    while n_done < n - 1:
        looked_at = -1
        refused = roomy(refused, clock, alive, 2)
        if no[0, 0] + 3 > len(no):
            no = np.concatenate((no, np.empty_like(no)))
        if n_done < len(forced):
            x, y = find(home, forced[n_done, 0]), find(home, forced[n_done, 1])
            x, y = min(x, y), max(x, y)
        else:
            if n_done == len(forced) and lowest.min() == np.inf:
                for s in range(n - 1):
                    lowest[s] = -1.0 if alive[s] else np.inf
            x = np.argmin(lowest)
            if lowest[x] == np.inf:
                return n_done
            y = nearest[x, 0, 0] if count[x] > 0 else -1
            fits = y >= 0 and alive[y] and ident[y] == nearest[x, 0, 1]
            if fits:
                if leaf_of[x] >= 0:
                    stamp(node, leaf, clock, leaf_of[x])
                fits = allowed(
                    leaf_of,
                    sample_of,
                    no,
                    no_head,
                    node,
                    leaf,
                    row,
                    free,
                    clock,
                    work,
                    refused,
                    x,
                    y,
                )
                if not fits:
                    n_no[x] += 1
                    n_no[y] += 1
            if not fits:
                if count[x] > 1:
                    drop_first(best, nearest, count, x)
                    lowest[x] = best[x, 0]
                    continue
                y = -1
                looked_at = int(x)
        if looked_at < 0:
            d = distance_between(points, square, linkage, size, column, x, y)
            heights[n_done] = np.sqrt(d) if linkage in (CENTROID, WARD) else d
            children[n_done, 0] = min(ident[x], ident[y])
            children[n_done, 1] = max(ident[x], ident[y])
            if link_head[x, 0] >= 0:
                add_prices(links, link_weight, link_head, home, x, 1, price)
                broken[n_done] = price[y]
                add_prices(links, link_weight, link_head, home, x, -1, price)
            join(points, square, linkage, size, alive, column, x, y)
            home[x] = y
            join_links(links, link_head, x, y)
            ident[y] = n + n_done
            a, b = leaf_of[x], leaf_of[y]
            if a >= 0 and b >= 0 and leaf[a, LIVE] > 0 and leaf[b, LIVE] > 0:
                leaf_of[y] = merge_leaves(node, leaf, row, free, clock, work, a, b)
            elif a >= 0 and leaf[a, LIVE] > 0:
                leaf_of[y] = a
            refused = roomy(refused, clock, alive, n_no[x])
            inherit(no, no_head, home, refused, clock, x, y)
            n_no[y] += n_no[x]
            lowest[x] = np.inf
            n_done += 1
            if n_done <= len(forced):
                continue
            looked_at = y
        # A row that is out of date is searched again. A new cluster may also be nearer to earlier
        # ones than what they had.
        s = looked_at
        if 4 * (n - n_done) < 3 * n_columns:
            n_columns = close_up(points, slots, column, alive, n_columns)
        start = 0 if s == y else column[s] + 1
        distances_from(points, square, linkage, size, slots, column, s, start, n_columns, distance)
        if link_head[s, 0] >= 0:
            add_prices(links, link_weight, link_head, home, s, 1, price)
            for k in range(start, n_columns):
                distance[k] += price[slots[k]]
            add_prices(links, link_weight, link_head, home, s, -1, price)
        search(
            distance,
            slots,
            start,
            n_columns,
            s,
            alive,
            ident,
            home,
            leaf_of,
            n_no,
            node,
            leaf,
            row,
            free,
            clock,
            work,
            refused,
            lowest,
            best,
            nearest,
            count,
            bound,
        )
    return n_done
