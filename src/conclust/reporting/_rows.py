"""Rows as a reader sees them: a name, a cluster and the main columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from conclust._typical import outwards
from conclust.reporting._profiles import as_words, named_columns, shown_number

if TYPE_CHECKING:
    import pandas as pd

N_TEXTS = 2  # columns of running text shown
N_MAIN = 5  # columns that distinguish clusters
N_OTHER = 2  # columns of words that were not clustered by but tell a reader what the row is
MAX_CELL = 200  # characters
DIFFERS = 0.5  # standard deviations
N_TYPICAL = 3  # rows per cluster
N_NEAREST = 20  # rows looked at for as many different ones


class Cell(NamedTuple):
    """One value of a row."""

    text: str
    differs: bool = False  # from the other rows shown beside it


class Row(NamedTuple):
    """One row, to look at."""

    name: str
    cluster: int
    cells: list[Cell]


class Window:
    """The main columns of a table, through which its rows are shown.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
    names : sequence of shape (n_samples,)
        Of the rows.
    labels : ndarray of shape (n_samples,)
    main : sequence of str
        Columns that distinguish clusters, the strongest first.
    columns : sequence of str, default=None
        Names of the columns of X.
    frame : DataFrame, default=None
        The columns as the user has them; those of X are shown otherwise.
    texts : sequence of str
        Columns of `frame` with running text.
    used : sequence of str
        Columns of `frame` that were clustered by.
    """

    def __init__(
        self,
        X: Any,
        names: Sequence[Any],
        labels: Any,
        main: Sequence[str],
        *,
        columns: Sequence[str] | None = None,
        frame: "pd.DataFrame | None" = None,
        texts: Sequence[str] = (),
        used: Sequence[str] = (),
    ):
        self._names, self._labels, self._main = names, labels, set(main)
        if frame is None:
            self._frame = _frame_of(X, main, columns)
            self.columns = list(self._frame.columns)
        else:
            self.columns = _shown_columns(frame, main, texts, used)
            self._frame = frame[self.columns]
        self._spread = {
            name: float(np.nanstd(_numbers(column)))
            for name, column in self._frame.items()
            if is_numeric(column)
        }

    def name(self, i: int) -> str:
        """What a row is called."""
        return str(self._names[i])

    def cluster(self, i: int) -> int:
        """The cluster of a row, -1 for none."""
        return int(self._labels[i])

    def row(self, i: int) -> Row:
        """One row by itself."""
        return Row(self.name(i), self.cluster(i), [Cell(self._text(c, i)) for c in self.columns])

    def beside(self, rows: Sequence[int]) -> list[Row]:
        """Rows to compare: values that differ are marked."""
        differs = [self._differ(name, rows) for name in self.columns]
        return [
            row._replace(
                cells=[Cell(c.text, d) for c, d in zip(row.cells, differs, strict=True)],
            )
            for row in map(self.row, rows)
        ]

    def _text(self, name: str, i: int) -> str:
        value = self._frame[name].iloc[i]
        if _is_missing(value):
            return ""
        if name in self._spread:
            return shown_number(float(value))
        # Few dates have a time of day, and those that have none need not show it.
        text = " ".join(str(value).removesuffix(" 00:00:00").split())
        return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"

    def _differ(self, name: str, rows: Sequence[int]) -> bool:
        if name not in self._main:
            return False  # texts and notes nearly always differ
        values = self._frame[name].iloc[list(rows)]
        if name in self._spread:
            numbers = _numbers(values)
            if np.isnan(numbers).any():
                return not np.isnan(numbers).all()
            return bool(np.ptp(numbers) > DIFFERS * self._spread[name])
        return as_words(values, "").nunique() > 1


def _frame_of(X: Any, main: Sequence[str], columns: Sequence[str] | None) -> "pd.DataFrame":
    import pandas as pd

    if sp.issparse(X):
        return pd.DataFrame(index=range(X.shape[0]))  # rows of terms say nothing column by column
    place = {name: i for i, name in enumerate(named_columns(X, columns))}
    shown = [name for name in main if name in place][:N_MAIN]
    return pd.DataFrame(X[:, [place[name] for name in shown]], columns=shown)


def _shown_columns(
    frame: "pd.DataFrame", main: Sequence[str], texts: Sequence[str], used: Sequence[str]
) -> list[Any]:
    shown = [*texts[:N_TEXTS], *[name for name in main if name not in texts][:N_MAIN]]
    # The more values a column of words has, the more it says which row this is.
    n_values = {
        name: column.nunique()
        for name, column in frame.items()
        if name not in {*texts, *used} and not is_numeric(column)
    }
    others = sorted((name for name in n_values if n_values[name] > 1), key=lambda n: -n_values[n])
    return [*shown, *others[:N_OTHER]]


def is_numeric(column: Any) -> bool:
    """Whether a column is of numbers; yes and no are words."""
    from pandas.api import types

    return types.is_numeric_dtype(column) and not types.is_bool_dtype(column)


def _numbers(column: Any) -> Any:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.isna(value))


def typical_rows(X: Any, labels: Any, clusters: Sequence[int], window: Window) -> list[list[Row]]:
    """For each cluster the rows nearest to its mean that do not look the same.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
    clusters : sequence of int
    window : Window

    Returns
    -------
    list of list of Row
        Nearest first.
    """
    found = []
    for cluster in clusters:
        inside = np.flatnonzero(labels == cluster)
        nearest = inside[outwards(X[inside])[:N_NEAREST]]
        rows: dict[tuple[Cell, ...], Row] = {}
        for row in map(window.row, nearest.tolist()):
            rows.setdefault(tuple(row.cells) if window.columns else (Cell(row.name),), row)
        found.append(list(rows.values())[:N_TYPICAL])
    return found
