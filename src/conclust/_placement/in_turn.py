"""Linked rows as units that take their clusters in turn, a part of the statements at a time."""

from collections.abc import Iterator

import numpy as np

from conclust._arrays import FloatArray, IntArray
from conclust._kernels._short import LITTLE, short
from conclust._kernels.disjoint_set import keep_consistent
from conclust._kernels.place_in_turn import FREE, place_in_turn
from conclust._pairs import SignedPairs, connected, graph_of

# Rows whose distances are held at a time, but for those of one part.
MANY = 1 << 14


class Turns:
    """Statements, and where the rows they name go.

    Statements are taken in descending weight (ties as given); one that contradicts those taken
    before is left out. Must-links taken make units, which are placed as one; cannot-links taken
    keep units apart, see `place_in_turn`. Units joined by cannot-links form a part, and parts
    can be placed without each other.

    Parameters
    ----------
    pairs : SignedPairs

    Attributes
    ----------
    rows : ndarray of shape (n_linked,)
        Rows that statements name, ascending.
    unit : ndarray of shape (n_linked,)
        The unit of each.
    """

    def __init__(self, pairs: SignedPairs):
        self.rows, inside = pairs.named()
        order = np.argsort(-pairs.weight, kind="stable")
        kept = np.zeros(len(inside), dtype=np.bool_)
        keep = short(keep_consistent, len(self.rows) + len(inside), LITTLE)
        sign = np.array(pairs.sign)
        keep(np.ascontiguousarray(inside), sign, order, len(self.rows), kept)
        unit, n_units = connected(inside[kept & (sign > 0)], len(self.rows))
        taken = order[kept[order]]
        apart = unit[inside[taken[sign[taken] < 0]]].reshape(-1, 2)
        part, n_parts = connected(apart, n_units)
        # Units are numbered part by part, and rows and links sorted so: a part is a range of each.
        number = np.empty(n_units, dtype=np.int64)
        number[np.argsort(part, kind="stable")] = np.arange(n_units)
        self.unit, self._part = number[unit], part[unit]
        self._by_unit = np.argsort(self.unit, kind="stable")
        by_part = np.argsort(part[apart[:, 0]], kind="stable")
        self._links = number[apart[by_part]]
        self._row_starts = _starts(self._part, n_parts)
        self._unit_starts = _starts(part, n_parts)
        self._link_starts = _starts(part[apart[:, 0]], n_parts)

    def positions(self, rows: IntArray) -> IntArray:
        """Where each of these rows stands among the linked ones; -1 for one that is not linked."""
        if not len(self.rows):
            return np.full(len(rows), -1)
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[at] == rows, at, -1)

    def tied_to(self, positions: IntArray) -> Iterator[IntArray]:
        """Positions of all rows in the parts of these ones, rows of a unit side by side.

        Some parts at a time, so that distances of many rows are not held at once.
        """
        parts = np.unique(self._part[positions])
        sizes = np.cumsum(self._row_starts[parts + 1] - self._row_starts[parts])
        for some in np.split(parts, np.flatnonzero(np.diff(sizes // MANY)) + 1):
            yield self._by_unit[_ranges(self._row_starts, some)]

    def place(self, positions: IntArray, distances: FloatArray, weight: FloatArray) -> np.ndarray:
        """Clusters of linked rows, (n_placed,) int32.

        Parameters
        ----------
        positions : ndarray of shape (n_placed,)
            As `tied_to` gives them; rows that are not there may be left out.
        distances : ndarray of shape (n_placed, n_clusters)
            Squared, to the centres.
        weight : ndarray of shape (n_placed,)
        """
        parts = np.unique(self._part[positions])
        units = _ranges(self._unit_starts, parts)
        links = np.searchsorted(units, self._links[_ranges(self._link_starts, parts)])
        unit = np.searchsorted(units, self.unit[positions])
        starts = np.flatnonzero(np.append(True, unit[1:] != unit[:-1]))
        sizes = np.diff(np.append(starts, len(unit)))
        # A unit without weight must go somewhere, too.
        mass = np.repeat(np.add.reduceat(weight, starts), sizes)
        factor = np.where(mass > 0, weight, 1.0)[:, np.newaxis]
        cost = np.add.reduceat(distances * factor, starts, axis=0)
        slot = np.full(len(units), FREE, dtype=np.int64)
        slot[unit[starts]] = np.arange(len(starts))
        labels = np.full(len(units), FREE, dtype=np.int32)
        graph = graph_of(links, len(units))
        place = short(place_in_turn, cost.size + 4 * links.size + len(units), LITTLE)
        place(cost, slot, links, graph.indptr, graph.neighbor, labels)
        return labels[unit]


def _starts(part: IntArray, n_parts: int) -> IntArray:
    """Where each part begins once things are sorted by part, and where the last one ends."""
    return np.append(0, np.cumsum(np.bincount(part, minlength=n_parts)))


def _ranges(starts: IntArray, parts: IntArray) -> IntArray:
    """All numbers in the ranges of these parts, one range after the other."""
    first, lengths = starts[parts], starts[parts + 1] - starts[parts]
    before = np.cumsum(lengths) - lengths
    return np.repeat(first - before, lengths) + np.arange(lengths.sum())
