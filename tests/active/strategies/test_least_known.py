"""The strategy "auto": the row whose group is least known."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score as ari

from conclust.active import STRATEGIES, Labels, LeastKnown, Session, _rates, ask
from conclust.active.strategies._least_known import (
    _distance,
    _surest,
    believed,
    membership,
    tempered,
    trusting,
    worth_of,
)
from conclust.active.strategies._neighborhoods import find_neighborhoods
from tests.active.strategies.conftest import tell

RNG = np.random.RandomState(0)


LEAST_KNOWN = LeastKnown(n_random=0)


def outlook_of(state):
    LEAST_KNOWN.propose(state, 1, RNG)
    return state.memory["outlook"]


def test_auto_is_this_one():
    assert STRATEGIES["auto"] is LeastKnown


def test_begins_at_random_and_chooses_more_and_more(blobs, make_state):
    X, _ = blobs
    state = make_state(X, 3, cannot=[(0, 10), (0, 20), (10, 20)])
    shares = []
    for state.n_told in (0, 30, 300):
        whys = [LeastKnown().propose(state, 1, np.random.RandomState(i))[0].why for i in range(60)]
        shares.append(np.mean(["random" in why for why in whys]))
    assert shares[0] == 1.0
    assert 0.25 < shares[1] < 0.75
    assert shares[2] < 0.25


def test_clusters_without_answers_come_first(blobs, make_state):
    X, y = blobs
    state = make_state(X, 3, must=[(0, 1)], cannot=[(0, 10)])
    (proposal,) = LEAST_KNOWN.propose(state, 1, RNG)
    assert 2 in y[list(proposal.samples)]


def test_a_row_is_settled_before_the_next(blobs, make_state):
    X, _ = blobs
    state = make_state(X, 3, cannot=[(0, 10), (0, 20), (10, 20)])
    (first,) = LEAST_KNOWN.propose(state, 1, RNG)
    row = next(r for r in first.samples if r not in (0, 10, 20))
    tell(state, *first.samples, -1)
    (second,) = LEAST_KNOWN.propose(state, 1, RNG)
    assert row in second.samples


def test_rows_begun_are_settled_where_the_number_is_not_known(blobs, make_state):
    # Check that a row turned away by two of three groups is asked about, sure as its place seems.
    X, y = blobs
    row = int(np.flatnonzero(y == 2)[-1])
    groups = [np.flatnonzero(y == c)[:4].tolist() for c in range(3)]
    must = [(rows[0], other) for rows in groups for other in rows[1:]]
    firsts = [rows[0] for rows in groups]
    cannot = [(a, b) for i, a in enumerate(firsts) for b in firsts[:i]]
    for away in ([], [(row, firsts[0]), (row, firsts[1])]):
        state = make_state(X, None, must=must, cannot=[*cannot, *away])
        found = LEAST_KNOWN.propose(state, 3, np.random.RandomState(0))
        assert any(row in proposal.samples for proposal in found) == bool(away)


def test_the_likeliest_group_is_asked_about_first(blobs, make_state):
    X, y = blobs
    state = make_state(X, 3, cannot=[(0, 10), (0, 20), (10, 20)])
    for proposal in LEAST_KNOWN.propose(state, 5, RNG):
        assert y[proposal.samples[0]] == y[proposal.samples[1]]


def test_what_follows_from_a_wrong_answer_is_asked(blobs, make_state):
    X, _ = blobs
    right = [(0, 1), (1, 2), (0, 3), (10, 11), (11, 12), (10, 13), (20, 21), (21, 22), (20, 23)]
    state = make_state(X, 3, must=[*right, (4, 10)], cannot=[(0, 10), (0, 20), (10, 20)])
    _, doubt = believed(state, outlook_of(state))
    pairs = list(map(tuple, state.constraints.pairs().pairs.tolist()))
    assert {pairs[i] for i in np.flatnonzero(doubt > 0.5)} == {(4, 10)}
    trusted = trusting(state, doubt)
    assert state.closure.implied(4, 11) == 1
    assert trusted.closure.implied(4, 11) == 0
    proposals = LEAST_KNOWN.propose(state, 20, RNG)
    again = [proposal for proposal in proposals if proposal.doubted]
    assert again
    for proposal in again:
        assert state.closure.implied(*proposal.samples)
        assert frozenset(proposal.samples) not in state.asked


def test_answers_that_nobody_doubts_are_not_asked_about_again(blobs, make_state):
    X, _ = blobs
    state = make_state(X, 3, must=[(0, 1), (10, 11), (20, 21)], cannot=[(0, 10), (0, 20), (10, 20)])
    _, doubt = believed(state, outlook_of(state))
    assert trusting(state, doubt) is state
    assert not any(proposal.doubted for proposal in LEAST_KNOWN.propose(state, 20, RNG))


def test_a_session_gets_over_a_wrong_answer(blobs):
    X, y = blobs
    session = Session(X, 3, strategy=LEAST_KNOWN, random_state=0)
    wrong = session.pose((4, 15))
    session.tell(wrong, "must-link")
    for _ in range(40):
        for question in session.ask(1):
            a, b = question.samples
            session.tell(question, "must-link" if y[a] == y[b] else "cannot-link")
    assert ari(y, session.labels_) == 1.0
    about = [t for t in session.history_.itertuples() if {4, 15} & set(t.samples)]
    assert len(about) > 1, "rows of the wrong answer were asked about again"


def test_membership_adds_up(blobs, make_state):
    X, y = blobs
    for n_clusters, n_columns in ((3, 3), (4, 4), (None, 4)):
        state = make_state(X, n_clusters, cannot=[(0, 10), (0, 20), (10, 20)])
        outlook = outlook_of(state)
        known = find_neighborhoods(state, RNG)
        assert len(known) == 3
        found = membership(state, outlook, believed(state, outlook)[0], known)
        assert found.shape == (len(X), n_columns)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        own = np.array([y[each.core[0]] for each in known])
        assert (own[found[:, :3].argmax(axis=1)] == y).all()


def test_worth_by_hand():
    belongs = np.array([[0.5, 0.5], [1.0, 0.0]])
    near = np.array([[1], [0]])
    found = worth_of(belongs, near)
    assert found[0] == pytest.approx(np.log(2) * (np.log(2) / 2))
    assert found[1] == 0


def test_a_row_that_could_be_anywhere_is_worth_less_than_one_between_two():
    anywhere, between = np.full(20, 0.05), np.r_[0.5, 0.4, np.full(18, 0.1 / 18)]
    worth = worth_of(np.array([anywhere, between]), np.array([[0], [1]]))
    assert worth[1] > worth[0]


def test_rows_known_to_be_apart_from_a_group_do_not_belong_to_it(blobs, make_state):
    X, _ = blobs
    state = make_state(X, 3, cannot=[(0, 10), (0, 20), (10, 20), (5, 0)])
    outlook, known = outlook_of(state), find_neighborhoods(state, RNG)
    found = membership(state, outlook, believed(state, outlook)[0], known)
    first = next(h for h, each in enumerate(known) if 0 in each.core)
    assert found[5, first] == 0
    assert found[5].sum() == pytest.approx(1)


def test_how_much_closeness_counts_is_learned_from_known_rows():
    """In 200 dimensions distances differ by little; they tell the groups all the same."""
    rng = np.random.RandomState(0)
    group = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 200)) + 0.5 * rng.normal(size=(3, 200))[group]
    inside = [np.flatnonzero(group == h)[:10] for h in range(3)]
    away = np.array([_distance(X, X[rows], rows) for rows in inside]).T
    even = np.zeros((60, 3))
    usual = np.exp(-2 * np.log(away))
    usual /= usual.sum(axis=1, keepdims=True)
    learned = tempered(even, away, inside)
    own = np.arange(60), group
    np.testing.assert_allclose(learned.sum(axis=1), 1)
    assert learned[own].mean() > 0.8 > 0.5 > usual[own].mean()
    # Nobody is known: the usual power.
    np.testing.assert_allclose(tempered(even, away, [np.array([h]) for h in range(3)]), usual)


def test_many_rows_are_drawn_from(make_state):
    X = np.random.RandomState(0).normal(size=(300, 2)) + 6 * (np.arange(300) % 2)[:, None]
    state = make_state(X, 2, must=[(7, 9)], cannot=[(7, 8)])
    found = LeastKnown(n_random=0, max_rows=50).propose(state, 3, RNG)
    rows = state.memory["outlook"].rows
    assert 50 <= len(rows) <= 53
    assert {7, 8, 9} <= set(rows)
    assert set(np.concatenate([one.samples for one in found])) <= set(rows)
    assert len(found) == 3


def test_models_are_fitted_again_only_now_and_then(monkeypatch):
    # Pairs at random are among the rows looked at, so that none of them needs a new look.
    fitted = []

    class Counted(_rates.AutoCluster):
        def fit(self, X, y=None, *, constraints=None):
            fitted.append(len(X))
            return super().fit(X, y, constraints=constraints)

    monkeypatch.setattr(_rates, "AutoCluster", Counted)
    X = np.random.RandomState(0).normal(size=(400, 2)) + 6 * (np.arange(400) % 2)[:, None]
    ask(X, Labels(np.arange(400) % 2), 30, 2, LeastKnown(max_rows=60), random_state=0)
    # All rows are looked at for the share of wrong answers, after 12 and 24 of them.
    assert fitted.count(400) == 2
    assert set(fitted) == {60, 400}
    assert len(fitted) <= 12


def test_rows_are_compared_with_those_that_are_most_surely_there(blobs, make_state):
    # Row 1 is where it is by three answers, row 4, which is nearest to many, by a single one.
    X, _ = blobs
    state = make_state(
        X, 3, must=[(0, 1), (1, 2), (1, 3), (0, 4)], cannot=[(0, 10), (0, 20), (10, 20)]
    )
    outlook = outlook_of(state)
    probability, _ = believed(state, outlook)
    group = next(g for g in find_neighborhoods(state, RNG) if 1 in g.core)
    probability[:, :] = 0.01
    cluster = 0
    probability[np.searchsorted(outlook.rows, [0, 1, 2, 3, 4]), cluster] = (
        0.99,
        0.9999,
        0.9,
        0.9,
        0.6,
    )
    assert _surest(outlook, probability, group).tolist() == [1]
    probability[np.searchsorted(outlook.rows, [0, 1, 2, 3, 4]), cluster] = 1.0
    assert set(_surest(outlook, probability, group)) == {0, 1, 2, 3, 4}


def test_better_than_pairs_at_random():
    X, y = load_iris(return_X_y=True)
    ours, random = (
        np.mean(
            [
                ari(y, ask(X, Labels(y), 30, n_clusters=3, strategy=s, random_state=seed).labels_)
                for seed in range(2)
            ]
        )
        for s in ("auto", "random")
    )
    assert ours > random - 0.02
    assert ours > 0.9
