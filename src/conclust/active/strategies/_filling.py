"""What is asked when a strategy has no question of its own left."""

import numpy as np

from conclust.active._question import Proposal
from conclust.active._state import State
from conclust.active.strategies._random import RandomPairs


def filled(
    proposals: list[Proposal], state: State, n: int, random_state: np.random.RandomState
) -> list[Proposal]:
    """The proposals, and pairs at random up to n: nothing ends while something is open."""
    if len(proposals) >= n:
        return proposals[:n]
    own = {frozenset(proposal.samples) for proposal in proposals}
    drawn = RandomPairs().propose(state, n, random_state)
    more = [proposal for proposal in drawn if frozenset(proposal.samples) not in own]
    return [*proposals, *more][:n]
