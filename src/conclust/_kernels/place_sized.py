"""Vertices of any mass into clusters of bounded sizes: prices, and moves that mend what is left.

What the clusters hold is `load`. How far that is from the sizes is the *misfit*,

    Σ_c max(load_c − upper_c, 0)  +  max(Σ_c max(lower_c − load_c, 0) − fluid, 0),

`fluid` being the mass of rows that are placed afterwards and go anywhere. Links are those of
`place_soft`, with one price each; a price of infinity forbids.
"""

import numpy as np

from conclust._kernels._jit import helper, inlined, jit

NONE = -1


@jit
def price_labels(cost, mass, price, labels, load):
    """Label every vertex where cost + mass · price is least; return the sum of those.

    cost             (n, k)        float64   in
    mass             (n,)          float64   in
    price            (k,)          float64   in
    labels           (n,)          int64     out     the lowest cluster on ties
    load             (k,)          float64   out     mass of each cluster
    """
    n_vertices, n_clusters = cost.shape
    load[:] = 0.0
    total = 0.0
    for vertex in range(n_vertices):
        cluster = 0
        least = cost[vertex, 0] + mass[vertex] * price[0]
        for c in range(1, n_clusters):
            value = cost[vertex, c] + mass[vertex] * price[c]
            if value < least:
                cluster, least = c, value
        labels[vertex] = cluster
        load[cluster] += mass[vertex]
        total += least
    return total


@jit
def fit_sizes(
    cost, mass, indptr, neighbor, link, sign, price, lower, upper, fluid, slack, max_passes, budget,
    labels, load,
):  # fmt: skip
    """Move and swap vertices until the sizes fit, then as long as that saves cost.

    cost             (n, k)        float64   in
    mass             (n,)          float64   in
    indptr           (v + 1,)      int64     in      CSR of the links; vertices from v on have none
    neighbor, link   (2 p,)        int64     in
    sign             (p,)          int8      in      +1 must-link, −1 cannot-link
    price            (p,)          float64   in
    lower, upper     (k,)          float64   in
    fluid                          float     in      mass that is placed afterwards
    slack                          float     in      misfit that is rounding
    max_passes                     int       in
    budget                         int       in      pairs of vertices looked at for swaps
    labels           (n,)          int64     inout
    load             (k,)          float64   inout

    Vertices are visited by what their best move costs for the misfit it mends. Returns the misfit.
    """
    n_vertices, n_clusters = cost.shape
    bill, other_bill = np.empty(n_clusters), np.empty(n_clusters)
    score, sums = np.empty(n_vertices), np.empty(2)
    misfit = _misfit(load, lower, upper, fluid, sums)
    for _ in range(max_passes):
        n_moves = 0
        for vertex in range(n_vertices):
            _fill_bill(vertex, cost, indptr, neighbor, link, sign, price, labels, bill)
            _, score[vertex] = _best_move(
                labels[vertex], mass[vertex], bill, load, lower, upper, fluid, sums, slack, misfit
            )
        for vertex in np.argsort(score, kind="mergesort"):
            if score[vertex] == np.inf:
                break
            _fill_bill(vertex, cost, indptr, neighbor, link, sign, price, labels, bill)
            source = labels[vertex]
            target, value = _best_move(
                source, mass[vertex], bill, load, lower, upper, fluid, sums, slack, misfit
            )
            if value < np.inf:
                labels[vertex] = target
                load[source] -= mass[vertex]
                load[target] += mass[vertex]
                misfit = _misfit(load, lower, upper, fluid, sums)
                n_moves += 1
        if n_moves == 0:
            n_seen = 0
            for one in range(n_vertices):
                n_seen += n_vertices - one
                if n_seen > budget:
                    break
                misfit, moved = _swap_with_later(
                    one, cost, mass, indptr, neighbor, link, sign, price, lower, upper, fluid,
                    sums, slack, misfit, bill, other_bill, labels, load,
                )  # fmt: skip
                n_moves += moved
        if n_moves == 0:
            break
    return misfit


