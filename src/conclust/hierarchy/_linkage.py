"""Agglomerative clustering that keeps triplets and must-links: the function behind ReCon."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from conclust._arrays import FloatArray, IntArray
from conclust._kernels import agglomerate as kernel
from conclust._kernels._short import short
from conclust._kernels.build import linked_groups
from conclust._kernels.live_lists import N_TESTS, linked_lists, new_tree
from conclust._pairs import merge_pairs
from conclust.constraints import Constraints

LINKAGES = {
    "centroid": kernel.CENTROID,
    "ward": kernel.WARD,
    "average": kernel.AVERAGE,
    "complete": kernel.COMPLETE,
    "single": kernel.SINGLE,
}
# These work on squared Euclidean distances, so centres are enough: no matrix.
BY_CENTERS = ("centroid", "ward")

# Then the kernel comes back, to show progress. A call costs some microseconds, a merge of a few
# thousand clusters more than that.
MERGES_PER_CALL = 200
# Steps after which it comes back in any case, to let Ctrl-C be heard: some tenth of a second.
STEPS_PER_CALL = 50_000_000

# Looking at a pair of clusters takes about as long as this many features.
STEPS_PER_PAIR = 6

Show = Callable[[tuple[float, int, int, int], int], None]


class Dendrogram(NamedTuple):
    """The merges of a hierarchy, numbered as scipy does: sample i is i, merge v makes n + v."""

    children: IntArray  # (n - 1, 2)
    distances: FloatArray  # (n - 1,)
    n_forced: int  # the first merges build the must-link groups
    broken: FloatArray  # (n - 1,) weight of the cannot-links that each merge breaks
    n_tests: int  # full compatibility tests that were needed


def constrained_linkage(
    points: FloatArray | None,
    square: FloatArray | None,
    constraints: Constraints,
    *,
    linkage: str = "centroid",
    show: Show = lambda merge, n_more: None,
) -> Dendrogram:
    """Merge the closest clusters that the statements let merge, until one is left.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features) or None
        For centroid and ward linkage.
    square : ndarray of shape (n_samples, n_samples) or None
        Distances, instead of points; overwritten. Squared for centroid and ward linkage.
    constraints : Constraints
        Consistent: triplets are kept, must-link groups are built first, and clusters with a
        cannot-link between them merge only when nothing else is left, least weight first.
    linkage : {"centroid", "ward", "average", "complete", "single"}
    show : callable
        Called now and then with the last merge (two clusters, their distance, clusters left) and
        the number of merges since the last time.

    Returns
    -------
    Dendrogram
    """
    n = len(points) if points is not None else len(square)  # type: ignore[arg-type]
    pairs = constraints.pairs()
    must, cannot = pairs.pairs[pairs.sign > 0], pairs.pairs[pairs.sign < 0]
    triplets = np.array(constraints.relative, order="C")
    group = np.empty(n, dtype=np.int64)
    short(linked_groups, 10 * (n + 3 * len(triplets)))(must, triplets, n, group)
    # A group lives on at the place of its last member.
    last = np.empty(n, dtype=np.int64)
    last[group] = np.arange(n)
    place = last[group]
    ends = place[triplets]
    inside = (ends[:, 0] == ends[:, 1]) & (ends[:, 0] == ends[:, 2])
    between = ends[ends[:, 0] != ends[:, 1]]
    code = LINKAGES[linkage]
    forced = _group_merges(points, square, code, place, triplets[inside])
    apart, weight = implied_apart(place[cannot], pairs.weight[pairs.sign < 0], between, n)
    return _run(points, square, code, forced, between, apart, weight, show)


def implied_apart(
    apart: IntArray, weight: FloatArray, triplets: IntArray, n: int
) -> tuple[IntArray, FloatArray]:
    """Add what triplets make of cannot-links: a and b apart and ab|c keep c from both."""
    apart, weight = merge_pairs(apart, weight, n)
    waiting = triplets
    while len(apart) and len(waiting):
        key = apart[:, 0] * n + apart[:, 1]
        ab = np.sort(waiting[:, :2], axis=1)
        asked = ab[:, 0] * n + ab[:, 1]
        at = np.minimum(np.searchsorted(key, asked), len(key) - 1)
        fires = key[at] == asked
        if not fires.any():
            break
        new = np.concatenate([waiting[fires][:, [0, 2]], waiting[fires][:, [1, 2]]])
        new_weight = np.tile(weight[at[fires]], 2)
        new.sort(axis=1)
        known = np.isin(new[:, 0] * n + new[:, 1], key)
        # Several reasons to keep two groups apart are not more than one reason.
        new, new_weight = new[~known], new_weight[~known]
        _, first = np.unique(new[:, 0] * n + new[:, 1], return_index=True)
        apart, weight = merge_pairs(
            np.concatenate([apart, new[first]]), np.concatenate([weight, new_weight[first]]), n
        )
        waiting = waiting[~fires]
    return apart, weight


def _group_merges(
    points: FloatArray | None,
    square: FloatArray | None,
    code: int,
    place: IntArray,
    triplets: IntArray,
) -> IntArray:
    """The merges inside each must-link group, as pairs of samples of the clusters that merge."""
    order = np.argsort(place, kind="stable")
    bounds = np.flatnonzero(np.diff(place[order])) + 1
    merges = [np.empty((0, 2), dtype=np.int64)]
    in_group = place[triplets[:, 0]]
    for members in np.split(order, bounds):
        if len(members) == 1:
            continue
        if len(members) == 2:
            merges.append(members[None])
            continue
        rows = np.searchsorted(members, triplets[in_group == place[members[0]]])
        tree = _run(
            None if points is None else points[members],
            None if square is None else square[np.ix_(members, members)],
            code,
            np.empty((0, 2), dtype=np.int64),
            rows,
            np.empty((0, 2), dtype=np.int64),
            np.empty(0),
        )
        # Any sample of a cluster stands for it; the first of the left branch is one.
        one = np.arange(2 * len(members) - 1)
        for v, (left, _) in enumerate(tree.children):
            one[len(members) + v] = one[left]
        merges.append(members[one[tree.children]])
    return np.concatenate(merges)


def _run(
    points: FloatArray | None,
    square: FloatArray | None,
    code: int,
    forced: IntArray,
    triplets: IntArray,
    apart: IntArray,
    weight: FloatArray,
    show: Show = lambda merge, n_more: None,
) -> Dendrogram:
    with np.errstate(over="ignore", invalid="ignore"):
        if square is None:
            assert points is not None
            n = len(points)
            # Centred, so that distances lose no digits to a large common offset.
            columns = np.ascontiguousarray((points - points.mean(axis=0)).T, dtype=np.float64)
            bound = 4 * float((columns**2).sum(axis=0).max(initial=0.0)) * n
        else:
            n, columns = len(square), None
            bound = float(square.max(initial=0.0)) * (n if code == kernel.WARD else 2)
    if not np.isfinite(bound):
        raise ValueError(
            "Distances between samples overflow: X holds values that are too large to be squared "
            "and added up. Scale X first, for example with StandardScaler, or divide it by "
            "np.abs(X).max()."
        )
    bound = bound + 1.0
    named, leaves = np.unique(triplets, return_inverse=True)
    leaf_of = np.full(n, -1, dtype=np.int64)
    leaf_of[named] = np.arange(len(named))
    tree = new_tree(leaves.reshape(-1, 3), len(named)) if len(named) else None
    clusters = kernel.new_clusters(leaf_of)
    lightest = float(weight.min(initial=1.0))
    links = None
    if len(apart):
        links = kernel.Links(apart, *linked_lists(apart, n), weight * (bound / lightest))
    children = np.empty((n - 1, 2), dtype=np.int64)
    heights, broken = np.empty(n - 1), np.zeros(n - 1)

    n_features = 1 if points is None else points.shape[1]
    distances_per_call = max(1, STEPS_PER_CALL // (n_features + STEPS_PER_PAIR))
    agglomerate = short(kernel.agglomerate, n * n * (n_features + STEPS_PER_PAIR))

    def merge_until(stop: int) -> int:
        nonlocal clusters, tree
        while True:
            clusters.tally[kernel.N_LEFT] = distances_per_call
            agglomerate(
                columns,
                square,
                code,
                forced,
                clusters,
                tree,
                named,
                links,
                children,
                heights,
                broken,
                stop,
            )
            wanted = int(clusters.tally[kernel.N_WANTED])
            if wanted:
                assert tree is not None
                clusters, tree = kernel.with_room(clusters, tree, wanted)
            elif clusters.tally[kernel.N_LEFT] > 0 or clusters.tally[kernel.N_DONE] == stop:
                return int(clusters.tally[kernel.N_DONE])

    n_done = merge_until(len(forced))
    # All that are left are to be searched, but for the last: there is none after it.
    clusters.lowest[:-1][clusters.table[:-1, kernel.ALIVE] == 1] = -1.0
    while n_done < n - 1:
        before, n_done = n_done, merge_until(min(n_done + MERGES_PER_CALL, n - 1))
        assert n_done > before, "inconsistent triplets reached the merging"
        left, right = children[n_done - 1].tolist()
        show((float(heights[n_done - 1]), left, right, n - n_done), n_done - before)
    n_tests = 0 if tree is None else int(tree.clock[N_TESTS])
    return Dendrogram(children, heights, len(forced), broken * (lightest / bound), n_tests)
