"""A question about rows, and what a strategy says of it before it is asked."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from conclust.active._answers import Said

Kind = Literal["pair", "triple", "piles"]
KINDS: tuple[Kind, ...] = ("pair", "triple", "piles")


class Proposal(NamedTuple):
    """A question that a strategy would ask.

    Attributes
    ----------
    samples : tuple of int
        The rows to ask about.
    why : str
        Why, for the one who answers.
    worth : float
        How much is expected of the answer; comparable within one strategy only.
    kind : {"pair", "triple", "piles"}, default="pair"
        What is asked of the rows.
    doubted : bool, default=False
        The answer is known already, but from answers that may be wrong.
    at_random : bool, default=False
        The rows were drawn, whatever is believed of them: such answers tell how many are wrong.
    """

    samples: tuple[int, ...]
    why: str
    worth: float
    kind: Kind = "pair"
    doubted: bool = False
    at_random: bool = False


@dataclass(frozen=True)
class Question:
    """Something to ask of rows: together or not, which is the odd one out, which go where.

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
    id : int or str
        Its number in the session, or what another front desk calls it.
    names : tuple
        The names of the rows: the index of the data frame, else their positions.
    rows : Any
        The rows themselves as they were given: a slice of the data, or of `content`.
    at_random : bool
        Whether the rows were drawn, whatever is believed of them.
    """

    samples: tuple[int, ...]
    kind: Kind
    why: str
    worth: float
    id: int | str
    names: tuple[Any, ...] = field(default=(), compare=False)
    rows: Any = field(default=None, compare=False, repr=False)
    at_random: bool = field(default=False, compare=False, repr=False)

    def checked(self, answer: Any) -> Any:
        """An answer in the form in which it is kept; raises where it does not fit.

        Parameters
        ----------
        answer : str, int or list
            As :meth:`Session.tell` takes it.

        Returns
        -------
        str, int or list
            A word; for a triple the odd row; for piles a list with the pile of each row.
        """
        from conclust.active._answers import checked

        return checked(self, answer)

    def said(self, answer: Any) -> "Said":
        """What a checked answer says about rows: must-links, cannot-links, relative statements.

        Parameters
        ----------
        answer : str, int or list
            As :meth:`checked` gives it.

        Returns
        -------
        Said
            The statements it stands for.
        """
        from conclust.active._answers import statements

        return statements(self, answer)
