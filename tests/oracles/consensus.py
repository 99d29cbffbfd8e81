"""The consensus of members by its definition, one row and one cluster at a time."""

import math


def scores(said, weights, first):
    """Score of each cluster for each row: −½ Σ_t w_t ‖P_t(i) − Q_t(c)‖² + ½ Σ_t w_t ‖P_t(i)‖².

    `said` has the shares P_t of each member, `first` labels of rows; Q_t(c) is the mean of P_t over
    the rows of cluster c.
    """
    n_samples, n_clusters = len(first), len(said[0][0])
    found = [[0.0] * n_clusters for _ in range(n_samples)]
    for shares, weight in zip(said, weights, strict=True):
        for c in range(n_clusters):
            inside = [shares[i] for i in range(n_samples) if first[i] == c]
            profile = [sum(row[a] for row in inside) / len(inside) for a in range(n_clusters)]
            for i in range(n_samples):
                apart = sum((shares[i][a] - profile[a]) ** 2 for a in range(n_clusters))
                length = sum(share**2 for share in shares[i])
                found[i][c] += weight * (length - apart) / 2
    return found


def softmax(row, factor):
    """exp(factor · row), summing to one."""
    powers = [math.exp(factor * (value - max(row))) for value in row]
    return [power / sum(powers) for power in powers]
