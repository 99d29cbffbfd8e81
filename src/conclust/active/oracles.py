"""Who answers: true labels, files, people, programs; and what can be put around them.

An oracle is any callable that takes a list of questions and returns a list of answers, one each, in
the same order: what :meth:`Session.tell` takes, or an :class:`Answer` that says how sure it is and
what it cost, or None, no answer.
"""

import hashlib
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from conclust.active._answers import (
    CANNOT_LINK,
    MUST_LINK,
    NO_ANSWER,
    SKIP,
    UNSURE,
    Told,
    checked,
    statements,
)
from conclust.active._given import closed
from conclust.active._log import read_log, told_from
from conclust.active._question import Question
from conclust.active._state import as_constraints
from conclust.constraints import Constraints, read_constraints
from conclust.exceptions import OracleError, SessionError

Oracle = Callable[[list[Question]], Sequence[Any]]


class Answer(NamedTuple):
    """An answer with how sure it is, from 0 to 1, and what it cost.

    Attributes
    ----------
    answer : str, int or list
        What is said; see :class:`Question`.
    confidence : float, default=1.0
        How sure it is, from 0 to 1; becomes the weight of the statement.
    cost : float, default=0.0
        What it cost, in any unit; see :class:`Budgeted`.
    """

    answer: Any
    confidence: float = 1.0
    cost: float = 0.0


class Enough(Exception):  # noqa: N818
    """Raised by an oracle that has no more answers: the end, not an error.

    Parameters
    ----------
    answers : sequence, default=()
        To the first questions of the list.

    See Also
    --------
    Budgeted : Raises it when the budget is spent.

    Examples
    --------
    >>> from conclust.active import Enough, ask
    >>> def nobody_home(questions):
    ...     raise Enough
    >>> ask([[0.0], [0.1], [5.0]], nobody_home, budget=10, n_clusters=2)
    Session(3 rows, 0 answers, strategy='auto')
    """

    def __init__(self, answers: Sequence[Any] = ()):
        super().__init__("no more answers")
        self.answers = list(answers)


def as_answer(given: Any) -> Answer:
    """Any answer as an `Answer`; None becomes "skip"."""
    if given is None:
        return Answer(SKIP)
    return given if isinstance(given, Answer) else Answer(given)


def _with(given: Any, answer: Any, **changed: Any) -> Any:
    """The answer in the form it was given in."""
    if not isinstance(given, Answer) and not changed:
        return answer
    return as_answer(given)._replace(answer=answer, **changed)


class Labels:
    """Answers by true labels, for experiments.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true cluster of each row.

    See Also
    --------
    Noisy : The same with errors.

    Examples
    --------
    >>> from conclust.active import Labels, Question
    >>> oracle = Labels(["cat", "cat", "dog"])
    >>> oracle([Question((0, 1), "pair", "", 1.0, 0), Question((0, 2), "pair", "", 1.0, 1)])
    ['must-link', 'cannot-link']
    """

    def __init__(self, y: Any):
        self.y = np.asarray(y)

    def __call__(self, questions: list[Question]) -> list[Any]:
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Any:
        labels = self.y[list(question.samples)].tolist()
        if question.kind == "pair":
            return MUST_LINK if labels[0] == labels[1] else CANNOT_LINK
        if question.kind == "piles":
            return labels
        odd = [row for row, y in zip(question.samples, labels, strict=True) if labels.count(y) == 1]
        return odd[0] if len(odd) == 1 else UNSURE


