"""Read the user's table, whatever its format, and name what is wrong with it."""

import csv
import difflib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conclust.cli._errors import BadInput

if TYPE_CHECKING:
    import pandas as pd

FORMATS = (".csv", ".tsv", ".txt", ".parquet", ".npy", ".npz")
SEPARATORS = (",", ";", "\t")

# A wider table is rather rows and columns swapped; a sparse matrix of terms may have more.
MAX_COLUMNS = 50_000
MAX_COLUMNS_SPARSE = 5_000_000


@dataclass(frozen=True)
class Table:
    """The user's rows.

    Attributes
    ----------
    path : Path
    frame : DataFrame or None
        The columns to cluster by, in the order of the file; None for a sparse matrix.
    matrix : sparse matrix or None
    ids : list of str or None
        One per row where the table has them; None: rows are named by position.
    notes : list of str
        What was done while reading that the user may want to know.
    """

    path: Path
    frame: "pd.DataFrame | None"
    matrix: Any
    ids: list[str] | None
    notes: list[str]

    def __len__(self) -> int:
        return len(self.frame) if self.frame is not None else self.matrix.shape[0]

    @property
    def names(self) -> list[str]:
        """The name of each row: its id, else its position."""
        return self.ids if self.ids is not None else [str(i) for i in range(len(self))]


def read_table(
    path: Path,
    id_col: str | None = None,
    columns: list[str] | None = None,
    text_col: list[str] | None = None,
    separator: str | None = None,
    min_rows: int = 2,
) -> Table:
    """Read a table by its suffix.

    Parameters
    ----------
    path : Path
    id_col : str, default=None
        The column that names the rows; it is not clustered by.
    columns, text_col : list of str, default=None
        Columns to cluster by and columns of running text; by default all, and none.
    separator : str, default=None
        Of a CSV file; read off the header by default.
    min_rows : int, default=2
    """
    if not path.exists():
        raise BadInput(f"{path}: no such file.")
    if path.is_dir():
        raise BadInput(f"{path} is a folder; name the file in it.")
    if path.suffix.lower() not in FORMATS:
        raise BadInput(
            f"{path.name}: tables are read from {', '.join(FORMATS)}; "
            f"the suffix {path.suffix!r} is none of them."
        )
    if path.stat().st_size == 0:
        raise BadInput(f"{path.name} is empty.")
    notes: list[str] = []
    suffix = path.suffix.lower()
    ids: list[str] | None = None
    matrix = frame = None
    if suffix in (".npy", ".npz"):
        matrix, frame, ids = _read_arrays(path)
    elif suffix == ".parquet":
        frame = _read_parquet(path, [id_col, *(columns or ()), *(text_col or ())])
    else:
        frame = _read_text(path, separator, id_col, notes)
    if matrix is not None:
        _check_sizes(path, matrix.shape, min_rows, MAX_COLUMNS_SPARSE)
        if id_col or columns or text_col:
            raise BadInput(f"{path.name} is a sparse matrix without column names.")
        return Table(path, None, matrix, ids, notes)
    assert frame is not None
    _check_sizes(path, frame.shape, min_rows, MAX_COLUMNS)
    if id_col is not None:
        _check_columns(path, frame, [id_col], "--id-col")
        ids = _ids_of(path, frame[id_col], id_col)
    if columns is not None:
        _check_columns(path, frame, columns, "--columns")
    if text_col:
        _check_columns(path, frame, text_col, "--text-col")
    used = [
        c
        for c in (columns if columns is not None else frame.columns)
        if c != id_col and c not in (text_col or ())
    ]
    used += list(text_col or ())
    if not used:
        raise BadInput(f"{path.name} has no column to cluster by besides {id_col!r}.")
    return Table(path, frame[used], None, ids, notes)


def _check_sizes(path: Path, shape: tuple[int, ...], min_rows: int, limit: int) -> None:
    n_rows, n_columns = shape
    if n_columns > limit:
        raise BadInput(
            f"{path.name} has {n_columns:,} columns, more than {limit:,}. Are rows and columns "
            "swapped? Reduce them first (an embedding, a PCA), or pass a sparse .npz matrix."
        )
    if n_columns == 0:
        raise BadInput(f"{path.name} has no columns.")
    if n_rows < min_rows:
        found = {0: "no rows", 1: "only one row"}.get(n_rows, f"only {n_rows} rows")
        raise BadInput(f"{path.name} has {found}; clustering needs at least {min_rows}.")


