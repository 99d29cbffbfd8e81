"""A project: people answer, the clustering follows. No web here."""

import sqlite3
import threading
import time
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from conclust import Constraints
from conclust.active import Question
from conclust.exceptions import SessionError
from conclust.reporting import project as plane_of
from conclust.studio import _listing, _views
from conclust.studio._background import Background
from conclust.studio._book import Answer, Book, constraints_of, signature
from conclust.studio._checks import (
    Tab,
    checked_kind,
    checked_rows,
    checked_seconds,
    checked_size,
)
from conclust.studio._clustering import Clustering, Told, cluster
from conclust.studio._data import Data
from conclust.studio._desk import ONLY, Desk, new_question, question_of
from conclust.studio._finder import PILE, Finder
from conclust.studio._statements import now, on_map, statements_of
from conclust.studio._store import Store

MAX_SHOWN = 20_000  # rows on the map, and to be asked about
RECHECKED = 0.05  # of the questions where several answer: pairs that another has answered
ENOUGH_TO_RECHECK = 10
N_TRIES = 50
AT_RANDOM = "rows at random, while better questions are looked for"
SECOND_OPINION = "somebody else has answered this: do you agree?"


class TakenError(SessionError):
    """The question takes no answer any more; the person has another."""

    def __init__(self, message: str, following: Any):
        super().__init__(message)
        self.following = following


