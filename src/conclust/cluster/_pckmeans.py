"""PCKMeans: k-means in which every broken statement has its price."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms

from conclust._kernels.disjoint_set import components, keep_consistent
from conclust._kernels.penalty import broken_price, move_chains, move_groups, move_rows
from conclust._progress import progress
from conclust._sklearn import (
    Interval,
    StrOptions,
    fit_context,
    scaled_tolerance,
    unchecked_distances,
)
from conclust._validation import check_inputs, weights_of_rows
from conclust.cluster._centers import CentersMixin
from conclust.cluster._lloyd import (
    Assigned,
    Init,
    Matrix,
    NearestCenters,
    centred,
    init_centers,
    one_blas_thread,
)
from conclust.constraints import Constraints
from conclust.exceptions import DegenerateClusteringWarning

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# `penalty="auto"` in median leads: below 1, the row in the middle gives way to two statements, not
# to one. Right for statements of which many are wrong; below 0.4 true ones are overruled.
LOWEST_PRICE = 0.6
# What held-out statements choose from, as multiples of it: the last is all but hard.
MULTIPLES = (1.0, 4.0, 16.0)
# So many times a quarter of the statements is held out; with fewer statements than this the
# choice would be noise, and the middle one is taken.
N_SPLITS, N_SPLIT_STARTS, HELD_OUT, FEW = 4, 2, 0.25, 20
# Shares of held-out weight closer than this, relatively, are the same.
AS_GOOD = 0.015
# Iterations of plain k-means after which leads are taken; they settle long before the labels.
AUTO_ITERATIONS = 10
# Numbers in one block of distances: 8 MB.
BLOCK = 1 << 20

# Sweeps until no row wants to move rarely need more than ten; contradictory links of equal price
# could keep rounding going.
MAX_SWEEPS = 100
# Rounds of sweeps, group moves and chains in one assignment. What is left is for the next one.
MAX_ROUNDS = 20
# Chains that pay are short, and long ones cost as much to look at as a sweep.
LONGEST_CHAIN = 64
# Prices looked at for chains in one round, some 0.2 s: only dense graphs reach it.
CHAIN_BUDGET = 100_000_000
# Objectives closer than this, relatively, are the same.
SAME_OBJECTIVE = 1e-10
NO_GROUPS = (np.zeros(1, np.int64), np.zeros(0, np.int64))


class Round(NamedTuple):
    """What one iteration did, measured after its assignment."""

    objective: float  # inertia + the prices of the broken pairs
    inertia: float  # weighted sum of squared distances
    n_violated: int  # broken pairs
    n_changed: int  # rows whose cluster is not the one they had
    seconds: float


class Run(NamedTuple):
    """The result of one start, in the coordinates of the X it was given."""

    labels: npt.NDArray[np.int32]  # (n_samples,)
    centers: np.ndarray  # (n_clusters, n_features)
    inertia: float
    objective: float
    converged: bool  # False: the last iteration still moved rows and centres
    history: list[Round]


RunT = TypeVar("RunT", bound=Any)  # a result with `objective` and `history`


# --- links -------------------------------------------------------------------------------------


class Graph(NamedTuple):
    """Links as CSR: ``neighbor[indptr[u]:indptr[u + 1]]`` are the rows linked to u, by `link`."""

    indptr: IntArray
    neighbor: IntArray
    link: IntArray


@dataclass(frozen=True, eq=False)
class Links:
    """Pairwise statements as a graph over the rows they name, prepared once for all starts.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        The rows that some statement names, ascending; below, rows are positions in it.
    pairs : ndarray of shape (n_pairs, 2)
    sign : ndarray of shape (n_pairs,)
        +1 for a must-link, -1 for a cannot-link.
    weight : ndarray of shape (n_pairs,)
    graph : Graph
        Of all pairs.
    groups : tuple of ndarray
        Must-link components of two rows and more, as ``starts, members``: group g is
        ``members[starts[g]:starts[g + 1]]``.
    unit : ndarray of shape (n_rows,)
        Must-link component of each row, rows without must-links included.
    graph_of_units : Graph
        Of the cannot-links between units.
    """

    rows: IntArray
    pairs: IntArray
    sign: npt.NDArray[np.int8]
    weight: FloatArray
    graph: Graph
    groups: tuple[IntArray, IntArray]
    unit: IntArray
    graph_of_units: Graph

    def __len__(self) -> int:
        return len(self.pairs)


def link_rows(constraints: Constraints) -> Links:
    """Turn the pairwise statements into a graph; relative statements are left out."""
    given = constraints.pairs()
    rows, ends = np.unique(given.pairs, return_inverse=True)
    pairs = np.ascontiguousarray(ends.reshape(-1, 2), dtype=np.int64)
    unit = np.empty(len(rows), np.int64)
    n_units = components(pairs[given.sign > 0], len(rows), unit)
    between = np.flatnonzero(unit[pairs[:, 0]] != unit[pairs[:, 1]])
    return Links(
        rows=rows,
        pairs=pairs,
        sign=given.sign,
        weight=given.weight,
        graph=_graph(pairs, np.arange(len(pairs)), len(rows)),
        groups=_groups(pairs[given.sign > 0], len(rows)),
        unit=unit,
        graph_of_units=_graph(unit[pairs[between]], between, n_units),
    )


def _graph(pairs: IntArray, link: IntArray, n_vertices: int) -> Graph:
    order = np.argsort(pairs.T.ravel(), kind="stable")
    degree = np.bincount(pairs.ravel(), minlength=n_vertices)
    return Graph(
        indptr=np.concatenate([[0], np.cumsum(degree)]),
        neighbor=pairs[:, ::-1].T.ravel()[order],
        link=np.tile(link, 2)[order],
    )


def _groups(must_link: IntArray, n_rows: int) -> tuple[IntArray, IntArray]:
    """Lay the must-link components one after the other: where each starts, and its rows.

    In the order of the links, so that renumbered rows are visited in the same order.
    """
    component = np.empty(n_rows, np.int64)
    n_components = components(must_link, n_rows, component)
    named, first = np.unique(component[must_link[:, 0]], return_index=True)
    rank = np.full(n_components, len(named))
    rank[named[np.argsort(first)]] = np.arange(len(named))
    group = rank[component]
    members = np.argsort(group, kind="stable")[: np.count_nonzero(group < len(named))]
    return np.searchsorted(group[members], np.arange(len(named) + 1)), members


# --- where to start ----------------------------------------------------------------------------


def seed_neighborhoods(
    X: Matrix,
    links: Links,
    n_clusters: int,
    sample_weight: np.ndarray,
    random_state: np.random.RandomState,
    *,
    farthest_first: bool,
) -> np.ndarray:
    """Choose centres among the means of the must-link neighbourhoods, far from each other.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    links : Links
    n_clusters : int
    sample_weight : ndarray of shape (n_samples,)
    random_state : RandomState
    farthest_first : bool
        True: start at the heaviest neighbourhood, then always take the one with the largest weight
        times distance to those taken, as in [1]_. False: draw with probabilities proportional to
        weight times squared distance, so that starts differ.

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        Where there are fewer neighbourhoods than clusters, the rest are rows drawn as k-means++
        draws them.

    Notes
    -----
    A neighbourhood is a must-link component of two rows and more. Cannot-links are taken first,
    must-links one by one (by falling weight, or in a random order) and only as far as they
    contradict nothing taken before: a wrong must-link would otherwise melt two clusters into one
    seed between them.

    References
    ----------
    .. [1] S. Basu, A. Banerjee and R. J. Mooney, "Active Semi-Supervision for Pairwise Constrained
       Clustering". :doi:`10.1137/1.9781611972740.31`
    """
    if farthest_first:
        visits = np.argsort(-links.weight, kind="stable")
    else:
        visits = random_state.permutation(len(links))
    visits = visits[np.argsort(links.sign[visits], kind="stable")]
    kept = np.zeros(len(links), dtype=np.bool_)
    keep_consistent(links.pairs, links.sign, visits, len(links.rows), kept)
    starts, members = _groups(links.pairs[kept & (links.sign > 0)], len(links.rows))
    rows = links.rows[members]
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    mass = np.bincount(group, weights=sample_weight[rows], minlength=len(starts) - 1)
    means = means_of(X[rows], group, mass, sample_weight[rows])
    means, mass = means[mass > 0], mass[mass > 0]
    centers = np.empty((n_clusters, X.shape[1]), dtype=X.dtype)
    n_seeds = min(n_clusters, len(means))
    centers[:n_seeds] = means[
        _spread(means, mass, n_seeds, random_state, farthest_first=farthest_first)
    ]
    _fill_centers(X, sample_weight, centers, n_seeds, random_state)
    return centers


def _spread(
    points: np.ndarray,
    mass: np.ndarray,
    n_chosen: int,
    random_state: np.random.RandomState,
    *,
    farthest_first: bool,
) -> list[int]:
    """Choose points far from each other, heavy ones rather; each step costs one look at each."""
    chosen: list[int] = []
    score = mass.astype(np.float64)
    squared = np.full(len(points), np.inf)
    for _ in range(n_chosen):
        if chosen:
            distance = unchecked_distances(points, points[chosen[-1:]], squared=True).ravel()
            squared = np.minimum(squared, distance)
            score = mass * (np.sqrt(squared) if farthest_first else squared)
        score[chosen] = 0.0
        if score.sum() == 0.0:  # only copies of what is chosen are left
            score = np.ones(len(points))
            score[chosen] = 0.0
        if farthest_first:
            chosen.append(int(score.argmax()))
        else:
            chosen.append(int(random_state.choice(len(points), p=score / score.sum())))
    return chosen


def _fill_centers(
    X: Matrix,
    sample_weight: np.ndarray,
    centers: np.ndarray,
    n_given: int,
    random_state: np.random.RandomState,
) -> None:
    """Complete centres by rows drawn with probability proportional to weight times distance²."""
    n_clusters = len(centers)
    if n_given == 0:
        centers[:] = init_centers(X, n_clusters, "k-means++", sample_weight, random_state)
        return
    norms = row_norms(X, squared=True)[:, np.newaxis]
    nearest = np.full(X.shape[0], np.inf)
    for filled in range(n_clusters):
        if filled >= n_given:
            chance = sample_weight * nearest
            chance = chance if chance.sum() > 0 else sample_weight.astype(np.float64)
            row = random_state.choice(X.shape[0], p=chance / chance.sum())
            centers[filled] = X[[row]].toarray()[0] if sp.issparse(X) else X[row]
        last = centers[filled : filled + 1]
        distance = unchecked_distances(X, last, X_norm_squared=norms, squared=True).ravel()
        nearest = np.minimum(nearest, distance)


def means_of(X: Matrix, labels: np.ndarray, mass: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted mean of the rows of each cluster; zeros where there is no mass."""
    members = sp.csr_array(
        (weight.astype(np.float64), (labels, np.arange(len(labels)))), (len(mass), len(labels))
    )
    sums = members @ X
    sums = sums.toarray() if sp.issparse(sums) else sums
    return (sums / np.where(mass > 0, mass, 1.0)[:, np.newaxis]).astype(X.dtype)


