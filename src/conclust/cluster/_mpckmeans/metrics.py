"""Distances under metrics, diagonal or full, one for each cluster or one for all."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances

from conclust._arrays import FloatArray, IntArray, Matrix

# Numbers in one block of rows: 8 MB of temporaries.
BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class Diagonal:
    """One diagonal metric per cluster, or one for all; X may be sparse.

    Attributes
    ----------
    matrices : ndarray of shape (n_metrics, n_features)
        The diagonals, positive.
    """

    matrices: FloatArray

    @property
    def log_det(self) -> FloatArray:
        """(n_metrics,) logarithm of the determinants."""
        return np.log(self.matrices).sum(axis=1)

    def squared(self, X: Matrix, centers: FloatArray) -> FloatArray:
        """(n_samples, n_clusters) squared distances of the rows to the centres."""
        matrices = np.broadcast_to(self.matrices, centers.shape)
        scaled = matrices * centers
        squares = X.multiply(X) if sp.issparse(X) else X * X
        expanded = squares @ matrices.T - 2 * (X @ scaled.T) + (scaled * centers).sum(axis=1)
        return np.maximum(expanded, 0.0)

    def lengths(self, differences: Matrix) -> FloatArray:
        """(n_differences, n_metrics) squared length of each difference under each metric."""
        if sp.issparse(differences):
            return differences.multiply(differences) @ self.matrices.T
        return (differences * differences) @ self.matrices.T

    @staticmethod
    def scatter(differences: Matrix, weight: FloatArray) -> FloatArray:
        """(n_features,) Σ w δ², such that Σ w ‖δ‖² under A is its product with A."""
        if sp.issparse(differences):
            return np.asarray(weight @ differences.multiply(differences)).ravel()
        return weight @ (differences * differences)

    @staticmethod
    def plain(n_metrics: int, n_features: int) -> FloatArray:
        """Return unit metrics."""
        return np.ones((n_metrics, n_features))

    @staticmethod
    def inverse(scatter: FloatArray, floor: float) -> FloatArray:
        """Inverse of one scatter, its entries raised to `floor` first."""
        return 1.0 / np.maximum(scatter, floor)


@dataclass(frozen=True, eq=False)
class Full:
    """One full metric per cluster, or one for all; dense X.

    Attributes
    ----------
    matrices : ndarray of shape (n_metrics, n_features, n_features)
        Symmetric, positive definite.
    """

    matrices: FloatArray

    @property
    def log_det(self) -> FloatArray:
        """(n_metrics,) logarithm of the determinants."""
        return np.linalg.slogdet(self.matrices)[1]

    def squared(self, X: Matrix, centers: FloatArray) -> FloatArray:
        """(n_samples, n_clusters) squared distances of the rows to the centres."""
        factors = np.linalg.cholesky(self.matrices)
        if len(factors) == 1:
            return euclidean_distances(X @ factors[0], centers @ factors[0], squared=True)
        squared = np.empty((X.shape[0], len(centers)))
        for cluster, (center, factor) in enumerate(zip(centers, factors, strict=True)):
            squared[:, cluster] = (((X - center) @ factor) ** 2).sum(axis=1)
        return squared

    def lengths(self, differences: Matrix) -> FloatArray:
        """(n_differences, n_metrics) squared length of each difference under each metric."""
        lengths = np.empty((len(differences), len(self.matrices)))
        for h, factor in enumerate(np.linalg.cholesky(self.matrices)):
            lengths[:, h] = ((differences @ factor) ** 2).sum(axis=1)
        return lengths

    @staticmethod
    def scatter(differences: Matrix, weight: FloatArray) -> FloatArray:
        """(n_features, n_features) Σ w δδᵀ."""
        return (differences.T * weight) @ differences

    @staticmethod
    def plain(n_metrics: int, n_features: int) -> FloatArray:
        """Return unit metrics."""
        return np.tile(np.eye(n_features), (n_metrics, 1, 1))

    @staticmethod
    def inverse(scatter: FloatArray, floor: float) -> FloatArray:
        """Inverse of one scatter, its eigenvalues raised to `floor` first."""
        values, vectors = np.linalg.eigh(scatter)
        return (vectors / np.maximum(values, floor)) @ vectors.T


Metrics = Diagonal | Full
KINDS: dict[str, type[Diagonal] | type[Full]] = {"diagonal": Diagonal, "full": Full}


def nearest_under(
    metrics: Metrics, X: Matrix, centers: FloatArray, kept: IntArray
) -> tuple[npt.NDArray[np.int32], FloatArray, FloatArray]:
    """Find the cheapest centre of each row, in blocks: squared distance minus log-determinant.

    Parameters
    ----------
    metrics : Diagonal or Full
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    centers : ndarray of shape (n_clusters, n_features)
    kept : ndarray of shape (n_kept,)
        Rows whose whole table is wanted, ascending.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    cost : ndarray of shape (n_samples,)
        Of each row in the cluster of its label.
    table : ndarray of shape (n_kept, n_clusters)
        Of the kept rows in each cluster.
    """
    n_samples = X.shape[0]
    labels = np.empty(n_samples, dtype=np.int32)
    cost = np.empty(n_samples)
    table = np.empty((len(kept), len(centers)))
    log_det = metrics.log_det
    for start, stop in blocks(n_samples, max(width(X), len(centers))):
        block = metrics.squared(X[start:stop].astype(np.float64, copy=False), centers) - log_det
        labels[start:stop] = block.argmin(axis=1)
        cost[start:stop] = block.min(axis=1)
        first, last = np.searchsorted(kept, (start, stop))
        table[first:last] = block[kept[first:last] - start]
    return labels, cost, table


def width(X: Matrix) -> int:
    """Numbers stored per row."""
    return X.nnz // X.shape[0] + 1 if sp.issparse(X) else X.shape[1]


def blocks(n_rows: int, width: int) -> list[tuple[int, int]]:
    step = max(BLOCK // max(width, 1), 1)
    return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