class Project:
    """One table, one file, any number of people.

    What people do are methods: they return what JSON can hold, raise `SessionError` for what cannot
    be, and never wait for a fit. All can be called from any thread.

    Parameters
    ----------
    data : Data
        The table the questions are about.
    store : Store
        The file that keeps what is said.
    n_clusters : int, default=None
        None: not known.
    seed : int, default=0
        Seed of the random numbers.
    """

    def __init__(self, data: Data, store: Store, n_clusters: int | None = None, seed: int = 0):
        self.data, self.store, self.seed = data, store, seed
        self._given_clusters = n_clusters
        _check_same_rows(data, store)
        self.book = Book(data.n_rows)
        self._replay()
        self.desk = Desk()
        self.clustering: Clustering | None = None
        self.listeners: list[Callable[[str, Any], None]] = []
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.is_stopped = False
        self._random = np.random.RandomState()
        self._pile_size: dict[str, int] = {}  # as each person wants it
        self.shown = _drawn(data.n_rows, seed)
        self.plane = _placed(data, self.shown, seed)
        self.finder = Finder(data, np.union1d(self.shown, self._named_rows()), seed)
        self.background = Background(self)

    def _replay(self) -> None:
        number = 0
        try:
            for number, event in self.store.events():
                self.book.take(number, event)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise SessionError(
                f"{self.store.path} is damaged near event {number}: {error!r:.100}; take a copy of "
                "it from before, or begin a new one with --project FILE."
            ) from error

    def _named_rows(self) -> Any:
        rows = [row for answer in self.book.answers.values() for row in answer.samples]
        return np.array(rows, dtype=np.int64)

    def close(self, wait: bool = True) -> bool:
        """Leave one whole file; return whether nothing is being computed any more.

        Parameters
        ----------
        wait : bool, default=True
            For a fit that is under way; it cannot be interrupted.
        """
        with self.changed:
            self.is_stopped = True
            self.changed.notify_all()
        is_quiet = self.background.join(wait)
        with self.lock:
            self.store.close()
        return is_quiet

    def tell_listeners(self, name: str, content: Any = None) -> None:
        """Something happened that pages want to know."""
        for listener in list(self.listeners):
            listener(name, content if content is not None else {})

    # ------------------------------------------------------------------ the clustering

    @property
    def is_stale(self) -> bool:
        """Whether something was said that the clustering does not know."""
        return self.clustering is None or self.clustering.told.n_events != self.book.n_events

    def recluster(self) -> Clustering:
        """Fit to all that was said; waits."""
        with self.lock:
            answers, last = list(self.book.answers.values()), self.clustering
            n_events, k = self.book.n_events, self.n_clusters
            rate, n_checked = self.book.error_rate, self.book.n_checked
        constraints, numbers = constraints_of(answers, self.data.n_rows, self.data.ids)
        told = Told(n_events, len(answers), constraints, numbers, k, rate, n_checked)
        found: Clustering = cluster(self.data, self.shown, told, self.seed, last)
        with self.changed:
            self.clustering = found
            self.changed.notify_all()
        if last is None or found.version != last.version:
            self.tell_listeners("labels", {"version": found.version})
        self.tell_listeners("progress")
        return found

    def up_to_date(self, timeout: float) -> Clustering:
        """The clustering that knows everything said before the call; waits for it."""
        until, wanted = time.monotonic() + timeout, self.book.n_events
        with self.changed:
            while self.clustering is None or self.clustering.told.n_events < wanted:
                trouble = self.background.trouble
                if trouble or time.monotonic() > until or self.is_stopped:
                    raise SessionError(
                        trouble or "The rows are being clustered; try again when that is done."
                    )
                self.changed.wait(timeout=1.0)
            return self.clustering

    @property
    def n_clusters(self) -> int | None:
        """How many clusters there are to be: as merged and split, else as given at the start."""
        said = self.book.n_clusters
        return self._given_clusters if said is None else said

    # ------------------------------------------------------------------ questions

    def next(
        self, person: str, kind: str = "pair", size: int | None = None, tab: Tab = ONLY
    ) -> dict[str, Any]:
        """A question that this tab was handed and does not have, or a new one."""
        kind, size = checked_kind(kind), checked_size(size)
        with self.changed:
            if size is not None:
                self._pile_size[person] = size
            found = self.desk.held_by(person, kind, tab)
            if found is None:
                found = self._found(person, kind)
                self.changed.notify_all()
            if found is None:
                return {"question": None, "reason": "nothing left"}
            return {"question": _views.question(self, self.desk.hand_out(found, person, tab))}

    def _found(self, person: str, kind: str) -> Question | None:
        if kind == "pair" and (again := self._second_opinion(person)) is not None:
            return again
        size = self._pile_size.get(person, PILE)
        found = self.desk.take(kind, self._is_open)
        if found is not None:
            if kind == "piles" and len(found.samples) > size:
                return new_question(kind, found.samples[:size], found.why, found.worth)
            return found
        pair = self._at_random()
        if pair is None or kind == "pair":
            return pair
        return self.around(pair, kind, size)

    def around(self, pair: Question, kind: str, size: int = PILE) -> Question | None:
        """A triple or piles around a pair."""
        sure = None if self.clustering is None else self.clustering.confidence
        return self.finder.around(pair, kind, self.book, sure, size)

    def _is_open(self, question: Question) -> bool:
        """Whether its answer is still not known."""
        if question.kind == "pair":
            a, b = question.samples
            return self.book.implied(a, b) == 0 and not self.book.was_asked(question.samples)
        return not self.book.was_asked(question.samples)

    def _at_random(self) -> Question | None:
        rows, held = self.finder.rows, self.desk.held_rows()
        for _ in range(N_TRIES):
            a, b = rows[self._random.randint(len(rows), size=2)].tolist()
            question = new_question("pair", (a, b), AT_RANDOM)
            if a != b and frozenset((a, b)) not in held and self._is_open(question):
                return question
        return None

    def _second_opinion(self, person: str) -> Question | None:
        """Now and then a pair that somebody else has answered."""
        if len(self.book.people) < 2 or self._random.rand() > RECHECKED:
            return None
        others = [
            a.samples
            for a in self.book.answers.values()
            if a.kind == "pair" and a.pairs and a.by != person and a.origin == "page"
        ]
        if len(others) < ENOUGH_TO_RECHECK:
            return None
        samples = others[self._random.randint(len(others))]
        if frozenset(samples) in self.desk.held_rows() or self.book.was_asked(samples, person):
            return None
        return new_question("pair", samples, SECOND_OPINION)

    def pose(self, person: str, samples: Any, kind: Any, tab: Tab = ONLY) -> dict[str, Any]:
        """Ask, or ask again, about these rows."""
        rows = checked_rows(samples, kind, self.data.n_rows)
        with self.lock:
            question = new_question(kind, rows, "asked for")
            return {"question": _views.question(self, self.desk.hand_out(question, person, tab))}

    # ------------------------------------------------------------------ answers

    def answer(
        self,
        person: str,
        request: str,
        question: Any,
        answer: Any,
        seconds: Any = None,
        *,
        kind: str | None = None,
        size: int | None = None,
        tab: Tab = ONLY,
    ) -> dict[str, Any]:
        """Take an answer; it is on the disk when this returns. The next question is of `kind`."""
        checked_size(size)  # before anything is taken
        if kind is not None:
            checked_kind(kind)
        with self.lock:
            reply = self._replied(request, "answer")
            if reply is None:
                asked = self.desk.find(question, person, self.data.n_rows)
                self._check_open(asked, person, tab)
                told = self._answer(
                    asked, asked.checked(answer), person, seconds=checked_seconds(seconds)
                )
                reply = {"number": told.number, "change": self._change(told)}
                self._commit([told], "answer", request, reply)
                self.desk.close(asked.id)
            settled = self._settled(tab.have)
            kind = kind or question_of(question, self.data.n_rows).kind
            following = self.next(person, kind, size, tab)
            return {
                **reply,
                "next": following["question"],
                "reason": following.get("reason"),
                "settled": settled,
                "conflict": _listing.conflict_with(self, [reply["number"]]),
            }

    def _settled(self, names: Collection[str]) -> list[Any]:
        """Close those of these questions whose answers follow by now."""
        found = [
            question.id
            for question in self.desk.among(names)
            if question.kind == "pair"
            and self.book.implied(*question.samples) != 0
            and not self.book.was_asked(question.samples)  # else it is asked again on purpose
        ]
        for name in found:
            self.desk.close(name)
        return found

    def _change(self, told: Answer) -> dict[str, Any] | None:
        """How many pairs an answer settles, where they are more than its own."""
        open_pairs = [(a, b) for a, b, _ in told.pairs if self.book.implied(a, b) == 0]
        n = sum(self.book.n_settled(a, b) for a, b in open_pairs)
        if n <= len(open_pairs):
            return None
        return {"settled": n, "sentence": f"This settles {n:,} pairs."}

    def _answer(self, asked: Question, answer: Any, person: str, **more: Any) -> Answer:
        return Answer(
            self.book.n_events + 1,
            asked.kind,
            asked.samples,
            answer,
            person,
            now(),
            question=str(asked.id),
            why=asked.why,
            **more,
        )

    def _replied(self, request: str, action: str) -> dict[str, Any] | None:
        """What was replied when the same request came before."""
        found = self.store.reply(request)
        if found is None:
            return None
        if found["action"] != action:
            raise SessionError(
                f"request={request!r} was used for another action ({found['action']}); give each "
                "action a name of its own."
            )
        reply: dict[str, Any] = found["reply"]
        return reply

    def _check_open(self, asked: Question, person: str, tab: Tab) -> None:
        why = self.book.closed.get(str(asked.id))
        if why is not None:
            self.desk.close(asked.id)
            raise TakenError(
                f"Question {asked.id} {why}; here is the next.",
                self.next(person, asked.kind, tab=tab)["question"],
            )

    def _commit(
        self, answers: list[Answer], action: str, request: str | None = None, reply: Any = None
    ) -> None:
        self._keep([(each.number, each.event()) for each in answers], action, request, reply)

    def _keep(
        self, events: list[Any], action: str, request: str | None = None, reply: Any = None
    ) -> None:
        """On the disk first, then in the book."""
        try:
            self.store.append(events, request, {"action": action, "reply": reply})
        except sqlite3.Error as error:
            raise SessionError(
                f"{self.store.path} cannot be written to ({error}), so nothing was taken; make "
                "room on the disk and say it again."
            ) from error
        with self.changed:
            for number, event in events:
                self.book.take(number, event)
            self.changed.notify_all()
        self.tell_listeners("answers", {"total": len(self.book.answers)})

    def undo(self, person: str, request: str, tab: Tab = ONLY) -> dict[str, Any]:
        """Take back what this person said last, and ask it again."""
        with self.lock:
            reply = self._replied(request, "undo")
            if reply is None:
                mine = [
                    a for a in self.book.answers.values() if a.by == person and a.origin != "file"
                ]
                last = mine[-1] if mine else None
                numbers = [] if last is None else self._said_with(last)
                again = None
                if last is not None and last.question:
                    again = new_question(last.kind, last.samples, last.why)
                reply = {
                    "number": None if last is None else last.number,
                    "again": None if again is None else again.id,
                }
                self._retract(numbers, person, "undo", request, reply)
            question = None
            if reply["again"] is not None and reply["again"] not in self.book.closed:
                again = self.desk.find(reply["again"], person, self.data.n_rows)
                question = _views.question(self, self.desk.hand_out(again, person, tab))
            return {"number": reply["number"], "question": question}

    def _said_with(self, answer: Answer) -> list[int]:
        """The answers of the same action on the map."""
        if answer.action is None:
            return [answer.number]
        return [a.number for a in self.book.answers.values() if a.action == answer.action]

    def retract(self, person: str, request: str, numbers: Any) -> dict[str, Any]:
        """Take back any answers."""
        with self.lock:
            reply = self._replied(request, "retract")
            if reply is None:
                reply = {"numbers": self._checked_numbers(numbers)}
                self._retract(reply["numbers"], person, "retract", request, reply)
            return dict(reply)

    def _retract(
        self, numbers: list[int], person: str, action: str, request: str, reply: Any
    ) -> None:
        event = _retracted(numbers, person)
        self._keep([(self.book.n_events + 1, event)], action, request, reply)

    def _checked_numbers(self, numbers: Any) -> list[int]:
        if not isinstance(numbers, list) or not all(type(n) is int for n in numbers):
            raise SessionError(f"numbers must be a list of numbers of answers; got {numbers!r:.60}")
        missing = next((n for n in numbers if n not in self.book.answers), None)
        if missing is not None:
            raise SessionError(f"There is no answer {missing} (any more); look at the list again.")
        return list(dict.fromkeys(numbers))

    def keep(self, person: str, request: str, number: Any) -> dict[str, Any]:
        """An answer was looked at again and is right."""
        with self.lock:
            if self._replied(request, "keep") is None:
                self._checked_numbers([number])
                event = {"event": "keep", "number": number, "by": person, "when": now()}
                self._keep([(self.book.n_events + 1, event)], "keep", request, {})
            return {}

    # ------------------------------------------------------------------ the map

    def say(self, person: str, request: str, verb: Any, **about: Any) -> dict[str, Any]:
        """What is said on the map, as few statements."""
        with self.lock:
            reply = self._replied(request, "say")
            if reply is None:
                older = [pair for each in self.book.on_map() for pair in each.pairs]
                said = on_map(self.data, self.clustering, verb, older, **about)
                answers = said.answers(self.book.n_events + 1, person)
                gone = self.book.overruled(answers, said.overruled)
                reply = {
                    "numbers": [a.number for a in answers],
                    "taken_back": gone,
                    "sentence": f"{said.sentence}{_taken_back(len(gone))}",
                }
                events = [(a.number, a.event()) for a in answers]
                if gone:
                    event = _retracted(gone, person) | {"action": answers[0].action}
                    events.append((events[-1][0] + 1, event))
                self._keep(events, "say", request, reply)
            return {**reply, "conflict": _listing.conflict_with(self, reply["numbers"])}

    # ------------------------------------------------------------------ what was said

    def bring_in(self, constraints: Constraints, unknown: list[str]) -> dict[str, Any]:
        """Take statements from a file, each once in the life of the project."""
        with self.lock:
            n_before, known = len(self.book.contradicting), 0
            answers: list[Answer] = []
            for answer in statements_of(constraints):
                if set(signature(answer)) <= self.book.imported or self._is_said(answer):
                    known += 1
                else:
                    answer.number = self.book.n_events + 1 + len(answers)
                    answers.append(answer)
            if answers:
                self._commit(answers, "import")
            new = len(self.book.contradicting) - n_before
            taken = {"taken": len(answers), "known": known, "unknown": unknown}
            return {**taken, "conflicts": max(new, 0)}

    def _is_said(self, answer: Answer) -> bool:
        """Whether this very statement stands already, from wherever."""
        samples, word = frozenset(answer.samples), answer.answer
        return any(
            a.answer == word and frozenset(a.samples) == samples
            for n in self.book.numbers_about(samples)
            for a in [self.book.answers[n]]
        )


