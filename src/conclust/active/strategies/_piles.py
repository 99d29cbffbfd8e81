"""Piles: up to ten rows sorted at once, so that answers tell where each of them belongs."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import entr
from sklearn.neighbors import NearestNeighbors

from conclust._arrays import FloatArray, IntArray
from conclust.active._answers import MAX_PILED
from conclust.active._question import Proposal
from conclust.active._rates import MAX_ROWS, rows_for
from conclust.active._state import State
from conclust.active.strategies._clustering import extended
from conclust.active.strategies._filling import filled
from conclust.active.strategies._membership import Membership, Units, membership, units_of
from conclust.active.strategies._strategy import Strategy
from conclust.exceptions import SessionError

BoolArray = npt.NDArray[np.bool_]

LEAST_PILED = 3  # rows; of two a pair is asked
# So many units, the least known, are each tried as what a question is about.
N_SEEDS = 48
NEIGHBORS = 10  # by which it is known where rows are dense


class Piles(Strategy):
    """Up to ten rows sorted into piles: some stand for groups, the others belong there or not.

    Of the rows whose group is not known, those are shown together that probably belong to the same
    few groups, each of which a row stands for, the nearest to the group's mean: a known group, or
    one that is only supposed, as its rows are far from all others. Rows and groups are chosen so
    that the answer tells most: the sum over the rows of the entropy of where they are put. A pile
    of rows that are in none of the groups shown is a group from then on, and is shown as one.

    Parameters
    ----------
    size : int, default=10
        Rows of a question at most, from 3 to 10.
    max_rows : int, default=1000
        Of more rows so many are drawn, and asked about.

    See Also
    --------
    LeastKnown : Asks about pairs, and doubts answers.

    Notes
    -----
    How probably a row belongs to each group is known from normal distributions around the groups'
    means, alike in all groups; the known groups tell how they scatter, and in which directions.
    This takes no clustering, so that each question uses all answers before it.

    It makes a clustering of its own: ``Session(X, strategy="piles", estimator="strategy")`` takes
    it. This keeps every answer but those that contradict earlier ones; where many are wrong, the
    usual :class:`~conclust.AutoCluster` is better.

    When two rows are left, they are asked about as a pair. True answers come to an end, when all is
    known.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust.active import Labels, ask
    >>> X, y = load_iris(return_X_y=True)
    >>> session = ask(X, Labels(y), 10, n_clusters=3, strategy="piles", random_state=0)
    >>> question = session.ask()[0]
    >>> question.kind, len(question.samples)
    ('piles', 10)
    """

    def __init__(self, *, size: int = MAX_PILED, max_rows: int = MAX_ROWS):
        self.size = size
        self.max_rows = max_rows

    def propose(self, state: State, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        """See :meth:`Strategy.propose`."""
        if not LEAST_PILED <= self.size <= MAX_PILED:
            raise SessionError(
                f"size={self.size!r}: a question of piles has {LEAST_PILED} to {MAX_PILED} rows."
            )
        if state.n_samples < 2:
            return []
        found: list[Proposal] = []
        n_rows = max(self.max_rows, 2)
        while not found:
            found = self._proposals(state, n, n_rows)
            if n_rows >= state.n_samples:
                break
            n_rows *= 2  # of those drawn before, everything is known
        return filled(found, state, n, random_state)

    def _proposals(self, state: State, n: int, max_rows: int) -> list[Proposal]:
        _, units, belongs = _belonging(state, max_rows)
        free = ~np.isin(units.name, [state.closure.group[row] for row in _rows_of(state.held)])
        free[belongs.groups[: belongs.n_known]] = False
        found: list[Proposal] = []
        while len(found) < n:
            choice = chosen(belongs, free, self.size)
            if choice is None:
                break
            free[[*choice.groups, *choice.units]] = False
            proposal = _proposal(units, choice)
            if _is_open(state, proposal):
                found.append(proposal)
        return found

    def labels(self, state: State) -> IntArray:
        """The clustering of its own: each row where it was put, or most probably belongs.

        Parameters
        ----------
        state : State
            What is known so far.

        Returns
        -------
        ndarray of shape (n_samples,)
            The cluster of each row.
        """
        rows, units, belongs = _belonging(state, self.max_rows)
        of_unit = belongs.probability[:, :-1].argmax(axis=1)
        of_unit[belongs.groups] = np.arange(len(belongs.groups))
        labels = of_unit[np.searchsorted(units.name, state.closure.group[rows])]
        return labels if len(rows) == state.n_samples else extended(state.X, rows, labels)


def _belonging(state: State, max_rows: int) -> tuple[IntArray, Units, Membership]:
    """Some rows, which of them are known to be one, and where these belong."""
    rows = rows_for(state.constraints, state.n_samples, max_rows)
    units = units_of(state.X, rows, state.closure)
    dense = _density(state, rows)[np.searchsorted(rows, units.card)]
    return rows, units, membership(state, units, dense)


def _density(state: State, rows: IntArray) -> FloatArray:
    """The larger, the nearer the neighbours; computed once."""
    key = "density", len(rows)
    last = state.memory.get(key)
    if last is None or not np.array_equal(rows, last[0]):
        near = NearestNeighbors(n_neighbors=min(NEIGHBORS, len(rows) - 1)).fit(state.X[rows])
        away = near.kneighbors()[0].mean(axis=1)
        last = rows, 1 / (away + (np.median(away) or 1.0))
        state.memory[key] = last
    found: FloatArray = last[1]
    return found


class Choice(NamedTuple):
    """Units to be shown together."""

    groups: list[int]  # stand for groups
    units: list[int]  # to be put there, or elsewhere
    worth: float  # nats


def chosen(belongs: Membership, free: BoolArray, size: int) -> Choice | None:
    """Groups and units of which the answer tells most; None where nothing is open.

    For each of the least known units its likeliest groups are tried, one, two and more of them,
    with the units whose place among these is least known.

    Parameters
    ----------
    belongs : Membership
    free : ndarray of shape (n_units,)
        Units that may be asked about; groups known to be apart may always be shown.
    size : int
        Cards at most.
    """
    shown = free[belongs.groups]
    shown[: belongs.n_known] = True
    groups, units = belongs.groups[shown], np.flatnonzero(free)
    if not len(groups) or not len(units):
        return None
    probability = belongs.probability[np.ix_(units, np.flatnonzero(shown))]
    seeds = probability[np.argsort(-entr(probability).sum(axis=1), kind="stable")[:N_SEEDS]]
    likeliest = np.argsort(-seeds, axis=1, kind="stable")[:, : size - 1]
    told = information(probability, likeliest)
    # A unit that stands for a group is not to be put anywhere in the same question.
    told[np.cumsum(groups[likeliest] == units[:, None, None], axis=2) > 0] = 0.0
    worth, seed, n_groups = max(_best(told[..., i], size - 1 - i, i) for i in range(told.shape[2]))
    if worth <= 0:
        return None
    order = np.argsort(-told[:, seed, n_groups], kind="stable")[: size - 1 - n_groups]
    order = order[told[order, seed, n_groups] > 0]
    return Choice(groups[likeliest[seed, : n_groups + 1]].tolist(), units[order].tolist(), worth)


def information(probability: FloatArray, likeliest: IntArray) -> FloatArray:
    """Nats of where a unit is put: to one of the groups shown, or to none of them.

    Parameters
    ----------
    probability : ndarray of shape (n_units, n_groups)
    likeliest : ndarray of shape (n_seeds, n_shown)
        Groups; the first one of them is shown, the first two, and so on.

    Returns
    -------
    ndarray of shape (n_units, n_seeds, n_shown)
    """
    shown = probability[:, likeliest]
    none = np.clip(1 - np.cumsum(shown, axis=2), 0, 1)
    told: FloatArray = np.cumsum(entr(shown), axis=2) + entr(none)
    return told


def _best(told: FloatArray, n: int, n_groups: int) -> tuple[float, int, int]:
    """What the n units that tell most do in all, for the best seed; a seed in each column."""
    n = min(n, len(told))
    worth = -np.partition(-told, n - 1, axis=0)[:n].sum(axis=0)
    seed = int(worth.argmax())
    return float(worth[seed]), seed, n_groups


def _proposal(units: Units, choice: Choice) -> Proposal:
    cards = tuple(units.card[[*choice.groups, *choice.units]].tolist())
    is_known = (units.size[choice.groups] > 1).any()
    why = (
        "some stand for known groups: which of the others belong there?"
        if is_known
        else "rows that may belong together"
    )
    return Proposal(cards, why, choice.worth, "pair" if len(cards) == 2 else "piles")


def _is_open(state: State, proposal: Proposal) -> bool:
    rows = frozenset(proposal.samples)
    if proposal.kind == "pair":
        return bool(state.is_open(*proposal.samples))
    return rows not in state.asked and rows not in state.held


def _rows_of(questions: set[frozenset[int]]) -> list[int]:
    return [row for rows in questions for row in rows]
