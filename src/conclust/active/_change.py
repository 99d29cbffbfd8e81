"""Will more answers change much? Judged by what the last ones did."""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from conclust._arrays import IntArray

if TYPE_CHECKING:
    from conclust.active._state import State

N_NEXT = 10  # answers looked ahead
HARDLY = 0.01  # of the rows


class ExpectedChange(NamedTuple):
    """What the next answers will do.

    Attributes
    ----------
    share : float
        Of the rows, that the next ten answers will move to another cluster; NaN when nothing was
        answered yet.
    sentence : str
        The same for people.
    """

    share: float
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    def __float__(self) -> float:
        return self.share


def steps_between(stages: "list[State]") -> list[tuple[int, float]]:
    """How many answers lie between states, and the share of rows that they moved."""
    return [
        (later.n_told - earlier.n_told, moved(earlier.labels, later.labels))
        for earlier, later in itertools.pairwise(stages)
        if later.n_told > earlier.n_told
    ]


def expected_change(steps: Sequence[tuple[int, float]]) -> ExpectedChange:
    """The change to expect, from what the last answers did.

    Parameters
    ----------
    steps : sequence of (int, float)
        Numbers of answers, and the share of rows that they moved to another cluster.
    """
    if not steps:
        return ExpectedChange(float("nan"), "Nothing was answered yet.")
    n_seen = sum(n for n, _ in steps)
    share = min(1.0, sum(share for _, share in steps) / n_seen * N_NEXT)
    last = f"The last {n_seen} answers" if n_seen > 1 else "The last answer"
    told = f"{last} moved {_percent(sum(s for _, s in steps))} of the rows to another cluster"
    if n_seen < N_NEXT:
        return ExpectedChange(share, f"{told}; too few to say what more will do.")
    if share < HARDLY:
        return ExpectedChange(share, f"{told}: more answers will hardly change this.")
    return ExpectedChange(share, f"{told}: the next {N_NEXT} may move about {_percent(share)}.")


def moved(before: IntArray, after: IntArray) -> float:
    """Share of rows that change cluster, clusters being matched as well as can be."""
    first, second = (
        np.unique(labels, return_inverse=True)[1].ravel() for labels in (before, after)
    )
    shared = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(shared, (first, second), 1)
    rows, columns = linear_sum_assignment(shared, maximize=True)
    return float(1 - shared[rows, columns].sum() / len(first))


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 or share == 0 else "less than 1%"
