"""Where a drawing of a hierarchy puts its branches, and which statements it shows.

Nothing is recursive: a hierarchy may be as deep as it has samples.
"""

import heapq
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray


class Layout(NamedTuple):
    """Nodes as scipy numbers them: sample i is i, merge v makes n + v."""

    ends: IntArray  # (l,) samples, and branches drawn as one, in the order of the drawing
    sizes: IntArray  # (l,) samples of each
    place: FloatArray  # (2n - 1,) along that order; a node inside a branch is where the branch is
    height: FloatArray  # (2n - 1,) never below a node's parts
    merges: IntArray  # (l - 1,) the nodes drawn that are merges of others drawn
    parts: IntArray  # (l - 1, 2) these
    one: IntArray  # (2n - 1,) some sample of each node
    cluster: IntArray  # (2n - 1,) the cluster of all samples below, -1 where they differ


def lay_out(
    children: IntArray,
    distances: FloatArray,
    labels: npt.NDArray[Any] | None = None,
    max_ends: int | None = None,
) -> Layout:
    """Place a hierarchy with at most so many ends; clusters are told apart first, then by height.

    Parameters
    ----------
    children : ndarray of shape (n - 1, 2)
    distances : ndarray of shape (n - 1,)
    labels : ndarray of shape (n,), default=None
    max_ends : int, default=None
        All samples by default.

    Returns
    -------
    Layout
        Where distances fall from a branch to the whole, as with centroids, the whole is drawn as
        high as its highest part.
    """
    n = len(children) + 1
    height, size = heights(children, distances), np.ones(2 * n - 1, dtype=np.int64)
    cluster, one = np.full(2 * n - 1, -1), np.arange(2 * n - 1)
    if labels is not None:
        cluster[:n] = labels
    for v, (a, b) in enumerate(children.tolist()):
        size[n + v], one[n + v] = size[a] + size[b], one[a]
        cluster[n + v] = cluster[a] if cluster[a] == cluster[b] else -1
    is_open = _opened(children, height, cluster, n if max_ends is None else max_ends)
    ends: list[int] = []
    place = np.empty(2 * n - 1)
    stack = [2 * n - 2]
    while stack:
        node = stack.pop()
        if is_open[node]:
            stack += children[node - n, ::-1].tolist()
        else:
            place[node] = len(ends)
            ends.append(node)
    merges = np.flatnonzero(is_open)
    for node in merges.tolist():  # a branch has a lower number than the whole
        place[node] = place[children[node - n]].mean()
    for node in range(2 * n - 2, n - 1, -1):
        if not is_open[node]:
            place[children[node - n]] = place[node]
    parts = children[merges - n]
    return Layout(np.array(ends), size[ends], place, height, merges, parts, one, cluster)


def heights(children: IntArray, distances: FloatArray) -> FloatArray:
    """The distance of each merge, or the height of its highest part where that is more."""
    n = len(children) + 1
    height = np.zeros(2 * n - 1)
    for v, (a, b) in enumerate(children.tolist()):
        height[n + v] = max(distances[v], height[a], height[b])
    return height


def _opened(
    children: IntArray, height: FloatArray, cluster: IntArray, max_ends: int
) -> npt.NDArray[np.bool_]:
    """Which merges are drawn: from the top, several clusters before one, high before low."""
    n = len(children) + 1
    is_open = np.zeros(2 * n - 1, dtype=np.bool_)
    waiting = [(False, 0.0, -(2 * n - 2))]
    n_ends = 1
    while waiting and n_ends < max_ends:
        node = -heapq.heappop(waiting)[2]
        if node < n:
            continue
        is_open[node] = True
        n_ends += 1
        for child in children[node - n].tolist():
            heapq.heappush(waiting, (bool(cluster[child] >= 0), -float(height[child]), -child))
    return is_open


def spread(children: IntArray, triplets: IntArray, first: IntArray, n: int) -> IntArray:
    """Choose statements all over a hierarchy: those of `first`, then one for each branching.

    Parameters
    ----------
    children : ndarray of shape (n_samples - 1, 2)
    triplets : ndarray of shape (m, 3)
    first : ndarray of int
        Numbers of the statements that come before all others.
    n : int
        How many at most.

    Returns
    -------
    ndarray of int
        From the top of the hierarchy down, one at each merge that brings three samples together,
        then a second one, and so on.
    """
    meeting = meetings(children, triplets)
    order = np.argsort(meeting, kind="stable")
    starts = np.searchsorted(meeting[order], meeting[order])
    turn = np.empty(len(triplets), dtype=np.int64)
    turn[order] = np.arange(len(order)) - starts
    late = np.ones(len(triplets), dtype=np.bool_)
    late[first] = False
    return np.lexsort((-meeting, turn, late))[:n]


def meetings(children: IntArray, triplets: IntArray) -> IntArray:
    """The merge that first has all three samples of each triplet."""
    from conclust._kernels._short import short
    from conclust._kernels.cut import meetings as of_pairs

    found = np.empty((2, len(triplets)), dtype=np.int64)
    for side, merge in enumerate(found):
        pairs = np.ascontiguousarray(triplets[:, [side, 2]])
        short(of_pairs, len(children) + 100 * len(pairs))(children, pairs, merge)
    return found.max(axis=0)


def names_of(model: Any, names: Any = None) -> list[Any]:
    """The names given, those that the statements know, or positions; one for each sample."""
    n = len(model.children_) + 1
    if names is None:
        names = range(n) if model.constraints_.ids is None else model.constraints_.ids
    found = list(names)
    if len(found) != n:
        raise ValueError(f"names must have one name for each of the {n} samples; got {len(found)}.")
    return found
