"""The answers that stand, what follows from them, and how they contradict each other."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from conclust import Constraints
from conclust.active import LiveClosure, Question, error_rate

NO_ANSWER = ("unsure", "skip")
# An answer that somebody looked at again and found right counts as so many.
KEPT_WEIGHT = 3.0


@dataclass
class Answer:
    """One answer, or one statement from the map or a file."""

    number: int
    kind: str
    samples: tuple[int, ...]
    answer: Any
    by: str | None = None
    when: str = ""
    seconds: float | None = None
    weight: float = 1.0
    origin: str = "page"
    question: str = ""  # the id under which it was handed out
    why: str = ""
    n_clusters: int | None = None  # how many there are to be from now on
    action: int | None = None  # the first of those that were said at once
    pairs: list[tuple[int, int, int]] = field(default_factory=list)  # rows and sign
    relative: list[tuple[int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        said = self.asked.said(self.answer)
        self.pairs = [(a, b, 1) for a, b in said.must_link]
        self.pairs += [(a, b, -1) for a, b in said.cannot_link]
        self.relative = [(a, b, c) for a, b, c in said.relative]

    @property
    def asked(self) -> Question:
        """The question."""
        kind: Any = self.kind
        return Question(self.samples, kind, self.why, 0.0, self.question)

    @property
    def says_something(self) -> bool:
        """Whether it is neither "unsure" nor "skip"."""
        return bool(self.pairs or self.relative)

    def event(self) -> dict[str, Any]:
        """As it is kept."""
        kept = {name: getattr(self, name) for name in EVENT}
        return {"event": "answer", **{k: v for k, v in kept.items() if v is not None}}


EVENT = [
    *("kind", "samples", "answer", "by", "when", "seconds", "weight", "origin", "question"),
    *("why", "n_clusters", "action"),
]


class Contradiction(NamedTuple):
    """An answer, and the older ones from which its opposite follows."""

    number: int
    pair: tuple[int, int, int]  # rows and sign
    path: list[int]


class Book:
    """Everything that was said in a project, made of its events.

    Attributes
    ----------
    answers : dict of int to Answer
        Those that stand, in the order given.
    closed : dict of str to str
        Questions that take no answer any more, and why.
    kept : set of int
        Answers that somebody looked at again and found right.
    imported : set
        Statements that came from files, taken back or not: a file is read again at each start.
    """

    def __init__(self, n_rows: int):
        self.n_rows = n_rows
        self.answers: dict[int, Answer] = {}
        self.closed: dict[str, str] = {}
        self.kept: set[int] = set()
        self.imported: set[tuple[Any, ...]] = set()
        self.people: dict[str, None] = {}
        self.n_events = 0
        self._gave_way: dict[int | None, list[Answer]] = {}  # by the action that overruled them
        self._forget()

    def _forget(self) -> None:
        self.closure = LiveClosure(self.n_rows)
        self.contradicting: dict[int, tuple[int, int, int]] = {}
        self._links: dict[int, list[tuple[int, int, int]]] = {}
        self._about: dict[frozenset[int], list[int]] = {}

    # ------------------------------------------------------------------ events

    def take(self, number: int, event: dict[str, Any]) -> None:
        """Note what happened."""
        self.n_events = number
        if event["event"] == "answer":
            self._take_answer(number, event)
        elif event["event"] == "retract":
            self._take_back(event["numbers"], event.get("action"))
        else:
            self.kept.add(event["number"])
            if event["number"] in self.answers:
                self.answers[event["number"]].weight = KEPT_WEIGHT

    def _take_answer(self, number: int, event: dict[str, Any]) -> None:
        about = {k: v for k, v in event.items() if k != "event"}
        answer = Answer(number, **{**about, "samples": tuple(about["samples"])})
        self.answers[number] = answer
        if answer.origin == "file":
            self.imported |= set(signature(answer))
        elif answer.by:
            self.people.setdefault(answer.by)
        if answer.question:
            who = f" by {answer.by!r}" if answer.by else ""
            self.closed[answer.question] = f"was answered{who} already, as answer {number}"
        self._link(answer)

    def _take_back(self, numbers: list[int], action: int | None) -> None:
        gone = [self.answers.pop(number) for number in numbers if number in self.answers]
        for each in gone:
            if each.question:
                why = f"was answered, and answer {each.number} was taken back"
                self.closed[each.question] = why
        if action is None:
            self._bring_back({each.action for each in gone})
        else:
            self._gave_way[action] = gone
        self._forget()
        for answer in self.answers.values():
            self._link(answer)

    def _bring_back(self, actions: set[int | None]) -> None:
        """What gave way to actions of which nothing stands any more."""
        standing = {each.action for each in self.answers.values()}
        back = [each for action in actions - standing for each in self._gave_way.pop(action, [])]
        both = [*self.answers.values(), *back]
        self.answers = {each.number: each for each in sorted(both, key=lambda each: each.number)}

    def _link(self, answer: Answer) -> None:
        self._about.setdefault(frozenset(answer.samples), []).append(answer.number)
        for a, b, sign in answer.pairs:
            if self.implied(a, b) == -sign:
                self.contradicting.setdefault(answer.number, (a, b, sign))
            self.closure.add(a, b, sign)
            self._links.setdefault(a, []).append((b, sign, answer.number))
            self._links.setdefault(b, []).append((a, sign, answer.number))

    # ------------------------------------------------------------------ what follows

    def implied(self, a: int, b: int) -> int:
        """What follows about two rows: 1 together, -1 apart, 0 nothing."""
        first, second = int(self.closure.group[a]), int(self.closure.group[b])
        if first == second:
            return 1
        return -1 if second in self.closure.apart_from(first) else 0

    def numbers_about(self, samples: Iterable[int]) -> list[int]:
        """The answers about exactly these rows."""
        return self._about.get(frozenset(samples), [])

    def was_asked(self, samples: Iterable[int], by: str | None = None) -> bool:
        """Whether these rows were answered, "unsure" and "skip" included; by one person."""
        return any(by in (None, self.answers[n].by) for n in self.numbers_about(samples))

    def n_settled(self, a: int, b: int) -> int:
        """How many pairs an answer about two rows settles."""
        groups = self.closure.group[[a, b]].tolist()
        first, second = (len(self.closure.members(group)) for group in groups)
        return int(first * second)

    @property
    def error_rate(self) -> float:
        """Share of wrong answers, by those that repeat or contradict what followed already."""
        return error_rate(self.closure.n_agreed, self.closure.n_contradicted)

    @property
    def n_checked(self) -> int:
        """How many answers repeat or contradict what followed already."""
        return self.closure.n_agreed + self.closure.n_contradicted

    def contradictions(self) -> Iterator[Contradiction]:
        """Each answer that says the opposite of what followed from others."""
        for number, pair in self.contradicting.items():
            path = self.path(*pair[:2], -pair[2], without={number})
            if path:
                yield Contradiction(number, pair, path)

    def path(self, a: int, b: int, sign: int, without: Collection[int]) -> list[int]:
        """The fewest answers from which it follows that rows are together (1) or apart (-1).

        Breadth first through must-links, with no cannot-link or with exactly one.
        """
        start, goal = (a, 1), (b, sign)
        came: dict[tuple[int, int], tuple[tuple[int, int], int]] = {start: (start, 0)}
        waiting = deque([start])
        while waiting and goal not in came:
            at = waiting.popleft()
            for other, link, number in self._links.get(at[0], ()):
                there = (other, at[1] * link)
                crossed_twice = link < 0 and at[1] < 0
                if number not in without and not crossed_twice and there not in came:
                    came[there] = at, number
                    waiting.append(there)
        if goal not in came:
            return []
        path: list[int] = []
        at = goal
        while at != start:
            at, number = came[at]
            path.append(number)
        return list(dict.fromkeys(reversed(path)))

    def on_map(self) -> list[Answer]:
        """Those that were said on the map."""
        return [each for each in self.answers.values() if each.origin == "map"]

    def overruled(self, said: list[Answer], pairs: Iterable[tuple[int, int, int]]) -> list[int]:
        """What was said on the map before and gives way: these pairs, and what contradicts.

        Parameters
        ----------
        said : list of Answer
            Said on the map now; the newest word counts.
        pairs : iterable of (int, int, int)
            Rows and sign of older ones.
        """
        older = {each.number: each for each in self.on_map()}
        if not older:
            return []
        known = {(frozenset((a, b)), sign) for a, b, sign in pairs}
        gone = {
            number
            for number, each in older.items()
            if any((frozenset((a, b)), sign) in known for a, b, sign in each.pairs)
        }
        both = Book(self.n_rows)
        for each in [*self.answers.values(), *said]:
            both._link(each)
        for new in said:
            for a, b, sign in new.pairs:
                while found := older.keys() & both.path(a, b, -sign, {new.number, *gone}):
                    gone |= found
        return sorted(gone)

    @property
    def n_clusters(self) -> int | None:
        """How many clusters there are to be, where a merge or split has said so."""
        said = [a.n_clusters for a in self.answers.values() if a.n_clusters is not None]
        return said[-1] if said else None


def constraints_of(
    answers: Iterable[Answer], n_rows: int, ids: list[str] | None = None
) -> tuple[Constraints, list[list[int]]]:
    """All that was said, and the numbers of the answers behind each statement."""
    import pandas as pd

    weights: dict[tuple[Any, ...], float] = {}
    numbers: dict[tuple[Any, ...], list[int]] = {}
    for answer in answers:
        for statement in signature(answer):
            weights[statement] = weights.get(statement, 0.0) + answer.weight
            numbers.setdefault(statement, []).append(answer.number)
    if not weights:
        return Constraints(n_samples=n_rows), []
    names: Any = range(n_rows) if ids is None else ids
    rows = [dict(zip("abc", [names[row] for row in s[1:]], strict=False)) for s in weights]
    frame = pd.DataFrame(rows, columns=list("abc"), dtype=object)
    frame = frame.dropna(axis=1, how="all")
    frame["type"], frame["weight"] = [s[0] for s in weights], list(weights.values())
    found = Constraints.from_frame(frame, ids=ids).on(n_rows)
    return found, list(numbers.values())


def signature(answer: Answer) -> list[tuple[Any, ...]]:
    """What an answer says, in a form in which the same statements are equal."""
    pairs = [("must" if s > 0 else "cannot", min(a, b), max(a, b)) for a, b, s in answer.pairs]
    return [*pairs, *(("relative", min(a, b), max(a, b), c) for a, b, c in answer.relative)]
