"""Neighborhoods: groups of rows known to be apart, to which one row after another is added."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances_argmin_min

from conclust._arrays import FloatArray, IntArray
from conclust.active._question import Proposal
from conclust.active._state import State

# A row: how close it is to each neighborhood, (n_neighborhoods,); the closest is asked first.
Closeness = Callable[[int], FloatArray]
# A neighborhood: those of its core that may stand for it.
Standing = Callable[["Neighborhood"], IntArray]


class Neighborhood(NamedTuple):
    """A group of rows that belong together, apart from all other neighborhoods."""

    core: IntArray  # joined by must-links: these are asked about
    rows: IntArray  # with those that can be nowhere else, as all other clusters are known


def find_neighborhoods(state: State, random_state: np.random.RandomState) -> list[Neighborhood]:
    """Groups that are all apart from one another, the largest first.

    Where nothing is known, one row that is drawn.

    Of answers that contradict each other some groups are left out, so that those returned are
    apart all the same, and at most `state.n_clusters`.
    """
    cores = state.closure.all_apart[: state.n_clusters]
    if not cores:
        held = min((min(rows) for rows in state.held), default=None)
        first = random_state.randint(state.n_samples) if held is None else held
        return [Neighborhood(np.array([first]), np.array([first]))]
    return _with_rest(state, cores)


def _with_rest(state: State, cores: list[IntArray]) -> list[Neighborhood]:
    """Add to the neighborhoods, where there are all, the groups apart from all others."""
    names = [int(state.closure.group[core[0]]) for core in cores]
    rest: dict[int, list[IntArray]] = {name: [] for name in names}
    if len(cores) == state.n_clusters:
        for rows in state.closure.groups:
            name = int(state.closure.group[rows[0]])
            left = set(names) - state.closure.apart_from(name)
            if name not in rest and len(left) == 1:
                rest[left.pop()].append(rows)
    return [
        Neighborhood(core, np.concatenate([core, *rest[name]]))
        for core, name in zip(cores, names, strict=True)
    ]


def are_all_found(state: State, neighborhoods: list[Neighborhood]) -> bool:
    """Whether there are as many as clusters.

    Where their number is not known: whether as many rows joined a neighborhood as began one.
    """
    if state.n_clusters is not None:
        return len(neighborhoods) >= state.n_clusters
    return sum(len(each.rows) for each in neighborhoods) >= 2 * len(neighborhoods)


def rows_of(neighborhoods: list[Neighborhood]) -> IntArray:
    """All rows that are in a neighborhood."""
    return np.concatenate([each.rows for each in neighborhoods])


def rows_outside(state: State, neighborhoods: list[Neighborhood]) -> IntArray:
    """All rows that are in none."""
    outside = np.ones(state.n_samples, dtype=bool)
    outside[rows_of(neighborhoods)] = False
    return np.flatnonzero(outside)


def farthest_first(state: State, neighborhoods: list[Neighborhood]) -> Iterator[tuple[int, float]]:
    """Rows and their distance to the nearest row in a neighborhood or taken before; far ones first.

    Rows that somebody is being asked about count as taken.
    """
    held = np.fromiter(chain.from_iterable(state.held), dtype=np.int64)
    taken = np.union1d(rows_of(neighborhoods), held)
    nearest = pairwise_distances_argmin_min(state.X, state.X[taken])[1]
    nearest[taken] = -1.0
    while nearest.max() >= 0:
        row = int(nearest.argmax())
        yield row, float(nearest[row])
        nearest = np.minimum(nearest, np.linalg.norm(state.X - state.X[row], axis=1))
        nearest[row] = -1.0


def unsettled(state: State, neighborhoods: list[Neighborhood]) -> list[int]:
    """One row of each group that is apart from some neighborhoods and in none.

    Those apart from the most come first.
    """
    names = {int(state.closure.group[each.core[0]]) for each in neighborhoods}
    inside = set(rows_of(neighborhoods).tolist())
    count = {
        int(rows[0]): len(names & state.closure.apart_from(int(state.closure.group[rows[0]])))
        for rows in state.closure.groups
        if int(rows[0]) not in inside
    }
    return sorted((row for row in count if count[row]), key=lambda row: -count[row])


def settle(
    state: State,
    n: int,
    neighborhoods: list[Neighborhood],
    rows: Iterable[tuple[int, float]],
    closeness: Closeness,
    why: str,
    *,
    finish: bool = True,
    standing: Standing = lambda each: each.core,
) -> list[Proposal]:
    """Ask where rows belong, each about the closest neighborhood that is open.

    Parameters
    ----------
    state : State
    n : int
        How many questions at most; each is about another row, so that none waits for the answer
        to another.
    neighborhoods : list of Neighborhood
    rows : iterable of (int, float)
        Rows and what they are worth, best first.
    closeness : callable
    why : str
    finish : bool, default=True
        Whether those begun go first.
    standing : callable
        The rows of a neighborhood that others may be compared with, the nearest of them; all of
        its core by default.

    Returns
    -------
    list of Proposal
    """
    group = state.closure.group
    stands = [standing(each) for each in neighborhoods]
    begun = [(row, 1.0) for row in unsettled(state, neighborhoods)] if finish else []
    busy = {int(group[row]) for pair in state.held for row in pair}
    busy -= {int(group[each.core[0]]) for each in neighborhoods}
    found: list[Proposal] = []
    for row, worth in chain(begun, rows):
        if len(found) == n:
            break
        if int(group[row]) in busy:
            continue
        pair = _open_pair(state, stands, row, closeness)
        if pair is not None:
            busy.add(int(group[row]))
            found.append(Proposal(pair, why, worth))
    return found


def _open_pair(
    state: State, stands: list[IntArray], row: int, closeness: Closeness
) -> tuple[int, int] | None:
    """The row and the nearest that stands for the closest open neighborhood, if there is one."""
    cores = np.array([_nearest(state.X, row, each) for each in stands])
    known = state.closure.implied(row, cores)
    if (known > 0).any() or (known == 0).sum() <= _n_free(state, len(stands)):
        return None
    is_open = state.is_open(row, cores)
    order = np.argsort(-closeness(row), kind="stable")
    chosen = order[is_open[order]]
    return (row, int(cores[chosen[0]])) if len(chosen) else None


def _n_free(state: State, n_neighborhoods: int) -> int:
    """How many neighborhoods need not be asked about: the last one of all that there can be."""
    return int(state.n_clusters is not None and n_neighborhoods >= max(state.n_clusters, 2))


def _nearest(X: FloatArray, row: int, among: IntArray) -> int:
    return int(among[((X[among] - X[row]) ** 2).sum(axis=1).argmin()])
