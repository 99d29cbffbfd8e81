"""Who answers, and what `ask` does when they fail."""

import json
import threading
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans

from conclust import Constraints
from conclust.active import (
    Answer,
    Budgeted,
    Cached,
    Enough,
    Labels,
    Noisy,
    Question,
    Retried,
    Session,
    Table,
    Threaded,
    Voted,
    ask,
)
from conclust.exceptions import OracleError, SessionError
from tests.active.test_session import X, Y, begun, tell_truth


def driven(oracle, budget=10, **more):
    settings = {"n_clusters": 3, "strategy": "random", "random_state": 0, "estimator": KMeans(3)}
    return ask(X, oracle, budget, **settings | more)


def pair(a, b, rows=None):
    return Question((a, b), "pair", "", 1.0, 0, rows=rows)


def triple(*samples):
    return Question(samples, "triple", "", 1.0, 0)


def piles(*samples):
    return Question(samples, "piles", "", 1.0, 0)


class Counting:
    """Answers by labels and remembers how often it was asked."""

    def __init__(self, y=Y):
        self.labels, self.asked = Labels(y), []

    def __call__(self, questions):
        self.asked += [q.samples for q in questions]
        return self.labels(questions)


# ---------------------------------------------------------------------- asking until it is enough


def test_the_budget_is_spent_on_true_answers():
    session = driven(Labels(Y), 12)
    assert len(session) == 12
    assert session.constraints_.satisfied(Y).all()


def test_the_example_of_the_contract():
    session = ask(X, Labels(Y), budget=8, n_clusters=3, strategy="auto", random_state=0)
    assert session.labels_.shape == (12,)


@pytest.mark.parametrize("batch", [1, 4, 100])
def test_batches(batch):
    sizes = []

    def oracle(questions):
        sizes.append(len(questions))
        return Labels(Y)(questions)

    assert len(driven(oracle, 10, batch=batch)) == 10
    assert sizes == {1: [1] * 10, 4: [4, 4, 2], 100: [10]}[batch]


def test_asking_ends_when_everything_follows():
    assert len(driven(Labels(Y), 10_000)) < 66


def test_no_answer_is_a_skip():
    session = driven(lambda questions: [None] * len(questions), 5)
    assert session.history_["answer"].tolist() == ["skip"] * 5


def test_confidence_becomes_the_weight():
    sure = iter([1.0, 0.25, 0.0])
    session = driven(lambda qs: [Answer("must-link", next(sure))], 3)
    assert session.history_["answer"].tolist() == ["must-link", "must-link", "unsure"]
    assert session.constraints_.weight.tolist() == [1.0, 0.25]


def test_answers_are_kept_on_the_way(tmp_path):
    session = driven(Labels(Y), 6, path=tmp_path / "a.jsonl")
    assert Session.load(tmp_path / "a.jsonl", X).history_.equals(session.history_)


# ---------------------------------------------------------------------- oracles that fail


def failing(after, what):
    """True answers at first, then whatever `what` does."""
    state = {"left": after}

    def oracle(questions):
        if state["left"] < len(questions):
            return what(questions)
        state["left"] -= len(questions)
        return Labels(Y)(questions)

    return oracle


def shout(questions):
    raise ConnectionError("the line is dead")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (shout, "the oracle raised ConnectionError\\('the line is dead'\\)"),
        (lambda qs: [], "returned 0 answers to 1 questions; it has to return one each"),
        (lambda qs: ["must-link"] * 7, "returned 7 answers to 1 questions"),
        (lambda qs: None, "returned NoneType 'None'; it has to return a list"),
        (lambda qs: "must-link", "returned str 'must-link'; it has to return a list"),
        (lambda qs: ["perhaps"], "'perhaps' is no answer to question 4"),
        (lambda qs: [0.7], "0.7 is no answer to question 4"),
        (
            lambda qs: [Answer("must-link", "very")],
            "The confidence of .* has to be a number from 0 to 1",
        ),
        (lambda qs: [Answer("must-link", float("nan"))], "number from 0 to 1"),
    ],
)
def test_a_failing_oracle_loses_nothing(what, message):
    with pytest.raises(OracleError, match=message) as caught:
        driven(failing(4, what))
    assert len(caught.value.session) == 4
    assert caught.value.session.constraints_.satisfied(Y).all()
    tell_truth(caught.value.session, caught.value.session.ask(2))  # one can go on


def test_asking_goes_on_after_a_failure():
    with pytest.raises(
        OracleError, match=r"ask\(error.session, oracle, budget\) goes on"
    ) as caught:
        driven(failing(4, shout))
    session = ask(caught.value.session, Labels(Y), 3)
    assert session is caught.value.session
    assert len(session) == 7


