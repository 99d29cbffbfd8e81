"""Clusters of bounded sizes: the assignment step, and what to say when there is none."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp, minimize
from scipy.sparse import coo_array, csr_array, eye_array, hstack, kron

from conclust._arrays import FloatArray, IntArray
from conclust._kernels._short import LITTLE, short
from conclust._kernels.flow import flow
from conclust._kernels.place_sized import fit_sizes, price_labels
from conclust._pairs import Graph
from conclust._placement.links import Links
from conclust._sklearn import Interval
from conclust.exceptions import InfeasibleSizesError

# What the parameters `size_min` and `size_max` may be.
SIZES = [Interval(Real, 0, None, closed="left"), "array-like", None]
# Iterations of the search for prices; twenty leave some twenty of 100 000 rows to the exact flow.
PRICE_ITERATIONS = 60
# Placements of the linked rows under prices that the free rows have answered to.
MAX_ROUNDS = 4
# Passes over the vertices, and pairs of them that are looked at for swaps: a second at most.
MAX_PASSES = 50
SWAP_BUDGET = 5_000_000
# Binary variables up to which an assignment that is not proved to be the cheapest is solved as an
# integer programme; and those up to which one is looked for in this way where none was found.
MAX_EXACT, MAX_LAST_RESORT, MAX_FLUID = 300, 5_000, 10_000
LAST_RESORT = 1.0  # seconds for one where nothing was found, and time is up
SOLVER_INFEASIBLE = 2
# Rows up to which the flow needs no prices to begin with.
FEW = 2_000
# Totals closer than this, relatively, are the same.
SAME = 1e-9


class Sizes(NamedTuple):
    """Least and largest size of each cluster, in rows or in weight."""

    lower: FloatArray  # (n_clusters,)
    upper: FloatArray  # (n_clusters,)
    unit: str  # "rows" or "weight"

    @property
    def differ(self) -> bool:
        """Whether clusters have sizes of their own."""
        return bool((self.lower != self.lower[0]).any() or (self.upper != self.upper[0]).any())


def sizes_of(
    size_min: Any,
    size_max: Any,
    n_clusters: int,
    weight: np.ndarray | None,
    n_samples: int,
    outlier_share: float = 0.0,
) -> Sizes | None:
    """Bring `size_min` and `size_max` to one number per cluster; None where both are None.

    Parameters
    ----------
    size_min, size_max : None, number or array-like of shape (n_clusters,)
    n_clusters : int
    weight : ndarray of shape (n_samples,) or None
        Sizes count weight where given, rows otherwise.
    n_samples : int
    outlier_share : float, default=0.0
        Share that is set aside and counts in no size.

    Raises
    ------
    InfeasibleSizesError
        When they contradict each other or the number of rows.
    """
    if size_min is None and size_max is None:
        return None
    if weight is not None and (weight == 1).all():
        weight = None
    total = float(n_samples) if weight is None else float(weight.sum(dtype=np.float64))
    unit = "rows" if weight is None else "weight"
    aside = outlier_share * total * (1 + 1e-12)
    whole, total = total, total - (np.floor(aside) if weight is None else aside)
    there = f"{total:g} there are" if total == whole else f"{total:g} that outliers leaves"
    others = "n_clusters" if total == whole else "n_clusters, or change outliers"
    lower, upper = bounds_of(size_min, size_max, n_clusters, in_rows=weight is None)
    upper = np.minimum(upper, total)
    crossed = np.flatnonzero(lower > upper)
    if len(crossed) and lower[crossed[0]] <= total:
        c = int(crossed[0])
        raise InfeasibleSizesError(
            f"size_min={lower[c]:g} of cluster {c} is more than its size_max={upper[c]:g}. "
            "Lower size_min or raise size_max."
        )
    rounding = 1e-9 * total
    even = total / n_clusters
    at_most, at_least = (even, even) if unit == "weight" else (np.floor(even), np.ceil(even))
    if lower.sum() > total + rounding:
        raise InfeasibleSizesError(
            f"size_min adds up to {lower.sum():g} {unit} over {n_clusters} clusters, "
            f"{lower.sum() - total:g} more than the {there}. Lower size_min "
            f"(to {at_most:.6g} at most where it is one number) or {others}."
        )
    if upper.sum() < total - rounding:
        raise InfeasibleSizesError(
            f"size_max adds up to {upper.sum():g} {unit} over {n_clusters} clusters, "
            f"{total - upper.sum():g} fewer than the {there}. Raise size_max "
            f"(to {at_least:.6g} at least where it is one number) or {others}."
        )
    return Sizes(lower, upper, unit)


def bounds_of(
    size_min: Any, size_max: Any, n_clusters: int, *, in_rows: bool
) -> tuple[FloatArray, FloatArray]:
    """One number per cluster of each; whole ones where sizes count rows."""
    lower = _per_cluster("size_min", size_min, n_clusters, 0.0)
    upper = _per_cluster("size_max", size_max, n_clusters, np.inf)
    return (np.ceil(lower), np.floor(upper)) if in_rows else (lower, upper)


def _per_cluster(argument: str, value: Any, n_clusters: int, default: float) -> FloatArray:
    given = np.asarray(default if value is None else value, dtype=np.float64)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != n_clusters):
        raise ValueError(
            f"{argument} has shape {given.shape}, but n_clusters={n_clusters}; pass one number, or "
            "one for each cluster."
        )
    if np.isnan(given).any() or (given < 0).any():
        raise ValueError(f"{argument}={value} holds NaN or a negative number; sizes are counts.")
    return np.broadcast_to(given, n_clusters).astype(np.float64)


@dataclass(eq=False)
class Vertices:
    """Rows that links bind, as vertices with links, and the others.

    Attributes
    ----------
    rows : ndarray of shape (n_linked,)
        Ascending.
    vertex : ndarray of shape (n_linked,)
        Vertex of each: a unit of must-linked rows, or the row itself.
    graph : Graph
    sign : ndarray of shape (n_links,), int8
    price : ndarray of shape (n_links,)
        Infinity forbids.
    weight : ndarray of shape (n_samples,) or None
        None, too, where all are 1.
    n_samples : int
    """

    rows: IntArray
    vertex: IntArray
    graph: Graph
    sign: npt.NDArray[np.int8]
    price: FloatArray
    weight: np.ndarray | None
    n_samples: int

    def __post_init__(self) -> None:
        if self.weight is not None and (self.weight == 1).all():
            self.weight = None
        self.n_vertices = len(self.graph.indptr) - 1
        free = np.ones(self.n_samples, dtype=bool)
        free[self.rows] = False
        self.free = np.flatnonzero(free)
        each = np.ones(self.n_samples) if self.weight is None else self.weight.astype(np.float64)
        of_vertices = np.bincount(self.vertex, each[self.rows], self.n_vertices)
        # Linked vertices, then free rows: those that move by themselves.
        self.mass = np.concatenate([of_vertices, each[self.free]])
        self.number = np.empty(self.n_samples, np.int64)
        self.number[self.rows] = self.vertex
        self.number[self.free] = self.n_vertices + np.arange(len(self.free))

    def costs(self, cost: FloatArray) -> FloatArray:
        """Costs of rows, (n_samples, n_clusters), summed by vertex."""
        if not self.n_vertices:
            return cost
        members = csr_array(
            (np.ones(len(self.rows)), (self.vertex, self.rows)), (self.n_vertices, len(cost))
        )
        return np.concatenate([members @ cost, cost[self.free]])


class Sized:
    """The assignment step under sizes, again and again: prices are kept from one to the next.

    Parameters
    ----------
    sizes : Sizes
    vertices : Vertices
    time_limit : float, default=10.0
        Seconds for all integer programmes; later ones are left out where something was found.

    Notes
    -----
    Rows without links, equal in weight, are assigned exactly, however many there are: prices come
    from maximising the dual (`dual_prices`) and what they leave over from shortest paths (`flow`).
    Where links or weights bind rows, vertices are placed under those prices, moved until the sizes
    fit, and free rows are assigned exactly around them; what that costs is compared with the dual
    bound, and a small case that does not reach it goes to an integer programme.
    """

    def __init__(self, sizes: Sizes, vertices: Vertices, *, time_limit: float = 10.0):
        self.sizes, self.vertices, self._seconds_left = sizes, vertices, time_limit
        # Rows of unequal weight do not flow; they are vertices without links.
        self._n_bound = vertices.n_vertices if vertices.weight is None else len(vertices.mass)
        # Masses that are whole numbers miss a size by one at least.
        self._slack = 0.5 if vertices.weight is None else 1e-9 * float(vertices.mass.sum())
        self._is_hard = np.isinf(vertices.price)
        self._refuse_heavy()
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.price = np.zeros(len(self.sizes.lower))
        self._labels: IntArray | None = None

    def remember(self, labels: npt.NDArray[np.integer]) -> None:
        """Go on from labels of the rows, which have the sizes."""
        self._labels = np.empty(len(self.vertices.mass), np.int64)
        self._labels[self.vertices.number] = labels

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Least and largest mass of each cluster, give or take rounding."""
        return self.sizes.lower - self._slack, self.sizes.upper + self._slack

    def matched(self, centers: np.ndarray, rows: Any) -> np.ndarray:
        """Centres in an order that suits sizes of their own: those that draw most may have most.

        ``rows`` are the `Rows` to be drawn; their labels are lost.
        """
        lower, upper, _ = self.sizes
        if not self.sizes.differ:
            return centers
        rows.forget()
        rows.sweep(centers)
        load = np.bincount(rows.labels, self.vertices.weight, len(centers))
        wanted = np.clip(load.mean(), lower, upper) + 1e-9 * (lower + upper)
        order = np.empty(len(load), np.int64)
        order[np.argsort(-wanted, kind="stable")] = np.argsort(-load, kind="stable")
        return centers[order]

    def __call__(
        self,
        cost: FloatArray,
        place: Callable[[FloatArray], IntArray | None],
        aside: npt.NDArray[np.bool_] | None = None,
    ) -> tuple[IntArray, IntArray] | None:
        """Assign all rows; under the same costs not worse than the last time.

        Parameters
        ----------
        cost : ndarray of shape (n_samples, n_clusters)
            Weighted squared distances.
        place : callable
            Labels of the linked vertices for such costs of theirs; None: their links clash.
        aside : ndarray of shape (n_samples,), default=None
            Rows, whole vertices of them, that count in no size and may go anywhere.

        Returns
        -------
        tuple of ndarray, or None
            Labels of the linked vertices and of all rows; None where `place` says so.

        Raises
        ------
        InfeasibleSizesError
        """
        costs = self.vertices.costs(cost)
        self._mass = self.vertices.mass
        if aside is not None:
            out = np.zeros(len(costs), dtype=bool)
            out[self.vertices.number] = aside
            costs, self._mass = np.where(out[:, np.newaxis], 0, costs), np.where(out, 0, self._mass)
        bound = -np.inf
        if self._n_bound or len(costs) > FEW:
            self.price, bound = dual_prices(costs, self._mass, self.sizes, self.price)
        if self._n_bound:
            labels = self._assign_bound(costs, bound, place)
            if labels is None:
                return None
        else:
            labels = self._flow(costs, self.sizes.lower, self.sizes.upper)
        self._labels = labels
        return labels[: self.vertices.n_vertices], labels[self.vertices.number]

    def _assign_bound(
        self, costs: FloatArray, bound: float, place: Callable[[FloatArray], IntArray | None]
    ) -> IntArray | None:
        """Assign where links or weights bind: the best of several ways, or the exact one."""
        n_vertices, mass = self.vertices.n_vertices, self._mass
        best = Found(np.inf, np.empty(0, np.int64), np.inf)
        if self._labels is not None:
            # Free rows answer to what is bound: there single moves need not save anything.
            is_alone = len(costs) == self._n_bound
            best = self._completed(costs, self._labels, fit=is_alone)
        for _ in range(MAX_ROUNDS):
            priced = costs[: self._n_bound] + mass[: self._n_bound, np.newaxis] * self.price
            labels = priced.argmin(axis=1)
            if n_vertices:
                linked = place(priced[:n_vertices])
                if linked is None:
                    return None
                labels[:n_vertices] = linked
            found = self._completed(costs, labels)
            if not found.is_better(best):
                break
            best = found
        if best.total > bound + SAME * abs(bound):
            best = self._solved(costs, best)
        if best.misfit:
            raise InfeasibleSizesError(self._nearest_words(best.labels))
        return best.labels

    def _completed(self, costs: FloatArray, labels: IntArray, *, fit: bool = True) -> "Found":
        """Move bound vertices until the sizes can be met, then assign the free rows exactly."""
        n_bound, n_clusters = self._n_bound, costs.shape[1]
        mass, n_free = self._mass[:n_bound], int(np.count_nonzero(self._mass[n_bound:]))
        labels = labels[:n_bound].astype(np.int64)
        load = np.bincount(labels, mass, n_clusters).astype(np.float64)
        if fit:
            # A vertex that moves makes free rows move the other way, at the prices.
            moving = costs[:n_bound] + mass[:, np.newaxis] * (self.price if n_free else 0.0)
            short(fit_sizes, 10 * moving.size)(
                moving, mass, *self.vertices.graph, self.vertices.sign, self.vertices.price,
                self.sizes.lower, self.sizes.upper, float(n_free), self._slack, MAX_PASSES,
                SWAP_BUDGET, labels, load,
            )  # fmt: skip
        lower, upper = np.maximum(self.sizes.lower - load, 0), self.sizes.upper - load
        misfit = np.maximum(-upper, 0).sum() + max(float(lower.sum()) - n_free, 0.0)
        if misfit > self._slack:
            return Found(np.inf, labels, float(misfit))
        labels = np.concatenate([labels, self._flow(costs[n_bound:], lower, upper)])
        return Found(self._total(costs, labels), labels, 0.0)

    def _flow(self, cost: FloatArray, lower: FloatArray, upper: FloatArray) -> IntArray:
        """Assign the free rows, of mass 1, exactly, and leave the prices."""
        every = np.zeros(len(cost), np.int64)
        inside = np.flatnonzero(self._mass[self._n_bound :])
        if len(inside):
            cost = cost if len(inside) == len(cost) else cost[inside]
            labels = np.empty(len(inside), np.int64)
            whole = lower.astype(np.int64), np.minimum(upper, len(cost)).astype(np.int64)
            if whole[1].sum() < len(cost):
                raise InfeasibleSizesError(
                    f"size_max leaves room for {whole[1].sum()} of the {len(cost)} rows that no "
                    "statement binds and that are not set aside. Raise size_max or outliers."
                )
            short(flow, 20 * cost.size)(np.ascontiguousarray(cost), *whole, self.price, labels)
            every[inside] = labels
        return every

    def _total(self, costs: FloatArray, labels: IntArray) -> float:
        """Costs, and prices of broken links that may be broken."""
        total = float(costs[np.arange(len(labels)), labels].sum())
        return total + float(self.vertices.price[self._broken(labels) & ~self._is_hard].sum())

    def _broken(self, labels: IntArray) -> npt.NDArray[np.bool_]:
        """(n_links,) which links the labels break; a price may stand for many links."""
        indptr, neighbor, link = self.vertices.graph
        source = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        unlike = (labels[source] == labels[neighbor]) != (self.vertices.sign[link] > 0)
        broken = np.zeros(len(self.vertices.price), dtype=bool)
        broken[link[unlike]] = True
        return broken

    def _solved(self, costs: FloatArray, best: "Found") -> "Found":
        """Solve a small case exactly; a larger one only where nothing was found."""
        n_binary = self._n_bound * costs.shape[1]
        n_fluid = costs.size - n_binary
        most = MAX_LAST_RESORT if best.misfit else MAX_EXACT
        relaxed = not best.misfit and (self._broken(best.labels) & self._is_hard).any()
        if n_binary > most or n_fluid > MAX_FLUID or relaxed:
            return best
        seconds = max(self._seconds_left, LAST_RESORT if best.misfit else 0.0)
        if not seconds:
            return best
        began = time.perf_counter()
        verdict, labels = solve(
            costs, self._mass, self.vertices, self.sizes, self._n_bound, seconds
        )
        self._seconds_left = max(self._seconds_left - (time.perf_counter() - began), 0.0)
        if verdict == SOLVER_INFEASIBLE:
            raise InfeasibleSizesError(self._nearest_words(best.labels, is_proved=True))
        if labels is None:
            return best
        found = self._completed(costs, labels, fit=False)
        return found if found.is_better(best) else best

    def _refuse_heavy(self) -> None:
        """Say so when something is too large for every cluster, before anything is tried."""
        vertices, most = self.vertices, float(self.sizes.upper.max())
        heaviest = int(vertices.mass.argmax())
        mass = float(vertices.mass[heaviest])
        if mass <= most + self._slack:
            return
        rows = np.flatnonzero(vertices.number == heaviest)
        if len(rows) > 1:
            what = f"rows {_listed(rows)}, which must-links join, make {mass:g} {self.sizes.unit}"
            way_out = "Raise size_max, or drop one of those must-links."
        else:
            what, way_out = f"row {rows[0]} weighs {mass:g}", "Raise size_max."
        raise InfeasibleSizesError(
            f"size_max={most:g} is too small: {what}, {mass - most:g} more. {way_out}"
        )

    def _nearest_words(self, labels: IntArray, *, is_proved: bool = False) -> str:
        """Which cluster is too large or too small, and by how much, in the nearest found."""
        mass, (lower, upper, unit) = self._mass, self.sizes
        n_free = len(mass) - len(labels)
        load = np.bincount(labels, mass[: len(labels)], len(lower))
        over, under = load - upper, lower - load
        c = int((over if over.max() > self._slack else under).argmax())
        has = f"cluster {c} has {load[c]:g} {unit}" + " that statements bind" * bool(n_free)
        if over[c] > self._slack:
            nearest = f"{has}, {over[c]:g} more than its size_max={upper[c]:g}"
        else:
            nearest = f"{has}, {under[c]:g} fewer than its size_min={lower[c]:g}"
            if n_free:
                nearest += f", and only {n_free} rows are free to fill such clusters"
        known = "No assignment" if is_proved else "No assignment was found that"
        keeps = " and keeps the statements" if len(self.vertices.rows) else ""
        largest = int(np.bincount(self.vertices.vertex, minlength=1).max())
        group = f" The largest must-linked group has {largest} rows." if largest > 1 else ""
        return (
            f"{known} has the sizes{keeps}: in the nearest one found, {nearest}.{group} "
            "Widen size_min and size_max, or drop statements."
        )


