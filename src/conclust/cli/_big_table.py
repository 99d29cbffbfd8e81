"""Tables that memory does not hold: read in blocks, looked through once, prepared into a file."""

import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from conclust._arrays import IntArray
from conclust._files import require_pyarrow, suffixes_of
from conclust.cli._errors import BadInput, about
from conclust.cli._memory import allowed_memory
from conclust.cli._options import TableOptions
from conclust.cli._prepare import Prepared
from conclust.cli._table import (
    MAX_COLUMNS,
    Table,
    check_file,
    check_sizes,
    chosen,
    read_cells_of,
    text_of_id,
)

if TYPE_CHECKING:
    import pandas as pd

IN_BLOCKS = (".parquet", ".npy")
# In memory a table is held several times: as cells, as numbers, moved to their mean.
SHARE = 1 / 8
# Cells read at a time: 8 MB of numbers, held several times while they are prepared.
CELLS = 1 << 20
# Bytes of each column of a Parquet file that are held before they are decoded.
BUFFER = 1 << 18
# Rows from which it is learned what to do with columns, fewer in a wide table: 32 MB of numbers.
SAMPLE, SAMPLE_CELLS = 100_000, 1 << 22

Show = Callable[[int], object]


def wants_blocks(path: Path, asked: bool | None) -> bool:
    """Whether a table is read in blocks: as asked, else by its size beside the memory."""
    if path.is_dir():
        if asked is False:
            raise BadInput(f"{path} is a folder, which is read in blocks; leave out --no-blocks.")
        return True
    suffix = suffixes_of(path)[0]
    if asked and suffix not in IN_BLOCKS:
        check_file(path)
        raise BadInput(
            f"--blocks: {path.name} cannot be read in blocks; save it as Parquet (a file, or "
            "several in a folder) or as .npy, or leave out --blocks."
        )
    if asked is not None or suffix not in IN_BLOCKS or not path.exists():
        return bool(asked)
    allowed = allowed_memory()
    return allowed is not None and _n_bytes(path, suffix) > SHARE * allowed


def refuse_in_blocks(given: dict[str, bool]) -> None:
    """Name the options that need all rows at once."""
    for option, is_given in given.items():
        if is_given:
            raise BadInput(
                f"{option} needs the whole table in memory, and it is read in blocks: leave it "
                "out, or pass --no-blocks."
            )


def _n_bytes(path: Path, suffix: str) -> int:
    """Bytes of a table in memory, at least."""
    if suffix == ".npy":
        return path.stat().st_size
    try:
        shape = _opened(path).metadata
    except BadInput:
        return 0  # it will be said where it is read
    return 8 * shape.num_rows * shape.num_columns


@dataclass(frozen=True)
class BigTable:
    """Rows of one array file, or of Parquet files below each other in the order of their names.

    Attributes
    ----------
    path : Path
        As the user named it.
    files : list of Path
    columns : list of str
        Those that can be used.
    n_rows : int
    is_array : bool
        Numbers without names of columns.
    block_rows : int
        Rows that are read at a time.
    notes : list of str
    """

    path: Path
    files: list[Path]
    columns: list[str]
    n_rows: int
    is_array: bool
    block_rows: int
    notes: list[str]

    ids = None  # those of all rows are never held

    def __len__(self) -> int:
        return self.n_rows

    def read(self, columns: Collection[str], show: Show) -> Iterator[tuple[int, "pd.DataFrame"]]:
        """One pass over some columns: the number of the first row, and rows."""
        start = 0
        wanted = [name for name in self.columns if name in columns]
        for frame in self._blocks(wanted):
            yield start, frame
            start += len(frame)
            show(len(frame))

    def _blocks(self, columns: list[str]) -> Iterator["pd.DataFrame"]:
        import pandas as pd

        if self.is_array:
            array = _mapped(self.files[0])
            at = [self.columns.index(name) for name in columns]
            for start in range(0, self.n_rows, self.block_rows):
                yield pd.DataFrame(array[start : start + self.block_rows][:, at], columns=columns)
            return
        import pyarrow as pa

        for path in self.files:
            for batch in _opened(path).iter_batches(batch_size=self.block_rows, columns=columns):
                yield pa.Table.from_batches([batch]).to_pandas(ignore_metadata=True)

    def columns_for(self, options: TableOptions) -> list[str]:
        """The columns that options leave, the one with ids included; those they lack are named."""
        import pandas as pd

        empty = chosen(self.path, pd.DataFrame(columns=self.columns), options, [], [])
        assert empty.frame is not None
        named = [] if options.id_col is None else [options.id_col]
        return [*named, *(str(name) for name in empty.frame.columns)]

    @property
    def facts(self) -> dict[str, Any]:
        """What changes when the files do, for those too long for a checksum."""
        files = [(str(file), file.stat()) for file in self.files]
        return {
            "path": str(self.path),
            "files": [
                {"path": name, "bytes": stat.st_size, "modified": stat.st_mtime_ns}
                for name, stat in files
            ],
        }


