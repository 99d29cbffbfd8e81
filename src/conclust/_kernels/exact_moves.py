"""Single moves with the means moving along (Hartigan): what batch steps cannot see.

A part of mass w and mean m that leaves cluster a for b changes the sum of squared distances to the
means by

    w n_b / (n_b + w) ‖m − c_b‖²  −  w n_a / (n_a − w) ‖m − c_a‖²,

n being masses before the move: a batch step compares the distances alone, and so stays in
labellings that these moves leave. On the unit sphere, where a cluster of mass n and sum S costs
2 (n − ‖S‖), a part adds 2 (w − ‖S + w m‖ + ‖S‖) to a cluster whose others have the sum S. Links are
those of `place_soft`, with one price each; a price of infinity forbids.

Where clusters are full, nothing moves alone: two parts swap their clusters (`swap_parts`).
"""

import numpy as np

from conclust._kernels._jit import helper, inlined, jit

# Mass left behind by rounding, as a share of the mass that went.
NOTHING = 1e-9


@jit
def move_parts(
    means, mass, starts, members, indptr, neighbor, link, sign, price, order, max_passes, least,
    lower, upper, spherical, regret, labels, columns, masses,
):  # fmt: skip
    """Visit parts again and again; move each where distances and prices fall most.

    means            (m, d)        float64   in      of each part
    mass             (m,)          float64   in      of each part
    starts           (m + 1,)      int64     in      part h is ``members[starts[h]:starts[h + 1]]``
    members          (any,)        int64     in      vertices, ascending in each part
    indptr           (v + 1,)      int64     in      CSR of the links; vertices from v on have none
    neighbor, link   (2 p,)        int64     in
    sign             (p,)          int8      in      +1 must-link, −1 cannot-link
    price            (p,)          float64   in
    order            (any,)        int64     in      parts to visit
    max_passes                     int       in      visits of each part; 0 only fills `regret`
    least                          float     in      share of what is paid that a move must save
    lower, upper     (k,)          float64   in      masses that clusters may have
    spherical                      bool      in      rows and centres have unit length
    regret           (m,)          float64   out     what the best move would cost, as a share of
                                                     what is paid; infinite where none is allowed
    labels           (≥ v,)        int32     inout   of all vertices
    columns          (d, k)        float64   inout   means of the clusters
    masses           (k,)          float64   inout   of the clusters

    A part whose vertices lie in several clusters stays, and so do one that breaks what must not be
    broken and one that its cluster cannot spare. Returns how many moves were made.
    """
    n_clusters = len(masses)
    bill, squares = np.empty(n_clusters, np.float64), np.empty(n_clusters, np.float64)
    n_moves = 0
    for _ in range(max(max_passes, 1)):
        n_before = n_moves
        for part in order:
            vertices = members[starts[part] : starts[part + 1]]
            old = labels[vertices[0]]
            regret[part] = np.inf
            if masses[old] - mass[part] < lower[old]:
                continue
            if spherical:
                _fill_bill_on_sphere(means[part], mass[part], old, columns, masses, squares, bill)
            else:
                _fill_bill(means[part], mass[part], old, columns, masses, bill)
            if not _add_prices(vertices, old, indptr, neighbor, link, sign, price, labels, bill):
                continue
            new = old
            lowest = np.inf
            for c in range(n_clusters):
                if c != old and bill[c] < lowest and masses[c] + mass[part] <= upper[c]:
                    new, lowest = c, bill[c]
            if bill[old] > 0.0:
                regret[part] = lowest / bill[old] - 1.0
            if max_passes == 0 or regret[part] >= -least:
                continue
            n_moves += 1
            for vertex in vertices:
                labels[vertex] = new
            _shift(means[part], -mass[part], old, columns, masses)
            _shift(means[part], mass[part], new, columns, masses)
        if n_moves == n_before:
            break
    return n_moves


