"""Miyamoto & Kondoh 2014, their covariances put right, every cluster computed from scratch at every step."""

import numpy as np


def cluster(X, weight, kind, prior, variance):
    """(mass, centre, covariance) of the rows given; the covariance always a full matrix."""
    p = X.shape[1]
    mass = weight.sum()
    center = (weight[:, None] * X).sum(axis=0) / mass
    scatter = sum(w * np.outer(x - center, x - center) for x, w in zip(X, weight, strict=True))
    if kind == "identity":
        return mass, center, np.eye(p)
    if kind == "diag":
        scatter = np.diag(np.diag(scatter))
    return mass, center, (scatter + prior * variance * np.eye(p)) / (mass + prior)


def costs(X, weight, labels, k, kind, prior, variance, size_weight, log_det):
    """D(x, v_j; S_j) - λ α_j (+ ln |S_j|), for clusters that all have rows."""
    out = np.empty((len(X), k))
    for j in range(k):
        rows = labels == j
        mass, center, S = cluster(X[rows], weight[rows], kind, prior, variance)
        for i, x in enumerate(X):
            out[i, j] = (x - center) @ np.linalg.solve(S, x - center)
        out[:, j] -= size_weight * mass / weight.sum()
        if log_det:
            out[:, j] += np.log(np.linalg.det(S))
    return out


def online_pass(X, weight, units, order, labels, k, *shape):
    """Visit units without cannot-links in turn; each goes to its cheapest cluster at that moment."""
    labels = labels.copy()
    for u in order:
        rows = units[u]
        here = labels[rows[0]]
        cost = weight[rows] @ costs(X, weight, labels, k, *shape)[rows]
        best = int(cost.argmin())
        left = weight[labels == here].sum() - weight[rows].sum()
        if cost[best] < cost[here] - 1e-10 * (1 + abs(cost[here])) and left > 1e-12:
            labels[rows] = best
    return labels
