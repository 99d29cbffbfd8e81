"""Clusterers for pairwise constraints: one file = one function + one thin estimator.

The functions are for those who build on them, as the ensembles do: arrays in, a result out, nothing
checked.
"""

from conclust.cluster._certain_mixture import constrained_gaussian_mixture
from conclust.cluster._constrained_kmeans import (
    ConstrainedKMeans,
    ConstrainedLloyd,
    constrained_kmeans,
)
from conclust.cluster._cop_kmeans import COPKMeans, cop_kmeans
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
    "FIRST_RATE",
    "MULTIPLES",
    "COPKMeans",
    "ConstrainedGaussianMixture",
    "ConstrainedKMeans",
    "ConstrainedLloyd",
    "Doubted",
    "GeneralizedKMeans",
    "MPCKMeans",
    "MiniBatchConstrainedKMeans",
    "Mixture",
    "PCKMeans",
    "Scatter",
    "SemiSupervisedKernelKMeans",
    "SpectralLearning",
    "average_linkage_cuts",
    "average_linkage_start",
    "blocks_of",
    "constrained_gaussian_mixture",
    "constrained_kmeans",
    "cop_kmeans",
    "doubting_mixture",
    "estimated_rates",
    "few_features",
    "leading_vectors",
    "leaves_of",
    "log_joint",
    "log_shares",
    "normalize",
    "pckmeans",
    "price_by_regret",
    "rates_of",
    "rates_of_shares",
    "smooth_over_neighbors",
    "softened",
    "sums_of",
    "tally",
    "unit_rows",
    "wrong_shares",
]
