"""Rows side by side, for people."""

import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust.active._question import Question

WIDTH = 38  # characters of one value
MAX_FIELDS = 40  # shown; those that differ first
DIFFERS, EQUAL = "≠", " "

ASKED = {
    "pair": "Do these two belong together?",
    "triple": "Which of these three is the odd one out?",
    "piles": "Which of these belong together?",
}


def shown(question: Question) -> str:
    """The rows of a question, a column each, values that differ marked."""
    fields = list(_fields(question.rows))
    fields.sort(key=lambda field: not _differ(field[1]))  # stable: else in the order of the table
    lines = [("", " ", [str(name) for name in question.names])]
    for name, values in fields[:MAX_FIELDS]:
        lines.append((name, DIFFERS if _differ(values) else EQUAL, values))
    text = "\n".join(_laid_out(lines))
    n_more = len(fields) - MAX_FIELDS
    return f"{text}\n… and {n_more} more columns" if n_more > 0 else text


def _differ(values: list[str]) -> bool:
    return len(set(values)) > 1


def _fields(rows: Any) -> Iterator[tuple[str, list[str]]]:
    """Names of the columns and the value of each row in them."""
    if sp.issparse(rows):
        used = np.unique(rows.tocoo().col)
        dense = rows[:, used].toarray()
        yield from ((f"x{c}", _texts(dense[:, i])) for i, c in enumerate(used))
    elif hasattr(rows, "columns"):
        yield from ((str(name), _texts(rows[name])) for name in rows.columns)
    elif isinstance(rows, np.ndarray) and rows.ndim == 2:
        yield from ((f"x{c}", _texts(rows[:, c])) for c in range(rows.shape[1]))
    else:
        yield "", _texts(rows)


def _texts(values: Any) -> list[str]:
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    # Control characters of a table must not reach the terminal.
    return "".join(c if c.isprintable() else " " for c in str(value))


def _laid_out(lines: list[tuple[str, str, list[str]]]) -> Iterator[str]:
    name_width = min(max(len(name) for name, _, _ in lines), WIDTH)
    for name, mark, values in lines:
        cells = [textwrap.wrap(value, WIDTH) or [""] for value in values]
        for i in range(max(map(len, cells))):
            parts = [cell[i] if i < len(cell) else "" for cell in cells]
            row = "  ".join(part.ljust(WIDTH) for part in parts)
            head = name[:WIDTH] if i == 0 else ""
            yield f"{mark if i == 0 else ' '} {head.ljust(name_width)}  {row}".rstrip()
