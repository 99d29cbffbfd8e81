"""What a project is about: rows as numbers, and as people see them."""

import hashlib
import heapq
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from conclust.exceptions import SessionError

if TYPE_CHECKING:
    import pandas as pd

MAX_COLUMNS = 200  # shown of a row
MAX_CHARACTERS = 10_000  # of a cell; more is not read in a question
N_LOOKED_AT = 1_000  # cells, to say what a column holds
MAX_LEVELS, LONG = 50, 60  # more values than this, or longer ones, are texts
MOST = 0.9  # of the cells, for a column to be of a kind
LINK = re.compile(r"https?://\S+")
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
IMAGES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
}


@dataclass(frozen=True)
class Data:
    """A table.

    Attributes
    ----------
    name : str
        What it is called, such as the name of its file.
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        The numbers that are clustered.
    frame : DataFrame or None
        The cells that people see; X by default.
    ids : list of str or None
        Names of the rows; their positions by default.
    id_column : str or None
        The column that `ids` were taken from.
    notes, warnings : list of str
        What was done to the table, and what is wrong with it.
    used : DataFrame or None
        The columns that are clustered by, numbers as numbers, to describe clusters; X by default.
    numbers, categories, texts : list of str
        Columns of `used`, by what they are.
    features : list of str
        Names of the columns of X, where they are known.
    transformer : transformer or None
        What made X of a table, for the model.
    images : Path or None
        The only folder that images are shown from.
    """

    name: str
    X: Any
    frame: "pd.DataFrame | None" = None
    ids: list[str] | None = None
    id_column: str | None = None
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    used: "pd.DataFrame | None" = None
    numbers: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    transformer: Any = None
    images: Path | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    def row_name(self, row: int) -> str:
        """What a row is called.

        Parameters
        ----------
        row : int
            Its position.

        Returns
        -------
        str
            Its id; without ids its position.
        """
        return str(row) if self.ids is None else self.ids[row]

    def find(self, text: str, n: int) -> list[int]:
        """Rows of that name; then those whose names begin with it, then those that hold it.

        Parameters
        ----------
        text : str
            The name, or a part of it, in any case.
        n : int
            How many rows at most.

        Returns
        -------
        list of int
            Their positions.
        """
        wanted = text.casefold()
        names = (self.row_name(row).casefold() for row in range(self.n_rows))
        ranks = (
            (name != wanted, not name.startswith(wanted), row)
            for row, name in enumerate(names)
            if wanted in name
        )
        return [row for *_, row in heapq.nsmallest(n, ranks)]

    @cached_property
    def kinds(self) -> dict[str, str]:
        """What each column holds: number, category, text, link, image or date."""
        if self.frame is None:
            return dict.fromkeys(self._features_shown, "number")
        names = self.frame.columns[:MAX_COLUMNS]
        return {str(name): self._kind(self.frame[name]) for name in names}

    @property
    def _features_shown(self) -> list[str]:
        n_shown = min(self.X.shape[1], MAX_COLUMNS)
        return self.features[:n_shown] or [f"x{i}" for i in range(n_shown)]

    def _kind(self, column: Any) -> str:
        from pandas.api import types

        if types.is_datetime64_any_dtype(column):
            return "date"
        if types.is_numeric_dtype(column):
            return "number"
        cells = [shown(cell) for cell in column.dropna().iloc[:N_LOOKED_AT]]
        cells = [cell for cell in cells if cell]
        if _most(cells, _is_number):
            return "number"
        if _most(cells, LINK.fullmatch):
            return "link"
        if _most(cells, DATE.fullmatch):
            return "date"
        if self.images is not None and _most(cells, self._image):
            return "image"
        few = len(set(cells)) <= MAX_LEVELS and column.nunique() <= MAX_LEVELS
        is_short = max(map(len, cells), default=0) <= LONG
        return "category" if few and is_short else "text"

    # ------------------------------------------------------------------ one row

    def fields(self, row: int) -> list[dict[str, Any]]:
        """The cells of a row, as they are shown.

        Parameters
        ----------
        row : int
            Its position.

        Returns
        -------
        list of dict
            ``column``, ``type`` and ``value`` of each; ``url`` of a link or an image, ``cut`` where
            a text was too long.
        """
        return [self._field(name, cell, row) for name, cell in self._cells(row)]

    def _cells(self, row: int) -> list[tuple[str, str]]:
        if self.frame is not None:
            values = self.frame.iloc[row, :MAX_COLUMNS].tolist()
            return [(n, shown(value)) for n, value in zip(self.kinds, values, strict=True)]
        found = self.X[[row]]
        values = (found.toarray() if sp.issparse(found) else np.asarray(found)).ravel()
        return [(n, shown(float(v))) for n, v in zip(self.kinds, values, strict=False)]

    def _field(self, name: str, cell: str, row: int) -> dict[str, Any]:
        kind = self.kinds[name]
        found: dict[str, Any] = {"column": name, "type": kind, "value": cell[:MAX_CHARACTERS]}
        if len(cell) > MAX_CHARACTERS:
            found["cut"] = True
        if kind == "link" and LINK.fullmatch(cell):
            found["url"] = cell
        if kind == "image" and self._image(cell):
            found["url"] = f"/image/{list(self.kinds).index(name)}/{row}"
        return found

    def image(self, column: int, row: int) -> Path:
        """The image in a cell.

        Parameters
        ----------
        column : int
            Its place among the columns shown.
        row : int
            Its position.

        Returns
        -------
        Path
            The file, inside `images`.
        """
        kinds = list(self.kinds.items())
        if not (0 <= column < len(kinds) and 0 <= row < self.n_rows):
            raise SessionError(f"There is no column {column} or no row {row}.")
        found = None
        if kinds[column][1] == "image" and self.frame is not None:
            found = self._image(shown(self.frame.iat[row, column]))
        if found is None:
            raise SessionError(f"Row {row} has no image in column {column}.")
        return found

    def _image(self, cell: str) -> Path | None:
        """The file that a cell names, if it is an image inside the folder."""
        assert self.images is not None
        if "\0" in cell or len(cell) > 1_000:
            return None
        folder = self.images.resolve()
        path = (folder / cell).resolve()  # follows links out of the folder, and .., and is caught
        is_inside = path.is_relative_to(folder) and path.suffix.lower() in IMAGES
        return path if is_inside and path.is_file() else None

    def fingerprint(self) -> str:
        """A checksum of the rows, by which a project knows them again.

        Returns
        -------
        str
            Of numbers and ids.
        """
        digest = hashlib.sha256(repr((self.X.shape, self.ids)).encode("utf-8", "replace"))
        X = self.X
        for array in (X.indptr, X.indices, X.data) if sp.issparse(X) else (X,):
            wide = np.float64 if array.dtype.kind == "f" else np.int64
            digest.update(np.ascontiguousarray(array, dtype=wide).data)
        return digest.hexdigest()


def shown(value: Any) -> str:
    """A cell as text; empty where it is missing."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    text = str(value)
    return "" if text in ("NaT", "<NA>") else text


def _most(cells: list[str], is_one: Any) -> bool:
    return bool(cells) and sum(bool(is_one(cell)) for cell in cells) >= MOST * len(cells)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
