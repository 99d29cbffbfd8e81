"""Kernel k-means and its objective by explicit double sums."""

import numpy as np


def objective(K, labels, prices=()):
    """Σ_c Σ_{i ∈ c} ‖φ(x_i) − m_c‖² − Σ_must 2 w / n_c + Σ_cannot 2 w / n_c, pairs inside clusters.

    `prices` has rows (i, j, w), w > 0 for must-links and < 0 for cannot-links.
    """
    total = 0.0
    for c in np.unique(labels):
        inside = np.flatnonzero(labels == c)
        n = len(inside)
        mean_norm = sum(K[i, j] for i in inside for j in inside) / n**2
        for i in inside:
            total += K[i, i] - 2 * sum(K[i, j] for j in inside) / n + mean_norm
    for i, j, w in prices:
        if labels[i] == labels[j]:
            total -= 2 * w / (labels == labels[i]).sum()
    return total


def best_single_move(K, labels, k):
    """The lowest objective that moving one row (or none) can reach, clusters kept non-empty."""
    best = objective(K, labels)
    for i in range(len(labels)):
        if (labels == labels[i]).sum() == 1:
            continue
        for c in range(k):
            other = labels.copy()
            other[i] = c
            best = min(best, objective(K, other))
    return best