def fit_around(
    labels: IntArray,
    is_fixed: npt.NDArray[np.bool_],
    cost: FloatArray,
    links: Links,
    price: FloatArray,
    weight: np.ndarray | None,
    bounds: tuple[FloatArray, FloatArray],
) -> IntArray:
    """Move rows that are not fixed until the sizes fit; rows set aside (-1) stay aside.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    is_fixed : ndarray of shape (n_samples,)
    cost : ndarray of shape (n_samples, n_clusters)
        Weighted squared distances.
    links : Links
    price : ndarray of shape (n_pairs,)
        Of breaking each pair of `links`; infinity forbids.
    weight : ndarray of shape (n_samples,) or None
    bounds : tuple of ndarray
        Of `bounds_of`.

    Returns
    -------
    ndarray of shape (n_samples,)

    Raises
    ------
    InfeasibleSizesError
    """
    aside = labels < 0
    price = np.where(aside[links.rows[links.pairs]].any(axis=1), 0.0, price)
    each = np.arange(len(links.rows))
    vertices = Vertices(links.rows, each, links.graph, links.sign, price, weight, len(labels))
    row = np.argsort(vertices.number)
    stays = np.flatnonzero((is_fixed | aside)[row])
    found = np.maximum(labels[row], 0).astype(np.int64)
    cost = cost[row].astype(np.float64)
    own = cost[stays, found[stays]]
    cost[stays] = np.inf
    cost[stays, found[stays]] = own
    mass = np.where(aside[row], 0.0, vertices.mass)
    load = np.bincount(found, mass, cost.shape[1]).astype(np.float64)
    slack = 0.5 if vertices.weight is None else 1e-9 * float(mass.sum())
    misfit = short(fit_sizes, 10 * cost.size)(
        cost, mass, *links.graph, links.sign, price, *bounds, 0.0, slack, MAX_PASSES, SWAP_BUDGET,
        found, load,
    )  # fmt: skip
    if misfit > slack:
        over, under = load - bounds[1], bounds[0] - load
        c = int(np.maximum(over, under).argmax())
        raise InfeasibleSizesError(
            f"No assignment was found that has the sizes and the labels in y: cluster {c} has "
            f"{load[c]:g}, and its size_min={bounds[0][c]:g}, size_max={bounds[1][c]:g}. Widen "
            "size_min and size_max, or pass seeds='soft'."
        )
    moved = labels.copy()
    moved[row] = np.where(aside[row], labels[row], found)
    return moved