def test_answers_of_a_batch_that_fit_are_told():
    with pytest.raises(OracleError, match="'x' is no answer") as caught:
        driven(lambda qs: ["x", *Labels(Y)(qs[1:])], batch=4)
    assert len(caught.value.session) == 3
    with pytest.raises(OracleError, match="returned 2 answers to 4 questions") as caught:
        driven(lambda qs: Labels(Y)(qs[:2]), batch=4)
    assert len(caught.value.session) == 2


def test_a_hanging_oracle():
    never = threading.Event()
    with pytest.raises(
        OracleError, match="did not answer 1 of 1 questions within 0.05 s"
    ) as caught:
        driven(failing(3, lambda qs: never.wait(20)), timeout=0.05)
    assert len(caught.value.session) == 3


@pytest.mark.parametrize("wrong", [{"budget": 0}, {"budget": 1.5}, {"batch": 0}])
def test_numbers_that_are_none(wrong):
    with pytest.raises(SessionError, match="must be a whole number above 0"):
        driven(Labels(Y), **wrong)


# ---------------------------------------------------------------------- one by one


def test_labels():
    oracle = Labels(Y)
    assert oracle([pair(0, 1), pair(0, 4)]) == ["must-link", "cannot-link"]
    assert oracle([triple(0, 4, 1), triple(0, 1, 2), triple(0, 4, 8)]) == [4, "unsure", "unsure"]
    assert oracle([piles(0, 4, 1)]) == [[0, 1, 0]]


def test_noisy_answers_are_wrong_as_often_as_said():
    questions = [pair(0, 1)] * 1000 + [pair(0, 4)] * 1000
    answers = Noisy(Labels(Y), p_must=0.3, p_cannot=0.1, random_state=0)(questions)
    assert 250 < answers[:1000].count("cannot-link") < 350
    assert 70 < answers[1000:].count("must-link") < 130
    assert answers == Noisy(Labels(Y), p_must=0.3, p_cannot=0.1, random_state=0)(questions)
    assert Noisy(Labels(Y), 0, 0)(questions) == Labels(Y)(questions)


def test_noisy_triples_and_piles():
    always = Noisy(Labels(Y), 1.0, 1.0, random_state=0)
    assert all(a in (0, 1) for a in always([triple(0, 4, 1)] * 20))
    for answer in always([piles(0, 1, 4, 8)] * 20):
        assert all(given != true for given, true in zip(answer, [0, 0, 1, 2], strict=True))
    assert always([triple(0, 1, 2)]) == ["unsure"]
    same = Noisy(lambda questions: ["must-link"] * len(questions), 1.0, random_state=0)
    assert all(a in (0, 1, 2) for a in same([triple(0, 1, 2)] * 20))
    with pytest.raises(ValueError, match="p_must=2 is a probability"):
        Noisy(Labels(Y), 2)


def test_a_table_of_constraints(tmp_path):
    known = Constraints([(0, 1), (1, 2)], [(2, 5)], [(8, 9, 0)])
    known.write(tmp_path / "links.csv")
    oracle = Table(tmp_path / "links.csv")
    asked = [pair(0, 2), pair(5, 0), pair(0, 7), pair(0, 11), triple(9, 0, 8), triple(1, 2, 3)]
    assert oracle(asked) == ["must-link", "cannot-link", None, None, 0, None]


def test_a_table_of_names(tmp_path):
    (tmp_path / "links.csv").write_text("a,b,type\nann,bob,same\n")
    assert Table(tmp_path / "links.csv", ids=["cid", "bob", "ann"])([pair(1, 2)]) == ["must-link"]


def test_a_session_is_replayed(tmp_path):
    first = begun(path=tmp_path / "a.jsonl")
    tell_truth(first, first.ask(9))
    first.undo()
    again = driven(Table(tmp_path / "a.jsonl"), 9, batch=9)
    columns = ["samples", "answer"]
    assert again.history_[columns][:8].equals(first.history_[columns])
    assert again.history_["answer"][8] == "skip"


def test_answers_are_remembered_by_content(tmp_path):
    path = tmp_path / "answers.jsonl"
    paid = Counting()
    first = driven(Cached(paid, path, "same kind?"), 10)
    assert len(paid.asked) == 10
    # Check in a new process' eyes: another object, the rows in another order.
    order = np.random.RandomState(1).permutation(12)
    where = np.argsort(order)
    free = Counting(Y[order])
    oracle = Cached(free, path, "same kind?")
    shuffled = Session(X[order], 3, strategy="random")
    for told in first._told.values():
        question = shuffled.pose(tuple(where[list(told.question.samples)])[::-1])
        assert oracle([question])[0].answer == told.answer
    assert free.asked == []
    Cached(free, path, "another prompt")([question])
    assert len(free.asked) == 1


