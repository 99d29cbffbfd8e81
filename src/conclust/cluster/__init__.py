"""Clusterers for pairwise constraints: one file = one function + one thin estimator."""

from conclust.cluster._constrained_kmeans import ConstrainedKMeans
from conclust.cluster._cop_kmeans import COPKMeans
from conclust.cluster._gaussian_mixture import ConstrainedGaussianMixture
from conclust.cluster._generalized_kmeans import GeneralizedKMeans
from conclust.cluster._mpckmeans import MPCKMeans
from conclust.cluster._pckmeans import PCKMeans

__all__ = [
    "COPKMeans",
    "ConstrainedGaussianMixture",
    "ConstrainedKMeans",
    "GeneralizedKMeans",
    "MPCKMeans",
    "PCKMeans",
]
