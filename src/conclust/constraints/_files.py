"""Constraints in files and frames: names to positions and back.

Reading goes file → `Table` (columns of text, and where each row stands) → `Parsed` (positions);
nothing is guessed on the way, and every complaint names its line.
"""

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._atomic import atomic_write
from conclust.constraints._rows import N_SHOWN, FloatArray, IntArray
from conclust.exceptions import InvalidConstraintsError

if TYPE_CHECKING:
    import pandas as pd

    from conclust.constraints._constraints import Constraints

MAX_LINE = 1 << 20  # bytes; no statement is that long, and a line must fit in memory
MAX_JSON = 1 << 30  # bytes; JSON is read whole

KINDS = {
    **dict.fromkeys(("must-link", "must_link", "ml", "must", "same", "1", "+1"), 1),
    **dict.fromkeys(("cannot-link", "cannot_link", "cl", "cannot", "different", "-1"), -1),
    **dict.fromkeys(("relative", "triplet"), 2),
    **dict.fromkeys(("skip", "unsure"), 0),
}
LONG_NAMES = {1: "must-link", -1: "cannot-link", 2: "relative"}
STATEMENT_COLUMNS = ("a", "b", "c", "type", "weight")


class Table(NamedTuple):
    """Statements as read, before names are resolved."""

    source: str
    columns: dict[str, list[Any]]
    where: Callable[[int], str]  # row -> "line 7"
    groups: list[list[Any]]
    group_weight: list[Any]


class Parsed(NamedTuple):
    """Statements by position."""

    kind: npt.NDArray[np.int8]
    rows: IntArray
    weight: FloatArray
    groups: list[IntArray]
    group_weight: FloatArray
    ids: npt.NDArray[Any] | None
    n_samples: int | None
    provenance: dict[str, npt.NDArray[Any]]
    skipped: list[dict[str, Any]]


# ---------------------------------------------------------------------- reading


def read_table(path: Path) -> Table:
    """Read a file by its suffix."""
    readers: dict[str, Callable[[Path], Table]] = {
        ".csv": lambda p: _read_separated(p, ","),
        ".tsv": lambda p: _read_separated(p, "\t"),
        ".json": _read_json,
        ".jsonl": _read_jsonl,
    }
    return _by_suffix(path, readers)(path)


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
    said = [KINDS.get(text_of(t).strip().lower()) != 0 for t in table.columns.get("type", [])]
    columns = [table.columns.get(name, [None] * len(said)) for name in "abc"]
    values = [v for row in zip(said, *columns, strict=True) if row[0] for v in row[1:]]
    values += [v for group in table.groups for v in group]
    names = dict.fromkeys(text_of(v) for v in values if v is not None)
    return FileSummary(list(names), sum(said) + len(table.groups))


def _by_suffix(path: Path, handlers: dict[str, Any]) -> Any:
    try:
        return handlers[path.suffix.lower()]
    except KeyError:
        raise InvalidConstraintsError(
            f"{path.name}: constraints are kept in {', '.join(handlers)} files; "
            f"the suffix {path.suffix!r} is none of them."
        ) from None


