"""A session: asking, being told, taking back, and every wrong use of it."""

import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from conclust import Constraints, PCKMeans
from conclust.active import Labels, Noisy, Proposal, Session, Strategy, ask
from conclust.active._rows import MAX_ROWS_ASKED
from conclust.active._state import error_rate
from conclust.exceptions import SessionError

Y = np.repeat([0, 1, 2], 4)
X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[Y] + np.arange(12)[:, None] / 20


def begun(**more):
    return Session(
        X, 3, **{"strategy": "random", "random_state": 0, "estimator": PCKMeans(3)} | more
    )


def tell_truth(session, questions, y=Y):
    for question, answer in zip(questions, Labels(y)(questions), strict=True):
        session.tell(question, answer)


class Chosen(Strategy):
    """Proposes what it is given, whatever it is."""

    def __init__(self, proposals=()):
        self.proposals = proposals

    def propose(self, state, n, random_state):
        return list(self.proposals)


# ---------------------------------------------------------------------- asking


def test_answers_reach_labels_and_constraints(blobs):
    X, y = blobs
    session = Session(X, 3, strategy="random", random_state=0)
    tell_truth(session, session.ask(20), y)
    assert adjusted_rand_score(y, session.labels_) == 1
    assert session.constraints_.satisfied(y).all()
    assert len(session.constraints_) == len(session) == 20
    assert session.flip_rate_.must < 0.2
    assert list(session.history_.columns[:4]) == ["number", "question", "kind", "samples"]
    assert session.history_["seconds"].ge(0).all()


@given(st.integers(0, 10_000), st.lists(st.integers(1, 9), min_size=1, max_size=12))
@settings(max_examples=25)
def test_questions_are_distinct_and_open(seed, batches):
    # Check that no pair is asked twice, or though its answer followed from those told before.
    session = begun(random_state=seed)
    asked = set()
    for n in batches:
        questions = session.ask(n)
        pairs = [frozenset(q.samples) for q in questions]
        assert len(set(pairs) | asked) == len(pairs) + len(asked)
        known = session.constraints_.closure()
        assert not known.implied([q.samples for q in questions]).any()
        asked |= set(pairs)
        tell_truth(session, questions)
    assert len(session) == len(asked)


def test_asking_ends_when_everything_follows():
    session = begun()
    while questions := session.ask(4):
        tell_truth(session, questions)
    closure = session.constraints_.closure()
    assert closure.n_components == 3
    assert len(closure.apart) == 3


def test_pairs_of_a_strategy_that_are_not_open_are_left_out():
    proposals = [Proposal(pair, "", 1.0) for pair in [(0, 1), (1, 0), (1, 2), (0, 2), (4, 5)]]
    session = begun(strategy=Chosen(proposals), constraints=Constraints([(0, 1)]))
    assert [q.samples for q in session.ask(9)] == [(1, 2), (0, 2), (4, 5)]
    assert session.ask(9) == []  # held


def test_pairs_that_were_unsure_beforehand_are_not_asked():
    frame = pd.DataFrame({"a": [0, 0], "b": [1, 2], "type": ["unsure", "skip"]})
    small = Session(X[:3], 2, strategy="random", constraints=Constraints.from_frame(frame))
    assert [q.samples for q in small.ask(5)] == [(1, 2)]


def test_the_same_seed_asks_the_same():
    assert begun().ask(5) == begun().ask(5)
    assert begun().ask(5) != begun(random_state=1).ask(5)


def test_rows_of_a_frame_are_named():
    names = [f"r{i}" for i in range(12)]
    session = begun_on(pd.DataFrame(X, columns=["u", "v"], index=names))
    (question,) = session.ask()
    assert question.names == tuple(names[i] for i in question.samples)
    assert question.rows.index.tolist() == list(question.names)
    session.tell(question, "must-link", by="ann")
    frame = session.constraints_.to_frame()
    assert (frame["a"][0], frame["b"][0], frame["who"][0]) == (*question.names, "ann")


def begun_on(rows, **more):
    return Session(rows, 3, strategy="random", random_state=0, **more)


