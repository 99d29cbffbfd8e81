"""Which of some rows are typical of them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from conclust._arrays import IntArray


def outwards(points: Any) -> IntArray:
    """Positions of the points, from the one nearest to their mean to the farthest."""
    return np.argsort(_squared_to_mean(points), kind="stable")


def middle_to_edge(points: Any, n: int) -> IntArray:
    """Positions of n points, evenly from the nearest to the mean to the farthest.

    Those in the middle alone would say nothing of the rows that are first to leave.
    """
    if n >= points.shape[0]:
        return np.arange(points.shape[0])
    return outwards(points)[np.linspace(0, points.shape[0] - 1, n).astype(np.int64)]


def _squared_to_mean(points: Any) -> npt.NDArray[Any]:
    """Squared distances to the mean of the points, but for a constant."""
    mean = np.asarray(points.mean(axis=0)).ravel()
    if not sp.issparse(points):
        squared: npt.NDArray[Any] = ((points - mean) ** 2).sum(axis=1)
        return squared
    squared = np.asarray(points.multiply(points).sum(axis=1)).ravel()
    return squared - 2 * np.asarray(points @ mean).ravel()
