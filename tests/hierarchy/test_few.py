"""Few relative statements do not make clusters worse than none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

from conclust import Constraints, ReCon, pairwise_f1, sample_constraints
from conclust.hierarchy import _few


def test_shown_counts_what_clusters_say_of_statements():
    labels = np.array([0, 0, 1, 1, 2])
    triplets = np.array([(0, 1, 2), (0, 2, 4), (0, 1, 1), (2, 4, 3)])
    weight = np.array([1.0, 2.0, 4.0, 8.0])
    assert _few.shown(labels, triplets, weight) == 1 - 2 - 8


def test_a_gain_within_its_spread_is_none():
    weight = np.ones(25)
    assert not _few.is_better(5.0, 0.0, weight)
    assert _few.is_better(5.1, 0.0, weight)


def test_folds_ask_every_triplet_once():
    y = np.repeat([0, 1], 50)
    known = sample_constraints(y, n_must_link=5, n_relative=30, random_state=0)
    parts = _few.folds(known)
    assert len(parts) == 4
    assert sum(len(asked) for _, asked in parts) == 30
    for told, asked in parts:
        assert len(told) + len(asked) == len(known)
        assert (asked.kinds == "relative").all()
    assert _few.folds(known[-19:]) == []


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("part", [20, 4, 2])
def test_few_are_not_worse_than_none(load, part):
    X, y = load(return_X_y=True)
    none = pairwise_f1(y, ReCon(3).fit(X).labels_)
    draws = []
    for draw in range(4):
        known = sample_constraints(y, n_relative=len(y) // part, random_state=draw)
        labels = ReCon(3).fit(X, constraints=known).labels_
        assert known.satisfied(labels).all()
        draws.append(pairwise_f1(y, labels))
    assert np.mean(draws) > none - 0.02


def test_the_hierarchy_is_used_where_statements_show_that_it_helps():
    # Two groups by the first feature, which is small; the second only spreads the rows.
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2, 3], 50)
    X = np.column_stack([5 * (y // 2) + 2.2 * (y % 2), rng.normal(size=200)])
    X += 0.1 * rng.normal(size=X.shape)
    known = sample_constraints(y % 2, n_relative=100, random_state=0)
    model = ReCon(2).fit(X, constraints=known)
    plain = ReCon(2).fit(X).labels_
    assert known.satisfied(model.labels_).all()
    assert pairwise_f1(y % 2, model.labels_) > pairwise_f1(y % 2, plain) + 0.2


@pytest.mark.parametrize("asked", [{"min_branch_size": 1}, {"cut_by": "order"}])
def test_a_size_or_an_order_asked_for_is_a_cut_as_ever(asked):
    X, y = load_wine(return_X_y=True)
    known = sample_constraints(y, n_relative=40, random_state=0)
    model = ReCon(3, **asked).fit(X, constraints=known)
    assert model._others is None  # nothing was compared
    assert known.satisfied(model.labels_).all()


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 29), min_size=3, max_size=3, unique=True), max_size=15),
    st.lists(st.lists(st.integers(0, 29), min_size=2, max_size=2, unique=True), max_size=4),
    st.integers(1, 4),
)
def test_statements_and_must_links_hold(rows, links, k):
    X = np.random.RandomState(0).normal(size=(30, 2))
    known = Constraints(
        np.reshape(links, (-1, 2)).astype(int),
        relative=np.reshape(rows, (-1, 3)).astype(int),
        n_samples=30,
    ).repaired()
    model = ReCon(k).fit(X, constraints=known)
    assert known.satisfied(model.labels_).all()
    assert len(np.unique(model.labels_)) == k
    for other in (1, 2, 5):
        assert known.satisfied(model.cut(other)).all()
