"""Choose a method, its settings, a number of clusters without labels: hold out statements."""

from conclust.model_selection._auto import AutoCluster
from conclust.model_selection._choose import (
    Choice,
    HeldOut,
    choose_method,
    fewer_rows,
    folds,
    held_out_score,
)
from conclust.model_selection._n_clusters import KCurve, KPoint, choose_n_clusters
from conclust.model_selection._search import ConstraintSearchCV, constraint_satisfaction_scorer
from conclust.model_selection._split import ConstraintKFold
from conclust.model_selection._stack import believe

__all__ = [
    "AutoCluster",
    "Choice",
    "ConstraintKFold",
    "ConstraintSearchCV",
    "HeldOut",
    "KCurve",
    "KPoint",
    "choose_method",
    "choose_n_clusters",
    "constraint_satisfaction_scorer",
    "held_out_score",
]
