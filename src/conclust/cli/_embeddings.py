"""Rows as vectors that somebody else made: a file beside the table, or a column of lists."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from conclust.cli._errors import BadInput
from conclust.cli._options import TableOptions
from conclust.cli._prepare import Prepared

if TYPE_CHECKING:
    from conclust.cli._table import Table


def prepare_embeddings(table: "Table", options: TableOptions) -> Prepared:
    """Take the vectors instead of the columns, scaled to unit length unless `raw`.

    The columns of the table are kept for the report; `--text-col` names those with running text.
    """
    from sklearn.preprocessing import Normalizer, StandardScaler

    source = str(options.embeddings)
    X = _vectors(table, source)
    if X.dtype.kind != "f" or X.dtype.itemsize < 4:
        X = X.astype("float32")
    _check_values(table, source, X)
    shape = f"{source}: {X.shape[0]:,} vectors of {X.shape[1]:,} numbers"
    if options.raw:
        transformer, note = None, f"{shape}, as they are."
    elif options.standardize:
        transformer, note = StandardScaler(), f"{shape}, each number scaled to variance 1."
    else:
        transformer = Normalizer()
        note = f"{shape}, scaled to unit length: directions are compared (--raw: as they are)."
    if transformer is not None:
        X = transformer.fit_transform(X)
    columns = [] if table.frame is None else [str(name) for name in table.frame.columns]
    texts = options.named(columns)["--text-col"]
    left_out = [name for name in columns if name not in texts]
    return Prepared(X, transformer, [], [], texts, left_out, [note], [])


def _vectors(table: "Table", source: str) -> Any:
    """One vector for each row of the table."""
    if source in table.lists:
        return _stacked(table, source)
    from conclust.cli._table import ARRAYS, array_of

    path = Path(source)
    if path.suffix.lower() not in ARRAYS:
        lists = f" Columns of lists here: {', '.join(table.lists)}." if table.lists else ""
        raise BadInput(
            f"--embeddings {source}: takes a .npy or .npz file, or a column of {table.path.name} "
            f"that holds lists of numbers.{lists}"
        )
    if not path.is_file():
        raise BadInput(f"--embeddings {source}: no such file.")
    X, ids = array_of(path)
    if X.shape[0] != len(table):
        raise BadInput(
            f"--embeddings {source} holds {X.shape[0]:,} rows and {table.path.name} "
            f"{len(table):,}; both must have the same rows in the same order."
        )
    if ids is not None and table.ids is not None and ids != table.ids:
        row = next(i for i, (a, b) in enumerate(zip(ids, table.ids, strict=True)) if a != b)
        raise BadInput(
            f"--embeddings {source}: row {row} is {ids[row]!r} there and {table.ids[row]!r} in "
            f"{table.path.name}; both must have the same rows in the same order."
        )
    return X.toarray() if hasattr(X, "toarray") else X


def _stacked(table: "Table", column: str) -> Any:
    import numpy as np

    cells = table.lists[column]
    usual = next((len(cell) for cell in cells if cell is not None), 0)
    for row, cell in enumerate(cells):
        if cell is None or len(cell) != usual:
            found = "no list" if cell is None else f"{len(cell)} numbers"
            raise BadInput(
                f"--embeddings {column}: row {table.names[row]!r} has {found}, others {usual}; "
                "every row needs a vector of the same length."
            )
    return np.array([np.asarray(cell, dtype=np.float64) for cell in cells]).reshape(-1, usual)


def _check_values(table: "Table", source: str, X: Any) -> None:
    import numpy as np

    if X.shape[1] == 0:
        raise BadInput(f"--embeddings {source}: the vectors are empty.")
    wrong = ~np.isfinite(X).all(axis=1)
    if wrong.any():
        row = table.names[int(wrong.argmax())]
        raise BadInput(
            f"--embeddings {source}: {int(wrong.sum())} rows have values that are missing or "
            f"infinite, the first is {row!r}; compute their vectors again or leave the rows out."
        )
