"""Read the user's table, whatever its format, and name what is wrong with it."""

import csv
import difflib
import io
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conclust._files import (
    CHUNK,
    UnreadableFileError,
    is_number,
    require_pyarrow,
    separators_in,
    sheet_of,
    suffixes_of,
    utf8_of_file,
)
from conclust.cli._errors import BadInput
from conclust.cli._options import TableOptions

if TYPE_CHECKING:
    import pandas as pd

TEXT = (".csv", ".tsv", ".txt")
ARRAYS = (".npy", ".npz")
FORMATS = (*TEXT, ".xlsx", ".parquet", *ARRAYS)

# A wider table is rather rows and columns swapped; a sparse matrix of terms may have more.
MAX_COLUMNS = 50_000
MAX_COLUMNS_SPARSE = 5_000_000

# What counts as a missing cell, but for ids: a row may be called NA.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NULL", "null", "None", "NaN", "nan",
           "-NaN", "-nan")  # fmt: skip

# What may stand before a cell, beside commas and the separator of the file.
SEPARATING = b" \t\n\r\f\v;\"'"


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
    is_array : bool
        Numbers without names of columns, which are taken to have one unit.
    lists : dict
        Columns whose cells are lists of numbers, which `--embeddings` can name.
    """

    path: Path
    frame: "pd.DataFrame | None"
    matrix: Any
    ids: list[str] | None
    notes: list[str]
    is_array: bool = False
    lists: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame) if self.frame is not None else self.matrix.shape[0]

    @property
    def names(self) -> list[str]:
        """The name of each row: its id, else its position."""
        return self.ids if self.ids is not None else [str(i) for i in range(len(self))]


def read_table(
    path: Path,
    options: TableOptions = TableOptions(),  # noqa: B008 (frozen)
    *,
    min_rows: int = 2,
    words: Iterable[str] = (),
) -> Table:
    """Read a table by its suffix.

    Parameters
    ----------
    path : Path
    options : TableOptions
        Which column names the rows, which are used, how the file is written.
    min_rows : int, default=2
    words : iterable of str, default=()
        Columns whose cells are kept as they are written, if they are there.
    """
    check_file(path)
    suffix = suffixes_of(path)[0]
    notes: list[str] = []
    as_written = None
    lists: dict[str, Any] = {}
    if suffix in ARRAYS:
        return _array_table(path, options, min_rows)
    if suffix == ".parquet":
        frame = _read_parquet(path, options)
        lists = _without_lists(frame, options, notes)
    elif suffix == ".xlsx":
        frame = _read_workbook(path, options.id_col, notes)
    else:
        frame, as_written = _read_text(path, options, list(words), notes)
    n_rows, n_columns = frame.shape
    check_sizes(path, (n_rows, n_columns + len(lists)), min_rows, MAX_COLUMNS)
    table = chosen(path, frame, options, list(words), notes, as_written)
    return replace(table, lists=lists)


def check_file(path: Path) -> None:
    if not path.exists():
        raise BadInput(f"{path}: no such file.")
    if path.is_dir():
        raise BadInput(f"{path} is a folder; name the file in it.")
    suffix, packed = suffixes_of(path)
    if suffix not in FORMATS:
        old = " Save it as .xlsx or .csv." if suffix in (".xls", ".ods", ".numbers") else ""
        raise BadInput(
            f"{path.name}: tables are read from {', '.join(FORMATS)} (and .csv.gz); "
            f"the suffix {suffix!r} is none of them.{old}"
        )
    if packed and suffix not in (*TEXT, ".xlsx"):
        raise BadInput(f"{path.name}: unpack it first; of packed files only text is read.")
    if path.stat().st_size == 0:
        raise BadInput(f"{path.name} is empty.")


def _array_table(path: Path, options: TableOptions, min_rows: int) -> Table:
    matrix, frame, ids = _read_arrays(path)
    if matrix is not None:
        check_sizes(path, matrix.shape, min_rows, MAX_COLUMNS_SPARSE)
        if options.names_columns:
            raise BadInput(f"{path.name} is a sparse matrix without column names.")
        return Table(path, None, matrix, ids, [], is_array=True)
    assert frame is not None
    check_sizes(path, frame.shape, min_rows, MAX_COLUMNS)
    table = chosen(path, frame, options, [], [])
    return Table(path, table.frame, None, table.ids or ids, table.notes, is_array=True)


def chosen(
    path: Path,
    frame: "pd.DataFrame",
    options: TableOptions,
    words: list[str],
    notes: list[str],
    as_written: "pd.DataFrame | None" = None,
) -> Table:
    """The columns asked for, cells read as numbers where they are, and the ids."""
    columns = [str(name) for name in frame.columns]
    ids = None
    id_col = options.id_col
    if id_col is not None:
        _check_columns(path, columns, [id_col], "--id-col")
        ids = _ids_of(path, frame[id_col], id_col)
    named = options.named(columns)
    for option, wanted in named.items():
        _check_columns(path, columns, wanted, option)
    texts, excluded = named["--text-col"], set(named["--exclude"])
    used = named["--columns"] or columns
    used = [c for c in used if c != id_col and c not in excluded and c not in texts]
    used = list(dict.fromkeys([*used, *(c for c in named["--category"] if c != id_col), *texts]))
    if not used and options.embeddings is None:
        besides = f" besides {id_col!r}" if id_col is not None else ""
        raise BadInput(
            f"{path.name} has no column to cluster by{besides}. {' '.join(notes)}".strip()
        )
    found = frame[used].copy(deep=False)
    kept = {*texts, *named["--category"], *words}
    read_cells_of(found, [c for c in used if c not in kept], as_written, notes)
    return Table(path, found, None, ids, notes)


def read_cells_of(
    frame: "pd.DataFrame", names: list[str], as_written: "pd.DataFrame | None", notes: list[str]
) -> None:
    """Columns of numbers and dates written as text become numbers, in place."""
    from conclust._columns import has_decimal_commas, read_column

    comma = as_written is not None and any(
        has_decimal_commas(frame[name]) for name in names if _is_text(frame[name])
    )
    for name in names:
        column = frame[name]
        if comma and as_written is not None and name in as_written:
            column = as_written[name]  # 1.234 is a thousand here
        read = read_column(column, comma)
        if read is not None:
            frame[name] = read.values
            if read.note:
                notes.append(f"{name}: {read.note}.")


def _is_text(column: Any) -> bool:
    from pandas.api import types

    return not types.is_numeric_dtype(column) and not types.is_datetime64_any_dtype(column)


def check_sizes(path: Path, shape: tuple[int, ...], min_rows: int, limit: int) -> None:
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


def _check_columns(path: Path, columns: list[str], wanted: list[str], option: str) -> None:
    missing = [name for name in wanted if name not in columns]
    if missing:
        close = difflib.get_close_matches(missing[0], columns, n=3)
        shown = ", ".join(columns[:12]) + (", …" if len(columns) > 12 else "")
        hint = f"Did you mean {', '.join(map(repr, close))}?" if close else f"It has: {shown}."
        raise BadInput(f"{path.name} has no column {missing[0]!r} ({option}). {hint}")


def _ids_of(path: Path, column: Any, id_col: str) -> list[str]:
    from collections import Counter

    missing = column.isna() | (column.astype(object) == "")
    if missing.any():
        raise BadInput(
            f"{path.name}: {int(missing.sum())} rows have no id in the column {id_col!r}, the "
            f"first is row {int(missing.to_numpy().argmax())} (counted from 0)."
        )
    ids = [text_of_id(value) for value in column.tolist()]
    twice = [(name, n) for name, n in Counter(ids).most_common(5) if n > 1]
    if twice:
        shown = ", ".join(f"{name[:60]!r} ({n} times)" for name, n in twice)
        raise BadInput(f"{path.name}: ids in {id_col!r} must be unique; found {shown}.")
    return ids


def text_of_id(value: Any) -> str:
    """7.0 is the id '7', as in files of constraints."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# ---------------------------------------------------------------------- formats