# --- the assignment ----------------------------------------------------------------------------


def place_rows(
    cost: FloatArray,
    links: Links,
    price: FloatArray,
    labels: npt.NDArray[np.int32],
) -> None:
    """Move linked rows as long as that lowers the total of costs and prices of broken links.

    Parameters
    ----------
    cost : ndarray of shape (n_rows, n_clusters)
        Cost of each row of `links` in each cluster.
    links : Links
    price : ndarray of shape (n_pairs, n_clusters) or (n_pairs, 1)
        What each pair costs when broken in each cluster.
    labels : ndarray of shape (n_rows,)
        The labelling to start from; changed in place.

    Notes
    -----
    Rows are visited by falling regret, the lead of their cheapest cluster over the next; chains
    start at those of least regret, should the budget not suffice for all. A random order ends in
    labellings as good, but renumbered rows would then end in others.

    Must-linked rows hold each other back, so a swap of two components is out of reach for rows.
    The same moves are therefore tried with components as units, unless the components are so
    mixed, by wrong must-links, that the least cost of whole ones exceeds what is reached already.
    """
    _descend(cost, links.graph, links.sign, price, labels, links.groups)
    if not len(links.groups[1]) or not len(links.graph_of_units.link):
        return
    n_units, n_clusters = len(links.graph_of_units.indptr) - 1, cost.shape[1]
    unit_cost = np.empty((n_units, n_clusters))
    members = np.empty((n_units, n_clusters))
    for cluster in range(n_clusters):
        unit_cost[:, cluster] = np.bincount(links.unit, cost[:, cluster], n_units)
        members[:, cluster] = np.bincount(links.unit, labels == cluster, n_units)
    reached = _total(cost, links, price, labels)
    if unit_cost.min(axis=1).sum() >= reached:
        return
    unit_labels = members.argmax(axis=1).astype(np.int32)
    _descend(unit_cost, links.graph_of_units, links.sign, price, unit_labels, NO_GROUPS)
    together = unit_labels[links.unit]
    if _total(cost, links, price, together) < reached:
        labels[:] = together
        _descend(cost, links.graph, links.sign, price, labels, links.groups)


