"""BoostedConstrainedKMeans (BCKM): boosting learns the priority of each statement."""

import time
from collections.abc import Iterator
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from conclust._lloyd.start import centred, init_centers
from conclust._progress import progress
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._validation import check_inputs, weights_of_rows
from conclust.cluster import ConstrainedLloyd
from conclust.constraints import Constraints
from conclust.ensemble._consensus import CoAssociation
from conclust.ensemble._judges import JudgedMixin, Judges
from conclust.ensemble._members import (
    Member,
    by_statement,
    statements_with,
    usable,
)

if TYPE_CHECKING:
    import pandas as pd

# So many rounds in a row that are no better than chance, and boosting has nothing left to learn.
MAX_USELESS = 20


class Round(NamedTuple):
    """What one boosting round did."""

    error: float  # weighted share of statements broken
    alpha: float  # weight of the round in the kernel
    share_satisfied: float  # unweighted share of pairs kept
    order_change: float  # mean displacement in the order of priorities, as a share of its length
    n_iter: int  # iterations of the weak learner
    seconds: float


def weighted_error(weights: np.ndarray, kept: np.ndarray) -> float:
    """Weighted share of broken pairs, eq. (1) of [1]_ without its factor ρ.

    Σ w (1 − y K) / (2 Σ w), kept off 0 and 1 by 1 / (2 m) so that eq. (2) stays finite. With the
    factor ρ as printed the error exceeds 1 as soon as a fifth of the weight is broken.
    """
    m = len(weights)
    error = float((weights * (1 - kept)).sum() / (2 * weights.sum()))
    return min(max(error, 1 / (2 * m)), 1 - 1 / (2 * m))


def importance(error: float) -> float:
    """Weight of a round, eq. (2): ln((1 − ε) / ε)."""
    return float(np.log((1 - error) / error))


def reweigh(
    log_weights: np.ndarray, kept: np.ndarray, alpha: float, rho: float, xi: float
) -> np.ndarray:
    """Raise the priority of broken pairs, eq. (3): w ← w exp(−α (y K − ξ) / ρ).

    Log-weights, shifted to maximum 0: the weights themselves vanish within a hundred rounds. The
    factor exp(α ξ / ρ) is common to all, so ξ has no effect on labels.
    """
    log_weights = log_weights - alpha * (kept - xi) / rho
    return log_weights - log_weights.max()


def ranks_of(weights: np.ndarray) -> np.ndarray:
    """Place of each statement in the order of priorities, the heaviest first, ties as given."""
    ranks = np.empty(len(weights), dtype=np.int64)
    ranks[np.argsort(-weights, kind="stable")] = np.arange(len(weights))
    return ranks


def displacement(old: np.ndarray, new: np.ndarray) -> float:
    """How far statements move in the order, on average, as a share of its length."""
    return float(np.abs(old - new).mean() / len(old)) if len(old) > 1 else 0.0


