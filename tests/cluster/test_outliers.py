"""Rows that belong nowhere: which ones are set aside, and that statements are heeded."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_blobs

from conclust import Constraints, COPKMeans, PCKMeans
from conclust._lloyd.rows import open_rows
from conclust._lloyd.trim import Trimming, surplus
from conclust.exceptions import DegenerateClusteringWarning
from conclust.metrics import pairwise_f1
from conclust.testing import consistent_constraints
from tests.oracles.trimmed import trimmed_kmeans

X, _ = load_iris(return_X_y=True)
INIT = X[[0, 60, 120]]
BOTH = pytest.mark.parametrize("model", [COPKMeans, PCKMeans])


def noisy(n, n_noise, n_features, seed):
    """Four clusters, and rows from everywhere."""
    rows, _ = make_blobs(n, n_features, centers=4, random_state=seed)
    noise = np.random.RandomState(seed).uniform(-15, 15, (n_noise, n_features))
    return np.vstack([rows, noise]), np.repeat([False, True], [n, n_noise])


@BOTH
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_without_statements_it_is_trimmed_kmeans(model, share, kind):
    labels, centers = trimmed_kmeans(X, int(share * len(X)), INIT)
    fitted = model(3, init=INIT, tol=0, outliers=share).fit(kind(X))
    assert_array_equal(fitted.labels_, labels)
    assert_allclose(fitted.cluster_centers_, centers)
    assert fitted.outlier_share_ == pytest.approx((labels < 0).mean())
    inside = labels >= 0
    assert fitted.inertia_ == pytest.approx(((X - centers[labels])[inside] ** 2).sum())
    objective = [record.inertia for record in fitted.history_]
    assert len(objective) > 1
    assert (np.diff(objective) <= 1e-9).all()


@BOTH
def test_off_by_default(model):
    fitted = model(3, init=INIT).fit(X)
    assert fitted.labels_.min() == 0
    assert fitted.outlier_share_ == 0


@settings(max_examples=50)
@given(st.integers(0, 10_000))
def test_units_are_set_aside_whole_and_the_farthest_first(seed):
    random = np.random.RandomState(seed)
    n = 12
    unit = random.randint(6, size=n)
    unit = np.unique(unit, return_inverse=True)[1]
    weight, squared = random.choice([1.0, 2.0], n), random.uniform(size=n)
    share = random.uniform(0.05, 0.9)
    aside = Trimming(share, unit, weight)(squared)
    assert weight[aside].sum() <= share * weight.sum() + 1e-9
    left = share * weight.sum()
    means = {u: np.average(squared[unit == u], weights=weight[unit == u]) for u in set(unit)}
    for u in sorted(means, key=lambda u: -means[u]):  # one by one, passing over what is too heavy
        mass = weight[unit == u].sum()
        expected = mass <= left + 1e-9
        left -= mass * expected
        assert (aside[unit == u] == expected).all()


@settings(max_examples=30)
@given(consistent_constraints(n_samples=20, n_classes=3, max_pairs=12), st.integers(0, 10_000))
def test_statements_hold_around_rows_set_aside(case, seed):
    known, truth = case
    random = np.random.RandomState(seed)
    rows = random.normal(size=(20, 2)) + 3 * np.asarray(truth)[:, np.newaxis]
    rows[random.permutation(20)[:3]] *= 20
    fitted = COPKMeans(3, outliers=0.2, n_init=2, random_state=0).fit(rows, constraints=known)
    assert fitted.report_.n_violated == 0
    assert (fitted.labels_ < 0).sum() <= 4
    soft = PCKMeans(3, outliers=0.2, n_init=2, random_state=0).fit(rows, constraints=known)
    assert (soft.labels_ < 0).sum() <= 4
    for pair in known.must_link:
        together = soft.labels_[pair] < 0
        assert together[0] == together[1]


@BOTH
def test_a_group_near_the_centers_keeps_its_far_row(model):
    rows = np.vstack([X, [[30.0, 30, 30, 30]]])
    known = Constraints(must_link=[(150, 0)] + [(0, i) for i in range(1, 30)])
    fitted = model(3, outliers=0.05, init=INIT).fit(rows, constraints=known)
    assert fitted.labels_[150] >= 0
    alone = model(3, outliers=0.05, init=INIT).fit(rows)
    assert alone.labels_[150] == -1


@BOTH
@pytest.mark.parametrize("n_features", [2, 10, 40])
def test_auto_sets_hardly_anything_aside_in_clean_data(model, n_features):
    for seed in range(2):
        rows, _ = noisy(600, 0, n_features, seed)
        fitted = model(4, outliers="auto", n_init=4, random_state=0).fit(rows)
        assert fitted.outlier_share_ <= 0.005


@BOTH
@pytest.mark.parametrize("n_noise", [30, 60])
@pytest.mark.parametrize(("n_features", "recall"), [(2, 0.6), (10, 0.98)])
def test_auto_finds_noise(model, n_noise, n_features, recall):
    # In the plane some rows from everywhere fall into clusters.
    rows, is_noise = noisy(600, n_noise, n_features, seed=2)
    aside = model(4, outliers="auto", random_state=0).fit(rows).labels_ < 0
    assert (aside & is_noise).sum() >= recall * n_noise
    assert (aside & is_noise).sum() >= 0.85 * aside.sum()


def test_surplus_of_rows_that_are_all_alike():
    assert not surplus(np.zeros(50), np.zeros(50, np.int32)).any()
    assert not surplus(np.ones(3), np.zeros(3, np.int32)).any()


@BOTH
def test_weights_count(model):
    weight = np.random.RandomState(0).uniform(0.5, 2, len(X))
    fitted = model(3, outliers=0.1, random_state=0).fit(X, sample_weight=weight)
    share = weight[fitted.labels_ < 0].sum() / weight.sum()
    assert 0.08 < share <= 0.1 + 1e-9
    assert fitted.outlier_share_ == pytest.approx(share)


@BOTH
@pytest.mark.parametrize("weighted", [False, True])
def test_sizes_count_what_is_not_set_aside(model, weighted):
    known = Constraints([(0, 1), (70, 71)], [(0, 70), (100, 120)])
    weight = np.random.RandomState(0).uniform(0.5, 2, len(X)) if weighted else None
    total = weight.sum() if weighted else len(X)
    how = {"size_min": 0.25 * total, "size_max": 0.32 * total, "outliers": 0.1}
    fitted = model(3, **how, random_state=0).fit(X, constraints=known, sample_weight=weight)
    inside = fitted.labels_ >= 0
    sizes = np.bincount(fitted.labels_[inside], None if weight is None else weight[inside])
    assert sizes.max() <= 0.32 * total
    assert sizes.min() >= 0.25 * total
    assert 0.08 < fitted.outlier_share_ <= 0.1
    assert fitted.report_.n_violated == 0


@BOTH
def test_directions_may_belong_nowhere(model):
    fitted = model(3, outliers=0.1, metric="cosine", random_state=0).fit(X)
    assert (fitted.labels_ < 0).sum() == 15
    chord = fitted.transform(X).min(axis=1)
    assert chord[fitted.labels_ < 0].min() >= chord[fitted.labels_ >= 0].max() - 1e-9


def test_new_rows_go_to_the_nearest_center():
    fitted = COPKMeans(3, outliers=0.1, random_state=0).fit(X)
    assert fitted.predict(X).min() == 0
    assert_array_equal(fitted.predict(X), fitted.transform(X).argmin(axis=1))


def test_statements_about_rows_in_no_cluster():
    known = Constraints([(0, 1), (0, 2)], [(0, 1), (0, 2), (2, 3)])
    labels = [-1, -1, 0, 0]
    assert known.satisfied(labels).tolist() == [True, False, True, True, False]
    group = Constraints.from_groups(apart=[0, 0, 0, 0])
    assert group.satisfied([-1, -1, 0, 1]).all()
    assert not group.satisfied([-1, 0, 0, 1]).any()
    # As scikit-learn's scores do: rows in no cluster count as one more.
    assert pairwise_f1([0, 0, 1, 1], [-1, -1, 0, 0]) == 1


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("linked", [None, np.arange(5)], ids=["", "linked"])
def test_rows_dropped_count_in_no_mean(kind, linked):
    weight = np.random.RandomState(0).uniform(0.5, 2, len(X))
    with open_rows(kind(X), 3, sample_weight=weight, linked=linked) as rows:
        rows.sweep(INIT)
        gone = np.array([3, 70, 149])
        rows.drop(gone)
        labels = rows.labels
        assert (labels[gone] == -1).all()
        expected = [
            np.average(X[labels == c], axis=0, weights=weight[labels == c]) for c in range(3)
        ]
        assert_allclose(rows.means(INIT), expected)
        inside = labels >= 0
        squared = ((X - INIT[labels]) ** 2).sum(axis=1)
        assert rows.inertia(INIT) == pytest.approx(weight[inside] @ squared[inside])


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, "some"])
def test_bad_shares_are_refused(value):
    with pytest.raises(ValueError, match="outliers"):
        PCKMeans(3, outliers=value).fit(X)


@BOTH
def test_too_few_rows_left_are_blamed_on_outliers(model):
    with pytest.warns(
        DegenerateClusteringWarning, match=r"148 of 150 rows are set aside\. Lower outliers"
    ):
        model(3, outliers=0.99, random_state=0).fit(X)
