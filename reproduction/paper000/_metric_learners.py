"""The metric learners of paper 000, each followed by k-means."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from conclust import ITML, Constraints, DistBoost


class ThenKMeans:
    """A learned metric, then plain k-means on what it makes of the rows."""

    def __init__(self, learner: Any, k: int, seed: int):
        self.learner, self.k, self.seed = learner, k, seed

    def fit(self, X: np.ndarray, constraints: Constraints) -> "ThenKMeans":
        """Learn, transform, cluster."""
        rows = self.learner.fit(X, constraints=constraints).transform(X)
        means = KMeans(self.k, n_init=10, random_state=self.seed).fit(rows)
        self.labels_ = means.labels_
        return self


# The paper: T = 100 for DistBoost, "default values" else.
METRIC_LEARNERS: dict[str, Callable[[int, int], Any]] = {
    "ITML": lambda k, seed: ThenKMeans(ITML(random_state=seed), k, seed),
    "DBOOST": lambda k, seed: ThenKMeans(
        DistBoost(100, n_components=k, random_state=seed), k, seed
    ),
}
