"""Kinds of statements and the rows behind them: checked, merged, numbered, frozen."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
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

N_SHOWN = 5  # offenders named in one message
MAX_POSITION = 2**53  # the last whole number that a float holds; no table has so many rows
TOO_LARGE = (
    "positions count rows from 0, and no table has so many; if these are ids of a table, read them "
    "with `ids=`"
)

_FORM = {
    "must_link": "(m, 2), rows `(a, b)` of samples that belong together",
    "cannot_link": "(c, 2), rows `(a, b)` of samples that do not belong together",
    "relative": "(r, 3), rows `(a, b, c)`: a and b are closer to each other than to c",
}


# ---------------------------------------------------------------------- what a user passes in


def as_positions(value: Any, name: str, n_samples: int | None) -> IntArray:
    """Bring `value` to an int64 array of sample positions, or say what is wrong with it."""
    width = 3 if name == "relative" else 2
    rows = _as_array(value, name, width)
    if rows.size == 0:
        return np.empty((0, width), dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != width:
        hint = (
            " Triplets go to `relative=`."
            if width == 2 and rows.ndim == 2 and rows.shape[1] == 3
            else ""
        )
        raise InvalidConstraintsError(
            f"{name} has shape {rows.shape}; its shape must be {_FORM[name]}.{hint}"
        )
    rows = _as_integers(rows, name)
    _reject(rows, (rows < 0).any(axis=1), name, "positions count from 0 and cannot be negative")
    if n_samples is not None:
        _reject(
            rows,
            (rows >= n_samples).any(axis=1),
            name,
            f"there are only {n_samples} samples, so positions end at {n_samples - 1}; "
            "if these are ids of a table, read them with `ids=`",
        )
    if width == 2:
        _reject(rows, rows[:, 0] == rows[:, 1], name, "a sample cannot be linked to itself")
        return rows
    a, b, c = rows.T
    _reject(
        rows,
        (a == b) | (a == c) | (b == c),
        name,
        "'ab|c' says that c is farther from a and b than they are from each other, so all three "
        "must be different samples",
    )
    return rows


def as_rows(value: Any, name: str, n_samples: int | None) -> IntArray:
    """Bring `value` to an int64 array of rows, each once, in the order given."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidConstraintsError(f"{name} must be a sequence of rows; got {_short(value)}.")
    given = np.asarray(list(value))
    if given.ndim != 1:
        raise InvalidConstraintsError(
            f"{name} has shape {given.shape}; it must be a sequence of rows."
        )
    if not len(given):
        return np.empty(0, dtype=np.int64)
    rows = _as_integers(given[:, np.newaxis], name)
    _reject(rows, rows[:, 0] < 0, name, "positions count from 0 and cannot be negative")
    if n_samples is not None:
        rule = f"there are only {n_samples} samples, so positions end at {n_samples - 1}"
        _reject(rows, rows[:, 0] >= n_samples, name, rule)
    _, first = np.unique(rows, return_index=True)
    return rows[np.sort(first), 0]


def as_weights(value: Any, name: str, n_rows: int) -> FloatArray:
    """Bring `value` to one positive float per row; None means 1 for each."""
    if value is None:
        return np.ones(n_rows)
    try:
        weights = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidConstraintsError(
            f"{name} must hold numbers, one per row; got {_short(value)}."
        ) from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise InvalidConstraintsError(
            f"{name} has shape {weights.shape}, but there are {n_rows} rows; "
            "pass one weight per row, a single number, or None for equal weights."
        )
    bad = ~(np.isfinite(weights) & (weights > 0))
    if bad.any():
        where = ", ".join(f"row {i}: {weights[i]:g}" for i in np.flatnonzero(bad)[:N_SHOWN])
        raise InvalidConstraintsError(
            f"{name} must be positive and finite; found {where}. "
            "To weaken a statement give it a small weight; to drop it leave it out."
        )
    return weights


