"""The metrics: where they start, and the step that lowers the objective for given clusters."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from conclust._arrays import FloatArray, Matrix
from conclust._pairs import violated
from conclust.cluster._mpckmeans.metrics import Diagonal, Full, Metrics, blocks
from conclust.cluster._mpckmeans.problem import Problem

# Halvings of a step of the metric that would raise the objective, before it is given up.
MAX_HALVINGS = 5


class Terms(NamedTuple):
    """What the objective is as a function of one metric A, labels and centres given.

    ⟨A, scatter⟩ − mass · ln det A + Σ_n weight[n] · max(0, longest(A) − ‖broken[n]‖²_A)
    """

    scatter: FloatArray  # of the rows about their centres, the broken must-links and the prior
    mass: float
    broken: Matrix  # differences of the broken cannot-links
    weight: FloatArray


def terms_of(problem: Problem, labels: npt.NDArray[np.int32], centers: FloatArray) -> list[Terms]:
    """Collect the terms of each metric."""
    links, kind = problem.links, problem.kind
    n_features = problem.X.shape[1]
    ends = labels[links.rows][links.pairs]
    broken = violated(labels[links.rows], links.pairs, links.sign)
    shared = problem.n_metrics == 1
    prior = problem.prior_mass * kind.plain(1, n_features)[0]
    terms = []
    for h in range(problem.n_metrics):
        inside = np.ones_like(ends, dtype=bool) if shared else ends == h
        # Each end of a broken must-link pays half, at the price of its own cluster.
        must = np.flatnonzero(broken & (links.sign > 0) & inside.any(axis=1))
        half = problem.link_weight[must] * inside[must].sum(axis=1) / 2
        cannot = np.flatnonzero(broken & (links.sign < 0) & inside.all(axis=1))
        scatter = prior + kind.scatter(problem.differences(must), half)
        mass = problem.prior_mass
        for cluster in range(problem.n_clusters) if shared else (h,):
            rows = np.flatnonzero(labels == cluster)
            weight = problem.weight[rows]
            scatter = scatter + _scatter_about(kind, problem.X[rows], centers[cluster], weight)
            mass += float(weight.sum())
        terms.append(Terms(scatter, mass, problem.differences(cannot), problem.link_weight[cannot]))
    return terms


def _scatter_about(
    kind: type[Diagonal] | type[Full], X: Matrix, center: FloatArray, weight: FloatArray
) -> FloatArray:
    """Scatter of rows about a centre, in blocks; sparse rows are not written out."""
    if sp.issparse(X):
        # Σ w (x − c)² = Σ w x² − 2c Σ w x + c² Σ w
        sums = np.asarray(weight @ X).ravel()
        about = kind.scatter(X, weight) - 2 * center * sums + center**2 * weight.sum()
        return np.maximum(about, 0.0)
    total = np.zeros_like(kind.plain(1, X.shape[1])[0])
    for start, stop in blocks(*X.shape):
        total += kind.scatter(X[start:stop] - center, weight[start:stop])
    return total


def value(problem: Problem, terms: Terms, matrix: FloatArray) -> float:
    """The part of the objective that one metric decides."""
    metric = problem.kind(matrix[np.newaxis])
    total = float((matrix * terms.scatter).sum() - terms.mass * metric.log_det[0])
    if len(terms.weight):
        short = metric.lengths(problem.far).max() - metric.lengths(terms.broken)[:, 0]
        total += float(terms.weight @ np.maximum(short, 0.0))
    return total


def total_value(problem: Problem, terms: list[Terms], metrics: Metrics) -> float:
    """The objective, from the terms of every metric."""
    return sum(value(problem, t, m) for t, m in zip(terms, metrics.matrices, strict=True))


def step(problem: Problem, terms: Terms, matrix: FloatArray) -> FloatArray:
    """Return the metric that minimises the objective, or one that does not raise it.

    With no broken cannot-link the minimum is mass · scatter⁻¹. With some, the objective is convex
    but not smooth, since the longest of the far differences depends on the metric: the minimum for
    the one that is longest now gives the direction, and the step is halved until it does not raise
    the objective.
    """
    metric = problem.kind(matrix[np.newaxis])
    scatter = terms.scatter
    if len(terms.weight):
        far = metric.lengths(problem.far)[:, 0]
        longest = problem.far[[int(far.argmax())]]
        active = metric.lengths(terms.broken)[:, 0] < far.max()
        weight = terms.weight[active]
        scatter = scatter + problem.kind.scatter(longest, np.array([weight.sum()]))
        scatter = scatter - problem.kind.scatter(terms.broken[active], weight)
    # Broken cannot-links may take out more than there is. What the prior puts in always stays.
    target = terms.mass * problem.kind.inverse(scatter, problem.prior_mass)
    before = value(problem, terms, matrix)
    for halvings in range(MAX_HALVINGS + 1):
        tried = matrix + (target - matrix) / 2**halvings
        if value(problem, terms, tried) <= before:
            return tried
    return matrix


def first_matrices(problem: Problem, number: int) -> FloatArray:
    """Return the metrics of start `number`: plain, or every other time as must-links suggest.

    From plain distances clusters along features that do not matter are never left again: the
    metric that fits them makes them fit. With w δδᵀ/2 as the scatter of each must-linked pair, the
    metric sees what varies inside clusters before there are any.
    """
    plain = problem.kind.plain(problem.n_metrics, problem.X.shape[1])
    must = np.flatnonzero(problem.links.sign > 0)
    if number % 2 == 0 or not len(must):
        return plain
    weight = problem.links.weight[must]
    scatter = plain[0] + problem.kind.scatter(problem.differences(must), weight / 2)
    matrix = (1.0 + weight.sum()) * problem.kind.inverse(scatter, 1.0)
    return np.tile(matrix, (problem.n_metrics, *[1] * matrix.ndim))
