"""Boundary: the closest pair across two clusters."""

from typing import Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import IntArray
from conclust.active._question import Proposal
from conclust.active._state import State
from conclust.active.strategies._candidates import best_pairs, neighbor_pairs, sampled_pairs
from conclust.active.strategies._clustering import clustered
from conclust.active.strategies._filling import filled
from conclust.active.strategies._strategy import Strategy

MAX_ROWS_SAMPLED = 1_000  # all pairs of these are compared where neighbors share their clusters


class Boundary(Strategy):
    """The closest two rows that are in different clusters now.

    Parameters
    ----------
    estimator : clusterer or "session", default=None
        What makes the present clustering, before each question. :class:`~conclust.PCKMeans`, from
        one start, by default; "session" takes that of the session.
    n_neighbors : int, default=10
        Rows are compared with so many nearest rows; where all of these share their cluster, pairs
        of a sample of the rows.

    See Also
    --------
    Disagreement : Pairs on which clusterings differ.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust.active import Labels, Boundary, ask
    >>> X, y = load_iris(return_X_y=True)
    >>> session = ask(X, Labels(y), 3, 3, Boundary(), random_state=0)
    >>> len(session.constraints_)
    3
    """

    def __init__(self, *, estimator: Any = None, n_neighbors: int = 10):
        self.estimator = estimator
        self.n_neighbors = n_neighbors

    def propose(self, state: State, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        """See :meth:`Strategy.propose`."""
        if state.n_samples < 2:
            return []
        labels = clustered(state, self.estimator, random_state)
        pairs = neighbor_pairs(state, self.n_neighbors)
        pairs = pairs[_is_across(state, pairs, labels)]
        if len(pairs) < n:
            pairs = sampled_pairs(state, MAX_ROWS_SAMPLED, random_state)
            pairs = pairs[_is_across(state, pairs, labels)]
        distance = np.linalg.norm(state.X[pairs[:, 0]] - state.X[pairs[:, 1]], axis=1)
        chosen = best_pairs(pairs, -distance, n)
        why = "close to each other, yet in different clusters"
        found = [
            Proposal((int(a), int(b)), why, 1 / (1 + float(distance[i])))
            for i, (a, b) in zip(chosen, pairs[chosen], strict=True)
        ]
        return filled(found, state, n, random_state)


def _is_across(state: State, pairs: IntArray, labels: IntArray) -> npt.NDArray[np.bool_]:
    a, b = pairs.T
    return (labels[a] != labels[b]) & state.is_open(a, b)
