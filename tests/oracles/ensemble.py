"""The ensemble kernel built densely, and kernel k-means on it, straight from the definitions."""

from itertools import combinations

import numpy as np


def kernel(codes, weights):
    """K = Σ α_t K^t with K^t = +1 inside clusters and -1 across (eq. 4 of Okabe & Yamada 2012a)."""
    n, n_rounds = codes.shape
    K = np.zeros((n, n))
    for t in range(n_rounds):
        K += weights[t] * np.where(codes[:, t][:, None] == codes[:, t][None, :], 1.0, -1.0)
    return K


def kernel_distances(K, labels, k):
    """Squared distances of all points to all cluster means in feature space."""
    n = len(K)
    d = np.full((n, k), np.inf)
    for c in range(k):
        inside = np.flatnonzero(labels == c)
        if len(inside):
            d[:, c] = np.diag(K) - 2 * K[:, inside].mean(axis=1) + K[np.ix_(inside, inside)].mean()
    return d


def kernel_kmeans(K, labels, k, max_iter=100):
    """Batch kernel k-means from given labels; ties keep the old label."""
    labels = labels.copy()
    for _ in range(max_iter):
        d = kernel_distances(K, labels, k)
        new = labels.copy()
        for i in range(len(K)):
            best = int(np.argmin(d[i]))
            if d[i, best] < d[i, labels[i]] - 1e-9:
                new[i] = best
        if (new == labels).all():
            break
        labels = new
    return labels


def objective(K, labels, k):
    d = kernel_distances(K, labels, k)
    return d[np.arange(len(K)), labels].sum()


def sorted_confidence(K, total):
    """All pairs with K / Σ α, most confident first."""
    pairs = list(combinations(range(len(K)), 2))
    return sorted(((K[i, j] / total, (i, j)) for i, j in pairs), reverse=True)
