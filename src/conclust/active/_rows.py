"""The rows that questions are about: all of them, or a sample where there are many."""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.neighbors import NearestNeighbors

from conclust._arrays import FloatArray, IntArray
from conclust.constraints import Constraints

# Questions are about at most so many rows; all rows are clustered in the end.
MAX_ROWS_ASKED = 20_000
# More features are brought down to so many.
MAX_FEATURES = 50


class Rows:
    """Rows to ask about, numbered from 0, and what is computed of them once.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
    named : ndarray
        Rows that statements name: these are among the rows asked about.
    seed : int
    """

    def __init__(self, X: Any, named: IntArray, seed: int):
        self.full = X
        self.seed = seed
        self.positions = _positions(X.shape[0], named, seed)
        self._neighbors: IntArray = np.empty((len(self), 0), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def are_all(self) -> bool:
        """Whether every row can be asked about."""
        return len(self) == self.full.shape[0]

    @cached_property
    def X(self) -> FloatArray:  # noqa: N802
        """(n, d) the rows as dense numbers, of at most 50 features."""
        X = self.full if self.are_all else self.full[self.positions]
        n_features = min(MAX_FEATURES, len(self) - 1)
        if X.shape[1] > MAX_FEATURES and n_features >= 1:
            reduce = TruncatedSVD if sp.issparse(X) else PCA
            X = reduce(n_features, random_state=self.seed).fit_transform(X)
        dense: FloatArray = X.toarray() if sp.issparse(X) else X
        return _read_only(np.ascontiguousarray(dense, dtype=np.float64))

    def neighbors(self, n_neighbors: int) -> IntArray:
        """(n, n_neighbors) the nearest other rows of each row, nearest first."""
        n_neighbors = min(n_neighbors, len(self) - 1)
        if n_neighbors > self._neighbors.shape[1]:
            search = NearestNeighbors(n_neighbors=n_neighbors).fit(self.X)
            self._neighbors = _read_only(search.kneighbors(return_distance=False))
        return self._neighbors[:, :n_neighbors]

    def numbered(self, samples: Any) -> IntArray:
        """Positions in the data as numbers here."""
        samples = np.asarray(samples, dtype=np.int64)
        return samples if self.are_all else np.searchsorted(self.positions, samples)

    def renamed(self, constraints: Constraints) -> Constraints:
        """Statements about positions as statements about numbers here."""
        if self.are_all:
            return constraints
        pairs = constraints.pairs()
        must = pairs.sign > 0
        return Constraints(
            self.numbered(pairs.pairs[must]),
            self.numbered(pairs.pairs[~must]),
            self.numbered(constraints.relative),
            must_link_weight=pairs.weight[must],
            cannot_link_weight=pairs.weight[~must],
            relative_weight=constraints.relative_weight,
            n_samples=len(self),
        )


def _positions(n_rows: int, named: IntArray, seed: int) -> IntArray:
    if n_rows <= MAX_ROWS_ASKED:
        return np.arange(n_rows)
    drawn = np.random.RandomState(seed).permutation(n_rows)
    drawn = drawn[~np.isin(drawn, named)][: max(MAX_ROWS_ASKED - len(named), 0)]
    return np.sort(np.concatenate([named, drawn]))


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array
