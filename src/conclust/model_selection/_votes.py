"""A member without a shape: rows vote for the clusters of rows near them.

Clusters of mixtures are ellipsoids. Here the probability of a cluster is any smooth function of the
row: kernel ridge regression on what is believed about rows, each row asked of all others
(leave-one-out, in closed form), so that none votes for itself. Then the statements speak, and what
is believed changes: a few rounds of both.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics.pairwise import euclidean_distances

from conclust._arrays import FloatArray
from conclust._pairs import SignedPairs
from conclust._placement.belief import Beliefs, Rates
from conclust.cluster import FIRST_RATE, estimated_rates

# Rows from which all others are seen.
MAX_LANDMARKS = 300
# Penalties tried; the one under which rows are known best from the others is taken.
PENALTIES: FloatArray = np.array([0.01, 0.1, 1.0, 10.0, 100.0])
N_ROUNDS = 5
# Votes below this count as this.
LEAST_VOTE = 0.01
# Relative to the largest, what is smaller is rounding.
TINY = 1e-9
# Rows looked at together; by several elections fewer, which stay in the cache.
BLOCK, BLOCK_MANY = 10_000, 2_000


class Landmarks:
    """Some rows, and how close others are to them: a Gaussian as wide as the median distance.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    scale : ndarray of shape (n_features,)
        Units in which distances are taken.
    seed : int
    narrower : float, default=1.0
        By so much less than the median squared distance.
    """

    def __init__(self, X: FloatArray, scale: FloatArray, seed: int, narrower: float = 1.0):
        chosen = np.random.RandomState(seed).permutation(len(X))[:MAX_LANDMARKS]
        self.scale = scale
        self.rows = X[np.sort(chosen)] / scale
        squared = euclidean_distances(self.rows, squared=True)
        apart = squared[squared > 0]
        self.width = float(np.median(apart)) / narrower if len(apart) else 1.0

    def closeness(self, X: FloatArray) -> FloatArray:
        """Of each row to each landmark, in (0, 1]."""
        squared: FloatArray = euclidean_distances(X / self.scale, self.rows, squared=True)
        squared /= -self.width
        return np.exp(squared, out=squared)


class View:
    """Rows as the landmarks see them, in orthonormal directions.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    scale : ndarray of shape (n_features,)
    seed : int
    narrower : float, default=1.0
        See `Landmarks`.

    Attributes
    ----------
    basis : ndarray of shape (n_samples, n_directions)
    strength : ndarray of shape (n_directions,)
        Eigenvalues of the kernel in these directions.
    """

    def __init__(self, X: FloatArray, scale: FloatArray, seed: int, narrower: float = 1.0):
        self.landmarks = Landmarks(X, scale, seed, narrower)
        values, vectors = np.linalg.eigh(self.landmarks.closeness(self.landmarks.rows * scale))
        kept = values > TINY * values[-1]
        whiten = vectors[:, kept] / np.sqrt(values[kept])
        seen = self.landmarks.closeness(X) @ whiten
        basis, lengths, turn = np.linalg.svd(seen, full_matrices=False)
        kept = lengths > TINY * lengths[0]
        self.basis, self.strength = basis[:, kept], lengths[kept] ** 2
        self.squares = self.basis**2
        self._to_basis = whiten @ (turn[kept].T / lengths[kept])

    def say(self, believed: FloatArray, penalties: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What all others say of each row, and, for new rows, what all say by direction.

        For each penalty: (n_penalties, n_samples, n_clusters) and (n_penalties, n_directions,
        n_clusters).
        """
        share = self.strength / (self.strength + penalties[:, None])
        by_direction = share[:, :, None] * (self.basis.T @ believed)
        own = (self.squares @ share.T).T[:, :, None]
        others = self.basis @ by_direction - own * believed
        return others / np.maximum(1 - own, TINY), by_direction

    def by_landmark(self, by_direction: FloatArray) -> FloatArray:
        """The same for `closeness`."""
        return self._to_basis @ by_direction


class Election(NamedTuple):
    """Votes, and how to count those for new rows."""

    view: View
    mean: FloatArray
    by_direction: FloatArray
    log_prior: FloatArray


