"""The clustering that a strategy makes itself, in the place of an estimator."""

from typing import Any

from sklearn.metrics import pairwise_distances_argmin

from conclust._arrays import IntArray
from conclust.active.strategies import Strategy
from conclust.exceptions import SessionError

OWN = "strategy"


class OwnClustering:
    """Rows and their labels; new rows are as the nearest of these.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
    """

    def __init__(self, X: Any, labels: IntArray):
        self.X, self.labels_ = X, labels

    def predict(self, X: Any) -> IntArray:
        """(n_samples,) labels of new rows."""
        labels: IntArray = self.labels_[pairwise_distances_argmin(X, self.X)]
        return labels


def check_estimator(estimator: Any, strategy: Strategy) -> None:
    """A word for an estimator is "strategy", and then the strategy has a clustering."""
    if not isinstance(estimator, str):
        return
    if estimator != OWN:
        raise SessionError(
            f"estimator={estimator!r} is no clusterer; give one, None (AutoCluster), or "
            f"{OWN!r}: the clustering that the strategy makes itself."
        )
    if not hasattr(strategy, "labels"):
        raise SessionError(
            f"estimator={OWN!r}: {type(strategy).__name__} makes no clustering of its own; "
            "strategy='cobras' and 'piles' do."
        )
