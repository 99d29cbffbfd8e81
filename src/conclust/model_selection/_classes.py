"""What labels known of some rows say, beyond the pairs they make.

Pairs about rows of few known labels are statements like others. Of many labels they say too
little, and too much. A mixture has no ellipsoid for a class of odd shape, and doubts what it cannot
show: so the rows of known classes vote as well, near ones most, each known row being asked of all
others; and labels they were not told decide between these votes and the clustering. And a wrong
label is wrong in all the pairs it makes, which seem to be so many witnesses: here it is one.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from conclust._arrays import FloatArray, IntArray
from conclust._pairs import SignedPairs
from conclust.cluster import normalize
from conclust.model_selection._consensus import with_floor
from conclust.model_selection._stack import (
    RATES,
    VOTES,
    WORTH,
    log_likelihoods,
    scales_of,
    sureness,
)
from conclust.model_selection._votes import View, Votes, elect

# How far a row of a known class is heard: the median distance, or a half, a quarter of it.
NARROWER = (1.0, 4.0, 16.0)
# Known rows that vote, where there are more.
MAX_VOTING = 3_000
# By how much surer or less sure of themselves the clustering and the votes together may be.
SHARPNESS = (0.5, 1.0, 2.0, 4.0, 8.0)


class ByClass(NamedTuple):
    """Votes of the rows whose class is known, and their part in what is said of rows."""

    weight: float
    votes: Votes
    clusters: IntArray  # (n_clusters,) which of the votes' columns is each cluster's
    sharpness: float

    def mixed(self, prior: FloatArray, X: FloatArray) -> FloatArray:
        """What the clustering says of new rows, together with the votes."""
        votes = np.exp(self.votes.log_prior(X)[:, self.clusters])
        return sharpened((1 - self.weight) * prior + self.weight * votes, self.sharpness)

    def renumbered(self, number: IntArray) -> "ByClass":
        """The same with cluster c called ``number[c]``."""
        return self._replace(clusters=self.clusters[np.argsort(number)])


class Heeded(NamedTuple):
    """What the clustering, the votes and the labels say together."""

    by_class: ByClass
    prior: FloatArray  # (n_samples, n_clusters) known rows: not by their own label
    believed: FloatArray  # (n_samples, n_clusters) by their own label as well
    wrong: float  # the likeliest share of wrong labels


def heed(X: FloatArray, prior: FloatArray, number: IntArray, seed: int) -> Heeded:
    """Let rows whose class is known vote, by how well they know the labels of one another.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    prior : ndarray of shape (n_samples, n_clusters)
        What the clustering says of the rows. It was told the labels, so that it is judged rather
        too well.
    number : ndarray of shape (n_samples,)
        Cluster of the row's class, -1 where it is not known. Every cluster has known rows.
    seed : int

    Returns
    -------
    Heeded
    """
    known, n_clusters = np.flatnonzero(number >= 0), prior.shape[1]
    voting = known
    if len(known) > MAX_VOTING:
        drawn = np.random.RandomState(seed).permutation(len(known))[:MAX_VOTING]
        voting = known[np.sort(drawn)]
    views = [View(X[voting], scale, seed, by) for scale in scales_of(X[voting]) for by in NARROWER]
    election = elect(views, np.eye(n_clusters)[number[voting]])
    votes = Votes(election)
    said = votes.log_prior(X)
    said[voting] = election.log_prior
    said = np.exp(said)

    def score(probability: FloatArray) -> float:
        return float(label_scores(probability[known], number[known]).max())

    better = score(said) - score(prior)
    weight = float(expit(sureness(len(known)) * better + np.log(WORTH[VOTES])))
    mean = (1 - weight) * prior + weight * said
    sharpness = max(SHARPNESS, key=lambda by: score(sharpened(mean, by)))
    mean = sharpened(mean, sharpness)
    wrong = float(RATES[label_scores(mean[known], number[known]).argmax()])
    believed = mean.copy()
    believed[known] *= wrong / max(n_clusters - 1, 1)
    believed[known, number[known]] = mean[known, number[known]] * (1 - wrong)
    believed[known] /= believed[known].sum(axis=1, keepdims=True)
    return Heeded(ByClass(weight, votes, np.arange(n_clusters), sharpness), mean, believed, wrong)


def sharpened(probability: FloatArray, by: float) -> FloatArray:
    """Probabilities raised to a power, none of them zero."""
    return with_floor(normalize(by * np.log(probability))[1])


def label_scores(probability: FloatArray, number: IntArray) -> FloatArray:
    """Mean log-likelihood of labels at each of `RATES`; a wrong one is any other class alike."""
    right = probability[np.arange(len(number)), number]
    others = (1 - right) / max(probability.shape[1] - 1, 1)
    return log_likelihoods(right, others)


def doubt_of(pairs: SignedPairs, probability: FloatArray) -> FloatArray:
    """Probability that each statement is wrong, its rows being where they are by themselves."""
    a, b = pairs.pairs.T
    same = np.einsum("ij,ij->i", probability[a], probability[b])
    return np.where(pairs.sign > 0, 1 - same, same)