@helper
def _misfit(load, lower, upper, fluid, sums):
    """The misfit; leave its two sums, of what is too much and of what is missing, in `sums`."""
    sums[:] = 0.0
    for c in range(len(load)):
        sums[0] += max(load[c] - upper[c], 0.0)
        sums[1] += max(lower[c] - load[c], 0.0)
    return sums[0] + max(sums[1] - fluid, 0.0)


@helper
def _misfit_after(source, target, mass, load, lower, upper, fluid, sums):
    """The misfit if so much mass went from one cluster to another."""
    over, need = sums
    for c, change in ((source, -mass), (target, mass)):
        over += max(load[c] + change - upper[c], 0.0) - max(load[c] - upper[c], 0.0)
        need += max(lower[c] - load[c] - change, 0.0) - max(lower[c] - load[c], 0.0)
    return over + max(need - fluid, 0.0)


@helper
def _fill_bill(vertex, cost, indptr, neighbor, link, sign, price, labels, bill):
    """What the vertex costs in each cluster, its links included."""
    bill[:] = cost[vertex]
    if vertex >= len(indptr) - 1:
        return
    for e in range(indptr[vertex], indptr[vertex + 1]):
        there = labels[neighbor[e]]
        if sign[link[e]] < 0:
            bill[there] += price[link[e]]
        else:
            for c in range(len(bill)):
                if c != there:
                    bill[c] += price[link[e]]


@helper
def _best_move(source, mass, bill, load, lower, upper, fluid, sums, slack, misfit):
    """Where to move a vertex, and what that costs for the misfit it mends; inf: it stays.

    Moves that mend nothing and save cost come last, at no misfit but rounding.
    """
    target, least = NONE, np.inf
    if bill[source] == np.inf:
        return target, least
    for c in range(len(bill)):
        if c == source or bill[c] == np.inf:
            continue
        if misfit > slack:
            mended = misfit - _misfit_after(source, c, mass, load, lower, upper, fluid, sums)
            value = (bill[c] - bill[source]) / mended if mended > slack else np.inf
        elif bill[c] < bill[source] - 1e-12 * abs(bill[source]):
            after = _misfit_after(source, c, mass, load, lower, upper, fluid, sums)
            value = bill[c] - bill[source] if after <= slack else np.inf
        else:
            value = np.inf
        if value < least:
            target, least = c, value
    return target, least


@inlined
def _swap_with_later(
    one, cost, mass, indptr, neighbor, link, sign, price, lower, upper, fluid, sums, slack, misfit,
    bill, other_bill, labels, load,
):  # fmt: skip
    """Swap a vertex with the later one with which that mends or saves most; say if it was done."""
    here = labels[one]
    _fill_bill(one, cost, indptr, neighbor, link, sign, price, labels, bill)
    partner, most, lowest = NONE, slack if misfit > slack else 0.0, np.inf
    if bill[here] < np.inf:
        for other in range(one + 1, len(labels)):
            there = labels[other]
            if there == here or bill[there] == np.inf:
                continue
            less = mass[one] - mass[other]
            after = _misfit_after(here, there, less, load, lower, upper, fluid, sums)
            saved = bill[here] - bill[there] + cost[other, there] - cost[other, here]
            if misfit > slack:
                better = misfit - after > most + slack or (
                    misfit - after > slack and misfit - after >= most and -saved < lowest
                )
            else:
                better = after <= slack and saved > most + 1e-12 * abs(bill[here])
            if not better:
                continue
            # Links of the two, as they are once the first has moved.
            labels[one] = there
            _fill_bill(other, cost, indptr, neighbor, link, sign, price, labels, other_bill)
            labels[one] = here
            saved = bill[here] - bill[there] + other_bill[there] - other_bill[here]
            if not np.isfinite(saved):
                continue
            if misfit > slack:
                partner, most, lowest = other, misfit - after, -saved
            elif saved > most + 1e-12 * abs(bill[here]):
                partner, most = other, saved
    if partner == NONE:
        return misfit, False
    there = labels[partner]
    labels[one], labels[partner] = there, here
    load[here] += mass[partner] - mass[one]
    load[there] += mass[one] - mass[partner]
    return _misfit(load, lower, upper, fluid, sums), True
