"""Belief propagation over statements that may be wrong: messages along the graph of linked rows.

Rows u have log weights prior[u, c] of their clusters; an edge multiplies the weight of a labelling
by exp(pull) when its two rows share a cluster: a must-link pulls with β > 0, a cannot-link with
−β. Messages are kept at the place of their receiver: message[e] comes from neighbor[e] to the row
that owns place e, and message[back[e]] goes the other way.
"""

import numpy as np

from conclust._kernels._jit import helper, jit


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
def sweep(visits, indptr, back, pull, keep, prior, message):
    """Let rows speak to their neighbours, one after the other.

    visits   (n_visits,)             int64     in       rows, in the order they speak
    indptr   (n_rows + 1,)           int64     in       CSR of the graph, both directions
    back     (n_places,)             int64     in       the place of the same edge at its other end
    pull     (n_places,)             float64   in       of the edge
    keep     (n_rows,)               float64   in       share of what was said before (damping)
    prior    (n_rows, n_clusters)    float64   in
    message  (n_places, n_clusters)  float64   in/out

    Returns the largest change of a message.
    """
    n_clusters = prior.shape[1]
    belief = np.empty(n_clusters)
    cavity = np.empty(n_clusters)
    largest = 0.0
    for u in visits:
        _gather(indptr, prior, message, u, belief)
        for e in range(indptr[u], indptr[u + 1]):
            _without(belief, message[e], cavity)
            gain = np.expm1(abs(pull[e]))
            out = message[back[e]]
            for c in range(n_clusters):
                share = cavity[c] if pull[e] >= 0 else 1.0 - cavity[c]
                said = np.log1p(gain * share)
                new = said + keep[u] * (out[c] - said)
                largest = max(largest, abs(new - out[c]))
                out[c] = new
    return largest


@jit
def conclude(indptr, neighbor, back, pull, prior, message, probability, together):
    """What the messages add up to.

    indptr, neighbor, back           int64     in    CSR of the graph, both directions
    pull         (n_places,)         float64   in
    prior        (n_rows, n_clusters)     float64   in
    message      (n_places, n_clusters)   float64   in
    probability  (n_rows, n_clusters)     float64   out   of the clusters of each row
    together     (n_places,)              float64   out   that the ends of an edge share a cluster

    Returns log Σ_l Π_u p(l_u) Π_edges exp(pull [same]), p the normalised prior: exact on forests,
    Bethe's approximation elsewhere.
    """
    n_clusters = prior.shape[1]
    belief = np.empty(n_clusters)
    cavity = np.empty(n_clusters)
    other = np.empty(n_clusters)
    log_z = 0.0
    for u in range(len(indptr) - 1):
        _gather(indptr, prior, message, u, belief)
        log_z += _log_sum(belief) - _log_sum(prior[u])
        other[:] = 0.0
        _without(belief, other, probability[u])
        for e in range(indptr[u], indptr[u + 1]):
            v = neighbor[e]
            if v < u:
                continue
            _without(belief, message[e], cavity)
            _gather(indptr, prior, message, v, other)
            for c in range(n_clusters):
                other[c] -= message[back[e], c]
            log_v = _log_sum(other)
            same = 0.0
            for c in range(n_clusters):
                same += cavity[c] * np.exp(other[c] - log_v)
            same = min(same, 1.0)
            gain = np.expm1(abs(pull[e]))
            if pull[e] >= 0:
                total = 1.0 + gain * same
                log_z -= np.log(total)
                together[e] = same * (1.0 + gain) / total
            else:
                total = 1.0 + gain * (1.0 - same)
                log_z -= np.log(total)
                log_z += pull[e]
                together[e] = same / total
            together[back[e]] = together[e]
    return log_z


@helper
def _gather(indptr, prior, message, u, belief):
    """What row u believes: its own log weights and all that its neighbours say."""
    for c in range(len(belief)):
        belief[c] = prior[u, c]
    for e in range(indptr[u], indptr[u + 1]):
        for c in range(len(belief)):
            belief[c] += message[e, c]


@helper
def _without(belief, said, cavity):
    """The belief without one message, as probabilities."""
    top = -np.inf
    for c in range(len(belief)):
        cavity[c] = belief[c] - said[c]
        top = max(top, cavity[c])
    total = 0.0
    for c in range(len(belief)):
        cavity[c] = np.exp(cavity[c] - top)
        total += cavity[c]
    for c in range(len(belief)):
        cavity[c] /= total


@helper
def _log_sum(values):
    top = -np.inf
    for c in range(len(values)):
        top = max(top, values[c])
    total = 0.0
    for c in range(len(values)):
        total += np.exp(values[c] - top)
    return top + np.log(total)
