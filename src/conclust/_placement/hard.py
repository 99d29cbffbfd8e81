"""The assignment step of hard constrained k-means: cheap, and no cannot-link inside a cluster."""

from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp
from scipy.sparse import coo_array, csr_array, eye_array, kron

from conclust._arrays import FloatArray, IntArray
from conclust._kernels import coloring
from conclust._kernels.coloring import FOUND, NONE, UNKNOWN
from conclust._kernels.place_hard import (
    FREE,
    ROUNDING,
    extend,
    fold_leaves,
    improve,
    place_greedily,
    place_softly,
    repair,
    unfold_leaves,
)
from conclust._placement.apart_graph import ApartGraph
from conclust._placement.regret import two_least

# Budgets count elementary steps, not seconds, so that answers do not depend on the machine.
IMPROVE_BUDGET = 100_000_000  # links looked at: a few seconds, hardly ever spent
# Kempe chains longer than this rarely pay, and cost as much to look at as a whole sweep.
MAX_CHAIN = 64
# Components whose clusters are permuted as a whole, and how often that is tried again.
MAX_RENAMED = 50
MAX_RENAMINGS = 5
# The price of a broken link grows by 1.5^20, over 3 000 times, from a start that leaves most be.
PRICE_GROWTH = 1.5
N_SWEEPS = 20
# Moves compared by tabu search: about 0.2 s and 3 s. The first is for every case that clashes, and
# a small one, with s = units times clusters moves to choose from, gets at most 100 s^2 of it.
SHORT_REPAIR = 40_000_000
SMALL_REPAIR = 100
LONG_REPAIR = 400_000_000
N_DRAWN = 8
RELAX_N_DRAWN = 64
# Tabu search ends at the first placement without a broken link; where it is cheap (few units
# times clusters) it is run from several seeds and the least cost kept.
N_REPAIRS = 8
MAX_REPEATED = 20_000
CLIQUE_BUDGET = 100_000  # candidates tried
COLOR_BUDGET = 500_000  # colours tried: about 1 s
# The integer programme has one binary variable per unit and cluster. It is reached where links
# are dense, and there it needs seconds at this size and minutes at twice the size.
MAX_SOLVER_VARIABLES = 300
SOLVER_INFEASIBLE = 2  # scipy's status of a programme proved to have no solution
NOTHING = np.empty(0, np.int64)


# Connected components whose links were not all kept: units that exclude a placement, or none where
# nothing is proved.
GivenUp = dict[int, IntArray]


class Outcome(StrEnum):
    """What `place` can say about the links."""

    FEASIBLE = "feasible"  # every link kept
    RELAXED = "relaxed"  # some broken, as allowed
    INFEASIBLE = "infeasible"  # proved: no placement keeps them all
    UNKNOWN = "unknown"  # none found, none excluded


class Placement(NamedTuple):
    """Where the units went.

    `labels` is the best placement found, whatever the outcome: with INFEASIBLE or UNKNOWN it
    breaks links and is no answer. `rung` is the highest step of the ladder that was needed.
    """

    labels: IntArray  # (n_units,)
    cost: float  # summed over units
    broken: IntArray  # rows of `apart` whose two units share a cluster
    outcome: Outcome
    rung: str
    witness: IntArray  # INFEASIBLE: units whose links alone exclude a placement; else empty


class _Found(NamedTuple):
    labels: IntArray
    rung: str
    witness: IntArray = NOTHING  # units that cannot all be placed, where that is proved


# From the cheapest to the dearest; `rung` reports the last one reached.
RUNGS = ("tree", "two-colouring", "greedy", "repair", "colouring", "solver", "relaxed")


