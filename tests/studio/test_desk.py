"""Leases, and names of questions."""

import pytest

from conclust.exceptions import SessionError
from conclust.studio._desk import LEAST_READY, Desk, new_question, question_of


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def desk(clock):
    return Desk(lease=10.0, now=clock)


def always(question):
    return True


def test_nobody_gets_what_another_holds(desk):
    desk.put([new_question("pair", pair, "") for pair in [(0, 1), (1, 0), (2, 3)]])
    first = desk.hand_out(desk.take("pair", always), "ann")
    second = desk.hand_out(desk.take("pair", always), "bob")
    assert (first.samples, second.samples) == ((0, 1), (2, 3))
    assert desk.take("pair", always) is None
    with pytest.raises(SessionError, match="is with 'ann', so 'bob' cannot answer it"):
        desk.find(first.id, "bob", 9)


def test_after_the_lease_others_may_answer(desk, clock):
    question = desk.hand_out(new_question("pair", (0, 1), "why"), "ann")
    assert desk.held_by("ann", "pair") == question
    clock.now = 11.0
    assert desk.held_by("ann", "pair") is None
    assert desk.find(question.id, "bob", 9).samples == (0, 1)
    assert desk.held_rows() == set()


def test_questions_that_are_none_any_more_are_left_out(desk):
    desk.put([new_question("pair", (0, 1), ""), new_question("pair", (2, 3), "")])
    assert desk.take("pair", lambda question: 0 not in question.samples).samples == (2, 3)


def test_as_many_are_ready_as_were_taken_lately(desk, clock):
    assert desk.n_wanted("pair") == LEAST_READY
    assert desk.n_wanted("piles") == 0  # nobody asks for them
    for _ in range(40):
        desk.take("pair", always)
    assert desk.n_wanted("pair") == 80
    clock.now = 60.0
    assert desk.n_wanted("pair") == LEAST_READY


def test_a_name_is_enough_to_answer():
    question = new_question("triple", (3, 1, 2), "why")
    assert question_of(question.id, 9).samples == (3, 1, 2)
    assert question_of(question.id, 9).kind == "triple"


@pytest.mark.parametrize(
    ("name", "match"),
    [
        (None, "None is no question"),
        (7, "7 is no question"),
        ("x" * 1000, "is no question"),
        ("pair-1-2", "is no question"),
        ("pair-1-1-00000000", "named twice"),
        ("pair-1-99-00000000", "there is no row 99; rows count from 0 to 8"),
        ("pair-1-2-3-00000000", "a question of kind pair has 2 rows; got 3".capitalize()),
        ("pair-1-2-00000000\n", "is no question"),
        (["pair"], "is no question"),
    ],
)
def test_nonsense_names(name, match):
    with pytest.raises(SessionError, match=match):
        question_of(name, 9)
