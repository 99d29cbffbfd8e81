"""What several clusterings say of rows, taken together, as one.

Each numbers its clusters in its own way, and cuts the rows where others do not. A first mean
matches clusters one to one. Its clusters are then described by what every member says of their
rows, the *profile*; and a row is of the cluster whose profile is nearest to what is said of itself,
which is one step of k-means on all that members say (kernel k-means of their co-association).
Members whose clusters match no other's still tell which rows are alike.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax

from conclust._arrays import FloatArray, IntArray
from conclust._placement.belief import Rates
from conclust.cluster import blocks_of, normalize

# Shares of clusters, (n_samples, n_clusters); there may be many members.
Said = npt.NDArray[np.float32]
# No cluster is impossible for a row, however sure the members are.
FLOOR = 1e-3
# Members with less than this say nothing that could be seen in the average.
LEAST_WEIGHT = 1e-6
# Rows by which sharpness is found, the range it is looked for in, and how closely.
ROWS_SHARP, SHARPNESS, SHARP_STEPS = 2_000, (0.1, 1e3), 30


class Voice(Protocol):
    """What says something of rows."""

    def log_prior(self, X: FloatArray) -> FloatArray:
        """Log probabilities of clusters, up to a constant of each row."""


class Heard(NamedTuple):
    """What one member says of the rows of the fit."""

    weight: float
    voice: Voice
    responsibilities: FloatArray  # (n_samples, n_clusters) statements heard
    log_prior: FloatArray  # (n_samples, n_clusters) by the rows alone
    rates: Rates


class Part(NamedTuple):
    """A member's part in the consensus, for new rows."""

    weight: float
    profile: FloatArray  # (n_own, n_clusters) mean of its shares over the rows of each cluster
    voice: Voice


class Consensus(NamedTuple):
    """How to make one of what members say of rows."""

    parts: list[Part]
    offset: FloatArray  # (n_clusters,) −½ squared length of the profiles
    sharpness: float

    def prior(self, X: FloatArray) -> FloatArray:
        """(n_samples, n_clusters) probabilities by the rows alone, no cluster impossible."""
        total = np.tile(self.offset, (len(X), 1))
        for part in self.parts:
            total += part.weight * normalize(part.voice.log_prior(X))[1] @ part.profile
        return shares(total, self.sharpness)

    def renumbered(self, number: IntArray) -> "Consensus":
        """The same with cluster c called ``number[c]``."""
        order = np.argsort(number)
        parts = [part._replace(profile=part.profile[:, order]) for part in self.parts]
        return self._replace(parts=parts, offset=self.offset[order])


class Averaged(NamedTuple):
    """What members say of the rows of the fit, taken together."""

    prior: FloatArray  # (n_samples, n_clusters) no cluster impossible
    rates: Rates
    consensus: Consensus


def agree(members: Iterable[Heard], best: FloatArray | None = None) -> Averaged:
    """Make one of what members say, taken one by one.

    Parameters
    ----------
    members : iterable of Heard
        Their weights sum to one.
    best : ndarray of shape (n_samples, n_clusters), default=None
        Responsibilities whose clusters those of all are matched with first; by default those of
        the first member.

    Returns
    -------
    Averaged
    """
    mean, rates = np.zeros((0, 0)), np.zeros(2)
    heard: list[tuple[float, Said, Voice]] = []
    for one in members:
        best = one.responsibilities if best is None else best
        rates += one.weight * np.array(one.rates)
        if one.weight > LEAST_WEIGHT:
            said = normalize(one.log_prior)[1].astype(np.float32)
            clusters = linear_sum_assignment(-(one.responsibilities.T @ best))[1]
            mean = mean if heard else np.zeros_like(best)
            mean[:, clusters] += one.weight * said
            heard.append((one.weight, said, one.voice))
        del one  # numbers for each row and cluster, before the next ones are made
    first = mean.argmax(axis=1)
    sizes = np.bincount(first, minlength=mean.shape[1])
    profiles = profiles_of(first, sizes, [said for _, said, _ in heard])
    parts = [Part(w, p, voice) for (w, _, voice), p in zip(heard, profiles, strict=True)]
    offset = -0.5 * sum(part.weight * (part.profile**2).sum(axis=0) for part in parts)
    offset[sizes == 0] = -np.inf  # nothing tells how such a cluster looks
    total = np.tile(offset, (len(mean), 1))
    for part, (_, said, _) in zip(parts, heard, strict=True):
        for rows in blocks_of(len(total)):
            total[rows] += part.weight * said[rows] @ part.profile
    sharpness = sharpness_of(total, mean)
    return Averaged(
        shares(total, sharpness), Rates(*rates.tolist()), Consensus(parts, offset, sharpness)
    )


def profiles_of(labels: IntArray, sizes: IntArray, said: list[Said]) -> list[FloatArray]:
    """What each member says, on average, of the rows of each cluster; zeros where there are none.

    For each member (n_own, n_clusters).
    """
    n_samples, n_clusters = len(labels), len(sizes)
    ones = (np.ones(n_samples), labels, np.arange(n_samples + 1))
    inside = sp.csr_array(ones, shape=(n_samples, n_clusters))
    return [(inside.T @ one).T / np.maximum(sizes, 1) for one in said]


def sharpness_of(total: FloatArray, mean: FloatArray) -> float:
    """The factor that makes the consensus as sure, in the mean, as the mean of the members is."""
    some = np.linspace(0, len(total) - 1, min(len(total), ROWS_SHARP)).astype(np.int64)
    total, wanted = total[some], float(mean[some].max(axis=1).mean())
    low, high = np.log(SHARPNESS)
    for _ in range(SHARP_STEPS):
        middle = (low + high) / 2
        if softmax(np.exp(middle) * total, axis=1).max(axis=1).mean() < wanted:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))


def shares(total: FloatArray, sharpness: float) -> FloatArray:
    """Scores as probabilities, none of them zero."""
    return with_floor(normalize(sharpness * total)[1])


def with_floor(probability: FloatArray) -> FloatArray:
    """The same probabilities, none of them zero; overwrites them."""
    probability *= 1 - FLOOR
    probability += FLOOR / probability.shape[1]
    return probability
