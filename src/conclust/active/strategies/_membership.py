"""Where rows probably belong: to groups known by answers, to groups yet to be seen.

Rows of a group scatter around its mean, alike in all groups, and the means around that of all rows:
normal distributions both (probabilistic linear discriminant analysis). What answers tell of some
groups thus tells along which directions rows differ within groups, and which differences count.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import logsumexp

from conclust._arrays import FloatArray, IntArray
from conclust.active._closure import LiveClosure
from conclust.active._state import State

# How rows scatter in groups is known beforehand as well as so many rows for each feature would tell
# it: alike in all directions, by this share of the variance of all rows.
STRENGTH, SHARE = 2.0, 0.5
# Of log-likelihoods so much is believed: features are not as independent as they are taken to be.
TEMPER = 0.5
# Groups differ at least so much along each axis, in units of how rows of one group differ.
LEAST_BETWEEN = 1e-3
# A unit that is in a group of its own with this probability stands for one that nobody has seen.
OWN = 0.5
MAX_GROUPS = 100  # that nobody has seen, or nobody has told apart
# No group that is open for a unit is less probable: nothing is left unasked for ever.
LEAST = 1e-4
N_ROUNDS = 50


class Units(NamedTuple):
    """Rows known to belong together, as one; in the beginning each is a single row."""

    name: IntArray  # (n_units,) that of the group in the closure, ascending
    size: IntArray  # (n_units,) number of rows
    card: IntArray  # (n_units,) the row nearest to the mean, which is shown
    mean: FloatArray  # (n_units, n_axes) along axes on which rows of a group have variance 1
    between: FloatArray  # (n_axes,) variance of the groups' means along them


class Membership(NamedTuple):
    """Groups, and how probably each unit belongs to each."""

    groups: IntArray  # (n_groups,) units that stand for them; those known to be apart first
    n_known: int  # so many of these are known to be apart from one another
    probability: FloatArray  # (n_units, n_groups + 1) the last: to none of them


def units_of(X: FloatArray, rows: IntArray, closure: LiveClosure) -> Units:
    """Some of the rows, as far as they are known to belong together."""
    name, unit = np.unique(closure.group[rows], return_inverse=True)
    size = np.bincount(unit)
    among = sp.csr_array((np.ones(len(rows)), (unit, np.arange(len(rows)))))
    X = X[rows] - X[rows].mean(axis=0)
    mean = (among @ X) / size[:, None]
    away = X - mean[unit]
    order = np.lexsort(((away**2).sum(axis=1), unit))
    card = rows[order[np.searchsorted(unit[order], np.arange(len(name)))]]
    total = X.T @ X / len(rows)
    axes, between = axes_of(total, away.T @ away, int((size - 1).sum()))
    return Units(name, size, card, mean @ axes, between)


def axes_of(total: FloatArray, scatter: FloatArray, n_free: int) -> tuple[FloatArray, FloatArray]:
    """Axes along which rows of a group have variance 1, and the variance of groups' means there.

    Parameters
    ----------
    total : ndarray of shape (n_features, n_features)
        Covariance of all rows.
    scatter : ndarray of shape (n_features, n_features)
        Summed products of what rows are away from their unit's mean.
    n_free : int
        Rows less units.

    Returns
    -------
    axes : ndarray of shape (n_features, n_features)
        One in each column.
    between : ndarray of shape (n_features,)
    """
    n_features = len(total)
    usual = SHARE * float(np.trace(total)) / n_features or 1.0  # all rows equal: any length does
    strength = STRENGTH * n_features
    within = (scatter + strength * usual * np.eye(n_features)) / (n_free + strength)
    value, vector = np.linalg.eigh(within)
    whitened = vector / np.sqrt(value)
    value, vector = np.linalg.eigh(whitened.T @ total @ whitened)
    return whitened @ vector, np.maximum(value - 1, LEAST_BETWEEN)


def log_likelihood(units: Units, groups: IntArray) -> FloatArray:
    """(n_units, n_groups + 1) of the units in each group, the last a new one.

    Up to a number for each unit: how its rows lie to one another tells nothing about the group.
    Given its n rows with mean m, a group's mean is normal around n m / (n + 1 / between), with
    variance 1 / (n + 1 / between); that of a unit varies by 1 / size more.
    """
    n = np.append(units.size[groups], 0)[:, None]
    seen = np.vstack([units.mean[groups], np.zeros(units.mean.shape[1])])
    precision = n + 1 / units.between
    middle, variance = n * seen / precision, 1 / precision
    found = np.empty((len(units.size), len(n)))
    for size in np.unique(units.size):
        at = units.size == size
        mean, weight = units.mean[at], 1 / (variance + 1 / size)
        squares = mean**2 @ weight.T - 2 * mean @ (middle * weight).T
        found[at] = -0.5 * (squares + (middle**2 * weight - np.log(weight)).sum(axis=1))
    return found


def concentration(n_groups: int, n_rows: int) -> float:
    """How many rows' worth of probability a new group has, after so many in so many rows.

    The number of a Chinese restaurant process in which so many groups are expected.
    """
    found = 1.0
    for _ in range(N_ROUNDS if n_groups and n_rows > 1 else 0):
        found = n_groups / np.log1p(n_rows / found)
    return float(found)


def membership(
    state: State, units: Units, density: FloatArray, max_groups: int = MAX_GROUPS
) -> Membership:
    """Groups that are known to be apart, others that probably are, and where units belong.

    Parameters
    ----------
    state : State
    units : Units
    density : ndarray of shape (n_units,)
        Of several single rows that may stand for a group, the one where this is largest does.
    max_groups : int

    Returns
    -------
    Membership
    """
    names = [int(state.closure.group[rows[0]]) for rows in state.closure.all_apart]
    known = np.searchsorted(units.name, np.array(names, dtype=np.int64))
    is_all = state.n_clusters is not None and len(known) >= state.n_clusters
    alike = log_likelihood(units, known) * TEMPER
    alike[:, :-1] += np.log(units.size[known])
    new = concentration(len(known), int(units.size[known].sum()))
    alike[:, -1] += np.log(LEAST if is_all else new)
    _bar(alike, state.closure, units, known)
    found = _Growing(state.closure, units, known.tolist(), alike)
    limit = max_groups if state.n_clusters is None else min(max_groups, state.n_clusters)
    named = np.isin(units.name, [state.closure.group[rows[0]] for rows in state.closure.groups])
    largest = np.argsort(-units.size, kind="stable")
    found.grow(largest[named[largest]].tolist(), limit)
    found.grow(_densest(found, ~named, density), limit)
    return Membership(np.array(found.groups, dtype=np.int64), len(known), found.probability())


def _densest(found: "_Growing", may: npt.NDArray[np.bool_], density: FloatArray) -> Iterable[int]:
    """Units that may stand for a group of their own, one at a time."""
    while True:
        density = np.where(may & (found.own() >= OWN), density, 0.0)
        best = int(density.argmax())
        if not density[best]:
            return
        yield best
        density[best] = 0.0


class _Growing:
    """Groups, to which units that are probably in none of them are added."""

    def __init__(self, closure: LiveClosure, units: Units, groups: list[int], alike: FloatArray):
        self.closure, self.units, self.groups = closure, units, groups
        self.columns, self.new = list(alike[:, :-1].T), alike[:, -1]
        self.total = logsumexp(alike, axis=1)

    def own(self) -> FloatArray:
        """Of each unit, how probably it is in none of the groups."""
        found: FloatArray = np.exp(self.new - self.total)
        return found

    def grow(self, candidates: Iterable[int], limit: int) -> None:
        for unit in candidates:
            if len(self.groups) >= limit:
                return
            is_new = self.new[unit] - self.total[unit] >= np.log(OWN)
            if unit not in self.groups and is_new:
                self._add(unit)

    def _add(self, unit: int) -> None:
        group = np.array([unit])
        column = log_likelihood(self.units, group)[:, :1] * TEMPER
        column += np.log(self.units.size[unit])
        _bar(column, self.closure, self.units, group)
        self.groups.append(unit)
        self.columns.append(column[:, 0])
        self.total = np.logaddexp(self.total, column[:, 0])

    def probability(self) -> FloatArray:
        alike = np.column_stack([*self.columns, self.new])
        found = np.exp(alike - self.total[:, None])
        found[np.isfinite(alike)] = np.maximum(found[np.isfinite(alike)], LEAST)
        normalized: FloatArray = found / found.sum(axis=1, keepdims=True)
        return normalized


def _bar(alike: FloatArray, closure: LiveClosure, units: Units, groups: IntArray) -> None:
    """Units are in no group that they are apart from, nor in one that they stand for themselves."""
    for column, unit in enumerate(groups.tolist()):
        apart = closure.apart_from(int(units.name[unit]))
        alike[np.isin(units.name, list(apart)), column] = -np.inf
        alike[unit, column] = -np.inf
