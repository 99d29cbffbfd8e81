"""What to do once k-means stands still: single moves, swaps of two, that lower the objective."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust._kernels._short import short
from conclust._kernels.exact_moves import move_parts, swap_parts
from conclust._lloyd.rows import Rows
from conclust._lloyd.sweep import on_sphere
from conclust._pairs import Graph

# Looks at all parts before the batch steps go on, and visits of those that are near to a move.
MAX_LOOKS = 10
MAX_PASSES = 20
# Parts that are visited again while others move: those whose best move costs no more than this
# share of what they pay. The others are looked at when these have come to rest.
NEAR = 0.2
# Parts that are looked at for swaps of two: those to which another centre is nearly as near. Ten
# times as many take ten times as long and end no lower.
N_SWAPPED = 400
# Numbers in the means of the parts that are handled in one call: 32 MB.
BLOCK = 1 << 22
NO_GROUPS = (np.zeros(1, np.int64), np.zeros(0, np.int64))


class Statements(NamedTuple):
    """Links between vertices, which are linked rows or units of them."""

    rows: IntArray  # (n_linked,) ascending
    vertex: IntArray  # (n_linked,) vertex of each
    graph: Graph
    sign: npt.NDArray[np.int8]  # (n_links,)
    price: FloatArray  # (n_links,): infinity forbids


class Parts(NamedTuple):
    """What moves as one: groups of vertices, then vertices, then rows that nothing is said of.

    Vertices from ``n_vertices`` on are rows: ``n_vertices + i`` is row i.
    """

    statements: Statements
    weight: np.ndarray  # (n_samples,)
    mass: FloatArray  # (n_parts,)
    starts: IntArray  # (n_parts + 1,): vertices of part h are members[starts[h]:starts[h + 1]]
    members: IntArray
    row_starts: IntArray  # (n_parts + 1,): and its rows are rows[row_starts[h]:row_starts[h + 1]]
    rows: IntArray


def parts_of(
    statements: Statements, groups: tuple[IntArray, IntArray], weight: np.ndarray
) -> Parts:
    """Collect what moves as one.

    Parameters
    ----------
    statements : Statements
    groups : tuple of ndarray
        ``starts, members``: sets of vertices that move as one besides moving alone.
    weight : ndarray of shape (n_samples,)
    """
    n_vertices = len(statements.graph.indptr) - 1
    free = np.ones(len(weight), dtype=bool)
    free[statements.rows] = False
    free = np.flatnonzero(free)
    # Rows of each vertex, then of each group.
    by_vertex = np.argsort(statements.vertex, kind="stable")
    firsts = np.searchsorted(statements.vertex[by_vertex], np.arange(n_vertices + 1))
    starts, members = groups
    members = members[np.lexsort((members, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))]
    sizes = np.diff(firsts)[members]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    in_groups = by_vertex[_ranges(firsts[members], sizes)]
    return Parts(
        statements,
        weight,
        np.concatenate(
            [
                np.bincount(
                    np.repeat(np.arange(len(starts) - 1), np.diff(ends[starts])),
                    weight[statements.rows[in_groups]],
                    len(starts) - 1,
                ),
                np.bincount(statements.vertex, weight[statements.rows], n_vertices),
                weight[free],
            ]
        ).astype(np.float64),
        np.concatenate([starts, len(members) + 1 + np.arange(n_vertices + len(free))]),
        np.concatenate([members, np.arange(n_vertices), n_vertices + free]),
        np.concatenate(
            [
                ends[starts],
                ends[-1] + firsts[1:],
                ends[-1] + firsts[-1] + 1 + np.arange(len(free)),
            ]
        ),
        np.concatenate([statements.rows[in_groups], statements.rows[by_vertex], free]),
    )


def _ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Numbers ``starts[i], …, starts[i] + sizes[i] − 1``, one range after the other."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)


class ExactMoves:
    """Moves of single parts, with the means moving along (Hartigan); under sizes, also of two.

    Parameters
    ----------
    rows : Rows
    parts : Parts
    spherical : bool, default=False
        Centres are the means brought to unit length. There nothing is swapped.
    bounds : tuple of ndarray, default=None
        Least and largest mass of each cluster.
    """

    def __init__(
        self,
        rows: Rows,
        parts: Parts,
        n_features: int,
        *,
        spherical: bool = False,
        bounds: tuple[FloatArray, FloatArray] | None = None,
    ):
        self._rows, self._parts, self._spherical = rows, parts, spherical
        self._bounds = bounds
        step = max(BLOCK // n_features, 1)
        self._blocks = [slice(at, at + step) for at in range(0, len(parts.mass), step)]
        self._means = self._gather(self._blocks[0]) if len(self._blocks) == 1 else None

    def means(self, centers: np.ndarray) -> np.ndarray:
        """Means of the rows' labels; a cluster that has no rows stays where it is in `centers`."""
        parts, n_clusters = self._parts, len(centers)
        own = self._rows.labels
        masses = np.bincount(own, parts.weight, n_clusters)
        sums = self._rows.sums(None, own, n_clusters)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / masses[:, np.newaxis]
        return np.where(masses[:, np.newaxis] > 0, means, centers).astype(centers.dtype)

    def __call__(
        self, centers: np.ndarray, labels: npt.NDArray[np.integer]
    ) -> tuple[np.ndarray, int]:
        """Move until nothing wants to.

        Parameters
        ----------
        centers : ndarray of shape (n_clusters, n_features)
            Means of the rows' labels, on the sphere where they belong there; anywhere for a cluster
            that has no rows.
        labels : ndarray of shape (n_vertices,)
            Of the vertices; changed in place, as are those of the rows.

        Returns
        -------
        centers : ndarray of shape (n_clusters, n_features)
            Means of the new labels.
        n_moves : int
        """
        parts, own, n_vertices = self._parts, self._rows.labels, len(labels)
        every = np.concatenate([labels, own], dtype=np.int32)
        means = self.means(centers) if self._spherical else centers
        columns = np.array(means.T, dtype=np.float64, order="C")
        masses = np.bincount(own, parts.weight, len(centers)).astype(np.float64)
        least = 1e3 * float(np.finfo(centers.dtype).eps)
        n_moves, last = 0, -1
        while n_moves > last:
            last = n_moves
            for block in self._blocks:
                n_moves += self._settle(block, columns, masses, every, least)
            if len(self._blocks) == 1 and self._bounds is None:
                break
        if n_moves:
            labels[:] = every[:n_vertices]
            own[:] = every[n_vertices:]
            statements = parts.statements
            own[statements.rows] = labels[statements.vertex]
        found = np.ascontiguousarray(columns.T, dtype=centers.dtype)
        return on_sphere(found, centers) if self._spherical else found, n_moves

    def _settle(
        self,
        block: slice,
        columns: FloatArray,
        masses: FloatArray,
        labels: npt.NDArray[np.int32],
        least: float,
    ) -> int:
        """Move parts of one block until none of them wants to; return how many moves were made."""
        parts, (_, _, graph, sign, price) = self._parts, self._parts.statements
        means = self._gather(block) if self._means is None else self._means
        regret = np.empty(len(means))
        starts = parts.starts[block.start : block.start + len(means) + 1]
        told = means, parts.mass[block], starts, parts.members, *graph, sign, price
        n_clusters = len(masses)
        bounds = self._bounds or (np.full(n_clusters, -np.inf), np.full(n_clusters, np.inf))

        def visit(order: IntArray, max_passes: int) -> int:
            move = short(move_parts, len(order) * columns.size)
            return move(
                *told, order, max_passes, least, *bounds, self._spherical, regret, labels,
                columns, masses,
            )  # fmt: skip

        n_moves, everybody = 0, np.arange(len(means))
        for _ in range(MAX_LOOKS):
            visit(everybody, 0)
            if not (regret < -least).any():
                break
            near = np.flatnonzero(regret < NEAR)
            n_moves += visit(near[np.argsort(regret[near], kind="stable")], MAX_PASSES)
        if self._bounds is not None and not self._spherical:
            order = _torn(means, parts.mass[block], labels[parts.members[starts[:-1]]], columns)
            swap = short(swap_parts, 10 * len(order) ** 2)
            n_moves += swap(
                *told, order, MAX_PASSES, least, *bounds, labels, columns, masses
            )  # fmt: skip
        return n_moves

    def _gather(self, block: slice) -> FloatArray:
        """Means of the parts of one block."""
        parts = self._parts
        mass = parts.mass[block]
        starts = parts.row_starts[block.start : block.start + len(mass) + 1]
        number = np.repeat(np.arange(len(mass)), np.diff(starts))
        sums = self._rows.sums(parts.rows[starts[0] : starts[-1]], number, len(mass))
        return sums / np.where(mass > 0, mass, 1.0)[:, np.newaxis]


def _torn(
    means: FloatArray, mass: FloatArray, own: npt.NDArray[np.int32], columns: FloatArray
) -> IntArray:
    """Parts to which going elsewhere costs least, in ascending order."""
    cost = (columns**2).sum(axis=0) - 2 * means @ columns
    cost -= cost[np.arange(len(own)), own][:, np.newaxis]
    cost[np.arange(len(own)), own] = np.inf
    return np.sort(np.argsort(mass * cost.min(axis=1), kind="stable")[:N_SWAPPED])
