"""Linked rows moved as long as that lowers distances plus the prices of broken statements."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from conclust._arrays import FloatArray, IntArray
from conclust._kernels._short import LITTLE, short
from conclust._kernels.place_soft import move_chains, move_groups, move_rows, violated_price
from conclust._pairs import Graph
from conclust._placement.links import Links
from conclust._placement.regret import two_least

# Sweeps until no row wants to move rarely need more than ten; contradictory links of equal price
# could keep rounding going.
MAX_SWEEPS = 100
# Rounds of sweeps, group moves and chains in one assignment. What is left is for the next one.
MAX_ROUNDS = 20
# Chains that pay are short, and long ones cost as much to look at as a sweep.
LONGEST_CHAIN = 64
# Prices looked at for chains in one round, some 0.2 s: only dense graphs reach it.
CHAIN_BUDGET = 100_000_000
NO_GROUPS = (np.zeros(1, np.int64), np.zeros(0, np.int64))


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
    n_units, n_rows = len(links.graph_of_units.indptr) - 1, len(cost)
    members = csr_array((np.ones(n_rows), (links.unit, np.arange(n_rows))), (n_units, n_rows))
    unit_cost = members @ cost
    reached = _total(cost, links, price, labels)
    if unit_cost.min(axis=1).sum() >= reached:
        return
    unit_labels = _most_common(links.unit, labels, n_units)
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
    least, second = two_least(cost)
    order = np.argsort(least - second, kind="stable")
    back = order[::-1].copy()
    move_together = short(move_groups, len(groups[1]) * cost.shape[1], LITTLE)
    for _ in range(MAX_ROUNDS):
        for _ in range(MAX_SWEEPS):
            if not move_rows(cost, *graph, sign, price, least, order, labels):
                break
        n_moves = move_together(cost, *graph, sign, price, *groups, labels)
        n_moves += move_chains(
            cost, *graph, sign, price, least, back, LONGEST_CHAIN, CHAIN_BUDGET, labels
        )
        if not n_moves:
            break


def _total(
    cost: FloatArray, links: Links, price: FloatArray, labels: npt.NDArray[np.int32]
) -> float:
    paid = np.empty(len(links))
    violated_price(links.pairs, links.sign, price, labels, paid)
    return float(cost[np.arange(len(labels)), labels].sum() + paid.sum())


def _most_common(
    unit: IntArray, labels: npt.NDArray[np.int32], n_units: int
) -> npt.NDArray[np.int32]:
    """The cluster that holds most rows of each unit, the lowest on ties."""
    n_clusters = int(labels.max(initial=0)) + 1
    code, count = np.unique(unit * n_clusters + labels, return_counts=True)
    order = np.lexsort((code, -count))  # of each unit the first one found is the answer
    common = np.empty(n_units, np.int32)
    common[code[order[::-1]] // n_clusters] = code[order[::-1]] % n_clusters
    return common


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
    violated_price(links.pairs, links.sign, price, labels[links.rows], paid)
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