def _lines(path: Path) -> Iterator[str]:
    """Decode line by line, so that a bad byte or an endless line is named and not loaded."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                raise InvalidConstraintsError(
                    f"{path.name} line {number} is longer than {MAX_LINE:,} bytes; "
                    "this is not a file of constraints."
                )
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InvalidConstraintsError(
                    f"{path.name} line {number} is not UTF-8 (byte {line[error.start]:#04x} at "
                    f"column {error.start + 1}); save the file with the encoding UTF-8."
                ) from None


def _read_separated(path: Path, delimiter: str) -> Table:
    reader = csv.reader(_lines(path), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(path.name, header, delimiter)
        columns: dict[str, list[Any]] = {name: [] for name in header}
        line_numbers = []
        for row in reader:
            if not row:
                continue
            if len(row) > len(header):
                raise InvalidConstraintsError(
                    f"{path.name} line {reader.line_num} has {len(row)} fields, but the header "
                    f"has {len(header)}; put quotes around values that hold a separator."
                )
            row += [""] * (len(header) - len(row))
            for name, value in zip(header, row, strict=True):
                columns[name].append(value if value != "" else None)
            line_numbers.append(reader.line_num)
    except csv.Error as error:
        raise InvalidConstraintsError(f"{path.name} line {reader.line_num}: {error}.") from None
    return Table(path.name, columns, lambda i: f"line {line_numbers[i]}", [], [])


def _check_header(source: str, header: Sequence[str], delimiter: str = ",") -> None:
    if not any(header):
        raise InvalidConstraintsError(
            f"{source} is empty; the first line must be a header `a,b,type`."
        )
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InvalidConstraintsError(f"{source} has the column {twice[0]!r} more than once.")
    missing = [name for name in ("a", "b", "type") if name not in header]
    if missing:
        hint = (
            " The header looks separated by semicolons; save it with commas."
            if (delimiter == "," and len(header) == 1 and ";" in header[0])
            else ""
        )
        raise InvalidConstraintsError(
            f"{source} has no column {', '.join(map(repr, missing))}; the header must name "
            f"a, b, type (and may name c, weight, who, when, note). Found: "
            f"{', '.join(header)[:200]}.{hint}"
        )


def _read_jsonl(path: Path) -> Table:
    records, line_numbers = [], []
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        record = _loads(line, f"{path.name} line {number}")
        if not isinstance(record, dict):
            raise InvalidConstraintsError(
                f"{path.name} line {number} is not an object such as "
                '{"a": 0, "b": 1, "type": "must-link"}.'
            )
        records.append(record)
        line_numbers.append(number)
    names = list(dict.fromkeys(name for record in records for name in record))
    if records:
        _check_header(path.name, names)
    columns = {name: [record.get(name) for record in records] for name in names}
    return Table(path.name, columns, lambda i: f"line {line_numbers[i]}", [], [])


def _read_json(path: Path) -> Table:
    if path.stat().st_size > MAX_JSON:
        raise InvalidConstraintsError(
            f"{path.name} is larger than {MAX_JSON:,} bytes; write large sets as CSV."
        )
    content = _loads("".join(_json_chunks(path)), path.name)
    if not isinstance(content, dict) or content.get("version") != 1:
        raise InvalidConstraintsError(
            f'{path.name} is not an object with "version": 1, such as '
            '{"version": 1, "must_link": [[0, 1]], "cannot_link": []}.'
        )
    columns: dict[str, list[Any]] = {name: [] for name in STATEMENT_COLUMNS}
    places: list[str] = []
    for key, kind, width in (
        ("must_link", "must-link", 2),
        ("cannot_link", "cannot-link", 2),
        ("relative", "relative", 3),
    ):
        rows = _list_of_rows(content, key, path.name, width)
        columns["a"] += [row[0] for row in rows]
        columns["b"] += [row[1] for row in rows]
        columns["c"] += [row[2] if width == 3 else None for row in rows]
        columns["type"] += [kind] * len(rows)
        columns["weight"] += _weights_of(content, f"{key}_weight", len(rows), path.name)
        places += [f"{key}[{i}]" for i in range(len(rows))]
    for name, values in (content.get("provenance") or {}).items():
        if not isinstance(values, list) or len(values) != len(places):
            raise InvalidConstraintsError(
                f"{path.name}: provenance {name!r} must be a list of {len(places)} entries, "
                "one per statement (must-links, cannot-links, relative)."
            )
        columns[str(name)] = values
    order = content.get("order")
    if order is not None:
        if not isinstance(order, list) or sorted(order) != list(range(len(places))):
            raise InvalidConstraintsError(
                f"{path.name}: order must list each of 0..{len(places) - 1} once."
            )
        columns = {name: [values[i] for i in order] for name, values in columns.items()}
        places = [places[i] for i in order]
    for record in content.get("skipped") or []:
        for name in columns:
            columns[name].append(record.get(name))
        places.append("skipped")
    groups = _list_of_rows(content, "apart", path.name, None)
    weights = _weights_of(content, "apart_weight", len(groups), path.name)
    return Table(path.name, columns, places.__getitem__, groups, weights)


def _json_chunks(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        try:
            yield file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidConstraintsError(
                f"{path.name} is not UTF-8 (byte {error.start}); save it with the encoding UTF-8."
            ) from None


def _loads(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidConstraintsError(
            f"{where} is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from None
    except RecursionError:
        raise InvalidConstraintsError(f"{where} is nested too deeply to be constraints.") from None


def _list_of_rows(content: dict[str, Any], key: str, source: str, width: int | None) -> list[Any]:
    rows = content.get(key) or []
    if not isinstance(rows, list):
        raise InvalidConstraintsError(f"{source}: {key} must be a list of rows.")
    for i, row in enumerate(rows):
        if not isinstance(row, list) or (width is not None and len(row) != width):
            size = f"{width} samples" if width else "samples"
            raise InvalidConstraintsError(
                f"{source}: {key}[{i}] must be a list of {size}; got {json.dumps(row)[:60]}."
            )
    return rows


def _weights_of(content: dict[str, Any], key: str, n: int, source: str) -> list[Any]:
    weights = content.get(key)
    if weights is None:
        return [None] * n
    if not isinstance(weights, list) or len(weights) != n:
        raise InvalidConstraintsError(f"{source}: {key} must be a list of {n} weights.")
    return weights


def table_from_frame(frame: "pd.DataFrame") -> Table:
    """Take the columns of a frame."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame must be a pandas DataFrame; got {type(frame).__name__}.")
    _check_header("The frame", [str(name) for name in frame.columns])
    columns = {
        str(name): [
            None if missing else value
            for value, missing in zip(frame[name].tolist(), frame[name].isna(), strict=True)
        ]
        for name in frame.columns
    }
    index = frame.index
    return Table("The frame", columns, lambda i: f"row {index[i]!r}", [], [])


