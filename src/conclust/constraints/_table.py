"""The rows behind a set of constraints: merged, numbered, frozen."""

from typing import Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import IntArray
from conclust.exceptions import InvalidConstraintsError

MUST_LINK, CANNOT_LINK, RELATIVE, APART = 1, -1, 2, -2
KIND_NAMES = {
    MUST_LINK: "must-link",
    CANNOT_LINK: "cannot-link",
    RELATIVE: "relative",
    APART: "apart",
}
# Indexed by kind; a negative kind counts from the end.
NAME_OF_KIND = np.array(["", *(KIND_NAMES[k] for k in (1, 2, -2, -1))])


def check_n_samples(n_samples: Any) -> int | None:
    if n_samples is None:
        return None
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 0:
        raise InvalidConstraintsError(
            f"n_samples must be a whole number of samples or None; got {n_samples!r}."
        )
    return int(n_samples)


def three_columns(rows: IntArray) -> IntArray:
    if rows.shape[1] == 3:
        return rows
    return np.column_stack([rows, np.full(len(rows), -1, dtype=np.int64)])


def merge_duplicates(kind: npt.NDArray[np.int8], rows: IntArray) -> tuple[IntArray, IntArray]:
    """Find the first row of each distinct statement, and for each row which one it repeats."""
    low = np.minimum(rows[:, 0], rows[:, 1])
    high = np.maximum(rows[:, 0], rows[:, 1])
    # Group rows are (start, stop) and never equal, so they need no case of their own.
    columns = [kind, low, high]
    n = int(high.max(initial=0)) + 1
    if n < 2**29:  # one number instead of three columns: sorting is what takes the time here
        columns = [(low * n + high) * 8 + kind]
    if (kind == RELATIVE).any():
        columns.append(rows[:, 2])
    order = np.lexsort(columns)
    same = np.ones(max(len(kind) - 1, 0), dtype=bool)
    for column in columns:
        in_order = column[order]
        same &= in_order[1:] == in_order[:-1]
    new = np.ones(len(kind), dtype=bool)
    new[1:] = ~same
    run_sorted = np.cumsum(new) - 1
    firsts = order[new]  # lexsort is stable: the first of a run is the earliest given
    rank = np.empty(len(firsts), dtype=np.int64)
    by_position = np.argsort(firsts, kind="stable")
    rank[by_position] = np.arange(len(firsts))
    run = np.empty(len(kind), dtype=np.int64)
    run[order] = rank[run_sorted]
    return firsts[by_position], run


def join_texts(column: npt.NDArray[Any], first: IntArray, run: IntArray) -> npt.NDArray[Any]:
    """Keep what each of several equal statements says about itself: 'ann; bob'."""
    joined = column[first].copy()
    for i in np.flatnonzero(first[run] != np.arange(len(run))):
        text, at = column[i], run[i]
        if text in (None, ""):
            continue
        if joined[at] in (None, ""):
            joined[at] = text
        elif str(text) not in str(joined[at]).split("; "):
            joined[at] = f"{joined[at]}; {text}"
    return joined


def codes_of(values: Any, name: str, missing: Any) -> tuple[IntArray, int]:
    """Number the distinct values in order of appearance; -1 for None, NaN and `missing`."""
    import pandas as pd

    if isinstance(values, str) or np.ndim(values) != 1:
        raise InvalidConstraintsError(
            f"{name} must be one-dimensional, one entry per sample; got shape {np.shape(values)}."
        )
    column = pd.Series(values, dtype=None if hasattr(values, "dtype") else object)
    if missing is not None:
        column = column.mask(column == missing)
    codes, uniques = pd.factorize(column, use_na_sentinel=True)
    return codes.astype(np.int64), len(uniques)


def members_by_code(codes: IntArray, n_codes: int) -> tuple[IntArray, IntArray]:
    """Sort samples by code, leaving out code -1; return them and where each code starts."""
    order = np.argsort(codes, kind="stable")
    order = order[np.searchsorted(codes[order], 0) :]
    return order, np.searchsorted(codes[order], np.arange(n_codes))


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def same_arrays(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    return a.shape == b.shape and bool(np.all(a == b))
