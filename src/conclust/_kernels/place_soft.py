"""Place linked rows where breaking a link has a price: moves that only ever lower the total.

Row u in cluster c costs ``cost[u, c]``. A must-link m whose rows lie in clusters c ≠ d costs
``(price[m, c] + price[m, d]) / 2``, a cannot-link m whose rows share cluster c ``price[m, c]``.
A price that is the same in every cluster may have one column. Links are a CSR graph: the entries
``indptr[u]:indptr[u + 1]`` of `neighbor` and `link` are the rows linked to u, and by which link.

To find the least total is NP-hard. Single rows settle into a labelling none of them wants to
leave; then whole must-link groups move, and chains: a row moves although it does not pay, the rows
whose links it breaks answer, and the chain is kept if it pays together (the swap of two rows that
may not share a cluster is the shortest). Every function changes `labels` in place and returns how
many moves it made, 0 when there was none to make.
"""

import numpy as np

from conclust._kernels._jit import helper, jit

# A move must save more than this share of the sums it compares: below it is rounding, and
# rounding could go up and down for ever.
ROUNDING = 1e-14


@jit
def move_rows(cost, indptr, neighbor, link, sign, price, least, order, labels):
    """Let each row in turn take its cheapest cluster, given all others.

    cost             (m, k)        float64   in      cost of each row in each cluster
    indptr           (m + 1,)      int64     in      CSR of the links
    neighbor, link   (2 p,)        int64     in
    sign             (p,)          int8      in      +1 must-link, −1 cannot-link
    price            (p, k or 1)   float64   in      not negative
    least            (m,)          float64   in      least cost of each row
    order            (any,)        int64     in      rows to visit
    labels           (m,)          int32     inout
    """
    bill = np.empty(cost.shape[1], np.float64)
    n_moves = 0
    for row in order:
        if _is_content(cost, indptr, neighbor, link, sign, price, least, labels, row):
            continue
        _fill_bill(cost, indptr, neighbor, link, sign, price, labels, row, bill)
        cluster = _cheapest(bill, labels[row])
        n_moves += cluster != labels[row]
        labels[row] = cluster
    return n_moves


@jit
def move_groups(cost, indptr, neighbor, link, sign, price, starts, members, labels):
    """Move each group as one: to a cluster that holds some of it, or to its cheapest one.

    starts           (g + 1,)      int64     in      group h is ``members[starts[h]:starts[h + 1]]``
    members          (any,)        int64     in      rows

    The others are those of `move_rows`.
    """
    n_clusters = cost.shape[1]
    bill = np.empty(n_clusters, np.float64)
    alone = np.empty(n_clusters, np.float64)
    held = np.empty(n_clusters, np.int64)
    before = np.empty(len(members), labels.dtype)
    n_moves = 0
    for group in range(len(starts) - 1):
        rows = members[starts[group] : starts[group + 1]]
        alone[:] = 0.0
        held[:] = 0
        for row in rows:
            held[labels[row]] += 1
            for cluster in range(n_clusters):
                alone[cluster] += cost[row, cluster]
        held[_cheapest(alone, 0)] += 1
        for cluster in range(n_clusters):
            if held[cluster] == 0:
                continue
            change, scale = 0.0, 0.0
            for n in range(len(rows)):
                row = rows[n]
                before[n] = labels[row]
                if labels[row] != cluster:
                    _fill_bill(cost, indptr, neighbor, link, sign, price, labels, row, bill)
                    change += bill[cluster] - bill[labels[row]]
                    scale += abs(bill[cluster]) + abs(bill[labels[row]])
                    labels[row] = cluster
            if change < -ROUNDING * scale:
                n_moves += 1
            else:
                for n in range(len(rows)):
                    labels[rows[n]] = before[n]
    return n_moves