@inlined
def _fill_bill(mean, mass, old, columns, masses, bill):
    """What the part adds to the sum of squared distances as a member of each cluster."""
    bill[:] = 0.0
    for f in range(len(mean)):
        value = mean[f]
        for c in range(len(bill)):
            bill[c] += (value - columns[f, c]) ** 2
    for c in range(len(bill)):
        around = masses[c] - mass if c == old else masses[c]  # the mass of the others
        if mass > 0.0 and around > NOTHING * mass:
            share = around / (around + mass)
            bill[c] *= mass / share if c == old else mass * share
        else:
            bill[c] = 0.0


@inlined
def _fill_bill_on_sphere(mean, mass, old, columns, masses, squares, bill):
    """What the part adds to 2 Σ (n − ‖S‖) as a member of each cluster."""
    bill[:] = 0.0
    squares[:] = 0.0
    part = 0.0
    for f in range(len(mean)):
        value = mean[f]
        part += (mass * value) ** 2
        for c in range(len(bill)):
            bill[c] += value * columns[f, c]
            squares[c] += columns[f, c] ** 2
    for c in range(len(bill)):
        cross = 2.0 * masses[c] * mass * bill[c]
        own = masses[c] ** 2 * squares[c]
        other = np.sqrt(max(own + part + (-cross if c == old else cross), 0.0))
        gain = np.sqrt(own) - other if c == old else other - np.sqrt(own)
        bill[c] = max(2.0 * (mass - gain), 0.0)


@helper
def _shift(mean, mass, cluster, columns, masses):
    """Add a part to a cluster, or take it away where `mass` is negative."""
    total = masses[cluster] + mass
    if total > NOTHING * abs(mass):
        for f in range(len(mean)):
            columns[f, cluster] += mass / total * (mean[f] - columns[f, cluster])
        masses[cluster] = total
    else:
        masses[cluster] = 0.0


@inlined
def _add_prices(vertices, old, indptr, neighbor, link, sign, price, labels, bill):
    """Add the prices of links to outside the part; say whether the part may move at all."""
    for vertex in vertices:
        if labels[vertex] != old:
            return False
        if vertex >= len(indptr) - 1:
            continue
        for e in range(indptr[vertex], indptr[vertex + 1]):
            if len(vertices) > 1 and _is_inside(neighbor[e], vertices):
                continue
            there = labels[neighbor[e]]
            if sign[link[e]] < 0:
                bill[there] += price[link[e]]
                continue
            for c in range(len(bill)):
                if c != there:
                    bill[c] += price[link[e]]
    return bill[old] < np.inf


