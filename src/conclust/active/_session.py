"""A session: asks, is told, and remembers."""

import hashlib
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state

from conclust._any_clusterer import prepared
from conclust._arrays import IntArray
from conclust._fitting import fit_told, labels_of
from conclust.active._answers import NO_ANSWER, Told, checked, statements
from conclust.active._change import N_NEXT, ExpectedChange, expected_change, steps_between
from conclust.active._content import check_content, content_of, names_of
from conclust.active._desk import Desk, Handed
from conclust.active._given import closed, given_from, given_records, skipped_pairs
from conclust.active._history import constraints_of, history_of
from conclust.active._log import (
    VERSION,
    append_event,
    drop_torn_line,
    fingerprint,
    read_log,
    told_event,
    told_from,
    write_log,
)
from conclust.active._own import OWN, OwnClustering, check_estimator
from conclust.active._question import KINDS, Kind, Proposal, Question
from conclust.active._rows import Rows
from conclust.active._state import Fitted, FlipRate, State, as_constraints
from conclust.active.strategies import STRATEGIES, Strategy
from conclust.constraints import Conflict, Constraints
from conclust.exceptions import SessionError
from conclust.model_selection import AutoCluster

if TYPE_CHECKING:
    import pandas as pd

SIZES = {"pair": (2, 2), "triple": (3, 3), "piles": (2, 10)}
AGAIN = "asked before: do answers change?"


