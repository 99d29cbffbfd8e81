"""BoostCluster's equations on full n × n matrices and ordered pairs, as they are printed."""

import numpy as np


def link_matrices(constraints, n):
    """S⁺ and S⁻: the weight of a statement at (i, j) and at (j, i)."""
    signed = constraints.pairs()
    must, cannot = np.zeros((n, n)), np.zeros((n, n))
    for (i, j), sign, weight in zip(signed.pairs, signed.sign, signed.weight, strict=True):
        S = must if sign > 0 else cannot
        S[i, j] += weight
        S[j, i] += weight
    return must, cannot


def loss(K, must, cannot):
    """Eq. (1): every must-link against every cannot-link."""
    total = 0.0
    for i, j in np.argwhere(must):
        for a, b in np.argwhere(cannot):
            total += must[i, j] * cannot[a, b] * np.exp(K[a, b] - K[i, j])
    return total


def log_change(mass, alpha):
    """ln(L_{t+1} / L_t) = ln (A + B e^{−α}) + ln (C + D e^{α}), eq. (12)."""
    A, B, C, D = mass
    return float(np.log(A + B * np.exp(-alpha)) + np.log(C + D * np.exp(alpha)))


def pq(K, must, cannot):
    """Eqs (5) and (6)."""
    return must * np.exp(-K), cannot * np.exp(K)


def discrepancy(p, q):
    """T, between eqs (8) and (9)."""
    return p / p.sum() - q / q.sum()


def same(labels):
    """Δ: 1 where two rows share a cluster."""
    return (labels[:, None] == labels[None, :]).astype(float)


def masses(p, q, Delta):
    """A, B, C, D of Theorem 1."""
    return (
        p[Delta == 0].sum(), p[Delta == 1].sum(), q[Delta == 0].sum(), q[Delta == 1].sum()
    )  # fmt: skip


def xtx(X, T):
    """Eq. (15), pair by pair; X has a sample per row here."""
    d = X.shape[1]
    total = np.zeros((d, d))
    for i, j in np.argwhere(T):
        total += T[i, j] * np.outer(X[i], X[j])
    return total


def projection(X, T, s):
    """Eq. (11): √λ v of the top s eigenpairs, those with λ > 0."""
    values, vectors = np.linalg.eigh(xtx(X, T))
    values, vectors = values[::-1][:s], vectors[:, ::-1][:, :s]
    kept = values > 1e-9 * np.abs(values).max()
    return vectors[:, kept] * np.sqrt(values[kept])


def kernel(codes, weights):
    """K = Σ α_t Δ_t."""
    return sum(w * same(codes[:, t]) for t, w in enumerate(weights))
