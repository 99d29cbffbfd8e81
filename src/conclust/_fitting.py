"""Fit any clusterer, or a pipeline that ends in one, with statements if it takes them."""

from typing import Any

from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from conclust._arrays import IntArray
from conclust._threads import threads_worth
from conclust.constraints import Constraints


def fit_told(estimator: Any, X: Any, constraints: Constraints | None, y: Any = None) -> Any:
    """Fit; the statements go to every step that takes them, and to none where none does."""
    paths = _paths_of_constraints(estimator)
    # The paths name the steps, so that nobody need ask for routing; routing would refuse them.
    with config_context(enable_metadata_routing=False), threads_worth(X):
        known = () if y is None else (y,)
        return estimator.fit(X, *known, **dict.fromkeys(paths, constraints))


def takes_statements(estimator: Any) -> bool:
    """Whether it, or a step of it, takes statements."""
    return bool(_paths_of_constraints(estimator))


def _paths_of_constraints(estimator: Any) -> list[str]:
    """The keywords of `fit` that take statements."""
    if isinstance(estimator, Pipeline):
        return [
            f"{name}__{path}"
            for name, step in estimator.steps
            for path in _paths_of_constraints(step)
        ]
    takes = hasattr(estimator, "fit") and has_fit_parameter(estimator, "constraints")
    return ["constraints"] if takes else []


def labels_of(estimator: Any) -> IntArray:
    """`labels_` of a fitted clusterer or of the last step of a pipeline."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    labels: IntArray = estimator.labels_
    return labels
