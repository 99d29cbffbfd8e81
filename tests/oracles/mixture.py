"""Marginals and likelihoods by listing every labelling, and one weighted EM step row by row."""

from itertools import product

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal


def marginals(score, apart):
    """Return (marginals, log of the sum) of Π exp score over labellings that keep links."""
    n_units, n_clusters = score.shape
    labelings = [
        labels
        for labels in product(range(n_clusters), repeat=n_units)
        if all(labels[u] != labels[v] for u, v in apart)
    ]
    if not labelings:
        return np.zeros_like(score), -np.inf
    logs = np.array([sum(score[u, c] for u, c in enumerate(labels)) for labels in labelings])
    log_z = logsumexp(logs)
    out = np.zeros_like(score)
    for labels, value in zip(labelings, logs, strict=True):
        out[np.arange(n_units), labels] += np.exp(value - log_z)
    return out, log_z


def log_joint(X, weights, means, covariances):
    """log α_c + log N(x | μ_c, Σ_c), all covariances full matrices."""
    return np.column_stack(
        [
            np.log(w) + multivariate_normal(m, c).logpdf(X)
            for w, m, c in zip(weights, means, covariances, strict=True)
        ]
    )


def e_step(joint, constraints, sample_weight=None):
    """Responsibilities and the weighted log-likelihood, whole labellings of linked rows at a time."""
    n, k = joint.shape
    weight = np.ones(n) if sample_weight is None else sample_weight
    part = np.arange(n)  # rows that links join, in either sense, are summed over together
    for i, j in np.concatenate([constraints.must_link, constraints.cannot_link]):
        part[part == part[i]] = part[j]
    resp = np.zeros((n, k))
    total = 0.0
    for name in np.unique(part):
        rows = np.flatnonzero(part == name)
        mean = weight[rows].mean()
        power = weight[rows] / mean if mean > 0 else np.ones(len(rows))
        logs = []
        labelings = []
        for labels in product(range(k), repeat=len(rows)):
            label = dict(zip(rows, labels, strict=True))
            together = all(label[i] == label[j] for i, j in constraints.must_link if i in label)
            apart = all(label[i] != label[j] for i, j in constraints.cannot_link if i in label)
            if together and apart:
                labelings.append(labels)
                logs.append(power @ joint[rows, labels])
        value = logsumexp(logs)
        total += mean * value
        for labels, log in zip(labelings, logs, strict=True):
            resp[rows, labels] += np.exp(log - value)
    return resp, total
