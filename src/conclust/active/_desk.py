"""Questions on their way: who has which, and which take no answer any more."""

import time
from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

from conclust.active._question import Question
from conclust.exceptions import SessionError

N_RESERVED = 1_000  # ids noted at once


class Handed(NamedTuple):
    """A question on its way."""

    question: Question
    by: str | None
    since: float
    again: bool  # whether its rows had been asked about before

    @property
    def rows(self) -> frozenset[int]:
        """What it is about, whatever the order."""
        return frozenset(self.question.samples)


class Desk:
    """Hands out numbers and questions, and takes questions back with an answer.

    Parameters
    ----------
    lease : float
        Seconds for which a question is kept for the one who has it.
    on_reserve : callable
        Told which ids are going to be used, before they are: after a restart they mean nothing
        else.
    """

    def __init__(self, lease: float, on_reserve: Callable[[int], None]):
        self.lease = lease
        self.on_reserve = on_reserve
        self.n_asked = self.n_reserved = 0
        self._out: dict[int | str, Handed] = {}
        self._closed: dict[int | str, str] = {}  # and why

    def next_id(self) -> int:
        """A number no question had before."""
        if self.n_asked >= self.n_reserved:
            self.on_reserve(self.n_asked + N_RESERVED)
            self.n_reserved = self.n_asked + N_RESERVED
        self.n_asked += 1
        return self.n_asked - 1

    def hand_out(self, question: Question, by: str | None, again: bool) -> None:
        """Note who has a question."""
        self._out[question.id] = Handed(question, by, time.monotonic(), again)

    def handed(self) -> list[Handed]:
        """The questions that are kept for somebody now."""
        now = time.monotonic()
        return [each for each in self._out.values() if now - each.since < self.lease]

    def everything_out(self) -> list[Handed]:
        """The questions that may still be answered."""
        return list(self._out.values())

    def close(self, number: int | str, why: str) -> None:
        """From now on this question takes no answer."""
        self._out.pop(number, None)
        self._closed[number] = why

    def find(self, question: Any, by: str | None) -> Handed:
        """The question that somebody wants to answer, or why it cannot be answered."""
        number = question.id if isinstance(question, Question) else question
        handed = None
        if isinstance(number, Integral):
            number = int(number)
            if number in self._closed:
                raise SessionError(f"Question {number} {self._closed[number]}; ask() for another.")
            handed = self._out.get(number)
        if handed is None or (isinstance(question, Question) and question != handed.question):
            raise SessionError(
                f"{question!r} was not asked in this session; ask() hands out questions, and "
                "pose(samples) one of your own."
            )
        if by is not None and handed.by not in (None, by):
            raise SessionError(
                f"Question {number} is with {handed.by!r}, so {by!r} cannot answer it; "
                f"ask(by={by!r}) for another."
            )
        return handed
