"""How many clusters: what rows say, what statements rule out, and trees of directions."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from conclust import AutoCluster, Constraints, sample_constraints
from conclust.cluster import _directions
from conclust.model_selection import choose_n_clusters
from conclust.model_selection._n_clusters import (
    N_TREES,
    Errors,
    _errors,
    are_directions,
    information,
    tree_partitions,
)


@pytest.fixture
def three():
    return make_blobs([20] * 3, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)


def test_rows_speak_where_nobody_does(three):
    X, _ = three
    curve = choose_n_clusters(X, Constraints(n_samples=60), random_state=0)
    assert curve.chosen == 3
    assert "stability" in curve.reason
    assert all(np.isnan(p.kept) for p in curve.points)
    assert choose_n_clusters(X[:2], Constraints(n_samples=2), random_state=0).chosen == 1


def test_statements_rule_out_what_rows_speak_for():
    # Check that two far groups of two groups each are four when the answers say so.
    X, y = make_blobs([30] * 4, centers=[[0, 0], [0, 4], [60, 0], [60, 4]], random_state=0)
    none = choose_n_clusters(X, Constraints(n_samples=120), n_clusters_range=(2, 3), random_state=0)
    assert none.chosen == 2
    told = sample_constraints(y, 100, random_state=0)
    curve = choose_n_clusters(X, told, n_clusters_range=(2, 8), random_state=0)
    assert curve.chosen == 4
    point = next(p for p in curve.points if p.n_clusters == 4)
    assert point.kept >= 0.97
    assert curve.frame().query("chosen")["n_clusters"].tolist() == [4]


def test_fewer_clusters_than_mutually_apart_rows_are_not_feasible(three):
    X, _ = three
    apart = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)], n_samples=60)
    curve = choose_n_clusters(X, apart, random_state=0)
    assert curve.chosen >= 4
    assert [p.feasible for p in curve.points[:3]] == [False, False, True]


def test_imbalance_is_mcnemars_statistic():
    assert Errors(12, 4, 100).imbalance == pytest.approx(7 / 4)  # (|12 - 4| - 1) / sqrt(16)
    assert Errors(4, 12, 100).imbalance == pytest.approx(-7 / 4)
    assert Errors(1, 0, 100).imbalance == Errors(0, 0, 100).imbalance == 0
    assert Errors(12, 4, 100).shares == pytest.approx((0.84, 0.12, 0.04))


def test_crumbs_do_not_count(directions):
    X, _ = directions
    lonely = np.eye(20)[:2] * -1
    for part in tree_partitions(np.vstack([X, lonely]), 2, 30, seed=0):
        (labels,) = part.labels
        sizes = np.bincount(labels)
        assert part.n_clusters == (sizes >= 0.1 * len(labels) / len(sizes)).sum()


def test_trees_with_drawn_leaves_are_averaged(directions, monkeypatch):
    X, y = directions
    for name, value in (("MAX_LEAVES", 100), ("N_LEAVES", 60)):
        monkeypatch.setattr(_directions, name, value)
    said = sample_constraints(y, 60, random_state=0)
    parts = list(tree_partitions(X, 2, 30, seed=0))
    errors = _errors(parts, said)
    for n_clusters, labels in parts:
        assert labels.shape == (N_TREES, len(X))
        kept = np.array([said.satisfied(each).mean() for each in labels])
        if [part.n_clusters for part in parts].count(n_clusters) == 1 and n_clusters in errors:
            assert errors[n_clusters].shares[0] == pytest.approx(kept.mean())
    assert len({tuple(each) for each in parts[-1].labels}) > 1


def test_directions_are_counted(directions):
    X, y = directions
    assert are_directions(X)
    assert not are_directions(2 * X)
    curve = choose_n_clusters(X, Constraints(n_samples=len(X)), random_state=0)
    assert curve.chosen == 12
    assert "information" in curve.measure
    curve = choose_n_clusters(X, sample_constraints(y, 60, random_state=0), random_state=0)
    assert curve.chosen == 12


def test_answers_about_coarser_classes_win(directions):
    X, y = directions
    coarse = sample_constraints(y // 4, 400, random_state=0)
    assert choose_n_clusters(X, coarse, random_state=0).chosen < 8


def test_information_is_that_of_the_formula():
    X = np.array([[0.0, 1], [0, 3], [10, 1], [10, 3]])
    # W = 4 in n d = 8 numbers; two halves; two centres of two numbers.
    cost = 8 * np.log(4 / 8) - 2 * 4 * np.log(0.5) + 2 * 2 * np.log(4)
    assert information(X, 2, seed=0) == pytest.approx(-cost / 8)


def test_range_is_kept_and_checked(three):
    X, y = three
    told = sample_constraints(y, 60, random_state=0)
    model = AutoCluster(n_clusters_range=(4, 6), random_state=0).fit(X, constraints=told)
    assert 4 <= model.n_clusters_ <= 6
    assert [p.n_clusters for p in model.curve_.points] == [4, 5, 6]
    for wrong in ((5, 2), (0, 3), (2,), (2.5, 4)):
        with pytest.raises(ValueError, match=r"n_clusters_range takes .* such as \(2, 30\); got"):
            AutoCluster(n_clusters_range=wrong).fit(X)
