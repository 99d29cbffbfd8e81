"""Metrics learned from statements, to put before any clusterer."""

from conclust.metric_learning._dist_boost import DistBoost
from conclust.metric_learning._itml import ITML
from conclust.metric_learning._relative_metric import RelativeMetric

__all__ = ["ITML", "DistBoost", "RelativeMetric"]
