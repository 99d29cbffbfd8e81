"""Rows moved towards their neighbours: what is said of one then reaches those near it."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array


def smooth_over_neighbors(
    X: Any, *, n_neighbors: int = 10, share: float = 0.7, n_steps: int = 3
) -> np.ndarray:
    """Move every row towards the mean of its nearest neighbours, and keep its length.

    For embeddings with many classes, where a statement moves hardly more than its two rows: after
    this, rows that are near each other lie nearer still, and a clusterer that moves one of them for
    a statement's sake moves its neighbours with it. Most of what it gains it gains without any
    statement: compare with plain k-means of the same rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Embeddings: rows whose length means little. Tables of unlike features gain nothing.
    n_neighbors : int, default=10
        Neighbours of each row; at most all others are taken.
    share : float, default=0.7
        How much of a row its neighbours make up, between 0 (nothing changes) and 1.
    n_steps : int, default=3
        How often the means are taken anew: neighbours of neighbours count from 2 on.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        In float32 if X is, else in float64.

    See Also
    --------
    average_linkage_start : Centres to begin with, found among the rows this gives.

    Notes
    -----
    With P the matrix that takes the mean over neighbours, :math:`Z_0 = X` and
    :math:`Z_{t+1} = (1 - s) X + s P Z_t`; each row of the last one is then brought to the length
    it has in X. Time is that of the search for neighbours, O(n_samples² n_features) in many
    dimensions; memory O(n_samples (n_features + n_neighbors)).

    Examples
    --------
    >>> from conclust.cluster import smooth_over_neighbors
    >>> X = [[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]
    >>> smooth_over_neighbors(X, n_neighbors=1, share=0.5, n_steps=1).round(2)
    array([[0.95, 0.32],
           [0.95, 0.32],
           [0.45, 0.89]])
    """
    X = check_array(X, dtype=[np.float64, np.float32])
    if n_neighbors < 1 or n_steps < 1 or not 0 <= share <= 1:
        raise ValueError(
            f"n_neighbors={n_neighbors} and n_steps={n_steps} must be at least 1, and "
            f"share={share} between 0 and 1."
        )
    n = len(X)
    n_neighbors = min(n_neighbors, n - 1)
    if n_neighbors == 0:
        return X.copy()
    near = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors(return_distance=False)
    average = sp.csr_array(
        (
            np.full(near.size, 1 / n_neighbors, X.dtype),
            near.ravel(),
            np.arange(0, near.size + 1, n_neighbors),
        ),
        (n, n),
    )
    smooth = X
    for _ in range(n_steps):
        smooth = (1 - share) * X + share * (average @ smooth)
    length = np.linalg.norm(smooth, axis=1)
    scale = np.linalg.norm(X, axis=1) / np.where(length > 0, length, 1)
    return (smooth * scale[:, np.newaxis]).astype(X.dtype, copy=False)
