"""The verbs over a tensor: rows are swept on their device, linked rows are placed here."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from conclust._kernels import fused
from conclust._kernels.nearest import FREE
from conclust._lloyd.sweep import Assigned, NearestCenters

try:
    import torch
except ImportError:  # whoever has a tensor has torch, but tools import every module
    torch = None

# Distances, or numbers in rows, that are held at a time: 512 MB of a GPU in single precision, and
# what the cache of a processor holds.
HELD = {"cuda": 1 << 27, "cpu": 1 << 18}
# Copies of the sums that rows on a GPU are added to in turn, or all would wait for a few addresses.
COPIES = 64

# Up to so many centres the smallest number of each column is found sooner than that of each row.
FEW = 128


class Summed(NamedTuple):
    """What a sweep adds up, on the device, where it may yet have to be computed."""

    sums: Any  # (k, d) float64
    masses: Any  # (k,) float64
    n_changed: Any  # (): rows that are not linked and changed cluster


class RowsOnDevice(NearestCenters):
    """`Rows` of a tensor, which stays on its device.

    Parameters
    ----------
    X : TensorBlocks
        Checked, and moved to their mean.
    n_clusters, sample_weight, linked, all_distances, spherical, n_threads
        As in `NearestCenters`.

    Notes
    -----
    A sweep ranks the centres for the linked rows first: while the caller places them, the device
    goes on with the others, and only `add` waits for it. Therefore, where there are linked rows,
    `sweep` answers with zeros and `add` with the whole. Per sweep there cross the centres, what
    linked rows need, and the sums; labels do when they are asked for.
    """

    is_small = False

    def __init__(self, X: Any, n_clusters: int, **how: Any):
        self._rows_there = X.tensor
        self._device = X.tensor.device
        rows = how.get("linked")
        self._linked_there = self._there(np.asarray(() if rows is None else rows, dtype=np.int64))
        self._resident = self._rows_there[self._linked_there]
        self._resident_norms = (self._resident * self._resident).sum(dim=1)
        how["n_threads"] = 1
        super().__init__(X, n_clusters, **how)
        self._sums = np.empty((1, n_clusters, X.shape[1]))
        self._masses = np.empty((1, n_clusters))
        self._is_fused = fused.fits(self._rows_there, n_clusters)
        self._weigh()
        self._share_linked()

    def _weigh(self) -> None:
        """Bring the weights to the device; those of linked rows are negative among all others."""
        n_samples, is_weighted = self.X.shape[0], len(self.weight) > 0
        self._kind = fused.ANY if is_weighted else fused.PLACED
        self._weight_there = self._resident_weight = None
        if is_weighted:
            self._weight_there = self._there(self.weight)
            self._resident_weight = self._weight_there[self._linked_there]
        elif len(self._linked_there):
            self._weight_there = torch.ones(
                n_samples, dtype=self._rows_there.dtype, device=self._device
            )
        else:
            self._kind = fused.ONES
        if self._weight_there is not None:
            self._weight_there[self._linked_there] = -1

    def _share_linked(self) -> None:
        """Let the arrays about linked rows lie where the device can write while others compute."""
        is_cuda = self._device.type == "cuda"
        names = ("before", "nearest", "second", "nearest_distance", "distances")
        self._landing = {
            name: torch.empty(array.shape, dtype=_kind_of(array), pin_memory=is_cuda)
            for name in names
            for array in [getattr(self.linked, name)]
        }
        here = {name: tensor.numpy() for name, tensor in self._landing.items()}
        self._placed = torch.empty(len(self._linked_there), dtype=torch.int32, pin_memory=is_cuda)
        self.linked = self.linked._replace(**here)
        self.nearest, self.second = self.linked.nearest, self.linked.second
        self.nearest_distance, self.distances = self.linked.nearest_distance, self.linked.distances

    def __enter__(self) -> Self:
        super().__enter__()
        # Rounded to ten bits, as a user may have allowed, products would change labels.
        self._held.callback(
            torch.set_float32_matmul_precision, torch.get_float32_matmul_precision()
        )
        torch.set_float32_matmul_precision("highest")
        return self

    # ------------------------------------------------------------------ labels, here and there

    def forget(self) -> None:
        """Begin anew: labels handed out stay as they are."""
        self._labels_there = torch.full(
            (self.X.shape[0],), FREE, dtype=torch.int32, device=self._device
        )
        self._labels_here: np.ndarray | None = None

    @property
    def labels(self) -> np.ndarray:
        """(n_samples,) int32, brought here when asked for; whoever asks may write to them."""
        if self._labels_here is None:
            self._labels_here = self._labels_there.to("cpu", copy=True).numpy()
        return self._labels_here

    @labels.setter
    def labels(self, labels: np.ndarray) -> None:
        self._labels_here = labels

    def _current_labels(self) -> Any:
        """The labels on the device; those that are here may have been written to."""
        if self._labels_here is not None:
            self._labels_there.copy_(torch.from_numpy(self._labels_here))
        return self._labels_there

    def fingerprint(self) -> int:
        """64 bits that differ for different labels, but for one chance in 10^19."""
        return int((self._mixed * (self._current_labels() + 1)).sum())

    @cached_property
    def _mixed(self) -> Any:
        """(n_samples,) 64 bits for each row, as in `conclust._kernels.lloyd.fingerprint`."""
        mixed = torch.arange(1, self.X.shape[0] + 1, device=self._device) * -0x61C8864680B583EB
        mixed = (mixed ^ (mixed >> 30)) * -0x40A7B892E31B1A47  # but for the sign of what is shifted
        return mixed ^ (mixed >> 27)

    # ------------------------------------------------------------------ one iteration

    def sweep(self, centers: np.ndarray) -> Assigned:
        """Give every row its nearest centre and sum anew; rank the centres for linked rows."""
        there, labels = self._there(centers), self._current_labels()
        is_ranked = self._rank(there, labels) if len(self._linked_there) else None
        if self._is_fused:
            how = labels, self._weight_there, self._kind
            self._free = Summed(*fused.sweep(self._rows_there, *how, there))
        else:
            self._free = self._sweep_free(there, labels)
        self._labels_here = None
        if not len(self._linked_there):
            return self._settled(self._free, centers)
        if is_ranked is not None:
            is_ranked.synchronize()
        return Assigned(0, 0.0)

    def add(self, placed: np.ndarray, centers: np.ndarray) -> Assigned:
        """Put the linked rows into the clusters in ``placed``, (n_linked,) int32: labels and sums.

        ``centers`` are those of the last sweep. Returns what both did.
        """
        if not len(placed):
            return Assigned(0, 0.0)
        # From memory that is pinned, so that the device is told what to do next before it is done.
        self._placed.numpy()[:] = placed
        there = self._placed.to(self._device, non_blocking=True, copy=True)
        self._labels_there[self._linked_there] = there
        free, linked = self._free, self._sum_linked(there)
        both = Summed(free.sums + linked.sums, free.masses + linked.masses, free.n_changed)
        n_linked_changed = int(np.count_nonzero(placed != self.linked.before))
        assigned = self._settled(both, centers)
        return assigned._replace(n_changed=assigned.n_changed + n_linked_changed)

    def _rank(self, centers: Any, labels: Any) -> Any:
        """Find the nearest centres of linked rows; return what to wait for until they are here."""
        self._bring("before", labels[self._linked_there])
        for start, stop in self._ranges(self.n_clusters, len(self._linked_there)):
            norms = self._resident_norms[start:stop]
            scores = _scores(self._resident[start:stop], centers)
            best, nearest = scores.min(dim=1)
            self._bring("nearest", nearest, start)
            self._bring("nearest_distance", self._squared(norms, best), start)
            if len(self.distances):
                self._bring("distances", self._squared(norms[:, None], scores), start)
            scores.scatter_(1, nearest[:, None], torch.inf)
            self._bring("second", scores.argmin(dim=1), start)
        if self._device.type != "cuda":
            return None
        is_ranked = torch.cuda.Event()
        is_ranked.record(torch.cuda.current_stream(self._device))
        return is_ranked

    def _bring(self, name: str, values: Any, start: int = 0) -> None:
        """Have values copied to an array about linked rows; they are there after `sweep`."""
        landing = self._landing[name]
        landing[start : start + len(values)].copy_(values.to(landing.dtype), non_blocking=True)

    def _squared(self, norms: Any, scores: Any) -> Any:
        # 0 where that is all rounding: of two rows on their centres neither is nearer.
        distances = norms + scores
        return torch.where(distances > self.X.shape[1] * self._eps * norms, distances, 0.0)

    def _sweep_free(self, centers: Any, labels: Any) -> Summed:
        """Label all rows, and add up those that are not linked, in products of some rows."""
        adding = Adding(self._rows_there, self.n_clusters + 1)
        n_changed = torch.zeros((), dtype=torch.int64, device=self._device)
        weight = self._weight_there if self._kind == fused.ANY else None
        for start, stop in self._ranges(self.n_clusters):
            rows = self._rows_there[start:stop]
            nearest = _nearest(rows, centers)
            has_changed = nearest != labels[start:stop]
            labels[start:stop] = nearest
            first, last = np.searchsorted(self.linked.rows, (start, stop)).tolist()
            if first < last:
                linked = self._linked_there[first:last] - start
                has_changed.index_fill_(0, linked, 0)
                nearest.index_fill_(0, linked, self.n_clusters)  # added up, but not looked at
            n_changed += has_changed.sum()
            adding(rows, nearest, None if weight is None else weight[start:stop])
        sums, masses = adding.totals()
        return Summed(sums[:-1], masses[:-1], n_changed)

    def _sum_linked(self, placed: Any) -> Summed:
        """Add up the linked rows in their clusters."""
        if self._is_fused:
            weight = self._resident_weight
            kind = fused.ONES if weight is None else fused.ANY
            found = fused.sweep(self._resident, placed, weight, kind, n_clusters=self.n_clusters)
            return Summed(*found)
        adding = Adding(self._resident, self.n_clusters)
        adding(self._resident, placed.long(), self._resident_weight)
        return Summed(*adding.totals(), 0)

    def _settled(self, summed: Summed, centers: np.ndarray) -> Assigned:
        """Wait for the device and bring the sums here, all in one."""
        numbers = (summed.sums.ravel(), summed.masses, summed.n_changed.double().ravel())
        found = torch.cat(numbers).cpu().numpy()
        n_sums = self._sums.size
        self._sums[0] = found[:n_sums].reshape(self._sums.shape[1:])
        self._masses[0] = found[n_sums:-1]
        self._n_free_changed = int(found[-1])
        self._inertia = self._inertia_of_sums(centers)
        return Assigned(self._n_free_changed, self._inertia)

    @property
    def n_free_changed(self) -> int:
        """Rows not linked whose cluster the last sweep changed."""
        return self._n_free_changed

    # ------------------------------------------------------------------ all rows again

    def inertia(self, centers: np.ndarray) -> float:
        """Weighted sum of the squared distances of all rows to the centre of their cluster."""
        total = torch.zeros((), dtype=torch.float64, device=self._device)
        for start, stop, squared in self._measured(centers):
            squared *= self._labels_there[start:stop] != FREE
            if len(self.weight):
                squared *= self._there(self.weight[start:stop])
            total += squared.sum(dtype=torch.float64)
        return float(total)

    def distances_to_own(self, centers: np.ndarray) -> np.ndarray:
        """Squared distance of each row to the centre of its cluster, (n_samples,)."""
        parts = [squared.cpu().numpy() for _, _, squared in self._measured(centers)]
        return np.concatenate(parts)

    def sums(self, rows: np.ndarray | None, part: np.ndarray, n_parts: int) -> np.ndarray:
        """Weighted sums of some rows (None: of all) by part, (n_parts, n_features) float64."""
        total = torch.zeros((n_parts, self.X.shape[1]), dtype=torch.float64, device=self._device)
        for start, stop in self._ranges(self.X.shape[1], len(part)):
            where: Any = slice(start, stop) if rows is None else rows[start:stop]
            chosen = where if rows is None else self._there(where)
            some = self._rows_there[chosen].double()
            if len(self.weight):
                some = some * self._there(self.weight[where])[:, None]
            total.index_add_(0, self._there(part[start:stop]).long(), some)
        return total.cpu().numpy()

    def squared_distances(self, points: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
        """Squared distances to some points, block by block of rows: ``start, stop, distances``."""
        there = self._there(points)
        for start, stop in self._ranges(len(points)):
            rows = self._rows_there[start:stop]
            norms = (rows * rows).sum(dim=1, keepdim=True)
            squared = (_scores(rows, there) + norms).clamp_(min=0)
            yield start, stop, squared.cpu().numpy()

    def row(self, i: int) -> np.ndarray:
        """One row as an array, (n_features,); not to be written to."""
        return self._rows_there[int(i)].cpu().numpy()

    def _measured(self, centers: np.ndarray) -> Iterator[tuple[int, int, Any]]:
        """Squared distances of some rows to their centres, on the device."""
        there, labels = self._there(centers), self._current_labels()
        for start, stop in self._ranges(self.X.shape[1]):
            own = there[labels[start:stop].clamp(min=0)]
            yield start, stop, ((self._rows_there[start:stop] - own) ** 2).sum(dim=1)

    def _measure_norms(self) -> float:
        self.linked.norms[:] = self._resident_norms.cpu().numpy()
        if not len(self.weight):
            return float(self.X.total_norm)
        total = torch.zeros((), dtype=torch.float64, device=self._device)
        for start, stop in self._ranges(self.X.shape[1]):
            norms = (self._rows_there[start:stop] ** 2).sum(dim=1, dtype=torch.float64)
            total += norms @ self._there(self.weight[start:stop]).double()
        return float(total)

    def _held_masses(self) -> npt.NDArray[np.float64]:
        # Nothing is ever taken out of these sums but by `move` and `drop`, which have labels here.
        return self._masses[0] if self._labels_here is None else super()._held_masses()

    def _ranges(self, width: int, n_rows: int | None = None) -> Iterator[tuple[int, int]]:
        """Ranges of rows that with `width` numbers each are held at a time."""
        n_rows = self.X.shape[0] if n_rows is None else n_rows
        step = max(HELD[self._device.type] // width, 1)
        for start in range(0, n_rows, step):
            yield start, min(start + step, n_rows)

    def _there(self, array: np.ndarray) -> Any:
        """An array on the device; never its memory here, which the caller may write to."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self._device, copy=True)