def test_triples_and_piles_are_remembered_whatever_their_order(tmp_path):
    oracle = Cached(Counting(), tmp_path / "answers.jsonl")
    session = begun()
    assert oracle([session.pose((0, 4, 1), "triple")])[0].answer == 4
    assert oracle([session.pose((4, 1, 0), "triple")])[0].answer == 4
    same = Cached(lambda questions: ["must-link"], tmp_path / "same.jsonl")
    for _ in range(2):
        assert same([session.pose((2, 1, 0), "triple")])[0].answer == "must-link"
    assert oracle([session.pose((0, 4, 1, 8), "piles")])[0].answer == [0, 1, 0, 2]
    last = oracle([session.pose((8, 1, 4, 0), "piles")])[0].answer
    assert session.tell(session.pose((8, 1, 4, 0), "piles"), last).answer == [0, 1, 2, 1]
    assert len(oracle.oracle.asked) == 2


@pytest.mark.parametrize(
    "content",
    [None, [f"text {i}" for i in range(12)], pd.DataFrame({"a": range(12)}), sp.csr_array(X)],
    ids=["array", "texts", "frame", "sparse"],
)
def test_any_content_is_known_again(tmp_path, content):
    oracle = Cached(Counting(), tmp_path / "answers.jsonl")
    for _ in range(2):
        oracle(begun(content=content).ask(5))
    assert len(oracle.oracle.asked) == 5


def test_no_answer_is_not_remembered_and_a_torn_line_does_not_count(tmp_path):
    path = tmp_path / "answers.jsonl"
    (question,) = begun().ask()
    assert Cached(lambda qs: [None], path)([question]) == [None]
    Cached(Labels(Y), path)([question])
    path.write_bytes(path.read_bytes() + b'{"key": "torn')
    assert len(Cached(Labels(Y), path)._known) == 1
    assert json.loads(path.read_text())["answer"] in ("must-link", "cannot-link")
    path.write_text("a,b\n1,2\n")
    with pytest.raises(SessionError, match="is no file of remembered answers"):
        Cached(Labels(Y), path)
    with pytest.raises(SessionError, match="does not hold its rows"):
        Cached(Labels(Y), tmp_path / "b")([pair(0, 1)])


def test_votes():
    said = iter(["must-link", "cannot-link", Answer("must-link", cost=2.0)])
    assert Voted(lambda qs: [next(said)], 3)([pair(0, 1)]) == [Answer("must-link", 2 / 3, 2.0)]
    said = iter(["must-link", "cannot-link"])
    assert Voted(lambda qs: [next(said)], 2)([pair(0, 1)])[0].answer == "unsure"
    assert Voted(lambda qs: [None], 2)([pair(0, 1)]) == [None]
    noisy = Noisy(Labels(Y), 0.2, 0.2, random_state=0)
    right = [a.answer for a in Voted(noisy, 5)([pair(0, 1)] * 200)].count("must-link")
    assert right > 180


def test_a_budget_of_cost():
    oracle = Budgeted(lambda qs: [Answer("cannot-link", cost=0.4)], 1.0)
    session = driven(oracle, 100)
    assert len(session) == 3
    assert oracle.spent == pytest.approx(1.2)
    assert len(driven(Budgeted(Labels(Y), 5), 100, batch=4)) == 5


def test_enough_is_the_end_and_no_error():
    def oracle(questions):
        raise Enough(Labels(Y)(questions[:1]))

    assert len(driven(oracle, batch=3)) == 1


def test_retries():
    tries = []

    def shaky(questions):
        tries.append(time.monotonic())
        if len(tries) % 3:
            raise TimeoutError("busy")
        return Labels(Y)(questions)

    assert len(driven(Retried(shaky, times=3, wait=0.0), 4)) == 4
    assert len(tries) == 12
    with pytest.raises(OracleError, match="busy"):
        driven(Retried(shaky, times=2, wait=0.0))
    with pytest.raises(ValueError, match="at least once"):
        Retried(shaky, times=0)


def test_threads_answer_in_order():
    together = threading.Barrier(4, timeout=20)

    def slow(questions):
        together.wait()  # returns only when four are on their way at once
        return Labels(Y)(questions)

    questions = begun().ask(8)
    assert Threaded(slow, n_jobs=4)(questions) == Labels(Y)(questions)


def test_answers_of_other_threads_are_told_when_one_raises():
    def oracle(questions):
        if 0 in questions[0].samples:
            raise ConnectionError("no line")
        return Labels(Y)(questions)

    with pytest.raises(OracleError, match="no line") as caught:
        driven(Threaded(oracle, n_jobs=1), batch=50)
    assert caught.value.session.history_["answer"].isin(["must-link", "cannot-link"]).all()
