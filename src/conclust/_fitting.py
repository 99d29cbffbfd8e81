"""Fit any clusterer, or a pipeline that ends in one, with statements if it takes them."""

from typing import Any

from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from conclust._arrays import IntArray
from conclust.constraints import Constraints


def fit_told(estimator: Any, X: Any, constraints: Constraints | None) -> Any:
    """Fit; the statements go to the step that takes them, and to none where none does."""
    path = _path_of_constraints(estimator)
    # The path names the step, so that nobody need ask for routing; routing would refuse it.
    with config_context(enable_metadata_routing=False):
        return estimator.fit(X) if path is None else estimator.fit(X, **{path: constraints})


def _path_of_constraints(estimator: Any) -> str | None:
    """The keyword of `fit` that takes statements; None where there is none."""
    if isinstance(estimator, Pipeline):
        # The last step that takes statements: a learned metric before the clusterer may, too, but
        # what is chosen here is the clustering.
        paths = ((name, _path_of_constraints(step)) for name, step in estimator.steps[::-1])
        return next((f"{name}__{path}" for name, path in paths if path is not None), None)
    takes = hasattr(estimator, "fit") and has_fit_parameter(estimator, "constraints")
    return "constraints" if takes else None


def labels_of(estimator: Any) -> IntArray:
    """`labels_` of a fitted clusterer or of the last step of a pipeline."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    labels: IntArray = estimator.labels_
    return labels
