"""DistBoost: a distance boosted from constrained Gaussian mixtures."""

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics import euclidean_distances, pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from conclust._declare import PAIRS, Takes
from conclust._lloyd.start import init_centers
from conclust._pairs import named_rows
from conclust._placement.hard import Outcome, place
from conclust._placement.units import Units, units_of
from conclust._progress import Rounds, progress
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._validation import check_enough_rows, check_inputs, check_new_rows
from conclust.cluster import (
    Mixture,
    constrained_gaussian_mixture,
    log_joint,
)
from conclust.constraints import Constraints
from conclust.exceptions import ConclustWarning, InconsistentConstraintsError
from conclust.metric_learning._mahalanobis import rows_of_pairs

# Numbers of components tried when none is given, and by how much a larger one must be better.
TRIED = range(2, 11)
CLEARLY = 0.02
# So many rounds in a row no better than chance, and there is nothing left to learn.
MAX_USELESS = 20
EM_ITERATIONS = 20
EM_TOLERANCE = 1e-2
TIME_LIMIT = 1.0  # seconds to find out whether so many components can keep the statements


class Round(NamedTuple):
    """What one boosting round did."""

    agreement: float  # r: weighted agreement of the hypothesis with the statements, in [−1, 1]
    alpha: float  # weight of the round in the distance; 0 if no better than chance
    share_named: float  # weight of the pairs that statements name, among all pairs
    n_iter: int  # iterations of EM
    seconds: float


class Beliefs(NamedTuple):
    """Which component each row most probably comes from, and how probably."""

    component: np.ndarray  # (n,)
    probability: np.ndarray  # (n,)


class Boosted(NamedTuple):
    """The hypotheses kept, and what each counts."""

    mixtures: list[Mixture]
    alphas: list[float]
    history: list[Round]
    converged: bool  # ended by itself, before the last round
    reason: str  # why it ended


def similarity(first: Beliefs, second: Beliefs) -> np.ndarray:
    """h̃ in [−1, 1] of pairs: the product of probabilities, positive if components are equal."""
    same = np.where(first.component == second.component, 1.0, -1.0)
    return same * first.probability * second.probability


def agreement(weight: np.ndarray, sign: np.ndarray, similar: np.ndarray) -> float:
    """R = Σ W y h̃ / Σ W over the pairs with a statement, kept off ±1 by 1 / (m + 1)."""
    r = float(np.dot(weight, sign * similar) / weight.sum())
    limit = 1 - 1 / (1 + len(weight))
    return min(max(r, -limit), limit)


def importance(r: float) -> float:
    """Weight of a round: ½ ln((1 + r) / (1 − r))."""
    return float(np.arctanh(r))


def reweigh(
    weight: np.ndarray, other: float, sign: np.ndarray, similar: np.ndarray, alpha: float
) -> tuple[np.ndarray, float]:
    """W ← W exp(−α y h̃) where there is a statement, W exp(−α) for every other pair.

    `weight` holds W of both orders of each named pair; `other` the sum of W over all other pairs.
    Both are returned normalised to sum 1 together.
    """
    weight = weight * np.exp(-alpha * sign * similar)
    other = other * np.exp(-alpha)
    total = weight.sum() + other
    return weight / total, other / total


def weights_of_rows(weight: np.ndarray, other: float, pairs: np.ndarray, n: int) -> np.ndarray:
    """w_k = Σ_j W_kj, scaled to mean 1; the weight of unnamed pairs is spread evenly."""
    named = np.bincount(pairs.ravel(), np.repeat(weight / 2, 2), minlength=n)
    n_unnamed = np.maximum(n - np.bincount(pairs.ravel(), minlength=n), 0)
    total = named + other * n_unnamed / max(n_unnamed.sum(), 1)
    return total * (n / total.sum())


class Plan(NamedTuple):
    """The links that mixtures of some number of components keep, and labels that keep them."""

    units: Units
    labels: np.ndarray | None


