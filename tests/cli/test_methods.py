"""The table of methods, and how `auto` chooses from it."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin

import conclust
from conclust import Constraints, _declare, sample_constraints
from conclust._declare import PAIRS, Method, Named, Takes, estimators, method, methods, why_not
from conclust.cli._choose import choose_method, choose_n_clusters, fewer_rows, folds, held_out
from conclust.cli._errors import BadInput


@pytest.fixture
def three():
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], 20)
    return np.array([[0, 0], [6, 0], [0, 6]])[y] + rng.normal(scale=0.7, size=(60, 2)), y


@pytest.mark.parametrize("name", sorted(methods()))
def test_every_method_clusters(name, three):
    takes = method(name).takes
    if takes.needs:
        pytest.skip(f"{name} needs {takes.needs}")
    X, y = three
    known = sample_constraints(y, 30, random_state=0)
    if "relative" in takes.kinds:
        known = sample_constraints(y, n_relative=30, random_state=0)
    estimator = method(name).make(3, seed=0)
    estimator = estimator.fit(X, constraints=known) if takes.kinds else estimator.fit(X)
    assert len(estimator.labels_) == len(X)
    assert len(np.unique(estimator.labels_)) == 3


def test_names_are_given_once():
    names = [named.name for each in estimators().values() for named in each._takes.names]
    assert sorted([*names, "kmeans"]) == sorted(methods())
    assert len(set(names)) == len(names)


def test_a_class_is_a_method_as_soon_as_it_says_so(monkeypatch):
    class New(ClusterMixin, BaseEstimator):
        _takes = Takes(PAIRS, "soft", "never", names=(Named("new", "is new", {"depth": 2}),))

        def __init__(self, n_clusters=2, depth=1, random_state=None):
            self.n_clusters, self.depth, self.random_state = n_clusters, depth, random_state

    monkeypatch.setitem(conclust._HOMES, "New", "cluster")
    monkeypatch.setattr(conclust, "New", New, raising=False)
    for cached in (estimators, methods):
        monkeypatch.setattr(_declare, cached.__name__, cached.__wrapped__)
    new = _declare.method("new")
    assert (new.class_name, new.about) == ("New", "is new")
    assert new.make(5, seed=3).get_params() == {"n_clusters": 5, "depth": 2, "random_state": 3}
    assert new.make(5, seed=3, depth=7).depth == 7
    assert "New" in _declare.users_of(frozenset({"apart"}), New._takes)


def test_what_a_method_cannot_do_is_said():
    pairs, triplets = Constraints([(0, 1)]), Constraints(relative=[(0, 1, 2)])
    assert why_not(method("pckmeans"), pairs, 10) is None
    assert "no relative statements" in why_not(method("pckmeans"), triplets, 10)
    assert why_not(method("sskk"), pairs, 5_000) is None
    assert "100,000" in why_not(method("sskk"), pairs, 100_000)
    assert "two tables" in why_not(method("cotraining"), pairs, 10)


def test_auto_keeps_all_when_statements_are_true(three):
    X, y = three
    chosen = choose_method(X, sample_constraints(y, 60, random_state=0), 3, seed=0)
    assert chosen.method.name == "cop-kmeans"
    assert "fit the data" in chosen.reasons[-1]


def test_auto_weighs_when_statements_clash(three):
    X, _ = three
    chosen = choose_method(X, Constraints([(0, 1)], [(0, 1)]), 3, seed=0)
    assert chosen.method.name == "pckmeans"
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
    chosen = choose_method(X, known, 3, seed=0)
    assert chosen.method.name == "pckmeans"
    assert "some seem wrong" in chosen.reasons[-1]


def test_auto_with_few_or_no_statements(three):
    X, _ = three
    assert choose_method(X, Constraints(n_samples=60), 3, seed=0).method.name == "kmeans"
    assert choose_method(X, Constraints([(0, 1)]), 3, seed=0).method.name == "cop-kmeans"
    chain = Constraints([(i, i + 1) for i in range(25)])  # one unit: nothing can be held out
    assert "hang together" in choose_method(X, chain, 3, seed=0).reasons[-1]


def test_auto_with_relative_statements(three, monkeypatch):
    X, _ = three
    triplets = Constraints(relative=[(0, 1, 25)])
    kinds = Takes(PAIRS | {"relative"}, "", "")
    tree = Method(Named("tree", "takes triplets"), conclust.COPKMeans, kinds)
    those = {name: method for name, method in methods().items() if name != "recon"}
    monkeypatch.setattr("conclust.cli._choose.methods", lambda: those)
    with pytest.raises(BadInput, match="All statements are relative"):
        choose_method(X, triplets, 3, seed=0)
    both = choose_method(X, triplets + Constraints([(0, 1)]), 3, seed=0)
    assert both.method.name == "cop-kmeans"
    assert "ignored" in both.reasons[0]
    those["tree"] = tree
    assert choose_method(X, triplets, 3, seed=0).method is tree


def test_held_out_scores_are_of_statements_not_told(three):
    X, y = three
    known = sample_constraints(y, 40, random_state=0)
    splits = folds(known, seed=0)
    assert len(splits) == 5
    found = held_out(method("pckmeans"), X, known, 3, 0, splits)
    assert found.score == 1.0
    assert found.failed == ""
    assert folds(Constraints([(0, 1), (1, 2)]), seed=0) == []


def test_many_rows_are_thinned_but_not_those_named(monkeypatch):
    import conclust.cli._choose as choose

    monkeypatch.setattr(choose, "MAX_ROWS", 50)
    X = np.arange(400.0).reshape(200, 2)
    known = Constraints([(3, 190)], [(3, 77)], relative=[(5, 6, 199)], n_samples=200)
    small, said = fewer_rows(X, known, seed=0)
    assert len(small) == 50
    assert [s.kind for s in said] == [s.kind for s in known]
    for before, after in zip(known, said, strict=True):
        assert small[list(after.samples)].tolist() == X[list(before.samples)].tolist()


def test_number_of_clusters(three):
    X, y = three
    curve = choose_n_clusters(X, Constraints(n_samples=60), seed=0)
    assert curve.chosen == 3
    assert "resampling" in curve.reason
    curve = choose_n_clusters(X, sample_constraints(y, 60, random_state=1), seed=0)
    assert curve.chosen == 3
    assert "held-out" in curve.measure
    apart = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)], n_samples=60)
    curve = choose_n_clusters(X, apart, seed=0)
    assert curve.chosen >= 4  # four rows are mutually apart
    assert [p.feasible for p in curve.points[:3]] == [False, False, True]
    assert choose_n_clusters(X[:2], Constraints(n_samples=2), seed=0).chosen == 1
