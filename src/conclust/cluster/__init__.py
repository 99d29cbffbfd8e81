"""Clusterers for pairwise constraints: one file = one function + one thin estimator."""

from conclust.cluster._constrained_kmeans import ConstrainedKMeans
from conclust.cluster._cop_kmeans import COPKMeans

__all__ = ["COPKMeans", "ConstrainedKMeans"]