class WeakLearner:
    """Fits constrained Gaussian mixtures to weighted rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Standardised.
    constraints : Constraints
    covariance_type : {"full", "tied", "diag", "spherical"}
    reg_covar : float
        Added to the variances, so that no covariance is ever singular.
    """

    def __init__(
        self, X: np.ndarray, constraints: Constraints, covariance_type: str, reg_covar: float
    ):
        self.X, self.covariance_type, self.reg_covar = X, covariance_type, reg_covar
        try:
            closure = constraints.closure()
        except InconsistentConstraintsError:
            constraints = constraints.pairwise.repaired()
            closure = constraints.closure()
        self.groups = closure.groups
        self.linked = units_of(closure)
        self.joined = units_of(Constraints(constraints.must_link, n_samples=len(X)).closure())
        self.plans: dict[int, Plan] = {}

    def can_keep(self, n_components: int) -> bool:
        """Whether that many components can keep the statements; if not, must-links alone count."""
        self.plans[n_components] = Plan(self.joined, None)
        if any(len(group) > n_components for group in self.groups):
            return False
        # Any centres will do, but the search is faster with real costs than with none.
        rows, unit, graph = self.linked
        centers = self.X[np.linspace(0, len(self.X) - 1, n_components).astype(int)]
        cost = np.zeros((graph.n_units, n_components))
        np.add.at(cost, unit, euclidean_distances(self.X[rows], centers, squared=True))
        placed = place(cost, graph, time_limit=TIME_LIMIT)
        if placed.outcome is not Outcome.FEASIBLE:
            return False
        labels = np.zeros(len(self.X), np.int64)
        labels[rows] = placed.labels[unit]
        self.plans[n_components] = Plan(self.linked, labels)
        return True

    def __call__(
        self, n_components: int, weight: np.ndarray, random_state: np.random.RandomState
    ) -> tuple[Mixture, int]:
        """Return a mixture fitted from a random start, and the iterations it took."""
        plan = self.plans[n_components]
        centers = init_centers(self.X, n_components, "random", weight, random_state)
        start = np.eye(n_components)[pairwise_distances_argmin(self.X, centers)]
        run = constrained_gaussian_mixture(
            self.X,
            plan.units,
            start,
            labels=plan.labels,
            covariance_type=self.covariance_type,
            reg_covar=self.reg_covar,
            sample_weight=weight,
            max_iter=EM_ITERATIONS,
            tol=EM_TOLERANCE,
        )
        return run.mixture, len(run.history)


def beliefs_of(X: np.ndarray, mixture: Mixture, covariance_type: str) -> Beliefs:
    """What a mixture says of rows by themselves, without statements."""
    joint = log_joint(X, mixture, covariance_type)
    component = joint.argmax(axis=1)
    top = joint[np.arange(len(X)), component]
    return Beliefs(component, 1 / np.exp(joint - top[:, np.newaxis]).sum(axis=1))


def similarity_of_pairs(
    X: np.ndarray, mixture: Mixture, covariance_type: str, pairs: np.ndarray
) -> np.ndarray:
    """h̃ of pairs of rows of X."""
    rows, place = named_rows(pairs)
    component, probability = beliefs_of(X[rows], mixture, covariance_type)
    first, second = place.T
    return similarity(
        Beliefs(component[first], probability[first]),
        Beliefs(component[second], probability[second]),
    )


def choose_n_components(
    learner: WeakLearner,
    pairs: np.ndarray,
    sign: np.ndarray,
    weight: np.ndarray,
    random_state: np.random.RandomState,
) -> int:
    """The smallest number of components whose mixture agrees well with the statements.

    Must-links and cannot-links count equally in total: cannot-links are the more frequent the more
    classes there are, and a mixture of many components keeps them without knowing anything.
    """
    balanced = weight.astype(np.float64)
    for kind in (-1, 1):
        balanced[sign == kind] /= max(balanced[sign == kind].sum(), 1e-300)
    tried = [k for k in TRIED if k <= len(learner.X)]
    keepable = [k for k in tried if learner.can_keep(k)] or tried[-1:]
    equal = np.ones(len(learner.X))
    reached = []
    for k in keepable:
        mixture, _ = learner(k, equal, random_state)
        similar = similarity_of_pairs(learner.X, mixture, learner.covariance_type, pairs)
        reached.append(agreement(balanced, sign, similar))
    return keepable[int(np.argmax(np.array(reached) > max(reached) - CLEARLY))]


