"""Ray datasets: their blocks stay in Ray's object store, worked on by tasks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from conclust.blocks._engine import Given, OnEngine
from conclust.blocks._sources import Rows

# The column of what `predict` gives.
LABEL = "label"
# Tasks of a pass for each processor, where there are as many parts.
TASKS_PER_CPU = 4
# Bytes of the parts that one task holds in memory at a time, about.
BUNDLE = 1 << 28


class Ray(OnEngine):
    """A Ray dataset: columns of numbers, or one column that holds whole rows.

    It is run once, when its rows are counted. Its blocks stay in the object store, which spills to
    disk what memory does not hold: as they are where one column holds whole rows of the type that
    is compared, which cost nothing to look at, else as arrays made of the columns.
    """

    name = "Ray dataset"

    def __init__(self, dataset: Any, columns: Sequence[str] | None = None):
        if not hasattr(dataset, "iter_internal_ref_bundles"):
            raise TypeError(f"X is a Ray {type(dataset).__name__}; rows are a Ray dataset.")
        # Statements name rows by their position, which Ray otherwise leaves to chance.
        dataset.context.execution_options.preserve_order = True
        self._dataset = dataset
        first = next(iter(dataset.limit(1).iter_batches(batch_format="numpy")), None)
        if first is None:
            raise ValueError("Ray dataset has 0 rows; at least one is needed.")
        self._names = self._chosen(first, columns)
        cells = [first[name] for name in self._names]
        has_rows = len(cells) == 1 and cells[0].ndim == 2
        if has_rows:
            self.n_features = cells[0].shape[1]
        else:
            self.columns, self.n_features = self._names, len(self._names)
        kinds = {cell.dtype for cell in cells}
        numbers = all(kind.kind in "fiub" for kind in kinds)
        # Cells that hold nothing become NaN, which whole numbers do not know.
        single = np.float32 if kinds == {np.dtype(np.float32)} else np.float64
        self.dtype = np.dtype(single if numbers else object)
        self._is_ready = has_rows and kinds == {self.dtype}

    def _chosen(self, first: Mapping[str, Rows], columns: Sequence[str] | None) -> list[str]:
        names = list(first if columns is None else columns)
        missing = [name for name in names if name not in first]
        if missing:
            raise ValueError(
                f"{self.name} has no column {', '.join(map(repr, missing[:5]))}; it has "
                f"{', '.join(map(repr, list(first)[:10]))}."
            )
        return names

    @cached_property
    def _work(self) -> Any:
        import ray

        return ray.remote(_called)

    @cached_property
    def _counted(self) -> list[tuple[Any, int]]:
        """The parts that hold rows, and how many each."""
        import ray

        bundles = list(self._dataset.iter_internal_ref_bundles())
        blocks = [block for bundle in bundles for block in bundle.block_refs]
        if self._is_ready:
            count = ray.remote(_count)
            counts = ray.get([count.remote(block) for block in blocks])
        else:
            as_rows = ray.remote(_as_rows).options(num_returns=2)
            made = [as_rows.remote(block, self._names, self.dtype) for block in blocks]
            blocks = [rows for rows, _ in made]
            counts = ray.get([n for _, n in made])
        return [(block, n) for block, n in zip(blocks, counts, strict=True) if n]

    def count(self) -> Sequence[int]:
        """Rows of each part."""
        return [n for _, n in self._counted]

    def on_parts(self, function: Callable[..., Any], given: Given) -> Iterable[Any]:
        """Call ``function(part, *given)`` in tasks; None leaves a part out."""
        import ray

        tasks: dict[int, Any] = {}
        for bundle in self._bundles([i for i, more in enumerate(given) if more is not None]):
            parts = [self._counted[i][0] for i in bundle]
            about = self._names, self.dtype
            task = self._work.remote(function, [given[i] for i in bundle], *about, *parts)
            tasks |= dict.fromkeys(bundle, (task, bundle))
        found: dict[int, Any] = {}
        for i in sorted(tasks):
            if i not in found:
                task, bundle = tasks[i]
                try:
                    found |= zip(bundle, ray.get(task), strict=True)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None
            yield found.pop(i)

    def _bundles(self, wanted: list[int]) -> list[list[int]]:
        """Parts that one task works on: a task costs Ray as much as a sweep of 50 000 rows.

        Those of one machine, some for each of its processors, so that none waits long for another.
        """
        import ray

        n_tasks = TASKS_PER_CPU * ray.cluster_resources().get("CPU", 1)
        held = ray.experimental.get_object_locations([self._counted[i][0] for i in wanted])
        machines: dict[Any, list[int]] = {}
        for i in wanted:
            machines.setdefault(tuple(held[self._counted[i][0]]["node_ids"]), []).append(i)
        row_bytes = self.n_features * self.dtype.itemsize
        bundles: list[Any] = []
        for parts in machines.values():
            n_bytes = sum(self._counted[i][1] for i in parts) * row_bytes
            n_bundles = max(n_tasks * len(parts) / len(wanted), n_bytes / BUNDLE)
            bundles += np.array_split(parts, min(ceil(n_bundles), len(parts)))
        return [bundle.tolist() for bundle in bundles]

    def map(self, function: Callable[[Rows], Rows]) -> Any:
        """A Ray dataset with one column, the number of each row."""
        given = {"function": function, "names": self._names, "dtype": self.dtype}
        how: dict[str, Any] = {"batch_size": None, "batch_format": "numpy"}
        return self._dataset.map_batches(_labelled, fn_kwargs=given, **how)

    def found_labels(self, rows: Any, label: Callable[[Rows], Rows], labels: Rows) -> Any:
        """The same of labels there are, put into the object store."""
        import pyarrow
        import ray

        parts = [pyarrow.table({LABEL: labels[start:stop]}) for start, stop in self.ranges]
        dataset = ray.data.from_arrow(parts)
        dataset.context.execution_options.preserve_order = True
        return dataset


def _called(
    function: Callable[..., Any],
    given: list[tuple[Any, ...]],
    names: list[str],
    dtype: np.dtype[Any],
    *parts: Any,
) -> list[Any]:
    every = (p if isinstance(p, np.ndarray) else _as_rows(p, names, dtype)[0] for p in parts)
    return [function(rows, *more) for rows, more in zip(every, given, strict=True)]


def _as_rows(block: Any, names: list[str], dtype: np.dtype[Any]) -> tuple[Rows, int]:
    from ray.data.block import BlockAccessor

    cells = BlockAccessor.for_block(block).to_numpy(names)
    rows = _stacked(cells, names, dtype)
    return rows, len(rows)


def _count(block: Any) -> int:
    from ray.data.block import BlockAccessor

    n_rows: int = BlockAccessor.for_block(block).num_rows()
    return n_rows


def _stacked(cells: Mapping[str, Rows], names: list[str], dtype: np.dtype[Any]) -> Rows:
    columns = [np.asarray(cells[name]) for name in names]
    if len(columns) == 1 and columns[0].ndim == 2:
        return np.ascontiguousarray(columns[0], dtype=dtype)
    return np.stack(columns, axis=1).astype(dtype, copy=False)


def _labelled(
    batch: Mapping[str, Rows],
    function: Callable[[Rows], Rows],
    names: list[str],
    dtype: np.dtype[Any],
) -> dict[str, Rows]:
    return {LABEL: function(_stacked(batch, names, dtype))}