def test_what_is_shown_can_be_something_else_than_the_numbers():
    texts = [f"text {i}" for i in range(12)]
    (question,) = begun(content=texts).ask()
    assert question.rows == [texts[i] for i in question.samples]
    with pytest.raises(SessionError, match="content has 3 entries, but X has 12 rows"):
        begun(content=texts[:3])


def test_sparse_rows():
    session = begun_on(sp.csr_array(X), estimator=KMeans(3))
    tell_truth(session, session.ask(3))
    assert session.labels_.shape == (12,)


def test_many_features_are_brought_down():
    wide = np.random.RandomState(0).normal(size=(80, 120))
    for rows in (wide, sp.csr_array(wide)):
        session = Session(rows, 2, strategy="random", random_state=0)
        assert session._state.X.shape == (80, 50)


def test_any_estimator_and_any_number_of_clusters():
    session = Session(X, estimator=KMeans(2, random_state=0), strategy="random")
    assert len(set(session.labels_.tolist())) == 2
    assert len(set(begun(estimator=KMeans(2)).labels_.tolist())) == 3  # the session's number


def test_above_many_rows_questions_are_about_a_sample():
    rng = np.random.RandomState(0)
    many = rng.normal(size=(MAX_ROWS_ASKED + 500, 2))
    last = len(many) - 1
    given = Constraints([(0, last)])
    session = Session(
        many, 2, estimator=KMeans(2), strategy="random", constraints=given, random_state=0
    )
    state = session._state
    assert state.n_samples == MAX_ROWS_ASKED
    assert session._rows.positions[state.constraints.must_link].tolist() == [[0, last]]
    questions = session.ask(20)
    tell_truth(session, questions, np.zeros(len(many), dtype=int))
    assert (session.constraints_.must_link[1:] == [q.samples for q in questions]).all()
    assert len(session.labels_) == len(many)
    unseen = int(np.setdiff1d(np.arange(len(many)), session._rows.positions)[0])
    session.tell(session.pose((0, unseen)), "must-link")
    assert [0, unseen] in session.constraints_.must_link.tolist()
    assert (session._state.constraints.must_link.shape) == (22, 2)


# ---------------------------------------------------------------------- several people


def test_nobody_is_handed_what_another_holds():
    session = begun()
    anns, bobs = session.ask(5, by="ann"), session.ask(5, by="bob")
    assert not {frozenset(q.samples) for q in anns} & {frozenset(q.samples) for q in bobs}
    with pytest.raises(SessionError, match="Question 0 is with 'ann', so 'bob' cannot answer it"):
        session.tell(anns[0], "must-link", by="bob")
    assert session.tell(anns[0], "must-link").by == "ann"


def test_a_lease_expires_and_the_first_answer_counts():
    session = begun(strategy=Chosen([Proposal((0, 1), "", 1.0)]), lease=0.0)
    (anns,), (bobs,) = session.ask(by="ann"), session.ask(by="bob")
    assert anns.samples == bobs.samples
    session.tell(anns, "must-link", by="ann")
    with pytest.raises(SessionError, match="answered by somebody else meanwhile"):
        session.tell(bobs, "cannot-link", by="bob")
    assert len(session) == 1


def test_of_two_who_answer_at_once_one_is_told_so():
    session, start = begun(), threading.Barrier(6)
    (question,) = session.ask()
    refused = []

    def work(name):
        start.wait()
        try:
            session.tell(question, "must-link", by=name)
        except SessionError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=work, args=(f"p{i}",)) for i in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(session) == 1
    assert len(refused) == 5
    assert all("was answered by" in message for message in refused)


def test_threads():
    # Check that eight people at once are handed different pairs and lose no answer.
    session, failed = begun(), []
    seen = []

    def work(name):
        try:
            for _ in range(4):
                for question in session.ask(1, by=name):
                    seen.append(frozenset(question.samples))
                    session.tell(question, Labels(Y)([question])[0], by=name)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(f"p{i}",)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failed
    assert len(seen) == len(set(seen)) == len(session)


