"""Names to positions: `Table` → `Parsed`; every complaint names its line."""

import math
from collections.abc import Callable
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
from conclust.exceptions import InvalidConstraintsError

SKIPPED = 0  # beside the kinds of statements
KIND_OF_WORD = {
    **dict.fromkeys(("must-link", "must_link", "ml", "must", "same", "1", "+1"), MUST_LINK),
    **dict.fromkeys(("cannot-link", "cannot_link", "cl", "cannot", "different", "-1"), CANNOT_LINK),
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


def summarize_file(path: str | Path) -> FileSummary:
    """List the samples a file of constraints names, for use without the table they are rows of.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    FileSummary
        Its `names` can be the `ids` of :func:`read_constraints`.
    """
    table = read_table(Path(path))
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

    def add(self, where: str, what: str) -> None:
        self.n += 1
        if len(self.found) < N_SHOWN:
            self.found.append(f"{where}: {what}")

    def raise_if_any(self) -> None:
        if self.n:
            more = f"; and {self.n - N_SHOWN} more" if self.n > N_SHOWN else ""
            raise InvalidConstraintsError(f"{self.source}, {'; '.join(self.found)}{more}.")


def resolve(table: Table, ids: Any = None) -> Parsed:
    """Resolve names and types of a table."""
    names, position_of = position_reader(ids)
    problems = _Problems(table.source)
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
    groups = _parse_groups(table, position_of, problems)
    group_weight = np.array(
        [
            1.0 if w is None else _weight(w, f"apart_weight[{g}]", problems)
            for g, w in enumerate(table.group_weight)
        ]
    )
    problems.raise_if_any()
    said = kind != SKIPPED
    extra = [name for name in columns if name not in STATEMENT_COLUMNS]
    skipped = [
        {name: values[i] for name, values in columns.items() if values[i] is not None}
        for i in np.flatnonzero(~said)
    ]
    provenance = {}
    for name in extra:
        cells = np.empty(n, dtype=object)
        cells[:] = columns[name]
        provenance[name] = np.append(cells[said], np.full(len(groups), None))
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    stops = np.cumsum(sizes)
    return Parsed(
        np.append(kind[said], np.full(len(groups), APART, np.int8)),
        np.concatenate([rows[said], three_columns(np.column_stack([stops - sizes, stops]))]),
        np.append(weight[said], group_weight),
        np.concatenate([np.empty(0, np.int64), *groups]),
        None if names is None else len(names),
        names,
        provenance,
        skipped,
    )


def _kind_of(word: Any) -> int | None:
    return KIND_OF_WORD.get(text_of(word).strip().lower())


def _parse_groups(
    table: Table, position_of: Callable[[Any], int], problems: _Problems
) -> list[IntArray]:
    groups = []
    for g, members in enumerate(table.groups):
        group = np.full(len(members), -1, dtype=np.int64)
        for m, value in enumerate(members):
            try:
                group[m] = position_of(value)
            except LookupError as error:
                problems.add(f"apart[{g}]", error.args[0])
        if len(group) < 2 or len(np.unique(group)) < len(group):
            problems.add(f"apart[{g}]", "a group needs two or more different samples")
        groups.append(group)
    return groups


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
        try:
            return position[text_of(value)]
        except KeyError:
            raise LookupError(f"{_shown(value)} is not among the {len(position)} ids") from None

    return names, lookup


def _position(value: Any) -> int:
    if value is None:
        raise LookupError("is missing")
    text = text_of(value).strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise LookupError(
            f"{_shown(value)} is not a position (0, 1, 2, …); if it is an id, pass `ids=`"
        )
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
