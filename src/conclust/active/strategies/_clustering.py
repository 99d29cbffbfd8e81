"""A quick clustering for choosing questions."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from conclust._any_clusterer import prepared
from conclust._arrays import IntArray
from conclust._fitting import fit_told, labels_of
from conclust.active._state import State
from conclust.active.strategies._neighborhoods import find_neighborhoods
from conclust.cluster import PCKMeans
from conclust.constraints import Constraints
from conclust.exceptions import ConclustWarning

SESSION = "session"


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
        "session": the clustering of the session, which may take seconds. None: `PCKMeans`, started
        once.
    random_state : RandomState
    told : Constraints, default=None
        What the clusterer is told; all that is known by default.
    """
    told = state.constraints if told is None else told
    if isinstance(estimator, str) and estimator == SESSION:
        return state.labels
    if state.n_samples < 2:
        return np.zeros(state.n_samples, dtype=np.int64)
    model = prepared(
        PCKMeans(n_init=1) if estimator is None else estimator,
        n_clusters_of(state, random_state),
        random_state.randint(2**31 - 1),
    )
    with warnings.catch_warnings():
        # Fewer clusters than wanted, no convergence: good enough for choosing a question.
        warnings.simplefilter("ignore", ConclustWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(labels_of(fit_told(model, state.X, told.pairwise)))


def n_clusters_of(state: State, random_state: np.random.RandomState) -> int:
    """The number of clusters; where it is not known, of groups known to be apart, at least two."""
    n_clusters = state.n_clusters
    if n_clusters is None:
        n_clusters = max(len(find_neighborhoods(state, random_state)), 2)
    return min(n_clusters, state.n_samples)