# ---------------------------------------------------------------------- names to positions


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


def parse(table: Table, ids: Any = None) -> Parsed:
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
        code = KINDS.get(text_of(types[i]).strip().lower())
        if code is None:
            problems.add(
                table.where(i),
                f"type {_shown(types[i])} is none of must-link, cannot-link, relative, skip",
            )
            continue
        kind[i] = code
        if code == 0:
            continue
        values = [columns["a"][i], columns["b"][i]]
        if code == 2:
            values.append(third[i])
        elif third[i] is not None:
            problems.add(table.where(i), f"a {LONG_NAMES[code]} has no third sample c")
        for column, value in enumerate(values):
            try:
                rows[i, column] = position_of(value)
            except LookupError as error:
                problems.add(table.where(i), f"{'abc'[column]} {error.args[0]}")
        a, b, c = rows[i]
        if code != 2 and a == b >= 0:
            problems.add(table.where(i), f"{_shown(values[0])} is linked to itself")
        elif code == 2 and a != b and c >= 0 and c in (a, b):
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
    said = kind != 0
    extra = [name for name in columns if name not in STATEMENT_COLUMNS]
    skipped = [
        {name: values[i] for name, values in columns.items() if values[i] is not None}
        for i in np.flatnonzero(~said)
    ]
    provenance = {}
    for name in extra:
        cells = np.empty(n, dtype=object)
        cells[:] = columns[name]
        provenance[name] = cells[said]
    return Parsed(
        kind[said],
        rows[said],
        weight[said],
        groups,
        group_weight,
        names,
        None if names is None else len(names),
        provenance,
        skipped,
    )


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


# ---------------------------------------------------------------------- positions to names


def to_frame(constraints: "Constraints", ids: Any = None) -> "pd.DataFrame":
    """Write out the statements as a frame; see :meth:`conclust.Constraints.to_frame`."""
    import pandas as pd

    columns = _columns(constraints, ids)
    if constraints.ids is None and ids is None and None in columns.get("c", ()):
        columns["c"] = pd.array(columns["c"], dtype="Int64")
    return pd.DataFrame(columns)


def _columns(constraints: "Constraints", ids: Any) -> dict[str, Any]:
    """The columns of the table, in order; None where a cell is empty."""
    statement, kind, rows = _listed(constraints)
    names = _names(constraints, ids)
    columns: dict[str, Any] = {}
    for name, at in zip("abc", rows.T, strict=True):
        if name == "c" and not (kind == 2).any():
            continue
        column = at.astype(object) if names is None else names[at]
        column[at < 0] = None
        columns[name] = column.tolist()
    columns["type"] = [LONG_NAMES[k] for k in kind.tolist()]
    columns["weight"] = constraints.weight[statement].tolist()
    for name, values in constraints.provenance.items():
        columns[name] = values[statement].tolist()
    return columns


