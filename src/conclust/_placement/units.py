"""Must-linked rows as units that move as one, and what to say when they cannot be placed."""

from typing import NamedTuple

import numpy as np

from conclust._placement.apart_graph import ApartGraph
from conclust._placement.hard import Outcome, Placement
from conclust._words import count_conflicts
from conclust.constraints import MAX_LISTED, Closure, Constraints
from conclust.exceptions import InfeasibleConstraintsError

# When fewer rows than this share changed, units are not placed from scratch again: the last
# placement, improved, is as good then and takes half the time.
STILL = 0.1


class Units(NamedTuple):
    """The rows that constraints speak of, joined into units that move as one."""

    rows: np.ndarray  # (n_rows,) ascending: rows with a must-link or a cannot-link
    unit: np.ndarray  # (n_rows,) unit of each of them
    graph: ApartGraph  # which units must stay apart

    def of_rows(self, n_samples: int) -> np.ndarray:
        """(n_samples,) a number for each row, the same for rows that move as one."""
        number = self.graph.n_units + np.arange(n_samples)
        number[self.rows] = self.unit
        return np.unique(number, return_inverse=True)[1]


def units_of(closure: Closure) -> Units:
    """Collect the must-link components that are more than a free row."""
    apart, weight = closure.all_apart()
    bound = closure.sizes > 1
    bound[apart] = True
    number = np.cumsum(bound) - 1
    rows = np.flatnonzero(bound[closure.component])
    graph = ApartGraph(number[apart].reshape(-1, 2), weight, int(bound.sum()))
    return Units(rows, number[closure.component[rows]], graph)


def hard_units(
    constraints: Constraints, n_clusters: int, way_out: str, *, argument: str = "n_clusters"
) -> Units:
    """Collect the units of statements that must all hold.

    Parameters
    ----------
    constraints : Constraints
    n_clusters : int
    way_out : str
        What the error should advise.
    argument : str, default="n_clusters"
        What the caller calls the number of clusters.

    Returns
    -------
    Units

    Raises
    ------
    InconsistentConstraintsError
        When the statements contradict each other.
    InfeasibleConstraintsError
        When a group of mutually apart rows is larger than `n_clusters`: seen here, before the group
        is written out pair by pair. Other reasons show when the units are placed.
    """
    closure = constraints.closure()
    if any(len(group) > n_clusters for group in closure.groups):
        raise_infeasible(constraints, n_clusters, None, way_out, argument=argument)
    return units_of(closure)


def raise_infeasible(
    constraints: Constraints,
    n_clusters: int,
    placement: Placement | None,
    way_out: str,
    *,
    argument: str = "n_clusters",
) -> None:
    """Name the conflict: a clique, an odd ring, or that the search found no way.

    Parameters
    ----------
    constraints : Constraints
        Free of contradictions.
    n_clusters : int
    placement : Placement or None
        What was found instead; None when it was not looked for.
    way_out : str
        What to do, as a sentence.
    argument : str, default="n_clusters"

    Raises
    ------
    InfeasibleConstraintsError
    """
    conflicts = constraints.pairwise.conflicts(n_clusters)
    if conflicts:
        n = len(conflicts)
        more = f" (This is one of {count_conflicts(n, MAX_LISTED)}.)" if n > 1 else ""
        reason = f"{conflicts[0]}{more}"
    elif placement is not None and placement.outcome is Outcome.UNKNOWN:
        reason = (
            "No assignment that keeps every statement was found, and none could be excluded: "
            "the cannot-links are too entangled for the exact search."
        )
    else:
        reason = "The cannot-links need more clusters."
    raise InfeasibleConstraintsError(
        f"{argument}={n_clusters} cannot keep all {len(constraints)} statements. "
        f"{reason} {way_out}",
        conflicts,
    )
