"""Answers: which there are, whether one fits its question, and what it says as statements."""

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from conclust.active._question import Question
from conclust.constraints import pairs_of_piles
from conclust.exceptions import SessionError

MUST_LINK, CANNOT_LINK, UNSURE, SKIP = "must-link", "cannot-link", "unsure", "skip"
NO_ANSWER = (UNSURE, SKIP)
SIGN = {MUST_LINK: 1, CANNOT_LINK: -1}
MAX_PILED = 10  # rows; more are not seen at a glance


class Told(NamedTuple):
    """One answer, as it is kept."""

    number: int
    question: Question
    answer: Any  # a word, the odd row, or the pile of each row
    weight: float
    by: str | None
    when: str
    seconds: float


class Said(NamedTuple):
    """An answer as statements about rows."""

    must_link: list[tuple[int, int]]
    cannot_link: list[tuple[int, int]]
    relative: list[tuple[int, int, int]]


def checked(question: Question, answer: Any) -> Any:
    """The answer in the form it is kept in, or a message that says which there are.

    Returns
    -------
    A word; for a triple the odd row or a word; for piles a list with the pile of each row.
    """
    if isinstance(answer, str) and answer in NO_ANSWER:
        return answer
    return _CHECKS[question.kind](question, answer)


def _checked_pair(question: Question, answer: Any) -> str:
    if isinstance(answer, str) and answer in SIGN:
        return answer
    raise _wrong(question, answer, "'must-link', 'cannot-link', 'unsure' or 'skip'")


def _checked_triple(question: Question, answer: Any) -> int | str:
    """The odd row, from its position in `samples` or the row itself; or what holds of all three."""
    if isinstance(answer, str) and answer in SIGN:
        return answer
    if isinstance(answer, Integral) and not isinstance(answer, bool):
        row = int(answer)
        if row in question.samples:  # a row goes before a place
            return row
        if row in range(3):
            return question.samples[row]
    rows = ", ".join(map(str, question.samples))
    raise _wrong(
        question,
        answer,
        f"the odd one out, as a row ({rows}) or its place (0, 1, 2), 'must-link' for all three "
        "together, 'cannot-link' for all apart, or 'unsure' or 'skip'",
    )


def _checked_piles(question: Question, answer: Any) -> list[int]:
    """The pile of each row, from one label per row or from lists of rows."""
    expected = "lists of the rows that belong together, or a label for each row"
    if isinstance(answer, str | bytes) or not isinstance(answer, Iterable):
        raise _wrong(question, answer, expected)
    given = list(answer)
    if any(isinstance(pile, list | tuple | set | frozenset | np.ndarray) for pile in given):
        return _numbered(_labels_of_piles(question, given, answer, expected))
    if len(given) != len(question.samples):
        raise _wrong(question, answer, f"{expected} ({len(question.samples)} rows)")
    return _numbered(given)


def _labels_of_piles(question: Question, piles: list[Any], answer: Any, expected: str) -> list[int]:
    try:
        pile_of = {int(row): number for number, pile in enumerate(piles) for row in pile}
        n_given = sum(len(pile) for pile in piles)
    except (TypeError, ValueError):
        raise _wrong(question, answer, expected) from None
    if n_given != len(question.samples) or set(pile_of) != set(question.samples):
        raise _wrong(question, answer, f"{expected}, each of {question.samples} once")
    return [pile_of[row] for row in question.samples]


def _numbered(labels: Sequence[Any]) -> list[int]:
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


_CHECKS: dict[str, Any] = {
    "pair": _checked_pair,
    "triple": _checked_triple,
    "piles": _checked_piles,
}


def _wrong(question: Question, answer: Any, expected: str) -> SessionError:
    shown = repr(answer)
    shown = shown if len(shown) <= 60 else shown[:57] + "…"
    return SessionError(
        f"{shown} is no answer to question {question.id}, a {question.kind}; it takes {expected}."
    )


def statements(question: Question, answer: Any) -> Said:
    """What a checked answer says: piles as the fewest links that say the same."""
    if isinstance(answer, str) and answer in NO_ANSWER:
        return Said([], [], [])
    if question.kind == "pair":
        pair: Any = [question.samples]
        return Said(pair, [], []) if SIGN[answer] > 0 else Said([], pair, [])
    if question.kind == "triple" and answer not in SIGN:
        a, b = (row for row in question.samples if row != answer)
        return Said([], [], [(a, b, answer)])
    if question.kind == "triple":
        answer = [0, 0, 0] if SIGN[answer] > 0 else [0, 1, 2]
    piles: dict[int, list[int]] = {}
    for row, pile in zip(question.samples, answer, strict=True):
        piles.setdefault(pile, []).append(row)
    return Said(*pairs_of_piles(piles.values()), [])
