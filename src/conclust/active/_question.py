"""A question about rows, and what a strategy says of it before it is asked."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Kind = Literal["pair", "triple", "piles"]
KINDS: tuple[Kind, ...] = ("pair", "triple", "piles")


class Proposal(NamedTuple):
    """A question that a strategy would ask."""

    samples: tuple[int, ...]
    why: str
    worth: float
    kind: Kind = "pair"


@dataclass(frozen=True)
class Question:
    """Something to ask: do these rows belong together, which is the odd one out, which go where?

    Attributes
    ----------
    samples : tuple of int
        The rows asked about, as positions in the data.
    kind : {"pair", "triple", "piles"}
        A pair is answered "must-link" or "cannot-link", a triple by the odd one out or, for all
        three, as a pair is, piles by lists of rows that belong together; each also by "unsure" or
        "skip".
    why : str
        Why it is asked, for the one who answers.
    worth : float
        How much the strategy expects of the answer; comparable within one strategy only.
    id : int
        Its number in the session.
    names : tuple
        The names of the rows: the index of the data frame, else their positions.
    rows : Any
        The rows themselves as they were given: a slice of the data, or of `content`.
    """

    samples: tuple[int, ...]
    kind: Kind
    why: str
    worth: float
    id: int
    names: tuple[Any, ...] = field(default=(), compare=False)
    rows: Any = field(default=None, compare=False, repr=False)
