"""Run whatever clusterer the user brought."""

from typing import Any

import numpy as np
from sklearn.base import clone

from conclust._sklearn import set_random_states
from conclust._threads import threads_worth


def prepared(estimator: Any, n_clusters: int, seed: int) -> Any:
    """A clone with its number of clusters and its seeds set, where it has such parameters.

    The last step of a Pipeline counts; a mixture calls them components.
    """
    estimator = clone(estimator)
    last = estimator
    while hasattr(last, "steps"):
        last = last.steps[-1][1]
    parameters = last.get_params(deep=False)
    if "n_clusters" in parameters:
        last.set_params(n_clusters=n_clusters)
    elif "n_components" in parameters and not hasattr(last, "transform"):
        last.set_params(n_components=n_clusters)
    set_random_states(estimator, np.random.RandomState(seed))
    return estimator


def labels_from(estimator: Any, X: Any, n_clusters: int, seed: int) -> np.ndarray:
    """Labels of a clusterer on X, numbered from 0, (n_samples,) int32."""
    with threads_worth(X):
        found = prepared(estimator, n_clusters, seed).fit_predict(X)
    return np.unique(found, return_inverse=True)[1].ravel().astype(np.int32)
