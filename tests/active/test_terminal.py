"""A person at the terminal."""

import io

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from conclust.active import Question, Terminal, ask
from conclust.active.terminal import shown, typed_answer
from conclust.exceptions import SessionError
from tests.active.test_session import X


def question(rows, kind="pair", names=("ann", "bob")):
    return Question(tuple(range(len(names))), kind, "why not", 1.0, 0, names, rows)


def test_values_that_differ_are_marked_and_come_first():
    frame = pd.DataFrame({"town": ["Rome", "Rome"], "age": [31.0, 40.25]})
    lines = shown(question(frame)).splitlines()
    assert lines == ["         ann    bob", "≠ age    31     40.25", "  town   Rome   Rome"]


@pytest.mark.parametrize(
    "rows", [np.array([[1.0, 2.0], [1.0, 3.0]]), sp.csr_array([[1.0, 2.0], [1.0, 3.0]])]
)
def test_numbers(rows):
    assert shown(question(rows)).splitlines()[1:] == ["≠ x1   2     3", "  x0   1     1"]


def test_long_texts_are_wrapped_and_control_characters_go():
    text = shown(question(["word " * 30, "a\x1b[31mred\nline"]))
    assert max(map(len, text.splitlines())) < 90
    assert "\x1b" not in text
    assert "a [31mred line" in text


def test_many_columns_are_cut():
    wide = pd.DataFrame(np.zeros((2, 60)))
    assert shown(question(wide)).endswith("… and 20 more columns")


@pytest.mark.parametrize(
    ("kind", "typed", "answer"),
    [
        ("pair", " Y ", "must-link"),
        ("pair", "no", "cannot-link"),
        ("pair", "u", "unsure"),
        ("pair", "enough", None),
        ("triple", "3", 2),
        ("triple", "unsure", "unsure"),
        ("triple", "s", "must-link"),
        ("triple", "different", "cannot-link"),
        ("piles", "aab", [0, 0, 1]),
        ("piles", "a b b", [0, 1, 1]),
    ],
)
def test_what_is_typed(kind, typed, answer):
    names = ("ann", "bob") if kind == "pair" else ("ann", "bob", "cid")
    assert typed_answer(question(None, kind, names), typed) == answer


@pytest.mark.parametrize(("kind", "typed"), [("pair", "yy"), ("triple", "4"), ("piles", "ab")])
def test_what_is_typed_wrongly(kind, typed):
    with pytest.raises(SessionError):
        typed_answer(question(None, kind, ("ann", "bob", "cid")), typed)


def test_a_person_answers_until_it_is_enough(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\nwhat\nn\nq\n"))
    session = ask(X, Terminal(), 10, strategy="random", random_state=0, batch=5)
    assert session.history_["answer"].tolist() == ["must-link", "cannot-link"]
    assert "type y, n, u (unsure) or q (enough)" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert len(ask(X, Terminal(), 10, strategy="random", random_state=0)) == 1


def test_rows_of_piles_are_listed():
    frame = pd.DataFrame({"town": ["Rome"] * 3, "age": [31.0, 40.25, 3.0]})
    lines = shown(question(frame, "piles", ("ann", "bob", "cid"))).splitlines()
    assert lines == [
        " 1 ann   age: 31, town: Rome",
        " 2 bob   age: 40.25, town: Rome",
        " 3 cid   age: 3, town: Rome",
    ]
    long = shown(question(["word " * 40, "b\x1b", "c"], "piles", ("ann", "bob", "cid")))
    assert max(map(len, long.splitlines())) <= 100
    assert long.splitlines()[1].startswith(" " * 9 + "word")
    assert "\x1b" not in long


def test_a_person_sorts_piles(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("aabbc\nq\n"))
    rows = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    session = ask(rows, Terminal(), 10, strategy="piles", random_state=0)
    assert session.history_["kind"].tolist() == ["piles"]
    assert "a letter for each row" in capsys.readouterr().out