def place(
    cost: Any,
    graph: ApartGraph,
    *,
    previous: IntArray | None = None,
    fresh: bool = True,
    relax: bool = False,
    time_limit: float = 10.0,
    given_up: GivenUp | None = None,
    work: FloatArray | None = None,
) -> Placement:
    r"""Give every unit a cluster, keep linked units apart, and make the total cost small.

    Minimises :math:`\sum_u \mathrm{cost}[u, l_u]` over labels with :math:`l_u \ne l_v` for every
    link :math:`uv`. The answer keeps the links exactly; its cost is the least known, not always
    the least there is.

    Parameters
    ----------
    cost : array-like of shape (n_units, n_clusters)
        Cost of each unit in each cluster, finite: the squared distances of its members, summed.
    graph : ApartGraph
        The units that must not share a cluster.
    previous : ndarray of shape (n_units,), default=None
        An earlier placement, the last iteration's. The result is never worse: not by broken
        weight, nor, at equal broken weight, by cost. Where nothing cheaper is found, it stays.
    fresh : bool, default=True
        Also place from scratch and keep the better. False only improves `previous`, for when the
        costs have hardly changed.
    relax : bool, default=False
        When the links cannot all be kept, break the least weight found.
    time_limit : float, default=10.0
        Seconds for the integer programme, which few cases reach.
    given_up : dict, default=None
        What was found out about the links of `graph` by earlier calls, whatever the costs; filled
        in here. With it the dear searches are done once, not from every start.
    work : ndarray of shape (n_units, n_clusters), float64, default=None
        Room for a copy of the costs: to get so much memory from the system takes longer than to
        fill it.

    Returns
    -------
    Placement
        Nothing is raised for links that cannot be kept: see `outcome`.

    Notes
    -----
    Minimum-cost colouring of a graph is NP-hard; the steps are a ladder, cheapest first.

    1. Units without links take their cheapest cluster; trees of links, alone or hanging on the
       rest, are placed at least cost by dynamic programming. Both are exact.
    2. Two clusters: each connected component has two placements; the cheaper one. Exact.
    3. Two starts: the most constrained unit first, ties by regret, each to its cheapest allowed
       cluster; and all units in their cheapest cluster, moving away from broken links as their
       price grows. With `previous`, the second and `previous` itself.
    4. From each start, moves, evictions and swaps along Kempe chains, as long as they mend a link
       or save cost. Each connected component keeps its better result.
    5. Only for components that still break a link: tabu repair; then exact colouring of the part
       where every unit has at least n_clusters links (the rest always fits), which finds a
       placement or proves that there is none; then, if small, an integer programme.

    Time for steps 1 to 4 is O(links log n_units + n_units n_clusters) for the starts and close to
    that for each sweep of step 4; memory a copy of the costs.
    """
    cost = np.ascontiguousarray(cost, dtype=np.float64)
    n_units, n_clusters = cost.shape
    labels = np.zeros(n_units, np.int64)
    found = _Found(labels, RUNGS[0])
    if n_clusters == 1:
        return _report(found._replace(witness=graph.apart[:1].ravel()), cost, graph, relax)
    order, peeled, parent = graph.core_first
    folded = cost
    if len(peeled):
        # "clip", since "raise" would gather into memory of its own first.
        folded = np.take(cost, order, axis=0, out=work, mode="clip")
        fold_leaves(peeled, parent, folded)
    units, placed = graph.core_units, np.zeros(n_units, np.int64)
    if len(units):
        inner = _place_core(
            folded[: len(units)],
            graph.core,
            previous=None if previous is None else np.asarray(previous, np.int64)[units],
            fresh=fresh,
            relax=relax,
            time_limit=time_limit,
            given_up={} if given_up is None else given_up,
        )
        placed[: len(units)] = inner.labels
        found = inner._replace(labels=labels, witness=units[inner.witness])
    unfold_leaves(peeled, parent, folded, placed)
    labels[order] = placed
    return _report(found, cost, graph, relax)


def _report(found: _Found, cost: FloatArray, graph: ApartGraph, relax: bool) -> Placement:
    broken = graph.broken(found.labels)
    witness = found.witness
    if len(broken) == 0:
        outcome = Outcome.FEASIBLE
    elif relax:
        outcome, witness = Outcome.RELAXED, NOTHING
    else:
        outcome = Outcome.INFEASIBLE if len(witness) else Outcome.UNKNOWN
    total = float(_cost_of(cost, found.labels).sum())
    return Placement(found.labels, total, broken, outcome, found.rung, witness)


