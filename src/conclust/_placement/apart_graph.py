"""Which units must not share a cluster."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust._kernels import coloring
from conclust._kernels.place_hard import find_parents, violated_weight
from conclust._pairs import graph_of


@dataclass(frozen=True, eq=False)
class ApartGraph:
    """Which units must not share a cluster, prepared once for many placements.

    Attributes
    ----------
    apart : ndarray of shape (n_links, 2)
        Pairs of units, first < second, each once.
    apart_weight : ndarray of shape (n_links,)
        What breaking each link costs; positive.
    n_units : int
    """

    apart: IntArray
    apart_weight: FloatArray
    n_units: int

    @cached_property
    def _links(self) -> tuple[IntArray, IntArray, FloatArray]:
        indptr, neighbor, link = graph_of(self.apart, self.n_units, sort=True)
        return indptr, neighbor, self.apart_weight[link]

    @property
    def indptr(self) -> IntArray:
        """(n_units + 1,) row starts of the symmetric CSR."""
        return self._links[0]

    @property
    def indices(self) -> IntArray:
        """(2 n_links,) linked units, sorted in each row."""
        return self._links[1]

    @property
    def weight(self) -> FloatArray:
        """(2 n_links,) weights along `indices`."""
        return self._links[2]

    @cached_property
    def _parts(self) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
        component = np.empty(self.n_units, np.int64)
        side = np.empty(self.n_units, np.int64)
        odd = np.empty(self.n_units, np.bool_)
        n_components = coloring.two_color(self.indptr, self.indices, component, side, odd)
        return component, side, odd[:n_components]

    @property
    def component(self) -> IntArray:
        """(n_units,) connected component of each unit."""
        return self._parts[0]

    @property
    def side(self) -> IntArray:
        """(n_units,) a two-colouring of the components that have one."""
        return self._parts[1]

    @property
    def odd(self) -> npt.NDArray[np.bool_]:
        """(n_components,) whether a component has an odd cycle."""
        return self._parts[2]

    @cached_property
    def _peeling(self) -> tuple[IntArray, IntArray, IntArray, "ApartGraph"]:
        inside = np.ones(self.n_units, np.bool_)
        peeled = coloring.core(self.indptr, self.indices, 2, inside)
        parent = np.empty(len(peeled), np.int64)
        find_parents(self.indptr, self.indices, peeled, parent)
        units = np.flatnonzero(inside)
        return peeled, parent, units, self if inside.all() else self.restricted(units)

    @property
    def peeled(self) -> IntArray:
        """Units outside the 2-core (free units and trees hanging on the core), leaves first."""
        return self._peeling[0]

    @property
    def parent(self) -> IntArray:
        """The neighbour each peeled unit hangs on; -1 for none."""
        return self._peeling[1]

    @property
    def core_units(self) -> IntArray:
        """Units of the 2-core."""
        return self._peeling[2]

    @property
    def core(self) -> "ApartGraph":
        """The graph of the 2-core, its units numbered along `core_units`."""
        return self._peeling[3]

    @cached_property
    def core_first(self) -> tuple[IntArray, IntArray, IntArray]:
        """All units, the core before the peeled; in that order, the peeled and their parents."""
        order = np.concatenate([self.core_units, self.peeled])
        place = np.empty(self.n_units + 1, np.int64)
        place[order], place[-1] = np.arange(self.n_units), -1
        return order, place[self.peeled], place[self.parent]

    def restricted(self, units: IntArray) -> "ApartGraph":
        """Return the links among some units, renumbered in the order given."""
        number = np.full(self.n_units, -1, np.int64)
        number[units] = np.arange(len(units))
        ends = number[self.apart]
        inside = (ends >= 0).all(axis=1)
        return ApartGraph(np.sort(ends[inside], axis=1), self.apart_weight[inside], len(units))

    def broken(self, labels: IntArray) -> IntArray:
        """Return the rows of `apart` whose two units share a cluster."""
        return np.flatnonzero(labels[self.apart[:, 0]] == labels[self.apart[:, 1]])

    def violated_weight(self, labels: IntArray) -> FloatArray:
        """(n_components,) weight of the broken links of each component."""
        broken = np.empty(len(self.odd))
        violated_weight(self.indptr, self.indices, self.weight, self.component, labels, broken)
        return broken