def _descend(
    cost: FloatArray,
    graph: Graph,
    sign: npt.NDArray[np.int8],
    price: FloatArray,
    labels: npt.NDArray[np.int32],
    groups: tuple[IntArray, IntArray],
) -> None:
    """Make single moves, group moves and chains until there are none."""
    order = _by_regret(cost)
    back = order[::-1].copy()
    for _ in range(MAX_ROUNDS):
        for _ in range(MAX_SWEEPS):
            if not move_rows(cost, *graph, sign, price, order, labels):
                break
        n_moves = move_groups(cost, *graph, sign, price, *groups, labels)
        n_moves += move_chains(cost, *graph, sign, price, back, LONGEST_CHAIN, CHAIN_BUDGET, labels)
        if not n_moves:
            break


def _total(
    cost: FloatArray, links: Links, price: FloatArray, labels: npt.NDArray[np.int32]
) -> float:
    paid = np.empty(len(links))
    broken_price(links.pairs, links.sign, price, labels, paid)
    return float(cost[np.arange(len(labels)), labels].sum() + paid.sum())


def _by_regret(cost: FloatArray) -> IntArray:
    if cost.shape[1] == 1:
        return np.arange(len(cost))
    two = np.partition(cost, 1, axis=1)
    return np.argsort(two[:, 0] - two[:, 1], kind="stable")