def _listed(constraints: "Constraints") -> tuple[IntArray, npt.NDArray[np.int8], IntArray]:
    """Statements as rows of samples, groups written out: statement, kind, samples."""
    pairs = constraints.pairs()
    relative = np.flatnonzero(constraints.kinds == "relative")
    statement = np.concatenate([pairs.statement, relative])
    kind = np.concatenate([pairs.sign, np.full(len(relative), 2, dtype=np.int8)])
    padded = np.column_stack([pairs.pairs, np.full(len(pairs.pairs), -1, dtype=np.int64)])
    rows = np.concatenate([padded, constraints.relative])
    order = np.argsort(statement, kind="stable")
    return statement[order], kind[order], rows[order]


def _names(constraints: "Constraints", ids: Any) -> npt.NDArray[Any] | None:
    if ids is None:
        return constraints.ids
    names, _ = position_reader(ids)
    assert names is not None
    named = constraints.samples
    needed = constraints.n_samples or (int(named[-1]) + 1 if len(named) else 0)
    if len(names) < needed:
        raise InvalidConstraintsError(
            f"ids has {len(names)} entries, but the constraints are about {needed} samples."
        )
    return names


def write(constraints: "Constraints", path: Path, ids: Any = None) -> None:
    """Write a file by its suffix; see :meth:`conclust.Constraints.write`."""
    writers: dict[str, Callable[[Constraints, IO[str], Any], None]] = {
        ".csv": lambda c, f, i: _write_separated(c, f, i, ","),
        ".tsv": lambda c, f, i: _write_separated(c, f, i, "\t"),
        ".json": _write_json,
        ".jsonl": _write_jsonl,
    }
    writer = _by_suffix(path, writers)
    with atomic_write(path) as file:
        writer(constraints, file, ids)


def _records(constraints: "Constraints", ids: Any) -> tuple[list[str], Iterable[dict[str, Any]]]:
    columns = _columns(constraints, ids)
    names = list(columns)
    for record in constraints.skipped:
        names += [name for name in record if name not in names]

    def records() -> Iterator[dict[str, Any]]:
        for row in zip(*columns.values(), strict=True):
            yield {
                name: value for name, value in zip(columns, row, strict=True) if value is not None
            }
        yield from constraints.skipped

    return names, records()


def _write_separated(constraints: "Constraints", file: IO[str], ids: Any, delimiter: str) -> None:
    names, records = _records(constraints, ids)
    writer = csv.DictWriter(file, names, delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)


def _write_jsonl(constraints: "Constraints", file: IO[str], ids: Any) -> None:
    for record in _records(constraints, ids)[1]:
        file.write(json.dumps(record, ensure_ascii=False, default=_plain) + "\n")


def _write_json(constraints: "Constraints", file: IO[str], ids: Any) -> None:
    names = _names(constraints, ids)

    def named(rows: IntArray) -> list[Any]:
        return (rows if names is None else names[rows]).tolist()

    content: dict[str, Any] = {
        "version": 1,
        "must_link": named(constraints.must_link),
        "cannot_link": named(constraints.cannot_link),
        "relative": named(constraints.relative),
    }
    for key in ("must_link", "cannot_link", "relative", "apart"):
        weight = getattr(constraints, f"{key}_weight")
        if (weight != 1).any():
            content[f"{key}_weight"] = weight.tolist()
    if constraints.apart:
        content["apart"] = [named(group) for group in constraints.apart]
    links = constraints.kinds != "apart"
    # by_kind[p] is the statement written at place p; `order` leads back.
    by_kind = np.concatenate(
        [np.flatnonzero(constraints.kinds == k) for k in ("must-link", "cannot-link", "relative")]
    )
    order = np.argsort(by_kind, kind="stable")
    if (order != np.arange(len(order))).any():
        content["order"] = order.tolist()
    if constraints.provenance and links.any():
        content["provenance"] = {
            name: column[by_kind].tolist() for name, column in constraints.provenance.items()
        }
    if constraints.skipped:
        content["skipped"] = list(constraints.skipped)
    json.dump(content, file, ensure_ascii=False, default=_plain)
    file.write("\n")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