def _place_core(
    cost: FloatArray,
    graph: ApartGraph,
    *,
    previous: IntArray | None,
    fresh: bool,
    relax: bool,
    time_limit: float,
    given_up: GivenUp,
) -> _Found:
    """Place the 2-core: steps 2 to 5 of `place`."""
    if cost.shape[1] == 2:
        labels, rung = _choose_sides(cost, graph), "two-colouring"
    elif previous is not None and not fresh:
        # Costs that have hardly changed do not turn whole clusters round.
        labels, rung = _improved(cost, graph, previous, rename=False), "greedy"
    else:
        labels, rung = _improved(cost, graph, _start_softly(cost, graph)), "greedy"
        if previous is None:
            labels = _better(
                cost, graph, labels, _improved(cost, graph, _start_greedily(cost, graph))
            )
    if previous is not None and (fresh or cost.shape[1] == 2):
        labels = _better(cost, graph, labels, _improved(cost, graph, previous))
    clashing = np.flatnonzero(graph.violated_weight(labels))
    # `previous` has been up the ladder once, and no step breaks more than it did.
    if len(clashing) == 0 or (relax and previous is not None):
        return _Found(labels, rung)
    return _place_clashing(
        cost, graph, labels, clashing, relax=relax, time_limit=time_limit, given_up=given_up
    )


def _place_clashing(
    cost: FloatArray,
    graph: ApartGraph,
    labels: IntArray,
    clashing: IntArray,
    *,
    relax: bool,
    time_limit: float,
    given_up: GivenUp,
) -> _Found:
    """Step 5 of `place`: settle the components in which `labels` breaks a link."""
    all_units = np.flatnonzero(np.isin(graph.component, clashing))
    parts = graph.restricted(all_units)  # once, so that many small components stay cheap
    rung = "repair"
    for component in range(len(parts.odd)):
        inside = np.flatnonzero(parts.component == component)
        units, part = all_units[inside], parts.restricted(inside)
        number = int(graph.component[units[0]])
        found = _settle(cost[units], part, labels[units], time_limit, given_up.get(number))
        if len(part.broken(found.labels)):
            given_up[number] = found.witness
        if len(found.witness) and not relax:
            return found._replace(labels=labels, witness=units[found.witness])
        if relax and len(part.broken(found.labels)):
            found = _relax(cost[units], part, found.labels)
        labels[units] = found.labels
        rung = max(rung, found.rung, key=RUNGS.index)
    return _Found(labels, rung)


def _choose_sides(cost: FloatArray, graph: ApartGraph) -> IntArray:
    """Turn each component's two-colouring the cheaper way round."""
    straight = _sum_by_component(graph, _cost_of(cost, graph.side))
    turned = _sum_by_component(graph, _cost_of(cost, 1 - graph.side))
    return graph.side ^ (turned < straight)[graph.component]


def _start_greedily(cost: FloatArray, graph: ApartGraph) -> IntArray:
    labels = np.empty(graph.n_units, np.int64)
    place_greedily(cost, graph.indptr, graph.indices, graph.weight, labels)
    return labels


def _start_softly(cost: FloatArray, graph: ApartGraph) -> IntArray:
    """Start from the cheapest clusters, first with links at a third of what leaving them costs."""
    least, second = two_least(cost)
    regret = second - least
    # In random clusters a unit has 1 / n_clusters of its links broken.
    typical_clash = graph.weight.sum() / cost.size
    price = regret.mean() / (3 * typical_clash)
    labels = cost.argmin(axis=1)
    place_softly(
        cost,
        graph.indptr,
        graph.indices,
        graph.weight,
        np.argsort(-regret, kind="stable"),
        price or 1.0,
        PRICE_GROWTH,
        N_SWEEPS,
        labels,
    )
    return labels


def _settle(
    cost: FloatArray,
    graph: ApartGraph,
    labels: IntArray,
    time_limit: float,
    witness: IntArray | None,
) -> _Found:
    """Mend the broken links of one connected component, or prove that it cannot be done.

    `witness` is what an earlier call found: None if there was none, empty if it gave up.
    """
    if witness is not None and len(witness):
        return _Found(labels, "colouring", witness)
    n_tries = N_REPAIRS if cost.size <= MAX_REPEATED else 1
    mended = _mend(cost, graph, labels, _short_budget(cost), n_tries)
    if mended is not None:
        return _Found(mended, "repair")
    if witness is not None:  # longer searches do not know the costs, and have found nothing
        return _Found(labels, "solver")
    verdict, colored, witness = _color(cost, graph)
    if verdict == NONE:
        return _Found(labels, "colouring", witness)
    if verdict == UNKNOWN:
        mended = _mend(cost, graph, labels, LONG_REPAIR, 1)
        if mended is not None:
            return _Found(mended, "repair")
    solver, solved = _solve(cost, graph, time_limit)
    if verdict == FOUND:
        colored = _improved(cost, graph, colored)
        if solver == FOUND:
            colored = _better(cost, graph, solved, colored)
        return _Found(colored, "colouring")
    if solver == FOUND:
        return _Found(solved, "solver")
    if solver == NONE:
        return _Found(labels, "solver", np.arange(graph.n_units))
    return _Found(labels, "solver")


