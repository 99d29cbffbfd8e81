"""Checks and hypothesis strategies for estimators that take constraints.

The strategies need `hypothesis` and load on first use; the checks do without.
"""

import importlib.util
from typing import Any

from conclust.exceptions import MissingExtraError
from conclust.testing._all_estimators import all_estimators
from conclust.testing._checks import EstimatorCase, estimator_checks
from conclust.testing._transformer_checks import transformer_checks

_STRATEGIES = ["any_constraints", "consistent_constraints", "contradictory_constraints"]

__all__ = ["EstimatorCase", "all_estimators", "estimator_checks", "transformer_checks"]
if importlib.util.find_spec("hypothesis") is not None:
    __all__ += _STRATEGIES


def __getattr__(name: str) -> Any:
    if name not in _STRATEGIES:
        raise AttributeError(f"module 'conclust.testing' has no attribute {name!r}")
    try:
        from conclust.testing import _strategies
    except ImportError as error:
        raise MissingExtraError(
            f"conclust.testing.{name} needs hypothesis: pip install hypothesis."
        ) from error
    return getattr(_strategies, name)


def __dir__() -> list[str]:
    return list(__all__)