@jit
def swap_parts(
    means, mass, starts, members, indptr, neighbor, link, sign, price, order, max_passes, least,
    lower, upper, labels, columns, masses,
):  # fmt: skip
    """Visit pairs of parts again and again; swap their clusters where distances and prices fall.

    Arguments are those of `move_parts`; on the plane only. With

        Δ_a = w_v (m_v − c_a) − w_u (m_u − c_a)

    cluster a, which takes v for u, changes by w_v ‖m_v − c_a‖² − w_u ‖m_u − c_a‖² − ‖Δ_a‖² / n, n
    being its mass afterwards. ‖Δ_a‖² is at most twice the sum of the squares of its terms: most
    pairs are seen not to pay without it. Returns how many swaps were made.
    """
    cost = np.empty((len(order), len(masses)), np.float64)
    for c in range(len(masses)):
        _fill_costs(means, mass, order, c, columns, cost)
    home = np.empty(len(order), np.int64)
    _find_homes(order, starts, members, labels, home)
    relief = np.zeros(len(order), np.float64)  # prices that a part may be spared, at most
    for i in range(len(order)):
        for vertex in members[starts[order[i]] : starts[order[i] + 1]]:
            if vertex < len(indptr) - 1:
                for e in range(indptr[vertex], indptr[vertex + 1]):
                    relief[i] += price[link[e]] if price[link[e]] < np.inf else 0.0
    n_swaps = 0
    for _ in range(max_passes):
        n_before = n_swaps
        for i in range(len(order)):
            u = order[i]
            for j in range(i):
                a, b, v = home[i], home[j], order[j]
                if a == b:
                    continue
                in_a, in_b = masses[a] - mass[u] + mass[v], masses[b] - mass[v] + mass[u]
                if not (_is_size(in_a, a, lower, upper) and _is_size(in_b, b, lower, upper)):
                    continue
                stays, goes = cost[i, a] + cost[j, b], cost[i, b] + cost[j, a]
                change = goes - stays + least * (goes + stays)
                saved_a = 2.0 * (mass[u] * cost[i, a] + mass[v] * cost[j, a]) / in_a
                saved_b = 2.0 * (mass[u] * cost[i, b] + mass[v] * cost[j, b]) / in_b
                if change >= relief[i] + relief[j] + saved_a + saved_b:
                    continue
                ours = members[starts[u] : starts[u + 1]]
                theirs = members[starts[v] : starts[v + 1]]
                change += _price_of_swap(ours, theirs, indptr, neighbor, link, sign, price, labels)
                change -= _square(means[u], mass[u], means[v], mass[v], a, columns) / in_a
                change -= _square(means[u], mass[u], means[v], mass[v], b, columns) / in_b
                if not -np.inf < change < 0.0:
                    continue
                n_swaps += 1
                for vertex in ours:
                    labels[vertex] = b
                for vertex in theirs:
                    labels[vertex] = a
                _find_homes(order, starts, members, labels, home)
                _shift(means[v], mass[v], a, columns, masses)
                _shift(means[u], -mass[u], a, columns, masses)
                _shift(means[u], mass[u], b, columns, masses)
                _shift(means[v], -mass[v], b, columns, masses)
                _fill_costs(means, mass, order, a, columns, cost)
                _fill_costs(means, mass, order, b, columns, cost)
        if n_swaps == n_before:
            break
    return n_swaps


@helper
def _find_homes(order, starts, members, labels, home):
    """The cluster of each part, of its first vertex where it lies in several."""
    for i in range(len(order)):
        home[i] = labels[members[starts[order[i]]]]


@helper
def _is_size(total, cluster, lower, upper):
    """Whether a cluster may have this mass, and has rows then."""
    return total > 0.0 and lower[cluster] <= total <= upper[cluster]


@helper
def _fill_costs(means, mass, order, cluster, columns, cost):
    """Weighted squared distances of parts to one cluster."""
    for i in range(len(order)):
        part = order[i]
        square = 0.0
        for f in range(len(columns)):
            square += (means[part, f] - columns[f, cluster]) ** 2
        cost[i, cluster] = mass[part] * square


@helper
def _square(mean, mass, other_mean, other_mass, cluster, columns):
    """‖Δ‖² of a cluster that takes one of two parts for the other."""
    square = 0.0
    for f in range(len(mean)):
        center = columns[f, cluster]
        square += (other_mass * (other_mean[f] - center) - mass * (mean[f] - center)) ** 2
    return square


@inlined
def _price_of_swap(ours, theirs, indptr, neighbor, link, sign, price, labels):
    """What broken links cost more after a swap; infinite where a part lies in several clusters."""
    change = 0.0
    for part, other in ((ours, theirs), (theirs, ours)):
        old, new = labels[part[0]], labels[other[0]]
        for vertex in part:
            if labels[vertex] != old:
                return np.inf
            if vertex >= len(indptr) - 1:
                continue
            for e in range(indptr[vertex], indptr[vertex + 1]):
                there = labels[neighbor[e]]
                # Links inside a part, and between the two, are kept or broken as before.
                if (there != old and there != new) or (
                    _is_inside(neighbor[e], part) or _is_inside(neighbor[e], other)
                ):
                    continue
                change += (
                    price[link[e]] if (there == old) == (sign[link[e]] > 0) else -price[link[e]]
                )
    return change


@helper
def _is_inside(vertex, vertices):
    """Whether the vertex is one of the part's."""
    low, high = 0, len(vertices)
    while low < high:
        middle = (low + high) // 2
        if vertices[middle] < vertex:
            low = middle + 1
        else:
            high = middle
    return low < len(vertices) and vertices[low] == vertex
