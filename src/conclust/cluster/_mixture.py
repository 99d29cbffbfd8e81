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
