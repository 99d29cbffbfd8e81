"""COBRAS: its own clustering, its way through splits and merges."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from conclust.active import COBRAS, Labels, Session, ask
from conclust.active.strategies._cobras import split_rows
from conclust.exceptions import SessionError
from tests.active.strategies.conftest import tell, tell_truly


def answered(state, y, n, strategy=None):
    strategy = strategy or COBRAS()
    for _ in range(n):
        tell_truly(state, strategy.propose(state, 1, np.random.RandomState(0)), y)
    return strategy.labels(state)


def test_nothing_told_is_one_cluster(blobs, make_state):
    X, _ = blobs
    assert set(COBRAS().labels(make_state(X))) == {0}


def test_separable_clusters_are_found_without_their_number(blobs, make_state):
    # Check that three far groups are found after a few questions, and kept.
    X, y = blobs
    for n in (8, 15, 40):
        assert adjusted_rand_score(y, answered(make_state(X), y, n)) == 1.0


def test_all_answers_give_any_clustering(make_state):
    # Check that labels that have nothing to do with the rows are found in the end.
    random_state = np.random.RandomState(0)
    X, y = random_state.normal(size=(20, 2)), random_state.randint(3, size=20)
    labels = answered(make_state(X), y, 190)
    assert adjusted_rand_score(y, labels) == 1.0


def test_the_first_question_is_about_the_middles_of_two_halves(make_state):
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    (found,) = COBRAS().propose(make_state(X), 1, np.random.RandomState(0))
    assert set(found.samples) == {1, 4}


def test_halves_that_differ_are_split_further(make_state):
    # Check the level: "no" for the halves and "yes" within the smaller gives 2 parts, and another
    # "no" gives 4.
    X = np.array([[0.0], [1.0], [10.0], [11.0], [100.0], [101.0], [110.0], [111.0], [112.0]])
    state = make_state(X)
    first = COBRAS().propose(state, 1, np.random.RandomState(0))[0].samples
    assert sorted(row // 4 for row in first) == [0, 1]
    tell(state, *first, -1)
    second = COBRAS().propose(state, 1, np.random.RandomState(0))[0].samples
    assert sorted(row // 2 for row in second) == [0, 1]  # within the smaller half
    tell(state, *second, -1)
    third = COBRAS().propose(state, 1, np.random.RandomState(0))[0].samples
    assert set(third) == {0, 1} or set(third) == {2, 3}  # and in one of its halves
    tell(state, *third, 1)
    assert len(set(COBRAS().labels(state))) == 4  # the first round, as far as it is merged


def test_the_clustering_stays_until_a_round_is_complete(blobs, make_state):
    # Check that after the first round clusters change only when all their parts are settled: true
    # answers never make a row alone.
    X, y = blobs
    state = make_state(X)
    answered(state, y, 8)
    for _ in range(20):
        assert len(set(answered(state, y, 1))) == 3


def test_the_way_is_found_again_without_memory(blobs, make_state):
    # Check that forgetting after every answer asks the same questions.
    X, y = blobs
    kept, forgot = make_state(X), make_state(X)
    for _ in range(20):
        (a,) = COBRAS().propose(kept, 1, np.random.RandomState(0))
        forgot.memory.clear()
        (b,) = COBRAS().propose(forgot, 1, np.random.RandomState(0))
        assert a == b
        tell_truly(kept, [a], y)
        tell_truly(forgot, [b], y)


def test_a_batch_begins_with_the_question_that_is_next(blobs, make_state):
    X, y = blobs
    state = make_state(X)
    answered(state, y, 5)
    (first,) = COBRAS().propose(state, 1, np.random.RandomState(0))
    several = COBRAS().propose(state, 3, np.random.RandomState(0))
    assert several[0].samples == first.samples


def test_a_session_can_take_its_clustering(blobs):
    X, y = blobs
    session = ask(X, Labels(y), 35, strategy="cobras", estimator="strategy", random_state=0)
    assert adjusted_rand_score(y, session.labels_) == 1.0
    np.testing.assert_array_equal(session.model_.predict(X), session.labels_)
    assert session.expected_change_.share == 0.0


def test_all_rows_get_its_clustering_where_a_sample_is_asked_about(blobs, monkeypatch):
    X, y = blobs
    monkeypatch.setattr("conclust.active._rows.MAX_ROWS_ASKED", 20)
    session = ask(X, Labels(y), 15, strategy="cobras", estimator="strategy", random_state=0)
    assert adjusted_rand_score(y, session.labels_) == 1.0


def test_other_words_and_strategies_have_no_clustering(blobs):
    X, _ = blobs
    with pytest.raises(SessionError, match="estimator='strategy': MinMax makes no clustering"):
        Session(X, strategy="minmax", estimator="strategy")
    with pytest.raises(SessionError, match="estimator='kmeans' is no clusterer"):
        Session(X, estimator="kmeans")


@pytest.mark.parametrize("n_parts", [2, 4])
def test_split_rows(n_parts):
    # Check that parts are a partition, in fewer parts where rows are equal.
    X = np.repeat([[0.0], [5.0], [9.0]], 3, axis=0)
    parts = split_rows(X, np.arange(1, 9), n_parts, 0)
    assert sorted(np.concatenate([part.rows for part in parts])) == list(range(1, 9))
    assert len(parts) == min(n_parts, 3)
    assert all(part.medoid in part.rows for part in parts)
    assert len(split_rows(X, np.arange(3), 2, 0)) == 1
