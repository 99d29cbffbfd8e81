"""What a strategy sees: rows, answers and what follows from them."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust.active._answers import Said
from conclust.active._closure import LiveClosure, is_among, pair_keys
from conclust.active._count import counted_by_answers
from conclust.active._rates import (
    PRIOR_RATE,
    estimated_rate,
    fitted_prior,
    milestones,
    rows_for,
)
from conclust.active._rows import Rows
from conclust.active._within import among
from conclust.constraints import Constraints

# Answers are never taken to be wrong less often.
LEAST_RATE = 0.001
# What a model says of errors counts as much as so many answers that were checked by others.
MODEL_STRENGTH = 30.0


class FlipRate(NamedTuple):
    """Estimated share of must-link and of cannot-link answers that are wrong."""

    must: float
    cannot: float


class Fitted(NamedTuple):
    """A clustering of the rows that can be asked about."""

    model: Any
    labels: IntArray
    probabilities: FloatArray | None


class State:
    """Everything a strategy may look at; nothing of it is to be changed, but for `memory`.

    Rows are numbered from 0 to `n_samples` - 1: the rows that can be asked about, a sample where
    the data has more than 20 000.

    Parameters
    ----------
    rows : object
        The rows and their neighbours.
    n_clusters : int or None
        How many clusters there are, if that is known.
    given : Constraints
        What was known before the first answer.
    closure : LiveClosure
        What follows from the answers.
    fit : callable
        Clusters the rows by what is known.
    rates : dict, default=None
        Rates that were estimated before, by the answers they follow from.

    Attributes
    ----------
    n_samples : int
        How many rows can be asked about.
    n_clusters : int or None
        None: not known.
    closure : LiveClosure
        What follows from the answers: `implied`, `group`, `groups`.
    asked : set of frozenset
        What was asked and answered already, "unsure" and "skip" included.
    held : set of frozenset
        What is handed out and not answered yet.
    n_told : int
        Number of answers so far, "unsure" and "skip" included.
    memory : dict
        For the strategy, to keep what it needs from one question to the next. Not saved, and empty
        again when an answer is taken back.

    See Also
    --------
    Strategy : Chooses the next question by this.
    Session : Shows it to the strategy.

    Examples
    --------
    >>> from conclust.active import Proposal, Session, Strategy
    >>> class First(Strategy):
    ...     def propose(self, state, n, random_state):
    ...         print(state.n_samples, state.n_told, state.is_open(0, [1, 2]))
    ...         return [Proposal((0, 1), "the first two", 1.0)]
    >>> session = Session([[0.0], [0.1], [5.0]], n_clusters=2, strategy=First())
    >>> questions = session.ask(1)
    3 0 [ True  True]
    """

    def __init__(
        self,
        rows: Rows,
        n_clusters: int | None,
        given: Constraints,
        closure: LiveClosure,
        fit: Callable[["State"], Fitted],
        rates: dict[Any, float] | None = None,
    ):
        self.n_samples = len(rows)
        self.n_clusters = n_clusters
        self.closure = closure
        self.asked: set[frozenset[int]] = set()
        self.held: set[frozenset[int]] = set()
        self.n_told = 0
        self.memory: dict[Any, Any] = {}
        self._rows = rows
        self._given = given
        self._fit = fit
        self._fitted: Fitted | None = None
        self._fitted_to: Constraints | None = None
        self._constraints: Constraints | None = None
        self._asked_keys: list[int] = []
        self._statements: list[tuple[Said, float]] = []
        self._at_random: list[bool] = []  # of each of these
        self._rates = {} if rates is None else rates
        self._rate_after: dict[int, float] = {}  # so many of them

    # ------------------------------------------------------------------ rows

    @property
    def X(self) -> FloatArray:  # noqa: N802
        """(n_samples, n_features) float64; more than 50 features are brought down to 50."""
        return self._rows.X

    def neighbors(self, n_neighbors: int) -> IntArray:
        """The nearest other rows of each row; computed once.

        Parameters
        ----------
        n_neighbors : int
            How many.

        Returns
        -------
        ndarray of shape (n_samples, n_neighbors)
            Nearest first.
        """
        return self._rows.neighbors(n_neighbors)

    # ------------------------------------------------------------------ answers

    @property
    def constraints(self) -> Constraints:
        """All that was told, and given beforehand, as statements with weights."""
        if self._constraints is None:
            self._constraints = self._given + as_constraints(self._statements, self.n_samples)
        return self._constraints

    def is_open(self, a: Any, b: Any) -> npt.NDArray[np.bool_]:
        """Whether pairs can be asked: nothing follows about them, not asked, not held.

        Parameters
        ----------
        a, b : int or array-like of int
            Rows; broadcast against each other.

        Returns
        -------
        ndarray of bool
            Whether nothing is known of each pair.
        """
        a, b = np.asarray(a), np.asarray(b)
        held = (self._key(pair) for pair in self.held if len(pair) == 2)
        barred = np.sort(np.array([*self._asked_keys, *held], dtype=np.int64))
        taken = is_among(pair_keys(a, b, self.n_samples), barred)
        return (self.closure.implied(a, b) == 0) & ~taken

    def _key(self, pair: Iterable[int]) -> int:
        a, b = pair
        return int(pair_keys(a, b, self.n_samples))

    @property
    def n_clusters_range(self) -> tuple[int, int] | None:
        """The fewest and the most clusters by the groups that answers made.

        None where the number is known, or where rows of groups not met yet may be many.
        """
        if self.n_clusters is not None or not self.asked:
            return None
        return counted_by_answers(self.closure, np.array(sorted(frozenset().union(*self.asked))))

    def flip_rate(self, model: Any) -> FlipRate:
        """Estimated share of must-link and of cannot-link answers that are wrong.

        Parameters
        ----------
        model : estimator
            Fitted to the answers. Its `flip_rate_`, where it has one, is scaled to the share of
            errors that answers tell which said again, or contradicted, what followed from those
            before.

        Returns
        -------
        FlipRate
            Of must-links and of cannot-links.
        """
        rates = np.array(getattr(model, "flip_rate_", (np.nan, np.nan)), dtype=float)
        rates = np.maximum(np.where(np.isfinite(rates), rates, PRIOR_RATE), LEAST_RATE)
        pairs = self.constraints.pairs()
        n_must, n_cannot = np.bincount((pairs.sign < 0).astype(int), minlength=2) + 1
        expected = float(rates @ (n_must, n_cannot) / (n_must + n_cannot))
        wrong = error_rate(self.closure.n_agreed, self.closure.n_contradicted, expected)
        return FlipRate(*np.minimum(rates * wrong / expected, 0.5).tolist())

    @property
    def error_rate(self) -> float:
        """Share of wrong answers: by those that said again what was known, and by rows.

        Rows have a say about pairs drawn at random only: other questions are asked where rows
        mislead, so that true answers contradict them more often than answers are wrong.
        """
        return error_rate(self.closure.n_agreed, self.closure.n_contradicted, self._rate_by_rows())

    def _rate_by_rows(self) -> float:
        """The same by rows; looked at anew when there are twice as many answers.

        Each time by models that trust answers as far as was found the time before, so that it
        depends on the answers alone.
        """
        rate = PRIOR_RATE
        for n in milestones(len(self._statements)):
            if n not in self._rate_after:
                first, at_random = self._statements[:n], self._at_random[:n]
                key = self.n_samples, repr(first), tuple(at_random)
                if key not in self._rates:
                    self._rates[key] = self._estimated(first, at_random, rate)
                self._rate_after[n] = self._rates[key]
            rate = self._rate_after[n]
        return rate

    def _estimated(
        self, first: list[tuple[Said, float]], at_random: list[bool], rate: float
    ) -> float:
        if not any(at_random) or self.n_samples < 2:
            return rate
        known = (self._given + as_constraints(first, self.n_samples)).pairwise
        rows = rows_for(known, self.n_samples)
        prior = fitted_prior(self.X[rows], self.n_clusters, among(rows, known), rate, 0)
        drawn = [one for one, chance in zip(first, at_random, strict=True) if chance]
        told = as_constraints(drawn, self.n_samples).pairwise
        return estimated_rate(prior, among(rows, told), rate)

    @property
    def n_checked(self) -> int:
        """The answers that said again, or contradicted, what was known."""
        return self.closure.n_agreed + self.closure.n_contradicted

    # ------------------------------------------------------------------ the clustering so far

    @property
    def fitted(self) -> Fitted:
        """The clustering that follows all answers so far; made when it is looked at."""
        if self._fitted is None or self._fitted_to is not self.constraints:
            self._fitted, self._fitted_to = self._fit(self), self.constraints
        return self._fitted

    @property
    def model(self) -> Any:
        """The fitted estimator."""
        return self.fitted.model

    @property
    def labels(self) -> IntArray:
        """(n_samples,) the cluster of each row."""
        return self.fitted.labels

    @property
    def probabilities(self) -> FloatArray | None:
        """(n_samples, k) of each cluster; None where the estimator has none."""
        return self.fitted.probabilities

    # ------------------------------------------------------------------ what the session does

    def _bar(self, samples: Iterable[int]) -> None:
        """Rows of the data that are not to be asked about again."""
        numbers = self._rows.numbered(list(samples)).tolist()
        self.asked.add(frozenset(numbers))
        if len(numbers) == 2:
            self._asked_keys.append(self._key(numbers))

    def _take(
        self, samples: Iterable[int], said: Said, weight: float, at_random: bool = False
    ) -> None:
        """Note an answer about rows of the data."""
        self._bar(samples)
        said = Said(*([tuple(self._rows.numbered(row).tolist()) for row in rows] for rows in said))
        for sign, pairs in ((1, said.must_link), (-1, said.cannot_link)):
            for a, b in pairs:
                self.closure.add(a, b, sign)
        if any(said):
            self._statements.append((said, weight))
            self._at_random.append(at_random)
            self._constraints = None
        self.n_told += 1


def as_constraints(said: Iterable[tuple[Said, float]], n_samples: int) -> Constraints:
    """Answers and their weights as one set of statements."""
    said = list(said)
    rows = {kind: [r for s, _ in said for r in getattr(s, kind)] for kind in Said._fields}
    weights = {
        f"{kind}_weight": [w for s, w in said for _ in getattr(s, kind)] for kind in Said._fields
    }
    return Constraints(**rows, **weights, n_samples=n_samples)


def error_rate(n_agreed: int, n_contradicted: int, expected: float = PRIOR_RATE) -> float:
    """Share of wrong answers, from how often two about the same agreed, and what was expected."""
    n_checked = n_agreed + n_contradicted
    if not n_checked:
        return expected
    # Two answers, each wrong with probability p, contradict each other with D = 2 p (1 - p).
    contradicted = min(n_contradicted / n_checked, 0.5)
    seen = (1 - np.sqrt(1 - 2 * contradicted)) / 2
    return float((n_checked * seen + MODEL_STRENGTH * expected) / (n_checked + MODEL_STRENGTH))
