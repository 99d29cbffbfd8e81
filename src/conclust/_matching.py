"""Two clusterings of the same rows, cluster for cluster."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from conclust._arrays import IntArray, brought_here


def match_labels(labels: Any, reference: Any) -> npt.NDArray[Any]:
    """Give clusters the numbers they had in an earlier clustering, by overlap.

    Parameters
    ----------
    labels : array-like of int, shape (n_samples,)
        -1 for rows in no cluster, which stays.
    reference : array-like of int, shape (n_reference,)
        Labels of the first `n_reference` ≤ `n_samples` of the rows.

    Returns
    -------
    ndarray of shape (n_samples,)
        The same clusters. Those matched, so that most rows keep their number, have the numbers of
        `reference`; clusters that share no row with what is left have the next higher numbers.

    See Also
    --------
    COPKMeans.update : Goes on from a clustering, whose numbers stay.

    Examples
    --------
    >>> from conclust import match_labels
    >>> match_labels([1, 1, 0, 0, 2, -1], [0, 0, 0, 7, 7])
    array([ 0,  0,  7,  7,  8, -1])
    """
    labels, reference = _as_labels(labels, "labels"), _as_labels(reference, "reference")
    if len(reference) > len(labels):
        raise ValueError(
            f"reference has {len(reference)} entries and labels {len(labels)}; reference labels "
            "the first rows of labels, so it cannot be longer."
        )
    clusters, code = np.unique(labels[labels >= 0], return_inverse=True)
    numbers, before = np.unique(reference[reference >= 0], return_inverse=True)
    codes, codes_before = np.full(len(labels), -1), np.full(len(reference), -1)
    codes[labels >= 0], codes_before[reference >= 0] = code, before
    to, of = pairs_by_overlap(codes[: len(reference)], codes_before, len(clusters), len(numbers))
    found = np.full(len(clusters), -1, dtype=labels.dtype)
    found[to] = numbers[of]
    new = found < 0
    found[new] = np.arange(new.sum()) + (numbers[-1] + 1 if len(numbers) else 0)
    matched = labels.copy()
    matched[labels >= 0] = found[code]
    return matched


def pairs_by_overlap(
    labels: IntArray, reference: IntArray, n_clusters: int, n_reference: int
) -> tuple[IntArray, IntArray]:
    """Clusters and their partners, so that most rows lie in both; -1 counts for nothing."""
    both = (labels >= 0) & (reference >= 0)
    overlap = np.zeros((n_clusters, n_reference), dtype=np.int64)
    np.add.at(overlap, (labels[both], reference[both]), 1)
    clusters, partners = linear_sum_assignment(overlap, maximize=True)
    real = overlap[clusters, partners] > 0
    return clusters[real], partners[real]


def renumbering(labels: IntArray, reference: IntArray, n_clusters: int) -> IntArray:
    """The new number of each cluster: that of its partner, else its own or one that is free.

    Parameters
    ----------
    labels, reference : ndarray of shape (n_samples,)
        Both of numbers below `n_clusters`, or -1.
    n_clusters : int

    Returns
    -------
    ndarray of shape (n_clusters,)
        A permutation.
    """
    number = np.full(n_clusters, -1, dtype=np.int64)
    clusters, partners = pairs_by_overlap(labels, reference, n_clusters, n_clusters)
    number[clusters] = partners
    own = np.setdiff1d(np.flatnonzero(number < 0), partners)
    number[own] = own
    number[number < 0] = np.setdiff1d(np.arange(n_clusters), number)
    return number


def _as_labels(values: Any, name: str) -> npt.NDArray[Any]:
    labels = np.asarray(brought_here(values))
    if labels.ndim != 1 or (len(labels) and labels.dtype.kind not in "iu"):
        raise ValueError(
            f"{name} must be one whole number per row, -1 for rows in no cluster; got shape "
            f"{labels.shape} and dtype {labels.dtype}."
        )
    return labels.astype(np.int64) if labels.dtype.kind != "i" else labels