class Found(NamedTuple):
    """An assignment of the vertices, or how far the nearest one is from the sizes."""

    total: float  # infinite where it does not fit
    labels: IntArray  # (n_vertices,), or of the bound ones alone where it does not fit
    misfit: float

    def is_better(self, other: "Found") -> bool:
        """Whether it fits better, or costs less, and not by rounding."""
        if self.misfit or other.misfit:
            return self.misfit < other.misfit
        return not self.total >= other.total - SAME * abs(self.total)


def dual_prices(
    cost: FloatArray, mass: FloatArray, sizes: Sizes, price: FloatArray
) -> tuple[FloatArray, float]:
    r"""Find prices of the clusters under which vertices choose clusters of the right sizes.

    Maximises :math:`\sum_u \min_c (\mathrm{cost}_{uc} + m_u p_c) - \sum_c (U_c p_c^+ - L_c p_c^-)`,
    a bound from below for the cost of every assignment within the sizes.

    Parameters
    ----------
    cost : ndarray of shape (n_vertices, n_clusters)
    mass : ndarray of shape (n_vertices,)
    sizes : Sizes
    price : ndarray of shape (n_clusters,)
        Where to begin.

    Returns
    -------
    price : ndarray of shape (n_clusters,)
    bound : float
    """
    n_clusters, (lower, upper, _) = len(price), sizes
    cost = np.ascontiguousarray(cost)
    scale = float(np.abs(cost).sum() / mass.sum() / n_clusters) or 1.0
    total = float(mass.sum())
    labels, load = np.empty(len(cost), np.int64), np.empty(n_clusters)

    def negative(split: FloatArray) -> tuple[float, FloatArray]:
        raised, lowered = scale * split[:n_clusters], scale * split[n_clusters:]
        label = short(price_labels, cost.size, LITTLE)
        value = label(cost, mass, raised - lowered, labels, load)
        value += lower @ lowered - upper @ raised
        return -value / (scale * total), np.concatenate([upper - load, load - lower]) / total

    begin = np.concatenate([np.maximum(price, 0), np.maximum(-price, 0)]) / scale
    found = minimize(
        negative, begin, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(begin),
        options={"maxiter": PRICE_ITERATIONS},
    )  # fmt: skip
    price = scale * (found.x[:n_clusters] - found.x[n_clusters:])
    return price, -float(found.fun) * scale * total


