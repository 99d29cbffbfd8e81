"""The table of methods."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin

import conclust
from conclust import Constraints, sample_constraints
from conclust.cli._methods import METHODS, PAIRS, Method, available, method_of, why_not


@pytest.fixture
def three():
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], 20)
    return np.array([[0, 0], [6, 0], [0, 6]])[y] + rng.normal(scale=0.7, size=(60, 2)), y


@pytest.mark.parametrize("name", sorted(available()))
def test_every_method_of_this_version_clusters(name, three):
    method = METHODS[name]
    if method.needs:
        pytest.skip(f"{name} needs {method.needs}")
    X, y = three
    known = sample_constraints(y, 30, random_state=0)
    if "relative" in method.kinds:
        known = sample_constraints(y, n_relative=30, random_state=0)
    estimator = method.make(3, seed=0)
    estimator = estimator.fit(X, constraints=known) if method.kinds else estimator.fit(X)
    assert len(estimator.labels_) == len(X)
    assert len(np.unique(estimator.labels_)) == 3


def test_a_method_appears_when_its_class_does(monkeypatch):
    class NotYetWritten(ClusterMixin, BaseEstimator):
        def __init__(self, n_clusters=2, random_state=None):
            self.n_clusters, self.random_state = n_clusters, random_state

    method = Method("new", "NotYetWritten", PAIRS, "is new")
    monkeypatch.setitem(METHODS, "new", method)
    assert "new" not in available()
    assert "has no NotYetWritten" in why_not(method, Constraints(), 10)
    monkeypatch.setattr(conclust, "__all__", [*conclust.__all__, "NotYetWritten"])
    monkeypatch.setattr(conclust, "NotYetWritten", NotYetWritten, raising=False)
    assert "new" in available()
    assert why_not(method, Constraints(), 10) is None
    assert method.make(5, seed=3).get_params() == {"n_clusters": 5, "random_state": 3}


def test_what_a_method_cannot_do_is_said():
    pairs, triplets = Constraints([(0, 1)]), Constraints(relative=[(0, 1, 2)])
    assert why_not(METHODS["pckmeans"], pairs, 10) is None
    assert "no relative statements" in why_not(METHODS["pckmeans"], triplets, 10)
    square = Method("square", "COPKMeans", PAIRS, "", square=True)
    assert why_not(square, pairs, 5_000) is None
    assert "100,000" in why_not(square, pairs, 100_000)
    views = Method("views", "COPKMeans", PAIRS, "", needs="two tables")
    assert "two tables" in why_not(views, pairs, 10)


def test_every_class_that_is_chosen_has_a_method():
    for name in ("cop-kmeans", "pckmeans", "recon", "kmeans"):
        assert method_of(METHODS[name].make(2, seed=0)) is METHODS[name]