class Session:
    """Ask people, or a program, which rows belong together, and cluster by what they say.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        The index of a data frame, where it has one of its own, names the rows.
    n_clusters : int, default=None
        None: not known. Groups that answers made are then counted, where nearly all rows asked
        about fell into one; else see :func:`~conclust.model_selection.choose_n_clusters`.
    estimator : clusterer or "strategy", default=None
        What `labels_` comes from; takes ``fit(X, constraints=...)``.
        :class:`~conclust.AutoCluster` by default. "strategy": the clustering that the strategy
        makes itself; `COBRAS` and `Piles` do.
    strategy : str or Strategy, default="auto"
        Which question next: a name of `STRATEGIES`, or an object with its parameters.
    constraints : Constraints, default=None
        What is known beforehand.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.
    content : sequence of length n_samples, default=None
        What those who answer see of each row, such as its text; the rows of X by default.
    path : str or Path, default=None
        A new file in which every answer is kept as soon as it is told; see :meth:`load`.
    lease : float, default=600
        Seconds for which a question is kept for the one who asked for it.
    recheck : float, default=0
        Share of questions that were answered before and are asked again, to learn how often
        answers are wrong.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The clustering after all answers so far. Fitted when it is looked at.
    model_ : estimator
        The one that `labels_` comes from.
    constraints_ : Constraints
        All answers, with what was known beforehand.
    history_ : DataFrame
        The answers that stand, in the order told.
    flip_rate_ : (float, float)
        Estimated share of must-link and of cannot-link answers that are wrong.
    expected_change_ : ExpectedChange
        How many rows the next answers will move, as a number and in a sentence.

    See Also
    --------
    ask : The same with a function that answers.

    Notes
    -----
    Nothing is fitted before it is needed. Above 20 000 rows questions are about a sample of the
    rows; `labels_` has all. All methods can be called from several threads.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust.active import Session
    >>> X, y = load_iris(return_X_y=True)
    >>> session = Session(X, n_clusters=3, strategy="random", random_state=0)
    >>> for question in session.ask(5):
    ...     a, b = question.samples
    ...     _ = session.tell(question, "must-link" if y[a] == y[b] else "cannot-link")
    >>> session
    Session(150 rows, 5 answers, strategy='random')
    >>> len(session.constraints_)
    5
    """

    def __init__(
        self,
        X: Any,
        n_clusters: int | None = None,
        *,
        estimator: Any = None,
        strategy: str | Strategy = "auto",
        constraints: Constraints | None = None,
        random_state: Any = None,
        content: Any = None,
        path: str | Path | None = None,
        lease: float = 600.0,
        recheck: float = 0.0,
    ):
        self.names = names_of(X, constraints)
        self.content = X if content is None else content
        self.n_clusters = _checked_n_clusters(n_clusters)
        self.estimator = estimator
        self.strategy = strategy
        self.lease = _checked_number("lease", lease, np.inf)
        self.recheck = _checked_number("recheck", recheck, 1.0)
        self._strategy = _strategy_of(strategy)
        check_estimator(estimator, self._strategy)
        self._X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        n_rows = self.n_rows
        check_content(self.content, n_rows)
        self._given = (Constraints() if constraints is None else constraints).on(n_rows)
        self._seed = int(check_random_state(random_state).randint(2**31 - 1))
        self._lock = threading.RLock()
        self._begin()
        self.path: Path | None = None
        if path is not None:
            self._attach_new(Path(path))

    def _begin(self) -> None:
        """Nothing asked, nothing told."""
        self._rows = Rows(self._X, self._given.samples, self._seed)
        self._given_here = self._rows.renamed(self._given)
        self._given_closure = closed(self._given_here, len(self._rows))
        self._skipped = skipped_pairs(self._given)
        self._told: dict[int, Told] = {}
        self._n_told = 0  # ever, so that a number is never used twice
        self._desk = Desk(self.lease, self._reserve)
        self._all_fitted: tuple[Constraints, Any] | None = None
        self._change: tuple[list[Told], ExpectedChange] | None = None
        self._rates: dict[Any, float] = {}  # estimated once, also where an answer is taken back
        self._state = self._state_of(())

    # ------------------------------------------------------------------ asking

    def ask(self, n: int = 1, *, by: str | None = None) -> list[Question]:
        """Questions whose answers do not follow from what is known, and which nobody else holds.

        What follows from answers that are probably wrong is not known: strategy "auto" asks about
        the same rows in another way.

        Parameters
        ----------
        n : int, default=1
            How many questions.
        by : str, default=None
            Who is going to answer. Nobody else is handed these questions for `lease` seconds.

        Returns
        -------
        list of Question
            All different; fewer than n when there is nothing more to ask.
        """
        if not isinstance(n, Integral) or n < 1:
            raise SessionError(f"n={n!r}: the number of questions is a whole number above 0.")
        with self._lock:
            self._look_who_holds()
            random_state = self._random_state()
            proposals = self._again(int(n), random_state)
            if len(proposals) < n:
                found = self._strategy.propose(self._state, int(n) - len(proposals), random_state)
                proposals += self._askable(found)[: int(n) - len(proposals)]
            return [self._hand_out(proposal, by) for proposal in proposals]

    def pose(
        self,
        samples: Sequence[int],
        kind: Kind = "pair",
        *,
        by: str | None = None,
        why: str = "asked for",
    ) -> Question:
        """A question of one's own: about these rows, asked before or not.

        Parameters
        ----------
        samples : sequence of int
            Two rows, three, or up to ten for piles.
        kind : {"pair", "triple", "piles"}, default="pair"
        by : str, default=None
            Who wants to know; None for nobody in particular.
        why : str, default="asked for"
            For the one who answers.

        Returns
        -------
        Question
            The question, open until it is answered.
        """
        with self._lock:
            rows = self._checked_rows(samples, kind)
            numbers = tuple(self._rows.numbered(rows).tolist())
            return self._hand_out(Proposal(numbers, why, 0.0, kind), by)

    def _random_state(self) -> np.random.RandomState:
        # A function of what is known, so that a session that is loaded, or taken back, goes on as
        # one that was never stopped.
        held = sorted(sorted(rows) for rows in self._state.held)
        digest = hashlib.sha256(repr((self._seed, self._state.n_told, held)).encode()).digest()
        return np.random.RandomState(np.frombuffer(digest, dtype=np.uint32))

    def _look_who_holds(self) -> None:
        """Bring what the strategy sees of questions on their way up to date."""
        samples = (handed.question.samples for handed in self._desk.handed())
        self._state.held = {frozenset(self._rows.numbered(rows).tolist()) for rows in samples}

    def _again(self, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        """Questions answered before, as many of n as `recheck` says."""
        if not self.recheck:
            return []
        held = {handed.rows for handed in self._desk.handed()}
        answered = [
            told.question.samples
            for told in self._told.values()
            if told.question.kind == "pair"
            and told.answer not in NO_ANSWER
            and frozenset(told.question.samples) not in held
        ]
        wanted = min(random_state.binomial(n, self.recheck), len(set(answered)))
        chosen = random_state.permutation(len(answered))
        rows = list(dict.fromkeys(answered[i] for i in chosen))[:wanted]
        return [Proposal(tuple(self._rows.numbered(r).tolist()), AGAIN, 0.0) for r in rows]

    def _askable(self, proposals: list[Proposal]) -> list[Proposal]:
        """Those that are open, each once."""
        kept: dict[frozenset[int], Proposal] = {}
        for proposal in proposals:
            rows = frozenset(proposal.samples)
            is_open = rows not in self._state.asked and rows not in self._state.held
            if proposal.kind == "pair" and not proposal.doubted:
                is_open = bool(self._state.is_open(*proposal.samples))
            if is_open:
                kept.setdefault(rows, proposal)
        return list(kept.values())

    def _hand_out(self, proposal: Proposal, by: str | None) -> Question:
        samples = tuple(self._rows.positions[list(proposal.samples)].tolist())
        question = Question(
            samples,
            proposal.kind,
            proposal.why,
            float(proposal.worth),
            self._desk.next_id(),
            samples if self.names is None else tuple(self.names[list(samples)]),
            content_of(self.content, samples),
            proposal.at_random,
        )
        rows = frozenset(proposal.samples)
        self._desk.hand_out(question, by, again=rows in self._state.asked)
        self._state.held.add(rows)
        return question

    def _checked_rows(self, samples: Sequence[int], kind: Kind) -> tuple[int, ...]:
        if kind not in KINDS:
            raise SessionError(f"kind={kind!r} is none of {', '.join(map(repr, KINDS))}.")
        low, high = SIZES[kind]
        rows = tuple(int(row) for row in samples)
        if len(set(rows)) != len(rows) or not low <= len(rows) <= high:
            size = f"{low}" if low == high else f"{low} to {high}"
            raise SessionError(f"samples={samples!r}: a question of kind {kind} has {size} rows.")
        if not all(0 <= row < self.n_rows for row in rows):
            raise SessionError(f"samples={samples!r}: rows count from 0 to {self.n_rows - 1}.")
        self._include(rows)
        return rows

    def _include(self, rows: tuple[int, ...]) -> None:
        """Make rows askable that the sample lacks."""
        if self._rows.are_all or np.isin(rows, self._rows.positions).all():
            return
        named = [self._given.samples, *(told.question.samples for told in self._told.values())]
        named += [handed.question.samples for handed in self._desk.everything_out()]
        self._rows = Rows(self._X, np.unique(np.concatenate([*named, np.array(rows)])), self._seed)
        self._given_here = self._rows.renamed(self._given)
        self._given_closure = closed(self._given_here, len(self._rows))
        self._state = self._state_of(self._told.values())
        self._look_who_holds()

    # ------------------------------------------------------------------ being told

    def tell(
        self, question: Question | int, answer: Any, weight: float = 1.0, by: str | None = None
    ) -> Told:
        """Take an answer; with a `path`, it is on the disk when this returns.

        Parameters
        ----------
        question : Question or int
            As handed out by :meth:`ask`, or its `id`.
        answer : str, int or list
            "must-link" or "cannot-link" for a pair, or for all three of a triple; the odd one out
            of a triple, as the row or its place; for piles a list of lists of rows, or a label for
            each row. "unsure" and "skip" say nothing; the question is not asked again.
        weight : float, default=1.0
            How sure the answer is, or how many say so.
        by : str, default=None
            Who answers.

        Returns
        -------
        Told
            With its `number`, for :meth:`retract`.

        Raises
        ------
        SessionError
            When the question was not asked, was answered or taken back, is held by somebody else,
            or the answer does not fit. What was told before stays.
        """
        with self._lock:
            handed = self._desk.find(question, by)
            self._check_not_settled(handed)
            answer = checked(handed.question, answer)
            if not (isinstance(weight, int | float | np.number) and 0 < weight < np.inf):
                raise SessionError(
                    f"weight={weight!r} must be a positive number; an answer without any weight "
                    "is 'unsure'."
                )
            told = Told(
                self._n_told,
                handed.question,
                answer,
                float(weight),
                handed.by if by is None else by,
                datetime.now(UTC).isoformat(timespec="seconds"),
                round(time.monotonic() - handed.since, 3),
            )
            self._append(told_event(told))
            self._take(told)
            return told

    def _check_not_settled(self, handed: Handed) -> None:
        rows = frozenset(self._rows.numbered(handed.question.samples).tolist())
        if rows in self._state.asked and not handed.again:
            raise SessionError(
                f"The rows of question {handed.question.id} were answered by somebody else "
                "meanwhile; pose(samples) asks about them once more."
            )

    def _take(self, told: Told) -> None:
        self._n_told = max(self._n_told, told.number + 1)
        self._told[told.number] = told
        who = f" by {told.by!r}" if told.by else ""
        self._desk.close(told.question.id, f"was answered{who} already, as answer {told.number}")
        _note(self._state, told)
        self._look_who_holds()

    def undo(self, *, by: str | None = None) -> Told:
        """Take back the last answer that stands.

        Parameters
        ----------
        by : str, default=None
            The last answer of this person.

        Returns
        -------
        Told
            What was taken back. Its rows can be asked about again, in a new question.
        """
        with self._lock:
            mine = [told.number for told in self._told.values() if by is None or told.by == by]
            if not mine:
                raise SessionError(
                    "There is no answer to take back" + (f" by {by!r}." if by else ".")
                )
            return self.retract(mine[-1])

    def retract(self, number: int) -> Told:
        """Take back one answer.

        Parameters
        ----------
        number : int
            As in `history_`.

        Returns
        -------
        Told
            What followed from it.
        """
        with self._lock:
            if number not in self._told:
                raise SessionError(
                    f"There is no answer {number!r} to take back; `history_` lists them."
                )
            self._append({"event": "retracted", "number": int(number)})
            return self._withdraw(int(number))

    def _withdraw(self, number: int) -> Told:
        told = self._told.pop(number)
        self._desk.close(told.question.id, f"was answered, and answer {number} was taken back")
        self._state = self._state_of(self._told.values())
        self._look_who_holds()
        return told

    # ------------------------------------------------------------------ what is known now

    def _state_of(self, answers: Any) -> State:
        """What is known from some of the answers."""
        closure = self._given_closure.copy()
        state = State(
            self._rows, self.n_clusters, self._given_here, closure, self._fit, self._rates
        )
        for samples in self._skipped:
            state._bar(samples)
        for told in answers:
            _note(state, told)
        return state

    def _fit(self, state: State) -> Fitted:
        """Cluster the rows that can be asked about."""
        if self.estimator == OWN:
            labels = self._strategy.labels(state)
            model: Any = OwnClustering(self._X[self._rows.positions], labels)
        else:
            model = fit_told(self._unfitted(state), self._rows_asked, state.constraints)
        probabilities = getattr(model, "probabilities_", None)
        if probabilities is None and hasattr(model, "predict_proba"):
            probabilities = model.predict_proba(self._rows_asked)
        return Fitted(model, np.asarray(labels_of(model)), probabilities)

    @property
    def _rows_asked(self) -> Any:
        """The rows that can be asked about."""
        return self._X if self._rows.are_all else self._rows.X

    def _unfitted(self, state: State) -> Any:
        if self.estimator is None:
            n_clusters = "auto" if self.n_clusters is None else self.n_clusters
            return AutoCluster(
                n_clusters,
                n_clusters_range=state.n_clusters_range,
                flip_rate=self._state.error_rate,
                n_checked=self._state.n_checked,
                random_state=self._seed,
            )
        if self.n_clusters is None:
            return clone(self.estimator)
        return prepared(self.estimator, self.n_clusters, self._seed)

    @property
    def model_(self) -> Any:
        """The estimator fitted to all rows and answers."""
        with self._lock:
            if self._rows.are_all:
                return self._state.model
            if self.estimator == OWN:
                own = self._state.model
                return OwnClustering(self._X, own.predict(self._X))
            known = self._known(self._told.values())
            if self._all_fitted is None or self._all_fitted[0] != known:
                self._all_fitted = known, fit_told(self._unfitted(self._state), self._X, known)
            return self._all_fitted[1]

    @property
    def labels_(self) -> IntArray:
        """(n_samples,) the clustering after all answers so far."""
        return np.asarray(labels_of(self.model_))

    def _known(self, told: Iterable[Told]) -> Constraints:
        """What was known beforehand, and these answers."""
        said = [(statements(t.question, t.answer), t.weight) for t in told]
        return self._given + as_constraints(said, self.n_rows)

    def staged_labels(self, every: int = 10) -> Iterator[IntArray]:
        """The clustering after 0, `every`, twice as many, … and all answers, each made anew.

        Parameters
        ----------
        every : int, default=10
            Answers between two stages.

        Yields
        ------
        ndarray of shape (n_samples,)
            As `labels_` would have been, were answers trusted as now; the last one is `labels_`.
            `conclust.plotting.plot_history` draws what follows.
        """
        if not isinstance(every, Integral) or every < 1:
            raise SessionError(f"every={every!r} must be a whole number above 0.")
        with self._lock:
            told = list(self._told.values())
        for n_told in range(0, len(told), int(every)):
            with self._lock:
                labels = self._labels_after(told[:n_told])
            yield labels
        yield self.labels_

    def _labels_after(self, told: list[Told]) -> IntArray:
        """The clustering that some of the answers make."""
        state = self._state_of(told)
        if self._rows.are_all:
            return np.asarray(state.labels)
        if self.estimator == OWN:
            return np.asarray(state.model.predict(self._X))
        return np.asarray(labels_of(fit_told(self._unfitted(state), self._X, self._known(told))))

    @property
    def constraints_(self) -> Constraints:
        """All answers, with what was known beforehand; who told them, and when, beside them."""
        with self._lock:
            return self._given + constraints_of(self._told.values(), self.names, self.n_rows)

    @property
    def history_(self) -> "pd.DataFrame":
        """One row for each answer that stands."""
        with self._lock:
            return history_of(self._told.values())

    def conflicts(self) -> list[Conflict]:
        """Answers that cannot all hold, and why; see :meth:`conclust.Constraints.conflicts`.

        Returns
        -------
        list of Conflict
            Smallest sets of answers that cannot all hold.
        """
        return self.constraints_.conflicts(self.n_clusters)

    @property
    def flip_rate_(self) -> FlipRate:
        """Estimated share of must-link and of cannot-link answers that are wrong.

        By rows and answers: `labels_` trusts answers as far as they agree with each other, so that
        another `AutoCluster` is fitted here, where there is no `estimator`, that estimates.
        """
        with self._lock:
            state = self._state
            if self.estimator is not None:
                return state.flip_rate(state.model)
            estimating = self._unfitted(state).set_params(flip_rate="auto", n_checked=0)
            return state.flip_rate(fit_told(estimating, self._rows_asked, state.constraints))

    @property
    def expected_change_(self) -> ExpectedChange:
        """The share of rows that the next ten answers will move to another cluster.

        Judged by what the last ones did: the clustering is made anew without the last ten answers,
        and without the last twenty.
        """
        with self._lock:
            told = list(self._told.values())
            if self._change is None or self._change[0] != told:
                stages = [told[: max(len(told) - back, 0)] for back in (2 * N_NEXT, N_NEXT)]
                states = [self._state_of(stage) for stage in stages] + [self._state]
                self._change = told, expected_change(steps_between(states))
            return self._change[1]

    @property
    def n_rows(self) -> int:
        """The number of rows of X."""
        return int(self._X.shape[0])

    def __len__(self) -> int:
        return len(self._told)

    def __repr__(self) -> str:
        answers = f"{len(self)} answer{'' if len(self) == 1 else 's'}"
        return f"Session({self.n_rows:,} rows, {answers}, strategy={self.strategy!r})"

    # ------------------------------------------------------------------ on disk

    def save(self, path: str | Path) -> None:
        """Write the session to a file, and keep every further answer there.

        Parameters
        ----------
        path : str or Path
            JSON lines. An answer is on the disk when :meth:`tell` returns.
        """
        with self._lock:
            told = map(told_event, self._told.values())
            reserved = _reserved(self._desk.n_reserved)
            self._size = write_log(Path(path), [self._header(), reserved, *told])
            self.path = Path(path)

    def _attach_new(self, path: Path) -> None:
        if path.exists() and path.stat().st_size:
            raise SessionError(
                f"{path} is there already; Session.load({str(path)!r}, X) goes on with it, "
                "another path begins anew."
            )
        self.save(path)

    def _append(self, event: dict[str, Any]) -> None:
        if self.path is not None:
            self._size = append_event(self.path, event, self._size)

    def _reserve(self, n_questions: int) -> None:
        self._append(_reserved(n_questions))

    def _header(self) -> dict[str, Any]:
        return {
            "event": "session",
            "version": VERSION,
            "n_rows": self.n_rows,
            "content": fingerprint(self._X),
            "n_clusters": self.n_clusters,
            "strategy": self.strategy if isinstance(self.strategy, str) else None,
            "seed": self._seed,
            "given": given_records(self._given, self._skipped),
        }

    @classmethod
    def load(
        cls,
        path: str | Path,
        X: Any,
        *,
        estimator: Any = None,
        strategy: str | Strategy | None = None,
        content: Any = None,
        lease: float = 600.0,
        recheck: float = 0.0,
    ) -> "Session":
        """Go on with a session; further answers are kept in the same file.

        Parameters
        ----------
        path : str or Path
            A file that :meth:`save` wrote, or that `path` named.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows the session was begun with, in the same order.
        estimator : clusterer or "strategy", default=None
            As in the session: it is not in the file, nor are `content`, `lease` and `recheck`.
        strategy : str or Strategy, default=None
            The one of the file by default.
        content : sequence of length n_samples, default=None
            What those who answer see of each row.
        lease : float, default=600
            Seconds for which a question is kept for the one who asked for it.
        recheck : float, default=0
            Share of questions that are asked again.

        Returns
        -------
        Session
        """
        path = Path(path)
        header, *events = read_log(path)
        size = drop_torn_line(path)
        try:
            session = cls(
                X,
                header["n_clusters"],
                estimator=estimator,
                strategy=strategy or header["strategy"] or "auto",
                content=content,
                lease=lease,
                recheck=recheck,
            )
            session._check_rows(path, header)
            session._seed = int(header["seed"])
            session._given = given_from(header["given"], session.n_rows)
            session._begin()
            for event in events:
                session._replay(event)
        except (KeyError, TypeError, AttributeError) as error:
            raise SessionError(f"{path.name} is damaged: {error!r}.") from error
        session.path, session._size = path, size
        return session

    def _check_rows(self, path: Path, header: dict[str, Any]) -> None:
        if header["n_rows"] != self.n_rows:
            raise SessionError(
                f"{path.name} is about {header['n_rows']} rows, but X has {self.n_rows}; load "
                "it with the rows it was begun with."
            )
        if header["content"] != fingerprint(self._X):
            raise SessionError(
                f"{path.name} is about other rows than X, or the same in another order or scale; "
                "load it with the rows it was begun with. `constraints_.write` and "
                "`read_constraints(path, ids=...)` carry answers over by name."
            )

    def _replay(self, event: dict[str, Any]) -> None:
        if event["event"] == "retracted":
            self._withdraw(event["number"])
        elif event["event"] == "reserved":
            self._desk.n_asked = self._desk.n_reserved = event["n_questions"]
        else:
            self._checked_rows(event["samples"], event["kind"])
            self._take(told_from(event, self.names))


def _reserved(n_questions: int) -> dict[str, Any]:
    return {"event": "reserved", "n_questions": n_questions}


def _note(state: State, told: Told) -> None:
    said = statements(told.question, told.answer)
    state._take(told.question.samples, said, told.weight, told.question.at_random)


def _checked_n_clusters(n_clusters: Any) -> int | None:
    if n_clusters is None or n_clusters == "auto":
        return None
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise SessionError(
            f"n_clusters={n_clusters!r} must be a whole number above 0, or None: not known."
        )
    return int(n_clusters)


def _checked_number(name: str, value: Any, most: float) -> float:
    if not (isinstance(value, int | float | np.number) and 0 <= value <= most):
        raise SessionError(f"{name}={value!r} must be a number from 0 to {most:g}.")
    return float(value)


def _strategy_of(strategy: Any) -> Strategy:
    if isinstance(strategy, str) and strategy in STRATEGIES:
        return STRATEGIES[strategy]()
    if not isinstance(strategy, str) and hasattr(strategy, "propose"):
        return strategy
    raise SessionError(
        f"strategy={strategy!r} is none of {', '.join(map(repr, STRATEGIES))}, nor an object with "
        "`propose`."
    )
