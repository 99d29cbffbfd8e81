"""Spaces in which the members of an average live; each takes new rows as well."""

from typing import Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from conclust._arrays import FloatArray
from conclust.cluster import leading_vectors

# Neighbours of a row on the map; the one whose distance is the unit there; and the share of the
# mean degree that joins all rows, so that a few stray ones do not take a dimension for themselves.
NEIGHBORS, UNIT_NEIGHBOR, REGULARIZATION = 10, 7, 0.01
# Rows that span a map; others are placed among them.
MAX_ROWS_MAP = 1_000
# Dimensions of a map: two per cluster, at least and at most so many.
LEAST_DIMENSIONS, MOST_DIMENSIONS = 10, 60
# New rows stand between so many rows of the map.
BETWEEN = 5


class Space(Protocol):
    """Where rows stand."""

    def transform(self, X: FloatArray) -> FloatArray:
        """Rows in the space."""


class Given:
    """The rows as they are."""

    def transform(self, X: FloatArray) -> FloatArray:
        """Rows in the space."""
        return X


class Linear:
    """A learned metric: a linear map.

    Parameters
    ----------
    factor : ndarray of shape (n_components, n_features)
    """

    def __init__(self, factor: FloatArray):
        self.factor = factor

    def transform(self, X: FloatArray) -> FloatArray:
        """Rows in the space."""
        return X @ self.factor.T


class NeighborMap:
    """A map on which rows are near that many short steps between neighbours join.

    The leading eigenvectors of the random walk between nearest neighbours, each times its
    eigenvalue (diffusion coordinates): clusters of any shape become compact. It knows nothing of
    statements. Rows that repeat are one.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_clusters : int
    seed : int

    References
    ----------
    R. R. Coifman and S. Lafon. Diffusion maps. Applied and Computational Harmonic Analysis 21,
    2006. L. Zelnik-Manor and P. Perona. Self-tuning spectral clustering. NIPS 2004.
    """

    def __init__(self, X: FloatArray, n_clusters: int, seed: int):
        rng = np.random.RandomState(seed)
        X = np.unique(X, axis=0)
        if len(X) > MAX_ROWS_MAP:
            X = X[np.sort(rng.permutation(len(X))[:MAX_ROWS_MAP])]
        self.rows = X
        self.coordinates = diffusion_coordinates(X, _n_dimensions(n_clusters, len(X)), rng)

    def transform(self, X: FloatArray) -> FloatArray:
        """Rows of the map where they are; others between their nearest ones, by closeness."""
        near = NearestNeighbors(n_neighbors=min(BETWEEN, len(self.rows))).fit(self.rows)
        distances, found = near.kneighbors(X)
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = np.where(distances[:, :1] > 0, 1 / distances**2, distances == 0)
            weight /= weight.sum(axis=1, keepdims=True)
        starts = np.arange(0, found.size + 1, found.shape[1])
        between = sp.csr_array((weight.ravel(), found.ravel(), starts), (len(X), len(self.rows)))
        return between @ self.coordinates


def _n_dimensions(n_clusters: int, n_rows: int) -> int:
    wanted = min(max(2 * n_clusters, LEAST_DIMENSIONS), MOST_DIMENSIONS)
    return max(1, min(wanted, n_rows - 2))


def local_affinities(X: FloatArray) -> sp.csr_array:
    """exp(−d² / (σ_i σ_j)) between nearest neighbours, σ the distance to the seventh."""
    n_neighbors = min(NEIGHBORS, len(X) - 1)
    distances, found = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    unit = distances[:, min(UNIT_NEIGHBOR, n_neighbors) - 1]
    close = np.exp(-(distances**2) / (unit[:, None] * unit[found]))
    rows = np.repeat(np.arange(len(X)), n_neighbors)
    directed = sp.csr_array((close.ravel(), (rows, found.ravel())), shape=(len(X), len(X)))
    return directed.maximum(directed.T).tocsr()


def diffusion_coordinates(
    X: FloatArray, n_dimensions: int, random_state: np.random.RandomState
) -> FloatArray:
    """Eigenvectors D^{−½} v of the walk between neighbours, times λ; the constant one left out."""
    if len(X) < 3:
        return X[:, :1] - X[:, :1].mean()
    affinity = local_affinities(X)
    found = leading_vectors(
        affinity, n_dimensions + 1, "symmetric", random_state, regularization=REGULARIZATION
    )
    degree = np.asarray(affinity.sum(axis=1)).ravel()
    degree = degree + REGULARIZATION * degree.mean()
    vectors = found.vectors[:, 1:] / np.sqrt(degree)[:, None]
    coordinates = vectors * np.maximum(found.values[1 : vectors.shape[1] + 1], 0.0)
    spread = coordinates[:, :1].std()
    return coordinates / (spread if spread > 0 else 1.0)
