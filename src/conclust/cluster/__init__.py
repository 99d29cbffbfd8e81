"""Clusterers for must-links and cannot-links.

One file = one function + one thin estimator. Functions that are not in `__all__` are for packages
that build on them, as the ensembles do: arrays in, a result out, nothing checked.
"""

from conclust.cluster._certain_mixture import constrained_gaussian_mixture
from conclust.cluster._constrained_kmeans import (
    ConstrainedKMeans,
    ConstrainedLloyd,
    constrained_kmeans,
)
from conclust.cluster._cop_kmeans import COPKMeans
from conclust.cluster._directions import (
    average_linkage_cuts,
    average_linkage_start,
    few_features,
    leaves_of,
    sums_of,
    unit_rows,
)
from conclust.cluster._doubting_mixture import (
    FIRST_RATE,
    Doubted,
    Scatter,
    doubting_mixture,
    estimated_rates,
    rates_of_shares,
    softened,
    tally,
    wrong_shares,
)
from conclust.cluster._gaussian_mixture import ConstrainedGaussianMixture, rates_of
from conclust.cluster._generalized_kmeans import GeneralizedKMeans
from conclust.cluster._kernel_kmeans import SemiSupervisedKernelKMeans
from conclust.cluster._mini_batch_kmeans import MiniBatchConstrainedKMeans
from conclust.cluster._mixture import Mixture, blocks_of, log_joint, log_shares, normalize
from conclust.cluster._mpckmeans import MPCKMeans
from conclust.cluster._pckmeans import PCKMeans, pckmeans
from conclust.cluster._penalty import MULTIPLES, price_by_regret
from conclust.cluster._smooth import smooth_over_neighbors
from conclust.cluster._spectral_learning import SpectralLearning, leading_vectors

__all__ = [
    "COPKMeans",
    "ConstrainedGaussianMixture",
    "ConstrainedKMeans",
    "GeneralizedKMeans",
    "MPCKMeans",
    "MiniBatchConstrainedKMeans",
    "PCKMeans",
    "SemiSupervisedKernelKMeans",
    "SpectralLearning",
    "average_linkage_start",
    "smooth_over_neighbors",
]
