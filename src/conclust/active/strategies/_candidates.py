"""Pairs that could be asked: of a graph of nearest rows, or of a sample; never all."""

import numpy as np

from conclust._arrays import FloatArray, IntArray
from conclust.active._closure import pair_keys
from conclust.active._state import State

# So many of the best pairs are looked through for each one wanted that shares no row with others.
N_LOOKED_THROUGH = 100


def neighbor_pairs(state: State, n_neighbors: int) -> IntArray:
    """(m, 2) each row with its nearest rows, each pair once; made once in a session."""
    key = ("neighbor pairs", n_neighbors)
    if key not in state.memory:
        neighbors = state.neighbors(n_neighbors)
        a = np.repeat(np.arange(state.n_samples), neighbors.shape[1])
        pairs = np.column_stack([a, neighbors.ravel()])
        state.memory[key] = distinct(pairs, state.n_samples)
    found: IntArray = state.memory[key]
    return found


def sampled_pairs(state: State, max_rows: int, random_state: np.random.RandomState) -> IntArray:
    """(m, 2) all pairs of some rows."""
    rows = np.sort(random_state.permutation(state.n_samples)[:max_rows])
    a, b = np.triu_indices(len(rows), k=1)
    return np.column_stack([rows[a], rows[b]])


def distinct(pairs: IntArray, n_samples: int) -> IntArray:
    """Each pair once, the smaller row first."""
    keys = np.unique(pair_keys(pairs[:, 0], pairs[:, 1], n_samples))
    return np.column_stack(np.divmod(keys, n_samples))


def best_pairs(pairs: IntArray, worth: FloatArray, n: int) -> list[int]:
    """Up to n pairs of the most worth, those that share no row with one before them first."""
    order = np.argsort(-worth, kind="stable")[: N_LOOKED_THROUGH * n]
    used: set[int] = set()
    alone: list[int] = []
    others: list[int] = []
    for i in order.tolist():
        rows = set(pairs[i].tolist())
        (others if rows & used else alone).append(i)
        used |= rows
        if len(alone) == n:
            break
    return (alone + others)[:n]