def _read_text(
    path: Path, options: TableOptions, words: list[str], notes: list[str]
) -> "tuple[pd.DataFrame, pd.DataFrame | None]":
    """The table, and its numbers as they are written, in a file of semicolons."""
    import warnings

    import pandas as pd

    try:
        content, note = utf8_of_file(path, options.encoding)
    except UnreadableFileError as error:
        told = str(error).replace("name the encoding it has", "name its encoding with --encoding")
        raise BadInput(told) from error
    if note:
        notes.append(f"{note} Name another with --encoding.")
    header = _header(path, content)
    separator = options.separator
    if separator is None:
        separator = "\t" if suffixes_of(path)[0] == ".tsv" else _separator(path, header)
        if separator == ";":
            notes.append("Columns are separated by semicolons.")
    if len(separator) != 1 or not separator.isascii():
        raise BadInput(
            f"--separator must be one character, and none beyond ASCII; got {separator!r}."
        )
    try:
        given = next(csv.reader([header], delimiter=separator), [])
    except csv.Error as error:
        raise BadInput(f"{path.name} line 1 is no header: {error}.") from error
    names = _named([name.strip() for name in given])
    if len(names) > MAX_COLUMNS:  # before anything else is read
        check_sizes(path, (2, len(names)), 2, MAX_COLUMNS)
    _check_header(path, names)
    as_text = {options.id_col, *words, *options.named(names)["--category"]}
    how = {
        "sep": separator,
        "index_col": False,
        "names": names,
        "header": 0,
        "skipinitialspace": True,
        "keep_default_na": False,
        "na_values": {name: list(MISSING) for name in names if name != options.id_col},
    }
    try:
        with warnings.catch_warnings():
            # Rows longer than the header would shift or lose their values.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                io.BytesIO(content), dtype={n: str for n in names if n in as_text} or None, **how
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        text = str(error).strip().split("\n")[0]
        raise BadInput(
            f"{path.name} is not a table: {text}. The header has {len(names)} columns; put quotes "
            "around values that hold a separator."
        ) from error
    if separator != ";" and not may_have_leading_zeros(content, separator):
        return frame, None
    as_written = _as_written(frame, content, how)
    return frame, as_written if separator == ";" else None


