"""Names to positions: `Table` → `Parsed`; every complaint names its line."""

import difflib
import itertools
import math
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust.constraints._kinds import (
    APART,
    CANNOT_LINK,
    KIND_NAMES,
    MUST_LINK,
    N_SHOWN,
    RELATIVE,
    three_columns,
)
from conclust.constraints._reading import STATEMENT_COLUMNS, Table, read_table
from conclust.exceptions import ConstraintsIgnoredWarning, InvalidConstraintsError

SKIPPED = 0  # beside the kinds of statements
MAX_COMPARED = 5_000  # ids among which one that resembles an unknown name is looked for
WITHOUT_IDS = " If they are ids, pass `ids=`."
KIND_OF_WORD = {
    **dict.fromkeys(("must-link", "must_link", "ml", "must", "same", "true", "1", "+1"), MUST_LINK),
    **dict.fromkeys(
        ("cannot-link", "cannot_link", "cl", "cannot", "different", "false", "-1"), CANNOT_LINK
    ),
    **dict.fromkeys(("relative", "triplet"), RELATIVE),
    **dict.fromkeys(("skip", "unsure"), SKIPPED),
}


class Parsed(NamedTuple):
    """Statements by position: all that a set of constraints is made from."""

    kind: npt.NDArray[np.int8]
    rows: IntArray
    weight: FloatArray
    members: IntArray
    n_samples: int | None
    ids: npt.NDArray[Any] | None
    provenance: dict[str, npt.NDArray[Any]]
    skipped: list[dict[str, Any]]


class FileSummary(NamedTuple):
    """What a file of constraints holds, before it is matched with a table."""

    names: list[str]  # samples, in the order they first appear
    n_statements: int  # as written: repeated ones count each time, skipped ones do not


def summarize_file(path: str | Path, encoding: str | None = None) -> FileSummary:
    """List the samples a file of constraints names, for use without the table they are rows of.

    Parameters
    ----------
    path : str or Path
        The file to read.
    encoding : str, default=None
        As for :func:`read_constraints`.

    Returns
    -------
    FileSummary
        Its `names` can be the `ids` of :func:`read_constraints`.
    """
    table = read_table(Path(path), encoding)
    said = [_kind_of(t) != SKIPPED for t in table.columns.get("type", [])]
    columns = [table.columns.get(name, [None] * len(said)) for name in "abc"]
    values = [v for row in zip(said, *columns, strict=True) if row[0] for v in row[1:]]
    values += [v for group in table.groups for v in group]
    names = dict.fromkeys(text_of(v) for v in values if v is not None)
    return FileSummary(list(names), sum(said) + len(table.groups))


class _Problems:
    """Collects what is wrong, to report it at once."""

    def __init__(self, source: str):
        self.source = source
        self.found: list[str] = []
        self.n = 0
        self.way_out = ""  # said once, after all of them

    def add(self, where: str, what: str) -> None:
        self.n += 1
        if len(self.found) < N_SHOWN:
            self.found.append(f"{where}: {what}")

    def raise_if_any(self) -> None:
        if self.n:
            more = f"; and {self.n - N_SHOWN} more" if self.n > N_SHOWN else ""
            raise InvalidConstraintsError(
                f"{self.source}, {'; '.join(self.found)}{more}.{self.way_out}"
            )


class UnknownIdError(LookupError):
    """A name that no row has."""


def resolve(table: Table, ids: Any = None, *, skip_unknown: bool = False) -> Parsed:
    """Resolve names and types of a table."""
    names, position_of = position_reader(ids)
    problems = _Problems(table.source)
    if ids is None:
        problems.way_out = WITHOUT_IDS
    unknown = np.zeros(len(table.columns.get("a", [])), dtype=bool)
    columns = table.columns
    n = len(columns.get("a", []))
    types = columns.get("type", [None] * n)
    third = columns.get("c", [None] * n)
    weights = columns.get("weight", [None] * n)
    kind = np.zeros(n, dtype=np.int8)
    rows = np.full((n, 3), -1, dtype=np.int64)
    weight = np.ones(n)
    for i in range(n):
        code = _kind_of(types[i])
        if code is None:
            problems.add(
                table.where(i),
                f"type {_shown(types[i])} is none of must-link, cannot-link, relative, skip",
            )
            continue
        kind[i] = code
        if code == SKIPPED:
            continue
        values = [columns["a"][i], columns["b"][i]]
        if code == RELATIVE:
            values.append(third[i])
        elif third[i] is not None:
            problems.add(table.where(i), f"a {KIND_NAMES[code]} has no third sample c")
        for column, value in enumerate(values):
            try:
                rows[i, column] = position_of(value)
            except LookupError as error:
                if skip_unknown and isinstance(error, UnknownIdError):
                    unknown[i] = True
                else:
                    problems.add(table.where(i), f"{'abc'[column]} {error.args[0]}")
        a, b, c = rows[i]
        if code != RELATIVE and a == b >= 0:
            problems.add(table.where(i), f"{_shown(values[0])} is linked to itself")
        elif code == RELATIVE and a == b >= 0:
            problems.add(table.where(i), f"a and b are the same sample ({_shown(values[0])})")
        elif code == RELATIVE and c >= 0 and c in (a, b):
            problems.add(table.where(i), f"c is the same sample as a or b ({_shown(values[2])})")
        if weights[i] is not None:
            weight[i] = _weight(weights[i], table.where(i), problems)
    groups, n_short = _parse_groups(table, position_of, problems, skip_unknown)
    group_weight = np.array(
        [
            1.0 if w is None else _weight(w, f"apart_weight[{g}]", problems)
            for g, w in enumerate(table.group_weight)
        ]
    )
    problems.raise_if_any()
    whole = [len(group) > 1 for group in groups]
    groups, group_weight = list(itertools.compress(groups, whole)), group_weight[whole]
    said = kind != SKIPPED
    told = said & ~unknown
    if unknown.any() or n_short:
        _warn_of_unknown(table.source, int(unknown.sum()), n_short)
    extra = [name for name in columns if name not in STATEMENT_COLUMNS]
    skipped = [
        {name: values[i] for name, values in columns.items() if values[i] is not None}
        for i in np.flatnonzero(~said)
    ]
    provenance = {}
    for name in extra:
        cells = np.empty(n, dtype=object)
        cells[:] = columns[name]
        provenance[name] = np.append(cells[told], np.full(len(groups), None))
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    stops = np.cumsum(sizes)
    return Parsed(
        np.append(kind[told], np.full(len(groups), APART, np.int8)),
        np.concatenate([rows[told], three_columns(np.column_stack([stops - sizes, stops]))]),
        np.append(weight[told], group_weight),
        np.concatenate([np.empty(0, np.int64), *groups]),
        None if names is None else len(names),
        names,
        provenance,
        skipped,
    )


