"""EM for a Gaussian mixture under statements that are certain: no labelling breaks one."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from conclust._kernels.place_hard import sum_costs
from conclust._placement.hard import place
from conclust._placement.marginals import MAX_STATES, ApartMarginals
from conclust._placement.units import Units
from conclust._progress import Rounds
from conclust._sklearn import gaussian_parameters, precision_cholesky
from conclust.cluster._mixture import Mixture, log_joint, normalize


class Round(NamedTuple):
    """What one iteration did."""

    log_likelihood: float  # per unit of weight, before the components moved
    change: float  # since the last iteration
    seconds: float


class Expected(NamedTuple):
    """What the E-step finds."""

    responsibilities: np.ndarray  # (n_samples, n_components)
    log_likelihood: float  # per unit of weight
    score: np.ndarray  # (n_units, n_components) summed log densities of each unit
    pins: np.ndarray  # (n_units,) see `ApartMarginals`


class Run(NamedTuple):
    """The result of one start."""

    mixture: Mixture
    responsibilities: np.ndarray | None  # (n_samples, n_components), None for rows in blocks
    labels: np.ndarray  # (n_samples,) int32, every statement kept
    log_likelihood: float  # of the last iteration
    converged: bool
    history: list[Any]
    exact: bool  # no component of the cannot-link graph was too entangled


def constrained_gaussian_mixture(
    X: np.ndarray,
    units: Units,
    responsibilities: np.ndarray,
    *,
    labels: np.ndarray | None = None,
    covariance_type: str = "full",
    reg_covar: float = 1e-6,
    sample_weight: np.ndarray | None = None,
    max_iter: int = 100,
    tol: float = 1e-3,
    max_states: int = MAX_STATES,
    on_round: Callable[[Round], object] | None = None,
) -> Run:
    """Fit a Gaussian mixture by EM from one start.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred, for accuracy.
    units : Units
        Linked rows.
    responsibilities : ndarray of shape (n_samples, n_components)
        The start: how much each row belongs to each component. Need not keep the links.
    labels : ndarray of shape (n_samples,), default=None
        A labelling that keeps every link, if one is known; looked for by default.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
    reg_covar : float, default=1e-6
        Added to the diagonal of covariances, so that they can be inverted.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weight of each row; None for 1 each.
    max_iter : int, default=100
        Iterations of one start at most.
    tol : float, default=1e-3
        Stop when the log-likelihood per unit of weight changes by less.
    max_states : int, default=100_000
        See `ApartMarginals`.
    on_round : callable, default=None
        Called with the record of each iteration.

    Returns
    -------
    Run

    Notes
    -----
    The log-likelihood never falls, but for what `reg_covar` adds to the covariances.
    """
    weight = np.ones(len(X), dtype=X.dtype) if sample_weight is None else sample_weight
    e_step = ExpectationStep(
        X, units, weight, responsibilities.shape[1], covariance_type, max_states
    )

    def update(responsibilities: np.ndarray) -> Mixture:
        return m_step(X, responsibilities, weight, covariance_type, reg_covar)

    pins: np.ndarray | None = None
    if labels is not None:
        pins = np.empty(units.graph.n_units, np.int64)
        pins[units.unit] = labels[units.rows]
    stood = until_it_stands(
        e_step,
        lambda expected: update(expected.responsibilities),
        update(responsibilities),
        pins,
        max_iter=max_iter,
        tol=tol,
        on_round=on_round,
    )
    found = stood.expected.responsibilities.argmax(axis=1).astype(np.int32)
    found[units.rows] = most_probable(stood.expected.score, stood.expected.pins, units)
    return Run(
        stood.mixture,
        stood.expected.responsibilities,
        found,
        stood.log_likelihood,
        stood.converged,
        stood.history,
        bool(e_step.marginals.exact.all()),
    )


class Stood(NamedTuple):
    """Where EM came to rest, or was stopped."""

    mixture: Mixture
    expected: Any  # what the E-step finds under it
    log_likelihood: float  # of the last iteration
    converged: bool
    history: list[Any]


def until_it_stands(
    e_step: Callable[[Mixture, Any], Any],
    m_step: Callable[[Any], Mixture],
    mixture: Mixture,
    pins: np.ndarray | None,
    *,
    max_iter: int,
    tol: float,
    on_round: Callable[[Round], object] | None,
) -> Stood:
    """Repeat E-step and M-step.

    Parameters
    ----------
    e_step : callable
        Of a mixture and the last pins; what it finds has `log_likelihood` and `pins`.
    m_step : callable
        Of what the E-step finds.
    mixture : Mixture
        The first one.
    pins : ndarray of shape (n_units,) or None
    max_iter, tol, on_round
        As in `constrained_gaussian_mixture`.
    """
    rounds = Rounds(Round, on_round)
    likelihood, converged = -np.inf, False
    for _ in range(max_iter):
        expected = e_step(mixture, pins)
        pins = expected.pins
        mixture = m_step(expected)
        before, likelihood = likelihood, expected.log_likelihood
        change = likelihood - before
        rounds.note(likelihood, change)
        converged = abs(change) < tol
        if converged:
            break
    return Stood(mixture, e_step(mixture, pins), likelihood, converged, rounds.history)


class ExpectationStep:
    r"""Responsibilities under a mixture, linked rows together.

    Rows joined by links, must or cannot, form a part. With weights :math:`w_i` of mean
    :math:`\bar w` in the part, its log-likelihood is

    .. math::

        \bar w \log \sum_{l} \prod_i
            \bigl(\pi_{l_i} N(x_i; \mu_{l_i}, \Sigma_{l_i})\bigr)^{w_i / \bar w}

    over the labellings :math:`l` of the part that keep its links. A free row is a part of its own;
    equal weights leave the sum as it is; and the M-step with :math:`w_i` times the responsibilities
    is exact, so EM keeps its guarantee with weights. A part without weight has the likelihood 0
    and the responsibilities that equal weights would give.
    """

    def __init__(
        self,
        X: np.ndarray,
        units: Units,
        weight: np.ndarray,
        n_components: int,
        covariance_type: str,
        max_states: int = MAX_STATES,
    ):
        self.X, self.units, self.covariance_type = X, units, covariance_type
        self.n_components = n_components
        self.marginals = ApartMarginals(units.graph, n_components, max_states=max_states)
        self.total = float(weight.sum(dtype=np.float64))
        part = units.graph.component[units.unit]
        weight_of_rows = weight[units.rows].astype(np.float64)
        n_parts = len(units.graph.odd)
        sizes = np.bincount(part, minlength=n_parts)
        self.mean_weight = np.bincount(part, weight_of_rows, n_parts) / np.maximum(sizes, 1)
        mean = self.mean_weight[part]
        self.power = np.divide(weight_of_rows, mean, out=np.ones_like(mean), where=mean > 0)
        self.free_weight = weight.astype(np.float64)
        self.free_weight[units.rows] = 0

    def __call__(self, mixture: Mixture, pins: np.ndarray | None) -> Expected:
        """Return the responsibilities, never with a lower likelihood than under the old pins."""
        rows, unit, graph = self.units
        joint = log_joint(self.X, mixture, self.covariance_type)
        score = np.empty((graph.n_units, self.n_components))
        sum_costs(joint[rows], unit, self.power, score)
        found = self.marginals(score, pins)
        log_norm, responsibilities = normalize(joint)
        responsibilities[rows] = found.probability[unit]
        likelihood = self.free_weight @ log_norm + self.mean_weight @ found.log_z
        return Expected(responsibilities, float(likelihood / self.total), score, found.labels)


def m_step(
    X: np.ndarray,
    responsibilities: np.ndarray,
    weight: np.ndarray,
    covariance_type: str,
    reg_covar: float,
) -> Mixture:
    """The mixture that explains weighted responsibilities best.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    responsibilities : ndarray of shape (n_samples, n_components)
    weight : ndarray of shape (n_samples,)
    covariance_type : {"full", "tied", "diag", "spherical"}
    reg_covar : float
        Added to the diagonals of the covariances.

    Returns
    -------
    Mixture
    """
    mass = responsibilities * weight[:, None]
    if covariance_type == "tied":
        # scikit-learn's sum of squares takes every row once, whatever the responsibilities.
        counts, means, _ = gaussian_parameters(X, mass, reg_covar, "spherical")
        covariances = ((X * weight[:, None]).T @ X - (counts * means.T) @ means) / counts.sum()
        covariances.flat[:: X.shape[1] + 1] += reg_covar
    else:
        counts, means, covariances = gaussian_parameters(X, mass, reg_covar, covariance_type)
    return Mixture(
        counts / counts.sum(),
        means,
        covariances,
        precision_cholesky(covariances, covariance_type),
    )


def most_probable(score: np.ndarray, pins: np.ndarray, units: Units) -> np.ndarray:
    """Labels of the linked rows: the best labelling found that keeps links."""
    known = pins if (pins >= 0).all() else None
    return place(-score, units.graph, previous=known).labels[units.unit]