def dist_boost(
    learner: WeakLearner,
    pairs: np.ndarray,
    sign: np.ndarray,
    weight: np.ndarray,
    *,
    n_components: int,
    n_estimators: int,
    random_state: np.random.RandomState,
    on_round: Callable[[Round], object] | None = None,
) -> Boosted:
    """Boost similarities of pairs of rows, after Hertz, Bar-Hillel and Weinshall.

    Parameters
    ----------
    learner : WeakLearner
        Able to keep the statements; see `WeakLearner.can_keep`.
    pairs : ndarray of shape (m, 2)
    sign : ndarray of shape (m,)
        +1 for must-links, −1 for cannot-links.
    weight : ndarray of shape (m,)
    n_components, n_estimators : int
    random_state : RandomState
    on_round : callable, default=None
        Called with each `Round`.

    Returns
    -------
    Boosted
    """
    n = len(learner.X)
    seeds = random_state.randint(2**31 - 1, size=n_estimators)
    # All n² ordered pairs begin with the same weight; those without a statement keep equal ones,
    # so their sum is enough.
    current = weight / weight.mean() * (2 / n**2)
    other = max(1 - current.sum(), 1 / n)
    mixtures: list[Mixture] = []
    alphas: list[float] = []
    rounds = Rounds(Round, on_round)
    n_useless = 0
    for seed in seeds:
        rows = weights_of_rows(current, other, pairs, n)
        mixture, n_iter = learner(n_components, rows, np.random.RandomState(seed))
        similar = similarity_of_pairs(learner.X, mixture, learner.covariance_type, pairs)
        r = agreement(current, sign, similar)
        alpha = max(importance(r), 0.0)
        if alpha > 0:
            mixtures.append(mixture)
            alphas.append(alpha)
            current, other = reweigh(current, other, sign, similar, alpha)
        share = float(current.sum() / (current.sum() + other))
        rounds.note(r, alpha, share, n_iter)
        n_useless = 0 if alpha > 0 else n_useless + 1
        if n_useless == MAX_USELESS:
            reason = f"{MAX_USELESS} rounds in a row no better than chance"
            return Boosted(mixtures, alphas, rounds.history, True, reason)
    return Boosted(mixtures, alphas, rounds.history, False, f"all {n_estimators} rounds done")


