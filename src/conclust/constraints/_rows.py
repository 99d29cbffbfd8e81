"""Statements as rows of arrays: what a user passes in, checked and brought to one form."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust.exceptions import InvalidConstraintsError

N_SHOWN = 5  # offenders named in one message

_FORM = {
    "must_link": "(m, 2), rows `(a, b)` of samples that belong together",
    "cannot_link": "(c, 2), rows `(a, b)` of samples that do not belong together",
    "relative": "(r, 3), rows `(a, b, c)`: a and b are closer to each other than to c",
}


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
        (a != b) & ((a == c) | (b == c)),
        name,
        "'ab|c' says that c is farther away, so c must differ from a and b",
    )
    return rows[a != b]  # "a and a are closer than to c" says nothing


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
        rows = rows.astype(np.float64)
    if rows.dtype.kind in "iu":
        _reject(rows, (rows > np.iinfo(np.int64).max).any(axis=1), name, "positions fit in 64 bits")
        return np.ascontiguousarray(rows, dtype=np.int64)
    if rows.dtype.kind == "f":
        whole = np.isfinite(rows) & (rows == np.floor(rows)) & (np.abs(rows) < 2**53)
        _reject(rows, ~whole.all(axis=1), name, "positions are whole numbers")
        return rows.astype(np.int64)
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
