"""From a hierarchy to k clusters, without breaking a statement that the hierarchy keeps."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust._kernels import cut as kernel
from conclust._kernels._short import short
from conclust._kernels.build import build
from conclust.constraints import Constraints
from conclust.hierarchy._linkage import Dendrogram

# Branches of fewer samples than a twentieth of all, or half an average cluster, are outliers. With
# triplets to judge by, sizes from a quarter of an average cluster down to 1 are tried.
SHARE_OF_SAMPLES = 20
SHARE_OF_CLUSTER = 2
PART_OF_CLUSTER = 4

# Moves tried to let every branch set aside join a cluster; some dozen are usual.
STEPS = 2000

# How long some of the work takes, as far as that decides whether it is worth compiling.
SWEEPS = 100  # of `move_branches`, with what it does for each sample and cluster
DEPTH = 100  # of a hierarchy, with what a step up takes
STEPS_OF_BUILD = 500  # for each sample and statement
STEPS_TO_SETTLE = 30  # for each statement and cluster

# distances(piece, n_pieces, cores) -> (n_pieces, len(cores)): how far each piece is from each core
Distances = Callable[[IntArray, int, IntArray], FloatArray]


class Statements(NamedTuple):
    """What a cut looks at."""

    triplets: IntArray
    triplet_weight: FloatArray
    apart: IntArray
    apart_weight: FloatArray


def cut_hierarchy(
    tree: Dendrogram,
    constraints: Constraints,
    n_clusters: int,
    distances: Distances,
    *,
    by: Literal["constraints", "order"] = "constraints",
    min_branch_size: int | Literal["auto"] = "auto",
) -> npt.NDArray[np.int32]:
    """Label the samples with `n_clusters` clusters.

    Parameters
    ----------
    tree : Dendrogram
        Keeps the triplets of `constraints`.
    constraints : Constraints
    n_clusters : int
        At most the number of samples, must-link groups counted as one.
    distances : callable
        Distances of pieces to cores, asked for when branches are set aside.
    by : {"constraints", "order"}
        Undo the merges that the statements pay most for, from the top of the tree that they make,
        or the last ones.
    min_branch_size : int or "auto"
        Smaller branches are set aside and then join the nearest cluster that keeps the triplets.
        "auto" without triplets is `auto_size`; with them it is the size, out of n / (4 k) halved
        again and again, whose clusters are worth the most by `worth_of`.

    Returns
    -------
    ndarray of shape (n_samples,), int32
        Clusters numbered in the order of their first samples.
    """
    n = len(tree.children) + 1
    said = statements_of(constraints)
    n_before_breaking = n - _first(tree.broken > 0)
    if n_before_breaking > n_clusters:
        # The clusters before the first broken cannot-link; the largest attract the others.
        split = np.arange(n - 1) >= n - n_before_breaking
        labels = _labels(tree, split, lambda sizes: _largest(sizes, n_clusters), said, distances)
        if labels is not None:
            return _fewer_broken(tree, labels, said, distances)
        min_branch_size = 1
    if n == 1:
        return np.zeros(1, dtype=np.int32)
    size = np.empty(2 * n - 1, dtype=np.int64)
    short(kernel.cluster_sizes, 10 * n)(tree.children, size)
    closed = np.arange(n - 1) < tree.n_forced
    level, n_branches = levels(said.triplets, n_clusters)
    gain = gains_by_level(tree.children, said, level)

    def cut(smallest: int) -> tuple[npt.NDArray[np.int32] | None, int]:
        split, deepest = np.zeros(n - 1, dtype=np.bool_), 0
        sought = (tree.children, size, closed)
        if by == "order":
            latest_splits = short(kernel.latest_splits, 10 * n)
            found = latest_splits(*sought, n_clusters, smallest, split)
        else:
            found, deepest = from_the_top(*sought, gain, n_branches, n_clusters, smallest, split)
        if not found:
            return None, deepest
        is_core = partial(np.less_equal, smallest)
        return _labels(tree, split, is_core, said, distances), deepest

    weighed = min_branch_size == "auto" and by == "constraints" and len(said.triplets) > 0
    if weighed:
        smallest = max(1, n // (PART_OF_CLUSTER * n_clusters))
    else:
        smallest = auto_size(n, n_clusters) if min_branch_size == "auto" else int(min_branch_size)
    best, most = None, [-1.0]
    while smallest:
        # None: too few such branches, or no cluster keeps the statements about one set aside. With
        # a size of 1 nothing is set aside: a pure cut keeps whatever the hierarchy keeps.
        labels, deepest = cut(smallest)
        if labels is not None:
            worth = worth_of(labels, said, level, deepest)
            if worth > most:
                best, most = labels, worth
            if not weighed or sum(most) == said.triplet_weight.sum():
                break
        smallest //= 2
    assert best is not None, "a pure cut always exists"
    return best


class Levels(NamedTuple):
    """Where statements are in the tree that they make together."""

    of_statement: IntArray  # (m,) how deep the node is where c leaves a and b, 0 at the top
    n_branches: IntArray  # (n_levels,) large enough to be clusters, when cut below each level


def levels(triplets: IntArray, n_clusters: int) -> Levels:
    """Look at the tree of all statements; it is their least resolved one.

    The last level holds all that are deeper: k clusters cannot show more than k - 1 levels. Large
    enough is a quarter of an average cluster, by the samples that are named.
    """
    level = np.zeros(len(triplets), dtype=np.int64)
    if n_clusters < 3 or not len(triplets):
        return Levels(level, np.full(1, n_clusters))
    named, rows = np.unique(triplets, return_inverse=True)
    rows, n = np.ascontiguousarray(rows.reshape(-1, 3)), len(named)
    parent, stuck = np.full(2 * n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    n_nodes, _ = short(build, STEPS_OF_BUILD * (n + len(rows)))(rows, n, parent, stuck)
    short(kernel.levels, n + DEPTH * len(rows))(parent[:n_nodes], rows, level)
    level = np.minimum(level, n_clusters - 2)
    n_branches = np.empty(int(level.max()) + 1, dtype=np.int64)
    smallest = max(1, n // (PART_OF_CLUSTER * n_clusters))
    short(kernel.branches, len(n_branches) * n_nodes)(parent[:n_nodes], smallest, n_branches)
    return Levels(level, n_branches)


def gains_by_level(children: IntArray, said: Statements, level: IntArray) -> FloatArray:
    """`gains` of the statements of each level; cannot-links are on the first."""
    none = said.apart[:0], said.apart_weight[:0]
    found = []
    for number in range(int(level.max(initial=0)) + 1):
        here = level == number
        pairs = none if number else (said.apart, said.apart_weight)
        found.append(
            gains(children, Statements(said.triplets[here], said.triplet_weight[here], *pairs))
        )
    return np.array(found)


def from_the_top(
    children: IntArray,
    size: IntArray,
    closed: npt.NDArray[np.bool_],
    gain: FloatArray,
    n_branches: IntArray,
    n_clusters: int,
    smallest: int,
    split: npt.NDArray[np.bool_],
) -> tuple[bool, int]:
    """Choose merges to undo: those that the top statements want, then level by level.

    Parameters
    ----------
    children, size, closed, n_clusters, split
        As in the kernel `best_splits`.
    gain : ndarray of shape (n_levels, n - 1)
    n_branches : ndarray of shape (n_levels,)
        A level with as many as clusters are wanted has the last word.
    smallest : int
        Its `min_size`.

    Returns
    -------
    found : bool
        Whether there are as many clusters to be had.
    deepest : int
        The level that had the last word.
    """
    best_splits = short(kernel.best_splits, 10 * len(gain) * len(size) * n_clusters**2)
    for level, wanted in enumerate(gain):
        more = level + 1 < len(gain) and n_branches[level] < n_clusters
        wanted = wanted + split * (1 + np.abs(wanted).sum())
        if more:
            wanted = _with_unnamed(wanted, gain[level + 1 :])
        split[:] = False
        n_found = best_splits(children, size, wanted, closed, n_clusters, smallest, more, split)
        if n_found in (0, n_clusters):
            break
    return n_found > 0, level


def _with_unnamed(gain: FloatArray, deeper: FloatArray) -> FloatArray:
    """A merge that no statement speaks of counts a little if all that is deeper was merged before.

    So the top branches that are not named are found beside those that are.
    """
    last = int(np.flatnonzero((deeper > 0).any(axis=0)).max(initial=-1))
    free = (gain == 0) & (np.arange(len(gain)) > last)
    least = np.abs(gain[gain != 0]).min(initial=1.0)
    return np.where(free, least / (2 * len(gain)), gain)


def worth_of(
    labels: npt.NDArray[np.integer[Any]], said: Statements, level: IntArray, deepest: int
) -> list[float]:
    """What clusters show, level by level: c apart from a and b, at the deepest with these in one.

    Above the deepest level a and b may be apart too: their branch is taken apart in its turn.
    """
    a, b, c = labels[said.triplets].T
    shown = (a != c) & (b != c) & ((a == b) | (level < deepest))
    return [float(said.triplet_weight[shown & (level == d)].sum()) for d in range(deepest + 1)]


def statements_of(constraints: Constraints) -> Statements:
    """Triplets, and pairs to keep apart."""
    pairs = constraints.pairs()
    return Statements(
        constraints.relative,
        constraints.relative_weight,
        pairs.pairs[pairs.sign < 0],
        pairs.weight[pairs.sign < 0],
    )


def _fewer_broken(
    tree: Dendrogram, labels: npt.NDArray[np.int32], said: Statements, distances: Distances
) -> npt.NDArray[np.int32]:
    """Move branches, large and small, to where they break fewer cannot-links."""
    n, moved = len(labels), labels.astype(np.int64)
    n_clusters = int(moved.max()) + 1
    far = distances(moved, n_clusters, np.arange(n_clusters))
    move_branches = short(kernel.move_branches, SWEEPS * n * n_clusters)
    move_branches(
        tree.children,
        tree.n_forced,
        _first(tree.broken > 0),
        said.apart,
        said.apart_weight,
        *_by_piece(said.apart, n),
        said.triplets,
        *_by_piece(said.triplets, n),
        far,
        moved,
    )
    return _numbered(moved)


def auto_size(n: int, n_clusters: int) -> int:
    """N / 20, at most n / (2 k), at least 1."""
    return max(1, min(n // SHARE_OF_SAMPLES, n // (SHARE_OF_CLUSTER * n_clusters)))


def _largest(sizes: IntArray, n: int) -> npt.NDArray[np.bool_]:
    chosen = np.zeros(len(sizes), dtype=np.bool_)
    chosen[np.argsort(-sizes, kind="stable")[:n]] = True
    return chosen


def _first(true: npt.NDArray[np.bool_]) -> int:
    return int(np.argmax(true)) if true.any() else len(true)


def gains(children: IntArray, said: Statements) -> FloatArray:
    """What undoing each merge is worth: c taken from ab, less a taken from b, for each ab|c.

    A cannot-link adds its weight at the merge that breaks it.
    """
    a, b, c = said.triplets.T
    gain = np.zeros(len(children))
    near = _meetings(children, np.column_stack([a, b]))
    far = np.maximum(
        _meetings(children, np.column_stack([a, c])), _meetings(children, np.column_stack([b, c]))
    )
    np.add.at(gain, far, said.triplet_weight)
    np.subtract.at(gain, near, said.triplet_weight)
    np.add.at(gain, _meetings(children, said.apart), said.apart_weight)
    return gain


def _meetings(children: IntArray, pairs: IntArray) -> IntArray:
    merge = np.empty(len(pairs), dtype=np.int64)
    n_steps = len(children) + DEPTH * len(pairs)
    short(kernel.meetings, n_steps)(children, np.ascontiguousarray(pairs), merge)
    return merge


def _labels(
    tree: Dendrogram,
    split: npt.NDArray[np.bool_],
    is_core: Callable[[IntArray], npt.NDArray[np.bool_]],
    said: Statements,
    distances: Distances,
) -> npt.NDArray[np.int32] | None:
    """Undo the merges in `split`; what is no core joins one, in smaller branches if need be."""
    n = len(tree.children) + 1
    piece = np.empty(2 * n - 1, dtype=np.int64)
    tops = None
    while True:
        n_pieces = int(short(kernel.pieces, 10 * n)(tree.children, split, piece))
        sizes = np.bincount(piece[:n], minlength=n_pieces)
        top = np.empty(n_pieces, dtype=np.int64)  # the highest cluster of each piece
        top[piece[piece >= 0]] = np.flatnonzero(piece >= 0)
        if tops is None:
            tops = top[is_core(sizes)]
        cores = np.flatnonzero(np.isin(top, tops))
        home, stuck = join_cores(piece[:n], sizes, cores, said, distances)
        if not len(stuck):
            return _numbered(home[piece[:n]])
        # A branch that no cluster takes as a whole may go in parts.
        merges = top[stuck] - n
        merges = merges[merges >= tree.n_forced]
        if not len(merges):
            return _settled(tree, piece[:n], home, stuck, cores, said)
        split[merges] = True


def _settled(
    tree: Dendrogram,
    piece: IntArray,
    home: IntArray,
    stuck: IntArray,
    cores: IntArray,
    said: Statements,
) -> npt.NDArray[np.int32] | None:
    """Give what no cluster takes to the first, and let a few samples move until all triplets hold.

    Must-link groups move as one. None when no such labelling is found.
    """
    home[stuck] = cores[0]
    return mended(tree, np.searchsorted(cores, home[piece]), len(cores), said)


def mended(
    tree: Dendrogram,
    labels: npt.NDArray[np.integer[Any]],
    n_clusters: int,
    said: Statements,
) -> npt.NDArray[np.int32] | None:
    """Move a few samples of some clusters until all triplets hold; must-link groups move as one.

    None when no such labelling is found.
    """
    n = len(labels)
    group = np.empty(2 * n - 1, dtype=np.int64)
    closed = np.arange(n - 1) < tree.n_forced
    n_units = int(short(kernel.pieces, 10 * n)(tree.children, ~closed, group))
    unit = group[:n]
    moved = np.empty(n_units, dtype=np.int64)
    moved[unit] = labels
    if len(np.unique(moved)) < n_clusters:
        return None
    rows = unit[said.triplets]
    rows = np.unique(rows[rows[:, 0] != rows[:, 1]], axis=0)
    starts, row_of = _by_piece(rows, n_units)
    n_steps = max(STEPS, 2 * len(rows))
    settle = short(kernel.settle, STEPS_TO_SETTLE * len(rows) * n_clusters)
    n_broken = settle(rows, starts, row_of, moved, n_clusters, n_steps)
    return None if n_broken else _numbered(moved[unit])


def _numbered(labels: IntArray) -> npt.NDArray[np.int32]:
    """Number clusters in the order of their first samples."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[codes.ravel()]


