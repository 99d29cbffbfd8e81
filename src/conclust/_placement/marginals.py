"""Where units are likely to be when linked ones must stay apart: exact where that is affordable."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust._kernels.marginals import (
    close_clusters,
    fold_sums,
    grow_forest,
    plan_sweeps,
    sweep_components,
    unfold_marginals,
)
from conclust._placement.apart_graph import ApartGraph
from conclust._placement.hard import place

# Labellings looked at in one component: some 10 ms.
MAX_STATES = 100_000


class Marginals(NamedTuple):
    """What `ApartMarginals` finds."""

    probability: FloatArray  # (n_units, n_clusters) rows sum to 1
    log_z: FloatArray  # (n_components,) log of the sum over labellings, or a lower bound of it
    labels: IntArray  # (n_units,) one labelling that keeps every link; -1 where nothing is pinned


class _Sweeps(NamedTuple):
    """How to sweep each component of a graph; see `plan_sweeps`."""

    first: IntArray
    order: IntArray
    width: IntArray
    clash: IntArray
    keep: IntArray


class ApartMarginals:
    r"""Marginals of :math:`P(l) \propto \prod_u e^{score[u, l_u]}` over labellings that keep links.

    Parameters
    ----------
    graph : ApartGraph
        The units that must not share a cluster.
    n_clusters : int
    max_states : int, default=100_000
        Labellings looked at in one connected component, at most, before units are pinned.

    Attributes
    ----------
    exact : ndarray of shape (n_components,), bool
        Components without pinned units.

    Notes
    -----
    1. Two clusters: a connected component has two labellings. Exact, whatever its size.
    2. Trees are summed by message passing. Exact.
    3. What is left (every unit has two links there) is swept along a frontier of width w, at
       n_clusters^(w + 1) labellings a step. Exact, and affordable for cycles, ladders and anything
       small.
    4. A component that would take more than `max_states` has units *pinned* to one cluster each,
       so many that the others form a forest; the sum over labellings that agree with the pins is a
       lower bound of the whole. The pins come from the cheapest labelling that `place` knows, and
       are changed only when that raises the bound.
    """

    def __init__(self, graph: ApartGraph, n_clusters: int, *, max_states: int = MAX_STATES):
        self.graph = graph
        self.n_clusters = n_clusters
        self.exact = np.ones(len(graph.odd), dtype=bool)
        self._pinned = np.empty(0, np.int64)
        self._free = graph
        self._free_units = np.arange(graph.n_units)
        # Trees need no sweeps: neither is the kernel compiled that plans them.
        if n_clusters > 2 and len(graph.core_units):
            self._pin(max_states)
        if n_clusters > 2 and len(self._free.core_units):
            self._sweeps, _ = _plan(self._free.core, n_clusters, max_states)
        self._hard_units = np.flatnonzero(~self.exact[graph.component])
        self._hard = graph.restricted(self._hard_units)

    def __call__(self, score: FloatArray, previous: IntArray | None = None) -> Marginals:
        """Sum over labellings.

        Parameters
        ----------
        score : ndarray of shape (n_units, n_clusters)
            Finite.
        previous : ndarray of shape (n_units,), default=None
            The `labels` of the last call: with them the bound of a component is never lower than
            with its old pins.

        Returns
        -------
        Marginals
        """
        if previous is None:
            previous = np.full(self.graph.n_units, -1, np.int64)
        if self.n_clusters == 1:
            return Marginals(np.ones_like(score), self._sum_by_component(score[:, 0]), previous)
        if self.n_clusters == 2:
            return self._two_clusters(score, previous)
        if not len(self._pinned):
            return Marginals(*self._given(score, previous), previous)
        units = self._hard_units
        if previous[0] < 0:
            labels = place(-score, self.graph).labels
        else:
            labels = previous.copy()
            labels[units] = place(-score[units], self._hard, previous=previous[units]).labels
        probability, log_z = self._given(score, labels)
        if previous[0] >= 0 and (labels != previous).any():
            old_probability, old_log_z = self._given(score, previous)
            worse = log_z < old_log_z
            log_z = np.maximum(log_z, old_log_z)
            rows = worse[self.graph.component]
            probability[rows] = old_probability[rows]
            labels[rows] = previous[rows]
        return Marginals(probability, log_z, labels)

    def _pin(self, max_states: int) -> None:
        """Pin units of the components that cannot be swept, so that no cycle is left there."""
        core = self.graph.core
        _, fits = _plan(core, self.n_clusters, max_states)
        kept = fits[core.component]
        rest = np.flatnonzero(~kept)
        if not len(rest):
            return
        # Units with few links first: they close the fewest cycles.
        order = rest[np.argsort(np.diff(core.indptr)[rest], kind="stable")]
        grow_forest(core.indptr, core.indices, order, kept)
        self.exact[self.graph.component[self.graph.core_units[rest]]] = False
        self._pinned = self.graph.core_units[~kept]
        if len(self._pinned):
            self._free_units = np.setdiff1d(np.arange(self.graph.n_units), self._pinned)
            self._free = self.graph.restricted(self._free_units)

    def _given(self, score: FloatArray, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Sum over the labellings that agree with the pins."""
        open_score = score
        if len(self._pinned):
            open_score = score.copy()
            close_clusters(self.graph.indptr, self.graph.indices, self._pinned, labels, open_score)
        free = self._free
        open_score = np.ascontiguousarray(open_score[self._free_units])
        component = self.graph.component[self._free_units]
        message = np.empty((len(free.peeled), self.n_clusters))
        marginal = np.zeros_like(open_score)
        log_z = np.zeros(len(self.graph.odd))
        fold_sums(free.peeled, free.parent, open_score, message)
        if len(free.core_units):
            core_marginal = np.zeros((len(free.core_units), self.n_clusters))
            core_log_z = np.empty(len(self._sweeps.first) - 1)
            sweep_components(open_score[free.core_units], *self._sweeps, core_marginal, core_log_z)
            marginal[free.core_units] = core_marginal
            starts = free.core_units[self._sweeps.order[self._sweeps.first[:-1]]]
            log_z[component[starts]] += core_log_z
        unfold_marginals(free.peeled, free.parent, open_score, message, component, marginal, log_z)
        probability = np.zeros_like(score)
        probability[self._free_units] = marginal
        probability[self._pinned, labels[self._pinned]] = 1.0
        pins = np.zeros(self.graph.n_units)
        pins[self._pinned] = score[self._pinned, labels[self._pinned]]
        return probability, log_z + self._sum_by_component(pins)

    def _two_clusters(self, score: FloatArray, previous: IntArray) -> Marginals:
        graph = self.graph
        here = np.arange(graph.n_units)
        first = self._sum_by_component(score[here, graph.side])
        second = self._sum_by_component(score[here, 1 - graph.side])
        log_z = np.logaddexp(first, second)
        probability = np.empty_like(score)
        probability[here, graph.side] = np.exp(first - log_z)[graph.component]
        probability[here, 1 - graph.side] = np.exp(second - log_z)[graph.component]
        log_z[graph.odd] = -np.inf
        return Marginals(probability, log_z, previous)

    def _sum_by_component(self, values: FloatArray) -> FloatArray:
        n_components = len(self.graph.odd)
        return np.bincount(self.graph.component, values, n_components).astype(np.float64)


def _plan(
    graph: ApartGraph, n_clusters: int, max_states: int
) -> tuple[_Sweeps, npt.NDArray[np.bool_]]:
    """Plan the sweeps of all components, and say which of them fit."""
    members = np.argsort(graph.component, kind="stable")
    sizes = np.bincount(graph.component, minlength=len(graph.odd))
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    steps = np.empty((4, graph.n_units), np.int64)
    fits = np.empty(len(graph.odd), np.bool_)
    order, width, clash, keep = steps
    plan_sweeps(
        graph.indptr,
        graph.indices,
        members,
        first,
        n_clusters,
        max_states,
        order,
        width,
        clash,
        keep,
        fits,
    )
    return _Sweeps(first, order, width, clash, keep), fits
