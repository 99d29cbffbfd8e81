"""Cores, cliques, odd cycles and colourings of tiny graphs, by trying everything."""

import itertools

import numpy as np


def neighbors(edges, n):
    linked = [set() for _ in range(n)]
    for i, j in edges:
        linked[i].add(int(j))
        linked[j].add(int(i))
    return linked


def csr(edges, n):
    """The symmetric CSR of a list of edges, with sorted rows."""
    linked = neighbors(edges, n)
    indptr = np.cumsum([0] + [len(row) for row in linked])
    indices = [v for row in linked for v in sorted(row)]
    return indptr.astype(np.int64), np.array(indices, dtype=np.int64)


def core(edges, n, k):
    """The largest set of vertices that all have at least k neighbours in it."""
    linked = neighbors(edges, n)
    for size in range(n, 0, -1):
        for some in itertools.combinations(range(n), size):
            if all(len(linked[v] & set(some)) >= k for v in some):
                return set(some)
    return set()


def is_clique(vertices, edges):
    given = {frozenset(map(int, e)) for e in edges}
    return all(frozenset(pair) in given for pair in itertools.combinations(map(int, vertices), 2))


def has_clique(edges, n, size):
    return any(is_clique(some, edges) for some in itertools.combinations(range(n), size))


def is_coloring(colors, edges):
    return all(colors[i] != colors[j] for i, j in edges)


def has_coloring(edges, n, n_colors):
    return any(is_coloring(c, edges) for c in itertools.product(range(n_colors), repeat=n))


def shortest_odd_cycle(edges, n):
    """The length of a shortest odd cycle, 0 without one: powers of the adjacency matrix.

    A shortest odd closed walk is a cycle, so the first odd power with a diagonal entry tells.
    """
    adjacency = np.zeros((n, n), dtype=np.int64)
    for i, j in edges:
        adjacency[i, j] = adjacency[j, i] = 1
    walks = adjacency
    for length in range(3, n + 1, 2):
        walks = np.minimum(walks @ adjacency @ adjacency, 1)
        if np.trace(walks):
            return length
    return 0


def mycielski(edges, n):
    """A graph with one more colour needed and no new triangle: 2n + 1 vertices.

    Vertex v gets a double n + v linked to v's neighbours, and all doubles are linked to 2n.
    """
    doubles = [(i, n + j) for i, j in edges] + [(j, n + i) for i, j in edges]
    return [*edges, *doubles, *((n + v, 2 * n) for v in range(n))], 2 * n + 1


def groetzsch():
    """The smallest triangle-free graph that needs four colours: Mycielski's graph of a pentagon."""
    return mycielski([(v, (v + 1) % 5) for v in range(5)], 5)
