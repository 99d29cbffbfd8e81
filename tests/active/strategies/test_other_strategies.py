"""Boundary, disagreement, and triples of a tree."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans

from conclust import Constraints, COPKMeans, PCKMeans
from conclust.active import Boundary, Disagreement, Labels, RelativeSplit, Session, ask
from conclust.active._within import among
from conclust.active.strategies._candidates import best_pairs, neighbor_pairs
from conclust.active.strategies._clustering import clustered


def test_boundary_is_the_closest_pair_across_clusters(make_state):
    # Check by all pairs.
    X = np.random.RandomState(0).normal(size=(40, 2))
    state = make_state(X, 3)
    estimator = KMeans(3, n_init=1, random_state=0)
    labels = state.labels
    (found,) = Boundary(estimator="session").propose(state, 1, np.random.RandomState(0))
    a, b = np.triu_indices(40, k=1)
    across = labels[a] != labels[b]
    distance = np.linalg.norm(X[a] - X[b], axis=1)[across]
    best = distance.argmin()
    assert set(found.samples) == {a[across][best], b[across][best]}
    assert Boundary(estimator=estimator).propose(state, 1, np.random.RandomState(0))


def test_boundary_of_far_clusters_looks_beyond_the_neighbors(blobs, make_state):
    X, y = blobs
    (found,) = Boundary(n_neighbors=3).propose(make_state(X, 3), 1, np.random.RandomState(0))
    a, b = found.samples
    assert y[a] != y[b]


def test_disagreement_is_about_what_members_disagree_on(make_state):
    # Check with a chain that single linkage cuts at its widest gap, complete linkage in the middle.
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.5]])
    members = [AgglomerativeClustering(2, linkage=name) for name in ("single", "complete")]
    first, second = (member.fit_predict(X) for member in members)
    (found,) = Disagreement(members=members).propose(make_state(X, 2), 1, np.random.RandomState(0))
    a, b = found.samples
    assert (first[a] == first[b]) != (second[a] == second[b])
    assert found.worth == 1.0


def test_disagreement_of_the_candidates_of_the_session(blobs):
    # Check that the pair nearest to even odds is asked.
    X, y = blobs
    X = X + np.random.RandomState(1).normal(scale=2, size=X.shape)
    strategy = Disagreement(members="session")
    session = ask(X, Labels(y), 12, n_clusters=3, strategy="random", random_state=0)
    next_one = Session(X, 3, strategy=strategy, constraints=session.constraints_, random_state=0)
    (question,) = next_one.ask()
    probability = next_one.model_.probabilities_
    together = probability @ probability.T
    a, b = np.triu_indices(len(X), k=1)
    worth = 4 * together * (1 - together)
    assert question.worth == pytest.approx(worth[question.samples])
    assert question.worth >= np.quantile(worth[a, b], 0.9)


def test_pairs_of_a_batch_share_no_row_where_that_can_be():
    pairs = np.array([[0, 1], [0, 2], [3, 4], [1, 5]])
    assert best_pairs(pairs, np.array([4.0, 3.0, 2.0, 1.0]), 2) == [0, 2]
    assert best_pairs(pairs, np.array([4.0, 3.0, 2.0, 1.0]), 3) == [0, 2, 1]


def test_neighbor_pairs_are_few_and_distinct(make_state):
    state = make_state(np.random.RandomState(0).normal(size=(300, 2)))
    pairs = neighbor_pairs(state, 5)
    assert len(pairs) <= 1500
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    assert (pairs[:, 0] < pairs[:, 1]).all()


def test_estimators_of_strategies_are_left_alone(blobs, make_state):
    X, _ = blobs
    estimator = PCKMeans(7)
    Boundary(estimator=estimator).propose(make_state(X, 3), 1, np.random.RandomState(0))
    assert estimator.get_params()["n_clusters"] == 7
    assert not hasattr(estimator, "labels_")


def test_many_rows_are_clustered_by_a_sample(blobs, make_state, monkeypatch):
    # Check that the statements go with their rows, and that the rest is where the nearest mean is.
    X, y = blobs
    monkeypatch.setattr("conclust.active.strategies._clustering.MAX_ROWS_CLUSTERED", 20)
    state = make_state(X, 3, must=[(0, 25)], cannot=[(25, 21), (0, 11)])
    labels = clustered(state, COPKMeans(), np.random.RandomState(0))
    assert labels.shape == y.shape
    assert labels[0] == labels[25] != labels[21]
    told = among(np.array([0, 5, 21, 25]), state.constraints)
    assert told == Constraints([(0, 3)], [(3, 2)], n_samples=4)


# ---------------------------------------------------------------------- triples


def test_the_triple_is_of_the_three_branches_that_are_large_and_even(make_state):
    # Check with three groups of ten rows, as far from each other, and one row far away.
    corners = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 8.66]])
    y = np.repeat([0, 1, 2], 10)
    X = corners[y] + np.random.RandomState(0).normal(scale=0.1, size=(30, 2))
    X, y = np.vstack([X, [[60.0, 0.0]]]), np.append(y, 3)
    strategy = RelativeSplit(n_branches=4)
    (found,) = strategy.propose(make_state(X), 1, np.random.RandomState(0))
    assert found.kind == "triple"
    assert sorted(y[list(found.samples)]) == [0, 1, 2]


def test_triples_are_not_asked_twice_and_answers_shape_the_tree(blobs):
    X, y = blobs
    session = ask(X, Labels(y // 2), 10, strategy="relative", batch=2, random_state=0)
    asked = {frozenset(samples) for samples in session.history_["samples"]}
    assert len(asked) == len(session)
    assert set(session.history_["kind"]) == {"triple"}


def test_two_rows_have_no_triple(make_state):
    assert RelativeSplit().propose(make_state([[0.0], [1.0]]), 2, np.random.RandomState(0)) == []


def test_three_rows_have_one(make_state):
    state = make_state([[0.0], [1.0], [5.0]])
    (found,) = RelativeSplit().propose(state, 5, np.random.RandomState(0))
    assert set(found.samples) == {0, 1, 2}
    state.asked.add(frozenset({0, 1, 2}))
    assert RelativeSplit().propose(state, 5, np.random.RandomState(0)) == []
