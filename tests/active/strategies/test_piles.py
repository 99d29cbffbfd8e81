"""The strategy "piles": up to ten rows sorted at once."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score as ari

from conclust import Constraints
from conclust.active import STRATEGIES, Labels, Noisy, Piles, Session, ask
from conclust.active.strategies._membership import (
    LEAST,
    Membership,
    Units,
    axes_of,
    concentration,
    log_likelihood,
    membership,
    units_of,
)
from conclust.active.strategies._piles import chosen, information
from conclust.exceptions import SessionError
from tests.active.strategies.conftest import tell


def proposals(state, n=1, **parameters):
    return Piles(**parameters).propose(state, n, np.random.RandomState(0))


def belonging(state):
    units = units_of(state.X, np.arange(state.n_samples), state.closure)
    return units, membership(state, units, np.ones(len(units.name)))


def open_pairs(session, samples):
    return sum(session._state.closure.implied(a, b) == 0 for a, b in combinations(samples, 2))


def answered(X, y, n_clusters=None, unsure=0, **parameters):
    """A session told the truth until nothing is left to ask, but for every so-many-th answer."""
    session = Session(X, n_clusters, strategy=Piles(**parameters), random_state=0)
    while questions := session.ask():
        for question, answer in zip(questions, Labels(y)(questions), strict=True):
            skipped = unsure and len(session) % unsure == unsure - 1
            session.tell(question, "unsure" if skipped else answer)
    return session


def test_the_name():
    assert STRATEGIES["piles"] is Piles


@pytest.mark.parametrize("size", [2, 11])
def test_sizes_that_there_are(size, blobs):
    with pytest.raises(SessionError, match=f"size={size}: a question of piles has 3 to 10 rows"):
        Session(blobs[0], strategy=Piles(size=size)).ask()


@pytest.mark.parametrize("n_clusters", [None, 1, 2])
def test_two_rows_are_a_pair(n_clusters, make_state):
    state = make_state([[0.0], [1.0]], n_clusters)
    (proposal,) = proposals(state, 5)
    assert proposal.kind == "pair"
    assert set(proposal.samples) == {0, 1}
    tell(state, 0, 1, 0)
    assert proposals(state, 5) == []


def test_nothing_is_left_when_everything_follows(make_state):
    X, y = np.arange(8.0)[:, np.newaxis], np.repeat([0, 1], 4)
    together = [(i, i + 1) for i in range(7) if y[i] == y[i + 1]]
    assert proposals(make_state(X, 2, together, [(0, 7)]), 3) == []
    assert proposals(make_state(X, None, together, [(0, 7)]), 3) == []


@given(
    y=st.lists(st.integers(0, 3), min_size=3, max_size=25),
    seed=st.integers(0, 100),
    knows=st.booleans(),
    batch=st.integers(1, 3),
    size=st.integers(3, 10),
)
def test_true_answers_come_to_an_end_with_the_classes(y, seed, knows, batch, size):
    # Check that each question is new and open when asked, and that answers settle everything.
    y = np.array(y)
    X = np.random.RandomState(seed).normal(size=(len(y), 2)) + y[:, None]
    session = Session(
        X,
        len(set(y)) if knows else None,
        strategy=Piles(size=size),
        estimator="strategy",
        random_state=seed,
    )
    asked = set()
    while questions := session.ask(batch):
        for question in questions:
            assert 2 <= len(set(question.samples)) == len(question.samples) <= size
            assert frozenset(question.samples) not in asked
            assert open_pairs(session, question.samples)
            asked.add(frozenset(question.samples))
        assert len(asked) <= len(y) ** 2
        for question, answer in zip(questions, Labels(y)(questions), strict=True):
            session.tell(question, answer)
    a, b = np.triu_indices(len(y), k=1)
    assert (session._state.closure.implied(a, b) == np.where(y[a] == y[b], 1, -1)).all()
    assert ari(y, session.labels_) == 1.0


@pytest.mark.parametrize("n_clusters", [None, 3])
def test_unsure_answers_do_not_stop_it(n_clusters, blobs):
    X, y = blobs
    session = answered(X, y, n_clusters, unsure=5)
    asked = [frozenset(samples) for samples in session.history_["samples"]]
    assert len(set(asked)) == len(asked)
    assert ari(y, session.labels_) == 1.0


def test_far_fewer_answers_than_rows(blobs):
    X, y = blobs
    session = answered(X, y, 3)
    assert len(session) < len(X) / 4
    assert ari(y, Piles().labels(session._state)) == 1.0


def test_several_at_once_are_about_different_rows(blobs, make_state):
    X, _ = blobs
    state = make_state(X, 3, cannot=[(0, 10), (0, 20), (10, 20)])
    found = proposals(state, 3, size=5)
    assert len(found) == 3
    rows = [row for proposal in found for row in proposal.samples if row not in (0, 10, 20)]
    assert len(set(rows)) == len(rows)


def test_questions_in_the_air_are_not_asked_again(blobs, make_state):
    X, _ = blobs
    state = make_state(X, 3, cannot=[(0, 10), (0, 20), (10, 20)])
    (first,) = proposals(state, size=5)
    state.held = {frozenset(first.samples)}
    (second,) = proposals(state, size=5)
    assert not set(first.samples) & set(second.samples) - {0, 10, 20}


def test_known_groups_are_shown_by_one_row_each(blobs, make_state):
    X, _ = blobs
    must = [(0, 1), (1, 2), (10, 11), (11, 12), (20, 21)]
    state = make_state(X, 3, must, [(0, 10), (0, 20), (10, 20)])
    (proposal,) = proposals(state)
    groups = state.closure.group[list(proposal.samples)]
    assert len(set(groups)) == len(groups) == 10
    assert proposal.kind == "piles"
    assert "known groups" in proposal.why


def test_a_group_is_shown_by_the_row_nearest_to_its_mean(make_state):
    state = make_state([[0.0], [1.0], [2.3], [9.0]], must=[(0, 1), (1, 2)])
    units, _ = belonging(state)
    assert units.card.tolist() == [1, 3]
    assert units.size.tolist() == [3, 1]


def test_random_answers_do_not_stop_it(blobs):
    X, _ = blobs
    rng = np.random.RandomState(0)

    def guess(questions):
        return [
            ["must-link", "cannot-link"][rng.randint(2)]
            if question.kind == "pair"
            else [rng.randint(3, size=len(question.samples)).tolist(), "unsure"][rng.randint(2)]
            for question in questions
        ]

    session = ask(X, guess, 40, n_clusters=3, strategy="piles", batch=2, random_state=0)
    asked = {frozenset(samples) for samples in session.history_["samples"]}
    assert len(asked) == len(session)


@pytest.mark.parametrize("n_clusters", [None, 3])
def test_wrong_answers_do_not_stop_it(n_clusters, blobs):
    X, y = blobs
    oracle = Noisy(Labels(y), 0.1, 0.1, random_state=0)
    session = ask(X, oracle, 30, n_clusters=n_clusters, strategy="piles", random_state=0)
    assert len(session.labels_) == len(X)
    assert len(Piles().labels(session._state)) == len(X)


def test_when_the_rows_drawn_are_known_others_are_drawn():
    rng = np.random.RandomState(0)
    y = np.arange(90) % 2
    X = rng.normal(size=(90, 2)) + 5 * y[:, None]
    session = answered(X, y, 2, max_rows=20)
    assert set(np.concatenate(session.history_["samples"].tolist())) == set(range(90))
    assert ari(y, Piles(max_rows=20).labels(session._state)) == 1.0


def test_labels_of_rows_that_were_not_drawn():
    rng = np.random.RandomState(0)
    y = np.arange(90) % 2
    X = rng.normal(size=(90, 2)) + 8 * y[:, None]
    session = ask(X, Labels(y), 2, 2, Piles(max_rows=30), random_state=0, estimator="strategy")
    assert ari(y, session.labels_) == 1.0


# ------------------------------------------------------------------ where rows belong


def test_likelihood_is_that_of_normal_distributions():
    # Compare with the marginal likelihoods of all rows of a unit and a group, means integrated out.
    between, rng = np.array([2.0, 0.5]), np.random.RandomState(0)
    unit, group = rng.normal(size=(3, 2)), rng.normal(size=(4, 2)) + 1

    def marginal(rows):
        n = len(rows)
        return sum(
            multivariate_normal(np.zeros(n), np.eye(n) + b).logpdf(rows[:, axis])
            for axis, b in enumerate(between)
        )

    together = marginal(np.vstack([unit, group])) - marginal(group)
    alone = marginal(unit)
    mean = np.array([unit.mean(axis=0), group.mean(axis=0)])
    units = Units(np.arange(2), np.array([3, 4]), np.arange(2), mean, between)
    found = log_likelihood(units, np.array([1]))[0]
    assert found[0] - found[1] == pytest.approx(together - alone)


def test_axes_make_rows_of_a_group_alike_in_all_directions():
    rng = np.random.RandomState(0)
    within = np.diag([4.0, 0.25, 1.0])
    total = within + np.diag([1.0, 2.0, 0.0])
    turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    total, within = turned.T @ total @ turned, turned.T @ within @ turned
    axes, between = axes_of(total, within * 10**9, 10**9)
    np.testing.assert_allclose(axes.T @ within @ axes, np.eye(3), atol=1e-6)
    np.testing.assert_allclose(sorted(between), [1e-3, 0.25, 8.0], rtol=1e-3)


def test_concentration_is_that_which_expects_so_many_groups():
    found = concentration(20, 300)
    assert found * np.log1p(300 / found) == pytest.approx(20, rel=1e-3)
    assert concentration(0, 0) == 1.0


@pytest.mark.parametrize("n_clusters", [None, 3, 4])
def test_membership_by_known_rows(n_clusters, blobs, make_state):
    X, y = blobs
    must = [(0, 1), (1, 2), (10, 11), (11, 12), (20, 21)]
    state = make_state(X, n_clusters, must, [(0, 10), (0, 20), (10, 20), (5, 0)])
    units, found = belonging(state)
    np.testing.assert_allclose(found.probability.sum(axis=1), 1)
    assert found.n_known == 3
    own = y[units.card[found.groups[:3]]]
    is_row = np.isin(np.arange(len(units.name)), found.groups, invert=True) & (units.name != 5)
    best = found.probability[is_row].argmax(axis=1)
    assert (own[best] == y[units.name[is_row]]).mean() > 0.9
    first = own.tolist().index(0)
    assert found.probability[np.searchsorted(units.name, 5), first] == 0
    assert ((found.probability == 0) | (found.probability > LEAST / 2)).all()


def test_clusters_that_nobody_has_seen_are_supposed(blobs, make_state):
    X, y = blobs
    units, found = belonging(make_state(X))
    assert found.n_known == 0
    assert set(y[units.card[found.groups]]) == {0, 1, 2}
    assert len(belonging(make_state(X, 2))[1].groups) <= 2


# ------------------------------------------------------------------ which cards


def test_information_by_hand():
    found = information(np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]), np.array([[0, 1]]))
    expected = [np.log(2), 0.5 * np.log(2) + 0.5 * np.log(4)]
    np.testing.assert_allclose(found[0, 0], expected)
    np.testing.assert_allclose(found[1, 0], [0, 0], atol=1e-12)


def test_rows_between_the_same_groups_are_shown_together():
    # Units 4 to 7 are between groups 0 and 1, units 8 and 9 between 2 and 3.
    probability = np.full((10, 5), 0.0)
    probability[4:8, :2] = 0.5
    probability[8:, 2:4] = 0.5
    free = np.arange(10) >= 4
    found = chosen(Membership(np.arange(4), 4, probability), free, 6)
    assert set(found.groups) <= {0, 1}
    assert found.units == [4, 5, 6, 7]
    assert found.worth == pytest.approx(4 * np.log(2))


def test_nothing_to_choose():
    known = Membership(np.arange(2), 2, np.zeros((2, 3)))
    assert chosen(known, np.zeros(2, dtype=bool), 10) is None


def test_what_was_given_beforehand_is_not_asked(blobs):
    X, y = blobs
    given = Constraints.from_piles([np.flatnonzero(y == c).tolist() for c in range(3)])
    assert Session(X, strategy="piles", constraints=given).ask() == []