@jit
def move_chains(cost, indptr, neighbor, link, sign, price, least, order, longest, budget, labels):
    """Move a row, let the rows whose links this breaks answer, theirs after them; keep what pays.

    longest                        int       in      rows moved by one chain at most
    budget                         int       in      prices looked at, about, before giving up

    The others are those of `move_rows`. Chains start at rows that pay for a broken link or are
    not in their cheapest cluster: a row that has all it wants does not start one.
    """
    n_rows, n_clusters = cost.shape
    bill = np.empty(n_clusters, np.float64)
    moved = np.empty(longest, np.int64)
    before = np.empty(longest, labels.dtype)
    waiting = np.empty(n_rows, np.int64)
    asked = np.full(n_rows, -1, np.int64)  # the last chain that asked the row to answer
    chain = 0
    n_moves = 0
    for start in order:
        if _is_content(cost, indptr, neighbor, link, sign, price, least, labels, start):
            continue
        for target in range(n_clusters):
            if target == labels[start]:
                continue
            if budget <= 0:
                return n_moves
            chain += 1
            asked[start] = chain
            waiting[0] = start
            n_waiting, n_answered, n_moved = 1, 0, 0
            change, scale = 0.0, 0.0
            while n_answered < n_waiting and n_moved < longest:
                row = waiting[n_answered]
                n_answered += 1
                budget -= (indptr[row + 1] - indptr[row] + 1) * n_clusters
                _fill_bill(cost, indptr, neighbor, link, sign, price, labels, row, bill)
                old = labels[row]
                new = target if row == start else _cheapest(bill, old)
                if new == old:
                    continue
                change += bill[new] - bill[old]
                scale += abs(bill[new]) + abs(bill[old])
                moved[n_moved] = row
                before[n_moved] = old
                n_moved += 1
                labels[row] = new
                for e in range(indptr[row], indptr[row + 1]):
                    other = neighbor[e]
                    is_violated = (labels[other] == new) != (sign[link[e]] > 0)
                    if is_violated and asked[other] != chain:
                        asked[other] = chain
                        waiting[n_waiting] = other
                        n_waiting += 1
            if change < -ROUNDING * scale:
                n_moves += 1
            else:
                for n in range(n_moved):
                    labels[moved[n]] = before[n]
    return n_moves


@jit
def violated_price(pairs, sign, price, labels, paid):
    """Price of each link as it stands.

    pairs            (p, 2)        int64     in      rows
    sign             (p,)          int8      in
    price            (p, k or 1)   float64   in
    labels           (m,)          int32     in
    paid             (p,)          float64   out     0 where the link holds

    Returns the number of broken links.
    """
    step = 0 if price.shape[1] == 1 else 1
    n_broken = 0
    for m in range(len(pairs)):
        c, d = labels[pairs[m, 0]], labels[pairs[m, 1]]
        paid[m] = 0.0
        if (c == d) != (sign[m] > 0):
            paid[m] = (price[m, step * c] + price[m, step * d]) / 2
            n_broken += 1
    return n_broken


@helper
def _fill_bill(cost, indptr, neighbor, link, sign, price, labels, row, bill):
    """What the row would pay in each cluster, its links included."""
    n_clusters = cost.shape[1]
    step = 0 if price.shape[1] == 1 else 1
    for c in range(n_clusters):
        bill[c] = cost[row, c]
    for e in range(indptr[row], indptr[row + 1]):
        m = link[e]
        there = labels[neighbor[e]]
        if sign[m] < 0:
            bill[there] += price[m, step * there]
            continue
        # Added where it is paid, not everywhere and taken back: a heavy link that holds must not
        # swallow the digits of the cost.
        for c in range(n_clusters):
            if c != there:
                bill[c] += (price[m, step * c] + price[m, step * there]) / 2


@helper
def _cheapest(bill, current):
    """Return the cheapest entry; the current one unless another is cheaper beyond rounding."""
    best = current
    for c in range(len(bill)):
        if bill[c] < bill[best] - ROUNDING * (abs(bill[c]) + abs(bill[best])):
            best = c
    return best


@helper
def _is_content(cost, indptr, neighbor, link, sign, price, least, labels, row):
    """Whether the row is in its cheapest cluster and pays for no link: known without its bill."""
    label = labels[row]
    own = cost[row, label]
    if own > least[row]:
        return False
    step = 0 if price.shape[1] == 1 else 1
    paid = own
    for e in range(indptr[row], indptr[row + 1]):
        m = link[e]
        there = labels[neighbor[e]]
        if sign[m] < 0 and there == label:
            paid += price[m, step * there]
        elif sign[m] > 0 and there != label:
            paid += (price[m, step * label] + price[m, step * there]) / 2
    return paid <= own
