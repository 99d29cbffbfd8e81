"""The few errors and warnings, as a tree.

::

    ConclustError
    ├── InvalidConstraintsError       malformed statements: wrong shape, unknown id, self-link
    ├── InfeasibleConstraintsError    well-formed, but k clusters cannot keep them all
    │   ├── InconsistentConstraintsError   … whatever the number of clusters
    │   └── InfeasibleSizesError           … within the sizes asked for
    ├── DatasetNotFoundError          a data set neither at hand nor fetchable
    ├── ModelFileError                a file that holds no model, or one that is not trusted
    ├── SessionError                  an answer that fits no question, a file that holds no session
    ├── OracleError                   the one who answers failed; carries the session
    └── MissingExtraError             an optional dependency that is not installed
    ConclustWarning
    ├── ConstraintsViolatedWarning    a fit broke statements it was allowed to break
    ├── ConstraintsIgnoredWarning     statements of a kind the method does not use
    └── DegenerateClusteringWarning   fewer clusters than asked for
"""

from collections.abc import Sequence
from typing import Any


class ConclustError(Exception):
    """Base of every error raised on purpose by conclust."""


class InvalidConstraintsError(ConclustError, ValueError):
    """The statements are malformed; the message names the rows or file lines."""


class InfeasibleConstraintsError(ConclustError, ValueError):
    """No clustering into the number of clusters asked for keeps every statement.

    Parameters
    ----------
    message : str
    conflicts : sequence of Conflict
        The statements that clash; see :meth:`conclust.Constraints.conflicts`.
    """

    def __init__(self, message: str, conflicts: Sequence[Any] = ()):
        super().__init__(message)
        self.conflicts = list(conflicts)


class InconsistentConstraintsError(InfeasibleConstraintsError):
    """The statements contradict each other, whatever the number of clusters."""


class InfeasibleSizesError(InfeasibleConstraintsError):
    """No clustering has the sizes asked for, or none that keeps the statements, too."""


class DatasetNotFoundError(ConclustError, FileNotFoundError):
    """A data set that is neither in a local folder nor can be fetched."""

    def __str__(self) -> str:
        # FileNotFoundError formats its arguments as errno and strerror; we only have a sentence.
        return str(self.args[0]) if self.args else ""


class ModelFileError(ConclustError, ValueError):
    """A file that holds no model, or one with types that are not trusted."""


class SessionError(ConclustError, ValueError):
    """An answer that fits no question, or a file that is not of this session."""


class OracleError(ConclustError, RuntimeError):
    """The one who answers raised, took too long, or gave something that is no answer.

    Parameters
    ----------
    message : str
    session : conclust.active.Session, default=None
        With all that was told before.
    answers : list, default=()
        Answers to the first questions of the batch that failed, None where there is none.
    """

    def __init__(self, message: str, session: Any = None, answers: Sequence[Any] = ()):
        super().__init__(message)
        self.session = session
        self.answers = list(answers)


class MissingExtraError(ConclustError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


class ConclustWarning(UserWarning):
    """Base of every warning issued by conclust."""


class ConstraintsViolatedWarning(ConclustWarning):
    """A fit broke statements, as its parameters allow; the message says how many."""


class ConstraintsIgnoredWarning(ConclustWarning):
    """Statements of a kind that the method does not use; the message names methods that do."""


class DegenerateClusteringWarning(ConclustWarning):
    """The result has fewer clusters than asked for."""
