"""Prove that no clustering of units, some of them apart, has less inertia than a given value.

A clustering is a projection Z, with Z_uv = √(w_u w_v) / (mass of the cluster) where units u and v
share one and 0 elsewhere; its inertia is ⟨C, Z⟩, with C_uv = √(w_u w_v) ‖m_u − m_v‖² / 2. What is
relaxed (Peng & Wei 2007): Z√w = √w, trace k, eigenvalues in [0, 1], Z_uv ≥ 0, Z_uv = 0 where u and
v are apart, and, with X_uv = Z_uv / √(w_u w_v), cuts X_uv + X_uw ≤ X_uu + X_vw and X_uv ≤ X_uu.

Any multipliers t of these give the bound: the sum of the least k eigenvalues of C − A*(t), one of
them in the direction of √w. So the proof needs no accuracy of the solver, but that of eigenvalues.
Multipliers are found by a proximal method (L-BFGS in each step); a gap that stays is branched on:
two units apart, or joined (Piccialli, Russo Russo & Sudoso 2022).
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize

STEPS = 250  # of L-BFGS, between looks for cuts
FIRST_CUTS = 3  # rounds before there are any
STALLED = 0.8  # a round that leaves more of the gap than this share has stalled
MAX_STALLED = 3
LEAST_PROXIMITY = 0.02


class Units(NamedTuple):
    """What is clustered."""

    means: np.ndarray  # (n, d)
    mass: np.ndarray  # (n,)
    apart: np.ndarray  # (n, n) bool


def units_of(X, constraints):
    """The units of rows under hard statements, and the inertia inside them."""
    closure = constraints.closure(len(X))
    unit = closure.component
    mass = np.bincount(unit).astype(float)
    means = np.zeros((len(mass), X.shape[1]))
    np.add.at(means, unit, X)
    means /= mass[:, np.newaxis]
    apart = np.zeros((len(mass), len(mass)), dtype=bool)
    a, b = closure.apart.T
    apart[a, b] = apart[b, a] = True
    return Units(means, mass, apart), float(((X - means[unit]) ** 2).sum())


def is_least(units, n_clusters, value, tolerance, max_rounds):
    """Whether every clustering costs more than `value` − `tolerance`; False: not proved by then."""
    undone = [(units, value)]
    while undone:
        units, value = undone.pop()
        relaxed = Relaxation(units, n_clusters)
        gap, n_stalled = np.inf, 0
        while gap > tolerance and n_stalled < MAX_STALLED:
            if not max_rounds:
                return False
            max_rounds -= 1
            last, gap = gap, min(gap, value - relaxed.tightened())
            n_stalled += gap > STALLED * last
        if gap > tolerance:
            u, v = relaxed.undecided()
            joined, spent = _joined(units, u, v)
            undone += [(_separated(units, u, v), value), (joined, value - spent)]
    return True


def _separated(units, u, v):
    apart = units.apart.copy()
    apart[u, v] = apart[v, u] = True
    return units._replace(apart=apart)


def _joined(units, u, v):
    """Units with v joined to u, and what joining costs."""
    means, mass, apart = (each.copy() for each in units)
    total = mass[u] + mass[v]
    spent = mass[u] * mass[v] / total * ((means[u] - means[v]) ** 2).sum()
    means[u] = (mass[u] * means[u] + mass[v] * means[v]) / total
    mass[u] = total
    apart[u] |= apart[v]
    apart[:, u] |= apart[:, v]
    rest = np.delete(np.arange(len(mass)), v)
    return Units(means[rest], mass[rest], apart[np.ix_(rest, rest)]), spent


class Relaxation:
    """The relaxed problem, its multipliers and its cuts, tightened round by round."""

    def __init__(self, units, n_clusters):
        means, mass, apart = units
        self.n, self.k, self.root = len(mass), n_clusters, np.sqrt(mass)
        self.scales = np.outer(self.root, self.root)
        cost = ((means[:, np.newaxis] - means) ** 2).sum(axis=2) * self.scales / 2
        self.unit = cost.mean() or 1.0
        self.cost = cost / self.unit
        direction = self.root / np.linalg.norm(self.root)
        self.fixed = np.outer(direction, direction)
        self.basis = np.linalg.qr(np.column_stack([direction, np.eye(self.n)]))[0][:, 1:]
        self.pairs = np.triu_indices(self.n, 1)
        self.is_free = apart[self.pairs]  # multipliers of equations
        self.cuts = np.empty((0, 3), np.int64)
        self.t = np.zeros(len(self.is_free))
        self.inner = np.eye(self.n - 1) * (self.k - 1) / (self.n - 1)
        self.proximity, self.n_rounds = 1.0, 0

    def tightened(self):
        """Make one round; return the bound."""
        self.n_rounds += 1
        if self.n_rounds > FIRST_CUTS:
            self._cut()
        lower = np.zeros(len(self.t))
        lower[: len(self.is_free)][self.is_free] = -np.inf
        self.t = minimize(
            lambda t: self._proximal(t)[:2], self.t, jac=True, method="L-BFGS-B",
            bounds=Bounds(lower, np.full(len(lower), np.inf)),
            options={"maxiter": STEPS, "ftol": 1e-12, "gtol": 1e-7},
        ).x  # fmt: skip
        *_, self.inner, self.Z = self._proximal(self.t)
        self.proximity = max(0.7 * self.proximity, LEAST_PROXIMITY)
        return self.bound(self.t)

    def bound(self, t):
        """What no clustering is below, for any multipliers, positive where they must be."""
        left = self.cost - self._adjoint(t)
        values = np.linalg.eigvalsh(self.basis.T @ left @ self.basis)
        return float((left * self.fixed).sum() + values[: self.k - 1].sum()) * self.unit

    def undecided(self):
        """The pair of units that is neither together nor apart."""
        Z, own = self.Z, np.diag(self.Z)
        between = np.minimum(Z, own[:, np.newaxis] + own - 2 * Z)[self.pairs]
        at = int(np.where(self.is_free, -np.inf, between).argmax())
        return int(self.pairs[0][at]), int(self.pairs[1][at])

    def _proximal(self, t):
        """Minus the dual function with a proximal term, its gradient, and the minimiser."""
        left = self.cost - self._adjoint(t)
        wanted = self.inner - self.basis.T @ left @ self.basis / self.proximity
        values, vectors = np.linalg.eigh(wanted)
        inner = (vectors * _shares(values, self.k - 1)) @ vectors.T
        Z = self.fixed + self.basis @ inner @ self.basis.T
        far = ((inner - self.inner) ** 2).sum()
        return -(left * Z).sum() - self.proximity / 2 * far, self._slacks(Z), inner, Z

    def _adjoint(self, t):
        """Σ t_j A_j, over pairs and cuts."""
        half = np.zeros((self.n, self.n))
        half[self.pairs] = t[: len(self.is_free)] / 2
        if len(self.cuts):
            u, v, w = self.cuts.T
            t = t[len(self.is_free) :] * self.root[u] ** 2
            is_triangle = t * (v != w)
            at = np.concatenate([u * self.n + u, u * self.n + v, v * self.n + w, u * self.n + w])
            sums = np.bincount(
                at, np.concatenate([t, -t, is_triangle, -is_triangle]), self.n * self.n
            )
            half += sums.reshape(self.n, self.n) / (2 * self.scales)
        return half + half.T

    def _slacks(self, Z):
        """⟨A_j, Z⟩: none is negative for a clustering."""
        u, v, w = self.cuts.T
        X = Z / self.scales
        slack = X[u, u] - X[u, v] + (v != w) * (X[v, w] - X[u, w])
        return np.concatenate([Z[self.pairs], slack * self.root[u] ** 2])

    def _cut(self):
        """Drop cuts without a multiplier and add those that are broken most."""
        n_pairs, X = len(self.is_free), self.Z / self.scales
        active = self.t[n_pairs:] > 0
        kept = self.cuts[active]
        broken, by = [], []
        for u in range(self.n):
            excess = X[u][:, np.newaxis] + X[u] - X[u, u] - X
            np.fill_diagonal(excess, X[u] - X[u, u])
            excess[u] = excess[:, u] = 0.0
            v, w = np.nonzero(np.triu(excess) > 1e-3 * X[u, u])
            broken.append(np.column_stack([np.full(len(v), u), v, w]))
            by.append(excess[v, w] / X[u, u])
        most = np.argsort(-np.concatenate(by), kind="stable")[: 10 * self.n]
        self.cuts = np.unique(np.concatenate([kept, np.concatenate(broken)[most]]), axis=0)
        had = dict(zip(map(tuple, kept.tolist()), self.t[n_pairs:][active], strict=True))
        of_cuts = [had.get(tuple(cut), 0.0) for cut in self.cuts.tolist()]
        self.t = np.concatenate([self.t[:n_pairs], of_cuts])


def _shares(values, total):
    """The nearest numbers in [0, 1] that have this sum."""
    steps = np.sort(np.concatenate([values, values - 1]))
    sums = np.clip(values - steps[:, np.newaxis], 0, 1).sum(axis=1)
    at = int(np.clip(np.searchsorted(-sums, -total), 1, len(steps) - 1))
    low, high = sums[at - 1], sums[at]
    share = 0.0 if low == high else (low - total) / (low - high)
    return np.clip(values - steps[at - 1] - share * (steps[at] - steps[at - 1]), 0, 1)
