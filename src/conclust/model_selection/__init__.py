"""Choose a method without labels: hold out statements, not rows."""

from conclust.model_selection._search import OnConstraints, constraint_satisfaction_scorer
from conclust.model_selection._split import ConstraintKFold

__all__ = ["ConstraintKFold", "OnConstraints", "constraint_satisfaction_scorer"]
