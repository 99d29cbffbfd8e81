"""Statements that cannot all hold: finding them, saying why, dropping the least."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust import _words
from conclust._arrays import FloatArray, IntArray
from conclust._kernels import coloring
from conclust._kernels._short import LITTLE, short
from conclust._kernels.disjoint_set import keep_consistent
from conclust._kernels.paths import shortest_paths
from conclust._pairs import Graph, connected, graph_of
from conclust.constraints._components import must_link_components

if TYPE_CHECKING:
    from conclust.constraints._constraints import Constraints

MAX_LISTED = 100  # of each kind: nobody reads more, and each takes a search of its own

# Links looked at while conflicts with a number of clusters are listed; a million links are looked
# at twice, which takes some seconds.
MAX_SCANNED = 2_000_000

# Steps of the exact searches for a clique or a colouring; a few seconds at most. A step of the
# latter looks at all links of a vertex: with many of them there are fewer steps.
BUDGET = 2_000_000
MANY_LINKS = 10

# The hitting-set search of `repair` walks one path per contradiction in every round; above this
# many it would be slower than it is worth, and the greedy orders decide alone.
MAX_EXPLAINED = 5_000


@dataclass(frozen=True)
class Conflict:
    """A smallest set of statements that cannot all hold.

    Attributes
    ----------
    kind : {"contradiction", "too few clusters"}
    index : ndarray
        The statements, as positions in the set they were found in.
    constraints : Constraints
        The set they were found in.
    statements : Constraints
        The statements themselves.
    n_clusters : int or None
        The number of clusters they are too many for.
    reason : str
        Why, in a sentence with the user's ids; also ``str(conflict)``.
    """

    kind: Literal["contradiction", "too few clusters"]
    index: IntArray
    constraints: "Constraints"
    n_clusters: int | None
    reason: str

    @property
    def statements(self) -> "Constraints":
        """The clashing statements as a set of their own."""
        return self.constraints[self.index]

    def __str__(self) -> str:
        return self.reason

    def __repr__(self) -> str:
        return f"Conflict({self.reason})"


def find_conflicts(
    constraints: "Constraints", n_clusters: int | None = None, at_most: int | None = None
) -> list[Conflict]:
    """List the conflicts of a set; see :meth:`conclust.Constraints.conflicts`."""
    component, _ = must_link_components(constraints)
    found = contradictions(constraints, component, at_most)
    if n_clusters is not None:
        if isinstance(n_clusters, bool) or n_clusters != int(n_clusters) or n_clusters < 1:
            raise ValueError(f"n_clusters must be a positive integer or None; got {n_clusters!r}.")
        found += too_few_clusters(constraints, component, int(n_clusters), at_most)
    return found


# ---------------------------------------------------------------------- contradictions


def contradictions(
    constraints: "Constraints", component: IntArray, at_most: int | None = None
) -> list[Conflict]:
    """Explain cannot-links inside a must-link component, each by a shortest must-link path."""
    pairs, statements = clashing_pairs(constraints, component)
    pairs, statements = pairs[:at_most], statements[:at_most]
    if not len(pairs):
        return []
    paths = _must_link_paths(constraints, pairs)
    return [
        Conflict(
            "contradiction",
            np.append(path, by).astype(np.int64),
            constraints,
            None,
            _words.joined_yet_apart(_walk(constraints, int(pair[0]), path)),
        )
        for pair, by, path in zip(pairs, statements, paths, strict=True)
    ]


def clashing_pairs(constraints: "Constraints", component: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs of samples both joined and apart, (m, 2), and the statement that says apart, (m,)."""
    is_inside = component[constraints.cannot_link]
    inside = is_inside[:, 0] == is_inside[:, 1]
    ends = [constraints.cannot_link[inside]]
    statement = [np.flatnonzero(constraints.kinds == "cannot-link")[inside]]
    for i, members in zip(
        np.flatnonzero(constraints.kinds == "apart"), constraints.apart_groups, strict=True
    ):
        # Of m members in one component, m - 1 clashing pairs are enough to explain the clash.
        clashing = _neighbors_in_component(members, component)
        ends.append(clashing)
        statement.append(np.full(len(clashing), i))
    pairs, statements = np.concatenate(ends), np.concatenate(statement)
    order = np.argsort(statements, kind="stable")
    return pairs[order], statements[order]


def _neighbors_in_component(members: IntArray, component: IntArray) -> IntArray:
    """Chain the members that lie in the same component: the (m - 1) links of each such chain."""
    members = members[np.argsort(component[members], kind="stable")]
    same = component[members[1:]] == component[members[:-1]]
    return np.column_stack([members[:-1][same], members[1:][same]])


