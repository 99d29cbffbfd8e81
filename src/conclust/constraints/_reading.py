"""Constraints from files and frames: file → `Table`, columns of text and where each row stands.

Nothing is guessed on the way; names are resolved in `_resolving`.
"""

import csv
import io
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from conclust._files import (
    SEPARATORS,
    UnreadableFileError,
    separators_in,
    sheet_of,
    suffixes_of,
    text_of_file,
)
from conclust.exceptions import InvalidConstraintsError

if TYPE_CHECKING:
    import pandas as pd

MAX_LINE = 1 << 20  # characters; no statement is that long
MAX_JSON = 1 << 30  # bytes; JSON and Newick are read whole

STATEMENT_COLUMNS = ("a", "b", "c", "type", "weight")


class Table(NamedTuple):
    """Statements as read, before names are resolved."""

    source: str
    columns: dict[str, list[Any]]
    where: Callable[[int], str]  # row -> "line 7"
    groups: list[list[Any]]
    group_weight: list[Any]


def read_table(path: Path, encoding: str | None = None) -> Table:
    """Read a file by its suffix; one packed with gzip ends in .gz besides."""
    readers: dict[str, Callable[[], Table]] = {
        ".csv": lambda: _read_separated(path, encoding),
        ".tsv": lambda: _read_separated(path, encoding),
        ".txt": lambda: _read_separated(path, encoding),
        ".xlsx": lambda: _read_sheet(path),
        ".json": lambda: _read_json(path, encoding),
        ".jsonl": lambda: _read_jsonl(path, encoding),
        ".nwk": lambda: _read_newick(path, encoding),
        ".newick": lambda: _read_newick(path, encoding),
    }
    try:
        return by_suffix(path, readers, suffixes_of(path)[0])()
    except UnreadableFileError as error:
        raise InvalidConstraintsError(str(error)) from None


def by_suffix(path: Path, handlers: dict[str, Any], suffix: str | None = None) -> Any:
    suffix = path.suffix.lower() if suffix is None else suffix
    try:
        return handlers[suffix]
    except KeyError:
        raise InvalidConstraintsError(
            f"{path.name}: constraints are kept in {', '.join(handlers)} files; "
            f"the suffix {suffix!r} is none of them."
        ) from None


def _lines(path: Path, encoding: str | None) -> Iterator[str]:
    """Line by line, so that an endless line is named and not parsed."""
    text = text_of_file(path, encoding).text
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if len(line) > MAX_LINE:
            raise InvalidConstraintsError(
                f"{path.name} line {number} is longer than {MAX_LINE:,} characters; "
                "this is not a file of constraints."
            )
        yield line


def _read_separated(path: Path, encoding: str | None) -> Table:
    lines = _lines(path, encoding)
    first = next(lines, "")
    delimiter = _separator_of(first)
    reader = csv.reader(itertools.chain([first], lines), delimiter=delimiter, strict=True)
    try:
        header = _header_of(path.name, next(reader, []))
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


def _separator_of(header: str) -> str:
    """The one that makes it the header of a file of constraints; spreadsheets differ in it."""
    for separator in SEPARATORS:
        names = [name.strip(' "\r\n').lower() for name in header.split(separator)]
        if {"a", "b", "type"} <= set(names):
            return separator
    return (separators_in(header) or [","])[0]


def _read_sheet(path: Path) -> Table:
    rows = sheet_of(path).rows
    header = _header_of(path.name, ["" if c is None else str(c) for c in (rows or [[]])[0]])
    columns: dict[str, list[Any]] = {name: [] for name in header}
    places = []
    for number, row in enumerate(rows[1:], start=2):
        if any(cell is not None for cell in row):
            for name, value in zip(header, row, strict=True):
                columns[name].append(value if value != "" else None)
            places.append(f"row {number}")
    return Table(path.name, columns, places.__getitem__, [], [])


def _header_of(source: str, found: Sequence[str]) -> list[str]:
    """The names of the columns; A, B, Type are a, b, type."""
    header = [name.strip() for name in found]
    header = [
        name.lower() if name.lower() in STATEMENT_COLUMNS and name.lower() not in header else name
        for name in header
    ]
    _check_header(source, header)
    return header