def best_to_move(
    labels: npt.NDArray[np.int32],
    links: Links,
    price: FloatArray,
    cost: FloatArray,
    cost_alone: FloatArray,
    empty: int,
    least: float,
) -> int:
    """Find the row whose move into an empty cluster saves most.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    links : Links
    price : ndarray of shape (n_pairs, n_clusters) or (n_pairs, 1)
    cost : ndarray of shape (n_samples,)
        Of each row where it is.
    cost_alone : ndarray of shape (n_samples,)
        Of each row as the centre of the empty cluster.
    empty : int
    least : float
        What is saved must be more than this, which is rounding: rows that lie on each other would
        otherwise fill and leave a cluster for ever.

    Returns
    -------
    int
        The row, or -1 when no move saves as much.
    """
    paid, alone = np.empty(len(links)), np.empty(len(links))
    ends = labels[links.rows][links.pairs]
    broken_price(links.pairs, links.sign, price, labels[links.rows], paid)
    saved = cost - cost_alone
    step = price.shape[1] > 1
    pair = np.arange(len(links))
    for end in (0, 1):
        # Alone, the row breaks all its must-links and no cannot-link.
        alone[:] = (price[pair, step * empty] + price[pair, step * ends[:, 1 - end]]) / 2
        alone[links.sign < 0] = 0.0
        saved += np.bincount(
            links.rows[links.pairs[:, end]], weights=paid - alone, minlength=len(labels)
        )
    best = int(saved.argmax())
    return best if saved[best] > least else -1


# --- the algorithm -----------------------------------------------------------------------------


