"""How many answers are wrong, by what rows say of pairs drawn at random."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from conclust import sample_constraints
from conclust.active import Labels, Noisy, Session, ask
from conclust.active._rates import PRIOR_RATE, estimated_rate, milestones, open_minded

X, y = load_iris(return_X_y=True)


def test_milestones_double():
    assert milestones(11) == []
    assert milestones(12) == [12]
    assert milestones(100) == [12, 24, 48, 96]


def test_no_cluster_is_impossible():
    found = open_minded(np.array([[1.0, 0.0, 0.0]]))
    assert found.min() > 0.01
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize("wrong", [0.0, 0.1, 0.2, 0.3])
def test_where_models_know_the_rows_the_share_of_wrong_answers_is_found(wrong):
    told = sample_constraints(y, 200, noise=wrong, random_state=0)
    found = estimated_rate(np.eye(3)[y], told)
    assert found == pytest.approx(wrong, abs=0.04)


def test_where_models_know_nothing_nothing_is_learned():
    told = sample_constraints(y, 30, noise=0.3, random_state=0)
    assert estimated_rate(np.full((150, 3), 1 / 3), told) < 0.1


def test_without_answers_it_is_what_was_thought_before():
    told = sample_constraints(y, 5, random_state=0)[:0]
    assert estimated_rate(np.eye(3)[y], told) == PRIOR_RATE


@pytest.mark.parametrize(("wrong", "least", "most"), [(0.0, 0.0, 0.04), (0.2, 0.1, 0.3)])
def test_a_session_learns_how_far_to_trust(wrong, least, most):
    oracle = Noisy(Labels(y), wrong, wrong, random_state=0)
    session = ask(X, oracle, 96, n_clusters=3, strategy="auto", random_state=0)
    assert least <= session._state.error_rate <= most


def test_the_rate_depends_on_the_answers_alone(tmp_path):
    oracle = Noisy(Labels(y), 0.2, 0.2, random_state=0)
    session = ask(X, oracle, 30, n_clusters=3, strategy="random", random_state=0)
    rate = session._state.error_rate
    assert rate != PRIOR_RATE
    session.save(tmp_path / "answers.jsonl")
    again = Session.load(tmp_path / "answers.jsonl", X)
    assert again._state.error_rate == rate
    np.testing.assert_array_equal(again.labels_, session.labels_)
    session.undo()
    n_known = len(session._rates)
    assert session._state.error_rate == pytest.approx(rate, abs=0.05)
    assert len(session._rates) == n_known, "estimated again, though the first 24 answers stand"


def test_only_pairs_drawn_at_random_tell():
    session = Session(X, 3, strategy="random", random_state=0)
    for a in range(0, 60, 2):
        session.tell(session.pose((a, 149 - a)), "cannot-link")
    assert session._state._rate_by_rows() == PRIOR_RATE
