"""The verbs over rows that are read block by block: linked rows stay, the others pass by."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust._kernels.nearest import BLOCK, FREE, Factors, Linked, move_dense, sweep_dense
from conclust._lloyd.sweep import NearestCenters, _split, _squared_norms

# Numbers that are gathered at a time from anywhere: 32 MB.
GATHERED = 1 << 22


class RowsInBlocks(NearestCenters):
    """`Rows` of a source: each verb that needs all rows is one pass over its blocks.

    Parameters
    ----------
    X : Blocks
        Checked, and moved to their mean.
    n_clusters, sample_weight, linked, all_distances, spherical, n_threads
        As in `NearestCenters`.

    Notes
    -----
    In memory are the labels, the linked rows, one block, and what `NearestCenters` needs beside
    its rows. With one thread, sums are added up in the order in which `NearestCenters` adds.
    """

    X: Any
    is_small = False

    def __init__(self, X: Any, n_clusters: int, **how: Any):
        n_features = X.shape[1]
        self._n_piece = -(-X.piece_rows // BLOCK) * BLOCK
        linked = how.get("linked")
        self._resident = X[() if linked is None else linked]
        super().__init__(X, n_clusters, **how)
        shape = (self._n_piece, n_features)
        self._room = [np.empty(shape, dtype=X.dtype) for _ in self._work]
        rows = self.linked.rows
        self._resident_weight = self.weight[rows] if len(self.weight) else self.weight
        self._of_resident = self.linked._replace(rows=np.arange(len(rows)))

    def _new_labels(self) -> np.ndarray:
        labels: np.ndarray = self.X.new_labels()
        return labels

    def _label(self, factors: Factors) -> int:
        labels = self.labels  # made here, rather than by each thread

        def part(thread: int, start: int, rows: np.ndarray) -> int:
            stop = start + len(rows)
            return sweep_dense(
                rows,
                self.weight[start:stop],
                factors,
                0,
                len(rows),
                0,
                self._eps,
                self._linked_between(start, stop),
                self._work[thread],
                labels[start:stop],
                self._totals[thread],
            )

        return sum(self._over_pieces(part))

    def _put(self, placed: np.ndarray) -> int:
        own = np.empty(len(placed), dtype=np.int32)

        def part(thread: int, start: int, stop: int) -> int:
            return move_dense(
                self._resident,
                self._resident_weight,
                start,
                stop,
                self._of_resident,
                placed,
                own,
                self._totals[thread],
            )

        n_changed = sum(self._in_threads(part, self._slots))
        self.labels[self.linked.rows] = placed
        return n_changed

    def inertia(self, centers: np.ndarray) -> float:
        """Weighted sum of the squared distances of all rows to the centre of their cluster."""

        def part(start: int, squared: np.ndarray) -> float:
            stop = start + len(squared)
            squared[self.labels[start:stop] == FREE] = 0
            return self._weighted_sum(squared, start, stop)

        return sum(self._measured(centers, part))

    def distances_to_own(self, centers: np.ndarray) -> np.ndarray:
        """Squared distance of each row to the centre of its cluster, (n_samples,)."""
        distances = np.empty(self.X.shape[0], dtype=self.X.dtype)

        def part(start: int, squared: np.ndarray) -> None:
            distances[start : start + len(squared)] = squared

        self._measured(centers, part)
        return distances

    def sums(self, rows: np.ndarray | None, part: np.ndarray, n_parts: int) -> np.ndarray:
        """Weighted sums of some rows (None: of all) by part, (n_parts, n_features) float64."""
        total = np.zeros((n_parts, self.X.shape[1]))
        every = self._chunks_of_rows() if rows is None else self._gathered(rows)
        for start, stop, chunk in every:
            where = slice(start, stop) if rows is None else rows[start:stop]
            weight = self.weight[where].astype(float) if len(self.weight) else np.ones(len(chunk))
            entries = (weight, (part[start:stop], np.arange(len(chunk))))
            total += sp.csr_array(entries, (n_parts, len(chunk))) @ chunk
        return total

    def row(self, i: int) -> np.ndarray:
        """One row as a dense array, (n_features,); not to be written to."""
        slot = int(np.searchsorted(self.linked.rows, i))
        if slot < len(self.linked.rows) and self.linked.rows[slot] == i:
            return self._resident[slot]
        return self.X[np.array([i])][0]

    def _linked_between(self, start: int, stop: int) -> Linked:
        """What a sweep leaves about the linked rows of a range, their numbers counted from it."""
        rows = self.linked.rows
        here = slice(rows.searchsorted(start), rows.searchsorted(stop))
        return Linked(rows[here] - start, *(each[here] for each in self.linked[1:]))

    def _measure_norms(self) -> float:
        self.linked.norms[:] = _squared_norms(self._resident)
        if not len(self.weight):
            return float(self.X.total_norm)
        every = self._chunks_of_rows()
        return sum(self._weighted_sum(_squared_norms(rows), a, b) for a, b, rows in every)

    def _measured(self, centers: np.ndarray, use: Callable[[int, np.ndarray], Any]) -> list[Any]:
        """Call ``use(start, squared)`` with the distances of the rows to their centres."""
        norms = _squared_norms(centers)

        def part(thread: int, start: int, rows: np.ndarray) -> Any:
            squared = np.empty(len(rows), dtype=self.X.dtype)
            labels = self.labels[start : start + len(rows)]
            self._measuring(len(rows))(rows, centers, norms, 0, len(rows), labels, squared)
            return use(start, squared)

        return self._over_pieces(part)

    def _over_pieces(self, part: Callable[[int, int, np.ndarray], Any]) -> list[Any]:
        """Call ``part(thread, start, rows)`` for all rows, in the threads, block after block."""
        answers: list[Any] = []
        for first, block in self.X.read():

            def pieces(
                thread: int, start: int, stop: int, first: int = first, block: np.ndarray = block
            ) -> list[Any]:
                room, found = self._room[thread], []
                for at in range(start, stop, self._n_piece):
                    raw = block[at : min(at + self._n_piece, stop)]
                    found.append(part(thread, first + at, self.X.prepared(raw, room[: len(raw)])))
                return found

            for found in self._in_threads(pieces, _split(len(block), len(self._work), BLOCK)):
                answers += found
        return answers

    def _chunks_of_rows(self) -> Iterator[tuple[int, int, np.ndarray]]:
        for first, block in self.X.read():
            for at in range(0, len(block), self._n_piece):
                raw = block[at : at + self._n_piece]
                yield first + at, first + at + len(raw), self.X.prepared(raw)

    def _gathered(self, rows: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
        step = max(GATHERED // self.X.shape[1], 1)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            yield start, start + len(some), self.X[some]