def _retracted(numbers: list[int], person: str) -> dict[str, Any]:
    return {"event": "retract", "numbers": numbers, "by": person, "when": now()}


def _taken_back(n: int) -> str:
    """What is said of older statements that give way."""
    if not n:
        return ""
    return f" {n} older statement{'s' if n > 1 else ''} from the map taken back; undo restores."


def _check_same_rows(data: Data, store: Store) -> None:
    found, here = store.fact("rows"), data.fingerprint()
    if found is None:
        store.set_facts(rows=here, n_rows=data.n_rows, name=data.name)
    elif found != here:
        n_then = store.fact("n_rows")
        what = (
            f"had {n_then:,} rows then and has {data.n_rows:,} now"
            if n_then != data.n_rows
            else "has other values, columns, options or another order now"
        )
        raise SessionError(
            f"{store.path.name} was begun with another table: {data.name} {what}. Go on with the "
            "table it was begun with, or begin a new project with --project FILE; answers exported "
            "from the old one (--export) carry over by id with --constraints."
        )


def _drawn(n_rows: int, seed: int) -> Any:
    """The rows on the map: always the same."""
    if n_rows <= MAX_SHOWN:
        return np.arange(n_rows)
    return np.sort(np.random.RandomState(seed).permutation(n_rows)[:MAX_SHOWN])


def _placed(data: Data, shown: Any, seed: int) -> tuple[list[float], list[float]]:
    """Coordinates between 0 and 1, the same scale for both."""
    plane, _ = plane_of(data.X[shown], "pca", seed)
    plane = np.nan_to_num(np.asarray(plane, dtype=np.float64))
    low, high = np.percentile(plane, [0, 100], axis=0)
    scale = max(float((high - low).max()), 1e-12)
    placed = 0.5 + (plane - (low + high) / 2) / scale
    return np.round(placed[:, 0], 4).tolist(), np.round(placed[:, 1], 4).tolist()