def pckmeans(
    X: Matrix,
    links: Links,
    penalty: float,
    centers_init: np.ndarray,
    *,
    sample_weight: np.ndarray | None = None,
    max_iter: int = 300,
    tol: float = 0.0,
    n_threads: int | None = None,
    on_round: Callable[[Round], object] | None = None,
) -> Run:
    """Run pairwise constrained k-means from given centres.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), float32 or float64
        C-contiguous. Pass dense data through `centred` first, for accuracy.
    links : Links
    penalty : float
        Price of a broken pair of weight 1.
    centers_init : ndarray of shape (n_clusters, n_features)
        In the coordinates of X; left as they are.
    sample_weight : ndarray of shape (n_samples,), default=None
    max_iter : int, default=300
    tol : float, default=0.0
        Stop once Σ ‖new centre − old centre‖² is at most this. Absolute: scale it beforehand.
    n_threads : int, default=None
        None for as many as scikit-learn would use.
    on_round : callable, default=None
        Called with the `Round` of each iteration.

    Returns
    -------
    Run

    Notes
    -----
    An iteration gives free rows their nearest centre, moves linked rows from where they were as
    long as that lowers the objective, and puts the centres at the means; none of these raises the
    objective. A cluster left empty takes the row whose move saves most, links included.
    """
    n_clusters = len(centers_init)
    weight = np.ones(X.shape[0], X.dtype) if sample_weight is None else sample_weight
    price = penalty * links.weight[:, np.newaxis]
    paid = np.zeros(len(links))
    placed = np.empty(len(links.rows), dtype=np.int32)

    with (
        one_blas_thread(),
        NearestCenters(
            X,
            n_clusters,
            sample_weight=sample_weight,
            kept=links.rows,
            all_distances=True,
            n_threads=n_threads,
        ) as rows,
    ):

        def assign(centers: np.ndarray, *, is_first: bool = False) -> Assigned:
            free = rows.sweep(centers)
            if not len(links):
                return free
            if is_first:
                placed[:] = rows.nearest
            cost = rows.distances * weight[links.rows, np.newaxis].astype(np.float64)
            place_rows(cost, links, price, placed)
            linked = rows.add(placed, centers)
            return Assigned(free.n_changed + linked.n_changed, free.inertia + linked.inertia)

        def update(centers: np.ndarray) -> tuple[np.ndarray, int]:
            """Return the means, and how many rows were moved to fill empty clusters."""
            if not len(links):
                return rows.means(centers), 0
            mass = np.bincount(rows.labels, weights=weight, minlength=n_clusters)
            if mass.all():
                return rows.means(centers), 0
            # `rows.means` would move the farthest row whatever its links say.
            centers, n_moved = centers.copy(), 0
            rounding = 1e3 * float(np.finfo(X.dtype).eps * row_norms(X, squared=True).mean())
            for cluster in np.flatnonzero(mass == 0).tolist():
                own = _distances_to_own(X, centers, rows.labels) * weight
                alone = np.zeros_like(own)
                row = best_to_move(rows.labels, links, price, own, alone, cluster, rounding)
                if row >= 0:
                    rows.labels[row] = cluster
                    centers[cluster] = X[[row]].toarray()[0] if sp.issparse(X) else X[row]
                    n_moved += 1
            placed[:] = rows.labels[links.rows]
            mass = np.bincount(rows.labels, weights=weight, minlength=n_clusters)
            centers[mass > 0] = means_of(X, rows.labels, mass, weight)[mass > 0]
            return centers, n_moved

        centers = centers_init
        history: list[Round] = []
        unchanged = converged = False
        for iteration in range(max_iter):
            began = time.perf_counter()
            assigned = assign(centers, is_first=iteration == 0)
            n_broken = broken_price(links.pairs, links.sign, price, placed, paid)
            previous = centers
            centers, n_refilled = update(centers)
            shift = float(((centers - previous) ** 2).sum())
            record = Round(
                assigned.inertia + float(paid.sum()),
                assigned.inertia,
                n_broken,
                assigned.n_changed,
                time.perf_counter() - began,
            )
            history.append(record)
            if on_round is not None:
                on_round(record)
            unchanged = assigned.n_changed + n_refilled == 0
            converged = unchanged or shift <= tol
            if converged:
                break
        if not unchanged:
            assign(centers)
            broken_price(links.pairs, links.sign, price, placed, paid)
        inertia = rows.inertia(centers)
        return Run(rows.labels, centers, inertia, inertia + float(paid.sum()), converged, history)


