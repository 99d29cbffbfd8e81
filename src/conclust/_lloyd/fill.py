"""What becomes of empty clusters where only distances to the means are known, or sizes are bound.

`NearestCenters.means` follows scikit-learn and changes the sums, not the labels; the soft methods
choose the row whose move saves most, statements included (`best_to_move`).
"""

from collections.abc import Callable

import numpy as np

from conclust._lloyd.rows import Rows


def fill_empty(
    labels: np.ndarray, n_clusters: int, distances_to_own: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Give each empty cluster the row farthest from its own mean, in place.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        A cluster's only row stays. With fewer rows than clusters nothing is done.
    n_clusters : int
    distances_to_own : callable
        Distance of each row to the mean of its cluster, for such labels.
    """
    while len(labels) >= n_clusters:
        sizes = np.bincount(labels, minlength=n_clusters)
        empty = np.flatnonzero(sizes == 0)
        if not len(empty):
            return
        distances = np.where(sizes[labels] == 1, -np.inf, distances_to_own(labels))
        labels[int(distances.argmax())] = empty[0]


def means_and_far_rows(rows: Rows, centers: np.ndarray) -> np.ndarray:
    """Means of the clusters; the centre of an empty one goes to a row far from its own.

    No row leaves its cluster for that, so neither sizes nor the objective suffer: the next
    assignment decides. Rows that belong nowhere, labelled -1, are no place for a centre.
    """
    means = rows.means(centers, refill=False)
    empty = np.setdiff1d(np.arange(len(means)), rows.labels)
    if len(empty):
        distances = np.where(rows.labels >= 0, rows.distances_to_own(means), -1.0)
        farthest = np.argsort(-distances, kind="stable")[: len(empty)]
        for cluster, row in zip(empty, farthest[distances[farthest] > 0], strict=False):
            means[cluster] = rows.row(int(row))
    return means