def join_cores(
    piece: IntArray, sizes: IntArray, cores: IntArray, said: Statements, distances: Distances
) -> tuple[IntArray, IntArray]:
    """Let every other piece join a core, largest first.

    A core is taken that breaks no triplet, then the least weight of cannot-links, then the nearest.

    Parameters
    ----------
    piece : ndarray of shape (n_samples,)
        A partition that keeps the triplets (Definition 4.2).
    sizes : ndarray of shape (n_pieces,)
    cores : ndarray of int
        The pieces that become clusters.
    said : Statements
    distances : callable

    Returns
    -------
    home : ndarray of shape (n_pieces,)
        The core that each piece has joined.
    stuck : ndarray of int
        Pieces that found no core; they are their own home.
    """
    n_pieces = len(sizes)
    home = np.arange(n_pieces)  # the piece that each one has joined
    others = np.setdiff1d(np.arange(n_pieces), cores)
    if len(others):
        far = distances(piece, n_pieces, cores)
        rows = piece[said.triplets]
        rows = np.unique(rows[rows[:, 0] != rows[:, 1]], axis=0)  # a and b in one piece: kept
        starts, row_of = _by_piece(rows, n_pieces)
        apart = piece[said.apart]
        apart_starts, link_of = _by_piece(apart, n_pieces)
        core_number = np.full(n_pieces, -1)
        core_number[cores] = np.arange(len(cores))
        waiting = others[np.argsort(-sizes[others], kind="stable")]
        while len(waiting):
            stuck = []
            for p in waiting:
                links = link_of[apart_starts[p] : apart_starts[p + 1]]
                ends = home[apart[links]]
                other_end = core_number[np.where(apart[links, 0] == p, ends[:, 1], ends[:, 0])]
                met = other_end >= 0
                cost = np.bincount(
                    other_end[met], weights=said.apart_weight[links[met]], minlength=len(cores)
                )
                about = rows[row_of[starts[p] : starts[p + 1]]]
                for core in np.lexsort((far[p], cost)):
                    a, b, c = np.where(about == p, cores[core], home[about]).T
                    if not (((c == a) | (c == b)) & (a != b)).any():
                        home[p] = cores[core]
                        break
                else:
                    stuck.append(p)
            if len(stuck) == len(waiting):
                return home, waiting
            waiting = np.array(stuck, dtype=np.int64)  # others have joined: look again
    return home, others[:0]


def _by_piece(rows: IntArray, n_pieces: int) -> tuple[IntArray, IntArray]:
    """For each piece the rows that name it: starts and row numbers."""
    entry = np.argsort(rows.ravel(), kind="stable")
    starts = np.searchsorted(rows.ravel()[entry], np.arange(n_pieces + 1))
    return starts, entry // max(rows.shape[1], 1)