def _check_header(source: str, header: Sequence[str]) -> None:
    if not any(header):
        raise InvalidConstraintsError(
            f"{source} is empty; the first line must be a header `a,b,type`."
        )
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InvalidConstraintsError(f"{source} has the column {twice[0]!r} more than once.")
    missing = [name for name in ("a", "b", "type") if name not in header]
    if missing:
        raise InvalidConstraintsError(
            f"{source} has no column {', '.join(map(repr, missing))}; the header must name "
            f"a, b, type (and may name c, weight, who, when, note). Found: "
            f"{', '.join(header)[:200]}."
        )


def _read_jsonl(path: Path, encoding: str | None) -> Table:
    records, line_numbers = [], []
    for number, line in enumerate(_lines(path, encoding or "utf-8-sig"), start=1):
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


def _read_newick(path: Path, encoding: str | None) -> Table:
    return _statements_of_tree(_whole_text(path, encoding), path.name)


def _statements_of_tree(tree: Any, source: str) -> Table:
    """A taxonomy as relative statements about its leaves."""
    from conclust.constraints._hierarchy import statements_in  # which resolves names, as we do not

    try:
        leaves, triplets = statements_in(tree)
    except InvalidConstraintsError as error:
        raise InvalidConstraintsError(f"{source}: {error}") from None
    columns = {name: [leaves[i] for i in triplets[:, at]] for at, name in enumerate("abc")}
    columns["type"] = ["relative"] * len(triplets)
    return Table(source, columns, lambda i: f"statement {i + 1} of the hierarchy", [], [])


def _is_tree(content: Any, source: str) -> bool:
    """Whether JSON holds a taxonomy: dicts of branches, or lists that cannot be rows of links."""
    if isinstance(content, dict):
        keys = {key.lower().replace("-", "_") for key in content}
        return bool(keys) and not keys & {
            "version",
            "must_link",
            "cannot_link",
            "relative",
            "apart",
        }
    if not isinstance(content, list) or not content:
        return False
    if all(
        isinstance(row, list) and len(row) in (2, 3) and not any(isinstance(x, list) for x in row)
        for row in content
    ):
        raise InvalidConstraintsError(
            f'{source} is a list that may be links or a hierarchy. Write {{"version": 1, '
            '"must_link": [[0, 1]], "cannot_link": []}, or {"hierarchy": [[0, 1], [2, 3]]}.'
        )
    return True


def _whole_text(path: Path, encoding: str | None) -> str:
    if path.stat().st_size > MAX_JSON:
        raise InvalidConstraintsError(
            f"{path.name} is larger than {MAX_JSON:,} bytes; write large sets as CSV."
        )
    return text_of_file(path, encoding or "utf-8-sig").text


def _read_json(path: Path, encoding: str | None) -> Table:
    content = _loads(_whole_text(path, encoding), path.name)
    if _is_tree(content, path.name):
        return _statements_of_tree(content, path.name)
    if not isinstance(content, dict) or content.get("version") != 1:
        raise InvalidConstraintsError(
            f'{path.name} is not an object with "version": 1, such as '
            '{"version": 1, "must_link": [[0, 1]], "cannot_link": []}, nor a hierarchy such as '
            '{"cats": ["ann", "bob"], "dogs": {"big": ["cid", "dan"], "small": ["eve"]}}.'
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


def _loads(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidConstraintsError(
            f"{where} is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from None
    except RecursionError:
        raise InvalidConstraintsError(
            f"{where} is nested too deeply to be constraints; write a deep hierarchy as Newick "
            "text, in a .nwk file."
        ) from None


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
    header = _header_of("The frame", [str(name) for name in frame.columns])
    columns = {
        name: [
            None if missing else value
            for value, missing in zip(column.tolist(), column.isna(), strict=True)
        ]
        for name, (_, column) in zip(header, frame.items(), strict=True)
    }
    index = frame.index
    return Table("The frame", columns, lambda i: f"row {index[i]!r}", [], [])
