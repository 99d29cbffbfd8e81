"""What is to be drawn, brought to one form: rows in the plane, clusters as 0, 1, 2, …"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from conclust._arrays import FloatArray, IntArray, brought_here

SET_ASIDE = -1  # the code of rows in no cluster
# Of so many rows with so few features the covariance is the quickest way to the main directions.
MANY_ROWS, FEW_FEATURES = 100_000, 100


class Clusters(NamedTuple):
    """Which cluster each row is in, and what the clusters are called."""

    codes: IntArray  # (n_samples,) places in `names`; -1 for rows in no cluster
    names: list[str]  # the labels as they were given, sorted

    @property
    def n_set_aside(self) -> int:
        """How many rows are in no cluster."""
        return int((self.codes == SET_ASIDE).sum())


def check_clusters(labels: Any, n_samples: int) -> Clusters:
    """Number the clusters of labels of any kind; -1, None and NaN are in no cluster.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
    n_samples : int

    Returns
    -------
    Clusters
    """
    import pandas as pd

    labels = brought_here(labels)
    if isinstance(labels, str) or np.ndim(labels) != 1 or len(labels) != n_samples:
        raise ValueError(
            f"labels has shape {np.shape(labels)}, but X has {n_samples} rows; pass one label "
            "per row, as `labels_` of a fitted clusterer."
        )
    column = pd.Series(labels, dtype=None if hasattr(labels, "dtype") else object)
    column = column.mask(column == SET_ASIDE).reset_index(drop=True)
    codes, values = pd.factorize(column)
    names = np.array([_name(value) for value in values], dtype=object)
    order = np.array(sorted(range(len(values)), key=lambda i: _place(values[i])), dtype=np.int64)
    place = np.append(np.argsort(order), SET_ASIDE)  # the code -1 stays
    return Clusters(place[codes], names[order].tolist())


def check_rows(X: Any) -> tuple[Any, list[str] | None]:
    """The rows as an array or CSR matrix of numbers, and the columns' names where it has some.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

    Returns
    -------
    X : {ndarray, sparse matrix}
    columns : list of str or None
    """
    columns = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    if sp.issparse(X):
        return X.tocsr(), columns
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"X {_culprit(X)}; only rows of numbers can be drawn, so pass what was clustered."
        ) from None
    if rows.ndim != 2:
        raise ValueError(f"X has shape {rows.shape}; pass (n_samples, n_features) numbers.")
    return rows, columns


def main_directions(X: Any, seed: int = 0) -> tuple[FloatArray, float]:
    """Two coordinates of each row, those along which rows differ most.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
    seed : int, default=0

    Returns
    -------
    plane : ndarray of shape (n_samples, 2)
        Of a single feature, that and zeros.
    share : float
        Of the variance.
    """
    from sklearn.decomposition import PCA, TruncatedSVD

    n_samples, n_features = X.shape
    if min(n_samples, n_features) < 2:
        first = X.toarray() if sp.issparse(X) else np.asarray(X)
        return np.column_stack([first[:, 0], np.zeros(n_samples)]), 1.0
    if sp.issparse(X) and n_features > 2:
        model = TruncatedSVD(2, random_state=seed)
    elif sp.issparse(X):
        model, X = PCA(2), X.toarray()
    else:
        is_long = n_samples >= MANY_ROWS and n_features <= FEW_FEATURES
        solver = "covariance_eigh" if is_long else "randomized"
        model = PCA(2, svd_solver=solver, random_state=seed)
    plane = model.fit_transform(X)
    return plane, float(np.nansum(model.explained_variance_ratio_))


def _name(value: Any) -> str:
    whole = isinstance(value, float | np.floating) and value == np.floor(value)
    return str(int(value)) if whole else str(value)


def _place(value: Any) -> tuple[bool, Any]:
    """A key that sorts numbers before texts."""
    is_number = isinstance(value, int | float | np.number)
    return not is_number, value if is_number else str(value)


def _culprit(X: Any) -> str:
    for name in getattr(X, "columns", ()):
        try:
            np.asarray(X[name], dtype=np.float64)
        except (TypeError, ValueError):
            return f"holds the column {name!r}, which is not of numbers"
    return "is not a table of numbers"