class Noisy:
    """Answers of another oracle, some of them wrong.

    Parameters
    ----------
    oracle : callable
        The oracle that is asked: takes a list of questions, returns a list of answers.
    p_must, p_cannot : float, default=0.1
        Probability that "must-link" becomes "cannot-link", and the reverse. Of a triple, or a row
        in piles, that it becomes another with probability `p_must`.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    See Also
    --------
    Labels : Without errors.
    Voted : Outvotes errors by asking again.

    Examples
    --------
    >>> from conclust.active import Labels, Noisy, Question
    >>> questions = [Question((0, 1), "pair", "", 1.0, 0), Question((0, 2), "pair", "", 1.0, 1)]
    >>> Noisy(Labels([0, 0, 1]), p_must=1.0, p_cannot=0.0, random_state=0)(questions)
    ['cannot-link', 'cannot-link']
    """

    def __init__(
        self, oracle: Oracle, p_must: float = 0.1, p_cannot: float = 0.1, random_state: Any = None
    ):
        for name, p in (("p_must", p_must), ("p_cannot", p_cannot)):
            if not 0 <= p <= 1:
                raise ValueError(f"{name}={p!r} is a probability, from 0 to 1.")
        self.oracle = oracle
        self.p_must, self.p_cannot = p_must, p_cannot
        self._random = check_random_state(random_state)
        self._lock = threading.Lock()

    def __call__(self, questions: list[Question]) -> list[Any]:
        answers = self.oracle(questions)
        with self._lock:
            return [self._spoilt(*each) for each in zip(questions, answers, strict=True)]

    def _spoilt(self, question: Question, given: Any) -> Any:
        answer = as_answer(given).answer
        draw = self._random.uniform()
        if isinstance(answer, str) and answer in NO_ANSWER:
            return given
        if question.kind == "pair":
            p = self.p_must if answer == MUST_LINK else self.p_cannot
            other = CANNOT_LINK if answer == MUST_LINK else MUST_LINK
            return _with(given, other) if draw < p else given
        answer = checked(question, answer)
        if question.kind == "triple":
            others = [row for row in question.samples if row != answer]
            wrong = others[self._random.randint(len(others))]
            return _with(given, wrong) if draw < self.p_must else given
        moves = self._random.uniform(size=len(answer)) < self.p_must
        steps = self._random.randint(1, max(answer) + 2, size=len(answer))
        piles = np.where(moves, (np.array(answer) + steps) % (max(answer) + 2), answer)
        return _with(given, piles.tolist())


class Table:
    """Replays answers from a file: constraints, or a session.

    Pairs whose answer follows from those of the file are answered too; others not at all (None).

    Parameters
    ----------
    path : str or Path
        A file of constraints (CSV, TSV, JSON, JSONL), or one that :meth:`Session.save` wrote.
    ids : array-like of shape (n_samples,), default=None
        The names used in a file of constraints; see :func:`~conclust.read_constraints`.

    See Also
    --------
    Cached : Asks what the file does not have, and keeps it.

    Examples
    --------
    >>> from conclust.active import Question, Table
    >>> questions = [Question((0, 1), "pair", "", 1.0, 0), Question((0, 2), "pair", "", 1.0, 1)]
    >>> import pathlib, tempfile
    >>> from conclust import Constraints
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "links.csv")
    >>> Constraints([(0, 1)]).write(path)
    >>> Table(path)(questions)
    ['must-link', None]
    """

    def __init__(self, path: str | Path, ids: Any = None):
        self.path = Path(path)
        known = _read_session(self.path)
        known = read_constraints(self.path, ids) if known is None else known
        named = max(known.samples, default=-1)
        self._closure = closed(known, int(named) + 1)
        self._odd = {frozenset(rows): rows[2] for rows in known.relative.tolist()}

    def __call__(self, questions: list[Question]) -> list[Any]:
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Any:
        if question.kind == "triple":
            return self._odd.get(frozenset(question.samples))
        if question.kind == "piles" or max(question.samples) >= len(self._closure.group):
            return None
        known = int(self._closure.implied(*question.samples))
        return {1: MUST_LINK, -1: CANNOT_LINK, 0: None}[known]


def _read_session(path: Path) -> Constraints | None:
    """The answers of a session's file that stand; None where the file is none."""
    try:
        header, *events = read_log(path)
    except SessionError:
        return None
    told: dict[int, Told] = {}
    for event in events:
        if event["event"] == "retracted":
            told.pop(event["number"], None)
        elif event["event"] == "told":
            told[event["number"]] = told_from(event, None)
    said = [(statements(t.question, t.answer), t.weight) for t in told.values()]
    return as_constraints(said, header["n_rows"])


