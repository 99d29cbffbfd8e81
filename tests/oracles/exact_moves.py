"""The objective of k-means with priced statements, from labels alone; moves and swaps one by one."""

from itertools import combinations, product

import numpy as np


def objective(X, weight, labels, pairs, sign, price):
    """Weighted squared distances to the means of the clusters, and prices of the broken pairs."""
    total = 0.0
    for cluster in set(labels.tolist()):
        inside = labels == cluster
        if weight[inside].sum() > 0:
            mean = np.average(X[inside], axis=0, weights=weight[inside])
            total += (weight[inside] * ((X[inside] - mean) ** 2).sum(axis=1)).sum()
    for (i, j), s, p in zip(pairs, sign, price, strict=True):
        if (labels[i] == labels[j]) != (s > 0):
            total += p
    return total


def least_after_one_move(X, weight, labels, n_clusters, pairs, sign, price, parts):
    """The least objective that moving one part, all in one cluster before, can reach."""
    least = objective(X, weight, labels, pairs, sign, price)
    for part in parts:
        if len(set(labels[part].tolist())) > 1:
            continue
        for cluster in range(n_clusters):
            moved = labels.copy()
            moved[part] = cluster
            least = min(least, objective(X, weight, moved, pairs, sign, price))
    return least


def least_within_sizes(X, weight, labels, n_clusters, pairs, sign, price, parts, bounds):
    """The least objective that moving one part, or swapping two, can reach within the sizes."""
    least = objective(X, weight, labels, pairs, sign, price)
    whole = [part for part in parts if len(set(labels[part].tolist())) == 1]
    moves = [((part, c),) for part in whole for c in range(n_clusters)]
    moves += [((p, labels[q[0]]), (q, labels[p[0]])) for p, q in combinations(whole, 2)]
    for move in moves:
        moved = labels.copy()
        for part, cluster in move:
            moved[part] = cluster
        sizes = np.bincount(moved, weight, n_clusters)
        if (sizes >= bounds[0]).all() and (sizes <= bounds[1]).all():
            least = min(least, objective(X, weight, moved, pairs, sign, price))
    return least


def least_of_all(X, weight, n_clusters, pairs, sign, price):
    """The least objective over every labelling."""
    return min(
        objective(X, weight, np.array(labels), pairs, sign, price)
        for labels in product(range(n_clusters), repeat=len(X))
        if labels[0] == 0
    )
