"""Shortest paths in an unweighted graph, by breadth-first search from both ends."""

import numpy as np

from conclust._kernels._jit import jit


@jit
def shortest_paths(indptr, indices, edges, sources, targets, out_indptr, out_edges):
    """Find one shortest path for each (source, target), written as edge numbers.

    indptr, indices    int64        in    CSR of the graph, both directions
    edges      (nnz,)  int64        in    edge number of each CSR entry
    sources, targets (q,) int64     in    queries
    out_indptr (q + 1,) int64       out   path p is out_edges[out_indptr[p]:out_indptr[p + 1]]
    out_edges  (room,) int64        out   from source to target

    Returns the number of queries answered: fewer than q when `out_edges` is full. Two vertices
    that are not connected get an empty path.
    """
    n = len(indptr) - 1
    # The stamp says which search, and from which end, reached a vertex: 2q+1 source, 2q+2 target.
    stamp = np.zeros(n, np.int64)
    via_edge = np.empty(n, np.int64)
    via_vertex = np.empty(n, np.int64)
    queue = np.empty((2, n), np.int64)
    reversed_half = np.empty(n, np.int64)
    used = 0
    out_indptr[0] = 0
    for q in range(len(sources)):
        source, target = sources[q], targets[q]
        start = np.zeros(2, np.int64)
        stop = np.ones(2, np.int64)
        queue[0, 0], queue[1, 0] = source, target
        stamp[source], stamp[target] = 2 * q + 1, 2 * q + 2
        via_vertex[source], via_vertex[target] = -1, -1
        meet_near, meet_far, meet_edge = -1, -1, -1
        while meet_edge < 0 and source != target:
            # Grow the end with the smaller frontier by one whole level: the first meeting found
            # lies on a shortest path, because both trees are complete up to their depth.
            side = 0 if stop[0] - start[0] <= stop[1] - start[1] else 1
            if start[side] == stop[side]:
                break
            mine = 2 * q + 1 + side
            theirs = 2 * q + 2 - side
            level_end = stop[side]
            while start[side] < level_end and meet_edge < 0:
                v = queue[side, start[side]]
                start[side] += 1
                for e in range(indptr[v], indptr[v + 1]):
                    w = indices[e]
                    if stamp[w] == theirs:
                        meet_near, meet_far, meet_edge = v, w, edges[e]
                        break
                    if stamp[w] != mine:
                        stamp[w] = mine
                        via_vertex[w], via_edge[w] = v, edges[e]
                        queue[side, stop[side]] = w
                        stop[side] += 1
            if meet_edge >= 0 and side == 1:
                meet_near, meet_far = meet_far, meet_near
        if meet_edge >= 0:
            n_half = 0
            v = meet_near
            while via_vertex[v] >= 0:
                reversed_half[n_half] = via_edge[v]
                n_half += 1
                v = via_vertex[v]
            n_rest = 0
            v = meet_far
            while via_vertex[v] >= 0:
                n_rest += 1
                v = via_vertex[v]
            if used + n_half + 1 + n_rest > len(out_edges):
                return q
            for h in range(n_half - 1, -1, -1):
                out_edges[used] = reversed_half[h]
                used += 1
            out_edges[used] = meet_edge
            used += 1
            v = meet_far
            while via_vertex[v] >= 0:
                out_edges[used] = via_edge[v]
                used += 1
                v = via_vertex[v]
        out_indptr[q + 1] = used
    return len(sources)
