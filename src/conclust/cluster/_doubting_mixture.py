"""EM for a Gaussian mixture to which statements are evidence: wrong at rates that are estimated."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from conclust._arrays import FloatArray
from conclust._pairs import SignedPairs
from conclust._placement.belief import Beliefs, Rates
from conclust._progress import Rounds
from conclust._sklearn import precision_cholesky
from conclust.cluster._mixture import (
    Mixture,
    blocks_of,
    log_shares,
    normalize,
    shared_constant,
)

# The rates are estimated as if two of twenty more statements were wrong, and kept off both ends: at
# 0 a single wrong statement would be impossible, above .4 statements say hardly anything.
PRIOR_WRONG, PRIOR_SAID = 2.0, 20.0
LOWEST_RATE, HIGHEST_RATE = 0.005, 0.4
FIRST_RATE = 0.03
# Stands for a rate of 0: one kind may be certain while the other is not, and both may clash.
CERTAIN = 1e-6
# Rows' worth of the features' variances in a shared covariance, per feature; and, where clusters
# have covariances of their own, of those in the shared one and of the shared one in each.
SHRINK_SHARED = 1.0
SHRINK_COMMON, SHRINK_OWN = 0.3, 0.2
# Stands for no mass at all.
TINY = 1e-12
# How much of a row its label in a start is worth.
SURE = 0.9


class Round(NamedTuple):
    """What one iteration did."""

    log_likelihood: float  # of rows and statements, per unit of weight, before components moved
    change: float  # since the last iteration
    must_rate: float  # share of must-links believed wrong
    cannot_rate: float
    seconds: float


class Doubted(NamedTuple):
    """The result of one start."""

    mixture: Mixture
    responsibilities: FloatArray  # (n_samples, n_components) given rows and statements
    log_prior: FloatArray  # (n_samples, n_components) by the row alone, up to a constant of the row
    rates: Rates
    doubt: FloatArray  # (n_pairs,) probability that each pair was said wrongly
    log_likelihood: float  # of rows and statements, per unit of weight
    log_evidence: float  # of the statements alone, given the rows
    converged: bool
    history: list[Round]


class Scattered(Protocol):
    """Sums over all rows that no iteration changes."""

    total: FloatArray  # (n_features, n_features) Σ w x xᵀ
    variances: FloatArray  # (n_features,)


class Scatter:
    """Rows moved to their mean, their weights, and the sums over all that no iteration changes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    weight : ndarray of shape (n_samples,), default=None
        Weight of each row; None for 1 each.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        What was taken from every row; means of components are found without it.
    """

    def __init__(self, X: FloatArray, weight: FloatArray | None = None):
        self._is_plain = weight is None
        self.weight = np.ones(len(X)) if weight is None else weight.astype(np.float64)
        self.mass = float(self.weight.sum())
        self.mean = self.weight @ X / self.mass
        self.X = np.subtract(X, self.mean, dtype=np.float64)
        self.total = np.zeros((X.shape[1], X.shape[1]))
        for some in blocks_of(len(X)):
            self.total += (self.X[some] * self.weight[some, None]).T @ self.X[some]
        self.variances = np.diag(self.total) / self.mass

    def weighted(self, shares: FloatArray) -> FloatArray:
        """Shares of each row times its weight; the same array where all weigh 1."""
        return shares if self._is_plain else shares * self.weight[:, None]


def doubting_mixture(
    rows: Scatter,
    pairs: SignedPairs,
    start: FloatArray | Mixture,
    *,
    covariance_type: str = "tied",
    rates: Rates | None = None,
    reg_covar: float = 1e-6,
    max_iter: int = 100,
    tol: float = 1e-3,
    on_round: Callable[[Round], object] | None = None,
) -> Doubted:
    """Fit a mixture to rows and to statements that may be wrong, by EM from one start.

    Parameters
    ----------
    rows : Scatter
        The rows, with the sums that covariances are made of.
    pairs : SignedPairs
        The statements as pairs with signs and weights.
    start : ndarray of shape (n_samples, n_components) or Mixture
        Responsibilities, see `softened`; or a mixture of rows as they are in `rows`, to go on from.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="tied"
    rates : Rates, default=None
        How often statements are wrong; estimated by default.
    reg_covar : float, default=1e-6
        Added to the diagonal of covariances, so that they can be inverted.
    max_iter : int, default=100
        Iterations of one start at most.
    tol : float, default=1e-3
        Stop when the log-likelihood per unit of weight changes by less.
    on_round : callable, default=None
        Called with the record of each iteration.

    Returns
    -------
    Doubted
    """
    if not isinstance(start, Mixture):  # lets go of numbers for each row before as many are made
        start = m_step(rows, start, covariance_type, reg_covar)
    beliefs = Beliefs(pairs, len(start.weights))
    found: Doubted = until_beliefs_stand(
        lambda mixture, rates: _expect(rows, beliefs, mixture, covariance_type, rates),
        lambda found: m_step(rows, found.responsibilities, covariance_type, reg_covar),
        start,
        pairs,
        rates=rates,
        max_iter=max_iter,
        tol=tol,
        on_round=on_round,
    )
    return found


def until_beliefs_stand(
    e_step: Callable[[Mixture, Rates], Any],
    m_step: Callable[[Any], Mixture],
    mixture: Mixture,
    pairs: SignedPairs,
    *,
    rates: Rates | None,
    max_iter: int,
    tol: float,
    on_round: Callable[[Round], object] | None,
) -> Any:
    """Repeat E-step and M-step from a first mixture, the rates estimated in between.

    What the E-step finds is a `Doubted`, or a named tuple with `doubt`, `log_likelihood`,
    `converged` and `history`, too; the last one is returned. The others are those of
    `doubting_mixture`.
    """
    believed_rates = Rates(FIRST_RATE, FIRST_RATE) if rates is None else rates
    rounds = Rounds(Round, on_round)
    likelihood, converged = -np.inf, False
    for _ in range(max_iter):
        found = e_step(mixture, believed_rates)
        if rates is None:
            believed_rates = estimated_rates(found.doubt, pairs)
        mixture = m_step(found)
        before, likelihood = likelihood, found.log_likelihood
        change = likelihood - before
        rounds.note(likelihood, change, *wrong_shares(found.doubt, pairs))
        del found  # see `doubting_mixture`
        converged = abs(change) < tol
        if converged:
            break
    found = e_step(mixture, believed_rates)
    return found._replace(converged=converged, history=rounds.history)


def _expect(
    rows: Scatter, beliefs: Beliefs, mixture: Mixture, covariance_type: str, rates: Rates
) -> Doubted:
    """The E-step: where rows are, given themselves, the mixture and what statements are worth."""
    log_prior, constant = log_prior_of(rows, mixture, covariance_type)
    log_norm, responsibilities = normalize(log_prior)
    believed = beliefs(log_prior[beliefs.rows], rates)
    responsibilities[beliefs.rows] = believed.probability
    likelihood = rows.weight @ log_norm + constant + believed.log_evidence
    return Doubted(
        mixture,
        responsibilities,
        log_prior,
        rates,
        believed.doubt,
        float(likelihood / rows.mass),
        believed.log_evidence,
        False,
        [],
    )


class Tally(NamedTuple):
    """What statements were said of, by weight, as far as is believed."""

    wrong: FloatArray  # (2,) must-links of pairs in two clusters, cannot-links of pairs in one
    of: FloatArray  # (2,) all statements about pairs in two clusters, and about pairs in one


def tally(doubt: FloatArray, pairs: SignedPairs) -> Tally:
    """Count wrong statements, and what is true of the pairs that statements speak of."""
    is_must, weight = pairs.sign > 0, pairs.weight
    in_two = np.where(is_must, doubt, 1 - doubt)
    return Tally(
        np.array([weight @ (doubt * is_must), weight @ (doubt * ~is_must)]),
        np.array([weight @ in_two, weight @ (1 - in_two)]),
    )


def estimated_rates(doubt: FloatArray, pairs: SignedPairs) -> Rates:
    """How often pairs in two clusters, and in one, were spoken of wrongly, drawn to one in ten."""
    wrong, of = tally(doubt, pairs)
    rates = (wrong + PRIOR_WRONG) / (of + PRIOR_SAID)
    return Rates(*np.clip(rates, LOWEST_RATE, HIGHEST_RATE).tolist())


def wrong_shares(doubt: FloatArray, pairs: SignedPairs) -> tuple[float, float]:
    """Share of must-links and of cannot-links that are wrong, as if one of ten more were."""
    wrong = tally(doubt, pairs).wrong
    is_must = pairs.sign > 0
    said = np.array([pairs.weight[is_must].sum(), pairs.weight[~is_must].sum()])
    must, cannot = ((wrong + 1) / (said + 10)).tolist()
    return must, cannot


def rates_of_shares(shares: tuple[float, float], pairs: SignedPairs) -> Rates:
    """The rates at which statements were made of which such shares are wrong."""
    is_must = pairs.sign > 0
    share = np.where(is_must, shares[0], shares[1])
    wrong, of = tally(share, pairs)
    rates = np.divide(wrong, of, out=np.array(shares, dtype=float), where=of > 0)
    return Rates(*np.clip(rates, CERTAIN, 1 - CERTAIN).tolist())


def log_prior_of(rows: Scatter, mixture: Mixture, covariance_type: str) -> tuple[FloatArray, float]:
    """Log π_c + log N(x; μ_c, Σ_c) up to a constant of each row, and the sum of those constants."""
    is_shared = covariance_type == "tied"
    constant = shared_constant(mixture, rows.total, rows.mass) if is_shared else 0.0
    return log_shares(rows.X, mixture, covariance_type), constant


def m_step(
    rows: Scatter, responsibilities: FloatArray, covariance_type: str, reg_covar: float
) -> Mixture:
    r"""The mixture that explains responsibilities best, drawn a little to the plain one.

    Weights are those of one more row in each component. The shared covariance is
    :math:`(W + ν V) / (n + ν)` with the pooled scatter :math:`W`, the variances :math:`V` of the
    features and ν = d, so units of measurement do not matter. Covariances of their own are
    :math:`(W_c + 0.2 d S) / (n_c + 0.2 d)` with the shared one :math:`S` at ν = 0.3 d; those
    along the axes, or of one number, are the diagonal, or its mean, of these. A component without
    rows is at the mean of all.

    Parameters
    ----------
    rows : Scatter
    responsibilities : ndarray of shape (n_samples, n_components)
    covariance_type : {"full", "tied", "diag", "spherical"}
    reg_covar : float
        Added to the diagonals of the covariances.

    Returns
    -------
    Mixture
    """
    mass = rows.weighted(responsibilities)
    n_features = rows.X.shape[1]
    counts = mass.sum(axis=0)
    means = mass.T @ rows.X / np.maximum(counts, TINY)[:, None]
    if covariance_type == "tied":
        return shared_mixture(rows, counts, means, reg_covar)
    shared = shared_covariance(rows, counts, means, covariance_type)
    covariances = own_covariances(rows, mass, counts, means, shared, covariance_type)
    covariances += reg_covar * (np.eye(n_features) if covariance_type == "full" else 1.0)
    factors = precision_cholesky(covariances, covariance_type)
    return Mixture(_shares(counts), means, covariances, factors)


def shared_mixture(
    rows: Scattered, counts: FloatArray, means: FloatArray, reg_covar: float
) -> Mixture:
    """`m_step` with one shared covariance, which needs no row but only counts and means."""
    covariance = shared_covariance(rows, counts, means, "tied")
    covariance.flat[:: len(covariance) + 1] += reg_covar
    return Mixture(_shares(counts), means, covariance, precision_cholesky(covariance, "tied"))


def _shares(counts: FloatArray) -> FloatArray:
    return (counts + 1.0) / (counts + 1.0).sum()


def shared_covariance(
    rows: Scattered, counts: FloatArray, means: FloatArray, covariance_type: str
) -> FloatArray:
    """Pooled within the components and drawn towards a sphere; see `m_step`."""
    n_features = len(rows.total)
    rate = SHRINK_SHARED if covariance_type == "tied" else SHRINK_COMMON
    extra = rate * n_features
    within = rows.total - (counts * means.T) @ means
    within.flat[:: n_features + 1] += extra * rows.variances
    return within / (counts.sum() + extra)


def own_covariances(
    rows: Scatter,
    mass: FloatArray,
    counts: FloatArray,
    means: FloatArray,
    shared: FloatArray,
    covariance_type: str,
) -> FloatArray:
    """One covariance per component, drawn towards the shared one; see `m_step`."""
    n_components, n_features = means.shape
    extra = SHRINK_OWN * n_features
    if covariance_type == "full":
        own = np.zeros((n_components, n_features, n_features))
        for some in blocks_of(len(mass)):
            for c in range(n_components):
                own[c] += (rows.X[some] * mass[some, c, None]).T @ rows.X[some]
        for c in range(n_components):
            own[c] -= counts[c] * np.outer(means[c], means[c])
            own[c] += extra * shared
        return own / (counts + extra)[:, None, None]
    own = mass.T @ rows.X**2 - counts[:, None] * means**2
    own += extra * np.diag(shared)
    own = np.maximum(own, 0.0) / (counts + extra)[:, None]
    return own if covariance_type == "diag" else own.mean(axis=1)


def softened(labels: np.ndarray, n_components: int) -> FloatArray:
    """Responsibilities that give a row nine tenths to its label and the rest to all alike."""
    start = np.full((len(labels), n_components), (1 - SURE) / n_components)
    start[np.arange(len(labels)), labels] += SURE
    return start
