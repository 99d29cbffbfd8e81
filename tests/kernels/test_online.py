import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust._kernels import online as kernels
from conclust.cluster._generalized_kmeans import Clusters, clusters_of, shape_of


def random_moves(X, weight, labels, k, shape, n_moves, random):
    """Move rows at random, never the last of a cluster, by updates alone."""
    clusters = clusters_of(X, weight, labels, np.zeros((k, X.shape[1])), shape)
    updates = np.zeros(k, np.int64)
    work = np.empty(X.shape[1]), np.empty(X.shape[1])
    ridge = shape.prior * shape.variance
    for _ in range(n_moves):
        row, there = random.randint(len(X)), random.randint(k)
        here = labels[row]
        if here == there or np.count_nonzero(labels == here) == 1:
            continue
        for side, sign in ((there, 1), (here, -1)):
            kernels.shift_row(
                X, row, weight[row], side, sign, shape.kind, ridge, *clusters, updates, *work
            )
        labels[row] = there
    return clusters


@pytest.mark.parametrize("covariance", ["full", "diag", "identity"])
@pytest.mark.parametrize("n_samples", [12, 200])
def test_ten_thousand_moves_equal_recomputation(covariance, n_samples):
    # Check to 1e-8, in clusters from a few rows to many; features of very different scale.
    random = np.random.RandomState(0)
    X = random.normal(size=(n_samples, 5)) * [1, 10, 0.1, 1, 3] + [5, 0, 0, -3, 0]
    weight = random.uniform(0.5, 2, n_samples)
    labels = np.arange(n_samples) % 4
    shape = shape_of(X, weight, covariance, 1.0, True)
    moved = random_moves(X, weight, labels, 4, shape, 10_000, random)
    fresh = clusters_of(X, weight, labels, np.zeros((4, 5)), shape)
    for name, a, b in zip(Clusters._fields, moved, fresh, strict=True):
        np.testing.assert_allclose(
            a, b, rtol=1e-8, atol=1e-8 * max(np.abs(b).max(), 1), err_msg=name
        )


def test_outliers_do_not_spoil_the_updates():
    # Check rows a million times farther out than the others, which come and go.
    random = np.random.RandomState(1)
    X = random.normal(size=(60, 3))
    X[::10] *= 1e6
    weight, labels = np.ones(60), np.arange(60) % 3
    shape = shape_of(X, weight, "full", 1.0, False)
    moved = random_moves(X, weight, labels, 3, shape, 3_000, random)
    fresh = clusters_of(X, weight, labels, np.zeros((3, 3)), shape)
    for a, b in zip(moved, fresh, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * np.abs(b).max())


def test_a_vanishing_divisor_starts_anew():
    # Check that the row which is all of W leaves: 1 - c dᵀu is lost to rounding, A⁻¹ is 1 / r.
    scatter, inverse = np.full((1, 1, 1), 2.0), np.full((1, 1, 1), 1 / (2.0 + 1e-12))
    mass, center, log_det = np.array([2.0]), np.zeros((1, 1)), np.array([np.log(2.0)])
    state = (
        mass,
        center,
        scatter,
        inverse,
        log_det,
        np.zeros(1, np.int64),
        np.empty(1),
        np.empty(1),
    )
    kernels.shift_row(np.array([[1.0]]), 0, 1.0, 0, -1, kernels.FULL, 1e-12, *state)
    assert inverse[0, 0, 0] == pytest.approx(1e12)
    assert log_det[0] == pytest.approx(np.log(1e-12))
    assert center[0, 0] == -1.0


@settings(max_examples=20)
@given(st.integers(1, 6), st.integers(0, 99), st.floats(1e-3, 1e3))
def test_invert(n_features, seed, ridge):
    # Check against numpy, for scatters of any rank.
    random = np.random.RandomState(seed)
    rows = random.normal(size=(random.randint(1, 8), n_features))
    scatter = (rows.T @ rows)[None]
    inverse, log_det = np.empty_like(scatter), np.empty(1)
    kernels.invert(kernels.FULL, 0, ridge, scatter, inverse, log_det)
    matrix = scatter[0] + ridge * np.eye(n_features)
    np.testing.assert_allclose(inverse[0] @ matrix, np.eye(n_features), atol=1e-8)
    assert log_det[0] == pytest.approx(np.linalg.slogdet(matrix)[1])


def test_shift_equals_its_python_form():
    random = np.random.RandomState(0)
    X, labels = random.normal(size=(20, 3)), np.arange(20) % 2
    shape = shape_of(X, np.ones(20), "full", 1.0, True)
    results = []
    for shift in (kernels.shift_row, kernels.shift_row.py_func):
        clusters = clusters_of(X, np.ones(20), labels, np.zeros((2, 3)), shape)
        updates, d, u = np.zeros(2, np.int64), np.empty(3), np.empty(3)
        shift(X, 0, 1.0, 1, 1, shape.kind, 2.0, *clusters, updates, d, u)
        results.append(clusters)
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b)
