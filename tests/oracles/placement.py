"""Placing units by trying every labelling there is."""

import itertools

import numpy as np


def all_labelings(n_units, n_clusters):
    """(n_clusters ** n_units, n_units) every way to label the units."""
    everything = list(itertools.product(range(n_clusters), repeat=n_units))
    return np.array(everything, dtype=np.int64).reshape(-1, n_units)


def violated_weight(labels, apart, weight):
    """The weight of the pairs whose two units share a label."""
    return sum(w for (i, j), w in zip(apart, weight, strict=True) if labels[i] == labels[j])


def total_cost(labels, cost):
    return sum(cost[u, c] for u, c in enumerate(labels))


def cheapest(cost, apart, weight):
    """The least (broken weight, cost), the weight first."""
    return min(
        (violated_weight(labels, apart, weight), total_cost(labels, cost))
        for labels in all_labelings(*cost.shape)
    )


def place_greedily(cost, apart):
    """Most constrained unit first, recomputed from scratch each time; None at a dead end."""
    n_units, n_clusters = cost.shape
    labels = [None] * n_units
    neighbors = [set() for _ in range(n_units)]
    for i, j in apart:
        neighbors[i].add(int(j))
        neighbors[j].add(int(i))

    def allowed(u):
        held = {labels[v] for v in neighbors[u]}
        return sorted((cost[u, c], c) for c in range(n_clusters) if c not in held)

    def urgency(u):
        prices = [price for price, _ in allowed(u)]
        regret = prices[1] - prices[0] if len(prices) > 1 else np.inf
        return len(prices), -regret, u

    for _ in range(n_units):
        u = min((u for u in range(n_units) if labels[u] is None), key=urgency)
        if not allowed(u):
            return None
        labels[u] = allowed(u)[0][1]
    return labels