def open_big(path: Path, options: TableOptions, block_rows: int | None) -> BigTable:
    """Open a table to be read in blocks, and say what is wrong with it."""
    refuse_in_blocks(
        {"--embeddings": bool(options.embeddings), "--text-col": bool(options.text_col)}
    )
    if not path.is_dir():
        check_file(path)
    if path.suffix.lower() == ".npy":
        array = _mapped(path)
        n_rows, columns = len(array), [f"x{i}" for i in range(array.shape[1])]
        table = BigTable(path, [path], columns, n_rows, True, 1, [])
    else:
        table = _open_parquet(path, options)
    check_sizes(path, (table.n_rows, len(table.columns)), 2, MAX_COLUMNS)
    return replace(table, block_rows=block_rows or max(CELLS // len(table.columns), 1))


def _mapped(path: Path) -> Any:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        why = "it holds Python objects" if "pickle" in str(error) else str(error)
        raise BadInput(f"{path.name} is not a NumPy file of numbers: {why}.") from error
    if array.ndim != 2 or array.dtype.kind not in "iufb":
        raise BadInput(
            f"{path.name} holds {array.dtype} values of shape {array.shape}; "
            "it takes numbers of shape (rows, columns)."
        )
    return array


def _open_parquet(path: Path, options: TableOptions) -> BigTable:
    from pyarrow import types

    files = [path]
    if path.is_dir():
        files = sorted(each for each in path.rglob("*.parquet") if not each.name.startswith("."))
        if not files:
            raise BadInput(
                f"{path} is a folder, and holds no file whose name ends in .parquet. Pass a table."
            )
    opened = [_opened(each) for each in files]
    schema = opened[0].schema_arrow
    for file, each in zip(files[1:], opened[1:], strict=True):
        if each.schema_arrow.names != schema.names:
            raise BadInput(f"{file.name} has other columns than {files[0].name}.")
    notes = []
    named = options.named(schema.names)
    asked = {options.id_col, *(name for names in named.values() for name in names)}
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    columns = []
    for field in schema:
        if types.is_list(field.type) or types.is_large_list(field.type):
            notes.append(f"{field.name} holds lists: left out.")
        elif field.name not in index or field.name in asked:
            columns.append(field.name)
    n_rows = sum(each.metadata.num_rows for each in opened)
    return BigTable(path, files, columns, n_rows, False, 1, notes)


def _opened(path: Path) -> Any:
    pyarrow = require_pyarrow(path)
    try:
        # By default all row groups are buffered beforehand, and each is held as a whole.
        return pyarrow.parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER)
    except pyarrow.ArrowException as error:
        text = str(error).strip().split("\n")[0][:200]
        raise BadInput(f"{path.name} is not a Parquet file: {text}") from error


# ---------------------------------------------------------------------- one look


class Survey(NamedTuple):
    """Rows kept from one pass: a sample, the extremes of columns, and those asked for."""

    rows: IntArray  # (m,) their numbers, ascending
    frame: "pd.DataFrame"  # (m rows) all columns
    is_drawn: Any  # (m,) bool: of the sample, or an extreme
    is_asked: Any  # (m,) bool: asked for
    counting: list[str]  # columns that count the rows

    def part(self, n_drawn: int, seed: int) -> Any:
        """(m,) bool: the rows asked for, and at most so many of the others."""
        others = np.flatnonzero(~self.is_asked)
        if len(others) > n_drawn:
            others = np.random.RandomState(seed).choice(others, n_drawn, replace=False)
        found = self.is_asked.copy()
        found[others] = True
        return found


def survey(
    table: BigTable,
    columns: Collection[str],
    rows: IntArray,
    ids: tuple[str, Collection[str]] | None,
    show: Show,
) -> Survey:
    """Look through a table once.

    Parameters
    ----------
    table : BigTable
    columns : collection of str
    rows : ndarray of int
        Numbers of rows to keep, ascending.
    ids : (str, collection of str) or None
        The column with ids, and ids of rows to keep.
    show : callable
        Called with the number of rows read.
    """
    import pandas as pd

    drawn, pieces = _drawn(table), []
    extremes = _Extremes() if len(drawn) < table.n_rows else None
    named = None if ids is None else _Named(*ids)
    for start, frame in table.read(columns, show):
        stop = start + len(frame)
        in_sample = np.zeros(len(frame), dtype=bool)
        in_sample[_between(drawn, start, stop)] = True
        asked = np.zeros(len(frame), dtype=bool)
        asked[_between(rows, start, stop)] = True
        if named is not None:
            asked |= named.within(table.path, frame, start)
        if extremes is not None:
            extremes.look(frame, start)
        at = np.flatnonzero(in_sample | asked)
        pieces.append(_Piece(start + at, frame.iloc[at], in_sample[at], asked[at]))
    if extremes is not None:
        pieces += extremes.pieces()
    found, first, which = np.unique(
        np.concatenate([piece.rows for piece in pieces]), return_index=True, return_inverse=True
    )
    is_drawn, is_asked = np.zeros((2, len(found)), dtype=bool)  # extremes are there twice
    is_drawn[which[np.concatenate([piece.is_drawn for piece in pieces])]] = True
    is_asked[which[np.concatenate([piece.is_asked for piece in pieces])]] = True
    kept = pd.concat([piece.frame for piece in pieces], ignore_index=True)
    kept = kept.iloc[first].reset_index(drop=True)
    counting = [] if extremes is None else extremes.counting(kept, table.n_rows)
    return Survey(found, kept, is_drawn, is_asked, counting)


class _Piece(NamedTuple):
    """Rows kept from one block, as in `Survey`."""

    rows: IntArray
    frame: "pd.DataFrame"
    is_drawn: Any
    is_asked: Any


def _drawn(table: BigTable) -> IntArray:
    """Numbers of the rows of the sample, all if they are few: always the same."""
    from sklearn.utils.random import sample_without_replacement

    n_drawn = min(SAMPLE, max(SAMPLE_CELLS // len(table.columns), 1000))
    if table.n_rows <= n_drawn:
        return np.arange(table.n_rows)
    rows = sample_without_replacement(table.n_rows, n_drawn, random_state=0)
    return np.sort(rows).astype(np.int64)


def _between(rows: IntArray, start: int, stop: int) -> IntArray:
    first, last = np.searchsorted(rows, (start, stop))
    return rows[first:last] - start


class _Extremes:
    """The rows that hold the least and the largest number of each column."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], tuple[float, int, pd.DataFrame]] = {}

    def look(self, frame: "pd.DataFrame", start: int) -> None:
        for name in frame.select_dtypes("number").columns:
            values = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
            if np.isnan(values).all():
                continue
            for sign, at in ((-1, int(np.nanargmin(values))), (1, int(np.nanargmax(values)))):
                value, last = sign * values[at], self._found.get((name, sign))
                if last is None or value > last[0]:
                    self._found[name, sign] = (value, start + at, frame.iloc[[at]])

    def pieces(self) -> list[_Piece]:
        yes, no = np.ones(1, dtype=bool), np.zeros(1, dtype=bool)
        return [_Piece(np.array([row]), frame, yes, no) for _, row, frame in self._found.values()]

    def counting(self, kept: "pd.DataFrame", n_rows: int) -> list[str]:
        """Columns of different whole numbers without a gap, as far as the rows kept tell."""
        return [
            name
            for name in kept.select_dtypes("integer").columns
            if self._found[name, 1][0] + self._found[name, -1][0] == n_rows - 1
            and kept[name].is_unique
        ]


class _Named:
    """Rows whose ids are asked for; a few others may be among them."""

    def __init__(self, column: str, names: Collection[str]):
        forms = {unicodedata.normalize(form, n) for n in names for form in ("NFC", "NFD")}
        self.column, self._names = column, {*names, *forms}
        self._numbers = np.array([float(n) for n in names if _is_float(n)])

    def within(self, path: Path, frame: "pd.DataFrame", start: int) -> Any:
        from pandas.api import types

        column = frame[self.column]
        missing = column.isna().to_numpy()
        if missing.any():
            raise BadInput(
                f"{path.name}: row {start + int(missing.argmax())} (counted from 0) has no id in "
                f"the column {self.column!r}."
            )
        if types.is_numeric_dtype(column):
            return np.isin(column.to_numpy(dtype=np.float64), self._numbers)
        return texts_of_ids(column).isin(self._names).to_numpy()


def texts_of_ids(column: "pd.Series") -> "pd.Series":
    """Ids as statements name them."""
    from pandas.api import types

    if types.is_integer_dtype(column) or types.infer_dtype(column) == "string":
        return column.astype(str)
    return column.map(text_of_id)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# ---------------------------------------------------------------------- numbers


def sampled_table(
    table: BigTable, seen: Survey, options: TableOptions, where: Any
) -> tuple[Table, TableOptions]:
    """Some of the rows kept as a table of their own, and the options without counting columns."""
    named = {name for names in options.named(table.columns).values() for name in names}
    counting = [name for name in seen.counting if name != options.id_col and name not in named]
    options = replace(options, exclude=(*options.exclude, *map(_quoted, counting)))
    notes = [*table.notes]
    if counting:
        notes.append(f"{', '.join(counting)} left out: it counts the rows.")
    n_drawn = int(seen.is_drawn.sum())
    if n_drawn < table.n_rows:
        notes.append(
            f"What is done to columns is learned from {n_drawn:,} of the {table.n_rows:,} rows, "
            "with the largest and smallest numbers; counts below are of these."
        )
    found = chosen(table.path, seen.frame[where].reset_index(drop=True), options, [], notes)
    ids = found.ids or [str(row) for row in seen.rows[where].tolist()]
    return replace(found, ids=ids, is_array=table.is_array), options


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def write_prepared(
    path: Path, table: BigTable, prepared: Prepared, options: TableOptions, show: Show
) -> list[str]:
    """Write the numbers to cluster as an .npy file, whole or not at all; return what to note."""
    import shutil

    used = [str(name) for name in prepared.transformer.feature_names_in_]
    codes = options.named(table.columns)["--category"]
    shape = (table.n_rows, prepared.X.shape[1])
    n_bytes, free = 8 * shape[0] * shape[1], shutil.disk_usage(path.parent).free
    if n_bytes > free:
        raise BadInput(
            f"{path.parent} has room for {free / 1e9:.1f} GB, and the prepared rows take "
            f"{n_bytes / 1e9:.1f} GB; name a folder on another disk with -o."
        )
    part = path.with_suffix(".part")
    with part.open("wb") as file, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        header = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for _, frame in table.read(used, show):
            read_cells_of(frame, [name for name in used if name not in codes], None, [])
            with about(table.path.name):
                rows = prepared.transformer.transform(frame)
            file.write(np.ascontiguousarray(rows, dtype="<f8").data)
    part.replace(path)
    new = {str(each.message).split(":")[0] for each in caught if each.category is UserWarning}
    return [
        f"{name}: some rows hold a value that the sample has not; they count as the average row."
        for name in sorted(new)
    ]
