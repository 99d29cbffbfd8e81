"""Rows into clusters of bounded sizes at least cost: a flow over as many nodes as clusters.

Rows are alike but for their costs, so a residual arc between two clusters is the row that is
cheapest to move, and a shortest path visits clusters, not rows. Prices p of the clusters keep every
row where cost + p is least; a path is looked for under the costs so reduced, none of which is
negative (successive shortest paths). What bounds sizes is one more node, OUT, with price 0: a
cluster sends it between `lower` and `upper` rows. Then p > 0 only where a cluster is full, p < 0
only where it would be too small, which proves the assignment to be the cheapest.
"""

import numpy as np

from conclust._kernels._jit import helper, inlined, jit

NONE = -1


@jit
def flow(cost, lower, upper, price, labels):
    """Assign every row to a cluster, within the sizes, at least total cost.

    cost             (n, k)        float64   in
    lower, upper     (k,)          int64     in      Σ lower ≤ n ≤ Σ upper, lower ≤ upper
    price            (k,)          float64   inout   where to begin; the prices of the answer
    labels           (n,)          int64     out

    Returns how many paths were needed: with good prices few.
    """
    n_rows, n_clusters = cost.shape
    out = n_clusters
    shortest = np.zeros(n_clusters + 1)
    height = np.zeros(n_clusters + 1)
    height[:n_clusters] = price
    counts = np.zeros(n_clusters, np.int64)
    _label_by_price(cost, price, labels, counts)
    first = np.full(n_clusters, NONE, np.int64)
    after, before = np.full(n_rows, NONE, np.int64), np.full(n_rows, NONE, np.int64)
    for row in range(n_rows):
        _link(row, labels[row], first, after, before)
    best = np.full((n_clusters, n_clusters), NONE, np.int64)
    gap = np.full((n_clusters, n_clusters), np.inf)
    for row in range(n_rows):
        _offer(cost, row, labels[row], best, gap)
    sent = np.empty(n_clusters, np.int64)
    excess = np.zeros(n_clusters + 1, np.int64)
    for c in range(n_clusters):
        if price[c] > 0:
            sent[c] = upper[c]
        elif price[c] < 0:
            sent[c] = lower[c]
        else:
            sent[c] = min(max(counts[c], lower[c]), upper[c])
        excess[c] = counts[c] - sent[c]
        excess[out] += sent[c]
    excess[out] -= n_rows
    parent = np.empty(n_clusters + 1, np.int64)
    moved = np.empty(n_clusters + 1, np.int64)
    n_paths = 0
    while True:
        end = _shortest_path(gap, height, sent, lower, upper, excess, shortest, parent)
        if end == NONE:
            break
        n_paths += 1
        for node in range(n_clusters + 1):
            height[node] -= min(shortest[node], shortest[end])
        start, amount = end, -excess[end]
        n_moved = 0
        while parent[start] != NONE:
            node, start = start, parent[start]
            if node == out:
                amount = min(amount, upper[start] - sent[start])
            elif start == out:
                amount = min(amount, sent[node] - lower[node])
            else:
                amount = 1
        amount = min(amount, excess[start])
        excess[start] -= amount
        excess[end] += amount
        # The rows of a path are those found before any of them moved.
        node = end
        while parent[node] != NONE:
            source = parent[node]
            if node == out:
                sent[source] += amount
            elif source == out:
                sent[node] -= amount
            else:
                moved[n_moved] = best[source, node]
                n_moved += 1
            node = source
        node, n_moved = end, 0
        while parent[node] != NONE:
            source = parent[node]
            if node != out and source != out:
                _move(cost, moved[n_moved], source, node, labels, first, after, before, best, gap)
                n_moved += 1
            node = source
    for c in range(n_clusters):
        price[c] = height[c] - height[out]
    return n_paths


@helper
def _label_by_price(cost, price, labels, counts):
    """Each row where cost + price is least, the lowest cluster on ties; count the rows."""
    n_rows, n_clusters = cost.shape
    for row in range(n_rows):
        cluster = 0
        least = cost[row, 0] + price[0]
        for c in range(1, n_clusters):
            value = cost[row, c] + price[c]
            if value < least:
                cluster, least = c, value
        labels[row] = cluster
        counts[cluster] += 1


@inlined
def _shortest_path(gap, height, sent, lower, upper, excess, shortest, parent):
    """Dijkstra from all nodes with too much to the nearest with too little; NONE: there is none."""
    n_nodes = len(excess)
    out = n_nodes - 1
    done = np.zeros(n_nodes, np.bool_)
    for node in range(n_nodes):
        shortest[node] = 0.0 if excess[node] > 0 else np.inf
        parent[node] = NONE
    end = NONE
    while end == NONE:
        node = NONE
        for other in range(n_nodes):
            if done[other] or shortest[other] == np.inf:
                continue
            if node == NONE or shortest[other] < shortest[node]:
                node = other
        if node == NONE:
            break
        done[node] = True
        if excess[node] < 0:
            end = node
            break
        for other in range(n_nodes):
            if done[other]:
                continue
            if other == out:
                step = 0.0 if sent[node] < upper[node] else np.inf
            elif node == out:
                step = 0.0 if sent[other] > lower[other] else np.inf
            else:
                step = gap[node, other]
            # Rounding may leave a reduced cost below zero by a hair.
            length = shortest[node] + max(step + height[other] - height[node], 0.0)
            if length < shortest[other]:
                shortest[other] = length
                parent[other] = node
    return end


@inlined
def _move(cost, row, source, target, labels, first, after, before, best, gap):
    """Move one row, and find anew what it was the cheapest row for."""
    if before[row] == NONE:
        first[source] = after[row]
    else:
        after[before[row]] = after[row]
    if after[row] != NONE:
        before[after[row]] = before[row]
    labels[row] = target
    _link(row, target, first, after, before)
    _offer(cost, row, target, best, gap)
    for c in range(len(first)):
        if best[source, c] != row:
            continue
        best[source, c] = NONE
        gap[source, c] = np.inf
        other = first[source]
        while other != NONE:
            value = cost[other, c] - cost[other, source]
            if value < gap[source, c]:
                best[source, c], gap[source, c] = other, value
            other = after[other]


@helper
def _link(row, cluster, first, after, before):
    """Put a row at the head of its cluster's list."""
    before[row] = NONE
    after[row] = first[cluster]
    if first[cluster] != NONE:
        before[first[cluster]] = row
    first[cluster] = row


@helper
def _offer(cost, row, cluster, best, gap):
    """Note a row of the cluster where it is cheaper to move than those known."""
    for c in range(len(gap)):
        value = cost[row, c] - cost[row, cluster]
        if c != cluster and value < gap[cluster, c]:
            best[cluster, c], gap[cluster, c] = row, value
