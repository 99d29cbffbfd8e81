"""RelativeSplit: which of three is the odd one out, where a tree has most to learn."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import entr, softmax

from conclust._arrays import FloatArray, IntArray
from conclust.active._question import Proposal
from conclust.active._state import State
from conclust.active._within import among
from conclust.active.strategies._sample import sampled_rows
from conclust.active.strategies._strategy import Strategy
from conclust.constraints import Constraints
from conclust.hierarchy import ReCon

N_LOOKED_THROUGH = 50  # of the best triples for each one wanted


class RelativeSplit(Strategy):
    """Three rows of three branches of the tree: the answer decides most of how these merge.

    The tree that :class:`~conclust.ReCon` makes of the answers so far is cut into branches. For
    three of them, a, b and c, there are three ways to go on: ab|c, ac|b and bc|a. The answer
    about their medoids strikes out two, and speaks for all triples of their rows. Asked is about
    the triple with the most rows to be decided: its number of triples of rows times the entropy of
    the three ways, more probable the closer the two branches that merge are.

    Parameters
    ----------
    n_branches : int, default=16
        Branches compared; more are looked into once the triples of these are asked.
    max_rows : int, default=1000
        The tree is made of so many rows at most, drawn once more for each question, with those
        that statements name.

    See Also
    --------
    NPU : Asks about pairs.

    Notes
    -----
    Questions are of kind "triple". A triple of branches about which something was told is not
    asked again.

    References
    ----------
    E. Y. Liu, Z. Zhang and W. Wang (2011). Clustering with relative constraints. KDD.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.active import Session
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]])
    >>> question = Session(X, strategy="relative", random_state=0).ask()[0]
    >>> question.kind, len(question.samples)
    ('triple', 3)
    """

    def __init__(self, *, n_branches: int = 16, max_rows: int = 1_000):
        self.n_branches = n_branches
        self.max_rows = max_rows

    def propose(self, state: State, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        """See :meth:`Strategy.propose`."""
        if state.n_samples < 3:
            return []
        tree = self._tree(state, random_state)
        n_branches = min(max(self.n_branches, 3), len(tree.rows))
        while True:
            found = _proposals(state, n, _branches(state.X, tree, n_branches))
            if found or n_branches == len(tree.rows) or n_branches > 4 * self.n_branches:
                return found
            n_branches = min(2 * n_branches, len(tree.rows))

    def _tree(self, state: State, random_state: np.random.RandomState) -> "Tree":
        rows = sampled_rows(state, self.max_rows, random_state)
        told = among(rows, state.constraints)
        model = ReCon(None, on_conflict="repair").fit(state.X[rows], constraints=told)
        return Tree(rows, model.children_)


class Tree(NamedTuple):
    """A hierarchy of some rows."""

    rows: IntArray
    children: IntArray


class Branches(NamedTuple):
    """A tree cut into parts."""

    of_row: IntArray  # (n_samples,) -1 where a row is not in the tree
    size: IntArray
    center: FloatArray
    medoid: IntArray


def _branches(X: FloatArray, tree: Tree, n_branches: int) -> Branches:
    """The parts that undoing the last merges leaves."""
    n = len(tree.rows)
    parts = {i: [i] for i in range(n)}
    for v, (left, right) in enumerate(tree.children[: n - n_branches].tolist()):
        parts[n + v] = parts.pop(left) + parts.pop(right)
    members = [tree.rows[part] for part in parts.values()]
    of_row = np.full(len(X), -1)
    for number, rows in enumerate(members):
        of_row[rows] = number
    center = np.array([X[rows].mean(axis=0) for rows in members])
    medoid = [
        rows[((X[rows] - middle) ** 2).sum(axis=1).argmin()]
        for rows, middle in zip(members, center, strict=True)
    ]
    size = np.array([len(rows) for rows in members])
    return Branches(of_row, size, center, np.array(medoid))


def _proposals(state: State, n: int, branches: Branches) -> list[Proposal]:
    triples = np.array(list(combinations(range(len(branches.size)), 3)))
    worth = decided(triples, branches)
    told = _triples_told(state, branches)
    relative = state.constraints[np.flatnonzero(state.constraints.kinds == "relative")].repaired()
    found: list[Proposal] = []
    for i in np.argsort(-worth, kind="stable")[: N_LOOKED_THROUGH * n]:
        rows = tuple(branches.medoid[triples[i]].tolist())
        if frozenset(triples[i].tolist()) in told or not _is_open(state, rows, relative):
            continue
        why = "three parts of the tree: which two merge first?"
        found.append(Proposal(rows, why, float(worth[i]), "triple"))
        if len(found) == n:
            break
    return found


def decided(triples: IntArray, branches: Branches) -> FloatArray:
    """(m,) triples of rows that an answer decides, times how uncertain it is, in nats.

    The three answers are as probable as the inverse squared distances of the two that merge.
    """
    a, b, c = triples.T
    distance = cdist(branches.center, branches.center)
    merging = np.column_stack([distance[a, b], distance[a, c], distance[b, c]])
    probability = softmax(-2 * np.log(merging + np.finfo(float).tiny), axis=1)
    n_triples = branches.size[triples].prod(axis=1, dtype=float)
    worth: FloatArray = n_triples * entr(probability).sum(axis=1)
    return worth


def _triples_told(state: State, branches: Branches) -> set[frozenset[int]]:
    """Branches about whose rows something was told, asked in vain, or is being asked."""
    told = [*state.constraints.relative.tolist(), *state.asked, *state.held]
    return {frozenset(branches.of_row[list(rows)].tolist()) for rows in told}


def _is_open(state: State, rows: tuple[int, ...], relative: Constraints) -> bool:
    """Whether the answer about three rows neither was asked for nor follows."""
    if frozenset(rows) in state.asked | state.held:
        return False
    a, b, c = rows
    if (state.closure.implied([a, a, b], [b, c, c]) > 0).any():
        return False
    return not any(relative.implies(*order) for order in ((a, b, c), (a, c, b), (b, c, a)))
