"""Rows that belong nowhere: which ones are set aside, and how many there seem to be."""

from collections.abc import Callable
from numbers import Real
from typing import Any, Generic, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from conclust._arrays import FloatArray, IntArray
from conclust._lloyd.improve import RunT
from conclust._lloyd.rows import Rows
from conclust._sklearn import Interval, StrOptions

# What the parameter `outliers` may be.
OUTLIERS = [Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"}), None]
# "auto" begins with this share, so that far rows do not draw centres, and never exceeds that one.
FIRST_SHARE, MOST = 0.1, 0.5
# Of the rows set aside, this share may belong after all: the false discovery rate.
FALSE_SHARE = 0.1
# Clusters with fewer rows are compared with the spread of all.
FEW = 20
MAX_ROUNDS = 5
# A normal spread in median absolute deviations.
PER_DEVIATION = 1.4826


class Trimming:
    """Which rows are set aside: the farthest from every centre, must-linked rows whole or not.

    Parameters
    ----------
    share : float
        Of the weight of all rows, at most.
    unit : ndarray of shape (n_samples,), int64
        What is set aside as one.
    weight : ndarray of shape (n_samples,)
    """

    def __init__(self, share: float, unit: IntArray, weight: np.ndarray):
        self.unit, self.weight = unit, weight.astype(np.float64)
        self.mass = np.bincount(unit, self.weight)
        self.most = share * float(self.weight.sum()) * (1 + 1e-12)

    def __call__(self, squared: np.ndarray) -> npt.NDArray[np.bool_]:
        """(n_samples,) which rows; `squared` are their distances to the nearest centres.

        By falling mean over the rows of a unit, as long as the weight suffices; a unit too heavy
        for what is left is passed over.
        """
        total = np.bincount(self.unit, self.weight * squared)
        mean = total / np.where(self.mass > 0, self.mass, np.inf)
        order = np.argsort(-mean, kind="stable")
        order = order[mean[order] > 0]
        aside = np.zeros(len(mean), dtype=bool)
        left = self.most
        while len(order):
            n_fitting = int(np.searchsorted(np.cumsum(self.mass[order]), left, side="right"))
            aside[order[:n_fitting]] = True
            left -= float(self.mass[order[:n_fitting]].sum())
            order = order[n_fitting + 1 :]
            order = order[self.mass[order] <= left]
        return aside[self.unit]


class Trimmed(NamedTuple, Generic[RunT]):
    """A run, and the rows that seem to belong nowhere."""

    run: RunT
    far: npt.NDArray[np.bool_] | None  # (n_samples,), where they are looked for


def best_trimmed(
    best_run: Callable[..., Trimmed[RunT]], outliers: Any, weight: np.ndarray | None
) -> tuple[RunT, float]:
    """Run with the share that `outliers` asks for; "auto" finds it.

    Parameters
    ----------
    best_run : callable
        ``best_run(share)`` from all starts, ``best_run(share, centers)`` from these alone.
    outliers : float, "auto" or None
    weight : ndarray of shape (n_samples,) or None

    Returns
    -------
    run : Run
    share : float
        Set aside in the end.
    """
    share = first_share(outliers)
    run, far = best_run(share)
    for _ in range(MAX_ROUNDS):
        last = share
        share = min(_share(far, weight), MOST) if far is not None else last
        if share == last or not last:
            break
        run, far = best_run(share, run.centers if share else None)
    return run, _share(run.labels < 0, weight)


def first_share(outliers: Any) -> float:
    """The share to begin with."""
    return FIRST_SHARE if isinstance(outliers, str) else float(outliers or 0.0)


def _share(rows: npt.NDArray[np.bool_], weight: np.ndarray | None) -> float:
    return float(np.average(rows, weights=weight))


def init_of_start(init: Any, number: int, share: float) -> Any:
    """Where a start draws its centres: k-means++ loves far rows, every second one does without."""
    return "random" if share and number % 2 and isinstance(init, str) else init


def far_rows(rows: Rows, centers: np.ndarray) -> npt.NDArray[np.bool_]:
    """(n_samples,) which rows lie too far from every centre; the labels of `rows` are lost."""
    rows.forget()
    rows.sweep(centers)
    return surplus(rows.distances_to_own(centers), rows.labels)


def surplus(squared: np.ndarray, labels: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """(n_samples,) which rows lie farther out than rows of their cluster do.

    Parameters
    ----------
    squared : ndarray of shape (n_samples,)
        Squared distances to the nearest centres.
    labels : ndarray of shape (n_samples,)
        The clusters of these.

    Notes
    -----
    The cube root of a sum of squared normal variables is normal but for little (Wilson and
    Hilferty), however many there are: so are the cube roots of squared distances in a cluster. Rows
    are measured by the median and the median absolute deviation of theirs, which a few strays do
    not move, and those set aside that Benjamini and Hochberg's procedure picks from the upper
    tails: a share of `FALSE_SHARE` of them is expected to belong after all.
    """
    roots = np.cbrt(squared.astype(np.float64))
    center, spread = _spread(roots)
    # Distances of small clusters are brought to the scale of all.
    z = (roots - center) / spread
    for cluster in range(int(labels.max(initial=-1)) + 1):
        inside = labels == cluster
        if inside.sum() >= FEW:
            center, spread = _spread(roots[inside])
            z[inside] = (roots[inside] - center) / spread
    return _discoveries(norm.sf(z), FALSE_SHARE)


def _spread(values: FloatArray) -> tuple[float, float]:
    center = float(np.median(values))
    return center, PER_DEVIATION * float(np.median(np.abs(values - center))) or np.inf


def _discoveries(p: FloatArray, rate: float) -> npt.NDArray[np.bool_]:
    """Benjamini and Hochberg: all up to the largest p(i) ≤ rate · i / n."""
    ranked = np.sort(p)
    below = np.flatnonzero(ranked <= rate * np.arange(1, len(p) + 1) / len(p))
    return p <= ranked[below[-1]] if len(below) else np.zeros(len(p), dtype=bool)
