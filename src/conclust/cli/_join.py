"""The user's table as it was written, to put the clusters beside its cells."""

import csv
import io
from collections.abc import Sequence
from typing import Any, NamedTuple

from conclust._files import separators_in, sheet_of, suffixes_of, text_of_file
from conclust.cli._errors import BadInput
from conclust.cli._options import TableOptions
from conclust.cli._table import Table


class Cells(NamedTuple):
    """A table as text."""

    header: list[str]
    rows: list[list[Any]]

    def joined(self, added: dict[str, Sequence[Any]]) -> "Cells":
        """With further columns; one that there is already gets a number behind its name."""
        names = [_free(name, self.header) for name in added]
        values = zip(*added.values(), strict=True)
        rows = [[*row, *more] for row, more in zip(self.rows, values, strict=True)]
        return Cells(self.header + names, rows)


def _free(name: str, taken: Sequence[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def read_cells(table: Table, options: TableOptions, option: str) -> Cells:
    """The cells of a table as they are written in its file.

    Parameters
    ----------
    table : Table
    options : TableOptions
        How the file is written.
    option : str
        What the user asked for, to name in errors.
    """
    suffix = suffixes_of(table.path)[0]
    if suffix in (".npy", ".npz"):
        raise BadInput(f"{option}: {table.path.name} holds an array, no table; leave {option} out.")
    if suffix == ".parquet":
        import pandas as pd

        frame = pd.read_parquet(table.path)
        rows = frame.astype(object).where(frame.notna(), "").to_numpy().tolist()
        return Cells([str(name) for name in frame.columns], rows)
    if suffix == ".xlsx":
        header, *rows = sheet_of(table.path).rows
        names = ["" if name is None else str(name) for name in header]
        return _checked(table, names, rows, option)
    text = text_of_file(table.path, options.encoding).text
    separator = options.separator or _separator(table, text)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    header, *rows = [row for row in lines if row]
    return _checked(table, header, rows, option)


def _checked(table: Table, header: list[str], rows: list[list[Any]], option: str) -> Cells:
    rows = [row for row in rows if any(cell is not None for cell in row)]
    if len(rows) != len(table):
        raise BadInput(
            f"{option}: {table.path.name} reads as {len(rows)} lines of cells, but has "
            f"{len(table)} rows; leave {option} out, or put quotes around cells with line breaks."
        )
    return Cells(header, [row + [""] * (len(header) - len(row)) for row in rows])


def _separator(table: Table, text: str) -> str:
    if suffixes_of(table.path)[0] == ".tsv":
        return "\t"
    found = separators_in(text.split("\n", 1)[0])
    return found[0] if found else ","