class Votes:
    """What rows of `fit` say of new ones.

    Parameters
    ----------
    election : Election
    """

    def __init__(self, election: Election):
        self.landmarks, self.mean = election.view.landmarks, election.mean
        self.coefficients = election.view.by_landmark(election.by_direction)

    def log_prior(self, X: FloatArray) -> FloatArray:
        """Log probability of each cluster by the row alone."""
        said = np.empty((len(X), len(self.mean)))
        for at in range(0, len(X), BLOCK):
            closeness = self.landmarks.closeness(X[at : at + BLOCK])
            said[at : at + BLOCK] = closeness @ self.coefficients
        return log_share(said + self.mean)


def count_votes(votes: list[Votes], X: FloatArray) -> dict[Votes, npt.NDArray[np.float32]]:
    """`log_prior` of several, in single precision, where those with the same landmarks look once.

    To see all rows from the landmarks takes longer than to count.
    """
    counted = {one: np.empty((len(X), len(one.mean)), np.float32) for one in votes}
    for landmarks in {id(one.landmarks): one.landmarks for one in votes}.values():
        same = [one for one in votes if one.landmarks is landmarks]
        coefficients = np.hstack([one.coefficients for one in same])
        ends = np.cumsum([len(one.mean) for one in same])[:-1]
        for at in range(0, len(X), BLOCK_MANY):
            rows = slice(at, at + BLOCK_MANY)
            said = landmarks.closeness(X[rows]) @ coefficients
            for one, part in zip(same, np.split(said, ends, axis=1), strict=True):
                counted[one][rows] = log_share(part + one.mean)
    return counted


def elect(views: list[View], believed: FloatArray) -> Election:
    """Votes of the view and penalty that know rows best from all others."""
    mean = believed.mean(axis=0)
    centered = believed - mean
    best, least = None, np.inf
    for view in views:
        others, by_direction = view.say(centered, PENALTIES)
        error = ((others - centered) ** 2).sum(axis=(1, 2))
        at = int(error.argmin())
        if best is None or error[at] < least:
            best, least = (view, others[at], by_direction[at]), float(error[at])
    assert best is not None
    view, votes, by_direction = best
    return Election(view, mean, by_direction, log_share(votes + mean))


def log_share(votes: FloatArray) -> FloatArray:
    """Votes as log probabilities."""
    votes = np.maximum(votes, LEAST_VOTE)
    shares: FloatArray = np.log(votes / votes.sum(axis=1, keepdims=True))
    return shares


class Voted(NamedTuple):
    """What votes and statements agreed on; named as in `Doubted`."""

    election: Election
    responsibilities: FloatArray  # (n_samples, n_clusters) given rows and statements
    log_prior: FloatArray  # (n_samples, n_clusters) by what all other rows say
    rates: Rates
    doubt: FloatArray  # (n_pairs,)
    log_evidence: float  # of the statements, given the votes

    @property
    def log_likelihood(self) -> float:
        """The same: votes have no density of rows."""
        return self.log_evidence


def voting(
    views: list[View], pairs: SignedPairs, believed: FloatArray, rates: Rates | None = None
) -> Voted:
    """Votes and statements in turn, from what is believed about the rows.

    Parameters
    ----------
    views : list of View
    pairs : SignedPairs
    believed : ndarray of shape (n_samples, n_clusters)
        Rows sum to one.
    rates : Rates, default=None
        How often statements are wrong; estimated by default.

    Returns
    -------
    Voted
    """
    beliefs = Beliefs(pairs, believed.shape[1])
    believed_rates = Rates(FIRST_RATE, FIRST_RATE) if rates is None else rates
    for _ in range(N_ROUNDS):
        election = elect(views, believed)
        found = beliefs(election.log_prior[beliefs.rows], believed_rates)
        if rates is None:
            believed_rates = estimated_rates(found.doubt, pairs)
        believed = np.exp(election.log_prior)
        believed[beliefs.rows] = found.probability
    return Voted(
        election, believed, election.log_prior, believed_rates, found.doubt, found.log_evidence
    )


def heard(voted: Voted, log_prior: FloatArray, pairs: SignedPairs) -> Voted:
    """The same votes counted for other rows, with statements about those."""
    beliefs = Beliefs(pairs, log_prior.shape[1])
    found = beliefs(log_prior[beliefs.rows], voted.rates)
    believed = np.exp(log_prior)
    believed[beliefs.rows] = found.probability
    rates = estimated_rates(found.doubt, pairs)
    return Voted(voted.election, believed, log_prior, rates, found.doubt, found.log_evidence)
