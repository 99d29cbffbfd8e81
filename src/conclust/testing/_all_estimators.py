"""Every estimator there is, found by looking."""

import importlib
import inspect
import pkgutil
from typing import Any

from sklearn.base import BaseEstimator, MetaEstimatorMixin

import conclust


def all_estimators() -> list[tuple[str, Any]]:
    """Every class of this package whose `fit` takes constraints beside X.

    Modules are walked through, so a class counts as soon as it is written, public or not yet.

    Returns
    -------
    list of (str, class)
        Sorted by name; base classes, which have no `fit`, and searches over other estimators are
        left out.

    See Also
    --------
    estimator_checks : Checks for one of them.

    Examples
    --------
    >>> from conclust.testing import all_estimators
    >>> [name for name, _ in all_estimators()][:3]
    ['AutoCluster', 'BoostCluster', 'BoostedConstrainedKMeans']
    """
    found: dict[str, Any] = {}
    for module in pkgutil.walk_packages(conclust.__path__, "conclust."):
        if {"cli", "testing", "__main__"} & set(module.name.split(".")):
            continue
        found |= {
            name: value
            for name, value in vars(importlib.import_module(module.name)).items()
            if _takes_constraints(value) and value.__module__ == module.name
        }
    return sorted(found.items())


def _takes_constraints(value: Any) -> bool:
    if not (inspect.isclass(value) and issubclass(value, BaseEstimator)):
        return False
    if issubclass(value, MetaEstimatorMixin):  # it takes what the estimator inside takes
        return False
    fit = getattr(value, "fit", None)
    return fit is not None and {"X", "constraints"} <= set(inspect.signature(fit).parameters)
