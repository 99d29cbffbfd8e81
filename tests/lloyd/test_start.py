"""Where k-means starts: centred data and first centres."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import kmeans_plusplus
from sklearn.datasets import load_iris

from conclust._lloyd.start import centered, init_centers


def test_centred():
    # Check that X is copied unless told otherwise, and that sparse data are left where they are.
    X = load_iris().data
    before = X.copy()
    data = centered(X)
    assert_array_equal(X, before)
    assert_allclose(data.X + data.mean, X)
    assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
    assert np.shares_memory(centered(X, copy=False).X, X)
    sparse = sp.csr_matrix(before)
    data = centered(sparse)
    assert data.X is sparse
    assert not data.mean.any()


def test_random_rows_are_distinct():
    X = np.arange(6.0).reshape(-1, 1)
    start = init_centers(X, 6, "random", None, np.random.RandomState(0))
    assert sorted(start.ravel()) == list(range(6))
    start = init_centers(sp.csr_matrix(X), 6, "random", None, np.random.RandomState(0))
    assert sorted(start.ravel()) == list(range(6))


def test_init_from_an_array_and_from_a_callable():
    # Check that arrays move with the data, and that the callable sees the data as given.
    X = load_iris().data
    data = centered(X)
    rng = np.random.RandomState(0)
    start = init_centers(data.X, 2, X[:2].tolist(), None, rng, mean=data.mean)
    assert_allclose(start, data.X[:2])
    given_array = X[:2].copy()
    init_centers(data.X, 2, given_array, None, rng, mean=data.mean)
    assert_array_equal(given_array, X[:2])

    def seeds(X, n_clusters, random_state):
        return kmeans_plusplus(X, n_clusters, random_state=random_state)[0]

    start = init_centers(data.X, 4, seeds, None, np.random.RandomState(3), mean=data.mean)
    assert_allclose(start, kmeans_plusplus(data.X, 4, random_state=np.random.RandomState(3))[0])
    start = init_centers(X.astype(np.float32), 2, X[:2], None, rng)
    assert start.dtype == np.float32


@pytest.mark.parametrize(
    ("n_clusters", "init", "weight", "message"),
    [
        (3, np.zeros((2, 4)), None, r"init has shape \(2, 4\).*n_clusters=3.*must be \(3, 4\)"),
        (2, np.zeros((2, 5)), None, r"init has shape \(2, 5\).*4 features.*must be \(2, 4\)"),
        (3, lambda X, k, random_state: X[:1], None, r"returned an array of shape \(1, 4\)"),
        (151, "random", None, "n_samples=150 should be >= n_clusters=151"),
        (3, "random", np.eye(150)[0], "sample_weight has only 1"),
        (3, "randm", None, "init='randm' is unknown"),
        (2, np.full((2, 4), np.nan), None, "init contains NaN"),
    ],
)
def test_errors_name_the_argument(n_clusters, init, weight, message):
    X = load_iris().data
    with pytest.raises(ValueError, match=f"(?i){message}"):
        init_centers(X, n_clusters, init, weight, np.random.RandomState(0))
