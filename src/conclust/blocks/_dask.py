"""Dask arrays and data frames: their parts are swept where they are, labels and sums travel."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import IntArray
from conclust._lloyd.in_blocks import RowsInBlocks
from conclust._lloyd.sweep import Assigned, NearestCenters
from conclust.blocks._prepare import Preparation
from conclust.blocks._sources import Rows, Source


class Dask(Source):
    """A dask array or data frame, its parts below each other.

    A part is computed anew in each pass, unless the user has kept it with ``persist``.
    """

    def __init__(self, collection: Any):
        import dask

        self.name = f"dask {type(collection).__name__.lower()}"
        if hasattr(collection, "columns"):
            self.columns = [str(name) for name in collection.columns]
            values = collection.to_dask_array(lengths=True)
        else:
            values = collection
        if values.ndim != 2:
            raise ValueError(
                f"{self.name} has shape {values.shape}; rows are the first of two dimensions."
            )
        if np.isnan(values.shape[0]):
            values = values.compute_chunk_sizes()
        self._held = collection  # parts that were persisted are dropped with the last reference
        values = values.rechunk({1: -1})
        self._compute, self._delayed = dask.compute, dask.delayed
        self._parts = values.to_delayed().ravel().tolist()
        self.starts = np.cumsum([0, *values.chunks[0]])
        self.n_rows, self.n_features = map(int, values.shape)
        self.dtype = values.dtype

    def read(self, block_rows: int) -> Iterator[Rows]:
        for part in self._parts:
            yield np.asarray(self._compute(part)[0])

    def take(self, rows: IntArray) -> Rows:
        """The rows with these numbers, which ascend; no others travel."""
        cuts = np.searchsorted(rows, self.starts)
        found = self.on_parts(
            _taken,
            [
                (rows[first:last] - start,) if first < last else None
                for first, last, start in zip(cuts, cuts[1:], self.starts, strict=False)
            ],
        )
        return np.concatenate(found)

    def on_parts(
        self, function: Callable[..., Any], given: Sequence[tuple[Any, ...] | None]
    ) -> Any:
        """Call ``function(part, *given)`` for each part where it is; None leaves a part out."""
        work = self._delayed(function, pure=False)
        tasks = [
            work(part, *more)
            for part, more in zip(self._parts, given, strict=True)
            if more is not None
        ]
        return self._compute(*tasks)


class Swept(NamedTuple):
    """What the sweep over one part leaves."""

    labels: npt.NDArray[np.int32]
    sums: npt.NDArray[Any]
    masses: npt.NDArray[Any]
    linked: tuple[npt.NDArray[Any], ...]  # nearest, second, nearest_distance, distances


class RowsOnDask(RowsInBlocks):
    """`RowsInBlocks` whose sweeps and distances are computed part by part by dask.

    Centres travel there and labels, sums and what linked rows need travel back; everything else,
    the sequential placement included, is done here.
    """

    def __init__(self, X: Any, n_clusters: int, **how: Any):
        super().__init__(X, n_clusters, **how)
        self._source: Dask = X.source
        self._all_distances = bool(how.get("all_distances"))
        starts = self._source.starts
        self._ranges = list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))

    def sweep(self, centers: np.ndarray) -> Assigned:
        """Give every row its nearest centre and sum anew; rank the centres for linked rows."""
        linked = self.linked.rows
        cuts = np.searchsorted(linked, self._source.starts)
        given = [
            (
                self.X.preparation,
                centers,
                self.weight[start:stop] if len(self.weight) else None,
                linked[first:last] - start,
                self._all_distances,
            )
            for (start, stop), first, last in zip(self._ranges, cuts, cuts[1:], strict=False)
        ]
        self.linked.before[:] = self.labels[linked]
        self._sums.fill(0)
        self._masses.fill(0)
        self._n_changed = 0
        found: list[Swept] = self._source.on_parts(_swept, given)
        for (start, stop), first, last, part in zip(
            self._ranges, cuts, cuts[1:], found, strict=False
        ):
            self._n_changed += int(np.count_nonzero(self.labels[start:stop] != part.labels))
            self.labels[start:stop] = part.labels
            self._sums[0] += part.sums
            self._masses[0] += part.masses
            for mine, theirs in zip(self.linked[3:7], part.linked, strict=True):
                if len(mine):
                    mine[first:last] = theirs
        self._inertia = self._inertia_of_sums(centers)
        return Assigned(self._n_changed, self._inertia)

    def _measured(self, centers: np.ndarray, use: Callable[[int, np.ndarray], Any]) -> list[Any]:
        given = [
            (self.X.preparation, centers, self.labels[start:stop]) for start, stop in self._ranges
        ]
        found = self._source.on_parts(_distances, given)
        starts = [start for start, _ in self._ranges]
        # What dask hands out may not be written to.
        return [use(start, np.array(part)) for start, part in zip(starts, found, strict=True)]


def _taken(part: Rows, rows: IntArray) -> Rows:
    return np.asarray(part)[rows]


def _swept(
    part: Rows,
    preparation: Preparation,
    centers: npt.NDArray[Any],
    weight: npt.NDArray[Any] | None,
    linked: IntArray,
    all_distances: bool,
) -> Swept:
    rows = NearestCenters(
        preparation(np.asarray(part)),
        len(centers),
        sample_weight=weight,
        linked=linked,
        all_distances=all_distances,
        n_threads=1,
    )
    with rows:
        rows.sweep(centers)
    about = rows.nearest, rows.second, rows.nearest_distance, rows.distances
    return Swept(rows.labels, *rows.totals, about)


def _distances(
    part: Rows,
    preparation: Preparation,
    centers: npt.NDArray[Any],
    labels: npt.NDArray[np.int32],
) -> npt.NDArray[Any]:
    rows = NearestCenters(preparation(np.asarray(part)), len(centers), n_threads=1)
    rows.labels = np.array(labels)
    with rows:
        return rows.distances_to_own(centers)


Dask.rows_type = RowsOnDask
