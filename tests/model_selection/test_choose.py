"""How a method and a number of clusters are chosen by statements held out."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conclust import Constraints, COPKMeans, PCKMeans, ReCon, sample_constraints
from conclust.model_selection import (
    choose_method,
    fewer_rows,
    folds,
    held_out_score,
)


@pytest.fixture
def three():
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], 20)
    return np.array([[0, 0], [6, 0], [0, 6]])[y] + rng.normal(scale=0.7, size=(60, 2)), y


def test_auto_keeps_all_when_statements_are_true(three):
    X, y = three
    chosen = choose_method(X, sample_constraints(y, 60, random_state=0), 3, random_state=0)
    assert isinstance(chosen.estimator, COPKMeans)
    assert "fit the data" in chosen.reasons[-1]


def test_auto_weighs_when_statements_clash(three):
    X, _ = three
    chosen = choose_method(X, Constraints([(0, 1)], [(0, 1)]), 3, random_state=0)
    assert isinstance(chosen.estimator, PCKMeans)
    assert "1 conflict" in chosen.reasons[-1]


def test_auto_weighs_when_held_out_statements_say_some_are_wrong(three):
    # One in four is wrong, but they can all hold: each row is named once only.
    X, y = three
    rng = np.random.RandomState(0)
    order = rng.permutation(60).reshape(-1, 2)
    same = y[order[:, 0]] == y[order[:, 1]]
    same[::4] = ~same[::4]
    known = Constraints(order[same], order[~same])
    assert not known.conflicts(3)
    chosen = choose_method(X, known, 3, random_state=0)
    assert isinstance(chosen.estimator, PCKMeans)
    assert "some seem wrong" in chosen.reasons[-1]


def test_auto_with_few_or_no_statements(three):
    X, _ = three
    chosen = choose_method(X, Constraints(n_samples=60), 3, random_state=0)
    assert isinstance(chosen.estimator, KMeans)
    chosen = choose_method(X, Constraints([(0, 1)]), 3, random_state=0)
    assert isinstance(chosen.estimator, COPKMeans)
    chain = Constraints([(i, i + 1) for i in range(25)])  # one unit: nothing can be held out
    assert "hang together" in choose_method(X, chain, 3, random_state=0).reasons[-1]


def test_auto_with_relative_statements(three):
    X, _ = three
    triplets = Constraints(relative=[(0, 1, 25)])
    chosen = choose_method(X, triplets + Constraints([(0, 1)]), 3, random_state=0)
    assert isinstance(chosen.estimator, ReCon)
    assert chosen.estimator.n_clusters == 3
    assert "relative statements (1)" in chosen.reasons[0]


def test_held_out_scores_are_of_statements_not_told(three):
    X, y = three
    known = sample_constraints(y, 40, random_state=0)
    found = held_out_score(PCKMeans(3, random_state=0), X, known)
    assert found.n_folds == 5
    assert found.score == 1.0
    assert found.failed == ""
    assert folds(Constraints([(0, 1), (1, 2)]), 0, 5) == []


def test_why_there_is_no_score_is_said(three):
    X, _ = three
    known = Constraints([(0, 1), (2, 3)], [(4, 5), (5, 6), (4, 6)])
    found = held_out_score(COPKMeans(2), X, known, cv=[(np.arange(5), np.arange(1))])
    assert np.isnan(found.score)
    assert "cluster" in found.failed


def test_estimators_that_take_no_statements_are_told_none(three):
    X, y = three
    known = sample_constraints(y, 40, random_state=0)
    seen = []
    model = make_pipeline(StandardScaler(), KMeans(3, n_init=10, random_state=0))
    found = held_out_score(model, X, known, on_fold=lambda: seen.append(1))
    assert found.score == 1.0
    assert len(seen) == found.n_folds


def test_a_generator_draws_a_seed(three):
    X, y = three
    known = sample_constraints(y, 60, random_state=0)
    chosen = choose_method(X, known, 3, random_state=np.random.RandomState(4))
    again = choose_method(X, known, 3, random_state=np.random.RandomState(4))
    assert chosen.estimator.random_state == again.estimator.random_state
    assert chosen.reasons == again.reasons


def test_conflicts_known_already_are_taken(three):
    X, y = three
    known = sample_constraints(y, 60, random_state=0)
    clash = Constraints([(0, 1)], [(0, 1)]).conflicts()
    chosen = choose_method(X, known, 3, conflicts=clash, random_state=0)
    assert "1 conflict" in chosen.reasons[0]


def test_many_rows_are_thinned_but_not_those_named(monkeypatch):
    monkeypatch.setattr("conclust.model_selection._choose.MAX_ROWS", 50)
    X = np.arange(400.0).reshape(200, 2)
    known = Constraints([(3, 190)], [(3, 77)], relative=[(5, 6, 199)], n_samples=200)
    small, said = fewer_rows(X, known, 0)
    assert len(small) == 50
    assert [s.kind for s in said] == [s.kind for s in known]
    for before, after in zip(known, said, strict=True):
        assert small[list(after.samples)].tolist() == X[list(before.samples)].tolist()
