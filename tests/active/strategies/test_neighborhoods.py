"""Explore and consolidate, min-max and NPU: rows that are settled in neighborhoods."""

import numpy as np
import pytest

from conclust.active import NPU, ExploreConsolidate, MinMax
from conclust.active.strategies._neighborhoods import find_neighborhoods
from conclust.active.strategies._npu import entropy, expected_questions, membership
from tests.active.strategies.conftest import tell, tell_truly


def sizes(state):
    return [len(each.rows) for each in find_neighborhoods(state, np.random.RandomState(0))]


@pytest.mark.parametrize("seed", range(5))
def test_explore_finds_all_clusters_in_few_questions(seed, blobs, make_state):
    # Check the promise of the paper for disjoint balls of k clusters: k rows, all apart, after
    # at most k over 2 questions.
    X, y = blobs
    state = make_state(X, 3)
    for _ in range(3):
        found = ExploreConsolidate().propose(state, 1, np.random.RandomState(seed))
        tell_truly(state, found, y)
    known = find_neighborhoods(state, np.random.RandomState(0))
    assert sorted(y[each.core[0]] for each in known) == [0, 1, 2]
    assert sizes(state) == [1, 1, 1]


def test_explore_without_a_number_of_clusters(blobs, make_state):
    X, y = blobs
    state = make_state(X)
    for turn in range(12):
        found = ExploreConsolidate().propose(state, 1, np.random.RandomState(turn))
        tell_truly(state, found, y)
    assert len(sizes(state)) == 3


def test_consolidate_asks_the_nearest_mean_first(make_state):
    X = [[0.0], [1.0], [2.0], [8.0], [9.0], [2.4]]
    state = make_state(X, 2, must=[(0, 1), (3, 4)], cannot=[(0, 3)])
    for seed in range(4):
        (found,) = ExploreConsolidate().propose(state, 1, np.random.RandomState(seed))
        assert found.samples in {(2, 1), (5, 1)}


def test_a_row_that_was_begun_goes_on(make_state):
    # Check that a row apart from one of three neighborhoods is asked about the next, and that the
    # last is not asked about.
    X = [[0.0], [5.0], [10.0], [2.0], [7.0]]
    state = make_state(X, 3, cannot=[(0, 1), (0, 2), (1, 2), (3, 0)])
    for strategy in (ExploreConsolidate(), MinMax(), NPU()):
        (found,) = strategy.propose(state, 1, np.random.RandomState(0))
        assert found.samples[0] == 3
        assert found.samples[1] in {1, 2}
    tell(state, 3, 1, -1)
    known = find_neighborhoods(state, np.random.RandomState(0))
    assert sorted(sorted(each.rows.tolist()) for each in known) == [[0], [1], [2, 3]]
    (found,) = MinMax().propose(state, 1, np.random.RandomState(0))
    assert found.samples[0] == 4


def test_unsure_goes_to_the_next_neighborhood(make_state):
    state = make_state([[0.0], [5.0], [10.0], [2.0]], 3, cannot=[(0, 1), (0, 2), (1, 2)])
    asked = []
    for _ in range(3):
        (found,) = MinMax().propose(state, 1, np.random.RandomState(0))
        asked.append(found.samples)
        tell(state, *found.samples, 0)
    assert asked == [(3, 0), (3, 1), (3, 2)]


def test_minmax_takes_the_row_whose_nearest_known_row_is_farthest(blobs, make_state):
    X, y = blobs
    state = make_state(X, 3, must=[(0, 3), (10, 12)], cannot=[(0, 10), (0, 20), (10, 20)])
    known = [0, 3, 10, 12, 20]
    distance = np.linalg.norm(X[:, np.newaxis] - X[known], axis=2)
    (found,) = MinMax().propose(state, 1, np.random.RandomState(0))
    assert found.samples[0] == distance.min(axis=1).argmax()
    assert y[found.samples[1]] == y[known][distance[found.samples[0]].argmin()]
    assert found.worth == pytest.approx(distance.min(axis=1).max())


def test_a_batch_is_about_different_rows(blobs, make_state):
    X, _ = blobs
    state = make_state(X, 3, cannot=[(0, 10), (0, 20), (10, 20)])
    for strategy in (ExploreConsolidate(), MinMax(), NPU()):
        found = strategy.propose(state, 6, np.random.RandomState(0))
        assert len({proposal.samples[0] for proposal in found}) == 6


def test_wrong_answers_leave_at_most_k_neighborhoods_all_apart(make_state):
    state = make_state(np.arange(6.0)[:, np.newaxis], 2)
    for a, b in ((0, 1), (0, 2), (1, 2), (3, 4)):
        tell(state, a, b, -1)
    tell(state, 0, 1, 1)  # contradicts
    first, second = find_neighborhoods(state, np.random.RandomState(0))
    assert (state.closure.implied(first.core[0], second.core) == -1).all()


# ---------------------------------------------------------------------- NPU


def test_expected_questions_by_hand():
    probability = np.array([[0.5, 0.3, 0.2], [0.0, 1.0, 0.0], [1 / 3] * 3])
    np.testing.assert_allclose(expected_questions(probability), [1.7, 1.0, 2.0])
    np.testing.assert_allclose(entropy(probability), [1.48548, 0.0, np.log2(3)], atol=1e-5)


def test_membership_is_the_mean_share_of_leaves(make_state):
    # Check by hand: row 0 shares 2 of 2 leaves with row 1, none with row 3, and 1 with row 2; row 4
    # none with row 1, 1 with row 3, and 1 with row 2.
    leaves = np.array([[1, 1], [1, 1], [1, 2], [3, 3], [3, 2]])
    state = make_state(np.zeros((5, 1)), 2, must=[(1, 3)], cannot=[(1, 2)])
    known = find_neighborhoods(state, np.random.RandomState(0))
    assert [sorted(each.rows.tolist()) for each in known] == [[1, 3], [2]]
    found = membership(leaves, np.array([0, 4]), known)
    np.testing.assert_allclose(found, [[1 / 2, 1 / 2], [1 / 3, 2 / 3]])
