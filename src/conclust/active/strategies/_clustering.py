"""A quick clustering for choosing questions."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin

from conclust._any_clusterer import prepared
from conclust._arrays import FloatArray, IntArray
from conclust._fitting import fit_told, labels_of
from conclust.active._state import State
from conclust.active._within import among
from conclust.active.strategies._neighborhoods import find_neighborhoods
from conclust.active.strategies._sample import sampled_rows
from conclust.cluster import PCKMeans
from conclust.constraints import Constraints
from conclust.exceptions import ConclustWarning

SESSION = "session"
MAX_ROWS_CLUSTERED = 3_000  # of more a sample is clustered, and the others go to the nearest mean


def clustered(
    state: State,
    estimator: Any,
    random_state: np.random.RandomState,
    told: Constraints | None = None,
) -> IntArray:
    """Labels of all rows, (n_samples,), by the answers so far.

    Parameters
    ----------
    state : State
    estimator : clusterer, "session" or None
        "session": the clustering of the session, which may take seconds. None: a quick `PCKMeans`.
    random_state : RandomState
    told : Constraints, default=None
        What the clusterer is told; all that is known by default.
    """
    told = state.constraints if told is None else told
    if isinstance(estimator, str) and estimator == SESSION:
        return state.labels
    if state.n_samples < 2:
        return np.zeros(state.n_samples, dtype=np.int64)
    rows = sampled_rows(state, MAX_ROWS_CLUSTERED, random_state)
    model = prepared(
        _quick(state.X[rows]) if estimator is None else estimator,
        n_clusters_of(state, random_state),
        random_state.randint(2**31 - 1),
    )
    with warnings.catch_warnings():
        # Fewer clusters than wanted, no convergence: good enough for choosing a question.
        warnings.simplefilter("ignore", ConclustWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = np.asarray(labels_of(fit_told(model, state.X[rows], among(rows, told.pairwise))))
    return labels if len(rows) == state.n_samples else extended(state.X, rows, labels)


def _quick(X: FloatArray) -> PCKMeans:
    """`PCKMeans` from one start. A statement costs as much as a row lies from the mean of all:
    choosing the price by statements held out would take ten times as long.
    """
    return PCKMeans(penalty=float(X.var(axis=0).sum()) or 1.0, n_init=1)


def extended(X: FloatArray, rows: IntArray, labels: IntArray) -> IntArray:
    """Labels of some rows given to all: each other row is where the nearest mean is."""
    clusters = np.unique(labels)
    means = np.array([X[rows[labels == cluster]].mean(axis=0) for cluster in clusters])
    extended: IntArray = clusters[pairwise_distances_argmin(X, means)]
    extended[rows] = labels
    return extended


def n_clusters_of(state: State, random_state: np.random.RandomState) -> int:
    """The number of clusters; where it is not known, of groups known to be apart, at least two."""
    n_clusters = state.n_clusters
    if n_clusters is None:
        n_clusters = max(len(find_neighborhoods(state, random_state)), 2)
    return min(n_clusters, state.n_samples)