# ---------------------------------------------------------------------- answers of other kinds


def test_the_odd_one_out():
    session = begun()
    assert session.tell(session.pose((4, 0, 1), "triple"), 4).answer == 4
    assert session.tell(session.pose((8, 9, 3), "triple"), 2).answer == 3  # its place
    session.tell(session.pose((5, 6, 7), "triple"), "unsure")
    assert session.constraints_.relative.tolist() == [[0, 1, 4], [8, 9, 3]]


def test_all_three_the_same_or_all_different():
    session = begun()
    session.tell(session.pose((0, 1, 2), "triple"), "must-link")
    session.tell(session.pose((0, 4, 8), "triple"), "cannot-link")
    known = session.constraints_
    assert known.must_link.tolist() == [[0, 1], [1, 2]]
    assert known.cannot_link.tolist() == [[0, 4], [0, 8], [4, 8]]
    assert len(known.relative) == 0


@pytest.mark.parametrize("answer", [[[0, 1], [4], [8, 9]], ["a", "a", "b", "c", "c"]])
def test_piles(answer):
    session = begun()
    session.tell(session.pose((0, 1, 4, 8, 9), "piles"), answer, weight=2.0)
    known = session.constraints_
    assert known.must_link.tolist() == [[0, 1], [8, 9]]
    assert known.cannot_link.tolist() == [[0, 4], [0, 8], [4, 8]]
    assert (known.weight == 2).all()
    assert int(session._state.closure.implied(1, 9)) == -1


def test_unsure_and_skip_say_nothing_but_are_not_asked_again():
    session = begun()
    first, second = session.ask(2)
    session.tell(first, "unsure")
    session.tell(second, "skip")
    assert len(session.constraints_) == 0
    assert len(session.constraints_.skipped) == 2
    everything = []
    while questions := session.ask(10):
        everything += [frozenset(q.samples) for q in questions]
        tell_truth(session, questions)
    assert frozenset(first.samples) not in everything


# ---------------------------------------------------------------------- wrong uses


def test_a_question_is_answered_once():
    session = begun()
    (question,) = session.ask()
    session.tell(question, "must-link", by="ann")
    with pytest.raises(SessionError, match="Question 0 was answered by 'ann' already, as answer 0"):
        session.tell(question, "cannot-link")
    assert len(session) == 1


def test_an_answer_after_undo():
    session = begun()
    (question,) = session.ask()
    session.tell(question, "must-link")
    assert session.undo().question == question
    with pytest.raises(SessionError, match="answer 0 was taken back; ask\\(\\) for another"):
        session.tell(question, "must-link")
    assert session.ask()[0].samples == question.samples  # open again


def test_a_question_never_asked():
    session, other = begun(), begun(random_state=1)
    session.ask()
    for question in (other.ask(3)[2], other.ask()[0], 17, "x", None, [0]):
        with pytest.raises(SessionError, match="was not asked in this session"):
            session.tell(question, "must-link")
    session.tell(0, "must-link")  # by its number
    assert len(session) == 1


@pytest.mark.parametrize(
    ("samples", "kind", "answer", "message"),
    [
        (
            (0, 1),
            "pair",
            "maybe",
            "'maybe' is no answer to question 0, a pair; it takes 'must-link'",
        ),
        ((0, 1), "pair", True, "it takes 'must-link'"),
        ((0, 1), "pair", None, "None is no answer"),
        ((0, 1), "pair", 1, "it takes 'must-link'"),
        ((7, 8, 9), "triple", "same", r"the odd one out, as a row \(7, 8, 9\)"),
        ((7, 8, 9), "triple", 5, "the odd one out"),
        ((7, 8, 9), "triple", 1.5, "the odd one out"),
        ((0, 1, 2), "piles", [[0, 1]], "each of \\(0, 1, 2\\) once"),
        ((0, 1, 2), "piles", [[0, 1], [1, 2]], "once"),
        ((0, 1, 2), "piles", [[0, 1], 2], "lists of the rows"),
        ((0, 1, 2), "piles", [1, 2], "3 rows"),
        ((0, 1, 2), "piles", "must-link", "lists of the rows"),
        ((0, 1, 2), "piles", 3, "lists of the rows"),
    ],
)
def test_an_answer_of_the_wrong_kind(samples, kind, answer, message):
    session = begun()
    question = session.pose(samples, kind)
    with pytest.raises(SessionError, match=message):
        session.tell(question, answer)
    assert len(session) == 0
    session.tell(question, "unsure")  # it can still be answered


