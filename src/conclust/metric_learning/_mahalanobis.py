"""What every learned linear metric can do with rows."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from conclust._validation import check_new_rows


class MahalanobisMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """`transform` and distances from `components_`: ‖L(x − y)‖, the metric being LᵀL.

    Euclidean distances between transformed rows are the learned ones, so any clusterer can follow.
    """

    components_: np.ndarray

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    @property
    def mahalanobis_matrix_(self) -> np.ndarray:
        """The metric A of d²(x, y) = (x − y)ᵀ A (x − y), of shape (n_features, n_features)."""
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def transform(self, X: Any) -> np.ndarray:
        """Map rows to where Euclidean distances are the learned ones.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The rows in the space learned.
        """
        check_is_fitted(self)
        return self._map(check_new_rows(self, X, dtype=[np.float64, np.float32]))

    def _map(self, rows: Any) -> Any:
        return rows @ self.components_.T.astype(rows.dtype)

    def pairwise(self, X: Any, Y: Any = None) -> np.ndarray:
        """Learned distances between rows, for ``metric="precomputed"``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Y : {array-like, sparse matrix} of shape (n_other, n_features), default=None
            X itself by default.

        Returns
        -------
        ndarray of shape (n_samples, n_other)
            Distances.
        """
        return euclidean_distances(self.transform(X), None if Y is None else self.transform(Y))

    def score_pairs(self, pairs: Any) -> np.ndarray:
        """Learned distance of the two rows of each pair; the smaller, the more alike.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features)
            For pairs of positions: ``X[constraints.must_link]``.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Distance of each pair.
        """
        first, second = rows_of_pairs(self, pairs)
        # The difference is mapped, not the rows: near pairs far from the origin keep their digits.
        return np.linalg.norm(self._map(first - second), axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes.sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def rows_of_pairs(estimator: Any, pairs: Any) -> tuple[np.ndarray, np.ndarray]:
    """Check `pairs` of shape (n_pairs, 2, n_features); return their first and second rows."""
    check_is_fitted(estimator)
    shape = np.shape(pairs)
    if len(shape) != 3 or shape[1:] != (2, estimator.n_features_in_):
        raise ValueError(
            f"pairs has shape {shape}; expected (n_pairs, 2, {estimator.n_features_in_}), the two "
            "rows of each pair. For pairs of positions (m, 2) pass X[pairs]."
        )
    pairs = check_array(pairs, allow_nd=True, dtype=[np.float64, np.float32], ensure_min_samples=0)
    return pairs[:, 0], pairs[:, 1]


def rowwise_difference(X: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """X[a] − X[b] as a dense float64 array."""
    difference = X[a] - X[b]
    if hasattr(difference, "toarray"):
        difference = difference.toarray()
    return np.ascontiguousarray(difference, dtype=np.float64)