def _kind_of(word: Any) -> int | None:
    return KIND_OF_WORD.get(text_of(word).strip().lower())


def _warn_of_unknown(source: str, n_left_out: int, n_short: int) -> None:
    groups = f", and {n_short} groups lack members" if n_short else ""
    warnings.warn(
        f"{source}: {n_left_out} statements name an id that no row has and are left out{groups}.",
        ConstraintsIgnoredWarning,
        stacklevel=3,
    )


def _parse_groups(
    table: Table, position_of: Callable[[Any], int], problems: _Problems, skip_unknown: bool
) -> tuple[list[IntArray], int]:
    """The groups by position, and how many of them lack members that no row has."""
    groups, n_short = [], 0
    for g, members in enumerate(table.groups):
        found, n_unknown = [], 0
        for value in members:
            try:
                found.append(position_of(value))
            except LookupError as error:
                n_unknown += 1
                if not (skip_unknown and isinstance(error, UnknownIdError)):
                    problems.add(f"apart[{g}]", error.args[0])
        n_short += n_unknown > 0
        if len(members) < 2 or len(set(found)) < len(found):
            problems.add(f"apart[{g}]", "a group needs two or more different samples")
        groups.append(np.array(found, dtype=np.int64))
    return groups, n_short


def position_reader(ids: Any) -> tuple[npt.NDArray[Any] | None, Callable[[Any], int]]:
    """The ids as an array, and the function from a value in the file to a position."""
    if ids is None:
        return None, _position
    values = list(ids)
    names = np.empty(len(values), dtype=object)
    names[:] = values
    position: dict[str, int] = {}
    problems = _Problems("ids")
    for i, value in enumerate(values):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            problems.add(f"row {i}", "the id is missing")
        elif position.setdefault(text_of(value), i) != i:
            problems.add(
                f"row {i}", f"{_shown(value)} stands already at row {position[text_of(value)]}"
            )
    problems.raise_if_any()

    def lookup(value: Any) -> int:
        if value is None:
            raise LookupError("is missing")
        name = text_of(value)
        if name in position:
            return position[name]
        if not alike:
            alike.update(_alike(position))
        same = alike.get(_plain_form(name), [])
        if len(same) == 1 and _composed(same[0]) == _composed(name):
            return position[same[0]]  # é written as one character or as two
        hint = _did_you_mean(name, same, position)
        raise UnknownIdError(f"{_shown(value)} is not among the {len(position)} ids{hint}")

    alike: dict[str, list[str]] = {}  # made when the first name is not found
    return names, lookup


def _alike(names: Iterable[str]) -> dict[str, list[str]]:
    """Names by what is left when case, spaces, leading zeros and ways to write é are put aside."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(_plain_form(name), []).append(name)
    return found


def _plain_form(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name).casefold().strip().lstrip("0")
    return re.sub(r"\.0+$", "", plain)  # a spreadsheet's 7.0


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _did_you_mean(name: str, same: list[str], position: Iterable[str]) -> str:
    close = same[:1]
    if not close and len(known := list(position)) <= MAX_COMPARED:
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
    return f" (did you mean {_shown(close[0])}?)" if close else ""


def _position(value: Any) -> int:
    if value is None:
        raise LookupError("is missing")
    text = text_of(value).strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise LookupError(f"{_shown(value)} is not a position (0, 1, 2, …)")
    return int(text)


def _weight(value: Any, where: str, problems: _Problems) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = math.nan
    if not (math.isfinite(weight) and weight > 0):
        problems.add(where, f"weight {_shown(value)} is not a positive number")
        return 1.0
    return weight


def text_of(value: Any) -> str:
    """The text under which ids are compared: 7, 7.0 and '7' are the same id."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _shown(value: Any) -> str:
    text = repr(str(value)) if value is not None else "(none)"
    return text if len(text) <= 60 else text[:57] + "...'"
