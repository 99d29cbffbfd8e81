"""What pairwise statements imply: must-link components, and which of them must stay apart."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust._pairs import merge_pairs
from conclust.constraints._components import check_group_pairs, must_link_components
from conclust.constraints._conflicts import MAX_LISTED, clashing_pairs, contradictions
from conclust.exceptions import InconsistentConstraintsError

if TYPE_CHECKING:
    from conclust.constraints._constraints import Constraints


@dataclass(frozen=True)
class Closure:
    """Everything a consistent set of pairwise statements implies.

    Attributes
    ----------
    component : ndarray of shape (n_samples,)
        The must-link component of each sample, numbered in order of first appearance. A sample
        without must-links is a component of its own.
    n_components : int
    apart : ndarray of shape (n_apart, 2)
        Pairs of components that must stay apart, first < second, sorted, each once.
    apart_weight : ndarray of shape (n_apart,)
        The summed weights of the cannot-links behind each pair.
    groups : list of ndarray
        Groups of components that are all apart from each other, kept as groups; see
        :meth:`conclust.Constraints.from_groups`.
    group_weight : ndarray of shape (n_groups,)
    """

    component: IntArray
    n_components: int
    apart: IntArray
    apart_weight: FloatArray
    groups: list[IntArray]
    group_weight: FloatArray

    @cached_property
    def sizes(self) -> IntArray:
        """(n_components,) number of samples in each component."""
        return np.bincount(self.component, minlength=self.n_components).astype(np.int64)

    def all_apart(self) -> tuple[IntArray, FloatArray]:
        """Return `apart` and its weights with the groups written out pair by pair.

        Returns
        -------
        apart : ndarray of shape (m, 2)
            Pairs of components.
        weight : ndarray of shape (m,)
            Of each pair.
        """
        if not self.groups:
            return self.apart, self.apart_weight
        check_group_pairs(sum(len(g) * (len(g) - 1) // 2 for g in self.groups))
        pairs, weights = [self.apart], [self.apart_weight]
        for group, weight in zip(self.groups, self.group_weight, strict=True):
            i, j = np.triu_indices(len(group), k=1)
            pairs.append(np.column_stack([group[i], group[j]]))
            weights.append(np.full(len(i), weight))
        return merge_pairs(np.concatenate(pairs), np.concatenate(weights), self.n_components)

    def implied(self, pairs: Any) -> npt.NDArray[np.int8]:
        """What is known about pairs of samples: +1 together, -1 apart, 0 nothing.

        Parameters
        ----------
        pairs : array-like of shape (m, 2)
            The pairs to look up.

        Returns
        -------
        ndarray of int8, shape (m,)
            1 must-link, -1 cannot-link, 0 open.
        """
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        ends = np.sort(self.component[pairs], axis=1)
        answer = np.zeros(len(pairs), dtype=np.int8)
        key = ends[:, 0] * self.n_components + ends[:, 1]
        keys = self.apart[:, 0] * self.n_components + self.apart[:, 1]
        if len(keys):
            at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            answer[keys[at] == key] = -1
        if self.groups:
            both = self._incidence[ends[:, 0]].multiply(self._incidence[ends[:, 1]])
            answer[np.asarray(both.sum(axis=1)).ravel() > 0] = -1
        answer[ends[:, 0] == ends[:, 1]] = 1
        return answer

    @cached_property
    def _incidence(self) -> Any:
        import scipy.sparse as sp

        members = np.concatenate(self.groups)
        group = np.repeat(np.arange(len(self.groups)), [len(g) for g in self.groups])
        shape = (self.n_components, len(self.groups))
        return sp.csr_array((np.ones(len(members)), (members, group)), shape=shape)

    def spanning(self) -> tuple[IntArray, IntArray]:
        """Say the same with the fewest links: chains of must-links, one cannot-link per pair.

        Returns
        -------
        must_link : ndarray of shape (n_samples - n_components, 2)
            A chain through each component.
        cannot_link : ndarray of shape (n_apart, 2)
            Between the first samples of the components, groups written out.
        """
        order = np.argsort(self.component, kind="stable")
        chain = np.column_stack([order[:-1], order[1:]])
        chain = chain[self.component[chain[:, 0]] == self.component[chain[:, 1]]]
        first = order[np.searchsorted(self.component[order], np.arange(self.n_components))]
        return chain, first[self.all_apart()[0]]


def close(constraints: "Constraints") -> Closure:
    """Close a set of statements; see :meth:`conclust.Constraints.closure`."""
    component, n_components = must_link_components(constraints)
    ends = component[constraints.cannot_link]
    groups = [component[g] for g in constraints.apart_groups]
    clash = (ends[:, 0] == ends[:, 1]).any() or any(len(np.unique(g)) < len(g) for g in groups)
    if clash:
        found = contradictions(constraints, component, MAX_LISTED)
        n_clashing = len(clashing_pairs(constraints, component)[0])
        more = f" {n_clashing - 1} more such conflicts." if n_clashing > 1 else ""
        raise InconsistentConstraintsError(
            f"The constraints contradict each other: {found[0]}{more} "
            "`constraints.conflicts()` lists them, `constraints.repaired()` drops the least "
            "weight; or choose a method with soft constraints.",
            found,
        )
    apart, weight = merge_pairs(ends, constraints.cannot_link_weight, n_components)
    return Closure(component, n_components, apart, weight, groups, constraints.apart_weight)
