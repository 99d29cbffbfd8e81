"""k-means‖: centres from a few passes over all rows, however many there are."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import kmeans_plusplus

from conclust._arrays import Matrix
from conclust._lloyd.rows import open_rows

# Rounds, and rows drawn in each for every centre wanted: from there on [1]_ sees nothing won.
N_ROUNDS, OVERSAMPLING = 5, 2


def scalable_plus_plus(
    X: Matrix,
    n_clusters: int,
    sample_weight: np.ndarray | None,
    random_state: np.random.RandomState,
) -> np.ndarray | None:
    """Draw centres by k-means‖ [1]_.

    1. Draw one row.
    2. In each of five rounds draw 2 k rows with probabilities proportional to weight times squared
       distance to the nearest row drawn so far: exactly so many, as in section 5.3 of [1]_.
    3. Weigh each row drawn by the rows nearest to it, and choose k of them by k-means++.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), or source of rows
    n_clusters : int
    sample_weight : ndarray of shape (n_samples,) or None
    random_state : RandomState

    Returns
    -------
    ndarray of shape (n_clusters, n_features) or None
        None where fewer rows than that are far from each other.

    Notes
    -----
    A round is two passes and costs as much as two sweeps with 2 k centres. 16 bytes per row are
    held meanwhile. The draws do not depend on how the rows are cut into blocks.

    References
    ----------
    .. [1] B. Bahmani, B. Moseley, A. Vattani, R. Kumar and S. Vassilvitskii (2012). Scalable
       k-means++. PVLDB 5(7). :doi:`10.14778/2180912.2180915`
    """
    n_samples = X.shape[0]
    weight: Any = np.ones(n_samples) if sample_weight is None else sample_weight
    nearest, owner = np.full(n_samples, np.inf), np.zeros(n_samples, dtype=np.int32)
    drawn = _draw(weight, 1, random_state)
    candidates = _rows_at(X, drawn)
    for number in range(N_ROUNDS + 1):
        new = candidates[-len(drawn) :]
        _note_nearer(X, new, len(candidates) - len(new), nearest, owner)
        if number == N_ROUNDS or not (weight * nearest).any():
            break
        drawn = _draw(weight * nearest, OVERSAMPLING * n_clusters, random_state)
        candidates = np.concatenate([candidates, _rows_at(X, drawn)])
    if len(candidates) < n_clusters:
        return None
    mass = np.bincount(owner, weight, len(candidates))
    return kmeans_plusplus(candidates, n_clusters, sample_weight=mass, random_state=random_state)[0]


def _draw(chance: np.ndarray, n: int, random_state: np.random.RandomState) -> np.ndarray:
    """Numbers of rows, ascending; fewer than `n` where one is drawn twice."""
    shares = np.cumsum(chance, dtype=np.float64)
    where = random_state.random_sample(n) * shares[-1]
    return np.unique(np.searchsorted(shares, where, side="right"))


def _rows_at(X: Matrix, rows: np.ndarray) -> np.ndarray:
    found = X[rows]
    return found.toarray() if sp.issparse(found) else found


def _note_nearer(
    X: Matrix, points: np.ndarray, first: int, nearest: np.ndarray, owner: np.ndarray
) -> None:
    """Enter the squared distance to the nearest point and its number, where that is nearer."""
    with open_rows(X, len(points)) as rows:
        rows.sweep(points)
        distances = rows.distances_to_own(points)
        nearer = distances < nearest
        nearest[nearer] = distances[nearer]
        owner[nearer] = first + rows.labels[nearer]
