"""Ask an oracle until the budget is spent."""

from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import Any

from conclust.active._answers import UNSURE
from conclust.active._question import Question
from conclust.active._session import Session
from conclust.active.oracles import Answer, Enough, Oracle, Threaded, as_answer, check_length
from conclust.active.strategies import Strategy
from conclust.constraints import Constraints
from conclust.exceptions import OracleError, SessionError


def ask(
    X: Any,
    oracle: Oracle,
    budget: int,
    n_clusters: int | None = None,
    strategy: str | Strategy = "auto",
    batch: int = 1,
    random_state: Any = None,
    *,
    estimator: Any = None,
    constraints: Constraints | None = None,
    content: Any = None,
    path: str | Path | None = None,
    recheck: float = 0.0,
    timeout: float | None = None,
) -> Session:
    """Ask an oracle which rows belong together, and return the session with its answers.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features), or Session
        A session goes on as it was begun; what is said here about how to begin one does not count.
    oracle : callable
        Takes a list of questions, returns a list of answers; see :mod:`conclust.active`.
    budget : int
        The number of questions.
    n_clusters : int, default=None
        None: not known.
    strategy : str or Strategy, default="auto"
        Which question comes next; see `Session`.
    batch : int, default=1
        Questions handed over at once. The strategy sees answers only after each batch.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.
    estimator : clusterer or "strategy", default=None
        What `labels_` comes from; :class:`~conclust.AutoCluster` by default.
    constraints : Constraints, default=None
        What is known beforehand.
    content : sequence of length n_samples, default=None
        What those who answer see of each row; the rows of X by default.
    path : str or Path, default=None
        A new file in which every answer is kept; see :meth:`Session.load`.
    recheck : float, default=0
        Share of questions that were answered before and are asked again.
    timeout : float, default=None
        Seconds for an answer; the oracle is then asked in threads, one question each.

    Returns
    -------
    Session
        See its `labels_`, `constraints_` and `history_`.

    Raises
    ------
    OracleError
        When the oracle raises, takes longer than `timeout`, or returns what are not answers. Its
        `session` has everything told before.

    See Also
    --------
    Session : The same step by step, for answers that come later.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust.active import Labels, ask
    >>> X, y = load_iris(return_X_y=True)
    >>> ask(X, Labels(y), budget=20, n_clusters=3, strategy="random", random_state=0)
    Session(150 rows, 20 answers, strategy='random')
    """
    for name, value in (("budget", budget), ("batch", batch)):
        if value != int(value) or value < 1:
            raise SessionError(f"{name}={value!r} must be a whole number above 0.")
    if isinstance(X, Session):
        session = X
    else:
        session = Session(
            X,
            n_clusters,
            estimator=estimator,
            strategy=strategy,
            constraints=constraints,
            random_state=random_state,
            content=content,
            path=path,
            recheck=recheck,
        )
    if timeout is not None:
        oracle = Threaded(oracle, n_jobs=batch, timeout=timeout)
    n_left = budget
    while n_left > 0:
        questions = session.ask(min(batch, n_left))
        if not questions or not _answered(session, oracle, questions):
            break
        n_left -= len(questions)
    return session


def _answered(session: Session, oracle: Oracle, questions: list[Question]) -> bool:
    """Tell the session what the oracle says; False: it has had enough."""
    try:
        answers = check_length(oracle(questions), len(questions))
    except Enough as end:
        _tell(session, questions, end.answers)
        return False
    except Exception as error:
        _tell(session, questions, getattr(error, "answers", ()))
        about = str(error) if isinstance(error, OracleError) else f"the oracle raised {error!r}"
        raise OracleError(
            f"Asking stopped: {about}. The {len(session)} answers before are in the `session` of "
            "this error: ask(error.session, oracle, budget) goes on. Retried(oracle) asks again "
            "when one fails.",
            session,
        ) from error
    _tell(session, questions, answers, complete=True)
    return True


def _tell(
    session: Session, questions: list[Question], answers: Sequence[Any], *, complete: bool = False
) -> None:
    """Tell what can be told; an answer that is none is an error once the others are told."""
    wrong: list[SessionError] = []
    for question, given in zip(questions, answers, strict=False):
        if given is None and not complete:
            continue
        answer = as_answer(given)
        try:
            _check_confidence(answer)
            if answer.confidence == 0:
                session.tell(question, UNSURE)
            else:
                session.tell(question, answer.answer, answer.confidence)
        except SessionError as error:
            wrong.append(error)
    if wrong:
        raise OracleError(
            f"Asking stopped: {wrong[0]} The {len(session)} answers that fit are in the `session` "
            "of this error.",
            session,
        ) from wrong[0]


def _check_confidence(answer: Answer) -> None:
    sure = answer.confidence
    if not (isinstance(sure, Real) and 0 <= sure <= 1):
        raise SessionError(f"The confidence of {answer!r} has to be a number from 0 to 1.")