@pytest.mark.parametrize("weight", [0, -1, np.nan, np.inf, "much", None])
def test_a_weight_that_is_none(weight):
    session = begun()
    (question,) = session.ask()
    with pytest.raises(SessionError, match="must be a positive number"):
        session.tell(question, "must-link", weight=weight)


@pytest.mark.parametrize(
    ("samples", "kind", "message"),
    [
        ((0, 0), "pair", "has 2 rows"),
        ((0, 1, 2), "pair", "has 2 rows"),
        ((0, 12), "pair", "rows count from 0 to 11"),
        ((-1, 0), "pair", "rows count from 0 to 11"),
        (range(11), "piles", "has 2 to 10 rows"),
        ((0, 1), "guess", "none of 'pair', 'triple', 'piles'"),
    ],
)
def test_questions_that_cannot_be_posed(samples, kind, message):
    with pytest.raises(SessionError, match=message):
        begun().pose(samples, kind)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 must be a whole number"),
        ({"n_clusters": True}, "n_clusters=True"),
        ({"strategy": "best"}, "strategy='best' is none of 'auto'"),
        ({"strategy": 3}, "nor an object with `propose`"),
        ({"recheck": 2}, "recheck=2 must be a number from 0 to 1"),
        ({"lease": -1}, "lease=-1 must be a number from 0 to inf"),
    ],
)
def test_sessions_that_cannot_begin(wrong, message):
    with pytest.raises(SessionError, match=message):
        Session(X, **{"n_clusters": 3} | wrong)


def test_ask_for_nothing():
    with pytest.raises(SessionError, match="n=0: the number of questions"):
        begun().ask(0)


def test_nothing_to_take_back():
    session = begun()
    with pytest.raises(SessionError, match="There is no answer to take back"):
        session.undo()
    with pytest.raises(SessionError, match="There is no answer 7 to take back"):
        session.retract(7)
    tell_truth(session, session.ask(2))
    with pytest.raises(SessionError, match="to take back by 'ann'"):
        session.undo(by="ann")


def test_ids_of_other_rows():
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(12)])
    links = pd.DataFrame({"a": ["r0"], "b": ["r1"], "type": ["ml"]})
    known = Constraints.from_frame(links, ids=frame.index)
    assert begun_on(frame, constraints=known).constraints_ == known
    with pytest.raises(SessionError, match="not the index of X"):
        begun_on(frame[::-1], constraints=known)


# ---------------------------------------------------------------------- taking back


ANSWERS = st.sampled_from(["must-link", "cannot-link", "unsure", "skip"])


@given(
    st.lists(st.one_of(ANSWERS, st.just("undo"), st.integers(0, 20)), max_size=25),
    st.integers(0, 50),
)
@settings(max_examples=40)
def test_taking_back_is_never_having_been_told(steps, seed):
    # Check that answers, undo and retract in any order leave what telling the rest leaves.
    session = begun(random_state=seed)
    for step in steps:
        standing = session.history_["number"].tolist()
        if step == "undo":
            if standing:
                session.undo()
        elif isinstance(step, int):
            if standing:
                session.retract(standing[step % len(standing)])
        else:
            for question in session.ask():
                session.tell(question, step)
    fresh = begun(random_state=seed)
    for told in session._told.values():
        fresh.tell(fresh.pose(told.question.samples), told.answer)
    assert_same(session, fresh)


