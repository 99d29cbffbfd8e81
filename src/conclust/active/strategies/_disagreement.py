"""Disagreement: the pair on which several clusterings disagree most."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from conclust._arrays import FloatArray, IntArray
from conclust.active._question import Proposal
from conclust.active._state import State
from conclust.active.strategies._candidates import (
    best_pairs,
    distinct,
    neighbor_pairs,
    sampled_pairs,
)
from conclust.active.strategies._clustering import SESSION, clustered
from conclust.active.strategies._filling import filled
from conclust.active.strategies._strategy import Strategy
from conclust.constraints import Constraints

MAX_ROWS_SAMPLED = 200  # all pairs of these are candidates beside the nearest rows


class Disagreement(Strategy):
    """The pair on which several clusterings disagree most.

    Candidates are pairs of nearest rows and of a sample of the rows. With a share p of the members
    that put a pair together, the largest p (1 - p) is asked.

    Parameters
    ----------
    members : list of clusterers or "session", default=None
        Clusterings made before each question; a list may name several methods, or one several
        times. By default `n_members` times :class:`~conclust.PCKMeans`, each from a start of its
        own and told two thirds of the answers. "session" takes the candidates that
        :class:`~conclust.AutoCluster`, or another clusterer of the session that tells
        probabilities, has averaged: p is the probability that the two are in one cluster.
    n_members : int, default=8
        How many clusterings vote.
    n_neighbors : int, default=10
        How many nearest rows a pair is sought among.

    See Also
    --------
    Boundary : Rows between two clusters of one clustering.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust.active import Labels, Disagreement, ask
    >>> X, y = load_iris(return_X_y=True)
    >>> session = ask(X, Labels(y), 3, 3, Disagreement(), random_state=0)
    >>> len(session.constraints_)
    3
    """

    def __init__(
        self,
        *,
        members: Sequence[Any] | str | None = None,
        n_members: int = 8,
        n_neighbors: int = 10,
    ):
        self.members = members
        self.n_members = n_members
        self.n_neighbors = n_neighbors

    def propose(self, state: State, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        """See :meth:`Strategy.propose`."""
        if state.n_samples < 2:
            return []
        near = neighbor_pairs(state, self.n_neighbors)
        pairs = np.concatenate([near, sampled_pairs(state, MAX_ROWS_SAMPLED, random_state)])
        pairs = distinct(pairs, state.n_samples)
        pairs = pairs[state.is_open(*pairs.T)]
        together = self._together(state, pairs, random_state)
        worth = 4 * together * (1 - together)
        # In an order drawn, which decides between equals.
        order = random_state.permutation(np.flatnonzero(worth > 0))
        chosen = order[best_pairs(pairs[order], worth[order], n)]
        found = [
            Proposal((int(a), int(b)), _why(together[i]), float(worth[i]))
            for i, (a, b) in zip(chosen, pairs[chosen], strict=True)
        ]
        return filled(found, state, n, random_state)

    def _together(
        self, state: State, pairs: IntArray, random_state: np.random.RandomState
    ) -> FloatArray:
        """(m,) the share of members that put each pair together."""
        a, b = pairs.T
        if isinstance(self.members, str) and self.members == SESSION:
            probability = state.probabilities
            if probability is not None:
                both: FloatArray = (probability[a] * probability[b]).sum(axis=1).clip(0, 1)
                return both
            return (state.labels[a] == state.labels[b]).astype(float)
        if self.members is None:
            labels = [
                clustered(state, None, random_state, _part(state.constraints, random_state))
                for _ in range(self.n_members)
            ]
        else:
            labels = [clustered(state, member, random_state) for member in self.members]
        share: FloatArray = np.mean([each[a] == each[b] for each in labels], axis=0)
        return share


def _part(constraints: Constraints, random_state: np.random.RandomState) -> Constraints:
    """Two thirds of the statements, drawn."""
    n_told = -(-2 * len(constraints) // 3)
    return constraints[np.sort(random_state.permutation(len(constraints))[:n_told])]


def _why(together: float) -> str:
    return f"{together:.0%} of the clusterings put them together"
