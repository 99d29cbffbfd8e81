"""Rows on an engine: parts are swept where they are; centres, labels and sums travel."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import IntArray
from conclust._lloyd.in_blocks import RowsInBlocks
from conclust._lloyd.sweep import Assigned, _squared_norms
from conclust.blocks._blocks import Blocks
from conclust.blocks._prepare import Preparation
from conclust.blocks._sources import OneArray, Rows, Source
from conclust.blocks._summary import Summary, summary_of, together

# What a part is given beside its rows; None leaves it out.
Given = Sequence[tuple[Any, ...] | None]


class OnEngine(Source):
    """A collection of an engine, its parts below each other; nothing is computed before it must be.

    A subclass sets the attributes but `n_rows`, and says how to `count`, to work `on_parts`, to
    `map` lazily and what becomes of `found_labels`.
    """

    is_counted = False

    def count(self) -> Sequence[int]:
        """Rows of each part; none is empty."""
        raise NotImplementedError

    def on_parts(self, function: Callable[..., Any], given: Given) -> Iterable[Any]:
        """Call ``function(part, *given)`` for each part where it is, in order."""
        raise NotImplementedError

    def map(self, function: Callable[[Rows], Rows]) -> Any:
        """``function(part)`` of every part, one number for each row, as a lazy collection."""
        raise NotImplementedError

    @cached_property
    def starts(self) -> IntArray:
        """(n_parts + 1,): number of the first row of each part, and of all rows."""
        return np.cumsum([0, *self.count()])

    @cached_property
    def n_rows(self) -> int:  # type: ignore[override]
        """Rows of all parts; they are counted when this is first asked for."""
        return int(self.starts[-1])

    def read(self, block_rows: int) -> Iterator[Rows]:
        """Yield the parts one after the other: they come by here."""
        n_parts = len(self.starts) - 1
        for number in range(n_parts):
            only: Given = [() if each == number else None for each in range(n_parts)]
            yield from self.on_parts(np.asarray, only)

    def take(self, rows: IntArray) -> Rows:
        """The rows with these numbers, which ascend; no others travel."""
        cuts = np.searchsorted(rows, self.starts)
        given: Given = [
            (rows[first:last] - start,) if first < last else None
            for (first, last), start in zip(pairwise(cuts), self.starts, strict=False)
        ]
        return np.concatenate(list(self.on_parts(_taken, given)))

    def summary(self, rows: Any) -> Summary:
        """What is to be known of the rows before k-means; each part is checked where it is."""
        about = rows.name, rows.columns, rows.preparation
        given: Given = [(start, *about) for start, _ in self.ranges]
        return together(list(self.on_parts(_summary, given)))

    def labels(self, rows: Any, label: Callable[[Rows], Rows]) -> Rows:
        """``label(rows)`` of all rows, found where they are."""
        about = label, rows.name, rows.columns, rows.preparation
        given: Given = [(start, *about) for start, _ in self.ranges]
        return np.concatenate(list(self.on_parts(_labels, given)))

    def lazy_labels(self, rows: Any, label: Callable[[Rows], Rows]) -> Any:
        """The same, computed by the engine when asked for."""
        return self.map(labelling(rows, label))

    def corrections(
        self, rows: Any, label: Callable[[Rows], Rows], labels: Rows
    ) -> Iterable[tuple[IntArray, Rows]]:
        """Of each part, which rows `label` does not give their label, and that label."""
        work, small = labelling(rows, label), _label_type(int(labels.max()) + 1)
        given: Given = [(work, labels[start:stop].astype(small)) for start, stop in self.ranges]
        return self.on_parts(_corrections, given)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """First row of each part, and the one after its last."""
        return list(pairwise(self.starts.tolist()))


class Swept(NamedTuple):
    """What the sweep over one part leaves."""

    labels: npt.NDArray[Any]
    sums: npt.NDArray[Any]
    masses: npt.NDArray[Any]
    linked: tuple[npt.NDArray[Any], ...]  # nearest, second, nearest_distance, distances


class RowsOnEngine(RowsInBlocks):
    """`RowsInBlocks` whose sweeps and distances are computed part by part by the engine.

    Centres travel there and labels, sums and what linked rows need travel back; everything else,
    the sequential placement included, is done here.
    """

    def __init__(self, X: Any, n_clusters: int, **how: Any):
        super().__init__(X, n_clusters, **how)
        self._source: OnEngine = X.source
        self._all_distances = bool(how.get("all_distances"))

    def sweep(self, centers: np.ndarray) -> Assigned:
        """Give every row its nearest centre and sum anew; rank the centres for linked rows."""
        linked, ranges = self.linked.rows, self._source.ranges
        cuts = np.searchsorted(linked, self._source.starts)
        slots = list(pairwise(cuts))
        given: Given = [
            (linked[first:last] - start, self._all_distances, centers)
            for (start, _), (first, last) in zip(ranges, slots, strict=True)
        ]
        self.linked.before[:] = self.labels[linked]
        self._sums.fill(0)
        self._masses.fill(0)
        self._n_changed = 0
        every = zip(ranges, slots, self._on_parts(_swept, given), strict=True)
        for (start, stop), (first, last), part in every:
            self._n_changed += int(np.count_nonzero(self.labels[start:stop] != part.labels))
            self.labels[start:stop] = part.labels
            self._sums[0] += part.sums
            self._masses[0] += part.masses
            for mine, theirs in zip(self.linked[3:7], part.linked, strict=True):
                if len(mine):
                    mine[first:last] = theirs
        self._inertia = self._inertia_of_sums(centers)
        return Assigned(self._n_changed, self._inertia)

    def inertia(self, centers: np.ndarray) -> float:
        """Weighted sum of the squared distances of all rows to the centre of their cluster."""
        return sum(self._on_parts(_inertia, self._with_labels(centers)))

    def distances_to_own(self, centers: np.ndarray) -> np.ndarray:
        """Squared distance of each row to the centre of its cluster, (n_samples,)."""
        return np.concatenate(list(self._on_parts(_distances, self._with_labels(centers))))

    def _with_labels(self, centers: np.ndarray) -> Given:
        labels = self.labels.astype(_label_type(len(centers)))
        return [(labels[start:stop], centers) for start, stop in self._source.ranges]

    def _on_parts(self, function: Callable[..., Any], given: Given) -> Iterable[Any]:
        """``function(part, preparation, weight, *given)`` of each part."""
        weights = (
            self.weight[start:stop] if len(self.weight) else None
            for start, stop in self._source.ranges
        )
        every: Given = [
            (self.X.preparation, weight, *(more or ()))
            for weight, more in zip(weights, given, strict=True)
        ]
        return self._source.on_parts(function, every)


OnEngine.rows_type = RowsOnEngine


# ---------------------------------------------------------------------- done where the parts are


class _Part(RowsInBlocks):
    """The rows of one part; nobody asks it for the inertia of its sums, which needs all norms."""

    def _measure_norms(self) -> float:
        self.linked.norms[:] = _squared_norms(self._resident)
        return 0.0


def _rows_of(part: Rows, name: str, columns: list[str] | None, preparation: Preparation) -> Blocks:
    rows = Blocks(OneArray(np.asarray(part), name))
    rows.columns, rows.preparation, rows.dtype = columns, preparation, preparation.dtype
    return rows


def _part_of(
    part: Rows,
    preparation: Preparation,
    weight: npt.NDArray[Any] | None,
    centers: npt.NDArray[Any],
    **how: Any,
) -> _Part:
    rows = _rows_of(part, "X", None, preparation)
    return _Part(rows, len(centers), sample_weight=weight, n_threads=1, **how)


def _taken(part: Rows, rows: IntArray) -> Rows:
    return np.asarray(part)[rows]


def _summary(
    part: Rows, start: int, name: str, columns: list[str] | None, preparation: Preparation
) -> Summary:
    rows = _rows_of(part, name, columns, preparation)
    rows.first = start
    return summary_of(rows.parts())


def _labels(
    part: Rows,
    start: int,
    label: Callable[[Rows], Rows],
    name: str,
    columns: list[str] | None,
    preparation: Preparation,
) -> Rows:
    if not len(part):
        return np.empty(0, dtype=np.int32)
    rows = _rows_of(part, name, columns, preparation)
    rows.first = start
    return rows.labels(label)


def labelling(rows: Any, label: Callable[[Rows], Rows]) -> Callable[[Rows], Rows]:
    """``label(rows)`` of any part: nobody has looked for its place among the others."""
    about = {"name": f"a part of the {rows.name}", "columns": rows.columns}
    return partial(_labels, start=0, label=label, preparation=rows.preparation, **about)


def _corrections(part: Rows, label: Callable[[Rows], Rows], labels: Rows) -> tuple[IntArray, Rows]:
    rows = np.flatnonzero(label(part) != labels)
    return rows, labels[rows]


def _swept(
    part: Rows,
    preparation: Preparation,
    weight: npt.NDArray[Any] | None,
    linked: IntArray,
    all_distances: bool,
    centers: npt.NDArray[Any],
) -> Swept:
    how = {"linked": linked, "all_distances": all_distances}
    with _part_of(part, preparation, weight, centers, **how) as rows:
        rows.sweep(centers)
    about = rows.nearest, rows.second, rows.nearest_distance, rows.distances
    return Swept(rows.labels.astype(_label_type(len(centers))), *rows.totals, about)


def _inertia(
    part: Rows,
    preparation: Preparation,
    weight: npt.NDArray[Any] | None,
    labels: npt.NDArray[Any],
    centers: npt.NDArray[Any],
) -> float:
    with _part_of(part, preparation, weight, centers) as rows:
        rows.labels = labels.astype(np.int32)
        return rows.inertia(centers)


def _distances(
    part: Rows,
    preparation: Preparation,
    weight: npt.NDArray[Any] | None,
    labels: npt.NDArray[Any],
    centers: npt.NDArray[Any],
) -> npt.NDArray[Any]:
    with _part_of(part, preparation, weight, centers) as rows:
        rows.labels = labels.astype(np.int32)
        return rows.distances_to_own(centers)


def _label_type(n_clusters: int) -> type[np.signedinteger[Any]]:
    """The smallest type that holds all labels and the mark of none: they travel in each pass."""
    if n_clusters <= 1 << 7:
        return np.int8
    return np.int16 if n_clusters <= 1 << 15 else np.int32
