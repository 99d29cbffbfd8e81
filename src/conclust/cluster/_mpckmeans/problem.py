"""What does not change while labels, centres and metrics do: rows, statements, prices."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.extmath import row_norms

from conclust._arrays import FloatArray, Matrix
from conclust._placement.links import Links
from conclust.cluster._mpckmeans.metrics import KINDS, Diagonal, Full, Metrics, blocks, width

# Rows between which the longest distance is sought; each costs one pass over the data.
N_FAR = 16


class Standardized(NamedTuple):
    """Data of unit variance along each feature, dense ones about their mean."""

    X: Matrix
    mean: FloatArray  # (n_features,) 0 for sparse data
    scale: FloatArray  # (n_features,) 1 where nothing varies


def standardized(X: Matrix, sample_weight: FloatArray) -> Standardized:
    """Bring all features to the same spread, in float64; sparse data stay sparse."""
    X = X.astype(np.float64)
    total = sample_weight.sum()
    mean = np.asarray(sample_weight @ X).ravel() / total
    if sp.issparse(X):
        variance = Diagonal.scatter(X, sample_weight) / total - mean**2
    else:
        X -= mean
        variance = Diagonal.scatter(X, sample_weight) / total
    # Below the square of the rounding of the mean nothing varies.
    varies = variance > (10 * np.finfo(np.float64).eps * np.abs(mean)) ** 2
    scale = np.sqrt(np.where(varies, variance, 1.0))
    if sp.issparse(X):
        X.data /= scale[X.indices]
        return Standardized(X, np.zeros_like(mean), scale)
    X /= scale
    return Standardized(X, mean, scale)


@dataclass(frozen=True, eq=False)
class Problem:
    """What does not change while labels, centres and metrics do.

    Attributes
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Of unit variance along each feature.
    weight : ndarray of shape (n_samples,)
        Of the rows.
    links : Links
    link_weight : ndarray of shape (n_pairs,)
        Penalty times weight of each pair.
    n_clusters : int
    n_metrics : int
        `n_clusters`, or 1 where all clusters share one metric.
    kind : type
        Diagonal or Full.
    far : {ndarray, CSR matrix} of shape (n_far, n_features)
        Differences between rows far from each other, from which the longest is taken.
    prior_mass : float
        ν, the weight of the rows the prior stands for.
    """

    X: Matrix
    weight: FloatArray
    links: Links
    link_weight: FloatArray
    n_clusters: int
    n_metrics: int
    kind: type[Diagonal] | type[Full]
    far: Matrix
    prior_mass: float

    def differences(self, which: Any) -> Matrix:
        """Return x_i − x_j of some pairs."""
        i, j = self.links.rows[self.links.pairs[which]].T
        return self.X[i] - self.X[j]

    def prices(self, metrics: Metrics) -> FloatArray:
        """(n_pairs, n_metrics) price of each pair where it is broken."""
        lengths = np.empty((len(self.links), self.n_metrics))
        for start, stop in blocks(len(lengths), 2 * width(self.X)):
            lengths[start:stop] = metrics.lengths(self.differences(slice(start, stop)))
        short = np.maximum(metrics.lengths(self.far).max(axis=0) - lengths, 0.0)
        price = np.where(self.links.sign[:, np.newaxis] > 0, lengths, short)
        return price * self.link_weight[:, np.newaxis]


def differences_of_far_rows(X: Matrix, sample_weight: FloatArray) -> Matrix:
    """Differences between rows far from each other.

    The first row is the one farthest from the mean, each next one the one farthest from those
    before. Rows of weight 0 are left out.
    """
    mean = np.asarray(sample_weight @ X).reshape(1, -1) / sample_weight.sum()
    norms = row_norms(X, squared=True)[:, np.newaxis]
    rows: list[int] = []
    nearest = euclidean_distances(X, mean, X_norm_squared=norms).ravel()
    nearest[sample_weight == 0] = -np.inf
    for _ in range(min(N_FAR, int(np.count_nonzero(sample_weight)))):
        rows.append(int(nearest.argmax()))
        distance = euclidean_distances(X, X[rows[-1:]], X_norm_squared=norms).ravel()
        nearest = distance if len(rows) == 1 else np.minimum(nearest, distance)
        nearest[sample_weight == 0] = -np.inf
        nearest[rows] = -np.inf
    i, j = np.triu_indices(len(rows), k=1)
    far = X[rows]
    # A single row has no pair but itself.
    return far[i] - far[j] if len(i) else far - far


def pose(
    X: Matrix,
    links: Links,
    sample_weight: FloatArray,
    *,
    n_clusters: int,
    metric: str,
    shared: bool,
    penalty: float,
    regularization: float,
) -> Problem:
    """Collect what stays the same in all starts; parameters as in `MPCKMeans`."""
    unit = float(sample_weight.sum()) / int(np.count_nonzero(sample_weight))
    return Problem(
        X=X,
        weight=sample_weight,
        links=links,
        link_weight=penalty * unit * links.weight,
        n_clusters=n_clusters,
        n_metrics=1 if shared else n_clusters,
        kind=KINDS[metric],
        far=differences_of_far_rows(X, sample_weight),
        prior_mass=regularization * unit,
    )
