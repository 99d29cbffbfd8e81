"""Ours: the row whose group is least known, where rows around it are unsure too."""

from copy import copy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import entr, logsumexp
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from conclust._arrays import FloatArray, IntArray
from conclust._placement.belief import Rates
from conclust.active._closure import LiveClosure
from conclust.active._question import Proposal
from conclust.active._rates import MAX_ROWS, fitted_prior, floor, open_minded, rows_for
from conclust.active._state import State
from conclust.active._within import among
from conclust.active.strategies._filling import filled
from conclust.active.strategies._neighborhoods import (
    Neighborhood,
    find_neighborhoods,
    rows_outside,
    settle,
    unsettled,
)
from conclust.active.strategies._random import drawn_pairs
from conclust.active.strategies._strategy import Strategy
from conclust.model_selection import believe

# The models are fitted again when there are this many times as many answers, and so many more.
GROWTH, FEW = 1.4, 3
# Neighbours that share a row's uncertainty; rows of a group by which its distance is taken.
NEIGHBORS, NEAREST = 10, 3
# By what power of its distance a group is less probable; see `tempered`.
POWERS, USUAL_POWER = 2.0 ** np.arange(7), 2.0
# Rows that are as surely in their group as the surest, but for this, stand for it as well.
NEARLY = 1e-3
# The least probability that a row belongs to none of the groups known, while there may be others.
NEW = 0.05
IN_DOUBT = "an answer about one of them is in doubt"
AT_RANDOM = "two rows at random: such answers tell which model is right"


class Outlook(NamedTuple):
    """What the models say of some rows, before the latest answers."""

    n_told: int
    rows: IntArray  # sorted
    prior: FloatArray  # (n_rows, n_clusters)
    near: IntArray  # (n_rows, n_neighbors) places among `rows`
    density: FloatArray  # (n_rows,) the larger, the nearer the neighbours