def solve(
    costs: FloatArray,
    mass: FloatArray,
    vertices: Vertices,
    sizes: Sizes,
    n_bound: int,
    time_limit: float,
) -> tuple[int, IntArray | None]:
    """Assign at least cost, by an integer programme.

    x[u, c] = 1 where vertex u is in cluster c, whole for the first `n_bound`; z = 1 for a broken
    link. Minimise Σ cost x + Σ price z with Σ_c x[u, c] = 1, L_c ≤ Σ_u mass_u x[u, c] ≤ U_c, and
    x[u, c] + x[v, c] ≤ 1 + z for cannot-links, x[u, c] − x[v, c] ≤ z for must-links, in every
    cluster.

    Returns
    -------
    status : int
        scipy's: `SOLVER_INFEASIBLE` where it is proved that there is none.
    labels : ndarray of shape (n_vertices,) or None
    """
    n, k = costs.shape
    indptr, neighbor, link = vertices.graph
    source = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    is_must = vertices.sign[link] > 0
    # Each cannot-link once; a must-link both ways, each way bounding one difference.
    kept = np.flatnonzero(is_must | (source < neighbor))
    source, target, link, is_must = source[kept], neighbor[kept], link[kept], is_must[kept]
    m, each = len(source), np.arange(len(source))
    signs = np.r_[np.ones(m), np.where(is_must, -1.0, 1.0)]
    ends = coo_array((signs, (np.r_[each, each], np.r_[source, target])), (m, n))
    soft = np.isfinite(vertices.price)
    z = csr_array((-np.ones(m), (each, link)), (m, len(soft)))
    scale = float(np.abs(costs).max()) or 1.0  # the solver's tolerances are absolute
    nothing = csr_array((n, len(soft)))
    no_load = csr_array((k, len(soft)))
    masses = mass[np.newaxis]
    rows = [
        LinearConstraint(hstack([kron(eye_array(n), np.ones((1, k))), nothing], "csr"), 1, 1),
        LinearConstraint(
            hstack([kron(masses, eye_array(k)), no_load], "csr"), sizes.lower, sizes.upper
        ),
    ]
    if m:
        both = hstack([kron(ends, eye_array(k)), kron(z, np.ones((k, 1)))], "csr")
        rows.append(LinearConstraint(both, -np.inf, np.repeat(np.where(is_must, 0.0, 1.0), k)))
    answer = milp(
        np.r_[costs.ravel() / scale, np.where(soft, vertices.price, 0.0) / scale],
        integrality=np.r_[np.arange(n * k) < n_bound * k, np.zeros(len(soft))],
        bounds=Bounds(0, np.r_[np.ones(n * k), np.where(soft, 1.0, 0.0)]),
        constraints=rows,
        options={"time_limit": time_limit, "mip_rel_gap": 0.0},
    )
    if answer.x is None:
        return int(answer.status), None
    return int(answer.status), answer.x[: n * k].reshape(n, k).argmax(axis=1)


def _listed(rows: IntArray) -> str:
    return ", ".join(map(str, rows[:5].tolist())) + (", …" if len(rows) > 5 else "")
