"""Pairs of things as arrays: drawn, numbered, merged, and looked at from their rows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray


class SignedPairs(NamedTuple):
    """All pairwise statements in the order given: what the pairwise methods work on."""

    pairs: IntArray  # (m, 2) samples
    sign: npt.NDArray[np.int8]  # (m,) +1 must-link, -1 cannot-link
    weight: FloatArray  # (m,)
    statement: IntArray  # (m,) the statement each pair comes from


def merge_pairs(pairs: IntArray, weight: FloatArray, n: int) -> tuple[IntArray, FloatArray]:
    """Sort pairs (first < second), keep each once and add up its weights."""
    key = np.minimum(pairs[:, 0], pairs[:, 1]) * n + np.maximum(pairs[:, 0], pairs[:, 1])
    unique, inverse = np.unique(key, return_inverse=True)
    merged = np.column_stack([unique // max(n, 1), unique % max(n, 1)])
    total = np.zeros(len(unique))
    np.add.at(total, inverse.ravel(), weight)
    return merged, total


def pair_of(index: IntArray, size: IntArray | int) -> IntArray:
    """Number the pairs of `size` things by their cyclic distance: exact in integers."""
    i = index % size
    return np.column_stack([i, (i + index // size + 1) % size])


def distinct_numbers(supply: int, size: int, random_state: Any) -> IntArray:
    """Draw `size` different numbers below `supply`, in random order."""
    if supply <= 2 * size:
        return random_state.permutation(supply)[:size].astype(np.int64)
    return until_distinct(
        lambda n: random_state.randint(0, supply, size=(n, 1), dtype=np.int64), size
    ).ravel()


def until_distinct(draw: Callable[[int], IntArray], size: int) -> IntArray:
    """Draw rows until `size` different ones are found, in the order of their first drawing."""
    rows = draw(size)
    while True:
        first = _first_of_each(rows)
        if len(first) >= size:
            return rows[first[:size]]
        rows = np.concatenate([rows[first], draw(size - len(first) + 16)])


def _first_of_each(rows: IntArray) -> IntArray:
    """Where each distinct row stands first, ascending; np.unique(axis=0) is ten times slower."""
    order = np.lexsort(rows.T)
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    return np.sort(order[new])