def _check_columns(path: Path, frame: "pd.DataFrame", wanted: list[str], option: str) -> None:
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        names = [str(c) for c in frame.columns]
        close = difflib.get_close_matches(missing[0], names, n=3)
        shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        hint = f"Did you mean {', '.join(map(repr, close))}?" if close else f"It has: {shown}."
        raise BadInput(f"{path.name} has no column {missing[0]!r} ({option}). {hint}")


def _ids_of(path: Path, column: Any, id_col: str) -> list[str]:
    from collections import Counter

    missing = column.isna()
    if missing.any():
        raise BadInput(
            f"{path.name}: {int(missing.sum())} rows have no id in the column {id_col!r}, the "
            f"first is row {int(missing.to_numpy().argmax())} (counted from 0)."
        )
    ids = [_text(value) for value in column.tolist()]
    twice = [(name, n) for name, n in Counter(ids).most_common(5) if n > 1]
    if twice:
        shown = ", ".join(f"{name[:60]!r} ({n} times)" for name, n in twice)
        raise BadInput(f"{path.name}: ids in {id_col!r} must be unique; found {shown}.")
    return ids


def _text(value: Any) -> str:
    """7.0 is the id '7', as in files of constraints."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# ---------------------------------------------------------------------- formats


def _read_text(
    path: Path, separator: str | None, id_col: str | None, notes: list[str]
) -> "pd.DataFrame":
    import warnings

    import pandas as pd

    header = _header(path)
    if separator is None:
        separator = "\t" if path.suffix.lower() == ".tsv" else _separator(path, header)
        if separator == ";":
            notes.append("Columns are separated by semicolons.")
    if len(separator) != 1:
        raise BadInput(f"--separator must be one character; got {separator!r}.")
    try:
        names = [name.strip() for name in next(csv.reader([header], delimiter=separator), [])]
    except csv.Error as error:
        raise BadInput(f"{path.name} line 1 is no header: {error}.") from error
    if len(names) > MAX_COLUMNS:  # before anything else is read
        _check_sizes(path, (2, len(names)), 2, MAX_COLUMNS)
    _check_header(path, names)
    try:
        with warnings.catch_warnings():
            # Rows longer than the header would shift or lose their values.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                path,
                sep=separator,
                encoding="utf-8-sig",
                index_col=False,
                dtype={id_col: str} if id_col in names else None,
                names=names,
                header=0,
                skipinitialspace=True,
            )
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path.name} is not UTF-8 (byte {error.start}); save it with the encoding UTF-8."
        ) from error
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        text = str(error).strip().split("\n")[0]
        raise BadInput(
            f"{path.name} is not a table: {text}. The header has {len(names)} columns; put quotes "
            "around values that hold a separator."
        ) from error
    if separator == ";":
        frame = _decimal_commas(frame, id_col, notes)
    return frame


def _header(path: Path) -> str:
    limit = 64 << 20
    with path.open("rb") as file:
        line = file.readline(limit)
    if b"\0" in line:
        raise BadInput(f"{path.name} is not a text file.")
    try:
        text = line.decode("utf-8-sig").strip("\r\n").split("\r")[0]  # old Macs end lines so
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path.name} line 1 is not UTF-8; save the file with the encoding UTF-8."
        ) from error
    if not text.strip():
        raise BadInput(f"{path.name} begins with an empty line; the first line must be a header.")
    return text


def _separator(path: Path, header: str) -> str:
    """The separator in the header, if there is no doubt which one it is."""
    outside = "".join(header.split('"')[::2])  # quoted names may hold any of them
    found = [s for s in SEPARATORS if s in outside]
    if len(found) > 1:
        raise BadInput(
            f"{path.name}: the header holds {' and '.join(map(repr, found))}; "
            "say which one separates the columns with --separator."
        )
    return found[0] if found else ","


def _check_header(path: Path, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1}) if len(names) < 5000 else []
    if len(set(names)) < len(names):
        which = f" {twice[0]!r}" if twice else ""
        raise BadInput(f"{path.name} has the column{which} more than once; rename one of them.")
    if all(_is_number(name) for name in names):
        raise BadInput(
            f"{path.name}: the first line holds numbers only; the first line must be a header "
            "with the names of the columns."
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _decimal_commas(frame: "pd.DataFrame", id_col: str | None, notes: list[str]) -> "pd.DataFrame":
    """Columns whose every value is like 1,5 are numbers, where semicolons separate columns."""
    import pandas as pd

    for name in frame.columns:
        column = frame[name]
        if name == id_col or pd.api.types.is_numeric_dtype(column) or column.isna().all():
            continue
        text = column.dropna().astype(str)
        if text.str.fullmatch(r"[+-]?\d+(,\d+)?").all():
            frame[name] = pd.to_numeric(column.str.replace(",", ".", regex=False))
            notes.append(f"{name}: decimal commas read as decimal points.")
    return frame


def _read_parquet(path: Path, wanted: list[str | None]) -> "pd.DataFrame":
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except ImportError as error:
        raise BadInput("Parquet files need pyarrow: pip install pyarrow.") from error
    except Exception as error:  # pyarrow has its own tree of errors
        text = str(error).strip().split("\n")[0][:200]
        raise BadInput(f"{path.name} is not a Parquet file: {text}") from error
    frame.columns = frame.columns.astype(str)
    if frame.index.name in wanted and frame.index.name not in frame.columns:
        frame = frame.reset_index()  # the index is where pandas keeps ids
    return frame.reset_index(drop=True)


def _read_arrays(path: Path) -> tuple[Any, "pd.DataFrame | None", list[str] | None]:
    import numpy as np
    import pandas as pd

    try:
        content = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise BadInput(f"{path.name} is not a NumPy file of numbers: {error}") from error
    ids = None
    if isinstance(content, np.lib.npyio.NpzFile):
        if "indptr" in content.files:
            import scipy.sparse as sp

            return sp.csr_array(sp.load_npz(path)), None, None
        if "ids" in content.files:
            ids = [str(i) for i in content["ids"].tolist()]
        tables = [k for k in content.files if k != "ids" and content[k].ndim == 2]
        if "X" in tables:
            tables = ["X"]
        if len(tables) != 1:
            raise BadInput(
                f"{path.name} must hold one two-dimensional array, named X if there are more; "
                f"found {', '.join(content.files) or 'none'}."
            )
        content = content[tables[0]]
    if content.ndim != 2 or content.dtype.kind not in "iufb":
        raise BadInput(
            f"{path.name} holds {content.dtype} values of shape {content.shape}; "
            "it takes numbers of shape (rows, columns)."
        )
    _check_sizes(path, (2, content.shape[1]), 2, MAX_COLUMNS)
    if ids is not None and len(ids) != len(content):
        raise BadInput(f"{path.name}: there are {len(ids)} ids for {len(content)} rows.")
    return None, pd.DataFrame(content, columns=[f"x{i}" for i in range(content.shape[1])]), ids


def write_rows(path: Path, header: list[str], rows: Any) -> int:
    """Write a CSV file, atomically; return how many cells were guarded."""
    from conclust._atomic import atomic_write

    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([guarded(name) for name in header])
    n_guarded = 0
    for row in rows:
        cells = [guarded(cell) for cell in row]
        n_guarded += sum(a is not b for a, b in zip(cells, row, strict=True))
        writer.writerow(cells)
    with atomic_write(path) as file:
        file.write(buffer.getvalue())
    return n_guarded


# A spreadsheet runs a cell that begins so as a formula. The last four are the wide forms.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def guarded(cell: Any) -> Any:
    """The same cell, or text that a spreadsheet does not take for a formula."""
    if isinstance(cell, str) and is_formula(cell):
        return "'" + cell
    return cell


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would run this text; plain numbers such as -5 are none."""
    return text.lstrip(" ").startswith(FORMULA_STARTS) and not _is_number(text)
