"""What becomes of empty clusters where only distances to the means are known.

`NearestCenters.means` follows scikit-learn and changes the sums, not the labels; the soft methods
choose the row whose move saves most, statements included (`best_to_move`). Neither is this rule.
"""

from collections.abc import Callable

import numpy as np


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
