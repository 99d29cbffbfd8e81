"""What the user knows: pairs, triplets, closure, conflicts, sampling, files."""

from conclust.constraints._closure import Closure
from conclust.constraints._components import must_link_components
from conclust.constraints._conflicts import MAX_LISTED, Conflict, hitting_set
from conclust.constraints._constraints import Constraints, Statement, read_constraints
from conclust.constraints._quality import ConstraintQuality, constraint_quality
from conclust.constraints._report import ConstraintReport, RelativeCount
from conclust.constraints._resolving import summarize_file
from conclust.constraints._rows import n_rows
from conclust.constraints._sampling import sample_constraints
from conclust.constraints._verbs import pairs_of_piles

__all__ = [
    "Closure",
    "Conflict",
    "ConstraintQuality",
    "ConstraintReport",
    "Constraints",
    "RelativeCount",
    "Statement",
    "constraint_quality",
    "read_constraints",
    "sample_constraints",
]
