"""From the best of several starts to a better one: single moves, and centres put elsewhere."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from conclust._lloyd.best import best_of_starts, is_better
from conclust._lloyd.rows import Rows

# Starts, the best ones, from which single moves go on.
N_IMPROVED = 3
# Iterations spent on what follows the starts, as a share of theirs; a look for a swap and the
# single moves that end a run count as some.
SHARE = 0.5
LOOK = 2
# Rows that are looked at as places for a centre.
N_PLACES = 10


class Run(Protocol):
    """What one start has come to."""

    @property
    def labels(self) -> np.ndarray: ...
    @property
    def centers(self) -> np.ndarray: ...
    @property
    def history(self) -> list[Any]: ...
    @property
    def converged(self) -> bool: ...


RunT = TypeVar("RunT", bound=Run)


class Improver(NamedTuple, Generic[RunT]):
    """How to go on from runs that have come to rest."""

    improve: Callable[[RunT], RunT]  # by single moves; what it returns is not worse
    restart: Callable[[RunT], RunT]  # from the run's centres, one of them put elsewhere


def best_improved(
    start: Callable[[int, Callable[..., None]], RunT],
    n_starts: int,
    key: Callable[[RunT], tuple[float, ...]],
    improver: Improver[RunT] | None,
    *,
    what: str = "",
    verbose: int | bool = 0,
) -> RunT:
    """Make several starts, go on from the best ones, and return the best run.

    Parameters
    ----------
    start, n_starts, key, what, verbose
        As in `best_of_starts`.
    improver : Improver or None
        None: this is `best_of_starts`.

    Notes
    -----
    How long it goes on is counted in iterations, not in seconds, so that answers do not depend on
    the machine. A best start that was cut off by its number of iterations is returned as it is.
    """
    runs: list[RunT] = []

    def keep(number: int, on_round: Callable[..., None]) -> RunT:
        runs.append(start(number, on_round))
        return runs[-1]

    best = best_of_starts(keep, n_starts, key, what=what, verbose=verbose)
    if improver is None or not best.converged:
        return best
    left = SHARE * sum(len(run.history) for run in runs)
    distinct = _distinct(runs, key)
    for run in distinct[:N_IMPROVED]:
        further = improver.improve(run)
        left -= len(further.history) - len(run.history) + LOOK
        if is_better(key(further), key(best)):
            best = further
    # Starts that all end alike have found what there is to find.
    while left > 0 and len(distinct) > 1:
        run = improver.restart(best)
        left -= len(run.history) + 2 * LOOK
        if is_better(key(run), key(best)):
            best = run
    return best


def _distinct(runs: list[RunT], key: Callable[[RunT], tuple[float, ...]]) -> list[RunT]:
    """The runs that have come to rest, the best first, one of each value."""
    ranked = sorted((run for run in runs if run.converged), key=key)
    last = [None, *ranked[:-1]]
    return [b for a, b in zip(last, ranked, strict=True) if a is None or is_better(key(a), key(b))]


def swapped(
    rows: Rows,
    centers: np.ndarray,
    weight: np.ndarray,
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Take one centre away and put it on a row, where the distances would then be least.

    Parameters
    ----------
    rows : Rows
        With labels.
    centers : ndarray of shape (n_clusters, n_features)
    weight : ndarray of shape (n_samples,)
    random_state : RandomState
        Draws the rows that are looked at, with probabilities proportional to weight times squared
        distance to the own centre (as k-means++ does).

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        New centres.

    Notes
    -----
    For each row drawn and each centre, the sum of squared distances to what would then be nearest
    is exact but for statements; before the other centres have answered.
    """
    n_clusters = len(centers)
    chance = rows.distances_to_own(centers).astype(np.float64) * weight
    chance = chance if chance.sum() > 0 else weight.astype(np.float64)
    shares = np.cumsum(chance)
    drawn = shares.searchsorted(random_state.random_sample(N_PLACES) * shares[-1], side="right")
    drawn = np.minimum(drawn, len(shares) - 1)
    places = np.array([rows.row(i) for i in drawn.tolist()])
    total = np.zeros((n_clusters, N_PLACES))
    for start, stop, squared in rows.squared_distances(np.vstack([centers, places])):
        own = rows.labels[start:stop]
        each = np.arange(len(own))
        to_centers, to_places = squared[:, :n_clusters], squared[:, n_clusters:]
        here = to_centers[each, own].copy()
        to_centers[each, own] = np.inf
        elsewhere = to_centers.min(axis=1)
        kept = np.minimum(to_places, here[:, np.newaxis])
        lost = np.minimum(to_places, elsewhere[:, np.newaxis]) - kept
        mass = weight[start:stop, np.newaxis]
        kept *= mass
        lost *= mass
        total += kept.sum(axis=0)
        for cluster in range(n_clusters):
            total[cluster] += lost[own == cluster].sum(axis=0)
    moved, place = divmod(int(total.argmin()), N_PLACES)
    centers = centers.copy()
    centers[moved] = places[place]
    return centers
