"""A Gaussian mixture with one shared covariance over rows in blocks: k × d sums travel."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from conclust._arrays import FloatArray, IntArray, Labels, empty_labels
from conclust._pairs import SignedPairs
from conclust._placement.belief import Beliefs, Rates
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
from conclust.cluster._doubting_mixture import SURE, TINY, shared_mixture, until_beliefs_stand
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
        self.mass, self.sum = 0.0, np.zeros(X.shape[1])
        self.scatter = np.zeros((X.shape[1], X.shape[1]))
        for _, rows, own in self._parts():
            self.mass += float(own.sum())
            self.sum += own @ rows
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


class RowsInTwo:
    """Rows of a source, those that statements name in memory; and the sums over all."""

    def __init__(self, X: Any, sample_weight: np.ndarray | None, linked: IntArray):
        self.free, self.linked = FreeRows(X, sample_weight, linked), linked
        self.resident: FloatArray = X[linked].astype(np.float64)
        self.weight = np.ones(len(linked))
        if sample_weight is not None:
            self.weight[:] = sample_weight[linked]
        weighted = self.resident * self.weight[:, np.newaxis]
        self.mass = self.free.mass + float(self.weight.sum())
        self.total = self.free.scatter + weighted.T @ self.resident
        self.mean = (self.free.sum + weighted.sum(axis=0)) / self.mass
        self.variances = np.diag(self.total) / self.mass - self.mean**2

    def by_label(self, labels: np.ndarray, n_components: int) -> Sums:
        """Sums by label, each row wholly in its own."""
        whole = np.zeros((len(self.linked), n_components))
        whole[np.arange(len(self.linked)), labels[self.linked]] = self.weight
        return self.free.by_label(labels, n_components).plus(self.resident, whole)


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
    rows = RowsInTwo(X, sample_weight, units.rows)
    free, resident, weight = rows.free, rows.resident, rows.weight
    here = units._replace(rows=np.arange(len(resident)))
    e_step = ExpectationStep(resident, here, weight, n_components, "tied", max_states)

    def expect(mixture: Mixture, pins: IntArray | None) -> Expected:
        sums = free.expect(mixture)
        likelihood = sums.log_norm + shared_constant(mixture, free.scatter, free.mass)
        if not len(resident):
            return Expected(sums, likelihood / rows.mass, np.empty((0, n_components)), None)
        found = e_step(mixture, pins)
        sums = sums.plus(resident, found.responsibilities * weight[:, np.newaxis])
        if e_step.total > 0:
            likelihood += found.log_likelihood * e_step.total
        return Expected(sums, likelihood / rows.mass, found.score, found.pins)

    def update(sums: Sums) -> Mixture:
        counts = sums.counts + SOME
        means = sums.sums / counts[:, np.newaxis]
        covariance = (rows.total - (counts * means.T) @ means) / counts.sum()
        covariance.flat[:: len(covariance) + 1] += reg_covar
        factor = precision_cholesky(covariance, "tied")
        return Mixture(counts / counts.sum(), means, covariance, factor)

    pins = np.empty(units.graph.n_units, np.int64)
    pins[units.unit] = labels[units.rows]
    stood = until_it_stands(
        expect,
        lambda expected: update(expected.sums),
        update(rows.by_label(labels, n_components)),
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


class DoubtedInBlocks(NamedTuple):
    """What one start under statements in doubt comes to; see `Doubted`."""

    mixture: Mixture
    sums: Sums
    probability: FloatArray  # (n_linked, n_components) given rows and statements
    rates: Rates
    doubt: FloatArray  # (n_pairs,)
    log_likelihood: float
    log_evidence: float
    converged: bool
    history: list[Any]


class DoubtInBlocks:
    """`doubting_mixture` with one shared covariance, an iteration in one pass.

    Parameters
    ----------
    X : Blocks
        Moved to their mean.
    sample_weight : ndarray of shape (n_samples,) or None
    pairs : SignedPairs
        The rows they name are held in memory.
    n_components : int
    """

    def __init__(
        self, X: Any, sample_weight: np.ndarray | None, pairs: SignedPairs, n_components: int
    ):
        self._pairs, self._n_components = pairs, n_components
        self._rows = RowsInTwo(X, sample_weight, pairs.named()[0])

    def run(self, labels: np.ndarray, *, reg_covar: float, **how: Any) -> DoubtedInBlocks:
        """EM from labels; the others are those of `doubting_mixture`."""
        beliefs = Beliefs(self._pairs, self._n_components)
        hard = self._rows.by_label(labels, self._n_components)
        # As `softened` has it: nine tenths to the label, the rest to all alike.
        even = (1 - SURE) / self._n_components
        counts = SURE * hard.counts + even * self._rows.mass
        sums = SURE * hard.sums + even * self._rows.mass * self._rows.mean

        def update(sums: Sums) -> Mixture:
            means = sums.sums / np.maximum(sums.counts, TINY)[:, np.newaxis]
            return shared_mixture(self._rows, sums.counts, means, reg_covar)

        found: DoubtedInBlocks = until_beliefs_stand(
            lambda mixture, rates: self._expect(beliefs, mixture, rates),
            lambda found: update(found.sums),
            update(Sums(counts, sums, 0.0)),
            self._pairs,
            **how,
        )
        return found

    def _expect(self, beliefs: Beliefs, mixture: Mixture, rates: Rates) -> DoubtedInBlocks:
        rows = self._rows
        pulled, offset = shared_terms(mixture)
        log_prior = rows.resident @ pulled + offset
        believed = beliefs(log_prior, rates)
        log_norm = float(rows.weight @ normalize(log_prior)[0])
        mass = believed.probability * rows.weight[:, np.newaxis]
        sums = rows.free.expect(mixture).plus(rows.resident, mass, log_norm)
        constant = shared_constant(mixture, rows.total, rows.mass)
        likelihood = sums.log_norm + constant + believed.log_evidence
        return DoubtedInBlocks(
            mixture,
            sums,
            believed.probability,
            rates,
            believed.doubt,
            float(likelihood / rows.mass),
            believed.log_evidence,
            False,
            [],
        )

    def labels(self, found: DoubtedInBlocks) -> Labels:
        """The most probable label of each row, given rows and statements: one pass."""
        labels = self._rows.free.label(found.mixture)
        labels[self._rows.linked] = found.probability.argmax(axis=1)
        return labels
