"""Dask arrays and data frames: delayed parts, computed by whatever scheduler dask has."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from conclust.blocks._engine import Given, OnEngine, labelling
from conclust.blocks._sources import Rows


class Dask(OnEngine):
    """A dask array or data frame.

    A part is computed anew in each pass, unless the user has kept it with ``persist``.
    """

    def __init__(self, collection: Any, columns: Sequence[str] | None = None):
        import dask

        self._compute, self._delayed = dask.compute, dask.delayed
        self.name = f"dask {type(collection).__name__.lower()}"
        is_frame = hasattr(collection, "columns") and hasattr(collection, "to_dask_array")
        if not is_frame and not hasattr(collection, "to_delayed"):
            raise TypeError(f"X is a {self.name}; rows are a dask array or data frame.")
        if is_frame:
            collection = collection if columns is None else self._chosen(collection, columns)
            self.columns = [str(name) for name in collection.columns]
        values = collection.to_dask_array() if is_frame else collection
        if getattr(values, "ndim", None) != 2:
            raise ValueError(
                f"{self.name} has shape {getattr(values, 'shape', 'unknown')}; rows are the first "
                "of two dimensions."
            )
        self._held = collection  # parts that were persisted are dropped with the last reference
        self._values = values.rechunk({1: -1})
        self.n_features, self.dtype = int(values.shape[1]), values.dtype

    def _chosen(self, frame: Any, columns: Sequence[str]) -> Any:
        missing = [name for name in columns if name not in frame.columns]
        if missing:
            raise ValueError(
                f"{self.name} has no column {', '.join(map(repr, missing[:5]))}; it has "
                f"{', '.join(map(repr, frame.columns[:10]))}."
            )
        return frame[list(columns)]

    @cached_property
    def _sized(self) -> list[tuple[Any, int]]:
        """The parts, and how many rows each holds; computed where dask does not know it."""
        parts, sizes = self._values.to_delayed().ravel().tolist(), self._values.chunks[0]
        if np.isnan(sizes).any():
            count = self._delayed(len, pure=False)
            sizes = self._compute(*(count(part) for part in parts))
        return list(zip(parts, sizes, strict=True))

    @property
    def _counted(self) -> list[tuple[Any, int]]:
        """Those that hold rows."""
        return [(part, n) for part, n in self._sized if n]

    def count(self) -> Sequence[int]:
        """Rows of each part."""
        return [n for _, n in self._counted]

    def on_parts(self, function: Callable[..., Any], given: Given) -> Iterable[Any]:
        """Call ``function(part, *given)`` for each part where it is; None leaves a part out."""
        work = self._delayed(_called, pure=False)
        # Inside a partial dask does not look for collections, argument by argument.
        tasks = [
            work(part, partial(_with, function, more))
            for (part, _), more in zip(self._counted, given, strict=True)
            if more is not None
        ]
        found: Iterable[Any] = self._compute(*tasks)
        return found

    def map(self, function: Callable[[Rows], Rows]) -> Any:
        """A dask array of one number for each row."""
        return self._map(function)

    def found_labels(self, rows: Any, label: Callable[[Rows], Rows], labels: Rows) -> Any:
        """A dask array with the parts of X: what `label` gives, but for what differs from it."""
        from dask.array import from_array

        sizes = tuple(n for _, n in self._sized)
        corrections = np.empty((len(sizes), 1), dtype=object)  # beside each part its own
        found = self.corrections(rows, label, labels)
        for part, correction in zip(np.flatnonzero(sizes), found, strict=True):
            corrections[part, 0] = correction
        beside = from_array(corrections, chunks=1, name=False)
        return self._map(_corrected, beside, labelling(rows, label), chunks=(sizes,))

    def _map(self, function: Callable[..., Rows], *more: Any, **how: Any) -> Any:
        meta = np.empty(0, dtype=np.int32)
        how |= {"drop_axis": 1, "dtype": meta.dtype, "meta": meta}
        return self._values.map_blocks(function, *more, **how)


def _corrected(part: Rows, correction: Rows, label: Callable[[Rows], Rows]) -> Rows:
    found = label(part)
    if len(part):
        rows, labels = correction.item()
        found[rows] = labels
    return found


def _called(part: Rows, call: Callable[[Rows], Any]) -> Any:
    return call(part)


def _with(function: Callable[..., Any], given: tuple[Any, ...], part: Rows) -> Any:
    return function(part, *given)
