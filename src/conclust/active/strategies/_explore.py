"""Explore and consolidate: first a row of each cluster, then the others at random."""

from collections.abc import Iterable

import numpy as np

from conclust._arrays import FloatArray
from conclust.active._question import Proposal
from conclust.active._state import State
from conclust.active.strategies._filling import filled
from conclust.active.strategies._neighborhoods import (
    Neighborhood,
    are_all_found,
    farthest_first,
    find_neighborhoods,
    rows_outside,
    settle,
)
from conclust.active.strategies._strategy import Strategy


class ExploreConsolidate(Strategy):
    """First a row of each cluster, far from all before it; then rows at random.

    *Explore* takes the row farthest from all neighborhoods, the groups of rows known to be apart,
    and asks about one neighborhood after another until it is in one, or begins a new one.
    *Consolidate*, once there are as many neighborhoods as clusters, does the same with rows at
    random; the neighborhood with the nearest mean is asked about first, and the last one not at
    all.

    See Also
    --------
    MinMax : Asks the least certain row instead of a random one.

    Notes
    -----
    Where the number of clusters is not known, exploring ends when as many rows have joined a
    neighborhood as have begun one; a row that is apart from all begins a new one at any time.

    References
    ----------
    S. Basu, A. Banerjee and R. J. Mooney (2004). Active semi-supervision for pairwise constrained
    clustering. SDM.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust.active import Labels, ask
    >>> X, y = load_iris(return_X_y=True)
    >>> session = ask(X, Labels(y), 10, n_clusters=3, strategy="explore", random_state=0)
    >>> len(set(y[session.constraints_.samples]))  # a row of each class
    3
    """

    def propose(self, state: State, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        """See :meth:`Strategy.propose`."""
        if state.n_samples < 2:
            return []
        known = find_neighborhoods(state, random_state)
        means = np.array([state.X[each.rows].mean(axis=0) for each in known])
        if are_all_found(state, known):
            drawn = random_state.permutation(rows_outside(state, known))
            rows: Iterable[tuple[int, float]] = ((int(row), 1.0) for row in drawn)
            why = "a row at random: to which of the known groups?"
        else:
            rows = farthest_first(state, known)
            why = "far from all known groups: a new one?"
        found = settle(state, n, known, rows, lambda row: -_distances(state.X[row], means), why)
        return filled(found, state, n, random_state)


class MinMax(Strategy):
    """The row whose nearest known row is farthest; nearest neighborhood first.

    As :class:`ExploreConsolidate`, but every row is chosen by what is least known of it: of the
    rows outside the neighborhoods the one that is least similar to the row inside that it is most
    similar to.

    See Also
    --------
    ExploreConsolidate : Asks about a random row instead of the least certain.

    References
    ----------
    P. K. Mallapragada, R. Jin and A. K. Jain (2008). Active query selection for semi-supervised
    clustering. ICPR.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import Constraints
    >>> from conclust.active import Session
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    >>> told = Constraints(cannot_link=[(0, 4)])
    >>> Session(X, 2, strategy="minmax", constraints=told).ask()[0].samples
    (2, 0)
    """

    def propose(self, state: State, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        """See :meth:`Strategy.propose`."""
        if state.n_samples < 2:
            return []
        known = find_neighborhoods(state, random_state)

        def closeness(row: int) -> FloatArray:
            return -np.array([_nearest_distance(state.X, row, each) for each in known])

        why = "far from every row that is known"
        found = settle(state, n, known, farthest_first(state, known), closeness, why)
        return filled(found, state, n, random_state)


def _distances(row: FloatArray, means: FloatArray) -> FloatArray:
    distances: FloatArray = np.linalg.norm(means - row, axis=1)
    return distances


def _nearest_distance(X: FloatArray, row: int, known: Neighborhood) -> float:
    return float(_distances(X[row], X[known.rows]).min())