class LeastKnown(Strategy):
    """The row whose group is least known for the questions it takes; where many rows are unsure.

    :class:`~conclust.AutoCluster` says how probable each cluster is for each row; fitted again as
    answers come in, and between by belief propagation. A row belongs to a group known by answers
    with a probability that follows from both their clusters and their distance; answers that are
    more probably wrong than right make no group, and what follows from them is asked. A question
    is about a row and the group it most probably belongs to: worth what the answer tells, times
    what it would tell of the rows around. While there may be groups that nobody has seen, typical
    rows of clusters without answers come first. Where the number of clusters is not known, rows
    begun are asked about until their group is known, or they are one: as many of the questions as
    the share of rows that probably belong to groups known.

    Parameters
    ----------
    n_random : float, default=30
        After m answers a question is a pair at random with probability n_random / (n_random + m).
    max_rows : int, default=1000
        Of more rows so many are drawn, and asked about.

    See Also
    --------
    RandomPairs : Takes no notice of what was asked.

    Notes
    -----
    Models are chosen by answers, and answers where all models are unsure do not choose well: hence
    pairs at random, most of all in the beginning.

    Groups of rows known to be apart, the most probable one asked first, are those of Xiong, Azimi
    and Fern (2014); theirs asks about a row until it is settled.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust.active import Labels, ask
    >>> X, y = load_iris(return_X_y=True)
    >>> session = ask(X, Labels(y), 25, n_clusters=3, strategy="auto", random_state=0)
    >>> len(session.history_)
    25
    """

    def __init__(self, *, n_random: float = 30.0, max_rows: int = MAX_ROWS):
        self.n_random = n_random
        self.max_rows = max_rows

    def propose(self, state: State, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        """See :meth:`Strategy.propose`."""
        if state.n_samples < 2:
            return []
        rows = self._rows(state)
        share = self.n_random / max(self.n_random + state.n_told, 1)
        n_chosen = n - random_state.binomial(n, share) if state.closure.groups else 0
        at_random = (
            [
                Proposal((int(a), int(b)), AT_RANDOM, 1.0, at_random=True)
                for a, b in drawn_pairs(state, rows, n - n_chosen, random_state)
            ]
            if n_chosen < n
            else []
        )
        if not n_chosen:
            return filled(at_random, state, n, random_state)
        outlook = self._outlook(state, rows)
        probability, doubt = believed(state, outlook)
        trusted = trusting(state, doubt)
        known = find_neighborhoods(trusted, random_state)
        belongs = membership(state, outlook, probability, known)
        worth = worth_of(belongs, outlook.near)
        worth[~np.isin(outlook.rows, rows_outside(state, known))] = -np.inf
        order = np.argsort(-worth, kind="stable")
        if belongs.shape[1] > len(known):
            order = np.concatenate([_unseen(outlook, probability, known), order])
        outside = np.isfinite(worth)
        if state.n_clusters is None and outside.any():
            # Which groups there are is known by rows that are asked about until they are in one.
            share = 1 - belongs[outside, -1].mean()
            begun = unsettled(trusted, known)[: random_state.binomial(n_chosen, share)]
            first = np.searchsorted(outlook.rows, begun)
            order = np.concatenate([first, order[~np.isin(order, first)]])
        order = order[outside[order]]
        place = {int(row): i for i, row in enumerate(outlook.rows)}
        found = settle(
            trusted,
            n_chosen,
            known,
            ((int(outlook.rows[i]), float(worth[i])) for i in order),
            lambda row: belongs[place[row], : len(known)],
            "where it belongs is least known, and of rows like it as well",
            finish=False,
            standing=lambda each: _surest(outlook, probability, each),
        )
        found = [_marked(proposal, state) for proposal in found]
        own = {frozenset(proposal.samples) for proposal in found}
        found += [one for one in at_random if frozenset(one.samples) not in own]
        return filled(found, state, n, random_state)

    def _rows(self, state: State) -> IntArray:
        """The rows that questions are about, sorted: always the same, and all named ones."""
        return rows_for(state.constraints, state.n_samples, self.max_rows)

    def _outlook(self, state: State, rows: IntArray) -> Outlook:
        """The latest one, or a new one where there are many more answers, or other rows."""
        last = state.memory.get("outlook")
        if (
            last is not None
            and state.n_told < GROWTH * last.n_told + FEW
            and np.array_equal(rows, last.rows)
        ):
            return last
        known = among(rows, state.constraints.pairwise)
        prior = fitted_prior(
            state.X[rows],
            state.n_clusters,
            known,
            state.error_rate,
            state.n_checked,
            n_clusters_range=state.n_clusters_range,
        )
        n_neighbors = min(NEIGHBORS, len(rows) - 1)
        near = NearestNeighbors(n_neighbors=n_neighbors).fit(state.X[rows])
        distances, places = near.kneighbors()
        away = distances.mean(axis=1)
        density = 1 / (away + (np.median(away) or 1.0))
        found = Outlook(state.n_told, rows, prior, places, density)
        state.memory["outlook"] = found
        return found


def trusting(state: State, doubt: FloatArray) -> State:
    """The same without what follows from answers that are probably wrong.

    A wrong must-link joins groups, and what follows from it would never be asked.
    """
    wrong = doubt > 0.5
    pairs = state.constraints.pairwise.pairs()
    if not wrong.any() or len(pairs.sign) > len(wrong):  # groups that are all apart were left out
        return state
    trusted = copy(state)
    trusted.closure = LiveClosure(state.n_samples)
    for (a, b), sign in zip(pairs.pairs[~wrong].tolist(), pairs.sign[~wrong].tolist(), strict=True):
        trusted.closure.add(a, b, sign)
    return trusted


def _marked(proposal: Proposal, state: State) -> Proposal:
    """Say so where the answer is known, but from answers in doubt."""
    if not state.closure.implied(*proposal.samples):
        return proposal
    return proposal._replace(why=IN_DOUBT, doubted=True)


def believed(state: State, outlook: Outlook) -> tuple[FloatArray, FloatArray]:
    """Probability of each cluster for the rows of an outlook, and doubt of each answer."""
    prior = open_minded(outlook.prior)
    told = among(outlook.rows, state.constraints.pairwise)
    if not len(told):
        return prior, np.empty(0)
    found = believe(prior, told, Rates(state.error_rate, state.error_rate))
    return found.probability, found.doubt


def membership(
    state: State, outlook: Outlook, probability: FloatArray, known: list[Neighborhood]
) -> FloatArray:
    """(n_rows, n_neighborhoods) how probable each is; one more column for "none of them".

    The last is left out where all clusters are known.
    """
    X = state.X[outlook.rows]
    mean = np.array([_mean(outlook, probability, each) for each in known])
    inside = [np.flatnonzero(np.isin(outlook.rows, each.core)) for each in known]
    away = [_distance(X, state.X[each.core], own) for each, own in zip(known, inside, strict=True)]
    alike = tempered(np.log(probability @ mean.T + floor(len(known))), np.array(away).T, inside)
    alike[_apart(state, outlook.rows, known)] = 0.0
    total = alike.sum(axis=1, keepdims=True)
    alike = np.divide(alike, total, out=np.full_like(alike, 1 / len(known)), where=total > 0)
    if state.n_clusters is not None and len(known) >= state.n_clusters:
        return alike
    new = np.minimum(probability @ (1 - mean.max(axis=0)) + NEW, 1 - NEW)[:, None]
    return np.hstack([alike * (1 - new), new])


def _mean(outlook: Outlook, probability: FloatArray, each: Neighborhood) -> FloatArray:
    places = np.searchsorted(outlook.rows, each.rows[np.isin(each.rows, outlook.rows)])
    mean: FloatArray = probability[places].mean(axis=0)
    return mean


def _surest(outlook: Outlook, probability: FloatArray, each: Neighborhood) -> IntArray:
    """Those of a neighborhood's core that are in its cluster most surely, or nearly so.

    An answer tells of a row what is true of the one it was compared with: a row that is where it is
    by a single answer hands on what was wrong with that.
    """
    core = each.core[np.isin(each.core, outlook.rows)]
    if not len(core):
        return each.core
    cluster = int(_mean(outlook, probability, each).argmax())
    wrong = 1 - probability[np.searchsorted(outlook.rows, core), cluster]
    return core[wrong <= 2 * wrong.min() + NEARLY]


def tempered(log_alike: FloatArray, away: FloatArray, inside: list[IntArray]) -> FloatArray:
    """How probable each group is, closeness counting as much as tells the known rows' groups best.

    Parameters
    ----------
    log_alike : ndarray of shape (n_rows, n_groups)
        What the models say.
    away : ndarray of shape (n_rows, n_groups)
        Distance to each group; from its own rows to the others there.
    inside : list of ndarray
        The rows of each group.

    Notes
    -----
    Probabilities are proportional to exp(log_alike) / away^p. In many dimensions all distances are
    nearly alike, and p must be large for them to mean something: of the powers of two, the one is
    taken under which known rows most probably belong where they do, with a prior around p = 2.
    """
    nearness = -np.log(np.maximum(away, 1e-12))

    def at(power: float) -> FloatArray:
        found = log_alike + power * nearness
        return found - logsumexp(found, axis=1, keepdims=True)

    own = [(row, h) for h, rows in enumerate(inside) if len(rows) > 1 for row in rows.tolist()]
    rows, groups = np.array(own, dtype=np.int64).reshape(-1, 2).T
    scores = [at(p)[rows, groups].sum() - np.log2(p / USUAL_POWER) ** 2 / 2 for p in POWERS]
    return np.exp(at(POWERS[int(np.argmax(scores))]))


def _apart(state: State, rows: IntArray, known: list[Neighborhood]) -> npt.NDArray[np.bool_]:
    """(n_rows, n_neighborhoods) which rows are known to be apart from which."""
    group = state.closure.group
    names = [state.closure.apart_from(int(group[each.core[0]])) for each in known]
    return np.array([np.isin(group[rows], list(apart)) for apart in names]).T


def _distance(X: FloatArray, group: FloatArray, own: IntArray) -> FloatArray:
    """Mean distance to the nearest few rows of a group, others than the row itself."""
    away = euclidean_distances(X, group)
    if len(own) > 1:
        away[own, away[own].argmin(axis=1)] = np.inf
    n_nearest = min(NEAREST, max(away.shape[1] - 1, 1))
    found: FloatArray = np.partition(away, n_nearest - 1, axis=1)[:, :n_nearest].mean(axis=1)
    return found


def worth_of(belongs: FloatArray, near: IntArray) -> FloatArray:
    """What a question about the likeliest group tells, times what it would of the rows around.

    Nats of the answer, yes or no: with many groups, rows that could be in any of them are asked
    about in vain, again and again.
    """
    yes = belongs.max(axis=1)
    unsure = entr(yes) + entr(1 - yes)
    around = (unsure + unsure[near].sum(axis=1)) / (near.shape[1] + 1)
    worth: FloatArray = unsure * around
    return worth


def _unseen(outlook: Outlook, probability: FloatArray, known: list[Neighborhood]) -> IntArray:
    """Typical rows of the clusters that no group stands for, the largest first."""
    seen = {int(_mean(outlook, probability, each).argmax()) for each in known}
    clusters = np.argsort(-probability.sum(axis=0), kind="stable")
    typical = (probability * outlook.density[:, None]).argmax(axis=0)
    return np.array([typical[c] for c in clusters if int(c) not in seen], dtype=np.int64)
