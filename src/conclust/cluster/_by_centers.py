"""What every clusterer with centres can do with new rows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.metrics import euclidean_distances, pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from conclust._arrays import Labels, in_parts, labels_of
from conclust._lloyd.sweep import swept
from conclust._summaries import Shown
from conclust._validation import check_new_rows, weights_of_rows


def nearest_of(rows: Any, centers: np.ndarray) -> np.ndarray:
    """Nearest centre of each row, (n_samples,) int32."""
    return pairwise_distances_argmin(rows, centers).astype(np.int32)


class CentersMixin(
    Shown, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """`predict`, `transform` and `score` from `cluster_centers_`, as in scikit-learn's KMeans.

    Constraints are statements about the rows of `fit`; new rows go to the nearest centre.
    """

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[0]

    def predict(self, X: Any) -> Any:
        """Nearest centre of each row; constraints are not applied again.

        Parameters
        ----------
        X : {array-like, sparse matrix, Blocks, collection} of shape (n_samples, n_features)
            Collection: a dask array or data frame, a Ray dataset.

        Returns
        -------
        ndarray of shape (n_samples,), int32
            The cluster of each row. Of a collection, one of the same engine that is not computed
            yet: a dask array, a Ray dataset with the column ``label``.
        """
        X = self._check_new_rows(X)
        if hasattr(X, "nearest"):  # on its device
            return X.nearest(self.cluster_centers_)
        return labels_of(X, partial(nearest_of, centers=self.cluster_centers_))

    def transform(self, X: Any) -> np.ndarray:
        """Distances of each row to each centre.

        Parameters
        ----------
        X : {array-like, sparse matrix, Blocks} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Distance of each row to each centre.
        """
        X = self._check_new_rows(X)
        parts = [euclidean_distances(rows, self.cluster_centers_) for _, rows in in_parts(X)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the summed squared distances to the nearest centres.

        Parameters
        ----------
        X : {array-like, sparse matrix, Blocks} of shape (n_samples, n_features)
        y : ignored
            Here because scikit-learn's API asks for it.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; None for 1 each.

        Returns
        -------
        float
            The higher, the better the rows fit.
        """
        X = self._check_new_rows(X)
        weight = weights_of_rows(sample_weight, X)
        total = 0.0
        for start, rows in in_parts(X):
            nearest = euclidean_distances(rows, self.cluster_centers_, squared=True).min(axis=1)
            total += float(np.dot(nearest, weight[start : start + len(nearest)]))
        return -total

    @property
    def _label(self) -> Callable[[Any], Labels]:
        # Twice as fast as `nearest_of`; where they differ by rounding, it is what the fit has used.
        return partial(swept, centers=self.cluster_centers_)

    def _check_new_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_new_rows(self, X, dtype=self.cluster_centers_.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes.sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
