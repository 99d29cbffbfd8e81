"""Soft statements as a graph over the rows they name."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust._pairs import Graph, connected, graph_of
from conclust.constraints import Constraints


@dataclass(frozen=True, eq=False)
class Links:
    """Pairwise statements as a graph over the rows they name, prepared once for all starts.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        The rows that some statement names, ascending; below, rows are positions in it.
    pairs : ndarray of shape (n_pairs, 2)
    sign : ndarray of shape (n_pairs,)
        +1 for a must-link, -1 for a cannot-link.
    weight : ndarray of shape (n_pairs,)
    graph : Graph
        Of all pairs.
    groups : tuple of ndarray
        Must-link components of two rows and more, as ``starts, members``: group g is
        ``members[starts[g]:starts[g + 1]]``.
    unit : ndarray of shape (n_rows,)
        Must-link component of each row, rows without must-links included.
    graph_of_units : Graph
        Of the cannot-links between units.
    """

    rows: IntArray
    pairs: IntArray
    sign: npt.NDArray[np.int8]
    weight: FloatArray
    graph: Graph
    groups: tuple[IntArray, IntArray]
    unit: IntArray
    graph_of_units: Graph

    def __len__(self) -> int:
        return len(self.pairs)

    def units_of(self, n_samples: int) -> IntArray:
        """(n_samples,) a number for each sample, the same for those that must-links join."""
        number = len(self.rows) + np.arange(n_samples)
        number[self.rows] = self.unit
        return np.unique(number, return_inverse=True)[1]


def link_rows(constraints: Constraints) -> Links:
    """Turn the pairwise statements into a graph; relative statements are left out."""
    given = constraints.pairs()
    rows, pairs = given.named()
    unit, n_units = connected(pairs[given.sign > 0], len(rows))
    between = np.flatnonzero(unit[pairs[:, 0]] != unit[pairs[:, 1]])
    of_units = graph_of(unit[pairs[between]], n_units)
    return Links(
        rows=rows,
        pairs=pairs,
        sign=given.sign,
        weight=given.weight,
        graph=graph_of(pairs, len(rows)),
        groups=must_link_groups(pairs[given.sign > 0], len(rows)),
        unit=unit,
        graph_of_units=of_units._replace(link=between[of_units.link]),
    )


def must_link_groups(must_link: IntArray, n_rows: int) -> tuple[IntArray, IntArray]:
    """Lay the must-link components one after the other: where each starts, and its rows.

    In the order of the links, so that renumbered rows are visited in the same order.
    """
    component, n_components = connected(must_link, n_rows)
    named, first = np.unique(component[must_link[:, 0]], return_index=True)
    rank = np.full(n_components, len(named))
    rank[named[np.argsort(first)]] = np.arange(len(named))
    group = rank[component]
    members = np.argsort(group, kind="stable")[: np.count_nonzero(group < len(named))]
    return np.searchsorted(group[members], np.arange(len(named) + 1)), members
