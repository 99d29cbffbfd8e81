"""Rows as directions: a tree of average linkage, and where a k-means of them may start."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.utils import check_array, check_random_state

from conclust._arrays import FloatArray, IntArray
from conclust._threads import threads_worth
from conclust._validation import check_enough_rows

MAX_FEATURES = 50
# A tree begins with the rows, or with so many small clusters of more rows than the first number.
MAX_LEAVES, N_LEAVES = 3_000, 2_000


def average_linkage_start(X: Any, n_clusters: int, *, random_state: Any = None) -> FloatArray:
    """Centres of the clusters of average linkage, to begin a k-means of embeddings with.

    Classes of texts are of very different sizes; k-means from random rows divides the large ones
    and joins the small ones, and seldom finds back. Average linkage of directions does neither.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Embeddings, tf-idf weights, or what `smooth_over_neighbors` makes of them.
    n_clusters : int
        How many clusters to form.
    random_state : int, RandomState or None, default=None
        Of the small clusters that the tree of more than 3 000 rows begins with.

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        For `init`, of any k-means here or of scikit-learn.

    See Also
    --------
    smooth_over_neighbors : Embeddings in which what is said of a row reaches those near it.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import PCKMeans
    >>> from conclust.cluster import average_linkage_start
    >>> X = np.repeat(np.eye(3), [50, 5, 2], axis=0) + 0.1 * np.arange(57)[:, None] / 57
    >>> start = average_linkage_start(X, 3, random_state=0)
    >>> np.bincount(PCKMeans(3, init=start, n_init=1).fit(X).labels_)
    array([50,  5,  2])
    """
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    check_enough_rows(X.shape[0], n_clusters)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    rows = unit_rows(few_features(X, seed))
    leaf = leaves_of(rows, seed)
    check_enough_rows(int(leaf.max()) + 1, n_clusters)
    labels = average_linkage_cuts(rows, leaf, [n_clusters])[0][leaf]
    return sums_of(X, labels, n_clusters) / np.bincount(labels)[:, None]


def few_features(X: Any, seed: int) -> FloatArray:
    """Dense rows of at most 50 leading components."""
    n = min(MAX_FEATURES, X.shape[0] - 1)
    if X.shape[1] > n >= 1 and X.shape[1] > MAX_FEATURES:
        reduce = TruncatedSVD if sp.issparse(X) else PCA
        X = reduce(n, random_state=seed).fit_transform(X)
    X = X.toarray() if sp.issparse(X) else X
    return np.ascontiguousarray(X, dtype=np.float64)


def unit_rows(X: FloatArray) -> FloatArray:
    """Rows of length one; those of zeros stay."""
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1)


def leaves_of(X: FloatArray, seed: int) -> IntArray:
    """The leaf of each row: itself, or one of many small clusters; a few iterations do."""
    if len(X) <= MAX_LEAVES:
        return np.arange(len(X))
    model = KMeans(N_LEAVES, init="random", n_init=1, max_iter=5, random_state=seed)
    with warnings.catch_warnings(), threads_worth(X):
        warnings.simplefilter("ignore")  # not converged
        return np.unique(model.fit(X).labels_, return_inverse=True)[1]


def average_linkage_cuts(X: FloatArray, leaf: IntArray, cuts: list[int]) -> list[IntArray]:
    """Merge leaves by the largest mean cosine between their rows; the cluster of each at each cut.

    For unit rows the mean of all cosines between two clusters is the product of their mean rows,
    so that average linkage needs neither the rows nor their distances.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows of unit length.
    leaf : ndarray of shape (n_samples,)
        The leaf of each row, 0 to n_leaves - 1, none empty.
    cuts : list of int
        Numbers of clusters, rising.

    Returns
    -------
    list of ndarray of shape (n_leaves,)
        Clusters 0, 1, … of the leaves, one array for each cut.
    """
    n_leaves = int(leaf.max()) + 1
    size = np.bincount(leaf).astype(np.float64)
    mean = sums_of(X, leaf, n_leaves) / size[:, None]
    cosine = mean @ mean.T
    np.fill_diagonal(cosine, -np.inf)
    best = cosine.argmax(axis=1)
    highest = cosine[np.arange(n_leaves), best]
    cluster = np.arange(n_leaves)
    found = {}
    for n_left in range(n_leaves, cuts[0] - 1, -1):
        if n_left in cuts:
            found[n_left] = np.unique(cluster, return_inverse=True)[1]
        if n_left == cuts[0]:
            break
        i = int(highest.argmax())
        j = int(best[i])
        row = (size[i] * cosine[i] + size[j] * cosine[j]) / (size[i] + size[j])
        row[[i, j]] = -np.inf
        cosine[i], cosine[:, i], cosine[j], cosine[:, j] = row, row, -np.inf, -np.inf
        size[i] += size[j]
        cluster[cluster == j] = i
        highest[j] = -np.inf
        for other in np.flatnonzero(((best == i) | (best == j)) & (highest > -np.inf)):
            best[other] = cosine[other].argmax()
            highest[other] = cosine[other, best[other]]
        closer = row > highest
        best[closer], highest[closer] = i, row[closer]
        best[i] = row.argmax()
        highest[i] = row[best[i]]
    return [found[n] for n in cuts]


def sums_of(X: Any, labels: IntArray, n_clusters: int) -> FloatArray:
    """The sum of the rows of each cluster."""
    members = sp.csr_array(
        (np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(n_clusters, len(labels))
    )
    sums = members @ X
    return sums.toarray() if sp.issparse(sums) else sums
