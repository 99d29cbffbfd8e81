"""What the user knows: pairs, triplets, closure, conflicts, sampling, files."""

from conclust.constraints._closure import Closure
from conclust.constraints._conflicts import Conflict
from conclust.constraints._constraints import Constraints, Statement, read_constraints
from conclust.constraints._files import FileSummary, summarize_file
from conclust.constraints._quality import ConstraintQuality, constraint_quality
from conclust.constraints._report import ConstraintReport
from conclust.constraints._sampling import sample_constraints

__all__ = [
    "Closure",
    "Conflict",
    "ConstraintQuality",
    "ConstraintReport",
    "Constraints",
    "FileSummary",
    "Statement",
    "constraint_quality",
    "read_constraints",
    "sample_constraints",
    "summarize_file",
]
