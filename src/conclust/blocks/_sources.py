"""Where rows come from: one thin class each, all with the same few names."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import IntArray
from conclust._files import require_pyarrow
from conclust._lloyd.in_blocks import RowsInBlocks
from conclust.blocks._summary import Summary, summary_of

Rows = npt.NDArray[Any]
BUFFER = 1 << 18  # bytes of each column of a Parquet file that are held before they are decoded


class Source:
    """Rows that can be passed over again and again.

    A subclass sets the attributes and says how to `read`; `take` where it can do so without a pass.
    """

    name: str  # for messages
    n_rows: int
    n_features: int
    dtype: np.dtype[Any]
    columns: list[str] | None = None
    is_counted: bool = True  # False: n_rows is not known before it is asked for
    rows_type: type[RowsInBlocks] = RowsInBlocks  # the verbs of k-means over these rows

    def read(self, block_rows: int) -> Iterator[Rows]:
        """Yield all rows in order; blocks longer than `block_rows` are cut by whoever asks."""
        raise NotImplementedError

    def summary(self, rows: Any) -> Summary:
        """What is to be known of `rows`, the Blocks over this source, before k-means."""
        return summary_of(rows.parts())

    def labels(self, rows: Any, label: Callable[[Rows], Rows]) -> Rows:
        """``label(part)`` of all parts of `rows`, the Blocks over this source."""
        labels: Rows = rows.new_labels()
        for start, part in rows.parts():
            labels[start : start + len(part)] = label(part)
        return labels

    def lazy_labels(self, rows: Any, label: Callable[[Rows], Rows]) -> Any:
        """The same as a collection of an engine, computed when asked for."""
        raise NotImplementedError

    def found_labels(self, rows: Any, label: Callable[[Rows], Rows], labels: Rows) -> Any:
        """Such a collection of `labels`, most of which are what `label` gives."""
        raise NotImplementedError

    def take(self, rows: IntArray) -> Rows:
        """The rows with these numbers, which ascend; in one pass."""
        found = np.empty((len(rows), self.n_features), dtype=self.dtype)
        start = n_found = 0
        for block in self.read(max(1, (1 << 22) // self.n_features)):
            stop = int(np.searchsorted(rows, start + len(block)))
            found[n_found:stop] = block[rows[n_found:stop] - start]
            start, n_found = start + len(block), stop
            if n_found == len(rows):
                break
        return found


class OneArray(Source):
    """An array, in memory or mapped there."""

    def __init__(self, array: Rows, name: str = "X"):
        if array.ndim != 2:
            raise ValueError(
                f"{name} has shape {array.shape}; rows are the first of two dimensions."
            )
        self.name, self._array = name, array
        self.n_rows, self.n_features = array.shape
        self.dtype = array.dtype

    def read(self, block_rows: int) -> Iterator[Rows]:
        yield np.asarray(self._array)

    def take(self, rows: IntArray) -> Rows:
        return np.asarray(self._array[rows])


class ManyArrays(Source):
    """Arrays below each other: from a sequence, or anew from a function for each pass."""

    def __init__(self, again: Callable[[], Any], name: str = "X"):
        self.name, self._again = name, again
        shapes, kinds = [], []
        for block in self.read(0):
            shapes.append(block.shape)
            kinds.append(block.dtype)
            if block.ndim != 2 or block.shape[1] != shapes[0][1]:
                raise ValueError(
                    f"{name}: block {len(shapes) - 1} has shape {block.shape}; all must be "
                    f"(rows, features), with as many features as the first, {shapes[0]}."
                )
        if not shapes:
            raise ValueError(f"{name} holds no block; at least one array of rows is needed.")
        self.n_rows, self.n_features = sum(shape[0] for shape in shapes), shapes[0][1]
        self.dtype = np.result_type(*kinds)

    def read(self, block_rows: int) -> Iterator[Rows]:
        for block in self._again():
            yield np.asarray(block)


class Parquet(Source):
    """Parquet files with the same columns, below each other in the order given."""

    def __init__(self, paths: Sequence[Path], columns: Sequence[str] | None, name: str):
        self.name, self._paths = name, paths
        files = [_opened(path) for path in paths]
        fields = files[0].schema_arrow
        self.columns = list(fields.names if columns is None else columns)
        for path, file in zip(paths, files, strict=True):
            self._check(file.schema_arrow, path.name)
        kinds = [fields.field(each).type.to_pandas_dtype() for each in self.columns]
        # Cells that hold nothing become NaN, which whole numbers do not know.
        self.dtype = np.dtype(np.float32 if set(kinds) == {np.float32} else np.float64)
        self.n_features = len(self.columns)
        groups = [
            (path, group, file.metadata.row_group(group).num_rows)
            for path, file in zip(paths, files, strict=True)
            for group in range(file.metadata.num_row_groups)
        ]
        self._groups = [(path, group) for path, group, _ in groups]
        self._starts = np.cumsum([0, *(n for *_, n in groups)])
        self.n_rows = int(self._starts[-1])

    def _check(self, schema: Any, file: str) -> None:
        missing = [each for each in self.columns or () if each not in schema.names]
        if missing:
            raise ValueError(
                f"{file} has no column {', '.join(map(repr, missing[:5]))}; it has "
                f"{', '.join(map(repr, schema.names[:10]))}."
            )
        wrong = [each for each in self.columns or () if not _is_number(schema.field(each).type)]
        if wrong:
            raise TypeError(
                f"{file}: {', '.join(map(repr, wrong[:5]))} holds no numbers "
                f"({schema.field(wrong[0]).type}). Choose the columns to use, such as "
                f"columns={[n for n in schema.names if _is_number(schema.field(n).type)][:5]}."
            )

    def read(self, block_rows: int) -> Iterator[Rows]:
        for path in self._paths:  # opened anew: threads may read at the same time
            for batch in _opened(path).iter_batches(batch_size=block_rows, columns=self.columns):
                yield self._as_rows(batch)

    def take(self, rows: IntArray) -> Rows:
        """The rows with these numbers, which ascend; row groups without any are not read."""
        found = np.empty((len(rows), self.n_features), dtype=self.dtype)
        group = np.searchsorted(self._starts, rows, side="right") - 1
        for each in np.unique(group).tolist():
            path, number = self._groups[each]
            table = self._as_rows(_opened(path).read_row_group(number, columns=self.columns))
            here = group == each
            found[here] = table[rows[here] - self._starts[each]]
        return found

    def _as_rows(self, table: Any) -> Rows:
        rows = np.empty((table.num_rows, self.n_features), dtype=self.dtype)
        for number, name in enumerate(self.columns or ()):
            rows[:, number] = _cells(table.column(name))
        return rows


def _opened(path: Path) -> Any:
    pyarrow = require_pyarrow(path)
    try:
        # By default all row groups are buffered beforehand, and each is held as a whole.
        return pyarrow.parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path.name} cannot be read as a Parquet file: {error}") from error


def _cells(column: Any) -> Rows:
    import pyarrow as pa

    if pa.types.is_boolean(column.type):  # with empty cells these would become objects
        column = column.cast(pa.int8())
    # A batch has arrays and a table has chunks of them, which know no other way but to copy.
    is_chunked = isinstance(column, pa.ChunkedArray)
    cells: Rows = column.to_numpy() if is_chunked else column.to_numpy(zero_copy_only=False)
    return cells


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
