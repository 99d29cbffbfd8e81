"""What the statements changed: the same rows by k-means, which is told nothing."""

import warnings
from typing import Any, NamedTuple

import numpy as np

from conclust._threads import one_thread
from conclust.constraints import Constraints

MAX_FITTED = 20_000  # rows; of more a sample finds the centres
MAX_CLUSTERS = 200  # matching more of them says little and costs much
MAX_ITER = 50
N_INIT = 3


class Before(NamedTuple):
    """A clustering against that of plain k-means, whose clusters are numbered to match."""

    n_moved: int  # rows in another cluster
    n_kept: int  # statements that k-means keeps
    table: list[list[int]]  # (n_clusters, n_clusters) rows: now, before


def before(
    X: Any, labels: Any, n_clusters: int, constraints: Constraints, seed: int
) -> Before | None:
    """Compare with plain k-means; None where there is nothing to compare.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
    n_clusters : int
    constraints : Constraints
    seed : int

    Returns
    -------
    Before or None
    """
    if not len(constraints) or not 2 <= n_clusters <= MAX_CLUSTERS:
        return None
    from scipy.optimize import linear_sum_assignment

    plain = _plain_labels(X, n_clusters, seed)
    table = np.zeros((n_clusters, n_clusters), dtype=np.int64)
    inside = labels >= 0
    np.add.at(table, (labels[inside], plain[inside]), 1)
    table = table[:, linear_sum_assignment(-table)[1]]
    n_kept = int(constraints.satisfied(plain).sum())
    return Before(int(table.sum() - np.trace(table)), n_kept, table.tolist())


def _plain_labels(X: Any, n_clusters: int, seed: int) -> Any:
    from sklearn.cluster import KMeans

    rows = np.arange(X.shape[0])
    if len(rows) > MAX_FITTED:
        rows = np.sort(np.random.RandomState(seed).choice(rows, MAX_FITTED, replace=False))
    model = KMeans(n_clusters, n_init=N_INIT, max_iter=MAX_ITER, random_state=seed)
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")  # fewer different rows than clusters: so be it
        return model.fit(X[rows]).predict(X)
