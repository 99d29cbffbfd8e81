"""Pairs at random: what every other strategy is compared with."""

import numpy as np

from conclust._arrays import IntArray
from conclust.active._question import Proposal
from conclust.active._state import State
from conclust.active.strategies._strategy import Strategy

# So many pairs are drawn for each one wanted, and so often, before all pairs are looked through.
N_DRAWN, N_ROUNDS = 16, 20
MAX_LISTED = 2_000  # rows; more pairs are not written out


class RandomPairs(Strategy):
    """Two rows drawn uniformly among the pairs whose answer does not follow yet.

    See Also
    --------
    LeastKnown : Spreads the questions over the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.active import Session
    >>> session = Session(np.arange(6.0)[:, None], strategy="random", random_state=0)
    >>> len(session.ask(3))
    3
    """

    def propose(self, state: State, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        """See :meth:`Strategy.propose`."""
        pairs = drawn_pairs(state, np.arange(state.n_samples), n, random_state)
        return [
            Proposal((int(a), int(b)), "two rows at random", 1.0, at_random=True) for a, b in pairs
        ]


def drawn_pairs(
    state: State, rows: IntArray, n: int, random_state: np.random.RandomState
) -> IntArray:
    """Up to n different open pairs among rows, (n, 2)."""
    found = np.empty((0, 2), dtype=np.int64)
    for _ in range(N_ROUNDS):
        drawn = rows[random_state.randint(len(rows), size=(N_DRAWN * n, 2))]
        drawn = np.sort(drawn[drawn[:, 0] != drawn[:, 1]], axis=1)
        found = np.concatenate([found, drawn[state.is_open(*drawn.T)]])
        found = found[np.sort(np.unique(found, axis=0, return_index=True)[1])]
        if len(found) >= n:
            return found[:n]
    if len(rows) > MAX_LISTED:
        return found
    a, b = rows[np.array(np.triu_indices(len(rows), k=1))]
    still_open = np.flatnonzero(state.is_open(a, b))
    chosen = random_state.permutation(still_open)[:n]
    return np.column_stack([a[chosen], b[chosen]])
