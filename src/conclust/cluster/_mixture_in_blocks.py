"""A Gaussian mixture with one shared covariance over rows in blocks: k × d sums travel."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from conclust._arrays import FloatArray, IntArray, Labels, empty_labels
from conclust._placement.marginals import MAX_STATES
from conclust._placement.units import Units
from conclust._sklearn import precision_cholesky
from conclust.cluster._certain_mixture import (
    ExpectationStep,
    Round,
    Run,
    most_probable,
    until_it_stands,
)
from conclust.cluster._mixture import Mixture, normalize, shared_constant, shared_terms

# What scikit-learn adds to the mass of every component.
SOME = 10 * float(np.finfo(np.float64).eps)


class Sums(NamedTuple):
    """What the M-step needs of rows, however many they are."""

    counts: FloatArray  # (n_components,) summed responsibilities
    sums: FloatArray  # (n_components, n_features) of the rows, by responsibility
    log_norm: float  # weighted log density, but for the constant of `shared_constant`

    def plus(self, rows: FloatArray, mass: FloatArray, log_norm: float = 0.0) -> "Sums":
        """With more rows; `mass` are their responsibilities times their weights."""
        return Sums(
            self.counts + mass.sum(axis=0), self.sums + mass.T @ rows, self.log_norm + log_norm
        )


class Expected(NamedTuple):
    """What the E-step finds."""

    sums: Sums
    log_likelihood: float  # per unit of weight
    score: FloatArray  # (n_units, n_components), (0, …) without statements; see `ExpectationStep`
    pins: IntArray | None


class FreeRows:
    """The rows of a source but for some, and the sums over them that no iteration changes.

    Parameters
    ----------
    X : Blocks
        Moved to their mean.
    weight : ndarray of shape (n_samples,) or None
    others : ndarray of shape (n_others,)
        Rows left out, ascending.
    """

    def __init__(self, X: Any, weight: np.ndarray | None, others: IntArray):
        self._X, self._weight, self._others = X, weight, others
        self.mass = 0.0
        self.scatter = np.zeros((X.shape[1], X.shape[1]))
        for _, rows, own in self._parts():
            self.mass += float(own.sum())
            self.scatter += (rows * own[:, np.newaxis]).T @ rows

    def _parts(self) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        """One pass: where each part begins, its rows, their weights (0 for those left out)."""
        for start, rows in self._X.parts():
            stop = start + len(rows)
            own = np.ones(len(rows))
            if self._weight is not None:
                own[:] = self._weight[start:stop]
            first, last = np.searchsorted(self._others, (start, stop))
            own[self._others[first:last] - start] = 0.0
            yield start, rows.astype(np.float64, copy=False), own

    def by_label(self, labels: np.ndarray, n_components: int) -> Sums:
        """Sums by label, each row wholly in its own."""
        found = self._nothing(n_components)
        for start, rows, own in self._parts():
            whole = np.zeros((len(rows), n_components))
            whole[np.arange(len(rows)), labels[start : start + len(rows)]] = own
            found = found.plus(rows, whole)
        return found

    def expect(self, mixture: Mixture) -> Sums:
        """Sums by responsibility under a mixture."""
        pulled, offset = shared_terms(mixture)
        found = self._nothing(len(offset))
        for _, rows, own in self._parts():
            log_norm, share = normalize(rows @ pulled + offset)
            found = found.plus(rows, share * own[:, np.newaxis], float(own @ log_norm))
        return found

    def label(self, mixture: Mixture) -> Labels:
        """The most probable component of every row, of those left out, too."""
        pulled, offset = shared_terms(mixture)
        labels = empty_labels(self._X)
        for start, rows, _ in self._parts():
            labels[start : start + len(rows)] = (rows @ pulled + offset).argmax(axis=1)
        return labels

    def _nothing(self, n_components: int) -> Sums:
        return Sums(np.zeros(n_components), np.zeros((n_components, self._X.shape[1])), 0.0)


def mixture_in_blocks(
    X: Any,
    units: Units,
    labels: np.ndarray,
    n_components: int,
    *,
    reg_covar: float = 1e-6,
    sample_weight: np.ndarray | None = None,
    max_iter: int = 100,
    tol: float = 1e-3,
    max_states: int = MAX_STATES,
    on_round: Callable[[Round], object] | None = None,
) -> Run:
    """Do as `constrained_gaussian_mixture` with one shared covariance, an iteration in one pass.

    Parameters
    ----------
    X : Blocks
        Moved to their mean.
    units : Units
        Linked rows; they are held in memory.
    labels : ndarray of shape (n_samples,)
        The start; keeps every link.
    n_components : int
    reg_covar, sample_weight, max_iter, tol, max_states, on_round
        As in `constrained_gaussian_mixture`.

    Returns
    -------
    Run
        Without responsibilities: there is one for each row and component.
    """
    free = FreeRows(X, sample_weight, units.rows)
    resident = X[units.rows].astype(np.float64)
    weight = np.ones(len(resident))
    if sample_weight is not None:
        weight = sample_weight[units.rows].astype(np.float64)
    scatter = free.scatter + (resident * weight[:, np.newaxis]).T @ resident
    total = free.mass + float(weight.sum())
    here = units._replace(rows=np.arange(len(resident)))
    e_step = ExpectationStep(resident, here, weight, n_components, "tied", max_states)

    def expect(mixture: Mixture, pins: IntArray | None) -> Expected:
        sums = free.expect(mixture)
        likelihood = sums.log_norm + shared_constant(mixture, free.scatter, free.mass)
        if not len(resident):
            return Expected(sums, likelihood / total, np.empty((0, n_components)), None)
        found = e_step(mixture, pins)
        sums = sums.plus(resident, found.responsibilities * weight[:, np.newaxis])
        if e_step.total > 0:
            likelihood += found.log_likelihood * e_step.total
        return Expected(sums, likelihood / total, found.score, found.pins)

    def update(sums: Sums) -> Mixture:
        counts = sums.counts + SOME
        means = sums.sums / counts[:, np.newaxis]
        covariance = (scatter - (counts * means.T) @ means) / counts.sum()
        covariance.flat[:: len(covariance) + 1] += reg_covar
        factor = precision_cholesky(covariance, "tied")
        return Mixture(counts / counts.sum(), means, covariance, factor)

    pins = np.empty(units.graph.n_units, np.int64)
    pins[units.unit] = labels[units.rows]
    linked = np.zeros((len(resident), n_components))
    linked[np.arange(len(resident)), labels[units.rows]] = weight
    first = free.by_label(labels, n_components).plus(resident, linked)
    stood = until_it_stands(
        expect,
        lambda expected: update(expected.sums),
        update(first),
        pins,
        max_iter=max_iter,
        tol=tol,
        on_round=on_round,
    )
    found = free.label(stood.mixture)
    if len(resident):
        found[units.rows] = most_probable(stood.expected.score, stood.expected.pins, here)
    return Run(
        stood.mixture,
        None,
        found,
        stood.log_likelihood,
        stood.converged,
        stood.history,
        bool(e_step.marginals.exact.all()),
    )
