"""A project: people answer, the clustering follows. No web here."""

import logging
import sqlite3
import threading
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import numpy as np

from conclust import Constraints
from conclust._files import is_formula
from conclust.active import Question
from conclust.exceptions import SessionError
from conclust.reporting import project as plane_of
from conclust.studio import _verbs
from conclust.studio._book import Answer, Book, Contradiction, signature
from conclust.studio._clustering import Clustering, Told, cluster
from conclust.studio._data import Data
from conclust.studio._desk import Desk, checked_row_list, checked_rows, new_question, question_of
from conclust.studio._finder import PILE, Finder
from conclust.studio._people import agreement_of, people_of
from conclust.studio._store import Store

MAX_SHOWN = 20_000  # rows on the map, and to be asked about
MAX_NAME, MAX_REQUEST = 40, 100  # characters
MAX_HAVE = 20  # questions of one tab
RECHECKED = 0.05  # of the questions where several answer: pairs that another has answered
ENOUGH_TO_RECHECK = 10
N_TRIES = 50
MAX_LISTED = 500
MAX_LINES = 1_000  # statements of each sort on the map
MAX_FOUND = 20  # rows of a name
VERB_WEIGHT = 3.0  # what is said on the map is said of many rows
REST = 0.5  # seconds between two fits, at least
AT_RANDOM = "two rows at random, while better questions are looked for"
SECOND_OPINION = "somebody else has answered this: do you agree?"

log = logging.getLogger("conclust.studio")


class TakenError(SessionError):
    """The question takes no answer any more; the person has another."""

    def __init__(self, message: str, following: Any):
        super().__init__(message)
        self.following = following


