"""The table of methods."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin

import conclust
from conclust import Constraints, _declare, sample_constraints
from conclust._declare import PAIRS, Named, Takes, estimators, method, methods, why_not
from conclust.cli._options import METHODS


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


def test_the_command_line_offers_what_is_declared():
    assert list(METHODS) == list(methods())


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