class Cached:
    """Remembers answers in a file, so that nothing is asked, or paid for, twice.

    Answers are known again by what the rows hold and the `prompt`, not by position: they serve in
    another session and after rows were sorted or dropped.

    Parameters
    ----------
    oracle : callable
        The oracle that is asked: takes a list of questions, returns a list of answers.
    path : str or Path
        JSON lines, made when it is not there, added to otherwise.
    prompt : str, default=""
        What the rows are asked with; another prompt is another question.

    See Also
    --------
    Table : Answers from a file only.

    Examples
    --------
    >>> from conclust.active import Cached, Labels, Question
    >>> question = Question((0, 1), "pair", "", 1.0, 0, rows=["a", "b"])
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> oracle = Cached(Labels([0, 0, 1]), pathlib.Path(folder.name, "answers.jsonl"))
    >>> oracle([question])
    [Answer(answer='must-link', confidence=1.0, cost=0.0)]
    """

    def __init__(self, oracle: Oracle, path: str | Path, prompt: str = ""):
        self.oracle = oracle
        self.path = Path(path)
        self.prompt = prompt
        self._lock = threading.Lock()
        self._known: dict[str, dict[str, Any]] = self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        if not self.path.exists():
            return {}
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]  # a line cut off in writing does not count
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        try:
            found = [json.loads(line) for line in whole.splitlines()]
            return {entry["key"]: entry for entry in found}
        except (ValueError, KeyError, TypeError):
            raise SessionError(
                f"{self.path} is no file of remembered answers; name another, or delete it."
            ) from None

    def __call__(self, questions: list[Question]) -> list[Any]:
        keyed = [_by_content(question, self.prompt) for question in questions]
        with self._lock:
            new = [i for i, (key, _) in enumerate(keyed) if key not in self._known]
        if new:
            answers = self.oracle([questions[i] for i in new])
            check_length(answers, len(new))
            for i, given in zip(new, answers, strict=True):
                self._remember(questions[i], *keyed[i], given)
        return [self._recall(q, *k) for q, k in zip(questions, keyed, strict=True)]

    def _remember(self, question: Question, key: str, order: list[int], given: Any) -> None:
        if given is None:
            return
        answer = as_answer(given)
        said = checked(question, answer.answer)
        if question.kind == "triple" and not isinstance(said, str):
            said = order.index(question.samples.index(said))
        elif question.kind == "piles" and said not in NO_ANSWER:
            said = [said[i] for i in order]
        entry = {"key": key, "answer": said, "confidence": answer.confidence, "cost": answer.cost}
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())
            self._known[key] = entry

    def _recall(self, question: Question, key: str, order: list[int]) -> Any:
        entry = self._known.get(key)
        if entry is None:
            return None
        said = entry["answer"]
        if question.kind == "triple" and not isinstance(said, str):
            said = question.samples[order[said]]
        elif question.kind == "piles" and said not in NO_ANSWER:
            said = [said[order.index(i)] for i in range(len(order))]
        return Answer(said, entry["confidence"], 0.0)  # nothing is paid for it again


def _by_content(question: Question, prompt: str) -> tuple[str, list[int]]:
    """A key that is the same whatever the order of the rows, and the order it stands for."""
    digests = [_digest(row) for row in _each(question.rows)]
    order = sorted(range(len(digests)), key=digests.__getitem__)
    text = json.dumps([question.kind, prompt, [digests[i] for i in order]])
    return hashlib.sha256(text.encode()).hexdigest(), order


def _each(rows: Any) -> list[Any]:
    if rows is None:
        raise SessionError(
            "The question does not hold its rows, by which answers are remembered; Cached takes "
            "questions that a session asks."
        )
    if hasattr(rows, "columns"):
        return [rows.iloc[i].to_dict() for i in range(len(rows))]
    if hasattr(rows, "iloc"):
        return list(rows)
    return [rows[[i]] if sp.issparse(rows) else rows[i] for i in range(_length(rows))]


