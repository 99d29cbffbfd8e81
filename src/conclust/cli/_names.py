"""``--names``: what the user calls the clusters."""

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conclust.cli._errors import BadInput
from conclust.cli._join import read_cells
from conclust.cli._options import TableOptions
from conclust.cli._table import Table

WAY_OUT = "write 0=Loyal,1=New, or name a file with the columns cluster,name, or a column"


def names_of(given: str | None) -> dict[str, str]:
    """The name of each cluster by its number, from ``0=Loyal,1=New`` or a CSV or JSON file."""
    if given is None or is_column(given):
        return {}
    path = Path(given)
    named = _from_file(path) if path.is_file() else _from_text(given)
    names = {str(label).strip(): str(name).strip() for label, name in named.items()}
    for label, name in names.items():
        if not label.isdecimal() or not name:
            raise BadInput(f"--names: {label!r} = {name!r} does not name a cluster; {WAY_OUT}.")
    return {str(int(label)): name for label, name in names.items()}


def is_column(given: str | None) -> bool:
    """Whether a column of the table is meant."""
    return given is not None and "=" not in given and not Path(given).is_file()


def classes_of(column: str | None, table: Table, options: TableOptions) -> list[Any]:
    """What the rows are known to be, by a column of the table; empty where nothing is known."""
    cells = read_cells(table, options, "--names")
    header = [name.strip() for name in cells.header]
    if column not in header:
        raise BadInput(
            f"--names {column}: neither names, nor a file, nor a column of {table.path.name}; "
            f"{WAY_OUT}."
        )
    return [row[header.index(column)] for row in cells.rows]


def check_names(names: Mapping[str, str], n_clusters: int) -> None:
    """No names for clusters that there will not be."""
    for label in names:
        if int(label) >= n_clusters:
            raise BadInput(
                f"--names: there is no cluster {label}; {n_clusters} clusters are numbered "
                f"0 to {n_clusters - 1}."
            )


def _from_text(given: str) -> dict[str, str]:
    named = {}
    for part in re.split(r",(?=[^,=]*=)", given):  # a name may hold commas
        label, _, name = part.partition("=")
        named[label] = name
    return named


def _from_file(path: Path) -> dict[str, str]:
    try:
        content = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".json":
            named = json.loads(content)
            if not isinstance(named, dict):
                raise BadInput(f"--names {path}: JSON must be an object from cluster to name.")
            return named
    except (UnicodeDecodeError, json.JSONDecodeError, OSError, RecursionError) as error:
        raise BadInput(f"--names {path}: cannot be read ({error}); {WAY_OUT}.") from error
    lines = content.splitlines()
    separator = next((s for s in "\t;," if s in (lines[0] if lines else "")), ",")
    rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    if rows and not rows[0][0].strip().isdecimal():
        rows = rows[1:]  # the header
    short = next((row for row in rows if len(row) < 2), None)
    if short is not None or not rows:
        found = repr(separator.join(short)) if short else "no line"
        raise BadInput(f"--names {path}: found {found}; {WAY_OUT}.")
    return {row[0]: row[1] for row in rows}
