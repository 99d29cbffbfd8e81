"""Belief propagation over statements that may be wrong: messages along the graph of linked rows.

Rows u have probabilities own[u, c] of their clusters; an edge multiplies the weight of a labelling
by exp(pull) when its two rows share a cluster: a must-link pulls with β > 0, a cannot-link with −β;
given is its `gain`, exp(β) − 1, and the negative of that. Messages are factors of weights, from 1
to exp(β), kept at the place of their receiver: message[e] comes from neighbor[e] to the row that
owns place e, and message[back[e]] goes the other way.
"""

import numpy as np

from conclust._kernels._jit import helper, jit

# Of so many messages, each e^50 at most, the product is a number, and what is too small to be one
# among a row's own probabilities stays negligible. Rows with more need logarithms, which are dear.
MANY = 14


@jit
def breadth_first(indptr, neighbor, starts, order):
    """Rows level by level, from the first start in each component: parents before children.

    indptr, neighbor                int64   in    CSR of the graph, both directions
    starts             (n_starts,)  int64   in    every row of the graph, at least once
    order              (n_rows,)    int64   out
    """
    seen = np.zeros(len(order), np.bool_)
    at, n_found = 0, 0
    for start in starts:
        if not seen[start]:
            seen[start] = True
            order[n_found] = start
            n_found += 1
        while at < n_found:
            u = order[at]
            at += 1
            for e in range(indptr[u], indptr[u + 1]):
                if not seen[neighbor[e]]:
                    seen[neighbor[e]] = True
                    order[n_found] = neighbor[e]
                    n_found += 1


@jit
def sweep(visits, indptr, back, gain, damped, own, log_own, message):
    """Let rows speak to their neighbours, one after the other.

    visits   (n_visits,)             int64     in       rows, in the order they speak
    indptr   (n_rows + 1,)           int64     in       CSR of the graph, both directions
    back     (n_places,)             int64     in       the place of the same edge at its other end
    gain     (n_places,)             float64   in       of the edge
    damped   (n_rows,)               bool      in       who stays halfway to what was said before
    own      (n_rows, n_clusters)    float64   in
    log_own  (n_rows, n_clusters)    float64   in
    message  (n_places, n_clusters)  float64   in/out

    Returns the largest change of a message, relative to what it was.
    """
    n_clusters = own.shape[1]
    weight = np.empty(n_clusters)
    said = np.empty(n_clusters)
    largest = 0.0
    for u in visits:
        _gather(indptr, own, log_own, message, u, weight)
        for e in range(indptr[u], indptr[u + 1]):
            out = message[back[e]]
            total = _without(weight, message[e], said)
            if gain[e] >= 0:
                for c in range(n_clusters):
                    said[c] = 1.0 + gain[e] * (said[c] / total)
            else:
                for c in range(n_clusters):
                    said[c] = 1.0 - gain[e] * (1.0 - said[c] / total)
            if damped[u]:
                for c in range(n_clusters):
                    said[c] = np.sqrt(said[c] * out[c])
            for c in range(n_clusters):
                change = abs(said[c] - out[c])
                if change > largest * out[c]:
                    largest = change / out[c]
                out[c] = said[c]
    return largest


@jit
def conclude(indptr, neighbor, back, gain, own, log_own, message, probability, together):
    """What the messages add up to.

    indptr, neighbor, back           int64     in    CSR of the graph, both directions
    gain         (n_places,)         float64   in
    own          (n_rows, n_clusters)     float64   in
    log_own      (n_rows, n_clusters)     float64   in
    message      (n_places, n_clusters)   float64   in
    probability  (n_rows, n_clusters)     float64   out   of the clusters of each row
    together     (n_places,)              float64   out   that the ends of an edge share a cluster

    Returns log Σ_l Π_u own[u, l_u] Π_edges exp(pull [same]): exact on forests, elsewhere Bethe's
    approximation.
    """
    n_rows, n_clusters = own.shape
    mine = np.empty(n_clusters)
    theirs = np.empty(n_clusters)
    log_z = 0.0
    for u in range(n_rows):
        log_z += _gather(indptr, own, log_own, message, u, probability[u])
        total = 0.0
        for c in range(n_clusters):
            total += probability[u, c]
        log_z += np.log(total)
        for c in range(n_clusters):
            probability[u, c] /= total
    for u in range(n_rows):
        for e in range(indptr[u], indptr[u + 1]):
            v = neighbor[e]
            if v < u:
                continue
            total = _without(probability[u], message[e], mine)
            total *= _without(probability[v], message[back[e]], theirs)
            same = 0.0
            for c in range(n_clusters):
                same += mine[c] * theirs[c]
            same = min(same / total, 1.0)
            if gain[e] >= 0:
                total = 1.0 + gain[e] * same
                log_z -= np.log(total)
                together[e] = same * (1.0 + gain[e]) / total
            else:
                total = 1.0 - gain[e] * (1.0 - same)
                log_z -= np.log(total)
                log_z -= np.log1p(-gain[e])
                together[e] = same / total
            together[back[e]] = together[e]
    return log_z


@helper
def _gather(indptr, own, log_own, message, u, weight):
    """Weights of row u's clusters by itself and all that its neighbours say.

    Returns the logarithm of what they were divided by.
    """
    n_clusters = len(weight)
    first, last = indptr[u], indptr[u + 1]
    if last - first <= MANY:
        weight[:] = own[u]
        for e in range(first, last):
            for c in range(n_clusters):
                weight[c] *= message[e, c]
        return 0.0
    weight[:] = log_own[u]
    for e in range(first, last):
        for c in range(n_clusters):
            weight[c] += np.log(message[e, c])
    top = -np.inf
    for c in range(n_clusters):
        top = max(top, weight[c])
    for c in range(n_clusters):
        weight[c] = np.exp(weight[c] - top)
    return top


@helper
def _without(weight, message, rest):
    """The weights without one message, and their sum."""
    total = 0.0
    for c in range(len(weight)):
        rest[c] = weight[c] / message[c]
    for c in range(len(weight)):
        total += rest[c]
    return total
