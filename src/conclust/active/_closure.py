"""What follows from the answers so far, kept up to date answer by answer."""

from typing import Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import IntArray


class LiveClosure:
    """Must-link groups of rows and which of them are apart; grows by one statement at a time.

    A statement that contradicts those before it changes nothing here: the first word counts, and
    nothing raises. The methods that cluster see both statements.

    Attributes
    ----------
    group : ndarray of shape (n_samples,)
        The group of each row, named by one of its rows.
    n_agreed, n_contradicted : int
        How many statements said what followed already, or its opposite.
    """

    def __init__(self, n_samples: int):
        self.group: IntArray = np.arange(n_samples)
        self.n_agreed = self.n_contradicted = 0
        self._members: dict[int, IntArray] = {}  # of groups of more than one row
        self._apart: dict[int, set[int]] = {}
        self._ends: list[tuple[int, int]] = []  # rows of the cannot-links that were taken
        self._keys: IntArray | None = None

    def copy(self) -> "LiveClosure":
        """The same, to go on from."""
        other = LiveClosure(0)
        other.group = self.group.copy()
        other.n_agreed, other.n_contradicted = self.n_agreed, self.n_contradicted
        other._members = dict(self._members)
        other._apart = {group: set(others) for group, others in self._apart.items()}
        other._ends = list(self._ends)
        return other

    def add(self, a: int, b: int, sign: int) -> None:
        """Take a must-link (sign +1) or a cannot-link (-1), unless it is known or contradicted."""
        known = self._known(a, b)
        if known:
            self.n_agreed += known == sign
            self.n_contradicted += known != sign
            return
        first, second = int(self.group[a]), int(self.group[b])
        if sign > 0:
            self._join(first, second)
        else:
            self._apart.setdefault(first, set()).add(second)
            self._apart.setdefault(second, set()).add(first)
            self._ends.append((a, b))
        self._keys = None

    def _known(self, a: int, b: int) -> int:
        first, second = int(self.group[a]), int(self.group[b])
        if first == second:
            return 1
        return -1 if second in self._apart.get(first, ()) else 0

    def _join(self, kept: int, gone: int) -> None:
        if len(self.members(kept)) < len(self.members(gone)):
            kept, gone = gone, kept
        joined = np.concatenate([self.members(kept), self.members(gone)])
        self.group[self.members(gone)] = kept
        self._members.pop(gone, None)
        self._members[kept] = joined
        moved = self._apart.pop(gone, set())
        for other in moved:
            self._apart[other].discard(gone)
            self._apart[other].add(kept)
        if moved:
            self._apart.setdefault(kept, set()).update(moved)

    def members(self, group: int) -> IntArray:
        """The rows of a group."""
        found = self._members.get(group)
        return np.array([group]) if found is None else found

    def apart_from(self, group: int) -> set[int]:
        """The groups that a group is apart from."""
        return self._apart.get(group, set())

    @property
    def groups(self) -> list[IntArray]:
        """The rows of each group of more than one row, or apart from another, largest first."""
        named = [*self._members, *(g for g in self._apart if g not in self._members)]
        return sorted((self.members(g) for g in named), key=lambda rows: (-len(rows), rows[0]))

    @property
    def all_apart(self) -> list[IntArray]:
        """Those of the groups, taken largest first, that are all apart from one another."""
        found: list[IntArray] = []
        names: set[int] = set()
        apart = {int(self.group[rows[0]]): rows for rows in self.groups}
        order = sorted(apart, key=lambda name: (-len(apart[name]), -len(self.apart_from(name))))
        for name in order:
            if names <= self.apart_from(name):
                names.add(name)
                found.append(apart[name])
        return found

    def implied(self, a: Any, b: Any) -> npt.NDArray[np.int8]:
        """What follows about pairs: +1 together, -1 apart, 0 open.

        Parameters
        ----------
        a, b : int or array-like of int
            Rows; broadcast against each other.

        Returns
        -------
        ndarray of int8
            1 must-link, -1 cannot-link, 0 open.
        """
        first, second = self.group[np.asarray(a)], self.group[np.asarray(b)]
        apart = is_among(pair_keys(first, second, len(self.group)), self._sorted_keys())
        return (first == second).astype(np.int8) - apart.astype(np.int8)

    def _sorted_keys(self) -> IntArray:
        if self._keys is None:
            ends = self.group[np.array(self._ends, dtype=np.int64).reshape(-1, 2)]
            self._keys = np.sort(pair_keys(ends[:, 0], ends[:, 1], len(self.group)))
        return self._keys


def pair_keys(a: Any, b: Any, n: int) -> IntArray:
    """One number for each unordered pair of numbers below n."""
    return np.minimum(a, b) * n + np.maximum(a, b)


def is_among(keys: Any, ascending: IntArray) -> npt.NDArray[np.bool_]:
    """Whether each key is one of few in ascending order; quicker than np.isin, which sorts all."""
    if not len(ascending):
        return np.zeros(np.shape(keys), dtype=bool)
    at = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return np.asarray(ascending[at] == keys)
