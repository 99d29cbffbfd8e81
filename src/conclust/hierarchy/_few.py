"""Few relative statements: whether the clusters they lead to are better than those of the rows.

A statement refuses merges until its a and b have met, wherever they lie. A few of them keep large
branches apart that are near each other, and the last merges, which a cut undoes, are then those
that happened to be refused. Statements that were not told say whether such clusters are worth it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust._folds import FEW, N_FOLDS, deal, units
from conclust.constraints import Constraints

# Statements are few up to one for so many samples. With more the clusters they lead to win.
SAMPLES_PER_STATEMENT = 2


def are_few(constraints: Constraints, n_samples: int) -> bool:
    """Whether triplets are so few that their clusters are to be compared with plain ones.

    Not beside cannot-links, which decide about clusters in another way.
    """
    kinds = constraints.kinds
    n_relative = int((kinds == "relative").sum())
    alone = not np.isin(kinds, ("cannot-link", "apart")).any()
    return alone and 0 < n_relative * SAMPLES_PER_STATEMENT <= n_samples


def folds(constraints: Constraints) -> list[tuple[Constraints, Constraints]]:
    """What is told and which triplets are asked, for each fold; none if triplets are too few."""
    relative = np.flatnonzero(constraints.kinds == "relative")
    if len(relative) < FEW:
        return []
    fold = np.full(len(constraints), -1)
    fold[relative] = deal(units(constraints)[relative], N_FOLDS)
    return [
        (constraints[np.flatnonzero(fold != f)], constraints[np.flatnonzero(fold == f)])
        for f in range(N_FOLDS)
        if (fold == f).any()
    ]


def shown(labels: npt.NDArray[np.integer[Any]], triplets: IntArray, weight: FloatArray) -> float:
    """Weight of the ab|c whose a and b are together without c, less that with a and b apart."""
    a, b, c = labels[triplets].T
    return float(weight @ ((a == b) & (a != c)) - weight @ (a != b))


def is_better(told: float, plain: float, weight: FloatArray) -> bool:
    """Whether told clusters show more of what they were not told, by more than its spread."""
    return told - plain > float(np.sqrt(weight @ weight))
