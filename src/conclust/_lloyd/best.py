"""Several starts, and the one to keep."""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from conclust._progress import progress
from conclust.exceptions import (
    DegenerateClusteringWarning,
)

# Objectives closer than this, relatively, are the same.
SAME_OBJECTIVE = 1e-10
RunT = TypeVar("RunT", bound=Any)  # a result with `objective` and `history`


def best_of_starts(
    estimator: Any,
    start: Callable[[np.random.RandomState, int, Callable[..., None]], RunT],
    random_state: np.random.RandomState,
    n_init: int,
) -> RunT:
    """Make several starts and return the one with the lowest objective.

    Parameters
    ----------
    estimator : estimator
        Its `init` and `verbose` are read. An array as `init` leaves nothing to draw: it is started
        from once.
    start : callable
        Called as ``start(random_state, number, on_round)``.
    random_state : RandomState

    Returns
    -------
    Run
        The first one on ties.
    """
    draws = isinstance(estimator.init, str) or callable(estimator.init)
    seeds = random_state.randint(2**31 - 1, size=n_init if draws else 1)
    best: RunT | None = None
    with progress(estimator.verbose, type(estimator).__name__, len(seeds)) as show:
        for number, seed in enumerate(seeds):
            run = start(np.random.RandomState(seed), number, show)
            show(run.history[-1], advance=1)
            # The same clusters under other names differ by rounding: not better.
            if best is None or (
                run.objective < best.objective - SAME_OBJECTIVE * abs(best.objective)
            ):
                best = run
    assert best is not None
    return best


def warn_if_degenerate(labels: np.ndarray, n_clusters: int) -> None:
    """Say so when clusters were left empty."""
    n_found = len(np.unique(labels))
    if n_found < n_clusters:
        warnings.warn(
            f"Only {n_found} of n_clusters={n_clusters} clusters have rows: X has too few distinct "
            "rows, or must-links join too many of them. Lower n_clusters or the penalty.",
            DegenerateClusteringWarning,
            stacklevel=3,
        )
