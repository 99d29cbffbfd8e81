"""Scores over pairs of samples, from the contingency table."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_consistent_length, column_or_1d

# Up to this many cells (32 MB) the table is counted densely, which is the fast way for labels
# that are small integers; beyond it the cells that occur are sorted out.
MAX_DENSE_CELLS = 1 << 22


def pairwise_f1(labels_true: Any, labels_pred: Any) -> float:
    """F-measure of "these two belong together" over all pairs of samples.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Two partitions; the names of the labels do not matter.

    Returns
    -------
    float
        2 P R / (P + R), where precision P is the share of pairs together in `labels_pred` that
        are together in `labels_true`, and recall R the reverse. 1.0 when neither partition puts
        any pair together.

    See Also
    --------
    sklearn.metrics.adjusted_rand_score : Pairs counted against chance.

    Notes
    -----
    Computed from the contingency table in O(n); no pairs are listed.

    References
    ----------
    Y. Liu, R. Jin and A. K. Jain (2007). BoostCluster. KDD, 450-459. E. Y. Liu, Z. Zhang and
    W. Wang (2011). Clustering with relative constraints. KDD, 947-955.

    Examples
    --------
    >>> from conclust.metrics import pairwise_f1
    >>> pairwise_f1([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> pairwise_f1([0, 0, 1, 1], [0, 0, 0, 0])
    0.5
    """
    labels_true, labels_pred = column_or_1d(labels_true), column_or_1d(labels_pred)
    check_consistent_length(labels_true, labels_pred)
    true, n_true = _codes(labels_true)
    pred, n_pred = _codes(labels_pred)
    both = true * n_pred + pred
    cells = (
        np.bincount(both, minlength=1)
        if n_true * n_pred <= MAX_DENSE_CELLS
        else np.unique(both, return_counts=True)[1]
    )
    together = _n_pairs(cells)
    in_either = _n_pairs(np.bincount(true)) + _n_pairs(np.bincount(pred))
    # P = together / pred pairs and R = together / true pairs, so F = 2 together / (true + pred).
    return 2.0 * together / in_either if in_either else 1.0


def _codes(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], int]:
    """Labels as integers from 0; small non-negative integers are used as they are."""
    if labels.dtype.kind in "iu" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < max(1024, len(labels)):
            return labels.astype(np.int64) - low, high - low + 1
    names, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), len(names)


def _n_pairs(counts: npt.NDArray[Any]) -> int:
    counts = counts.astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())