class Adding:
    """Sums of rows by cluster, in float64 at the end.

    Parameters
    ----------
    X : tensor
        Rows of this type, and on this device, are added.
    n_clusters : int
    """

    def __init__(self, X: Any, n_clusters: int):
        self._n_clusters = n_clusters
        self._n_copies = COPIES if X.device.type == "cuda" else 1
        how = {"dtype": torch.float64, "device": X.device}
        self._sums = torch.zeros((n_clusters, X.shape[1]), **how)
        self._masses = torch.zeros(n_clusters, **how)

    def __call__(self, rows: Any, labels: Any, weight: Any) -> None:
        """Add rows, (m, d), to the clusters in labels, (m,) int64; weight (m,) or None for 1."""
        n_places = self._n_copies * self._n_clusters
        if self._n_copies > 1:
            turn = torch.arange(len(rows), device=rows.device) % self._n_copies
            labels = labels + turn * self._n_clusters
        else:
            rows = rows.double()
        mass = rows.new_ones(len(rows)) if weight is None else weight.to(rows.dtype)
        rows = rows if weight is None else rows * mass[:, None]
        sums = rows.new_zeros((n_places, rows.shape[1])).index_add_(0, labels, rows)
        masses = mass.new_zeros(n_places).index_add_(0, labels, mass)
        self._sums += sums.view(self._n_copies, *self._sums.shape).sum(dim=0, dtype=torch.float64)
        self._masses += masses.view(self._n_copies, -1).sum(dim=0, dtype=torch.float64)

    def totals(self) -> tuple[Any, Any]:
        """Sums, (k, d), and masses, (k,), float64."""
        return self._sums, self._masses


