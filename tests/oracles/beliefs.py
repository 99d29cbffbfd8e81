"""Beliefs about labels and statements by listing every labelling."""

from itertools import product

import numpy as np


def beliefs(log_prior, pairs, sign, weight, rates):
    """Return (marginals of rows, probability that each pair is wrong, log P of all statements)."""
    n_rows, n_clusters = log_prior.shape
    prior = np.exp(log_prior - log_prior.max(axis=1, keepdims=True))
    prior /= prior.sum(axis=1, keepdims=True)
    must, cannot = rates
    is_must = np.asarray(sign) > 0
    right = np.where(is_must, 1 - cannot, 1 - must) ** np.asarray(weight)
    wrong = np.where(is_must, must, cannot) ** np.asarray(weight)
    marginal, doubt, total = np.zeros_like(prior), np.zeros(len(pairs)), 0.0
    for labels in product(range(n_clusters), repeat=n_rows):
        is_wrong = np.array(
            [(labels[a] == labels[b]) != (s > 0) for (a, b), s in zip(pairs, sign, strict=True)],
            dtype=bool,
        )
        chance = prior[np.arange(n_rows), labels].prod() * np.where(is_wrong, wrong, right).prod()
        total += chance
        marginal[np.arange(n_rows), labels] += chance
        doubt += chance * is_wrong
    return marginal / total, doubt / total, np.log(total)
