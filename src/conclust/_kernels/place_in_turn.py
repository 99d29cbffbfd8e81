"""Place units of must-linked rows, one cannot-link after the other by priority; it never fails.

A cannot-link places those of its two units that have no cluster yet. A unit takes its cheapest
cluster among those that no unit apart from it holds; where all are held, the cheapest. Of two
units without a cluster the one goes first to which its second choice costs more.
"""

import numpy as np

from conclust._kernels._jit import helper, jit

FREE = -1  # no cluster yet


@jit
def place_in_turn(cost, slot, links, indptr, neighbor, labels):
    """Give every unit that is there a cluster.

    cost              (any, n_clusters)  float64  in      of each unit that is there
    slot              (n_units,)         int64    in      its row in `cost`, FREE if not there
    links             (n_links, 2)       int64    in      units to keep apart, heaviest first
    indptr, neighbor                     int64    in      CSR of all units to keep apart
    labels            (n_units,)         int32    in/out  FREE on entry, and where not there
    """
    held = np.zeros(cost.shape[1], np.bool_)
    for n in range(links.shape[0]):
        first, other = links[n]
        if _waits(first, slot, labels) and _waits(other, slot, labels):
            _, loss = _choice(cost, slot, first, indptr, neighbor, labels, held)
            _, other_loss = _choice(cost, slot, other, indptr, neighbor, labels, held)
            if other_loss > loss:
                first, other = other, first
        for unit in (first, other):
            if _waits(unit, slot, labels):
                labels[unit], _ = _choice(cost, slot, unit, indptr, neighbor, labels, held)
    for unit in range(slot.shape[0]):
        if _waits(unit, slot, labels):
            labels[unit] = np.argmin(cost[slot[unit]])


@helper
def _waits(unit, slot, labels):
    return slot[unit] != FREE and labels[unit] == FREE


@helper
def _choice(cost, slot, unit, indptr, neighbor, labels, held):
    """Return the cheapest cluster still allowed, and what the next one would cost more."""
    held[:] = False
    for e in range(indptr[unit], indptr[unit + 1]):
        if labels[neighbor[e]] != FREE:
            held[labels[neighbor[e]]] = True
    own = cost[slot[unit]]
    best = FREE
    least, second = np.inf, np.inf
    for cluster in range(own.shape[0]):
        if held[cluster]:
            continue
        if best == FREE or own[cluster] < least:
            best, least, second = cluster, own[cluster], least
        elif own[cluster] < second:
            second = own[cluster]
    if best == FREE:
        return np.argmin(own), 0.0
    return best, second - least
