"""The user's table as it was written, to put the clusters beside its cells."""

import csv
from collections.abc import Sequence
from typing import Any, NamedTuple

from conclust.cli._errors import BadInput
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


def read_cells(table: Table, separator: str | None, option: str) -> Cells:
    """The cells of a table as they are written in its file.

    Parameters
    ----------
    table : Table
    separator : str or None
        Of a CSV file, where the user named it.
    option : str
        What the user asked for, to name in errors.
    """
    suffix = table.path.suffix.lower()
    if suffix in (".npy", ".npz"):
        raise BadInput(f"{option}: {table.path.name} holds an array, no table; leave {option} out.")
    if suffix == ".parquet":
        import pandas as pd

        frame = pd.read_parquet(table.path)
        rows = frame.astype(object).where(frame.notna(), "").to_numpy().tolist()
        return Cells([str(name) for name in frame.columns], rows)
    return _text_cells(table, separator, option)


def _text_cells(table: Table, separator: str | None, option: str) -> Cells:
    with table.path.open(newline="", encoding="utf-8-sig") as file:
        if separator is None:
            separator = _separator(table, file.readline())
            file.seek(0)
        header, *rows = [row for row in csv.reader(file, delimiter=separator) if row]
    if len(rows) != len(table):
        raise BadInput(
            f"{option}: {table.path.name} reads as {len(rows)} lines of cells, but has "
            f"{len(table)} rows; leave {option} out, or put quotes around cells with line breaks."
        )
    return Cells(header, [row + [""] * (len(header) - len(row)) for row in rows])


def _separator(table: Table, header: str) -> str:
    from conclust.cli._table import _separator as separator_of

    return "\t" if table.path.suffix.lower() == ".tsv" else separator_of(table.path, header)
