"""Some of the rows."""

import numpy as np

from conclust._arrays import IntArray
from conclust.active._state import State


def sampled_rows(state: State, max_rows: int, random_state: np.random.RandomState) -> IntArray:
    """Up to so many rows, sorted: those that statements name, and others drawn."""
    if state.n_samples <= max_rows:
        return np.arange(state.n_samples)
    named = state.constraints.samples[:max_rows]
    others = random_state.permutation(np.setdiff1d(np.arange(state.n_samples), named))
    return np.sort(np.concatenate([named, others[: max_rows - len(named)]]))