class BoostedConstrainedKMeans(JudgedMixin):
    """Boosted constrained k-means (BCKM): learns which statements to place first.

    Each round clusters with :class:`~conclust.ConstrainedKMeans`, placing statements of high
    priority first, then raises the priority of those it broke. The rounds are combined, weighted
    by how well they kept the statements, into a co-association that kernel k-means turns into the
    final clusters. The kernel is never built: see :class:`~conclust.ensemble.CoAssociation`.

    Parameters
    ----------
    n_clusters : int, default=8
    n_estimators : int, default=100
        Boosting rounds.
    rho : float, default=5.0
        Softens the change of priorities: a learning rate of 2 / rho on AdaBoost.
    xi : float, default=0.5
        A margin of the paper's loss. It cancels, see Notes; kept for the paper's sake.
    init : {"random", "k-means++"}, array-like or callable, default="random"
        Start of the weak learner in each round.
    reinit : bool, default=True
        Draw a new start in each round; False repeats the first one, as a remark in the paper
        suggests, which leaves few different clusterings.
    max_iter : int, default=30
        Iterations of the weak learner.
    n_init : int, default=10
        Starts of the final kernel k-means.
    warm_start : bool, default=False
        Keep the rounds of the last fit and add those missing to `n_estimators`; for the same X
        and constraints.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
    estimator_weights_, estimator_errors_ : ndarray of shape (n_rounds,)
        α and ε of each round. Rounds no better than chance have weight 0.
    constraint_weights_ : ndarray of shape (len(constraints),)
        Learned priorities, summing to 1: large for statements that were hard to keep.
    co_association_ : CoAssociation
        The members' labels and weights.
    member_centers_ : ndarray of shape (n_rounds, n_clusters, n_features)
    doubt_ : ndarray of shape (len(constraints),)
        Share of ten soft clusterings, each told three quarters of the statements, that break each
        statement; computed when asked for. See :meth:`suspects`.
    history_ : list of Round
    n_iter_ : int
        Number of rounds.
    stop_reason_ : str
    report_ : ConstraintReport
        Which statements the final labels keep.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    ConstrainedKMeansEnsemble : Random orders instead: better when statements may be wrong.
    COPKMeans : Keeps every statement: better when all of them are right.

    Notes
    -----
    Read as in the erratum to the paper: ε is the weighted share of broken statements (without
    the factor ρ of eq. (1)), clipped to [1/2m, 1 − 1/2m]; rounds with α ≤ 0 get weight 0 and
    reset the priorities. ξ multiplies all weights by the same factor, so labels do not depend on
    it. Memory: n_samples · n_estimators bytes.

    References
    ----------
    .. [1] M. Okabe and S. Yamada. Clustering by learning constraints priorities. Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import BoostedConstrainedKMeans, sample_constraints
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 300, random_state=0)
    >>> model = BoostedConstrainedKMeans(3, n_estimators=50, random_state=0)
    >>> model.fit(X, constraints=known).report_.share > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "rho": [Interval(Real, 0, None, closed="neither")],
        "xi": [Interval(Real, None, None, closed="neither")],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "reinit": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_estimators: int = 100,
        rho: float = 5.0,
        xi: float = 0.5,
        init: Any = "random",
        reinit: bool = True,
        max_iter: int = 30,
        n_init: int = 10,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.rho = rho
        self.xi = xi
        self.init = init
        self.reinit = reinit
        self.max_iter = max_iter
        self.n_init = n_init
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Constraints | None = None,
        sample_weight: Any = None,
    ) -> "BoostedConstrainedKMeans":
        """Cluster the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
        constraints : Constraints, default=None
            Must-links and cannot-links; their weights are the priorities to begin with.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the means of the weak learner.

        Returns
        -------
        self
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = None if sample_weight is None else weights_of_rows(sample_weight, X)
        pairs = constraints.pairs()
        # One seed per round, drawn up front: adding rounds later gives what one long fit gives.
        random_state = check_random_state(self.random_state)
        final_seed = random_state.randint(2**31 - 1)
        seeds = random_state.randint(2**31 - 1, size=self.n_estimators)
        equal = np.log(pairs.weight / pairs.weight.max()) if len(pairs.weight) else np.empty(0)
        members, alphas, errors, history, log_weights = self._begin(X, constraints, equal)
        data = centred(X)
        start, ranks = None, ranks_of(log_weights)
        rng = np.random.RandomState(0)  # seeded anew in each round; making one costs more than that
        n_useless = 0
        self.stop_reason_ = f"all {self.n_estimators} rounds done"
        with (
            progress(self.verbose, type(self).__name__, self.n_estimators) as show,
            ConstrainedLloyd(
                data.X, pairs.pairs, pairs.sign, self.n_clusters, sample_weight=weight
            ) as weak_learner,
        ):
            for t in range(len(members), self.n_estimators):
                began = time.perf_counter()
                rng.seed(seeds[t if self.reinit else 0])
                if start is None or self.reinit:
                    start = init_centers(
                        data.X, self.n_clusters, self.init, weight, rng, mean=data.mean
                    )
                run = weak_learner.run(log_weights, start, max_iter=self.max_iter)
                members.append(Member(run.labels, run.centers + data.mean, run.n_iter))
                error, alpha, kept = 0.5, 1.0, np.empty(0)
                if len(pairs.pairs):
                    kept = np.where(pairs.violated(run.labels), -1.0, 1.0)
                    error = weighted_error(np.exp(log_weights), kept)
                    alpha = importance(error)
                    if alpha > 0:
                        log_weights = reweigh(log_weights, kept, alpha, self.rho, self.xi)
                    else:
                        alpha, log_weights = 0.0, equal
                before, ranks = ranks, ranks_of(log_weights)
                record = Round(
                    error,
                    alpha,
                    float((kept > 0).mean()) if len(kept) else 1.0,
                    displacement(before, ranks),
                    run.n_iter,
                    time.perf_counter() - began,
                )
                alphas.append(alpha)
                errors.append(error)
                history.append(record)
                show(record, advance=1)
                n_useless = 0 if alpha > 0 else n_useless + 1
                if n_useless == MAX_USELESS:
                    self.stop_reason_ = f"{MAX_USELESS} rounds in a row no better than chance"
                    break
                if not self.reinit and t and record.order_change == 0 and _repeats(members):
                    self.stop_reason_ = "the order of priorities and the labels no longer change"
                    break
        self._finish(members, alphas, errors, history, log_weights, final_seed, constraints, pairs)
        self._judges = Judges.of(data, constraints, members, weight, final_seed)
        return self

    def _begin(self, X: Any, constraints: Constraints, equal: np.ndarray) -> tuple[Any, ...]:
        """The rounds to go on from: none, or those of the last fit."""
        if not (self.warm_start and hasattr(self, "co_association_")):
            return [], [], [], [], equal
        codes = self.co_association_.codes
        if len(codes) != X.shape[0] or self.constraints_ != constraints:
            raise ValueError(
                "warm_start goes on with the same rows and constraints, but these differ from "
                "those of the last fit; use warm_start=False to begin anew."
            )
        members = [
            Member(codes[:, t], centers, record.n_iter)
            for t, (centers, record) in enumerate(
                zip(self.member_centers_, self.history_, strict=True)
            )
        ]
        return (
            members,
            list(self.estimator_weights_),
            list(self.estimator_errors_),
            list(self.history_),
            self._log_weights,
        )

    def _finish(
        self,
        members: list[Member],
        alphas: list[float],
        errors: list[float],
        history: list[Round],
        log_weights: np.ndarray,
        seed: int,
        constraints: Constraints,
        pairs: Any,
    ) -> None:
        self.estimator_weights_, self.estimator_errors_ = np.array(alphas), np.array(errors)
        self._combine(members, constraints, seed, usable(self.estimator_weights_))
        self.history_ = history
        self._log_weights, self._final_seed = log_weights, seed
        learned = by_statement(np.exp(log_weights), pairs.statement, len(constraints))
        self.constraint_weights_ = learned / learned.sum() if len(learned) else learned

    def priorities(self, n: int | None = None) -> "pd.DataFrame":
        """The learned priorities as a table; `conclust.plotting.plot_priorities` draws it.

        Parameters
        ----------
        n : int, default=None
            Only the n statements that were hardest to keep.

        Returns
        -------
        DataFrame
            The pairwise statements as in ``constraints.to_frame()``, with their number `statement`,
            the learned `priority` (all of them sum to 1) and whether the final labels have `kept`
            it, in falling order of priority.
        """
        check_is_fitted(self)
        order = np.argsort(-self.constraint_weights_, kind="stable")
        order = order[self.constraints_.kinds[order] != "relative"][:n]
        return statements_with(
            self.constraints_, order, priority=self.constraint_weights_, kept=self.report_.kept
        )

    def staged_labels(self) -> Iterator[np.ndarray]:
        """Labels after each round, without refitting: the anytime property.

        Yields
        ------
        ndarray of shape (n_samples,), int32
            The consensus of the first 1, 2, … rounds; the last one equals `labels_`.
        """
        for t in range(1, self.n_iter_ + 1):
            together = CoAssociation(
                self.co_association_.codes[:, :t], usable(self.estimator_weights_[:t])
            )
            yield together.cluster(
                self.n_clusters, n_init=self.n_init, random_state=self._final_seed
            ).labels


def _repeats(members: list[Member]) -> bool:
    return bool((members[-1].labels == members[-2].labels).all())
