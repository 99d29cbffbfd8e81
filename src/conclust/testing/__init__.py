"""Checks and hypothesis strategies for estimators that take constraints; needs `hypothesis`."""

from conclust.testing._checks import EstimatorCase, estimator_checks
from conclust.testing._strategies import (
    any_constraints,
    consistent_constraints,
    contradictory_constraints,
)
from conclust.testing._transformer_checks import transformer_checks

__all__ = [
    "EstimatorCase",
    "any_constraints",
    "consistent_constraints",
    "contradictory_constraints",
    "estimator_checks",
    "transformer_checks",
]
