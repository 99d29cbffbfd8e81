"""Single link cut into k clusters that count, as CLUTO's partitional version must be read."""

import heapq
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import linkage
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import pairwise_distances_argmin


class PartitionalSingleLink(ClusterMixin, BaseEstimator):
    """Undo single-link merges from the top until k branches of some size are left.

    A branch with fewer than n / (10 k) rows is set aside; its rows join the cluster of the nearest
    row. Cutting the last k − 1 merges instead gives singletons on almost any data.

    Parameters
    ----------
    n_clusters : int, default=2
    """

    def __init__(self, n_clusters: int = 2):
        self.n_clusters = n_clusters

    def fit(self, X: Any, y: Any = None) -> "PartitionalSingleLink":
        """Cluster the rows of X."""
        X = np.asarray(X)
        n = len(X)
        tree = linkage(X, "single")
        size = np.r_[np.ones(n), tree[:, 3]]
        least = n / (10 * self.n_clusters)
        # Branches by falling height; leaves have none to undo.
        heap, done = [(-tree[-1, 2], 2 * n - 2)], []
        while heap and len(heap) + len(done) < self.n_clusters:
            _, node = heapq.heappop(heap)
            children = tree[node - n, :2].astype(int)
            large = [child for child in children if size[child] >= least]
            if not large:
                done.append(node)  # would fall apart into crumbs: stays whole
            for child in large:
                heapq.heappush(heap, (-tree[child - n, 2] if child >= n else 0.0, child))
            if all(node < n for _, node in heap):
                break
        labels = np.full(n, -1)
        for cluster, node in enumerate(sorted(done + [node for _, node in heap])):
            labels[_leaves(tree, node, n)] = cluster
        aside = labels < 0
        if aside.any():
            labels[aside] = labels[~aside][pairwise_distances_argmin(X[aside], X[~aside])]
        self.labels_ = labels
        return self


def _leaves(tree: np.ndarray, node: int, n: int) -> list[int]:
    found, stack = [], [node]
    while stack:
        node = stack.pop()
        if node < n:
            found.append(node)
        else:
            stack.extend(tree[node - n, :2].astype(int))
    return found