def nearest_centers(rows: Any, centers: np.ndarray) -> np.ndarray:
    """Nearest centre of each row of a tensor, (n_samples,) int32."""
    there = torch.from_numpy(np.ascontiguousarray(centers)).to(rows.device)
    labels = torch.empty(len(rows), dtype=torch.int32, device=rows.device)
    step = max(HELD[rows.device.type] // len(centers), 1)
    for start in range(0, len(rows), step):
        labels[start : start + step] = _nearest(rows[start : start + step], there)
    return labels.cpu().numpy()


def _scores(rows: Any, centers: Any) -> Any:
    """‖c‖² − 2 x·c of each row and centre, in which the distances are but for ‖x‖²."""
    return torch.addmm((centers * centers).sum(dim=1), rows, centers.T, alpha=-2)


def _nearest(rows: Any, centers: Any) -> Any:
    """Nearest centre of each row, (m,) int64."""
    if len(centers) > FEW:
        return _scores(rows, centers).argmin(dim=1)
    norms = (centers * centers).sum(dim=1, keepdim=True)
    return torch.addmm(norms, centers, rows.T, alpha=-2).argmin(dim=0)


def _kind_of(array: np.ndarray) -> Any:
    return torch.from_numpy(np.empty(0, dtype=array.dtype)).dtype
