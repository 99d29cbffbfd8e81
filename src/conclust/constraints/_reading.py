"""Constraints from files and frames: file → `Table`, columns of text and where each row stands.

Nothing is guessed on the way; names are resolved in `_resolving`.
"""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from conclust.exceptions import InvalidConstraintsError

if TYPE_CHECKING:
    import pandas as pd

MAX_LINE = 1 << 20  # bytes; no statement is that long, and a line must fit in memory
MAX_JSON = 1 << 30  # bytes; JSON and Newick are read whole

STATEMENT_COLUMNS = ("a", "b", "c", "type", "weight")


class Table(NamedTuple):
    """Statements as read, before names are resolved."""

    source: str
    columns: dict[str, list[Any]]
    where: Callable[[int], str]  # row -> "line 7"
    groups: list[list[Any]]
    group_weight: list[Any]


def read_table(path: Path) -> Table:
    """Read a file by its suffix."""
    readers: dict[str, Callable[[Path], Table]] = {
        ".csv": lambda p: _read_separated(p, ","),
        ".tsv": lambda p: _read_separated(p, "\t"),
        ".json": _read_json,
        ".jsonl": _read_jsonl,
        ".nwk": _read_newick,
        ".newick": _read_newick,
    }
    return by_suffix(path, readers)(path)


def by_suffix(path: Path, handlers: dict[str, Any]) -> Any:
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


def _read_newick(path: Path) -> Table:
    return _statements_of_tree(_text(path), path.name)


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


def _read_json(path: Path) -> Table:
    content = _loads(_text(path), path.name)
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


def _text(path: Path) -> str:
    """The whole of a file."""
    if path.stat().st_size > MAX_JSON:
        raise InvalidConstraintsError(
            f"{path.name} is larger than {MAX_JSON:,} bytes; write large sets as CSV."
        )
    with path.open("rb") as file:
        try:
            return file.read().decode("utf-8-sig")
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
