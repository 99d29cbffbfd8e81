"""conclust: clustering that listens to what people know.

Public names load on first use, so ``import conclust`` stays light.
"""

import importlib
from typing import Any

__version__ = "0.1.0.dev0"

# Public name -> the subpackage it lives in. Estimators stand in the order of the tables of methods;
# tests/test_common.py says when one that a subpackage holds is missing here.
_HOMES = {
    "Constraints": "constraints",
    "Conflict": "constraints",
    "ConstraintReport": "constraints",
    "Closure": "constraints",
    "sample_constraints": "constraints",
    "read_constraints": "constraints",
    "constraint_quality": "constraints",
    "AutoCluster": "model_selection",
    "COPKMeans": "cluster",
    "ConstrainedKMeans": "cluster",
    "MiniBatchConstrainedKMeans": "cluster",
    "PCKMeans": "cluster",
    "MPCKMeans": "cluster",
    "ConstrainedGaussianMixture": "cluster",
    "GeneralizedKMeans": "cluster",
    "BoostedConstrainedKMeans": "ensemble",
    "ConstrainedKMeansEnsemble": "ensemble",
    "TrustEnsemble": "ensemble",
    "CoTraining": "ensemble",
    "BoostCluster": "ensemble",
    "SpectralLearning": "cluster",
    "SemiSupervisedKernelKMeans": "cluster",
    "ReCon": "hierarchy",
    "ITML": "metric_learning",
    "RelativeMetric": "metric_learning",
    "DistBoost": "metric_learning",
    "Guided": "_guided",
    "consensus": "ensemble",
    "ConstraintKFold": "model_selection",
    "ConstraintSearchCV": "model_selection",
    "constraint_satisfaction_scorer": "model_selection",
    "match_labels": "metrics",
    "pairwise_f1": "metrics",
    "show_versions": "_show_versions",
    "save": "_persist",
    "load": "_persist",
}
_SUBPACKAGES = (
    "active",
    "blocks",
    "cluster",
    "constraints",
    "datasets",
    "ensemble",
    "exceptions",
    "hierarchy",
    "metric_learning",
    "metrics",
    "model_selection",
    "plotting",
    "reporting",
    "studio",
    "testing",
)

__all__ = ["__version__", *sorted(_HOMES), *_SUBPACKAGES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"conclust.{_HOMES[name]}"), name)
    elif name in _SUBPACKAGES:
        value = importlib.import_module(f"conclust.{name}")
    else:
        raise AttributeError(f"module 'conclust' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
