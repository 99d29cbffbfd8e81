"""Rounds of a weak learner, a co-association that is never built, a consensus."""

from conclust.ensemble._boost_cluster import BoostCluster
from conclust.ensemble._boosted import BoostedConstrainedKMeans
from conclust.ensemble._co_training import CoTraining
from conclust.ensemble._consensus import CoAssociation, consensus
from conclust.ensemble._random_orders import ConstrainedKMeansEnsemble
from conclust.ensemble._trust import TrustEnsemble

__all__ = [
    "BoostCluster",
    "BoostedConstrainedKMeans",
    "CoAssociation",
    "CoTraining",
    "ConstrainedKMeansEnsemble",
    "TrustEnsemble",
    "consensus",
]