def _as_written(
    frame: "pd.DataFrame", content: bytes, how: dict[str, Any]
) -> "pd.DataFrame | None":
    """The cells of numbers; those with leading zeros are codes and go back into the frame."""
    import pandas as pd

    from conclust._columns import has_leading_zeros

    names = [c for c in frame.columns if frame[c].dtype.kind in "iuf"]
    if not names:
        return pd.DataFrame()
    cells = pd.read_csv(io.BytesIO(content), dtype=str, usecols=names, **how)
    for name in names:
        if has_leading_zeros(cells[name]):
            frame[name] = cells.pop(name)
    return cells


def may_have_leading_zeros(content: bytes, separator: str = ",") -> bool:
    """Whether some cell may begin with a zero and another digit, after a sign perhaps.

    A regular expression takes several times as long.

    >>> may_have_leading_zeros(b"a,b 1e-05,-0.5"), may_have_leading_zeros(b"a,b 10,-05")
    (False, True)
    >>> may_have_leading_zeros(b"a|b 10|-05", "|")
    True
    """
    before = SEPARATING + separator.encode()
    roles = bytes.maketrans(before + b"23456789", b"," * len(before) + b"1" * 8)
    for start in range(0, len(content), CHUNK):
        part = content[max(start - 3, 0) : start + CHUNK].translate(roles, b"+-")
        if b",00" in part or b",01" in part:
            return True
    return False


def _header(path: Path, content: bytes) -> str:
    text = content[: content.find(b"\n") + 1 or None].decode()
    line = io.StringIO(text, newline=None).readline().strip("\r\n")
    if not line.strip():
        raise BadInput(f"{path.name} begins with an empty line; the first line must be a header.")
    return line


