"""Agglomerative clustering under triplets and cannot-links, on plain arrays.

The generic algorithm of Müllner (2011): every cluster remembers a few nearest clusters of a higher
number that are not known to be refused, with distances that are exact or too small. The smallest
is looked up; if it is out of date, or the triplets turn out to refuse the pair, the next one takes
its place, or its row is searched again when there is none; otherwise the two merge. A refused pair
stays refused as long as both clusters stay as they are, so the remembered distances remain lower
bounds. It stays refused even when they grow, until one of them takes in a sample that the refusal
names, the witness; so a new cluster inherits what its two parts were refused.

What a call does not need is given as None, and is not compiled then: the matrix of distances or the
centres, the live tree without triplets, the prices without cannot-links.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._kernels._jit import helper, jit
from conclust._kernels._short import short
from conclust._kernels.live_lists import LIVE, N_REFUSED, N_STAMPS, OPEN, WITNESS, LiveTree, root_of
from conclust._kernels.live_tree import (
    mark_open,
    may_merge,
    merge,
    refuse,
    rehash,
    slot_of,
    stamp,
    surely_not,
)

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

CENTROID, WARD, AVERAGE, COMPLETE, SINGLE = range(5)

# Columns of `table`.
HOME, ALIVE, IDENT, LEAF, COLUMN, COUNT, NO_HEAD, N_NO = range(8)

# Entries of `tally`.
N_DONE, N_COLUMNS, N_NOTES, N_WANTED, N_LEFT = range(5)

# Remembered by each cluster. More would be searched for less often and kept up to date more often.
N_NEAREST = 6

# So many clusters refused at a glance in one search, and all the others are answered at once from
# the top of the tree: that costs one walk through what is left open there, about as much as this.
MANY = 32

# Refusals there is room for at first; doubled when it is full.
FIRST_LIST = 1024


class Clusters(NamedTuple):
    """What is known about n clusters; of two that merge the higher number lives on."""

    table: IntArray  # (n, 8)       where each is now, whether it lives, its number in the
    #                               dendrogram, its leaf in the live tree (-1: none), its column,
    #                               the length of its list, its first refusal, how many it had
    size: FloatArray  # (n,)        samples
    lowest: FloatArray  # (n,)      the first distance in each list; infinite: nothing to merge
    bound: FloatArray  # (n,)       no cluster left out is nearer; infinite: none is left out
    best: FloatArray  # (n, 6)      distances of the nearest, smallest first, ties by number
    nearest: IntArray  # (n, 12)    their numbers and, from column 6 on, what they were then
    slots: IntArray  # (n,)         the cluster in each column
    distance: FloatArray  # (n,)    scratch: distances of one cluster to the columns
    price: FloatArray  # (n,)       scratch, zero: cannot-links of one cluster to the others
    no: IntArray  # (r, 3)          refusals: a cluster, the witness, the next in the list
    tally: IntArray  # (5,)         merges done, columns in use, refusals, room wanted, see N_LEFT


def new_clusters(leaf_of: IntArray) -> Clusters:
    """Every sample a cluster of its own, none searched yet.

    leaf_of   (n,) int64   leaf of the live tree for each sample, -1 for none
    """
    n = len(leaf_of)
    table = np.zeros((n, 8), dtype=np.int64)
    table[:, HOME] = table[:, IDENT] = table[:, COLUMN] = np.arange(n)
    table[:, ALIVE], table[:, LEAF], table[:, NO_HEAD] = 1, leaf_of, -1
    return Clusters(
        table,
        np.ones(n),
        np.full(n, np.inf),
        np.full(n, -1.0),
        np.empty((n, N_NEAREST)),
        np.full((n, 2 * N_NEAREST), -1),
        np.arange(n),
        np.empty(n),
        np.zeros(n),
        np.empty((FIRST_LIST, 3), dtype=np.int64),
        np.array([0, n, 0, 0, 0]),
    )


def with_room(clusters: Clusters, tree: LiveTree, n_more: int) -> tuple[Clusters, LiveTree]:
    """Make room for so many more refusals, where there is none."""
    n_refused = int(tree.clock[N_REFUSED]) + n_more
    if len(tree.refused) <= 2 * n_refused:
        size = len(tree.refused)
        while size < 4 * n_refused:
            size *= 2
        larger = np.full((size, 2), -1)
        alive = clusters.table[:, ALIVE] == 1
        short(rehash, len(tree.refused))(tree.refused, tree.clock, alive, larger)
        tree = tree._replace(refused=larger)
    if clusters.tally[N_NOTES] + 2 > len(clusters.no):
        clusters = clusters._replace(no=np.concatenate([clusters.no, np.empty_like(clusters.no)]))
    return clusters, tree


@helper
def distances_from(points, square, linkage, clusters, s, start, stop):
    """Distances of cluster s to those in columns start, …, stop - 1; squared for centroid, ward.

    points   (d, n) float64 or None   in    centres, one column each
    square   (n, n) float64 or None   in    distances between clusters
    """
    table, size, slots, out = clusters.table, clusters.size, clusters.slots, clusters.distance
    if square is not None:
        for k in range(start, stop):
            out[k] = square[s, slots[k]]
    if points is not None:
        at = table[s, COLUMN]
        for k in range(start, stop):
            out[k] = 0.0
        # Feature by feature over contiguous columns, so that the compiler can use vector
        # instructions; four features at a time, so that sums are read and written less often.
        n_features = len(points)
        in_fours = n_features - n_features % 4
        for f in range(0, in_fours, 4):
            x0, x1, x2, x3 = points[f, at], points[f + 1, at], points[f + 2, at], points[f + 3, at]
            for k in range(start, stop):
                gap0, gap1 = points[f, k] - x0, points[f + 1, k] - x1
                gap2, gap3 = points[f + 2, k] - x2, points[f + 3, k] - x3
                out[k] = out[k] + gap0 * gap0 + gap1 * gap1 + gap2 * gap2 + gap3 * gap3
        for f in range(in_fours, n_features):
            x = points[f, at]
            for k in range(start, stop):
                gap = points[f, k] - x
                out[k] += gap * gap
        if linkage == WARD:
            for k in range(start, stop):
                out[k] *= 2.0 * size[s] * size[slots[k]] / (size[s] + size[slots[k]])


@helper
def close_up(points, clusters):
    """Drop the columns of clusters that are gone."""
    table, slots, tally = clusters.table, clusters.slots, clusters.tally
    n_kept = 0
    for k in range(tally[N_COLUMNS]):
        s = slots[k]
        if table[s, ALIVE]:
            slots[n_kept] = s
            n_kept += 1
    if points is not None:
        for f in range(len(points)):
            for k in range(n_kept):
                points[f, k] = points[f, table[slots[k], COLUMN]]
    for k in range(n_kept):
        table[slots[k], COLUMN] = k
    tally[N_COLUMNS] = n_kept


@helper
def join(points, square, linkage, clusters, x, y):
    """Put cluster x into cluster y: centres, or the update of Lance and Williams."""
    table, size = clusters.table, clusters.size
    nx, ny = size[x], size[y]
    table[x, ALIVE] = 0
    table[x, HOME] = y
    size[y] = nx + ny
    if points is not None:
        at, share = table[y, COLUMN], nx / (nx + ny)
        for f in range(len(points)):
            points[f, at] += (points[f, table[x, COLUMN]] - points[f, at]) * share
    if square is not None:
        between = square[x, y]
        for k in range(len(size)):
            if table[k, ALIVE] == 0 or k == y:
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


@helper
def add_prices(links, clusters, s, sign):
    """Add (sign +1) or take back (sign -1) the prices of the cannot-links of cluster s."""
    table, price = clusters.table, clusters.price
    entry = links.head[s, 0]
    while entry >= 0:
        j = root_of(table, HOME, links.pairs[entry >> 1, 1 - (entry & 1)])
        if j != s:
            price[j] = price[j] + links.price[entry >> 1] if sign > 0 else 0.0
        entry = links.following[entry >> 1, entry & 1]


class Links(NamedTuple):
    """Cannot-links, as a list at each of their two ends."""

    pairs: IntArray  # (c, 2)   two clusters
    following: IntArray  # (c, 2)   the next end at each
    head: IntArray  # (n, 2)    first and last end at each cluster; ends of link e are 2 e, 2 e + 1
    price: FloatArray  # (c,)   above any distance


@helper
def is_live(leaf, i):
    """Whether leaf i (-1: none) is named by a live triplet; all others are free to merge."""
    return i >= 0 and leaf[i, LIVE] > 0


@helper
def still_refused(refused, table, x, y):
    """Whether x and y were refused for a reason that still holds.

    A witness is a sample, and HOME knows where it is now: a leaf of the live tree would not do,
    because clusters that no triplet names any more merge without the tree being told.
    """
    at = slot_of(refused, x, y)
    if at < 0:
        return False
    now_in = root_of(table, HOME, refused[at, 1])
    return now_in not in (x, y)


@helper
def note(tree, clusters, s, j, witness):
    """Remember that s and j are refused, in the table and in the list of each."""
    table, no, tally = clusters.table, clusters.no, clusters.tally
    refuse(tree.refused, tree.clock, s, j, witness)
    for _ in range(2):
        entry = tally[N_NOTES]
        tally[N_NOTES] += 1
        no[entry, 0], no[entry, 1], no[entry, 2] = j, witness, table[s, NO_HEAD]
        table[s, NO_HEAD] = entry
        s, j = j, s


@helper
def inherit(tree, clusters, x, y):
    """What cluster x was refused is refused to y, which it has joined."""
    table, no, refused = clusters.table, clusters.no, tree.refused
    entry = table[x, NO_HEAD]
    table[x, NO_HEAD] = -1
    while entry >= 0:
        after = no[entry, 2]
        z, witness = root_of(table, HOME, no[entry, 0]), no[entry, 1]
        now_in = root_of(table, HOME, witness)
        if z != y and now_in not in (y, z) and not still_refused(refused, table, y, z):
            refuse(refused, tree.clock, y, z, witness)
            no[entry, 2] = table[y, NO_HEAD]
            table[y, NO_HEAD] = entry
        entry = after
    table[y, N_NO] += table[x, N_NO]


@helper
def offer(table, best, nearest, bound, lowest, at, d, to):
    """Enter cluster `to` into the list of cluster `at`, if it is among the nearest.

    The first one is displaced by what is strictly nearer only.
    """
    count = table[at, COUNT]
    p = count
    while p > 0 and (
        d < best[at, p - 1] or (p > 1 and d == best[at, p - 1] and to < nearest[at, p - 1])
    ):
        p -= 1
    if p == count and (p == N_NEAREST or bound[at] < np.inf):
        if best[at, p - 1] < bound[at]:
            bound[at] = best[at, p - 1]
        return
    if count < N_NEAREST:
        count += 1
        table[at, COUNT] = count
    else:
        bound[at] = best[at, N_NEAREST - 2] if p < N_NEAREST - 1 else d
    last = count - 1
    while last > p:
        best[at, last] = best[at, last - 1]
        nearest[at, last] = nearest[at, last - 1]
        nearest[at, N_NEAREST + last] = nearest[at, N_NEAREST + last - 1]
        last -= 1
    best[at, p], nearest[at, p], nearest[at, N_NEAREST + p] = d, to, table[to, IDENT]
    # One that was the first goes where it belongs among equals.
    q = 1
    while p == 0 and q + 1 < count and best[at, q] == best[at, q + 1]:
        if nearest[at, q] > nearest[at, q + 1]:
            for k in (q, N_NEAREST + q):
                nearest[at, k], nearest[at, k + 1] = nearest[at, k + 1], nearest[at, k]
        q += 1
    lowest[at] = best[at, 0]


@helper
def search(clusters, tree, s, start):
    """List the nearest clusters after s that are not known to be refused; tell those before of s.

    Distances of s to the columns from `start` on are in `clusters.distance`.
    """
    # Taken out of the tuples once: in the loop each would be counted, in and out, every time.
    table, slots, distance = clusters.table, clusters.slots, clusters.distance
    best, nearest, bound, lowest = (
        clusters.best,
        clusters.nearest,
        clusters.bound,
        clusters.lowest,
    )
    lowest[s], bound[s], table[s, COUNT] = np.inf, np.inf, 0
    constrained, n_refusals = False, 0
    if tree is not None:
        node, leaf, refused = tree.node, tree.leaf, tree.refused
        constrained = is_live(leaf, table[s, LEAF])
        if constrained:
            stamp(tree, table[s, LEAF])
        now = tree.clock[N_STAMPS]
    for k in range(start, clusters.tally[N_COLUMNS]):
        j = slots[k]
        at, to = (s, j) if j > s else (j, s)
        if distance[k] > bound[at] or table[j, ALIVE] == 0 or j == s:
            continue
        if tree is not None and constrained and is_live(leaf, table[j, LEAF]):
            if n_refusals >= MANY:
                if leaf[table[j, LEAF], OPEN] != now:
                    continue
            elif surely_not(node, leaf, refused, now, table[j, LEAF]):
                n_refusals += 1
                if n_refusals == MANY:
                    mark_open(tree, table[s, LEAF])
                continue
            if table[s, N_NO] > 0 and table[j, N_NO] > 0 and still_refused(refused, table, s, j):
                continue
        offer(table, best, nearest, bound, lowest, at, distance[k], to)


@jit
def agglomerate(
    points,
    square,
    linkage,
    forced,
    clusters,
    tree,
    sample_of,
    links,
    children,
    heights,
    broken,
    stop,
):
    """Merge the closest allowed clusters until `stop` merges are done.

    points      (d, n) float64 or None   in/out   centres in columns
    square      (n, n) float64 or None   in/out   distances, instead of centres
    linkage              int             in
    forced      (f, 2)   int64           in       samples whose clusters merge first, in this order
    clusters    Clusters                 in/out
    tree        LiveTree or None         in/out   of the triplets
    sample_of   (l,)     int64           in       a sample of each leaf of the tree
    links       Links or None            in/out   cannot-links
    children    (n-1, 2) int64           out      as scipy numbers them
    heights     (n-1,)   float64         out      distances at the merges
    broken      (n-1,)   float64         out      price of the cannot-links that each merge breaks

    It ends early when `tally[N_LEFT]` distances, as many as the caller allows, have been looked at
    (none are left then); when the tables of refusals are too small (`tally[N_WANTED]` entries are
    wanted then); or when nothing may merge, which consistent triplets do not let happen.
    """
    table, lowest, distance = clusters.table, clusters.lowest, clusters.distance
    slots, nearest, best, tally = clusters.slots, clusters.nearest, clusters.best, clusters.tally
    n = len(lowest)
    n_done = tally[N_DONE]
    tally[N_WANTED] = 0
    while n_done < stop and tally[N_LEFT] > 0:
        if n_done < len(forced):
            x, y = root_of(table, HOME, forced[n_done, 0]), root_of(table, HOME, forced[n_done, 1])
            x, y = min(x, y), max(x, y)
            s = y
        else:
            x, least = 0, np.inf
            for k in range(n):
                if lowest[k] < least:
                    x, least = k, lowest[k]
            if least == np.inf:
                break
            if tree is not None:
                room = 2 + table[x, N_NO]
                if 2 * (tree.clock[N_REFUSED] + room) >= len(tree.refused) or tally[
                    N_NOTES
                ] + 2 > len(clusters.no):
                    tally[N_WANTED] = room
                    break
            y = nearest[x, 0]
            fits = (
                table[x, COUNT] > 0
                and table[y, ALIVE] == 1
                and table[y, IDENT] == nearest[x, N_NEAREST]
            )
            if tree is not None and fits:
                a, b = table[x, LEAF], table[y, LEAF]
                if is_live(tree.leaf, a) and is_live(tree.leaf, b):
                    fits = may_merge(tree, a, b)
                if not fits:
                    table[x, N_NO] += 1
                    table[y, N_NO] += 1
                    if tree.clock[WITNESS] >= 0:
                        note(tree, clusters, x, y, sample_of[tree.clock[WITNESS]])
            s = y
            if not fits:
                if table[x, COUNT] > 1:
                    # The next in the list takes its place.
                    table[x, COUNT] -= 1
                    for k in range(table[x, COUNT]):
                        best[x, k] = best[x, k + 1]
                        nearest[x, k] = nearest[x, k + 1]
                        nearest[x, N_NEAREST + k] = nearest[x, N_NEAREST + k + 1]
                    lowest[x] = best[x, 0]
                    continue
                s = x
        if s == y:
            at = table[y, COLUMN]
            distances_from(points, square, linkage, clusters, x, at, at + 1)
            d = distance[at]
            heights[n_done] = np.sqrt(d) if linkage in (CENTROID, WARD) else d
            children[n_done, 0] = min(table[x, IDENT], table[y, IDENT])
            children[n_done, 1] = max(table[x, IDENT], table[y, IDENT])
            if links is not None and links.head[x, 0] >= 0:
                add_prices(links, clusters, x, 1)
                broken[n_done] = clusters.price[y]
                add_prices(links, clusters, x, -1)
                # The cannot-links of x come after those of y.
                if links.head[y, 0] < 0:
                    links.head[y, 0] = links.head[x, 0]
                else:
                    last = links.head[y, 1]
                    links.following[last >> 1, last & 1] = links.head[x, 0]
                links.head[y, 1] = links.head[x, 1]
            join(points, square, linkage, clusters, x, y)
            table[y, IDENT] = n + n_done
            if tree is not None:
                a, b = table[x, LEAF], table[y, LEAF]
                if is_live(tree.leaf, a):
                    table[y, LEAF] = merge(tree, a, b) if is_live(tree.leaf, b) else a
                inherit(tree, clusters, x, y)
            lowest[x] = np.inf
            n_done += 1
            if n_done <= len(forced):
                continue
        # A row that is out of date is searched again. A new cluster may also be nearer to earlier
        # ones than what they had.
        if 4 * (n - n_done) < 3 * tally[N_COLUMNS]:
            close_up(points, clusters)
        start = 0 if s == y else table[s, COLUMN] + 1
        tally[N_LEFT] -= 1 + tally[N_COLUMNS] - start
        distances_from(points, square, linkage, clusters, s, start, tally[N_COLUMNS])
        if links is not None and links.head[s, 0] >= 0:
            add_prices(links, clusters, s, 1)
            for k in range(start, tally[N_COLUMNS]):
                distance[k] += clusters.price[slots[k]]
            add_prices(links, clusters, s, -1)
        search(clusters, tree, s, start)
    tally[N_DONE] = n_done
