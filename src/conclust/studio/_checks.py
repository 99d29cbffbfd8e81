"""What pages may say: each value in the form in which it is used, or the way out."""

import unicodedata
from collections.abc import Collection
from typing import Any, NamedTuple

from conclust._files import is_formula
from conclust.exceptions import SessionError

KINDS = {"pair": (2, 2), "triple": (3, 3), "piles": (2, 10)}  # fewest and most rows
MAX_NAME, MAX_REQUEST = 40, 100  # characters
MAX_HAVE = 20  # questions of one tab


class Tab(NamedTuple):
    """A tab of somebody's browser, and the questions that it has."""

    name: str = ""
    have: Collection[str] = ()


def checked_person(name: Any) -> str:
    """A name that can stand in files and on pages."""
    if name is None or name == "":
        return "me"
    if not isinstance(name, str):
        raise SessionError(f"person must be a name; got {name!r:.60}.")
    name = " ".join(name.split())
    odd = any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn") for c in name)
    if not name or len(name) > MAX_NAME or odd or is_formula(name):
        raise SessionError(
            f"person={name[:60]!a}: a name has 1 to {MAX_NAME} letters, and does not begin "
            "with one of = + - @."
        )
    return name


def checked_request(request: Any) -> str:
    """A name of an action that no other action has."""
    if not isinstance(request, str) or not 1 <= len(request) <= MAX_REQUEST:
        raise SessionError(
            f"request={request!r:.60} must be a text of 1 to {MAX_REQUEST} characters, another for "
            "each action."
        )
    return request


def checked_tab(name: Any, have: Any) -> Tab:
    """Which tab of a browser asks, and the questions that it has."""
    if not isinstance(name, str) or len(name) > MAX_REQUEST:
        raise SessionError(f"tab={name!r:.60} must be a text of at most {MAX_REQUEST} characters.")
    is_list = isinstance(have, list) and len(have) <= MAX_HAVE
    if not is_list or not all(isinstance(each, str) for each in have):
        raise SessionError(
            f"have={have!r:.60} must be a list of at most {MAX_HAVE} names of questions."
        )
    return Tab(name, have)


def checked_seconds(seconds: Any) -> float | None:
    """How long it took, where that can be."""
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return round(float(seconds), 3) if is_number and 0 <= seconds < 1e6 else None


def checked_kind(kind: Any) -> str:
    """A kind of question."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise SessionError(f"kind={kind!r:.60} is none of {', '.join(map(repr, KINDS))}.")
    return kind


def checked_size(size: Any) -> int | None:
    """How many rows a question of piles is to have."""
    low, high = KINDS["piles"]
    if size is not None and not (type(size) is int and low <= size <= high):
        raise SessionError(f"size={size!r:.60} must be a whole number from {low} to {high}.")
    return size


def checked_rows(samples: Any, kind: Any, n_rows: int) -> tuple[int, ...]:
    """Rows that a question of this kind can be about."""
    checked_kind(kind)
    rows = checked_row_list(samples, "samples", n_rows)
    low, high = KINDS[kind]
    if not low <= len(rows) <= high:
        size = f"{low}" if low == high else f"{low} to {high}"
        raise SessionError(f"A question of kind {kind} has {size} rows; got {len(rows)}.")
    return tuple(rows)


def checked_row_list(rows: Any, name: str, n_rows: int) -> list[int]:
    """Different rows of the table."""
    if not isinstance(rows, list | tuple) or not all(type(row) is int for row in rows):
        raise SessionError(f"{name} must be a list of row numbers; got {rows!r:.60}.")
    outside = next((row for row in rows if not 0 <= row < n_rows), None)
    if outside is not None:
        raise SessionError(f"{name}: there is no row {outside}; rows count from 0 to {n_rows - 1}.")
    if len(set(rows)) < len(rows):
        raise SessionError(f"{name}: a row is named twice.")
    return list(rows)
