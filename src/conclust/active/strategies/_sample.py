"""Some of the rows, and what is known about them."""

from typing import Any

import numpy as np

from conclust._arrays import IntArray
from conclust.active._state import State
from conclust.constraints import Constraints


def sampled_rows(state: State, max_rows: int, random_state: np.random.RandomState) -> IntArray:
    """Up to so many rows, sorted: those that statements name, and others drawn."""
    if state.n_samples <= max_rows:
        return np.arange(state.n_samples)
    named = state.constraints.samples[:max_rows]
    others = random_state.permutation(np.setdiff1d(np.arange(state.n_samples), named))
    return np.sort(np.concatenate([named, others[: max_rows - len(named)]]))


def among(rows: IntArray, constraints: Constraints) -> Constraints:
    """The pairs and triplets about rows that are sorted, numbered by their place among these.

    Of more rows, groups of rows that are all apart are left out: they can be millions of pairs.
    """
    if len(rows) == constraints.n_samples:
        return constraints
    of_kind = {
        "must_link": (constraints.must_link, constraints.must_link_weight),
        "cannot_link": (constraints.cannot_link, constraints.cannot_link_weight),
        "relative": (constraints.relative, constraints.relative_weight),
    }
    kept: dict[str, Any] = {}
    for kind, (listed, weight) in of_kind.items():
        inside = np.isin(listed, rows).all(axis=1)
        kept[kind] = np.searchsorted(rows, listed[inside])
        kept[f"{kind}_weight"] = weight[inside]
    return Constraints(**kept, n_samples=len(rows))