class Project:
    """One table, one file, any number of people.

    Methods return what JSON can hold, raise `SessionError` for what cannot be, and never wait for
    a fit. All can be called from any thread.

    Parameters
    ----------
    data : Data
    store : Store
    n_clusters : int, default=None
        None: not known.
    seed : int, default=0
    """

    def __init__(self, data: Data, store: Store, n_clusters: int | None = None, seed: int = 0):
        self.data, self.store, self.seed = data, store, seed
        self._given_clusters = n_clusters
        _check_same_rows(data, store)
        self.book = Book(data.n_rows)
        self._replay()
        self.desk = Desk()
        self.clustering: Clustering | None = None
        self.busy: dict[str, str] = {}  # which of the two threads does what
        self.trouble: str | None = None
        self.listeners: list[Callable[[str, Any], None]] = []
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._stopped = False
        self._random = np.random.RandomState(int.from_bytes(np.random.bytes(4), "little"))
        self.shown = _drawn(data.n_rows, seed)
        self._plane = _placed(data, self.shown, seed)
        self._finder = Finder(data, np.union1d(self.shown, self._named_rows()), seed)
        self._threads: list[threading.Thread] = []
        self._exhausted, self._exhausted_at = False, -1

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

    # ------------------------------------------------------------------ in the background

    def start(self) -> None:
        """Begin to look for questions and to cluster."""
        for work in (self._look_for_questions, self._keep_clustering):
            thread = threading.Thread(target=work, name=work.__name__, daemon=True)
            thread.start()
            self._threads.append(thread)

    def close(self) -> bool:
        """Leave one whole file; return whether nothing is being computed any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout=0.2)  # a fit is not waited for: what it would say is not kept
        with self._lock:
            self.store.close()
        return not any(thread.is_alive() for thread in self._threads)

    def tell_listeners(self, name: str, content: Any = None) -> None:
        """Something happened that pages want to know."""
        for listener in list(self.listeners):
            listener(name, content if content is not None else {})

    def _is_busy(self, who: str, stage: str | None) -> None:
        if stage is None:
            self.busy.pop(who, None)
        else:
            self.busy[who] = stage
        self.tell_listeners("busy", {"stage": self.stage})

    @property
    def stage(self) -> str | None:
        """What is being done."""
        return next(iter(list(self.busy.values())), None)

    def _look_for_questions(self) -> None:
        seen = -1
        while True:
            with self._changed:
                while not (self._stopped or self._questions_wanted() or self.book.n_events != seen):
                    self._changed.wait(timeout=1.0)
                if self._stopped:
                    return
                answers, n_clusters = dict(self.book.answers), self.n_clusters
                seen, wanted = self.book.n_events, self._questions_wanted()
            try:
                self._finder.follow(answers, n_clusters)
                if wanted:
                    self._find(wanted)
            except Exception as error:
                self._note_trouble("Looking for questions failed", error)

    def _questions_wanted(self) -> dict[str, int]:
        if self._exhausted and self.book.n_events == self._exhausted_at:
            return {}
        return {kind: n for kind in ("pair", "triple", "piles") if (n := self.desk.n_wanted(kind))}

    def _find(self, wanted: dict[str, int]) -> None:
        pairs = self._finder.find(sum(wanted.values()))
        with self._lock:
            self._exhausted, self._exhausted_at = not pairs, self.book.n_events
            going = set(self.desk.ready_rows())
            fresh = [q for q in pairs if frozenset(q.samples) not in going]
            sure = None if self.clustering is None else self.clustering.confidence
            for kind, n in wanted.items():
                mine, fresh = fresh[:n], fresh[n:]
                if kind != "pair":
                    made = (self._finder.around(q, kind, self.book, sure) for q in mine)
                    mine = [question for question in made if question is not None]
                self.desk.put(mine)
        if pairs:
            self.tell_listeners("question")

    def _keep_clustering(self) -> None:
        while True:
            with self._changed:
                while not (self._stopped or self.is_stale):
                    self._changed.wait(timeout=1.0)
                if self._stopped:
                    return
            began = time.monotonic()
            try:
                self._is_busy("clustering", "clustering")
                self.recluster()
            except Exception as error:
                self._note_trouble("Clustering failed", error)
            finally:
                self._is_busy("clustering", None)
            # Rests as long as it worked, so that half of the time is for others.
            self._rest(max(REST, time.monotonic() - began))

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        with self._changed:
            while not self._stopped and time.monotonic() < until:
                self._changed.wait(timeout=max(until - time.monotonic(), 0.01))

    def _note_trouble(self, what: str, error: Exception) -> None:
        sentence = f"{what}: {str(error).splitlines()[0] if str(error) else repr(error)}"
        if sentence != self.trouble:  # it is tried again and again
            log.warning(sentence, exc_info=not isinstance(error, ValueError))
        self.trouble = sentence
        self.tell_listeners("progress")
        self._rest(5.0)  # the same would fail again at once

    @property
    def is_stale(self) -> bool:
        """Whether something was said that the clustering does not know."""
        return self.clustering is None or self.clustering.n_events != self.book.n_events

    def recluster(self) -> Clustering:
        """Fit to all that was said; waits."""
        with self._lock:
            constraints, numbers = self.book.constraints(self.data.ids)
            told = Told(
                self.book.n_events,
                len(self.book.answers),
                constraints,
                numbers,
                self.n_clusters,
                self.book.error_rate,
            )
            last = self.clustering
        found: Clustering = cluster(self.data, self.shown, told, self.seed, last)
        with self._lock:
            self.clustering, self.trouble = found, None
        self.tell_listeners("labels", {"version": found.version})
        self.tell_listeners("progress")
        return found

    def up_to_date(self, timeout: float) -> Clustering:
        """The clustering that knows everything said before the call; waits for it."""
        until, wanted = time.monotonic() + timeout, self.book.n_events
        while self.clustering is None or self.clustering.n_events < wanted:
            if time.monotonic() > until or self._stopped:
                raise SessionError(
                    "The rows are still being clustered; try again when that is done."
                )
            time.sleep(0.05)
        return self.clustering

    @property
    def n_clusters(self) -> int | None:
        """How many clusters there are to be: as merged and split, else as given at the start."""
        said = self.book.n_clusters
        return self._given_clusters if said is None else said

    # ------------------------------------------------------------------ questions

    def about(self) -> dict[str, Any]:
        """What the page begins with."""
        with self._lock:
            return {
                "name": self.data.name,
                "n_rows": self.data.n_rows,
                "n_clusters": self.n_clusters,
                "columns": [{"name": n, "type": t} for n, t in self.data.kinds.items()],
                "id_column": self.data.id_column,
                "people": list(self.book.people),
                "kinds": ["pair", "triple", "piles"],
                "notes": self.data.notes,
                "warnings": self.data.warnings,
            }

    def next(
        self,
        person: str,
        kind: str = "pair",
        size: int | None = None,
        *,
        tab: str = "",
        have: Collection[str] = (),
    ) -> dict[str, Any]:
        """A question that this tab was handed and does not `have`, or a new one."""
        if kind not in ("pair", "triple", "piles"):
            raise SessionError(f"kind={kind!r:.60} is none of 'pair', 'triple', 'piles'.")
        if size is not None and not (type(size) is int and 2 <= size <= 10):
            raise SessionError(f"size={size!r:.60} must be a whole number from 2 to 10.")
        with self._changed:
            found = self.desk.held_by(person, kind, tab, have)
            if found is None:
                found = self._found(person, kind, size or PILE)
                self._changed.notify_all()
            if found is None:
                return {"question": None, "reason": "nothing left"}
            return {"question": self._shown(self.desk.hand_out(found, person, tab))}

    def _found(self, person: str, kind: str, size: int) -> Question | None:
        if kind == "pair" and (again := self._second_opinion(person)) is not None:
            return again
        found = self.desk.take(kind, self._is_open)
        if found is not None:
            if kind == "piles" and len(found.samples) > size:
                return new_question(kind, found.samples[:size], found.why, found.worth)
            return found
        pair = self._at_random()
        if pair is None or kind == "pair":
            return pair
        sure = None if self.clustering is None else self.clustering.confidence
        return self._finder.around(pair, kind, self.book, sure, size)

    def _is_open(self, question: Question) -> bool:
        """Whether its answer is still not known."""
        if question.kind == "pair":
            a, b = question.samples
            return self.book.implied(a, b) == 0 and not self.book.was_asked(question.samples)
        return not self.book.was_asked(question.samples)

    def _at_random(self) -> Question | None:
        rows, held = self._finder.rows, self.desk.held_rows()
        for _ in range(N_TRIES):
            pair = self._random.choice(len(rows), 2, replace=False)
            question = new_question("pair", rows[pair].tolist(), AT_RANDOM)
            if frozenset(question.samples) not in held and self._is_open(question):
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

    def pose(self, person: str, samples: Any, kind: Any, *, tab: str = "") -> dict[str, Any]:
        """Ask, or ask again, about these rows."""
        rows = checked_rows(samples, kind, self.data.n_rows)
        with self._lock:
            question = new_question(kind, rows, "asked for")
            return {"question": self._shown(self.desk.hand_out(question, person, tab))}

    # ------------------------------------------------------------------ answers

    def answer(
        self,
        person: str,
        request: str,
        question: Any,
        answer: Any,
        seconds: Any = None,
        *,
        tab: str = "",
        have: Collection[str] = (),
        kind: str | None = None,
        size: int | None = None,
    ) -> dict[str, Any]:
        """Take an answer; it is on the disk when this returns. The next question is of `kind`."""
        with self._lock:
            reply = self._replied(request, "answer")
            if reply is None:
                asked = self.desk.find(question, person, self.data.n_rows)
                self._check_open(asked, person, tab, have)
                told = self._answer(
                    asked, asked.checked(answer), person, seconds=_checked_seconds(seconds)
                )
                settled = [self.book.n_settled(a, b) for a, b, _ in told.pairs]
                reply = {"number": told.number, "change": _change(settled)}
                self._commit([told], "answer", request, reply)
                self.desk.close(asked.id)
            settled_now = self._settled(have)
            kind = kind or question_of(question, self.data.n_rows).kind
            following = self.next(person, kind, size, tab=tab, have=have)
            return {
                **reply,
                "next": following["question"],
                "reason": following.get("reason"),
                "settled": settled_now,
                "conflict": self._conflict_with([reply["number"]]),
            }

    def _settled(self, have: Collection[str]) -> list[Any]:
        """Close those of these questions whose answers follow by now."""
        found = [
            question.id
            for question in self.desk.among(have)
            if question.kind == "pair"
            and self.book.implied(*question.samples) != 0
            and not self.book.was_asked(question.samples)  # else it is asked again on purpose
        ]
        for name in found:
            self.desk.close(name)
        return found

    def _answer(self, asked: Question, answer: Any, person: str, **more: Any) -> Answer:
        return Answer(
            self.book.n_events + 1,
            asked.kind,
            asked.samples,
            answer,
            person,
            _now(),
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

    def _check_open(self, asked: Question, person: str, tab: str, have: Collection[str]) -> None:
        why = self.book.closed.get(str(asked.id))
        if why is not None:
            self.desk.close(asked.id)
            raise TakenError(
                f"Question {asked.id} {why}; here is the next.",
                self.next(person, asked.kind, tab=tab, have=have)["question"],
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
        with self._changed:
            for number, event in events:
                self.book.take(number, event)
            self._changed.notify_all()
        self.tell_listeners("answers", {"total": len(self.book.answers)})

    def undo(self, person: str, request: str, *, tab: str = "") -> dict[str, Any]:
        """Take back what this person said last, and ask it again."""
        with self._lock:
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
                question = self._shown(self.desk.hand_out(again, person, tab))
            return {"number": reply["number"], "question": question}

    def _said_with(self, answer: Answer) -> list[int]:
        """The answers of the same action on the map."""
        if answer.action is None:
            return [answer.number]
        return [a.number for a in self.book.answers.values() if a.action == answer.action]

    def retract(self, person: str, request: str, numbers: Any) -> dict[str, Any]:
        """Take back any answers."""
        with self._lock:
            reply = self._replied(request, "retract")
            if reply is None:
                reply = {"numbers": self._checked_numbers(numbers)}
                self._retract(reply["numbers"], person, "retract", request, reply)
            return dict(reply)

    def _retract(
        self, numbers: list[int], person: str, action: str, request: str, reply: Any
    ) -> None:
        event = {"event": "retract", "numbers": numbers, "by": person, "when": _now()}
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
        with self._lock:
            if self._replied(request, "keep") is None:
                self._checked_numbers([number])
                event = {"event": "keep", "number": number, "by": person, "when": _now()}
                self._keep([(self.book.n_events + 1, event)], "keep", request, {})
            return {}

    # ------------------------------------------------------------------ the map

    def say(self, person: str, request: str, verb: Any, **about: Any) -> dict[str, Any]:
        """What is said on the map, as few statements."""
        with self._lock:
            reply = self._replied(request, "say")
            if reply is None:
                pairs, n_clusters, sentence = self._statements(verb, about)
                first = self.book.n_events + 1
                answers = [
                    self._mapped(first, i, pair, person, verb, n_clusters)
                    for i, pair in enumerate(pairs)
                ]
                reply = {"numbers": [a.number for a in answers], "sentence": sentence}
                self._commit(answers, "say", request, reply)
            return {**reply, "conflict": self._conflict_with(reply["numbers"])}

    def _mapped(
        self, first: int, i: int, pair: Any, person: str, verb: str, n_clusters: int | None
    ) -> Answer:
        a, b, sign = pair
        word = "must-link" if sign > 0 else "cannot-link"
        return Answer(
            first + i,
            "pair",
            (a, b),
            word,
            person,
            _now(),
            weight=1.0 if verb == "link" else VERB_WEIGHT,
            origin="map",
            why=verb,
            n_clusters=n_clusters,
            action=first,
        )

    def _statements(self, verb: Any, about: dict[str, Any]) -> tuple[Any, int | None, str]:
        rows = checked_row_list(about.get("rows") or [], "rows", self.data.n_rows)
        others = checked_row_list(about.get("with") or [], "with", self.data.n_rows)
        X = self.data.X
        if verb == "link":
            return _verbs.link(rows), None, f"{len(rows)} rows are linked."
        if verb == "together":
            return _verbs.together(X, rows), None, f"These {len(rows)} rows are one."
        if verb == "apart" and not about.get("clusters"):
            return _verbs.apart(X, rows, others), None, "They stay apart."
        if verb not in ("apart", "merge", "split"):
            raise SessionError(
                f"verb={verb!r:.60} is none of 'link', 'apart', 'together', 'merge', 'split'."
            )
        now = self.clustering
        if now is None:
            raise SessionError("There are no clusters yet; they are being made.")
        clusters = self._checked_clusters(about.get("clusters"), rows, now)
        names = " and ".join(now.names[c] for c in clusters)
        if verb == "apart":
            return _verbs.clusters_apart(X, now.labels, clusters), None, f"{names} stay apart."
        if verb == "merge":
            k = max(now.n_clusters - len(clusters) + 1, 1)
            return _verbs.merge(X, now.labels, clusters), k, f"{names} are one cluster."
        if len(clusters) != 1:
            raise SessionError("split: choose one cluster, or rows of one cluster.")
        pairs = _verbs.split(X, now.labels, clusters[0], rows)
        return pairs, now.n_clusters + 1, f"{names} is two clusters."

    def _checked_clusters(self, clusters: Any, rows: list[int], now: Clustering) -> list[int]:
        if clusters is None and rows:
            clusters = np.unique(now.labels[rows]).tolist()
        if not isinstance(clusters, list) or not all(type(c) is int for c in clusters):
            raise SessionError(f"clusters must be a list of their numbers; got {clusters!r:.60}.")
        gone = next((c for c in clusters if not 0 <= c < now.n_clusters), None)
        if gone is not None:
            raise SessionError(f"There is no cluster {gone}; look at the map again.")
        return list(dict.fromkeys(clusters))

    def map(self) -> dict[str, Any]:
        """Where each row is drawn, and its cluster."""
        now = self.clustering
        found = {
            "rows": self.shown.tolist(),
            "x": self._plane[0],
            "y": self._plane[1],
            "n_rows": self.data.n_rows,
            **self.labels(),
        }
        if now is not None:
            found["confidence"] = np.round(now.confidence[self.shown], 2).tolist()
        return found

    def labels(self) -> dict[str, Any]:
        """The cluster of each row of the map."""
        now = self.clustering
        if now is None:
            nowhere = [-1] * len(self.shown)
            return {"version": 0, "cluster": nowhere, "sizes": [], "names": []}
        return {
            "version": now.version,
            "cluster": now.labels[self.shown].tolist(),
            "sizes": now.sizes,
            "names": now.names,
        }

    def lines(self) -> dict[str, Any]:
        """The pairs as they were said, the latest, to be drawn on the map."""
        with self._lock:
            said = [pair for n in sorted(self.book.answers) for pair in self.book.answers[n].pairs]
        return {
            name: [[int(a), int(b)] for a, b, s in said if s == sign][-MAX_LINES:]
            for name, sign in (("must", 1), ("cannot", -1))
        }

    def find(self, text: str) -> dict[str, Any]:
        """Rows by their names."""
        found = self.data.find(text, MAX_FOUND)
        return {"rows": [{"row": row, "name": self.data.row_name(row)} for row in found]}

    def item(self, row: Any) -> dict[str, Any]:
        """One row, as it is shown."""
        if type(row) is not int or not 0 <= row < self.data.n_rows:
            raise SessionError(
                f"There is no row {row!r:.40}; rows count from 0 to {self.data.n_rows - 1}."
            )
        now = self.clustering
        return {
            "row": row,
            "name": self.data.row_name(row),
            "cluster": None if now is None else int(now.labels[row]),
            "fields": self.data.fields(row),
        }

    def cluster(self, number: int) -> dict[str, Any]:
        """What distinguishes a cluster, and its most typical rows."""
        now = self.clustering
        if now is None or not 0 <= number < now.n_clusters:
            raise SessionError(f"There is no cluster {number}; look at the map again.")
        members = np.flatnonzero(now.labels == number)
        typical = _verbs.typical(self.data.X, members, 5) if len(members) else []
        return {
            "cluster": number,
            "size": len(members),
            "name": now.names[number],
            "typical": [self.item(row) for row in typical],
            "profile": "; ".join(now.phrases[number]),
        }

    # ------------------------------------------------------------------ what was said

    def answers(self, offset: int = 0, limit: int = 100, order: str = "time") -> dict[str, Any]:
        """The answers, the latest first, or those that seem wrong first."""
        if order not in ("time", "suspects"):
            raise SessionError(f"order={order!r:.40} is none of 'time', 'suspects'.")
        offset, limit = max(offset, 0), min(max(limit, 0), MAX_LISTED)
        with self._lock:
            suspects = self._suspects()
            listed = sorted(self.book.answers, reverse=True)
            if order == "suspects":
                marked = [n for n in self.book.contradicting if n not in self.book.kept]
                first = list(dict.fromkeys([*suspects, *marked]))
                chosen = set(first)
                listed = first + [n for n in listed if n not in chosen]
            page = listed[offset : offset + limit]
            return {
                "total": len(listed),
                "suspects": len(suspects),
                "answers": [self._listed(n, n in set(suspects)) for n in page],
            }

    def _suspects(self) -> list[int]:
        if self.clustering is None:
            return []
        return [n for n in self.clustering.suspects(self.book.kept) if n in self.book.answers]

    def _listed(self, number: int, is_suspect: bool) -> dict[str, Any]:
        answer = self.book.answers[number]
        doubt = None if self.clustering is None else self.clustering.doubt.get(number)
        return {
            **self._told(number),
            "samples": list(answer.samples),
            "seconds": answer.seconds,
            "weight": answer.weight,
            "doubt": None if doubt is None else round(doubt, 4),
            "suspect": is_suspect,
            "conflict": number in self.book.contradicting,
            "kept": number in self.book.kept,
            "from": answer.origin,
        }

    def _told(self, number: int) -> dict[str, Any]:
        answer = self.book.answers[number]
        said = answer.answer
        if answer.kind == "piles" and isinstance(said, list):
            piles: dict[int, list[int]] = {}
            for row, pile in zip(answer.samples, said, strict=True):
                piles.setdefault(pile, []).append(row)
            said = list(piles.values())
        return {
            "number": number,
            "kind": answer.kind,
            "names": [self.data.row_name(row) for row in answer.samples],
            "answer": said,
            "by": answer.by,
            "when": answer.when,
        }

    def conflicts(self) -> list[dict[str, Any]]:
        """Answers that cannot all hold."""
        with self._lock:
            found = [
                self._conflict(each) for each in islice(self.book.contradictions(), MAX_LISTED)
            ]
            among = {p["number"] for each in found for p in each["path"]}
            among |= {each["new"] for each in found}
            for sentence, numbers in self.clustering.conflicts if self.clustering else ():
                stands = all(n in self.book.answers for n in numbers)
                if stands and not among.issuperset(numbers):
                    found.append(self._other_conflict(sentence, numbers))
            return found

    def _conflict_with(self, numbers: Iterable[int]) -> dict[str, Any] | None:
        """What one of these answers contradicts; the pages of others hear of it too."""
        new = set(numbers)
        if not new & self.book.contradicting.keys():
            return None
        found = (each for each in self.book.contradictions() if each.number in new)
        conflict = next(map(self._conflict, found), None)
        if conflict is not None:
            self.tell_listeners("conflict", conflict)
        return conflict

    def _conflict(self, found: Contradiction) -> dict[str, Any]:
        a, b, sign = found.pair
        names = f"{self.data.row_name(a)!r} and {self.data.row_name(b)!r}"
        here, there = ("together", "apart") if sign > 0 else ("apart", "together")
        n = len(found.path)
        others = f"{n} other answers" if n > 1 else "another answer"
        options = [{"label": f"Take back answer {found.number}", "retract": [found.number]}]
        options += [
            {"label": f"Take back {self._in_words(number)}", "retract": [number]}
            for number in found.path
        ]
        return {
            "sentence": f"{names} are {here} by answer {found.number}, but {there} by {others}.",
            "path": [self._told(number) for number in found.path],
            "options": options,
            "new": found.number,
        }

    def _other_conflict(self, sentence: str, numbers: list[int]) -> dict[str, Any]:
        return {
            "sentence": sentence,
            "path": [self._told(number) for number in numbers],
            "options": [
                {"label": f"Take back {self._in_words(number)}", "retract": [number]}
                for number in numbers
            ],
            "new": max(numbers),
        }

    def _in_words(self, number: int) -> str:
        answer = self.book.answers[number]
        names = ", ".join(self.data.row_name(row) for row in answer.samples[:3])
        return f"answer {number} ({names}: {answer.answer}, {answer.by or 'nobody'})"[:200]

    def progress(self) -> dict[str, Any]:
        """How far it is."""
        with self._lock:
            now, answers = self.clustering, self.book.answers.values()
            share, sentence = (None, "Nothing was answered yet.") if now is None else now.expected
            rates = (None, None) if now is None else now.model.flip_rate_
            stability = [] if now is None else now.stability
            said = sum(a.says_something for a in answers)
            return {
                "asked": len(self.book.closed),
                "answered": said,
                "unsure": len(answers) - said,
                "kept_share": None if now is None else now.kept_share,
                "stability": [{"n": n, "share": s} for n, s in stability],
                "expected_change": {"share": _finite(share), "sentence": sentence},
                "flip_rate": {"must": _finite(rates[0]), "cannot": _finite(rates[1])},
                "people": people_of(self.book, {} if now is None else now.doubt),
                "agreement": agreement_of(self.book),
                "suspects": len(self._suspects()),
                "conflicts": len(self.book.contradicting),
                "busy": self.stage,
                "trouble": self.trouble,
            }

    def bring_in(self, constraints: Constraints, unknown: list[str]) -> dict[str, Any]:
        """Take statements from a file, each once in the life of the project."""
        with self._lock:
            n_before, known = len(self.book.contradicting), 0
            answers: list[Answer] = []
            for answer in self._from_file(constraints):
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

    def _from_file(self, constraints: Constraints) -> Iterable[Answer]:
        who = constraints.provenance.get("who")
        when = constraints.provenance.get("when")
        pairs = constraints.pairs()
        rows: list[tuple[Any, Any, Any, int]] = [
            ("pair", tuple(pair), "must-link" if sign > 0 else "cannot-link", int(i))
            for pair, sign, i in zip(
                pairs.pairs.tolist(), pairs.sign.tolist(), pairs.statement, strict=True
            )
        ]
        relative = np.flatnonzero(constraints.kinds == "relative")
        rows += [
            ("triple", tuple(row), row[2], int(i))
            for row, i in zip(constraints.relative.tolist(), relative, strict=True)
        ]
        for kind, samples, answer, i in rows:
            by, at = (_text(values, i) for values in (who, when))
            weight = float(constraints.weight[i])
            yield Answer(
                0, kind, samples, answer, by, at or _now(), weight=weight, origin="file", why="file"
            )

    # ------------------------------------------------------------------ as it is shown

    def _shown(self, question: Question) -> dict[str, Any]:
        items = [self.item(row) for row in question.samples]
        values = [{f["column"]: f["value"] for f in item["fields"]} for item in items]
        return {
            "id": question.id,
            "kind": question.kind,
            "samples": list(question.samples),
            "why": question.why,
            "worth": _finite(question.worth),
            "items": items,
            "differing": [c for c in self.data.kinds if len({v.get(c) for v in values}) > 1],
        }


def checked_person(name: Any) -> str:
    """A name that can stand in files and on pages."""
    if name is None or name == "":
        return "me"
    if not isinstance(name, str):
        raise SessionError(f"person must be a name; got {name!r:.60}.")
    name = " ".join(name.split())
    odd = any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn") for c in name)
    if not name or len(name) > MAX_NAME or odd or is_formula(name):
        raise SessionError(
            f"person={name[:60]!a}: a name has 1 to {MAX_NAME} letters, and does not begin "
            "with one of = + - @."
        )
    return name


def checked_tab(tab: Any, have: Any) -> tuple[str, list[str]]:
    """Which tab of a browser asks, and the questions that it has."""
    if not isinstance(tab, str) or len(tab) > MAX_REQUEST:
        raise SessionError(f"tab={tab!r:.60} must be a text of at most {MAX_REQUEST} characters.")
    is_list = isinstance(have, list) and len(have) <= MAX_HAVE
    if not is_list or not all(isinstance(name, str) for name in have):
        raise SessionError(
            f"have={have!r:.60} must be a list of at most {MAX_HAVE} names of questions."
        )
    return tab, have


def checked_request(request: Any) -> str:
    """A name of an action that no other action has."""
    if not isinstance(request, str) or not 1 <= len(request) <= MAX_REQUEST:
        raise SessionError(
            f"request={request!r:.60} must be a text of 1 to {MAX_REQUEST} characters, another for "
            "each action."
        )
    return request


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


def _change(settled: list[int]) -> dict[str, Any] | None:
    n = sum(settled)
    if n < 2:
        return None
    return {"settled": n, "sentence": f"This settles {n:,} pairs."}


def _checked_seconds(seconds: Any) -> float | None:
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return round(float(seconds), 3) if is_number and 0 <= seconds < 1e6 else None


def _finite(value: Any) -> float | None:
    return float(value) if value is not None and np.isfinite(float(value)) else None


def _text(values: Any, i: int) -> str | None:
    value = None if values is None else values[i]
    return value if isinstance(value, str) and value else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