def _distances_to_own(X: Matrix, centers: np.ndarray, labels: np.ndarray) -> FloatArray:
    """Squared distance of each row to the centre of its cluster."""
    distances = np.empty(X.shape[0])
    for cluster in np.unique(labels):
        rows = np.flatnonzero(labels == cluster)
        center = centers[cluster : cluster + 1]
        distances[rows] = euclidean_distances(X[rows], center, squared=True).ravel()
    return distances


def price_by_leads(X: Matrix, centers_init: np.ndarray, sample_weight: np.ndarray) -> float:
    """Price a broken statement by what moving a row costs.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    centers_init : ndarray of shape (n_clusters, n_features)
    sample_weight : ndarray of shape (n_samples,)

    Returns
    -------
    float
        `LOWEST_PRICE` times the median over rows of the lead of the nearest centre over the second
        nearest, in weighted squared distances, after some iterations of plain k-means.
    """
    if len(centers_init) == 1:
        return 1.0
    nothing = link_rows(Constraints(n_samples=X.shape[0]))
    centers = pckmeans(
        X, nothing, 0.0, centers_init, sample_weight=sample_weight, max_iter=AUTO_ITERATIONS
    ).centers
    leads = np.empty(X.shape[0])
    step = max(BLOCK // len(centers), 1)
    for start in range(0, X.shape[0], step):
        squared = euclidean_distances(X[start : start + step], centers, squared=True)
        two = np.partition(squared, 1, axis=1)
        leads[start : start + step] = two[:, 1] - two[:, 0]
    leads = (leads * sample_weight)[sample_weight > 0]
    # Rows that are all alike cost nothing anywhere: any price then makes statements count.
    typical = float(np.median(leads)) or float(leads.mean()) or 1.0
    return LOWEST_PRICE * typical


def choose_price(
    lowest: float,
    constraints: Constraints,
    cluster: Callable[[Constraints, float, int, int], np.ndarray],
    random_state: np.random.RandomState,
) -> float:
    """Choose among `MULTIPLES` of a price by how many held-out statements are then kept.

    Parameters
    ----------
    lowest : float
    constraints : Constraints
        Pairwise statements.
    cluster : callable
        ``cluster(constraints, price, n_init, seed)`` returns labels.
    random_state : RandomState

    Returns
    -------
    float
        The lowest price that keeps as much held-out weight as the best one, give or take
        `AS_GOOD`: obeying a wrong statement does more harm than doubting a right one.
    """
    prices = [lowest * multiple for multiple in MULTIPLES]
    n = len(constraints)
    if n < FEW:
        return prices[len(prices) // 2]
    kept = np.zeros(len(prices))
    for _ in range(N_SPLITS):
        held_out = np.zeros(n, dtype=bool)
        held_out[random_state.permutation(n)[: int(HELD_OUT * n)]] = True
        seed = random_state.randint(2**31 - 1)
        test = constraints[held_out]
        for i, price in enumerate(prices):
            labels = cluster(constraints[~held_out], price, N_SPLIT_STARTS, seed)
            kept[i] += test.weight[test.satisfied(labels)].sum()
    return prices[int(np.argmax(kept >= kept.max() * (1 - AS_GOOD)))]


# --- several starts ----------------------------------------------------------------------------


def start_centers(
    X: Matrix,
    links: Links,
    n_clusters: int,
    init: Init,
    sample_weight: np.ndarray,
    random_state: np.random.RandomState,
    number: int,
    mean: np.ndarray,
) -> np.ndarray:
    """Choose the centres of start `number`; the first one from neighbourhoods is not drawn."""
    if isinstance(init, str) and init == "neighborhoods":
        return seed_neighborhoods(
            X, links, n_clusters, sample_weight, random_state, farthest_first=number == 0
        )
    return init_centers(X, n_clusters, init, sample_weight, random_state, mean=mean)


def best_of_starts(
    estimator: Any,
    start: Callable[[np.random.RandomState, int, Callable[..., None]], RunT],
    random_state: np.random.RandomState,
    n_init: int,
) -> RunT:
    """Make several starts and return the one with the lowest objective.

    Parameters
    ----------
    estimator : estimator
        Its `init` and `verbose` are read. An array as `init` leaves nothing to draw: it is started
        from once.
    start : callable
        Called as ``start(random_state, number, on_round)``.
    random_state : RandomState

    Returns
    -------
    Run
        The first one on ties.
    """
    draws = isinstance(estimator.init, str) or callable(estimator.init)
    seeds = random_state.randint(2**31 - 1, size=n_init if draws else 1)
    best: RunT | None = None
    with progress(estimator.verbose, type(estimator).__name__, len(seeds)) as show:
        for number, seed in enumerate(seeds):
            run = start(np.random.RandomState(seed), number, show)
            show(run.history[-1], advance=1)
            # The same clusters under other names differ by rounding: not better.
            if best is None or (
                run.objective < best.objective - SAME_OBJECTIVE * abs(best.objective)
            ):
                best = run
    assert best is not None
    return best


def warn_if_degenerate(labels: np.ndarray, n_clusters: int) -> None:
    """Say so when clusters were left empty."""
    n_found = len(np.unique(labels))
    if n_found < n_clusters:
        warnings.warn(
            f"Only {n_found} of n_clusters={n_clusters} clusters have rows: X has too few distinct "
            "rows, or must-links join too many of them. Lower n_clusters or the penalty.",
            DegenerateClusteringWarning,
            stacklevel=3,
        )


# --- the estimator -----------------------------------------------------------------------------


class PCKMeans(CentersMixin):
    r"""Pairwise constrained k-means: statements are wishes, and breaking one costs.

    For statements that are mostly right. Nothing is ever infeasible: contradictory statements, or
    more mutually apart samples than clusters, cost what they cost.

    Parameters
    ----------
    n_clusters : int, default=8

    penalty : "auto" or float, default="auto"
        Price of breaking a statement of weight 1, in squared distances; statements of weight w
        cost w times as much. A number is used as it is. "auto" holds a quarter of the statements
        out, four times, and takes the price under which most of them are kept: 1, 4 or 16 times
        0.6 times what it costs the median row to move (the lead of its nearest centre over the
        second nearest in plain k-means). Statements that predict each other become all but hard,
        doubtful ones cheap to break. With fewer than 20 statements it is 4 times.

    init : {"neighborhoods", "k-means++", "random"}, callable or array-like of shape \
            (n_clusters, n_features), default="neighborhoods"
        Where centres start. "neighborhoods": the means of must-link components, far from each
        other; where these are fewer than `n_clusters`, the rest are drawn as by k-means++, so
        without must-links it is k-means++. A callable receives ``(X, n_clusters,
        random_state=...)``, with a dense X moved to its mean.

    n_init : int, default=10
        Number of starts; the one with the lowest objective is kept. An array as `init` is started
        from once.

    max_iter : int, default=300
        Iterations of one start at most.

    tol : float, default=1e-4
        A start ends when the squared shifts of the centres, summed, fall below `tol` times the
        mean variance of the features, or when no row changes its cluster.

    verbose : int, default=0
        Show progress on stderr.

    random_state : int, RandomState or None, default=None
        Draws the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.

    cluster_centers_ : ndarray of shape (n_clusters, n_features)

    inertia_ : float
        Weighted sum of squared distances of the samples to the centres of their clusters.

    objective_ : float
        `inertia_` plus the prices of the broken statements.

    penalty_ : float
        The price of a broken statement of weight 1; 0 for "auto" when there are no statements.

    n_iter_ : int
        Iterations of the start that was kept.

    converged_ : bool
        False when that start was cut off by `max_iter`.

    history_ : list of Round
        One record per iteration of that start: ``objective``, ``inertia``, ``n_violated``,
        ``n_changed``, ``seconds``. The objective never rises.

    report_ : ConstraintReport
        Which statements the labels keep.

    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    MPCKMeans : Learns metrics besides.
    COPKMeans : Keeps every statement, or says why it cannot.
    ConstrainedKMeans : Obeys statements by priority; the weak learner of the ensembles.

    Notes
    -----
    With weights :math:`s_i` of samples and :math:`w_{ij}` of statements and the price :math:`p`,
    labels :math:`l` and centres :math:`\mu` minimise

    .. math::

        \sum_i s_i \lVert x_i - \mu_{l_i} \rVert^2
        + p \sum_{(i, j) \in M} w_{ij} \, [l_i \ne l_j]
        + p \sum_{(i, j) \in C} w_{ij} \, [l_i = l_j]

    for must-links M and cannot-links C. The assignment step departs from [1]_, which visits each
    row once: rows are visited until none wants to move; then must-link components move as one, and
    so do chains of rows in which each answers to the move before. Only what lowers the objective
    is kept, so it falls with every iteration, and a start ends in a labelling that no such move
    betters. Without statements this is scikit-learn's :class:`~sklearn.cluster.KMeans`.

    An iteration costs one of k-means and, for a statement, O(n_clusters) a few times. Memory grows
    by a table of squared distances, samples named in statements × `n_clusters`, and by some
    80 bytes per pair; groups of mutually apart samples are written out pair by pair.

    `predict` does not re-apply statements: new rows go to the nearest centre.

    References
    ----------
    .. [1] S. Basu, A. Banerjee and R. J. Mooney, "Active Semi-Supervision for Pairwise Constrained
       Clustering", SDM 2004. :doi:`10.1137/1.9781611972740.31`
    .. [2] M. Bilenko, S. Basu and R. J. Mooney, "Integrating Constraints and Metric Learning in
       Semi-Supervised Clustering", ICML 2004. :doi:`10.1145/1015330.1015360`

    Examples
    --------
    >>> from conclust import Constraints, PCKMeans
    >>> X = [[0.0], [1.0], [4.0], [10.0], [11.0]]
    >>> PCKMeans(2, random_state=0).fit(X).labels_[2:4]
    array([0, 1], dtype=int32)
    >>> known = Constraints(must_link=[(2, 3)], cannot_link=[(1, 2)])
    >>> model = PCKMeans(2, random_state=0).fit(X, constraints=known)
    >>> bool(model.labels_[2] == model.labels_[3])
    True
    >>> model.report_
    ConstraintReport(2 of 2 kept: 1 of 1 must-link, 1 of 1 cannot-link)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"neighborhoods", "k-means++", "random"}), callable, "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        penalty: Any = "auto",
        init: Any = "neighborhoods",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.penalty = penalty
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Constraints | None = None,
        sample_weight: Any = None,
    ) -> "PCKMeans":
        """Cluster X, heeding the statements.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n_samples, n_features)
        y : ignored
        constraints : Constraints, default=None
            Must-links and cannot-links.
        sample_weight : array-like of shape (n_samples,), default=None
            1 for each sample by default.

        Returns
        -------
        self
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = weights_of_rows(sample_weight, X)
        random_state = check_random_state(self.random_state)
        tol = scaled_tolerance(X, self.tol)
        constraints = constraints[constraints.kinds != "relative"]
        X, mean = centred(X)

        def centers(links: Links, generator: np.random.RandomState, number: int) -> np.ndarray:
            return start_centers(
                X, links, self.n_clusters, self.init, weight, generator, number, mean
            )

        def best_run(known: Constraints, price: float, n_init: int, seed: int) -> Run:
            links = link_rows(known)

            def start(generator: np.random.RandomState, number: int, on_round: Any) -> Run:
                return pckmeans(
                    X,
                    links,
                    price,
                    centers(links, generator, number),
                    sample_weight=None if sample_weight is None else weight,
                    max_iter=self.max_iter,
                    tol=tol,
                    on_round=on_round,
                )

            return best_of_starts(self, start, np.random.RandomState(seed), n_init)

        seed = random_state.randint(2**31 - 1)
        if self.penalty != "auto":
            self.penalty_ = float(self.penalty)
        elif not len(constraints):
            self.penalty_ = 0.0
        else:
            generator = np.random.RandomState(random_state.randint(2**31 - 1))
            first = centers(link_rows(constraints), generator, 0)
            self.penalty_ = choose_price(
                price_by_leads(X, first, weight),
                constraints,
                lambda *case: best_run(*case).labels,
                generator,
            )
        best = best_run(constraints, self.penalty_, self.n_init, seed)
        warn_if_degenerate(best.labels, self.n_clusters)
        self.labels_ = best.labels
        self.cluster_centers_ = best.centers + mean
        self.inertia_, self.objective_ = best.inertia, best.objective
        self.n_iter_, self.converged_ = len(best.history), best.converged
        self.history_, self.report_ = best.history, constraints.report(best.labels)
        return self
