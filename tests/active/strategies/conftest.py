"""States without a session, and how to tell them answers."""

import numpy as np
import pytest

from conclust.active._answers import Said
from conclust.active._closure import LiveClosure
from conclust.active._rows import Rows
from conclust.active._state import Fitted, State
from conclust.cluster import PCKMeans
from conclust.constraints import Constraints


def tell(state, a, b, sign):
    """Take an answer: +1 together, -1 apart, 0 unsure."""
    pair = [(int(a), int(b))]
    state._take(pair[0], Said(pair if sign > 0 else [], pair if sign < 0 else [], []), 1.0)


def tell_truly(state, proposals, y):
    for proposal in proposals:
        a, b = proposal.samples
        tell(state, a, b, 1 if y[a] == y[b] else -1)


@pytest.fixture
def make_state():
    """A state of rows, told must-links and cannot-links."""

    def make(X, n_clusters=None, must=(), cannot=()):
        X = np.asarray(X, dtype=float)
        rows = Rows(X, np.empty(0, dtype=int), 0)

        def fit(state):
            k = min(n_clusters or 2, len(X))
            model = PCKMeans(k, random_state=0).fit(X, constraints=state.constraints.pairwise)
            return Fitted(model, model.labels_, None)

        closure = LiveClosure(len(X))
        state = State(rows, n_clusters, Constraints(n_samples=len(X)), closure, fit)
        for sign, pairs in ((1, must), (-1, cannot)):
            for a, b in pairs:
                tell(state, a, b, sign)
        return state

    return make
