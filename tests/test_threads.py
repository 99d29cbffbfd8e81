"""Threads: rows are shared out, BLAS keeps to one, limits are heeded and given back."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs

from conclust._any_clusterer import labels_from
from conclust._lloyd import sweep
from conclust._lloyd.start import centered
from conclust._sklearn import threadpool_controller
from conclust._threads import SMALL_TABLE, available_threads, one_blas_thread, threads_worth
from conclust.cluster._constrained_kmeans import constrained_kmeans

MUST, CANNOT = 1, -1
NO_PAIRS = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int8), None


def test_threads_share_the_rows(monkeypatch):
    # Check that two threads, with pairs and without, give what one gives.
    monkeypatch.setattr(sweep, "GRAIN", 1)
    X, y = make_blobs(3000, 6, centers=5, cluster_std=4.0, random_state=0)
    rng = np.random.RandomState(0)
    pairs = rng.randint(len(X), size=(1500, 2))
    sign = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], MUST, CANNOT)
    for data, told in product((centered(X).X, sp.csr_matrix(X)), ((pairs, sign, None), NO_PAIRS)):
        one, two = (
            constrained_kmeans(data, *told, X[:5], max_iter=30, n_threads=n) for n in (1, 2)
        )
        assert_array_equal(one.labels, two.labels)
        assert_allclose(one.centers, two.centers)
        assert_allclose(one.inertia, two.inertia)
        assert [r.n_changed for r in one.history] == [r.n_changed for r in two.history]
        assert_allclose([r.inertia for r in one.history], [r.inertia for r in two.history])


def blas_threads():
    return [
        pool["num_threads"] for pool in threadpool_controller().info() if pool["user_api"] == "blas"
    ]


def test_blas_keeps_to_one_thread_inside():
    before = blas_threads()
    with one_blas_thread():
        assert set(blas_threads()) == {1}
    X = load_iris().data
    during: list[int] = []
    constrained_kmeans(X, *NO_PAIRS, X[:3], on_round=lambda _: during.extend(blas_threads()))
    assert set(during) == {1}
    assert blas_threads() == before


def test_norms_are_the_same_by_any_number_of_threads_and_blas_is_given_back(monkeypatch):
    monkeypatch.setattr(sweep, "GRAIN", 1)
    X = np.random.RandomState(0).normal(size=(3 * sweep.CHUNK + 5, 4))
    linked = np.array([0, sweep.CHUNK - 1, sweep.CHUNK, 2 * sweep.CHUNK + 7, len(X) - 1])
    before, totals = blas_threads(), set()
    for n_threads in (1, 2, 3):
        with sweep.NearestCenters(X, 3, linked=linked, n_threads=n_threads) as near:
            assert set(blas_threads()) == {1}
            assert_allclose(near.linked.norms, (X[linked] ** 2).sum(axis=1))
            assert_allclose(near.total_norm, (X**2).sum())
            totals.add(near.total_norm)
        assert blas_threads() == before
    assert len(totals) == 1


def test_threads_heed_the_limits_of_openmp():
    assert available_threads() >= 1
    with threadpool_controller().limit(limits=1, user_api="openmp"):
        assert available_threads() == 1


def test_blas_is_given_back_after_an_error():
    before = blas_threads()

    def fail(record):
        raise RuntimeError("stop")

    X = load_iris().data
    with pytest.raises(RuntimeError, match="stop"):
        constrained_kmeans(X, *NO_PAIRS, X[:3], on_round=fail)
    assert blas_threads() == before


def all_threads():
    return [pool["num_threads"] for pool in threadpool_controller().info()]


class Counting(KMeans):
    """Notes how many threads it may use."""

    def fit_predict(self, X, y=None):
        Counting.seen = all_threads()
        return super().fit_predict(X)


def test_small_tables_get_one_thread():
    # Check what a user's clusterer sees inside, and that the limit is given back.
    before = all_threads()
    labels_from(Counting(n_init=1), np.random.RandomState(0).randn(50, 2), 3, 0)
    assert set(Counting.seen) == {1}
    assert all_threads() == before
    for X in (["a", "b"], np.zeros((3, 2)), sp.csr_array(np.zeros((3, 2)))):
        with threads_worth(X):
            assert set(all_threads()) == {1}
    with threads_worth(np.zeros((SMALL_TABLE + 1, 1))):
        assert all_threads() == before
