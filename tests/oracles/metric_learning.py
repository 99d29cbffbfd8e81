"""Metric learners written out slowly, from their problems rather than from their algorithms."""

import numpy as np
from scipy.optimize import minimize


def itml_objective(A, differences, sign, bound, gamma):
    """D(A, I) + Σ γ D(ξ, bound) with the best ξ for this A."""
    value = np.trace(A) - np.log(np.linalg.det(A)) - len(A)
    for v, s, b, g in zip(differences, sign, bound, gamma, strict=True):
        p = v @ A @ v
        xi = max(p, b) if s > 0 else min(p, b)
        value += g * (xi / b - np.log(xi / b) - 1)
    return value


def itml_by_descent(differences, sign, bound, gamma):
    """Minimise that objective over Cholesky factors with a general solver: A and its value."""
    d = differences.shape[1]
    lower = np.tril_indices(d)

    def matrix(flat):
        L = np.zeros((d, d))
        L[lower] = flat
        L[np.diag_indices(d)] = np.exp(np.diag(L))
        return L @ L.T

    found = minimize(
        lambda flat: itml_objective(matrix(flat), differences, sign, bound, gamma),
        np.zeros(len(lower[0])),
        method="BFGS",
        options={"gtol": 1e-9, "maxiter": 2000},
    )
    return matrix(found.x), found.fun


def itml_step(A, v, s, xi, g, multiplier):
    """One projection with the full matrices; returns A, ξ and λ."""
    p = v @ A @ v
    alpha = min(multiplier, s * g / (g + 1) * (1 / p - 1 / xi))
    beta = s * alpha / (1 - s * alpha * p)
    return (
        A + beta * A @ np.outer(v, v) @ A,
        g * xi / (g + s * alpha * xi),
        multiplier - alpha,
    )


def svm_metric_objective(w, Z, price):
    """½‖w‖² + Σ C max(0, 1 − w·z), term by term."""
    return sum(v * v for v in w) / 2 + sum(
        c * max(0.0, 1 - sum(a * b for a, b in zip(w, z, strict=True)))
        for z, c in zip(Z, price, strict=True)
    )


def svm_metric_by_quadratic_programme(Z, price):
    """Solve min ½‖w‖² + Σ C ξ, Zw + ξ ≥ 1, w ≥ 0, ξ ≥ 0 with a general solver."""
    m, d = Z.shape
    found = minimize(
        lambda v: (v[:d] @ v[:d] / 2 + price @ v[d:], np.concatenate([v[:d], price])),
        np.concatenate([np.zeros(d), np.ones(m)]),
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * (d + m),
        constraints={
            "type": "ineq",
            "fun": lambda v: Z @ v[:d] + v[d:] - 1,
            "jac": lambda v: np.hstack([Z, np.eye(m)]),
        },
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    return found.x[:d]


def comparisons_one_by_one(X, relative):
    """(a−c)² − (a−b)² of every statement, then (b−c)² − (a−b)²."""
    first = [[(p - r) ** 2 - (p - q) ** 2 for p, q, r in zip(X[a], X[b], X[c], strict=True)]
             for a, b, c in relative]  # fmt: skip
    second = [[(q - r) ** 2 - (p - q) ** 2 for p, q, r in zip(X[a], X[b], X[c], strict=True)]
              for a, b, c in relative]  # fmt: skip
    return np.array(first + second)


def weights_in_product_space(W, y, h, alpha):
    """One update of all n x n weights: y is +1, −1 or 0 for pairs without a statement."""
    new = np.empty_like(W)
    for i in range(len(W)):
        for j in range(len(W)):
            new[i, j] = W[i, j] * np.exp(-alpha * (y[i, j] * h[i, j] if y[i, j] else 1))
    return new / new.sum()


def boosted_distance(first, second, alphas):
    """Σ α (1 − h̃) / 2 / Σ α of two rows, from (component, probability) in each round."""
    total = 0.0
    for (c, p), (e, q), alpha in zip(first, second, alphas, strict=True):
        total += alpha * (1 - (p * q if c == e else -p * q)) / 2
    return total / sum(alphas)