class DistBoost(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A distance boosted from Gaussian mixtures that keep must-links and cannot-links.

    Each round fits a mixture under the statements to weighted rows, says of two rows that they
    belong together if they most probably come from the same component, and raises the weight of
    rows whose statements this breaks. The distance of two rows is the weighted share of rounds
    that part them, each counted by how sure it is. Not linear: clusters may have any shape that
    mixtures have.

    Parameters
    ----------
    n_estimators : int, default=30
        Boosting rounds.
    n_components : int, default=None
        Components of each mixture, best the number of clusters sought. By default the smallest
        of 2 to 10 whose mixture agrees well with the statements.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Of the mixtures.
    reg_covar : float, default=0.1
        Added to the variances of the components, where each feature has variance 1 over all rows.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Attributes
    ----------
    estimators_ : list of Mixture
        The rounds that were better than chance.
    estimator_weights_ : ndarray of shape (n_estimators,)
        What each counts, α.
    n_components_ : int
        Components of each mixture.
    n_iter_ : int
        Rounds done.
    converged_ : bool
        Whether the rounds ended by themselves: False when all `n_estimators` were used.
    history_ : list of Round
        Agreement with the statements, α, and the share of weight on named pairs in each round.
    stop_reason_ : str
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    ITML : A linear metric: fewer numbers to learn, so better with few statements.
    BoostedConstrainedKMeans : Boosts labels instead of distances.

    Notes
    -----
    Rows are standardised inside, which mixtures of full covariances do not see but for `reg_covar`
    and the start. A round costs an EM fit, O(n k d²) per iteration. No array of n² numbers is made
    but by `pairwise`: pairs without a statement all have one weight.

    Our reading of [1]_: r is taken over the weight of the named pairs. Over that of all n² pairs
    it would be at most 2m/n² in the first rounds, and all α nearly equal.
    Statements that contradict each other or need more components are kept from the mixtures (the
    lightest first, then all cannot-links), not from the boosting. Without statements, or when no
    round is better than chance, distances are Euclidean and rows stay as they are.

    A sparse X is refused: mixtures need dense rows. Reduce it first, as by ``TruncatedSVD``.

    References
    ----------
    .. [1] T. Hertz, A. Bar-Hillel and D. Weinshall. Boosting margin based distance functions for
       clustering. ICML 2004. doi:10.1145/1015330.1015389

    Examples
    --------
    >>> from sklearn.cluster import AgglomerativeClustering, KMeans
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from conclust import DistBoost, sample_constraints
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 200, random_state=0)
    >>> boosted = DistBoost(n_estimators=10, random_state=0).fit(X, constraints=known)
    >>> tree = AgglomerativeClustering(3, metric="precomputed", linkage="average")
    >>> adjusted_rand_score(y, tree.fit_predict(boosted.pairwise(X))) > 0.9
    True
    >>> means = KMeans(3, n_init=10, random_state=0)
    >>> adjusted_rand_score(y, means.fit_predict(boosted.transform(X))) > 0.9
    True
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="soft, a distance of any shape",
        when="before any clusterer; many statements",
        weights="weights",
        sparse=False,
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "covariance_type": [StrOptions({"full", "tied", "diag", "spherical"})],
        "reg_covar": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_estimators: int = 30,
        *,
        n_components: int | None = None,
        covariance_type: str = "full",
        reg_covar: float = 0.1,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_estimators = n_estimators
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> "DistBoost":
        """Learn the distance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows the statements are about.
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Must-links and cannot-links; their weights are where boosting begins.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, constraints = check_inputs(self, X, constraints)
        check_enough_rows(len(X), self.n_components, "n_components")
        self._mean = X.mean(axis=0, dtype=np.float64)
        spread = X.std(axis=0, dtype=np.float64)
        self._scale = np.where(spread > 0, spread, 1.0)
        pairs = constraints.pairs()
        found = Boosted([], [], [], True, "there are no statements")
        self.n_components_ = self.n_components or 1
        if len(pairs.pairs):
            found = self._boost(X, constraints, pairs)
            if not found.mixtures:
                warnings.warn(
                    "No mixture agreed with the statements better than chance, so distances are "
                    "left Euclidean. Try other n_components, check the statements with "
                    "`constraints.conflicts()`, or use ITML.",
                    ConclustWarning,
                    stacklevel=2,
                )
        self.estimators_, self.estimator_weights_ = found.mixtures, np.array(found.alphas)
        self.history_, self.n_iter_ = found.history, max(1, len(found.history))
        self.converged_, self.stop_reason_ = found.converged, found.reason
        return self

    def _boost(self, X: np.ndarray, constraints: Constraints, pairs: Any) -> Boosted:
        random_state = check_random_state(self.random_state)
        links = (pairs.pairs, pairs.sign, pairs.weight)
        learner = WeakLearner(
            self._standardized(X), constraints, self.covariance_type, self.reg_covar
        )
        if self.n_components is None:
            self.n_components_ = choose_n_components(learner, *links, random_state)
        else:
            learner.can_keep(self.n_components)
        with progress(self.verbose, type(self).__name__, self.n_estimators) as show:
            return dist_boost(
                learner,
                *links,
                n_components=self.n_components_,
                n_estimators=self.n_estimators,
                random_state=random_state,
                on_round=lambda record: show(record, advance=1),
            )

    def _standardized(self, X: np.ndarray) -> np.ndarray:
        return (X - self._mean) / self._scale

    def _beliefs(self, X: np.ndarray) -> Beliefs:
        """Component and probability of each row in each round, (n, n_rounds)."""
        X = self._standardized(X)
        found = [beliefs_of(X, mixture, self.covariance_type) for mixture in self.estimators_]
        return Beliefs(*(np.column_stack(columns) for columns in zip(*found, strict=True)))

    def _embedded(self, beliefs: Beliefs) -> np.ndarray:
        """√(α / 2Σα) times the probability, in the column of the round and its component."""
        n, n_rounds = beliefs.component.shape
        columns = beliefs.component + self.n_components_ * np.arange(n_rounds)
        embedded = np.zeros((n, n_rounds * self.n_components_))
        scale = np.sqrt(self.estimator_weights_ / (2 * self.estimator_weights_.sum()))
        embedded[np.arange(n)[:, np.newaxis], columns] = scale * beliefs.probability
        return embedded

    @property
    def _n_features_out(self) -> int:
        return len(self.estimators_) * self.n_components_ or self.n_features_in_

    def transform(self, X: Any) -> np.ndarray:
        """Map rows to where k-means works with the learned distance.

        Squared Euclidean distances between mapped rows equal the learned distances where the
        rounds are sure of both rows, and stay near them elsewhere.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to transform.

        Returns
        -------
        ndarray of shape (n_samples, n_estimators * n_components)
            X itself where nothing was learned.
        """
        X = self._check_new_rows(X)
        if not self.estimators_:
            return X
        return self._embedded(self._beliefs(X)).astype(X.dtype, copy=False)

    def pairwise(self, X: Any, Y: Any = None) -> np.ndarray:
        """Learned distances between rows, for ``metric="precomputed"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to measure from.
        Y : array-like of shape (n_other, n_features), default=None
            X itself by default.

        Returns
        -------
        ndarray of shape (n_samples, n_other)
            Σ α (1 − h̃) / 2Σα, between 0 and 1; 0 where two rows are equal. Euclidean distances
            where nothing was learned.
        """
        X = self._check_new_rows(X)
        Y = X if Y is None else self._check_new_rows(Y)
        if not self.estimators_:
            return euclidean_distances(X, None if Y is X else Y)
        shares = self.estimator_weights_ / (2 * self.estimator_weights_.sum())
        first = self._beliefs(X)
        second = first if Y is X else self._beliefs(Y)
        # h̃ = 2 Σ_c φ_c(x) φ_c(y) − p(x) p(y), φ_c being p in the column of the component.
        D = first.probability * shares @ second.probability.T
        D -= 2 * self._embedded(first) @ self._embedded(second).T
        D += 0.5
        D[_equal_rows(X, Y)] = 0
        return np.clip(D, 0, 1, out=D)

    def score_pairs(self, pairs: Any) -> np.ndarray:
        """Learned distance of the two rows of each pair; the smaller, the more alike.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features)
            For pairs of positions: ``X[constraints.must_link]``.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Distance of each pair.
        """
        first, second = rows_of_pairs(self, pairs)
        if not self.estimators_:
            return np.linalg.norm(first - second, axis=1)
        similar = similarity(self._beliefs(first), self._beliefs(second))
        shares = self.estimator_weights_ / (2 * self.estimator_weights_.sum())
        return np.where((first == second).all(axis=1), 0.0, 0.5 - similar @ shares)

    def _check_new_rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return check_new_rows(self, X, dtype=[np.float64, np.float32])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _equal_rows(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Which rows of X equal which of Y, (n_samples, n_other)."""
    number = np.unique(np.concatenate([X, Y]), axis=0, return_inverse=True)[1].ravel()
    return number[: len(X), np.newaxis] == number[len(X) :]