def assert_same(one, other):
    columns = ["samples", "answer", "weight", "by"]
    assert one.history_[columns].equals(other.history_[columns])
    assert one.constraints_ == other.constraints_
    first, second = one._state, other._state
    assert first.asked == second.asked
    assert first.constraints == second.constraints
    everything = np.triu_indices(first.n_samples, k=1)
    assert (first.closure.implied(*everything) == second.closure.implied(*everything)).all()
    assert first.closure.n_contradicted == second.closure.n_contradicted
    assert (one.labels_ == other.labels_).all()
    assert [q.samples for q in one.ask(3)] == [q.samples for q in other.ask(3)]


def test_undo_of_one_person():
    session = begun()
    (first,), (second,) = session.ask(by="ann"), session.ask(by="bob")
    session.tell(first, "must-link")
    session.tell(second, "must-link")
    assert session.undo(by="ann").question == first
    assert session.history_["by"].tolist() == ["bob"]


# ---------------------------------------------------------------------- what is known


def test_contradictory_answers_are_listed_and_do_not_stop_the_session():
    session = begun()
    for pair, answer in [((0, 1), "must-link"), ((1, 2), "must-link"), ((0, 2), "cannot-link")]:
        session.tell(session.pose(pair), answer)
    (conflict,) = session.conflicts()
    assert "0 – 1 – 2" in str(conflict)
    assert len(session.ask(3)) == 3
    assert session.labels_.shape == (12,)


def test_the_rate_of_errors_is_estimated_from_the_rows_too():
    X, y = load_iris(return_X_y=True)
    session = ask(X, Noisy(Labels(y), 0.1, 0.3, random_state=2), 150, 3, "random", random_state=2)
    pairs = session.constraints_.pairs()
    wrong = pairs.violated(y)[pairs.sign > 0]
    assert wrong.mean() > 0.2
    assert session.flip_rate_.must == pytest.approx(wrong.mean(), abs=0.1)
    assert session.flip_rate_.cannot < 0.1


def test_contradictions_raise_the_estimated_rate_of_errors():
    calm, torn = begun(), begun()
    for session, second in ((calm, "must-link"), (torn, "cannot-link")):
        for pair in [(0, 1), (2, 3), (4, 5), (6, 7)]:
            session.tell(session.pose(pair), "must-link")
            session.tell(session.pose(pair), second)
    assert calm.flip_rate_.must < 0.05 < 0.09 < torn.flip_rate_.must


@pytest.mark.parametrize("p", [0.0, 0.1, 0.25])
def test_the_error_rate_is_found_from_answers_given_twice(p):
    # Check that with many answers it does not matter what was expected.
    n_contradicted = round(50_000 * 2 * p * (1 - p))
    for expected in (0.01, 0.3):
        found = error_rate(50_000 - n_contradicted, n_contradicted, expected)
        assert found == pytest.approx(p, abs=0.001)
    assert error_rate(0, 0, 0.3) == 0.3


def test_some_questions_are_asked_again():
    session = begun(recheck=0.5)
    asked = []
    for _ in range(12):
        for question in session.ask(2):
            asked.append(frozenset(question.samples))
            tell_truth(session, [question])
    assert 3 < len(asked) - len(set(asked)) < 18
    assert session._state.closure.n_agreed > 0


def test_expected_change():
    session = begun()
    assert np.isnan(session.expected_change_.share)
    assert str(session.expected_change_) == "Nothing was answered yet."
    tell_truth(session, session.ask(3))
    assert "too few to say" in session.expected_change_.sentence
    while questions := session.ask(4):
        tell_truth(session, questions)
    change = session.expected_change_
    assert float(change) == 0
    assert "more answers will hardly change this" in str(change)


def test_rows_that_the_last_answers_moved_are_expected_to_move_again():
    # Check with rows that say nothing about the answers, so that each answer moves some.
    rng = np.random.RandomState(0)
    session = Session(rng.normal(size=(30, 2)), 2, estimator=PCKMeans(2), random_state=0)
    tell_truth(session, session.ask(20), rng.randint(2, size=30))
    assert session.expected_change_.share > 0.1
    assert "may move about" in str(session.expected_change_)