def _walk(constraints: "Constraints", start: int, path: IntArray) -> list[str]:
    """The names of the samples along a path of must-link statements."""
    walk = [start]
    for i in path:
        a, b = constraints[int(i)].samples
        walk.append(b if a == walk[-1] else a)
    return [constraints.name(s) for s in walk]


def _must_link_graph(constraints: "Constraints") -> Graph:
    """The must-links as a graph over samples, its links numbered by statement."""
    graph = graph_of(constraints.must_link, int(constraints.samples[-1]) + 1, sort=True)
    return graph._replace(link=np.flatnonzero(constraints.kinds == "must-link")[graph.link])


def _must_link_paths(constraints: "Constraints", pairs: IntArray) -> list[IntArray]:
    """A shortest path of must-link statements between each two samples."""
    graph = _must_link_graph(constraints)
    paths: list[IntArray] = []
    room = max(16 * len(pairs), len(graph.indptr))
    while len(paths) < len(pairs):
        rest = pairs[len(paths) :]
        indptr = np.zeros(len(rest) + 1, dtype=np.int64)
        edges = np.empty(room, dtype=np.int64)
        done = shortest_paths(*graph, rest[:, 0].copy(), rest[:, 1].copy(), indptr, edges)
        paths += [edges[indptr[q] : indptr[q + 1]].copy() for q in range(done)]
        # A path has at most n edges, so with room for n at least one query is answered.
    return paths


# ---------------------------------------------------------------------- too few clusters