def _as_array(value: Any, name: str, width: int) -> npt.NDArray[Any]:
    if value is None:
        return np.empty((0, width), dtype=np.int64)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidConstraintsError(
            f"{name} must be an array or a list of rows, of shape {_FORM[name]}; "
            f"got {_short(value)}."
        )
    if not hasattr(value, "__array__") and not isinstance(value, list | tuple):
        value = list(value)
    try:
        return np.asarray(value)
    except (ValueError, OverflowError):
        row = next((r for r in value if np.size(r) != width), value)
        raise InvalidConstraintsError(
            f"{name} has rows of different lengths, such as {_short(row)}; "
            f"its shape must be {_FORM[name]}."
        ) from None


def _as_integers(rows: npt.NDArray[Any], name: str) -> IntArray:
    if rows.dtype.kind == "O":
        # Pairs of Python objects: accept integers of any make, refuse the rest below.
        is_number = np.frompyfunc(
            lambda v: isinstance(v, int | float | np.number) and not isinstance(v, bool), 1, 1
        )
        numeric = is_number(rows).astype(bool).all(axis=1)
        _reject(rows, ~numeric, name, "positions are whole numbers; ids are read with `ids=`")
        _reject(rows, (np.abs(rows) > MAX_POSITION).any(axis=1), name, TOO_LARGE)
        rows = rows.astype(np.float64)
    if rows.dtype.kind in "iu":
        _reject(rows, (rows > MAX_POSITION).any(axis=1), name, TOO_LARGE)
        return np.ascontiguousarray(rows, dtype=np.int64)
    if rows.dtype.kind == "f":
        whole = np.isfinite(rows) & (rows == np.floor(rows))
        _reject(rows, ~whole.all(axis=1), name, "positions are whole numbers")
        _reject(rows, (np.abs(rows) > MAX_POSITION).any(axis=1), name, TOO_LARGE)
        return rows.astype(np.int64)
    if rows.dtype.kind == "b":
        raise InvalidConstraintsError(
            f"{name} holds bool values; it takes integer positions. np.flatnonzero(mask) gives "
            "those of a mask."
        )
    raise InvalidConstraintsError(
        f"{name} holds {rows.dtype} values such as {_short(rows.ravel()[0])}; it takes integer "
        "positions. Ids are read with `read_constraints(path, ids=...)` or "
        "`Constraints.from_frame(frame, ids=...)`."
    )


def _reject(rows: npt.NDArray[Any], bad: Any, name: str, rule: str) -> None:
    if not bad.any():
        return
    found = np.flatnonzero(bad)
    where = ", ".join(f"row {i}: {tuple(rows[i].tolist())}" for i in found[:N_SHOWN])
    more = f" and {len(found) - N_SHOWN} more" if len(found) > N_SHOWN else ""
    raise InvalidConstraintsError(f"{name}: {rule}; found {where}{more}.")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def check_n_samples(n_samples: Any) -> int | None:
    if n_samples is None:
        return None
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 0:
        raise InvalidConstraintsError(
            f"n_samples must be a whole number of samples or None; got {n_samples!r}."
        )
    return int(n_samples)


# ---------------------------------------------------------------------- one table of all kinds


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


def packed(
    kind: npt.NDArray[np.int8], rows: IntArray, members: IntArray
) -> tuple[IntArray, IntArray]:
    """Leave out members that no group holds any more: rows and members."""
    group = np.flatnonzero(kind == APART)
    starts, stops = rows[group, 0], rows[group, 1]
    sizes = stops - starts
    if sizes.sum() == len(members):
        return rows, members
    members = np.concatenate(
        [members[:0], *(members[s:e] for s, e in zip(starts, stops, strict=True))]
    )
    rows = rows.copy()
    rows[group, 1] = np.cumsum(sizes)
    rows[group, 0] = rows[group, 1] - sizes
    return rows, members


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
