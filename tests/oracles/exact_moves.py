"""The objective of k-means with priced statements, from labels alone, and single moves one by one."""

from itertools import product

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


def least_of_all(X, weight, n_clusters, pairs, sign, price):
    """The least objective over every labelling."""
    return min(
        objective(X, weight, np.array(labels), pairs, sign, price)
        for labels in product(range(n_clusters), repeat=len(X))
        if labels[0] == 0
    )
