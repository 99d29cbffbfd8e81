"""The objectives of PCKMeans and MPCKMeans, written out term by term."""

from itertools import product

import numpy as np


def total_price(cost, pairs, sign, price, labels):
    """Costs of the rows where they are, and prices of the broken pairs."""
    total = sum(cost[row, label] for row, label in enumerate(labels))
    for m, (i, j) in enumerate(pairs):
        c, d = labels[i], labels[j]
        at_c, at_d = (price[m, 0], price[m, 0]) if price.shape[1] == 1 else price[m, [c, d]]
        if sign[m] > 0 and c != d:
            total += 0.5 * at_c + 0.5 * at_d
        if sign[m] < 0 and c == d:
            total += at_c
    return total


def least_total(cost, pairs, sign, price):
    """The least total over every labelling."""
    n_rows, n_clusters = cost.shape
    return min(
        total_price(cost, pairs, sign, price, np.array(labels))
        for labels in product(range(n_clusters), repeat=n_rows)
    )


def pckmeans_objective(X, labels, centers, constraints, penalty, sample_weight=None):
    total = 0.0
    for i, x in enumerate(X):
        weight = 1.0 if sample_weight is None else sample_weight[i]
        total += weight * sum((x - centers[labels[i]]) ** 2)
    for kind, (i, j), weight in constraints:
        if kind == "must-link" and labels[i] != labels[j]:
            total += penalty * weight
        if kind == "cannot-link" and labels[i] == labels[j]:
            total += penalty * weight
    return total


def mpckmeans_objective(
    X,
    labels,
    centers,
    matrices,
    constraints,
    penalty,
    far,
    prior_mass,
    sample_weight,
    shared,
):
    """`matrices` has one full matrix per cluster, equal ones where they are shared."""

    def squared(v, h):
        return v @ matrices[h] @ v

    def log_det(h):
        return np.log(np.linalg.det(matrices[h]))

    total = 0.0
    for i, x in enumerate(X):
        h = labels[i]
        total += sample_weight[i] * (squared(x - centers[h], h) - log_det(h))
    for kind, (i, j), weight in constraints:
        v, c, d = X[i] - X[j], labels[i], labels[j]
        if kind == "must-link" and c != d:
            total += penalty * weight * (squared(v, c) / 2 + squared(v, d) / 2)
        if kind == "cannot-link" and c == d:
            longest = max(squared(f, c) for f in far)
            total += penalty * weight * max(0.0, longest - squared(v, c))
    for h in range(1 if shared else len(matrices)):
        total += prior_mass * (np.trace(matrices[h]) - log_det(h))
    return total
