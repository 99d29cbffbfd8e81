"""Folds over statements that do not leak through what they imply."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from conclust._arrays import IntArray
from conclust._folds import deal, units
from conclust.constraints import Constraints


class ConstraintKFold:
    """Split statements into folds such that no held-out pair follows from the others.

    Parameters
    ----------
    n_splits : int, default=5
        How many parts; at least 2.
    shuffle : bool, default=True
        Deal the units in random order instead of the order given.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    See Also
    --------
    ConstraintSearchCV : Searches settings over these folds.
    held_out_score : One estimator, scored on them.

    Notes
    -----
    What follows from what goes through must-link components, so statements are dealt in units:
    all must-links of one component together; all cannot-links between the same two components
    together; a cannot-link inside a component (a contradiction) with its must-links; a group of
    mutually apart samples with every cannot-link it repeats. Larger units are dealt first, each
    to the smallest fold so far, so folds differ in size when units do. Triplets about the same
    three components stay together; longer chains of triplets can still imply a held-out one.

    Examples
    --------
    >>> from conclust import Constraints
    >>> from conclust.model_selection import ConstraintKFold
    >>> known = Constraints([(0, 1), (1, 2), (5, 6)], [(0, 3), (2, 3), (4, 5)])
    >>> for train, test in ConstraintKFold(2, shuffle=False).split(known):
    ...     print(train, test)
    [3 4 5] [0 1 2]
    [0 1 2] [3 4 5]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None):
        if isinstance(n_splits, bool) or not isinstance(n_splits, int) or n_splits < 2:
            raise ValueError(f"n_splits must be an integer of at least 2; got {n_splits!r}.")
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def split(
        self, constraints: Constraints, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield (train, test) positions of statements; ``constraints[train]`` is a set.

        Parameters
        ----------
        constraints : Constraints
            The statements to divide.
        y, groups : ignored
            Present because scikit-learn passes them.

        Yields
        ------
        train : ndarray of int
            Positions of the statements to tell.
        test : ndarray of int
            Positions of those held out.
        """
        if not isinstance(constraints, Constraints):
            raise TypeError(
                "ConstraintKFold splits statements, not rows: pass a Constraints, got "
                f"{type(constraints).__name__}. To search settings by held-out "
                "statements use ConstraintSearchCV(estimator, param_grid).fit(X, constraints=...)."
            )
        unit = units(constraints)
        n_units = int(unit.max(initial=-1)) + 1
        if n_units < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits}, but the {len(constraints)} statements form only "
                f"{n_units} units that do not imply each other; use fewer splits."
            )
        rng = check_random_state(self.random_state) if self.shuffle else None
        fold = deal(unit, self.n_splits, rng)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def get_n_splits(self, constraints: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds.

        Parameters
        ----------
        constraints, y, groups : ignored
            Present because scikit-learn passes them.

        Returns
        -------
        int
            `n_splits`.
        """
        return self.n_splits
