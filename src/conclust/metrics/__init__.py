"""Labels and constraints in, scores and violations out."""

from conclust._matching import match_labels
from conclust.constraints import ConstraintReport
from conclust.metrics._pairwise import pairwise_f1
from conclust.metrics._violations import violations

__all__ = ["ConstraintReport", "match_labels", "pairwise_f1", "violations"]
