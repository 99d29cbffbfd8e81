"""What is said on the map, as few statements that make it so."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from conclust import Constraints
from conclust._arrays import IntArray
from conclust._typical import middle_to_edge, outwards
from conclust.exceptions import InvalidConstraintsError, SessionError

Pairs = list[tuple[int, int, int]]  # rows and sign

N_TYPICAL = 3  # rows that speak for a cluster
N_SPREAD = 12  # rows that speak for a group that is one
MAX_LOOKED_AT = 5_000  # rows of a cluster
MAX_EACH = 10  # rows that are all apart from each other


def link(rows: Sequence[int]) -> Pairs:
    """Each of the rows with the next."""
    _need(rows, 2, "link")
    return _pairs(Constraints().together(rows))


def together(X: Any, rows: Sequence[int]) -> Pairs:
    """These are one: rows from the middle of the group to its edge, in a chain."""
    _need(rows, 2, "together")
    return _pairs(Constraints().together(_speakers(X, rows, N_SPREAD)))


def apart(X: Any, rows: Sequence[int], others: Sequence[int]) -> Pairs:
    """None of these with any of those; without others, none with another."""
    if others:
        if set(rows) & set(others):
            raise SessionError("apart: a row is in both groups.")
        sides = [_speakers(X, side, N_TYPICAL) for side in (rows, others)]
        n = max(map(len, sides))
        return _pairs(Constraints(cannot_link=np.column_stack([np.resize(s, n) for s in sides])))
    _need(rows, 2, "apart")
    if len(rows) > MAX_EACH:
        raise SessionError(
            f"apart: {len(rows)} rows are too many to be all in different clusters; choose at "
            f"most {MAX_EACH}, or two groups."
        )
    return _pairs(Constraints().apart(rows))


def clusters_apart(X: Any, labels: IntArray, clusters: Sequence[int]) -> Pairs:
    """Typical rows of two clusters."""
    if len(clusters) != 2:
        raise SessionError(f"apart: choose two clusters; got {len(clusters)}.")
    first, second = (_members(labels, cluster).tolist() for cluster in clusters)
    return apart(X, first, second)


def merge(X: Any, labels: IntArray, clusters: Sequence[int]) -> Pairs:
    """Typical rows of each cluster with those of the next."""
    if len(clusters) < 2:
        raise SessionError("merge: choose two clusters or more.")
    rows = np.concatenate([_some(_members(labels, cluster)) for cluster in clusters])
    said = Constraints()
    for a, b in pairwise(clusters):
        said = said.merge(a, b, labels[rows], X[rows], n_rows=N_TYPICAL)
    return _pairs(said, rows)


def between(labels: IntArray, clusters: Sequence[int], older: Pairs, sign: int) -> Pairs:
    """Those of the older pairs that say this of rows of two of the clusters."""
    return [
        (a, b, said)
        for a, b, said in older
        if said == sign and labels[a] != labels[b] and {labels[a], labels[b]} <= set(clusters)
    ]


def split(
    X: Any, labels: IntArray, cluster: int, chosen: Sequence[int] = (), older: Pairs | None = None
) -> tuple[Pairs, Pairs]:
    """The rows chosen apart from the rest of the cluster; else its two halves apart.

    Returns
    -------
    The pairs, and those of the older must-links that join the two parts.
    """
    members = _members(labels, cluster)
    _need(members, 2, "split")
    inside = [
        (a, b) for a, b, sign in older or () if sign > 0 and labels[a] == labels[b] == cluster
    ]
    linked = [row for pair in inside for row in pair]
    rows, leaving = _some(members, linked), None
    if len(chosen):
        leave = _some(np.intersect1d(members, chosen), linked)
        stay = _some(np.setdiff1d(members, chosen), linked)
        if not (len(leave) and len(stay)):
            which = "all" if len(leave) else "none of the"
            raise SessionError(f"split: {which} rows of the cluster are chosen; choose a part.")
        rows, leaving = np.append(leave, stay), np.arange(len(leave))
    place = {row: i for i, row in enumerate(rows.tolist())}
    known = Constraints([(place[a], place[b]) for a, b in inside])
    # Twice: a new pair that was said before would not be told from the older one.
    try:
        said, after = (
            before.split(cluster, labels[rows], X[rows], rows=leaving, n_rows=N_TYPICAL)
            for before in (Constraints(), known)
        )
    except InvalidConstraintsError as error:
        raise SessionError("split: the rows of the cluster are all the same.") from error
    return _pairs(said, rows), _pairs(after.dropped, rows)


def typical(X: Any, rows: Any, n: int) -> list[int]:
    """The rows nearest to their mean."""
    some = _some(rows)
    nearest: list[int] = some[outwards(X[some])[:n]].tolist()
    return nearest


def _speakers(X: Any, rows: Sequence[int], n: int) -> IntArray:
    """So many of the rows, from their middle to their edge."""
    some = _some(rows)
    return some[middle_to_edge(X[some], n)]


def _pairs(said: Constraints, rows: IntArray | None = None) -> Pairs:
    """Pairs and signs; of rows that were numbered anew, under their own numbers."""
    pairs = said.pairs()
    named = pairs.pairs if rows is None else rows[pairs.pairs]
    return [(a, b, sign) for (a, b), sign in zip(named.tolist(), pairs.sign.tolist(), strict=True)]


def _members(labels: IntArray, cluster: int) -> IntArray:
    members = np.flatnonzero(labels == cluster)
    if not len(members):
        raise SessionError(f"There is no cluster {cluster} any more; look at the map again.")
    return members


def _some(rows: Any, also: Sequence[int] = ()) -> IntArray:
    """At most so many, always the same, and those of the others that are among the rows."""
    rows = np.asarray(rows, dtype=np.int64)
    if len(rows) <= MAX_LOOKED_AT:
        return rows
    drawn = np.random.RandomState(0).choice(rows, MAX_LOOKED_AT, replace=False)
    return np.union1d(drawn, np.intersect1d(rows, np.asarray(also, dtype=np.int64)))


def _need(rows: Any, n: int, verb: str) -> None:
    if len(rows) < n:
        raise SessionError(f"{verb}: choose {n} rows or more; got {len(rows)}.")
