"""Rows read block by block, as the k-means family takes them."""

import copy
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.random import sample_without_replacement

from conclust._arrays import FloatArray, IntArray, Labels
from conclust._kernels.nearest import FREE
from conclust._lloyd.in_blocks import RowsInBlocks
from conclust._validation import refuse_large
from conclust.blocks._labels_file import LabelsFile
from conclust.blocks._prepare import Preparation
from conclust.blocks._sources import Source
from conclust.blocks._summary import Summary

# Numbers in a block unless told otherwise: 32 MB.
NUMBERS = 1 << 22
# Numbers that are prepared at a time, so that they are in the cache when used: 1 MB.
PIECE = 1 << 17
# Rows from which starts are drawn, and numbers in them: 32 MB.
START_ROWS, START_NUMBERS = 1 << 16, 1 << 22


class Blocks:
    """Rows from a file, a folder, or arrays one after the other; made by `conclust.blocks.open`.

    To be passed as X to `fit` and `predict` of the estimators that read block by block.

    Attributes
    ----------
    shape : tuple of int
        ``(n_rows, n_features)``.
    dtype : dtype
        float32 where the rows are, float64 otherwise.
    columns : list of str or None
        Names of the features, where the source has some.
    block_rows : int
        Rows in a block at most.

    Notes
    -----
    ``blocks[[5, 9]]`` gathers rows, ``for start, rows in blocks.read()`` passes over all.
    """

    is_lazy = False  # True: labels stay with the engine that has the rows
    _labels_file: LabelsFile | None = None

    def __init__(self, source: Source, block_rows: int | None = None):
        self.source = source
        self.name, self.columns = source.name, source.columns
        self.n_features = source.n_features
        self.first = 0  # number of the first row, for messages
        self.dtype = np.dtype(np.float32 if source.dtype == np.float32 else np.float64)
        self.preparation = Preparation(self.dtype)
        if source.is_counted:
            self._refuse_nothing()
        if source.dtype.kind not in "fiub":
            raise TypeError(
                f"{self.name} holds values of type {source.dtype}; rows are numbers. Convert them "
                "first."
            )
        most = max(NUMBERS // max(self.n_features, 1), 1)
        self.block_rows = most if block_rows is None else block_rows
        if not isinstance(self.block_rows, Integral) or self.block_rows < 1:
            raise ValueError(f"block_rows={block_rows!r} must be a whole number, at least 1.")
        self._summary: Summary | None = None
        self._sample: tuple[IntArray, npt.NDArray[Any]] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_rows, n_features)``; rows on an engine are counted when this is first asked for."""
        return self.source.n_rows, self.n_features

    def _refuse_nothing(self) -> None:
        if min(self.shape) < 1:
            raise ValueError(
                f"{self.name} has {self.shape[0]} rows of {self.shape[1]} features; at least one "
                "of each is needed."
            )

    def __repr__(self) -> str:
        n_rows, n_features = self.shape
        return f"Blocks({self.name}: {n_rows:,} × {n_features}, {self.dtype})"

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"{self!r} would be loaded into memory whole. If it fits there, pass X.to_numpy(); "
            "conclust's k-means family takes it as it is."
        )

    def __getitem__(self, rows: Any) -> npt.NDArray[Any]:
        """Rows by number, in any order, in memory."""
        rows = np.asarray(rows, dtype=np.int64)
        order = np.argsort(rows, kind="stable")
        found = np.empty((len(rows), self.shape[1]), dtype=self.dtype)
        if len(rows):
            found[order] = self.prepared(self.source.take(rows[order]))
        return found

    def to_numpy(self) -> npt.NDArray[Any]:
        """All rows in one array."""
        found = np.empty(self.shape, dtype=self.dtype)
        for start, rows in self.read():
            self.prepared(rows, found[start : start + len(rows)])
        return found

    def read(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """One pass: ``start, rows``, as they are in the source."""
        start = 0
        for block in self.source.read(self.block_rows):
            if block.ndim != 2 or block.shape[1] != self.shape[1]:
                raise ValueError(
                    f"{self.name}: the block that begins at row {start} has shape {block.shape}; "
                    f"it must be (rows, {self.shape[1]}), as the first one is."
                )
            for at in range(0, len(block), self.block_rows):
                yield start + at, block[at : at + self.block_rows]
            start += len(block)
        if start != self.shape[0]:
            raise ValueError(
                f"{self.name} gave {start} rows in this pass, but {self.shape[0]} when it was "
                "opened; it must give the same rows each time."
            )

    # ------------------------------------------------------------------ for the estimators

    def compared(self, *, unit: bool, dtype: Any = None) -> Self:
        """The same rows, brought to unit length or not, in another type."""
        rows = copy.copy(self)
        rows.dtype = self.dtype if dtype is None else np.dtype(dtype)
        rows.preparation = Preparation(rows.dtype, unit)
        return rows

    def checked(self, *, unit: bool = False) -> Self:
        """The same rows, known to be finite and not too large; `unit`: brought to unit length.

        One pass, in which mean and variance are taken, too.
        """
        self._refuse_nothing()
        rows = self.compared(unit=unit)
        rows._summary = self.source.summary(rows)
        refuse_large(rows._summary.largest, self.shape, self.dtype, self.name)
        return rows

    def parts(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """One pass over prepared rows, ``start, rows``; what cannot be compared is refused."""
        for start, block in self.read():
            for at in range(0, len(block), self.piece_rows):
                raw = block[at : at + self.piece_rows]
                self._refuse_holes(start + at, raw)
                yield start + at, self.prepared(raw)

    def _refuse_holes(self, start: int, raw: npt.NDArray[Any]) -> None:
        """Name the first row that holds NaN or infinity, or has no direction and needs one."""
        # The sum of finite numbers may overflow, so it only tells where there is nothing to find.
        with np.errstate(over="ignore", invalid="ignore"):
            is_clean = np.isfinite(raw.sum(dtype=np.float64))
        if not is_clean and not np.isfinite(raw).all():
            row, column = np.argwhere(~np.isfinite(raw))[0].tolist()
            where = repr(self.columns[column]) if self.columns else str(column)
            what = "NaN (or nothing)" if np.isnan(raw[row, column]) else "infinity"
            raise ValueError(
                f"{self.name}: row {self.first + start + row} holds {what} in column {where}. Fill "
                "such cells or leave the rows out before."
            )
        if self.preparation.unit and not raw.any(axis=1).all():
            row = self.first + start + int(np.argmin(raw.any(axis=1)))
            raise ValueError(
                f"{self.name}: row {row} is all zeros, and metric='cosine' compares directions. "
                "Leave such rows out, or use metric='euclidean'."
            )

    def prepared(
        self, raw: npt.NDArray[Any], out: npt.NDArray[Any] | None = None
    ) -> npt.NDArray[Any]:
        """Rows as they are compared: in `dtype`, of unit length or moved to the mean."""
        return self.preparation(raw, out)

    @property
    def piece_rows(self) -> int:
        """Rows that are best prepared at a time."""
        return max(PIECE // self.n_features, 1)

    @property
    def mean(self) -> npt.NDArray[Any]:
        """(n_features,), of checked rows."""
        assert self._summary is not None
        return self._summary.mean.astype(self.dtype)

    @property
    def variance(self) -> FloatArray:
        """(n_features,), of checked rows."""
        assert self._summary is not None
        return self._summary.variance

    @property
    def total_norm(self) -> float:
        """Sum of the squared norms of checked rows, as they are prepared."""
        assert self._summary is not None
        mean, variance = self._summary.mean, self._summary.variance
        moved = self.preparation.mean
        away = mean if moved is None else mean - moved
        return float(self.shape[0] * (variance.sum() + away @ away))

    def centered(self) -> Self:
        """The same rows moved to their mean."""
        rows = copy.copy(self)
        rows.preparation = self.preparation._replace(mean=self.mean)
        return rows

    def sample(self, n_clusters: int) -> tuple[IntArray, npt.NDArray[Any]]:
        """Rows from which centres are drawn, their numbers first: all if few, else a sample.

        Always the same one, so that neither the order of starts nor threads matter.
        """
        if self._sample is None:
            n_rows, n_features = self.shape
            n_drawn = max(min(START_ROWS, START_NUMBERS // n_features), 20 * n_clusters)
            rows = np.arange(min(n_drawn, n_rows))
            if n_drawn < n_rows:
                rows = np.sort(sample_without_replacement(n_rows, n_drawn, random_state=0))
            self._sample = rows, self[rows]
        return self._sample

    def writing_to(self, labels_file: Any) -> Self:
        """The same rows, their labels in a file."""
        rows = copy.copy(self)
        rows._labels_file = LabelsFile(labels_file)
        return rows

    def lazily(self) -> Self:
        """The same rows, their labels left to the engine as a collection that is not computed."""
        rows = copy.copy(self)
        rows.is_lazy = True
        return rows

    def new_labels(self) -> Labels:
        """A label for each row, `FREE` yet: in memory, or mapped where there is a file for them."""
        if self._labels_file is None:
            return np.full(self.shape[0], FREE, dtype=np.int32)
        return self._labels_file.new(self.shape[0], FREE)

    def keep_labels(self, labels: npt.NDArray[Any]) -> None:
        """Write the labels that were found, where there is a file for them."""
        if self._labels_file is not None:
            self._labels_file.keep(labels)

    def labels(self, label: Callable[..., Labels]) -> Any:
        """``label(rows)`` of all rows, (n_rows,); of lazy ones a collection, not computed yet."""
        if self.is_lazy:
            return self.source.lazy_labels(self, label)
        labels = self.source.labels(self, label)
        self.keep_labels(labels)
        return labels

    def found_labels(self, labels: npt.NDArray[Any], label: Callable[..., Labels]) -> Any:
        """Such a collection of the labels that were found, most of them what `label` gives."""
        return self.source.found_labels(self, label, labels)

    def open_rows(self, n_clusters: int, **how: Any) -> RowsInBlocks:
        """Make them ready for k-means; see `conclust._lloyd.rows.open_rows`."""
        return self.source.rows_type(self, n_clusters, **how)
