"""The front desk: questions found beforehand, and who holds which."""

import re
import secrets
import time
from collections import deque
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from conclust.active import Question
from conclust.exceptions import SessionError
from conclust.studio._checks import KINDS, Tab, checked_rows

LEASE = 600.0  # seconds for which a question is kept for one person
RECENT = 20.0  # seconds; as many questions are kept ready as were taken in that time
LEAST_READY = 6
MAX_READY = 200
ONLY = Tab()  # of somebody with one tab, and one question
ID = re.compile(r"(pair|triple|piles)((?:-\d{1,12}){2,10})-([0-9a-f]{8})")


class Held(NamedTuple):
    """A question and the one it was handed to."""

    question: Question
    person: str
    tab: str
    since: float


class Desk:
    """Hands out questions; nobody gets one that another holds.

    The name of a question holds its rows, so that it can be answered after a restart too.
    """

    def __init__(self, lease: float = LEASE, now: Callable[[], float] = time.monotonic):
        self.lease, self.now = lease, now
        self._ready: dict[str, deque[Question]] = {kind: deque() for kind in KINDS}
        self._out: dict[Any, Held] = {}
        self._taken: dict[str, deque[float]] = {kind: deque() for kind in KINDS}

    def put(self, questions: list[Question]) -> None:
        """Questions found."""
        for question in questions:
            self._ready[question.kind].append(question)

    def n_wanted(self, kind: str) -> int:
        """How many more questions of a kind should be found."""
        taken = self._taken[kind]
        while taken and self.now() - taken[0] > RECENT:
            taken.popleft()
        if kind != "pair" and not taken:
            return 0
        wanted = max(LEAST_READY, min(2 * len(taken), MAX_READY))
        return max(0, wanted - len(self._ready[kind]))

    def ready_rows(self) -> set[frozenset[int]]:
        """What is going to be asked."""
        return {frozenset(q.samples) for ready in self._ready.values() for q in ready}

    # ------------------------------------------------------------------ handing out

    def held_by(self, person: str, kind: str, tab: Tab = ONLY) -> Question | None:
        """A question of this kind that a tab was handed and does not have: it was opened again."""
        for held in reversed(self._out.values()):
            is_theirs = (held.person, held.tab, held.question.kind) == (person, tab.name, kind)
            if is_theirs and held.question.id not in tab.have and self._is_kept(held):
                return held.question
        return None

    def take(self, kind: str, is_open: Callable[[Question], bool]) -> Question | None:
        """The next question that is still one, if any is ready."""
        self._taken[kind].append(self.now())
        held = self.held_rows()
        ready = self._ready[kind]
        while ready:
            question = ready.popleft()
            if frozenset(question.samples) not in held and is_open(question):
                return question
        return None

    def hand_out(self, question: Question, person: str, tab: Tab = ONLY) -> Question:
        """Keep a question for somebody."""
        self._out[question.id] = Held(question, person, tab.name, self.now())
        return question

    def held_rows(self) -> set[frozenset[int]]:
        """What somebody is looking at now."""
        self._out = {key: held for key, held in self._out.items() if self._is_kept(held)}
        return {frozenset(held.question.samples) for held in self._out.values()}

    def close(self, question: Any) -> None:
        """It was answered."""
        self._out.pop(question, None)

    def among(self, names: Collection[Any]) -> list[Question]:
        """Those of these that are with somebody."""
        return [held.question for held in map(self._out.get, names) if held is not None]

    def find(self, name: Any, person: str, n_rows: int) -> Question:
        """The question that somebody answers, from this run or one before."""
        held = self._out.get(name) if isinstance(name, str) else None
        if held is None:
            return question_of(name, n_rows)
        if held.person != person and self._is_kept(held):
            raise SessionError(
                f"Question {name} is with {held.person!r}, so {person!r} cannot answer it; "
                "ask for the next."
            )
        return held.question

    def _is_kept(self, held: Held) -> bool:
        return self.now() - held.since < self.lease


def new_question(kind: Any, samples: Any, why: str, worth: float = 0.0) -> Question:
    """A question that was never asked."""
    samples = tuple(int(row) for row in samples)
    name = f"{kind}-{'-'.join(map(str, samples))}-{secrets.token_hex(4)}"
    return Question(samples, kind, why, worth, name)


def question_of(name: Any, n_rows: int) -> Question:
    """The question of a name."""
    match = ID.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        shown = repr(name)[:80]
        raise SessionError(f"{shown} is no question of this project; ask for the next.")
    kind: Any = match[1]
    samples = checked_rows([int(row) for row in match[2][1:].split("-")], kind, n_rows)
    return Question(samples, kind, "", 0.0, name)