def _length(rows: Any) -> int:
    return rows.shape[0] if hasattr(rows, "shape") else len(rows)


def _digest(row: Any) -> str:
    if sp.issparse(row):
        row = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
    elif isinstance(row, np.ndarray):
        row = row.tolist()
    text = json.dumps(row, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class Voted:
    """Asks the same n times and takes the majority; its share is the confidence.

    Parameters
    ----------
    oracle : callable
        The oracle that is asked: takes a list of questions, returns a list of answers.
    n : int, default=3
        How often each question is asked. Where no answer has more votes than others: "unsure".

    See Also
    --------
    Retried : Asks again after an error only.

    Examples
    --------
    >>> from conclust.active import Labels, Question, Voted
    >>> questions = [Question((0, 1), "pair", "", 1.0, 0), Question((0, 2), "pair", "", 1.0, 1)]
    >>> Voted(Labels([0, 0, 1]), n=3)(questions[:1])
    [Answer(answer='must-link', confidence=1.0, cost=0...)]
    """

    def __init__(self, oracle: Oracle, n: int = 3):
        if n < 1:
            raise ValueError(f"n={n!r}: at least one vote is needed.")
        self.oracle, self.n = oracle, n

    def __call__(self, questions: list[Question]) -> list[Any]:
        rounds = []
        for _ in range(self.n):
            answers = self.oracle(questions)
            check_length(answers, len(questions))
            rounds.append(answers)
        return [
            self._elected(question, [votes[i] for votes in rounds])
            for i, question in enumerate(questions)
        ]

    def _elected(self, question: Question, given: list[Any]) -> Any:
        votes = [as_answer(g) for g in given if g is not None]
        if not votes:
            return None
        cost = sum(vote.cost for vote in votes)
        said = [checked(question, vote.answer) for vote in votes]
        keys = [json.dumps(s) for s in said]
        (first, n_first), *others = Counter(keys).most_common()
        if others and others[0][1] == n_first:
            return Answer(UNSURE, 1.0, cost)
        return Answer(said[keys.index(first)], n_first / len(votes), cost)


class Budgeted:
    """Stops when the budget is spent.

    Parameters
    ----------
    oracle : callable
        The oracle that is asked: takes a list of questions, returns a list of answers.
    budget : float
        Of cost. An answer that does not say its cost costs 1.

    Attributes
    ----------
    spent : float

    See Also
    --------
    Voted : Several answers to one question cost several times as much.

    Examples
    --------
    >>> from conclust.active import Budgeted, Enough, Labels, Question
    >>> questions = [Question((0, 1), "pair", "", 1.0, 0), Question((0, 2), "pair", "", 1.0, 1)]
    >>> oracle = Budgeted(Labels([0, 0, 1]), budget=1)
    >>> try:
    ...     oracle(questions)
    ... except Enough as end:
    ...     end.answers
    ['must-link']
    """

    def __init__(self, oracle: Oracle, budget: float):
        self.oracle, self.budget = oracle, budget
        self.spent = 0.0

    def __call__(self, questions: list[Question]) -> list[Any]:
        answers: list[Any] = []
        for question in questions:
            if self.spent >= self.budget:
                raise Enough(answers)
            (given,) = check_length(self.oracle([question]), 1)
            if given is not None:
                self.spent += given.cost if isinstance(given, Answer) else 1.0
            answers.append(given)
        return answers


class Retried:
    """Asks again when the oracle raises.

    Parameters
    ----------
    oracle : callable
        The oracle that is asked: takes a list of questions, returns a list of answers.
    times : int, default=3
        How often it is asked at most.
    wait : float, default=1.0
        Seconds before the second time; twice as many before each further one.

    See Also
    --------
    Threaded : Does not wait for ever.

    Examples
    --------
    >>> from conclust.active import Labels, Question, Retried
    >>> questions = [Question((0, 1), "pair", "", 1.0, 0), Question((0, 2), "pair", "", 1.0, 1)]
    >>> Retried(Labels([0, 0, 1]), times=3, wait=0.1)(questions)
    ['must-link', 'cannot-link']
    """

    def __init__(self, oracle: Oracle, times: int = 3, wait: float = 1.0):
        if times < 1:
            raise ValueError(f"times={times!r}: it has to be asked at least once.")
        self.oracle, self.times, self.wait = oracle, times, wait

    def __call__(self, questions: list[Question]) -> Sequence[Any]:
        for attempt in range(self.times - 1):
            try:
                return self.oracle(questions)
            except Enough:
                raise
            except Exception:
                time.sleep(self.wait * 2**attempt)
        return self.oracle(questions)


class Threaded:
    """Asks a slow oracle in threads, one question each, and does not wait for ever.

    Parameters
    ----------
    oracle : callable
        The oracle that is asked: takes a list of questions, returns a list of answers.
    n_jobs : int, default=8
        Questions on their way at once.
    timeout : float, default=60
        Seconds for one question. When they are over, the answers that came are told and
        :class:`~conclust.exceptions.OracleError` says so.

    See Also
    --------
    Retried : Asks again after an error.

    Examples
    --------
    >>> from conclust.active import Labels, Question, Threaded
    >>> questions = [Question((0, 1), "pair", "", 1.0, 0), Question((0, 2), "pair", "", 1.0, 1)]
    >>> Threaded(Labels([0, 0, 1]), n_jobs=2)(questions)
    ['must-link', 'cannot-link']
    """

    def __init__(self, oracle: Oracle, n_jobs: int = 8, timeout: float = 60.0):
        if n_jobs < 1:
            raise ValueError(f"n_jobs={n_jobs!r}: at least one thread is needed.")
        self.oracle, self.n_jobs, self.timeout = oracle, n_jobs, timeout

    def __call__(self, questions: list[Question]) -> list[Any]:
        answers: list[Any] = [None] * len(questions)
        errors: list[Exception] = []
        free = threading.Semaphore(self.n_jobs)
        late = False
        workers = []

        def work(i: int) -> None:
            try:
                (answers[i],) = check_length(self.oracle([questions[i]]), 1)
            except Exception as error:
                errors.append(error)
            finally:
                free.release()

        for i in range(len(questions)):
            late = late or not free.acquire(timeout=self.timeout)
            if late or errors:
                break
            # A daemon: one that hangs does not keep the program from ending.
            workers.append(threading.Thread(target=work, args=(i,), daemon=True))
            workers[-1].start()
        deadline = time.monotonic() + self.timeout
        for worker in workers:
            worker.join(max(0.0, deadline - time.monotonic()))
        late = late or any(worker.is_alive() for worker in workers)
        return self._judged(list(answers), errors, late)

    def _judged(self, answers: list[Any], errors: list[Exception], late: bool) -> list[Any]:
        if any(isinstance(error, Enough) for error in errors):
            raise Enough(answers)
        if errors:
            raise OracleError(
                f"{_name(self.oracle)} raised {errors[0]!r}", answers=answers
            ) from errors[0]
        if late:
            n = sum(answer is None for answer in answers)
            raise OracleError(
                f"{_name(self.oracle)} did not answer {n} of {len(answers)} questions within "
                f"{self.timeout:g} s",
                answers=answers,
            )
        return answers


def check_length(answers: Any, n: int) -> Sequence[Any]:
    """The answers, if they are one for each question."""
    if isinstance(answers, str) or not hasattr(answers, "__len__"):
        raise OracleError(
            f"the oracle returned {type(answers).__name__} {str(answers)[:40]!r}; it has to return "
            f"a list of answers, one for each of {n} questions"
        )
    if len(answers) != n:
        raise OracleError(
            f"the oracle returned {len(answers)} answers to {n} questions; it has to return one "
            "each, None for no answer",
            answers=list(answers) if len(answers) < n else (),
        )
    return answers


def _name(oracle: Any) -> str:
    return getattr(oracle, "__name__", type(oracle).__name__)