def _mend(
    cost: FloatArray, graph: ApartGraph, labels: IntArray, budget: int, n_tries: int
) -> IntArray | None:
    """Search for a placement that breaks no link; None when none is met."""
    # Whole numbers: sums are exact, and a link of little weight is as hard as a heavy one.
    links = graph.indptr, graph.indices, np.ones(len(graph.indices))
    best = None
    for seed in range(1, 1 + n_tries):
        found = labels.copy()
        broken = repair(cost, *links, N_DRAWN, budget // 2, seed, found)
        if broken:
            # The costs draw the search to the same corner again and again: look without them.
            blind = np.zeros_like(cost)
            broken = repair(blind, *links, N_DRAWN, budget // 2, seed, found)
        if broken:
            return best
        found = _improved(cost, graph, found)
        best = found if best is None else _better(cost, graph, found, best)
    return best


def _short_budget(cost: FloatArray) -> int:
    return min(SHORT_REPAIR, SMALL_REPAIR * cost.size**2)


def _color(cost: FloatArray, graph: ApartGraph) -> tuple[int, IntArray, IntArray]:
    """Colour one component exactly; return the verdict, the labels, and why there are none."""
    n_clusters = cost.shape[1]
    inside = np.ones(graph.n_units, np.bool_)
    peeled = coloring.core(graph.indptr, graph.indices, n_clusters, inside)
    units = np.flatnonzero(inside)
    core = graph.restricted(units)
    labels = np.full(graph.n_units, FREE, np.int64)
    for component in range(len(core.odd)):
        alive = core.component == component
        verdict, colors, witness = _color_connected(core, alive, n_clusters)
        if verdict != FOUND:
            return verdict, labels, units[witness]
        labels[units[alive]] = _cheapest_names(cost, units[alive], colors[alive])
    # A removed unit had fewer than n_clusters neighbours left: one cluster at least is open.
    extend(cost, graph.indptr, graph.indices, peeled[::-1].copy(), labels)
    return FOUND, labels, NOTHING


def _color_connected(
    graph: ApartGraph, alive: npt.NDArray[np.bool_], n_colors: int
) -> tuple[int, IntArray, IntArray]:
    """Look for the short reasons against a colouring, then for a colouring."""
    colors = np.full(graph.n_units, FREE, np.int64)
    if n_colors == 2:
        cycle = np.empty(graph.n_units, np.int64)
        length = coloring.odd_cycle(graph.indptr, graph.indices, alive, cycle)
        if length:
            return NONE, colors, cycle[:length]
    clique = np.empty(n_colors + 1, np.int64)
    found = coloring.find_clique(
        graph.indptr, graph.indices, alive, n_colors + 1, CLIQUE_BUDGET, clique
    )
    if found == FOUND:
        return NONE, colors, clique
    verdict = coloring.color(graph.indptr, graph.indices, alive, n_colors, COLOR_BUDGET, colors)
    return verdict, colors, np.flatnonzero(alive)


def _solve(cost: FloatArray, graph: ApartGraph, time_limit: float) -> tuple[int, IntArray]:
    """Place one small component at least cost, by an integer programme.

    x[u, c] = 1 when unit u is in cluster c; minimise Σ cost[u, c] x[u, c] with Σ_c x[u, c] = 1
    for every unit, and x[u, c] + x[v, c] <= 1 for every link uv and cluster c.
    """
    n_units, n_clusters = cost.shape
    if cost.size > MAX_SOLVER_VARIABLES:
        return UNKNOWN, NOTHING
    scale = float(np.abs(cost).max()) or 1.0  # the solver's tolerances are absolute
    answer = milp(
        cost.ravel() / scale,
        integrality=1,
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(_one_cluster_each(n_units, n_clusters), 1, 1),
            LinearConstraint(_both_ends(graph, n_clusters), -np.inf, 1),
        ],
        options={"time_limit": time_limit},
    )
    if answer.x is None:
        return (NONE if answer.status == SOLVER_INFEASIBLE else UNKNOWN), NOTHING
    return FOUND, answer.x.reshape(n_units, n_clusters).argmax(axis=1)


def _one_cluster_each(n_units: int, n_clusters: int) -> csr_array:
    """Row u sums x[u, :]."""
    return csr_array(kron(eye_array(n_units), np.ones((1, n_clusters))))


def _both_ends(graph: ApartGraph, n_clusters: int) -> csr_array:
    """Row (link uv, c) sums x[u, c] + x[v, c]."""
    n_links = len(graph.apart)
    ends = (np.repeat(np.arange(n_links), 2), graph.apart.ravel())
    incidence = coo_array((np.ones(2 * n_links), ends), (n_links, graph.n_units))
    return csr_array(kron(incidence, eye_array(n_clusters)))


def _relax(cost: FloatArray, graph: ApartGraph, labels: IntArray) -> _Found:
    """Break the least weight found in one component whose links cannot all be kept."""
    links = graph.indptr, graph.indices, graph.weight
    best = _improved(cost, graph, labels)
    # The weight alone, downhill fast; then all moves compared, and the cost among equal weights.
    for prices, n_drawn in ((np.zeros_like(cost), RELAX_N_DRAWN), (cost, graph.n_units)):
        found = best.copy()
        repair(prices, *links, n_drawn, _short_budget(cost), 1, found)
        best = _better(cost, graph, _improved(cost, graph, found), best)
    return _Found(best, "relaxed")


def _improved(
    cost: FloatArray, graph: ApartGraph, labels: IntArray, *, rename: bool = True
) -> IntArray:
    """Go down from `labels` until neither single units, chains nor whole clusters want to move."""
    labels = labels.copy()
    for _ in range(MAX_RENAMINGS):
        # The largest possible gain first, so that the order of the units does not matter.
        order = np.argsort(cost.min(axis=1) - _cost_of(cost, labels), kind="stable")
        links = graph.indptr, graph.indices, graph.weight
        improve(cost, *links, order, MAX_CHAIN, IMPROVE_BUDGET, labels)
        if not rename:
            break
        renamed = _better(cost, graph, _renamed(cost, graph, labels), labels)
        if np.array_equal(renamed, labels):
            break
        labels = renamed
    return labels


def _renamed(cost: FloatArray, graph: ApartGraph, labels: IntArray) -> IntArray:
    """Permute the clusters inside each of the largest components, at least cost.

    Where links are dense they fix who goes with whom and leave only the names open; swapping two
    clusters at a time, as chains do, cannot turn three of them round.
    """
    labels = labels.copy()
    for component in np.argsort(-np.bincount(graph.component), kind="stable")[:MAX_RENAMED]:
        units = np.flatnonzero(graph.component == component)
        labels[units] = _cheapest_names(cost, units, labels[units])
    return labels


def _cheapest_names(cost: FloatArray, units: IntArray, labels: IntArray) -> IntArray:
    """Match the labels of some units to the clusters at least cost, one to one."""
    n_units, n_clusters = cost.shape
    members = csr_array((np.ones(len(units)), (labels, units)), (n_clusters, n_units))
    return linear_sum_assignment(members @ cost)[1][labels]


def _better(cost: FloatArray, graph: ApartGraph, labels: IntArray, kept: IntArray) -> IntArray:
    """Take each component from the better labelling: less broken weight, then less cost.

    Links never leave a component, so the choices are free; a tie goes to `kept`.
    """
    broken, kept_broken = graph.violated_weight(labels), graph.violated_weight(kept)
    price = _sum_by_component(graph, _cost_of(cost, labels))
    kept_price = _sum_by_component(graph, _cost_of(cost, kept))
    cheaper = price < kept_price - ROUNDING * np.abs(kept_price)
    wins = (broken < kept_broken) | ((broken == kept_broken) & cheaper)
    return np.where(wins[graph.component], labels, kept)


def _cost_of(cost: FloatArray, labels: IntArray) -> FloatArray:
    return cost[np.arange(len(labels)), labels]


def _sum_by_component(graph: ApartGraph, values: FloatArray) -> FloatArray:
    sums: FloatArray = np.bincount(graph.component, values, len(graph.odd)).astype(np.float64)
    return sums
