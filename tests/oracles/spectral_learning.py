"""The affinity of Kamvar, Klein & Manning, entry by entry."""

import numpy as np


def affinity(X, gamma):
    n = len(X)
    A = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                A[i, j] = np.exp(-gamma * ((X[i] - X[j]) ** 2).sum())
    return A


def edited(A, constraints):
    """1 (the weight) for must-links, 0 for cannot-links; pairs stated both ways by balance."""
    A = A.copy()
    balance = {}
    for (i, j), sign, weight in zip(*constraints.pairs()[:3], strict=True):
        pair = (min(i, j), max(i, j))
        balance[pair] = balance.get(pair, 0.0) + sign * weight
    for (i, j), net in balance.items():
        if net != 0:
            A[i, j] = A[j, i] = max(net, 0.0)
    return A


def additive(A):
    """(A + d_max I − D) / d_max."""
    degree = A.sum(axis=1)
    return (A + degree.max() * np.eye(len(A)) - np.diag(degree)) / degree.max()


def symmetric(A):
    degree = A.sum(axis=1)
    return np.diag(degree**-0.5) @ A @ np.diag(degree**-0.5)
