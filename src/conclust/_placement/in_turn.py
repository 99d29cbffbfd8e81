"""Linked rows as groups that take their clusters in turn, a part of the statements at a time."""

import numpy as np

from conclust._arrays import FloatArray, IntArray
from conclust._kernels._short import LITTLE, short
from conclust._kernels.disjoint_set import keep_consistent
from conclust._kernels.place_in_turn import FREE, place_in_turn
from conclust._pairs import SignedPairs, connected, graph_of


class Turns:
    """Statements, and where the rows they name go.

    Statements are taken in descending weight (ties as given); one that contradicts those taken
    before is left out. Must-links taken make groups, which are placed as one; cannot-links taken
    keep groups apart, see `place_in_turn`. Groups joined by cannot-links form a part, and parts
    can be placed without each other.

    Parameters
    ----------
    pairs : SignedPairs

    Attributes
    ----------
    rows : ndarray of shape (n_linked,)
        Rows that statements name, ascending.
    group : ndarray of shape (n_linked,)
        The group of each.
    """

    def __init__(self, pairs: SignedPairs):
        self.rows, inside = pairs.named()
        order = np.argsort(-pairs.weight, kind="stable")
        kept = np.zeros(len(inside), dtype=np.bool_)
        keep = short(keep_consistent, len(self.rows) + len(inside), LITTLE)
        sign = np.array(pairs.sign)
        keep(np.ascontiguousarray(inside), sign, order, len(self.rows), kept)
        self.group, n_groups = connected(inside[kept & (sign > 0)], len(self.rows))
        taken = order[kept[order]]
        apart = self.group[inside[taken[sign[taken] < 0]]].reshape(-1, 2)
        part_of_group, n_parts = connected(apart, n_groups)
        self._indptr, self._neighbor, _ = graph_of(apart, n_groups)
        self._part = part_of_group[self.group]
        self._by_part = np.lexsort((self.group, self._part))
        self._row_starts = _starts(self._part, n_parts)
        part_of_link = part_of_group[apart[:, 0]]
        self._links = apart[np.argsort(part_of_link, kind="stable")]
        self._link_starts = _starts(part_of_link, n_parts)

    def positions(self, rows: IntArray) -> IntArray:
        """Where each of these rows stands among the linked ones; -1 for one that is not linked."""
        if not len(self.rows):
            return np.full(len(rows), -1)
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[at] == rows, at, -1)

    def tied_to(self, positions: IntArray) -> IntArray:
        """Positions of all rows in the parts of these ones, rows of a group side by side."""
        parts = np.unique(self._part[positions])
        return self._by_part[_ranges(self._row_starts, parts)]

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
        group = self.group[positions]
        starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        sizes = np.diff(np.append(starts, len(group)))
        # A group without weight must go somewhere, too.
        mass = np.repeat(np.add.reduceat(weight, starts), sizes)
        factor = np.where(mass > 0, weight, 1.0)[:, np.newaxis]
        cost = np.add.reduceat(distances * factor, starts, axis=0)
        slot = np.full(len(self._indptr) - 1, FREE, dtype=np.int64)
        slot[group[starts]] = np.arange(len(starts))
        labels = np.full(len(slot), FREE, dtype=np.int32)
        links = self._links[_ranges(self._link_starts, np.unique(self._part[positions]))]
        place = short(place_in_turn, cost.size + 4 * links.size + len(slot), LITTLE)
        place(cost, slot, links, self._indptr, self._neighbor, labels)
        return labels[group]


def _starts(part: IntArray, n_parts: int) -> IntArray:
    """Where each part begins once things are sorted by part, and where the last one ends."""
    return np.append(0, np.cumsum(np.bincount(part, minlength=n_parts)))


def _ranges(starts: IntArray, parts: IntArray) -> IntArray:
    """All numbers in the ranges of these parts, one range after the other."""
    first, lengths = starts[parts], starts[parts + 1] - starts[parts]
    before = np.cumsum(lengths) - lengths
    return np.repeat(first - before, lengths) + np.arange(lengths.sum())