def _named(names: list[str]) -> list[str]:
    """Columns without a name are called by their place; pandas writes its index so."""
    return [name or f"column {i + 1}" for i, name in enumerate(names)]


def _separator(path: Path, header: str) -> str:
    """The separator in the header, if there is no doubt which one it is."""
    found = separators_in(header)
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
    if all(is_number(name) for name in names):
        raise BadInput(
            f"{path.name}: the first line holds numbers only; the first line must be a header "
            "with the names of the columns."
        )


def _read_workbook(path: Path, id_col: str | None, notes: list[str]) -> "pd.DataFrame":
    import pandas as pd

    rows, note = sheet_of(path)
    notes.extend([note] if note else [])
    if not rows:
        raise BadInput(f"{path.name}: the first sheet is empty.")
    names = _named(["" if cell is None else str(cell).strip() for cell in rows[0]])
    _check_header(path, names)
    cells = [
        [None if c in MISSING and n != id_col else c for n, c in zip(names, row, strict=True)]
        for row in rows[1:]
        if any(cell is not None for cell in row)
    ]
    return pd.DataFrame(cells, columns=names, dtype=object).infer_objects()


def _read_parquet(path: Path, options: TableOptions) -> "pd.DataFrame":
    import pandas as pd

    require_pyarrow(path)
    try:
        frame = pd.read_parquet(path)
    except Exception as error:  # pyarrow has its own tree of errors
        text = str(error).strip().split("\n")[0][:200]
        raise BadInput(f"{path.name} is not a Parquet file: {text}") from error
    frame.columns = frame.columns.astype(str)
    named = options.named([str(frame.index.name)])
    wanted = {options.id_col, *chain(*named.values())}
    if frame.index.name in wanted and frame.index.name not in frame.columns:
        frame = frame.reset_index()  # the index is where pandas keeps ids
    return frame.reset_index(drop=True)


def _without_lists(
    frame: "pd.DataFrame", options: TableOptions, notes: list[str]
) -> dict[str, Any]:
    """Take columns whose cells are lists out of the frame, and say so where none was asked for."""
    import numpy as np

    lists = {}
    for name in frame.columns:
        if frame[name].dtype == object:
            first = next((cell for cell in frame[name] if cell is not None), None)
            if isinstance(first, list | np.ndarray):
                lists[str(name)] = frame[name].tolist()
    for name in lists:
        del frame[name]
        if name != options.embeddings:
            notes.append(f"{name} holds lists: left out (--embeddings {name} clusters by them).")
    return lists


def _read_arrays(path: Path) -> tuple[Any, "pd.DataFrame | None", list[str] | None]:
    import pandas as pd

    content, ids = array_of(path)
    if hasattr(content, "tocsr"):
        return content, None, ids
    return None, pd.DataFrame(content, columns=[f"x{i}" for i in range(content.shape[1])]), ids


def array_of(path: Path) -> tuple[Any, list[str] | None]:
    """The numbers of a NumPy file, an array or a sparse matrix, and ids; nothing is unpickled."""
    try:
        return _load_array(path)
    except (ValueError, OSError, EOFError, KeyError) as error:
        # numpy names a switch that would run what is in the file.
        why = "it holds Python objects" if "pickle" in str(error) else str(error)
        raise BadInput(f"{path.name} is not a NumPy file of numbers: {why}.") from error


def _load_array(path: Path) -> tuple[Any, list[str] | None]:
    import numpy as np

    content = np.load(path, allow_pickle=False)
    ids = None
    if isinstance(content, np.lib.npyio.NpzFile):
        if "indptr" in content.files:
            import scipy.sparse as sp

            return sp.csr_array(sp.load_npz(path)), None
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
    check_sizes(path, (2, content.shape[1]), 2, MAX_COLUMNS)
    if ids is not None and len(ids) != len(content):
        raise BadInput(f"{path.name}: there are {len(ids)} ids for {len(content)} rows.")
    return content, ids
