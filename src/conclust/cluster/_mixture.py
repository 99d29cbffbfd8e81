"""A Gaussian mixture as arrays, and what follows from it for rows."""

from typing import NamedTuple

import numpy as np

from conclust._sklearn import log_gaussian


class Mixture(NamedTuple):
    """A Gaussian mixture; shapes of the last two as in scikit-learn's GaussianMixture."""

    weights: np.ndarray  # (n_components,)
    means: np.ndarray  # (n_components, n_features)
    covariances: np.ndarray
    precisions_cholesky: np.ndarray


def log_joint(X: np.ndarray, mixture: Mixture, covariance_type: str) -> np.ndarray:
    """Return log π_c + log N(x; μ_c, Σ_c), (n_samples, n_components)."""
    density = log_gaussian(X, mixture.means, mixture.precisions_cholesky, covariance_type)
    return density + np.log(mixture.weights)


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
    top = joint.max(axis=1)
    shares = np.exp(joint - top[:, None])
    sums = shares.sum(axis=1)
    shares /= sums[:, None]
    return top + np.log(sums), shares


def precisions_of(cholesky: np.ndarray, covariance_type: str) -> np.ndarray:
    """Precisions from their Cholesky factors, in the shape of the covariances."""
    if covariance_type in {"full", "tied"}:
        return cholesky @ np.swapaxes(cholesky, -1, -2)
    return cholesky**2
