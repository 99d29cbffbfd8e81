"""A Gaussian mixture as arrays, and what follows from it for rows."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from conclust._sklearn import log_gaussian

# Rows looked at together, so that what is made of them on the way stays in the cache.
BLOCK = 4096


class Mixture(NamedTuple):
    """A Gaussian mixture; shapes of the last two as in scikit-learn's GaussianMixture."""

    weights: np.ndarray  # (n_components,)
    means: np.ndarray  # (n_components, n_features)
    covariances: np.ndarray
    precisions_cholesky: np.ndarray


def log_joint(X: np.ndarray, mixture: Mixture, covariance_type: str) -> np.ndarray:
    """Return log π_c + log N(x; μ_c, Σ_c), (n_samples, n_components)."""
    of_cluster = mixture.means, mixture.precisions_cholesky, covariance_type
    joint = np.empty((len(X), len(mixture.weights)), np.result_type(X, mixture.weights))
    for rows in blocks_of(len(X)):
        np.add(log_gaussian(X[rows], *of_cluster), np.log(mixture.weights), out=joint[rows])
    return joint


def log_shares(X: np.ndarray, mixture: Mixture, covariance_type: str) -> np.ndarray:
    """`log_joint` up to a constant of each row: O(n k d) under a shared covariance."""
    if covariance_type != "tied":
        return log_joint(X, mixture, covariance_type)
    pulled, offset = shared_terms(mixture)
    shares: np.ndarray = X @ pulled
    shares += offset
    return shares


def blocks_of(n_rows: int) -> Iterator[slice]:
    """Slices of `BLOCK` rows, the last of what remains."""
    return (slice(start, start + BLOCK) for start in range(0, n_rows, BLOCK))


def shared_terms(mixture: Mixture) -> tuple[np.ndarray, np.ndarray]:
    """Factors and summands under one covariance: ``X @ factors + summands`` is `log_joint`.

    But for a constant of each row, for xᵀΣ⁻¹x is the same for all components: O(n k d) without it.
    """
    factor = mixture.precisions_cholesky  # Σ⁻¹ = F Fᵀ
    pulled = factor @ (mixture.means @ factor).T  # (n_features, n_components) Σ⁻¹ μ
    offset = np.log(mixture.weights) - 0.5 * (mixture.means * pulled.T).sum(axis=1)
    return pulled, offset


def shared_constant(mixture: Mixture, scatter: np.ndarray, mass: float) -> float:
    """Weighted sum of the constants that `shared_terms` leaves out; ``scatter`` is Σ w x xᵀ."""
    factor = mixture.precisions_cholesky
    log_det = 2 * np.log(np.diag(factor)).sum()
    squares = (factor * (scatter @ factor)).sum()  # tr(Σ⁻¹ Σ_i w_i x_i x_iᵀ)
    return float(0.5 * (mass * (log_det - len(factor) * np.log(2 * np.pi)) - squares))


def normalize(joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log of the sum of exp over each row, and exp divided by that sum."""
    log_sums, shares = np.empty(len(joint), joint.dtype), np.empty_like(joint)
    for rows in blocks_of(len(joint)):
        top = joint[rows].max(axis=1)
        share = np.subtract(joint[rows], top[:, None], out=shares[rows])
        sums = np.exp(share, out=share).sum(axis=1)
        share /= sums[:, None]
        log_sums[rows] = top + np.log(sums)
    return log_sums, shares


def precisions_of(cholesky: np.ndarray, covariance_type: str) -> np.ndarray:
    """Precisions from their Cholesky factors, in the shape of the covariances."""
    if covariance_type in {"full", "tied"}:
        return cholesky @ np.swapaxes(cholesky, -1, -2)
    return cholesky**2
