"""What a sweep over the rows finds."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import euclidean_distances

from conclust._lloyd.sweep import NearestCenters


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_distances_of_kept_rows(sparse):
    # Check what other k-means of the library read from a sweep, and the loop they build on it.
    X = load_iris().data
    centers = X[[3, 60, 120]]
    linked = np.arange(0, 150, 7)
    data = sp.csr_matrix(X) if sparse else X
    with NearestCenters(data, 3, linked=linked, all_distances=True) as rows:
        rows.sweep(centers)
        expected = euclidean_distances(X[linked], centers, squared=True)
        assert_allclose(rows.distances, expected, atol=1e-12)
        assert_array_equal(rows.nearest, expected.argmin(axis=1))
        assert_array_equal(rows.second, np.argsort(expected, axis=1)[:, 1])
        assert_allclose(rows.nearest_distance, expected.min(axis=1), atol=1e-12)
        placed = np.zeros(len(linked), dtype=np.int32)
        rows.add(placed, centers)
        labels = euclidean_distances(X, centers).argmin(axis=1)
        labels[linked] = 0
        assert_array_equal(rows.labels, labels)
        means = [X[labels == cluster].mean(axis=0) for cluster in range(3)]
        assert_allclose(rows.means(centers), means)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nearest_centres_are_scikit_learns(dtype):
    X = load_digits().data.astype(dtype)
    model = KMeans(10, n_init=1, random_state=0).fit(X)
    for data in (X, sp.csr_matrix(X)):
        with NearestCenters(data, 10) as rows:
            rows.sweep(model.cluster_centers_)
        assert rows.labels.dtype == np.int32
        assert_array_equal(rows.labels, model.predict(data))
