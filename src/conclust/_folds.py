"""Statements held out so that what is asked does not follow from what was told.

Two ways: deal whole units that may imply each other (`units`, for folds whose parts are cut
elsewhere), or deal single statements and ask only those left open by the others (`left_open`).
The second holds out an even share however the statements hang together; with wrong ones among
them must-links join nearly all rows, and one unit then holds most statements.
"""

import numpy as np
import numpy.typing as npt

from conclust._arrays import IntArray
from conclust._pairs import connected
from conclust.constraints import Constraints, must_link_components

# With fewer statements than this, shares of held-out ones are noise: nothing is chosen by them.
FEW = 20
# A quarter is held out four times: enough is told for the clusterings to be like the final one.
N_FOLDS = 4
# Shares of held-out statements closer than this are the same. Of 300 random statements some 250 are
# left open by the others (132 to 300 on nine sets), so this is about four of them.
AS_GOOD = 0.015


def units(constraints: Constraints) -> IntArray:
    """Number statements so that those which may imply each other share a number."""
    component, n_components = must_link_components(constraints)
    kinds = constraints.kinds
    n = len(constraints)
    # Vertices: statements, then one per component, then one per pair of components seen.
    must = np.flatnonzero(kinds == "must-link")
    edges = [np.column_stack([must, n + component[constraints.must_link[:, 0]]])]
    pairs = constraints.pairs()
    apart = pairs.sign < 0
    ends = np.sort(component[pairs.pairs[apart]], axis=1)
    statement = pairs.statement[apart]
    inside = ends[:, 0] == ends[:, 1]
    edges.append(np.column_stack([statement[inside], n + ends[inside, 0]]))
    _, pair = np.unique(ends[~inside], axis=0, return_inverse=True)
    offset = n + n_components
    edges.append(np.column_stack([statement[~inside], offset + pair.ravel()]))
    offset += int(pair.max(initial=-1)) + 1
    triplets = np.sort(component[constraints.relative], axis=1)
    _, triplet = np.unique(triplets, axis=0, return_inverse=True)
    relative = np.flatnonzero(kinds == "relative")
    edges.append(np.column_stack([relative, offset + triplet.ravel()]))
    offset += int(triplet.max(initial=-1)) + 1
    unit, _ = connected(np.concatenate(edges), offset)
    return np.unique(unit[:n], return_inverse=True)[1].ravel()


def deal(
    unit: IntArray, n_folds: int, random_state: np.random.RandomState | None = None
) -> IntArray:
    """Deal units to folds, larger ones first, each to the smallest fold so far.

    Parameters
    ----------
    unit : ndarray of shape (n_statements,)
        See `units`.
    n_folds : int
        With fewer units than folds some folds stay empty.
    random_state : RandomState, default=None
        Shuffles units of the same size; None deals them in the order given.

    Returns
    -------
    ndarray of shape (n_statements,)
        The fold of each statement.
    """
    sizes = np.bincount(unit)
    order = np.arange(len(sizes))
    if random_state is not None:
        order = random_state.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of_unit = np.empty(len(sizes), dtype=np.int64)
    filled = np.zeros(n_folds, dtype=np.int64)
    for u in order:
        smallest = int(np.argmin(filled))
        fold_of_unit[u] = smallest
        filled[smallest] += sizes[u]
    return fold_of_unit[unit]


def left_open(constraints: Constraints, told: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which pairwise statements are not told and neither follow from nor contradict the told ones.

    Parameters
    ----------
    constraints : Constraints
    told : ndarray of bool, shape (n_statements,)

    Returns
    -------
    ndarray of bool, shape (n_statements,)
        A group of mutually apart samples is open when one of its pairs is.
    """
    pairs, sign, _, statement = constraints.pairs()
    said = told[statement]
    n = int(pairs.max(initial=-1)) + 1
    component, n_components = connected(pairs[said & (sign > 0)], n)
    ends = np.sort(component[pairs], axis=1)
    key = ends[:, 0] * n_components + ends[:, 1]
    is_open = ~said & (ends[:, 0] != ends[:, 1]) & ~np.isin(key, key[said & (sign < 0)])
    found = np.zeros(len(constraints), dtype=bool)
    found[statement[is_open]] = True
    return found
