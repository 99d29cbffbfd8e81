"""MPCKMeans in stages: metrics, the problem posed, a step of the metrics, the algorithm."""

from conclust.cluster._mpckmeans._mpckmeans import MPCKMeans

__all__ = ["MPCKMeans"]
