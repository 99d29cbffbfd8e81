"""Metrics learned from statements, to put before any clusterer."""

from conclust.metric_learning._itml import ITML

__all__ = ["ITML"]
