"""Statements as a square matrix: positive together, negative apart."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust._arrays import FloatArray, IntArray
from conclust.exceptions import InvalidConstraintsError


def pairs_of_matrix(S: Any) -> tuple[IntArray, FloatArray, int]:
    """Read the pairs (first < second, sorted) and values of a matrix, and its number of rows."""
    try:
        S = sp.coo_array(S, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidConstraintsError(f"S must be a matrix of numbers: {error}.") from None
    if S.ndim != 2 or S.shape[0] != S.shape[1]:
        raise InvalidConstraintsError(
            f"S has shape {S.shape}; it must be square, one row and one column per sample."
        )
    S.sum_duplicates()
    i, j, value = S.row.astype(np.int64), S.col.astype(np.int64), S.data
    if not np.isfinite(value).all():
        bad = int(np.flatnonzero(~np.isfinite(value))[0])
        raise InvalidConstraintsError(
            f"S[{i[bad]}, {j[bad]}] is {value[bad]}; entries must be finite, "
            "0 for pairs nothing is known about."
        )
    bad_diagonal = (i == j) & (value < 0)
    if bad_diagonal.any():
        at = int(i[bad_diagonal][0])
        raise InvalidConstraintsError(
            f"S[{at}, {at}] is negative: a sample cannot be apart from itself."
        )
    use = (value != 0) & (i != j)
    i, j, value = i[use], j[use], value[use]
    low, high = np.minimum(i, j), np.maximum(i, j)
    order = np.lexsort((high, low))
    low, high, value = low[order], high[order], value[order]
    twice = np.flatnonzero((low[1:] == low[:-1]) & (high[1:] == high[:-1]))
    differs = twice[~np.isclose(value[twice], value[twice + 1])]
    if len(differs):
        a, b = low[differs[0]], high[differs[0]]
        raise InvalidConstraintsError(
            f"S[{a}, {b}] and S[{b}, {a}] differ ({value[differs[0]]:g} and "
            f"{value[differs[0] + 1]:g}); make S symmetric or fill one triangle only."
        )
    once = np.ones(len(value), dtype=bool)
    once[twice + 1] = False
    low, high, value = low[once], high[once], value[once]
    return np.column_stack([low, high]), value, S.shape[0]
