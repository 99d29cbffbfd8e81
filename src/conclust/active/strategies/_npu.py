"""NPU: the row that is most uncertain for what it costs to ask about."""

from typing import Any

import numpy as np
from scipy.special import entr
from sklearn.ensemble import RandomForestClassifier

from conclust._arrays import FloatArray, IntArray
from conclust.active._question import Proposal
from conclust.active._state import State
from conclust.active.strategies._clustering import clustered
from conclust.active.strategies._filling import filled
from conclust.active.strategies._neighborhoods import (
    Neighborhood,
    find_neighborhoods,
    rows_outside,
    settle,
    unsettled,
)
from conclust.active.strategies._strategy import Strategy

MAX_ROWS_LEARNED = 2_000  # by the forest; a sample of more


class NPU(Strategy):
    """The row that is most uncertain for the questions it takes; most probable neighborhood first.

    A random forest that has learned the present clustering says how similar two rows are: in what
    share of its trees they share a leaf. A row belongs to a neighborhood, a group of rows known to
    be apart from others, with a probability in proportion to its mean similarity to the rows
    there. The row with the largest entropy of these probabilities, divided by the number of
    questions to be expected, is asked about, one neighborhood after another.

    Parameters
    ----------
    estimator : clusterer or "session", default=None
        What makes the present clustering, before each question. :class:`~conclust.PCKMeans`, from
        one start, by default; "session" takes that of the session.
    n_estimators : int, default=50
        Trees.
    max_candidates : int, default=2000
        Of more rows so many are drawn and compared.

    See Also
    --------
    MinMax : Farthest rows first, then neighbourhoods.
    Boundary : Rows between two clusters, without neighbourhoods.

    Notes
    -----
    Where the number of clusters is known, the last neighborhood is not asked about.

    References
    ----------
    S. Xiong, J. Azimi and X. Z. Fern (2014). Active learning of constraints for semi-supervised
    clustering. IEEE Transactions on Knowledge and Data Engineering 26(1).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust.active import Labels, NPU, ask
    >>> X, y = load_iris(return_X_y=True)
    >>> session = ask(X, Labels(y), 3, 3, NPU(), random_state=0)
    >>> len(session.constraints_)
    3
    """

    def __init__(
        self, *, estimator: Any = None, n_estimators: int = 50, max_candidates: int = 2_000
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_candidates = max_candidates

    def propose(self, state: State, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        """See :meth:`Strategy.propose`."""
        if state.n_samples < 2:
            return []
        known = find_neighborhoods(state, random_state)
        # In an order drawn, which decides between equals.
        rows = random_state.permutation(rows_outside(state, known))[: self.max_candidates]
        rows = np.array(list(dict.fromkeys([*unsettled(state, known), *rows.tolist()])), dtype=int)
        if not len(rows):
            return filled([], state, n, random_state)
        leaves = self._leaves(state, random_state)
        probability = membership(leaves, rows, known)
        worth = entropy(probability) / expected_questions(probability)
        order = np.argsort(-worth, kind="stable")
        place = {int(row): i for i, row in enumerate(rows)}
        found = settle(
            state,
            n,
            known,
            ((int(rows[i]), float(worth[i])) for i in order),
            lambda row: probability[place[row]],
            "it could be in several groups, and few questions tell",
        )
        return filled(found, state, n, random_state)

    def _leaves(self, state: State, random_state: np.random.RandomState) -> IntArray:
        """(n_samples, n_estimators) the leaf of each row in each tree."""
        labels = clustered(state, self.estimator, random_state)
        learned = random_state.permutation(state.n_samples)[:MAX_ROWS_LEARNED]
        forest = RandomForestClassifier(
            self.n_estimators, random_state=random_state.randint(2**31 - 1)
        )
        leaves: IntArray = forest.fit(state.X[learned], labels[learned]).apply(state.X)
        return leaves


def membership(leaves: IntArray, rows: IntArray, neighborhoods: list[Neighborhood]) -> FloatArray:
    """(n_rows, n_neighborhoods) how probable each neighborhood is, by mean shares of leaves."""
    similarity = np.empty((len(rows), len(neighborhoods)))
    for h, each in enumerate(neighborhoods):
        shared = [
            (leaves[rows, t][:, np.newaxis] == leaves[each.rows, t]).mean(axis=1)
            for t in range(leaves.shape[1])
        ]
        similarity[:, h] = np.mean(shared, axis=0)
    total = similarity.sum(axis=1, keepdims=True)
    uniform = np.full_like(similarity, 1 / len(neighborhoods))
    return np.divide(similarity, total, out=uniform, where=total > 0)


def entropy(probability: FloatArray) -> FloatArray:
    """(n_rows,) in bits."""
    bits: FloatArray = entr(probability).sum(axis=1) / np.log(2)
    return bits


def expected_questions(probability: FloatArray) -> FloatArray:
    """(n_rows,) how many questions find the neighborhood, the most probable ones asked first."""
    falling = -np.sort(-probability, axis=1)
    expected: FloatArray = falling @ np.arange(1.0, probability.shape[1] + 1)
    return expected