def too_few_clusters(
    constraints: "Constraints", component: IntArray, n_clusters: int, at_most: int | None = None
) -> list[Conflict]:
    """Find parts of the cannot-link graph that need more than `n_clusters` clusters."""
    most = len(constraints) if at_most is None else at_most
    found = []
    small_groups = np.ones(len(constraints), dtype=bool)
    for i, members in zip(
        np.flatnonzero(constraints.kinds == "apart"), constraints.apart_groups, strict=True
    ):
        if len(members) > n_clusters:
            small_groups[i] = False
            found.append(_group_conflict(constraints, int(i), members, n_clusters))
    # A group that is small enough has at most n_clusters members, so writing it out is cheap.
    pairs = constraints[small_groups].pairs()
    statement = np.flatnonzero(small_groups)[pairs.statement]
    ends = np.sort(component[pairs.pairs], axis=1)
    use = (pairs.sign < 0) & (ends[:, 0] != ends[:, 1])
    ends, statement, said, weight = ends[use], statement[use], pairs.pairs[use], pairs.weight[use]
    # Of several statements between the same components keep the heaviest.
    order = np.lexsort((-weight, ends[:, 1], ends[:, 0]))
    ends, statement, said = ends[order], statement[order], said[order]
    new = np.ones(len(ends), dtype=bool)
    new[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    graph = _ApartGraph(ends[new], statement[new], said[new])
    if n_clusters == 1:
        return found + [
            Conflict(
                "too few clusters",
                graph.statement[[e]],
                constraints,
                1,
                _words.one_cluster([constraints.name(int(s)) for s in graph.said[e]]),
            )
            for e in range(len(graph.ends[:most]))
        ]
    parts, n_scanned = [graph], 0
    while parts and len(found) < most and n_scanned < MAX_SCANNED:
        whole = parts.pop()
        n_scanned += len(whole.ends)
        for part in _connected_cores(whole, n_clusters):
            if len(found) >= most:
                break
            edges = _uncolorable_part(part, n_clusters)
            if edges is not None:
                found.append(_crowd_conflict(constraints, component, part, edges, n_clusters))
                parts.append(part.without(edges))
    return found[:most]


class _ApartGraph(NamedTuple):
    """Components that must stay apart, each edge with the statement behind it."""

    ends: IntArray  # (p, 2) components
    statement: IntArray  # (p,)
    said: IntArray  # (p, 2) the samples the statement names

    def without(self, edges: IntArray) -> "_ApartGraph":
        return self.only(np.delete(np.arange(len(self.ends)), edges))

    def only(self, edges: IntArray) -> "_ApartGraph":
        return _ApartGraph(self.ends[edges], self.statement[edges], self.said[edges])


def _connected_cores(graph: _ApartGraph, n_clusters: int) -> list[_ApartGraph]:
    """The connected parts of the graph that are left after peeling vertices easy to colour.

    A vertex with fewer than n_clusters neighbours always finds a free cluster, whatever the
    others do, so only the n_clusters-core can be in the way.
    """
    if not len(graph.ends):
        return []
    vertices, ends = np.unique(graph.ends, return_inverse=True)
    ends = ends.reshape(-1, 2)
    indptr, indices, _ = graph_of(ends, len(vertices), sort=True)
    alive = np.ones(len(vertices), dtype=np.bool_)
    coloring.core(indptr, indices, n_clusters, alive)
    inside = np.flatnonzero(alive[ends].all(axis=1))
    part, _ = connected(ends[inside], len(vertices))
    part_of_edge = part[ends[inside, 0]]
    order = np.argsort(part_of_edge, kind="stable")
    bounds = np.flatnonzero(np.diff(part_of_edge[order])) + 1
    return [graph.only(e) for e in np.split(inside[order], bounds) if len(e)]


def _uncolorable_part(graph: _ApartGraph, n_clusters: int) -> IntArray | None:
    """Edges of a small part of a connected core that needs more colours, or None."""
    vertices, ends = np.unique(graph.ends, return_inverse=True)
    ends = ends.reshape(-1, 2)
    indptr, indices, entry = graph_of(ends, len(vertices), sort=True)
    alive = np.ones(len(vertices), dtype=np.bool_)
    if n_clusters == 2:
        cycle = np.empty(len(vertices), dtype=np.int64)
        length = coloring.odd_cycle(indptr, indices, alive, cycle)
        return _edges_along(cycle[:length], indptr, indices, entry) if length else None
    members = np.empty(n_clusters + 1, dtype=np.int64)
    status = coloring.find_clique(indptr, indices, alive, n_clusters + 1, BUDGET, members)
    if status == coloring.FOUND:
        return _edges_among(members, ends)
    part = _critical_vertices(indptr, indices, alive, n_clusters)
    return None if part is None else _edges_among(part, ends)


def _critical_vertices(
    indptr: IntArray, indices: IntArray, alive: npt.NDArray[np.bool_], n_clusters: int
) -> IntArray | None:
    """Shrink a graph without colouring until every vertex is needed (deletion filter)."""
    colors = np.empty(len(alive), dtype=np.int64)
    budget = BUDGET * MANY_LINKS // max(len(indices) // len(alive), MANY_LINKS)
    if coloring.color(indptr, indices, alive, n_clusters, budget, colors) != coloring.NONE:
        return None
    for v in np.flatnonzero(alive):
        if not alive[v]:
            continue
        smaller = alive.copy()
        smaller[v] = False
        inner = smaller.copy()
        coloring.core(indptr, indices, n_clusters, inner)
        if not inner.any():
            continue
        if coloring.color(indptr, indices, inner, n_clusters, budget, colors) == coloring.NONE:
            alive = inner
    return np.flatnonzero(alive)


def _edges_among(vertices: IntArray, ends: IntArray) -> IntArray:
    inside = np.isin(ends, vertices).all(axis=1)
    return np.flatnonzero(inside)


def _edges_along(cycle: IntArray, indptr: IntArray, indices: IntArray, entry: IntArray) -> IntArray:
    edges = []
    for v, w in zip(cycle, np.roll(cycle, -1), strict=True):
        row = indices[indptr[v] : indptr[v + 1]]
        edges.append(entry[indptr[v] + np.searchsorted(row, w)])
    return np.array(edges, dtype=np.int64)


def _group_conflict(
    constraints: "Constraints", i: int, members: IntArray, n_clusters: int
) -> Conflict:
    names = [constraints.name(int(s)) for s in members[: _words.N_NAMED + 1]]
    return Conflict(
        "too few clusters",
        np.array([i], dtype=np.int64),
        constraints,
        n_clusters,
        _words.crowded_group(len(members), names, n_clusters),
    )


def _crowd_conflict(
    constraints: "Constraints",
    component: IntArray,
    graph: _ApartGraph,
    edges: IntArray,
    n_clusters: int,
) -> Conflict:
    said = graph.said[edges]
    crowd = np.unique(graph.ends[edges])
    # The statements name samples; must-links carry them over to whole components.
    named = np.unique(said)
    named = named[np.argsort(component[named], kind="stable")]
    joins = component[named[1:]] == component[named[:-1]]
    joined = np.column_stack([named[:-1][joins], named[1:][joins]])
    paths = _must_link_paths(constraints, joined) if len(joined) else []
    index = np.unique(np.concatenate([graph.statement[edges], *paths]).astype(np.int64))
    first = named[np.append(True, ~joins)]
    names = dict(zip(component[first].tolist(), map(constraints.name, first.tolist()), strict=True))
    ring = n_clusters == 2 and len(crowd) > 3
    listed = [names[c] for c in (_around(graph.ends[edges]) if ring else crowd.tolist())]
    reason = _words.crowd(listed, len(edges), n_clusters)
    return Conflict("too few clusters", index, constraints, n_clusters, reason)


def _around(ring: IntArray) -> list[int]:
    """The vertices of a cycle whose edges are given in cyclic order."""
    edges = [set(e) for e in ring.tolist()]
    return [next(iter(edges[i - 1] & edges[i])) for i in range(len(edges))]


# ---------------------------------------------------------------------- dropping


def hitting_set(sets: Sequence[IntArray], weight: FloatArray) -> IntArray:
    """Greedily choose statements so that every set holds one: most sets per weight first."""
    holders: dict[int, list[int]] = {}
    for s, members in enumerate(sets):
        for i in members.tolist():
            holders.setdefault(i, []).append(s)
    open_count = {i: len(h) for i, h in holders.items()}
    queue = [(-count / weight[i], -i, count) for i, count in open_count.items()]
    heapq.heapify(queue)
    is_open = np.ones(len(sets), dtype=bool)
    chosen = []
    while is_open.any():
        _, minus_i, count = heapq.heappop(queue)
        i = -minus_i
        if count != open_count[i]:  # stale: some of its sets were hit since
            if open_count[i]:
                heapq.heappush(queue, (-open_count[i] / weight[i], -i, open_count[i]))
            continue
        chosen.append(i)
        for s in holders[i]:
            if is_open[s]:
                is_open[s] = False
                for other in sets[s].tolist():
                    open_count[other] -= 1
    return np.array(sorted(chosen), dtype=np.int64)


def repair(constraints: "Constraints") -> IntArray:
    """Choose statements to drop so that the rest is consistent, and as heavy as can be found."""
    component, _ = must_link_components(constraints)
    clashing_groups = [_clashing_pairs(g, component) for g in constraints.apart_groups]
    ends = component[constraints.cannot_link]
    n_clashing = int((ends[:, 0] == ends[:, 1]).sum()) + sum(map(len, clashing_groups))
    if not n_clashing:
        return np.empty(0, dtype=np.int64)
    links = constraints.kinds != "apart"
    said = constraints[links].pairs()
    group = np.repeat(np.flatnonzero(~links), [len(g) for g in clashing_groups])
    statement = np.concatenate([np.flatnonzero(links)[said.statement], group])
    pairs = np.concatenate([said.pairs, *clashing_groups])
    sign = np.concatenate([said.sign, np.full(len(group), -1, dtype=np.int8)])
    # A group goes or stays as a whole, so it weighs as much as all its pairs.
    weight = constraints.weight.copy()
    weight[~links] *= [len(g) * (len(g) - 1) / 2 for g in constraints.apart_groups]

    def left_out(order: IntArray) -> IntArray:
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        kept = np.zeros(len(pairs), dtype=np.bool_)
        visit = np.argsort(rank[statement], kind="stable")
        keep = short(keep_consistent, len(component) + len(pairs), LITTLE)
        keep(pairs, sign, visit, len(component), kept)
        return np.unique(statement[~kept])

    kinds = constraints.kinds
    candidates = [
        left_out(np.lexsort((kinds != first, -weight))) for first in ("must-link", "cannot-link")
    ]
    if n_clashing <= MAX_EXPLAINED:
        dropped = np.zeros(len(weight), dtype=bool)
        dropped[_hit_all(constraints, weight)] = True
        candidates.append(left_out(np.lexsort((-weight, dropped))))
    return min(candidates, key=lambda drop: float(weight[drop].sum()))


def _clashing_pairs(members: IntArray, component: IntArray) -> IntArray:
    """All pairs of members that lie in the same component."""
    members = members[np.argsort(component[members], kind="stable")]
    bounds = np.flatnonzero(np.diff(component[members])) + 1
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for together in np.split(members, bounds):
        if len(together) > 1:
            i, j = np.triu_indices(len(together), k=1)
            pairs.append(np.column_stack([together[i], together[j]]))
    return np.concatenate(pairs)


def _hit_all(constraints: "Constraints", weight: FloatArray) -> IntArray:
    """Drop a hitting set of the conflicts, look again, until none is left."""
    left = np.arange(len(constraints))
    while True:
        rest = constraints[left]
        component, _ = must_link_components(rest)
        found = contradictions(rest, component)
        if not found:
            return np.setdiff1d(np.arange(len(constraints)), left)
        left = np.delete(left, hitting_set([c.index for c in found], weight[left]))
