"""BoostedConstrainedKMeans (BCKM): boosting learns the priority of each statement."""

from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from conclust import blocks
from conclust._declare import PAIRS, Named, Takes
from conclust._lloyd.best import warn_if_degenerate
from conclust._lloyd.start import centered, init_centers
from conclust._pairs import SignedPairs
from conclust._progress import Rounds, progress
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._statements import by_statement, statements_with
from conclust._validation import METRICS, check_inputs, weights_of_rows
from conclust.cluster import ConstrainedLloyd
from conclust.constraints import Constraints
from conclust.ensemble._consensus import CoAssociation
from conclust.ensemble._judges import JudgedMixin, Judges
from conclust.ensemble._members import (
    Member,
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


class Boosting(NamedTuple):
    """The rounds, in order."""

    members: list[Member]
    history: list[Round]
    log_weights: np.ndarray  # (n_pairs,) priorities after the last round
    converged: bool  # ended by itself, before the last round
    stop_reason: str


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


def reweigh(log_weights: np.ndarray, kept: np.ndarray, alpha: float, rho: float) -> np.ndarray:
    """Raise the priority of broken pairs, eq. (3): w ← w exp(−α (y K − ξ) / ρ).

    Log-weights, shifted to maximum 0: the weights themselves vanish within a hundred rounds. The
    factor exp(α ξ / ρ) is common to all and left out: by its rounding ξ would change labels.
    """
    log_weights = log_weights - alpha * kept / rho
    return log_weights - log_weights.max()


def ranks_of(weights: np.ndarray) -> np.ndarray:
    """Place of each statement in the order of priorities, the heaviest first, ties as given."""
    ranks = np.empty(len(weights), dtype=np.int64)
    ranks[np.argsort(-weights, kind="stable")] = np.arange(len(weights))
    return ranks


def displacement(old: np.ndarray, new: np.ndarray) -> float:
    """How far statements move in the order, on average, as a share of its length."""
    return float(np.abs(old - new).mean() / len(old)) if len(old) > 1 else 0.0


def boost(
    cluster: Callable[[np.ndarray, int], Member],
    pairs: SignedPairs,
    n_rounds: int,
    *,
    rho: float,
    before: Boosting | None = None,
    until_still: bool = False,
    on_round: Callable[[Round], object] | None = None,
) -> Boosting:
    """Cluster again and again, each time with higher priority for what was broken: Algorithm 1.

    Parameters
    ----------
    cluster : callable
        ``cluster(log_weights, t)`` clusters with these priorities of the pairs, in round t.
    pairs : SignedPairs
        Their weights are the priorities to begin with.
    n_rounds : int
    rho : float
        See `reweigh`.
    before : Boosting, default=None
        Rounds to go on from.
    until_still : bool, default=False
        Stop when neither the order of priorities nor the labels change: for a `cluster` that draws
        nothing anew.
    on_round : callable, default=None
        Called with the `Round` of each round.

    Returns
    -------
    Boosting
    """
    equal = np.log(pairs.weight / pairs.weight.max(initial=0.0))
    log_weights = equal if before is None else before.log_weights
    members = [] if before is None else list(before.members)
    rounds = Rounds(Round, on_round, () if before is None else before.history)
    ranks = ranks_of(log_weights)
    converged, reason = True, f"all {n_rounds} rounds done"
    n_useless = 0
    for t in range(len(members), n_rounds):
        member = cluster(log_weights, t)
        error, alpha, share = 0.5, 1.0, 1.0
        if len(pairs.pairs):
            kept = np.where(pairs.violated(member.labels), -1.0, 1.0)
            share = float((kept > 0).mean())
            error = weighted_error(np.exp(log_weights), kept)
            alpha = max(importance(error), 0.0)
            log_weights = reweigh(log_weights, kept, alpha, rho) if alpha > 0 else equal
        last, ranks = ranks, ranks_of(log_weights)
        change = displacement(last, ranks)
        rounds.note(error, alpha, share, change, member.n_iter)
        repeats = t > 0 and bool((member.labels == members[-1].labels).all())
        members.append(member)
        n_useless = 0 if alpha > 0 else n_useless + 1
        if n_useless == MAX_USELESS:
            reason = f"{MAX_USELESS} rounds in a row no better than chance"
        elif until_still and change == 0 and repeats:
            reason = "the order of priorities and the labels no longer change"
        else:
            continue
        break
    else:
        converged = False
    return Boosting(members, rounds.history, log_weights, converged, reason)


class BoostedConstrainedKMeans(JudgedMixin):
    """Boosted constrained k-means (BCKM): learns which statements to place first.

    Each round clusters with :class:`~conclust.ConstrainedKMeans`, placing statements of high
    priority first, then raises the priority of those it broke. The rounds are combined, weighted
    by how well they kept the statements, into a co-association that kernel k-means turns into the
    final clusters. The kernel is never built: see :class:`~conclust.ensemble.CoAssociation`.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    n_estimators : int, default=100
        Boosting rounds.
    rho : float, default=5.0
        Softens the change of priorities: a learning rate of 2 / rho on AdaBoost.
    xi : float, default=0.5
        A margin of the paper's loss. It cancels, see Notes, and is not used; kept for the paper's
        sake.
    init : {"random", "k-means++", "k-means||"}, array-like or callable, default="random"
        Start of the weak learner in each round.
    reinit : bool, default=True
        Draw a new start in each round; False repeats the first one, as a remark in the paper
        suggests, which leaves few different clusterings.
    max_iter : int, default=30
        Iterations of the weak learner.
    n_init : int, default=10
        Starts of the final kernel k-means.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" clusters directions: rows and the members' centres have unit length.
    warm_start : bool, default=False
        Keep the rounds of the last fit and add those missing to `n_estimators`; for the same X
        and constraints.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Of a collection of an engine, one of that engine, not computed yet, as `predict` gives.
    estimator_weights_, estimator_errors_ : ndarray of shape (n_rounds,)
        α and ε of each round. Rounds no better than chance have weight 0.
    constraint_weights_ : ndarray of shape (len(constraints),)
        Learned priorities, summing to 1: large for statements that were hard to keep.
    co_association_ : CoAssociation
        The members' labels and weights.
    member_centers_ : ndarray of shape (n_rounds, n_clusters, n_features)
    history_ : list of Round
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the rounds ended by themselves: False when all `n_estimators` were used, which is
        the rule.
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
    it. Memory: n_samples · n_estimators bytes. The fitted model keeps the rows that statements
    name, for :meth:`doubt` and :meth:`suspects`, and saves them with it.

    References
    ----------
    .. [1] M. Okabe and S. Yamada (2012). Clustering by learning constraints priorities. ICDM.
       Algorithm 1.

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

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="by learned priority",
        when="nobody knows which statements matter more",
        weights="weights",
        cosine=True,
        blocks=blocks.open,
        names=(Named("bckm", "learns which statements come first"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "rho": [Interval(Real, 0, None, closed="neither")],
        "xi": [Interval(Real, None, None, closed="neither")],
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
        "reinit": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "metric": METRICS,
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
        metric: str = "euclidean",
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
        self.metric = metric
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
        X : {array-like, sparse matrix, Blocks} of shape (n_samples, n_features)
            Blocks: see :func:`conclust.blocks.open`. A dask array or data frame and a Ray dataset
            are opened so.
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Must-links and cannot-links; their weights are the priorities to begin with.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the means of the weak learner.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = None if sample_weight is None else weights_of_rows(sample_weight, X)
        pairs = constraints.pairs()
        # One seed per round, drawn up front: adding rounds later gives what one long fit gives.
        random_state = check_random_state(self.random_state)
        final_seed = random_state.randint(2**31 - 1)
        seeds = random_state.randint(2**31 - 1, size=self.n_estimators)
        before = self._begin(X, constraints)
        data = centered(X, metric=self.metric)
        rng = np.random.RandomState(0)  # seeded anew in each round; making one costs more than that

        def draw(t: int) -> np.ndarray:
            rng.seed(seeds[t])
            return init_centers(data.X, self.n_clusters, self.init, weight, rng, mean=data.mean)

        first = None if self.reinit else draw(0)
        with (
            progress(self.verbose, type(self).__name__, self.n_estimators) as show,
            ConstrainedLloyd(
                data.X,
                pairs.pairs,
                pairs.sign,
                self.n_clusters,
                sample_weight=weight,
                spherical=data.spherical,
            ) as weak_learner,
        ):

            def cluster(log_weights: np.ndarray, t: int) -> Member:
                centers = draw(t) if first is None else first
                run = weak_learner.run(log_weights, centers, max_iter=self.max_iter)
                return Member(run.labels, run.centers + data.mean, run.n_iter, run.converged)

            found = boost(
                cluster,
                pairs,
                self.n_estimators,
                rho=self.rho,
                before=before,
                until_still=not self.reinit,
                on_round=lambda record: show(record, advance=1),
            )
        self.history_, self.stop_reason_ = found.history, found.stop_reason
        self.converged_ = found.converged
        self.estimator_weights_ = np.array([record.alpha for record in found.history])
        self.estimator_errors_ = np.array([record.error for record in found.history])
        self._combine(found.members, constraints, final_seed, usable(self.estimator_weights_))
        self._log_weights, self._final_seed = found.log_weights, final_seed
        learned = by_statement(np.exp(found.log_weights), pairs.statement, len(constraints))
        # Statements of a kind that is ignored have no weight; there may be no others.
        self.constraint_weights_ = learned / (learned.sum() or 1.0)
        self._judges = Judges.of(data, constraints, found.members, weight, final_seed)
        warn_if_degenerate(self.labels_, self.n_clusters)
        self._keep_labels(X)
        return self

    def _begin(self, X: Any, constraints: Constraints) -> Boosting | None:
        """The rounds to go on from: none, or those of the last fit."""
        if not (self.warm_start and hasattr(self, "co_association_")):
            return None
        codes = self.co_association_.codes
        if len(codes) != X.shape[0] or self.constraints_ != constraints:
            raise ValueError(
                "warm_start goes on with the same rows and constraints, but these differ from "
                "those of the last fit; use warm_start=False to begin anew."
            )
        members = [
            Member(codes[:, t], centers, record.n_iter, True)
            for t, (centers, record) in enumerate(
                zip(self.member_centers_, self.history_, strict=True)
            )
        ]
        return Boosting(
            members, self.history_, self._log_weights, self.converged_, self.stop_reason_
        )

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
