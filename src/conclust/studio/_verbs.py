"""What is said on the map, as few statements that make it so."""

import warnings
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances

from conclust._arrays import IntArray
from conclust.exceptions import SessionError

Pairs = list[tuple[int, int, int]]  # rows and sign

N_TYPICAL = 3  # rows that speak for a cluster
N_SPREAD = 12  # rows that speak for a group that is one
MAX_LOOKED_AT = 5_000  # rows of a cluster
MAX_EACH = 10  # rows that are all apart from each other


def link(rows: Sequence[int]) -> Pairs:
    """Each of the rows with the next."""
    _need(rows, 2, "link")
    return [(a, b, 1) for a, b in pairwise(rows)]


def together(X: Any, rows: Sequence[int]) -> Pairs:
    """These are one: rows from all over the group, in a chain."""
    _need(rows, 2, "together")
    return link(spread(X, rows, N_SPREAD))


def apart(X: Any, rows: Sequence[int], others: Sequence[int]) -> Pairs:
    """None of these with any of those; without others, none with another."""
    if not others:
        _need(rows, 2, "apart")
        if len(rows) > MAX_EACH:
            raise SessionError(
                f"apart: {len(rows)} rows are too many to be all in different clusters; choose at "
                f"most {MAX_EACH}, or two groups."
            )
        return [(a, b, -1) for a, b in combinations(rows, 2)]
    if set(rows) & set(others):
        raise SessionError("apart: a row is in both groups.")
    return _between(typical(X, rows), typical(X, others), -1)


def clusters_apart(X: Any, labels: IntArray, clusters: Sequence[int]) -> Pairs:
    """Typical rows of two clusters."""
    if len(clusters) != 2:
        raise SessionError(f"apart: choose two clusters; got {len(clusters)}.")
    first, second = (_members(labels, cluster) for cluster in clusters)
    return _between(typical(X, first), typical(X, second), -1)


def merge(X: Any, labels: IntArray, clusters: Sequence[int]) -> Pairs:
    """Typical rows of each cluster with those of the next."""
    if len(clusters) < 2:
        raise SessionError("merge: choose two clusters or more.")
    speakers = [typical(X, _members(labels, cluster)) for cluster in clusters]
    return [pair for a, b in pairwise(speakers) for pair in _between(a, b, 1)]


def split(X: Any, labels: IntArray, cluster: int, rows: Sequence[int] = ()) -> Pairs:
    """The rows chosen apart from the rest of the cluster; else its two halves apart."""
    members = _members(labels, cluster)
    _need(members, 2, "split")
    if len(rows):
        first, second = np.asarray(rows), np.setdiff1d(members, rows)
        if not len(second):
            raise SessionError("split: all rows of the cluster are chosen; choose a part of it.")
    else:
        members = _some(members)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of rows all the same: said below
            halves = KMeans(2, n_init=4, random_state=0).fit_predict(X[members])
        first, second = members[halves == 0], members[halves == 1]
        if not len(first) or not len(second):
            raise SessionError("split: the rows of the cluster are all the same.")
    sides = typical(X, first), typical(X, second)
    return [*_between(*sides, -1), *(pair for side in sides for pair in link_if_many(side))]


def link_if_many(rows: Sequence[int]) -> Pairs:
    """A chain, of one row none."""
    return [(a, b, 1) for a, b in pairwise(rows)]


def typical(X: Any, rows: Any, n: int = N_TYPICAL) -> list[int]:
    """The rows nearest to their mean."""
    rows = _some(np.asarray(rows, dtype=np.int64))
    near = X[rows]
    distance = euclidean_distances(near, np.asarray(near.mean(axis=0)).reshape(1, -1)).ravel()
    return [int(row) for row in rows[np.argsort(distance, kind="stable")[:n]]]


def spread(X: Any, rows: Sequence[int], n: int) -> list[int]:
    """Rows from all over a group: the most typical, then each time the one farthest from all."""
    if len(rows) <= n:
        return list(rows)
    chosen = typical(X, rows, 1)
    some = np.union1d(_some(np.asarray(rows, dtype=np.int64)), chosen)
    nearest = np.full(len(some), np.inf)
    while len(chosen) < n:
        distance = euclidean_distances(X[some], X[[chosen[-1]]]).ravel()
        nearest = np.minimum(nearest, distance)
        chosen.append(int(some[np.argmax(nearest)]))
        if nearest.max() == 0:
            break
    return list(dict.fromkeys(chosen))


def _between(first: Sequence[int], second: Sequence[int], sign: int) -> Pairs:
    """As many pairs as the longer side has rows."""
    n = max(len(first), len(second))
    return [(first[i % len(first)], second[i % len(second)], sign) for i in range(n)]


def _members(labels: IntArray, cluster: int) -> IntArray:
    members = np.flatnonzero(labels == cluster)
    if not len(members):
        raise SessionError(f"There is no cluster {cluster} any more; look at the map again.")
    return members


def _some(rows: IntArray) -> IntArray:
    """At most so many, always the same."""
    if len(rows) <= MAX_LOOKED_AT:
        return rows
    return np.sort(np.random.RandomState(0).choice(rows, MAX_LOOKED_AT, replace=False))


def _need(rows: Any, n: int, verb: str) -> None:
    if len(rows) < n:
        raise SessionError(f"{verb}: choose {n} rows or more; got {len(rows)}.")
