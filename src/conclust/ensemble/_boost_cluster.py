"""BoostCluster: any clusterer, helped by must-links and cannot-links through its input."""

from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state, get_tags

from conclust._any_clusterer import labels_from
from conclust._arrays import Matrix
from conclust._declare import PAIRS, Named, Takes
from conclust._progress import Rounds, progress
from conclust._sklearn import HasMethods, Interval, StrOptions, fit_context
from conclust._statements import by_statement
from conclust._validation import check_inputs
from conclust.constraints import Constraints
from conclust.ensemble._consensus import CoAssociation
from conclust.ensemble._directions import Projector, discrepancy
from conclust.ensemble._members import VotesMixin, usable

# So many rounds in a row of no use, or that lower log L by less than this, and boosting is done.
PATIENCE, FLAT = 3, 1e-3
# Laplace's pseudo-count, in constraints, on the masses of eq. (13).
PSEUDO_COUNT = 0.5
# Up to so many code columns their Gram matrix is decomposed whole.
SMALL_GRAM = 600


class Round(NamedTuple):
    """What one boosting round did."""

    log_loss: float  # ln L after the round, eq. (2) over unordered pairs
    alpha: float  # weight of the round in K, eq. (13); 0: the round was of no use
    gamma: float  # what the round could take off L at most, Theorem 1
    share_satisfied: float  # weight of the statements its clustering keeps, as a share
    n_components: int  # directions with positive eigenvalues; 0: X itself was clustered
    seconds: float


class Links(NamedTuple):
    """Unordered pairs and their weights; positions count among the constrained rows."""

    rows: np.ndarray  # (m,) samples that constraints name, ascending
    must: np.ndarray  # (n_must, 2)
    cannot: np.ndarray  # (n_cannot, 2)
    must_weight: np.ndarray
    cannot_weight: np.ndarray


class Inconsistency(NamedTuple):
    """How badly K treats each pair, eqs (5) and (6), each kind normalised."""

    p: np.ndarray  # (n_must,) ∝ S⁺ exp(−K), sums to 1
    q: np.ndarray  # (n_cannot,) ∝ S⁻ exp(K), sums to 1
    log_loss: float  # ln L of eq. (2)


class Masses(NamedTuple):
    """A, B, C, D of Theorem 1, normalised: A + B = C + D = 1."""

    must_apart: float  # A
    must_together: float  # B
    cannot_apart: float  # C
    cannot_together: float  # D


class Boosting(NamedTuple):
    """The rounds, in order."""

    labels: list[np.ndarray]  # clusterings, one per round
    history: list[Round]
    converged: bool  # ended by itself, before the last round
    stop_reason: str


def links_of(constraints: Constraints) -> Links:
    """Split the pairs by kind; their weights stand for S⁺ and S⁻."""
    signed = constraints.pairs()
    rows, position = signed.named()
    must = signed.sign > 0
    return Links(rows, position[must], position[~must], signed.weight[must], signed.weight[~must])


def inconsistency(
    must_kernel: np.ndarray, cannot_kernel: np.ndarray, links: Links
) -> Inconsistency:
    """Eqs (2), (5), (6) through log-sum-exp; without pairs of a kind its factor of L is 1."""
    log_p = np.log(links.must_weight) - must_kernel
    log_q = np.log(links.cannot_weight) + cannot_kernel
    totals = [logsumexp(logs) if len(logs) else 0.0 for logs in (log_p, log_q)]
    return Inconsistency(np.exp(log_p - totals[0]), np.exp(log_q - totals[1]), float(sum(totals)))


def masses(now: Inconsistency, must_together: np.ndarray, cannot_together: np.ndarray) -> Masses:
    """Weight of the pairs that a clustering puts together or apart; an absent kind is ½, ½."""
    B = float(now.p[must_together].sum()) if len(now.p) else 0.5
    D = float(now.q[cannot_together].sum()) if len(now.q) else 0.5
    A = float(now.p[~must_together].sum()) if len(now.p) else 0.5
    C = float(now.q[~cannot_together].sum()) if len(now.q) else 0.5
    return Masses(A, B, C, D)


def step(mass: Masses, smoothing: float = 0.0) -> float:
    """Weight of a clustering, eq. (13): α = ½ ln(BC / AD).

    Smoothing is added to all four, so that α stays below ln(1 + 1 / smoothing); it must not carry
    α beyond the minimum of L, or L could rise.
    """
    A, B, C, D = mass
    with np.errstate(divide="ignore", invalid="ignore"):
        best = 0.5 * (np.log(B) + np.log(C) - np.log(A) - np.log(D))
    if smoothing == 0:
        return float(best)
    A, B, C, D = (value + smoothing for value in mass)
    smoothed = 0.5 * np.log(B * C / (A * D))
    return float(smoothed if np.isnan(best) else min(smoothed, best))


def best_decrease(mass: Masses) -> float:
    """γ = (√(AD) − √(BC))² / ((A + B)(C + D)) of Theorem 1: α of eq. (13) takes L to L (1 − γ)."""
    A, B, C, D = mass
    return float((np.sqrt(A * D) - np.sqrt(B * C)) ** 2 / ((A + B) * (C + D)))


def boost_cluster(
    X: Matrix,
    links: Links,
    cluster: Callable[[Matrix, int], np.ndarray],
    *,
    n_components: int,
    seeds: np.ndarray,
    takes_x: bool = True,
    solver: str = "auto",
    on_round: Callable[[Round], object] | None = None,
) -> Boosting:
    """Cluster again and again what brings broken must-links together, as in Figure 2 of [1]_.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    links : Links
        At least one pair.
    cluster : callable
        ``cluster(rows, seed)`` gives labels, (n_samples,).
    n_components : int
        Directions to project on, s in the paper.
    seeds : ndarray of shape (n_estimators,)
        One per round.
    takes_x : bool, default=True
        Whether X itself may be clustered when no direction is left; if not, that is the end.
    solver : {"auto", "features", "samples", "operator"}, default="auto"
    on_round : callable, default=None
        Called with the `Round` of each round.

    Returns
    -------
    Boosting
    """
    projector = Projector(X, links.rows, n_components, solver=solver)
    smoothing = PSEUDO_COUNT / (len(links.must) + len(links.cannot))
    must_kernel, cannot_kernel = np.zeros(len(links.must)), np.zeros(len(links.cannot))
    labels: list[np.ndarray] = []
    rounds = Rounds(Round, on_round)
    n_useless = n_flat = 0
    now = inconsistency(must_kernel, cannot_kernel, links)
    for seed in seeds:
        T = discrepancy(links.must, links.cannot, now.p, now.q, len(links.rows))
        directions = projector.directions(T, np.random.RandomState(seed))
        if not (len(directions.values) or takes_x):
            reason = "no direction is left in which broken statements would be kept"
            break
        found = cluster(projector.project(directions) if len(directions.values) else X, int(seed))
        must_together, cannot_together = together(found[links.rows], links)
        mass = masses(now, must_together, cannot_together)
        alpha = max(step(mass, smoothing), 0.0)
        must_kernel += alpha * must_together
        cannot_kernel += alpha * cannot_together
        before, now = now, inconsistency(must_kernel, cannot_kernel, links)
        kept = kept_share(must_together, cannot_together, links)
        labels.append(found)
        rounds.note(now.log_loss, alpha, best_decrease(mass), kept, len(directions.values))
        n_useless = n_useless + 1 if alpha == 0 else 0
        n_flat = n_flat + 1 if before.log_loss - now.log_loss < FLAT else 0
        if must_together.all() and not cannot_together.any():
            reason = "a round keeps every statement"
        elif n_useless == PATIENCE:
            reason = f"{PATIENCE} rounds in a row no better than chance"
        elif n_flat == PATIENCE:
            reason = f"ln L fell by less than {FLAT} in {PATIENCE} rounds in a row"
        else:
            continue
        break
    else:
        return Boosting(labels, rounds.history, False, f"all {len(seeds)} rounds done")
    return Boosting(labels, rounds.history, True, reason)


def together(labels: np.ndarray, links: Links) -> tuple[np.ndarray, np.ndarray]:
    """Δ_ij of the must-links and of the cannot-links, for the labels of the constrained rows."""
    must, cannot = labels[links.must], labels[links.cannot]
    return must[:, 0] == must[:, 1], cannot[:, 0] == cannot[:, 1]


def kept_share(must_together: np.ndarray, cannot_together: np.ndarray, links: Links) -> float:
    """Weight of the pairs kept, as a share."""
    broken = links.must_weight[~must_together].sum() + links.cannot_weight[cannot_together].sum()
    return 1.0 - float(broken / (links.must_weight.sum() + links.cannot_weight.sum()))


def kernel_embedding(members: CoAssociation, n_components: int) -> np.ndarray:
    """Leading eigenvectors of K = Σ α_t H_t H_tᵀ, each scaled by the root of its eigenvalue.

    K = Z Zᵀ with Z = [√α_t H_t]; from ZᵀZ = V Λ Vᵀ they are Z V. Complete, they are the feature
    map of K. Rows with equal codes are collapsed, so neither K nor Z is built for all samples.

    Parameters
    ----------
    members : CoAssociation
    n_components : int
        At most; fewer when K has a smaller rank.

    Returns
    -------
    ndarray of shape (n_samples, n_components)
    """
    first, row, count = members._collapsed
    used = members.weights > 0
    codes = members.codes[first][:, used].astype(np.int64)
    n_codes = codes.max(axis=0) + 1
    columns = codes + (np.cumsum(n_codes) - n_codes)
    n_rows, n_rounds = codes.shape
    Z = sp.csr_array(
        (
            np.tile(np.sqrt(members.weights[used]), n_rows),
            columns.ravel(),
            np.arange(n_rows + 1) * n_rounds,
        ),
        shape=(n_rows, int(n_codes.sum())),
    )
    weighted = sp.csr_array(Z.T.multiply(count))
    size = Z.shape[1]
    if size <= max(SMALL_GRAM, 2 * n_components):
        values, V = scipy.linalg.eigh(
            (weighted @ Z).toarray(), subset_by_index=(max(size - n_components, 0), size - 1)
        )
    else:
        gram = LinearOperator((size, size), matvec=lambda v: weighted @ (Z @ v), dtype=np.float64)
        values, V = eigsh(gram, k=n_components, which="LA", v0=np.ones(size))
    order = np.argsort(-values, kind="stable")
    order = order[values[order] > 1e-10 * values.max()]
    V = V[:, order]
    V *= np.sign(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])])
    return (Z @ V)[row]


class BoostCluster(VotesMixin):
    """Boosts any clusterer by must-links and cannot-links, without changing it.

    Each round projects X on the directions in which must-links that are still broken are short
    and cannot-links that are still broken long, and lets the clusterer work there. The rounds are
    combined, weighted by how well they kept the statements, into a kernel; the clusterer on its
    leading eigenvectors gives the answer. Wrong statements do little harm: they cannot be forced.

    Parameters
    ----------
    estimator : clusterer, default=None
        Anything with `fit_predict`: scikit-learn's, a Pipeline, ours, yours. Cloned for each
        round; `random_state` is set, and `n_clusters` (`n_components` of a mixture) where it has
        one. None: ``KMeans(n_init=1)``; more starts change little.
    n_clusters : int, default=8
        How many clusters to form.
    n_components : int, default=None
        Directions to project on, s in the paper; ``n_clusters + 1`` by default, at most the number
        of features.
    n_estimators : int, default=25
        Rounds at most.
    selection : {"constraints", "paper"}, default="constraints"
        "paper" returns the clustering of the final kernel. "constraints" returns, of that
        clustering, those of all rounds and that of X itself, the one that breaks the least weight.
    solver : {"auto", "features", "samples", "operator"}, default="auto"
        How directions are found: by a matrix of features × features, of constrained rows ×
        constrained rows (eq. 17), or by products alone. All agree; "auto" takes the cheapest.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
    embedding_ : ndarray of shape (n_samples, n_components + 1)
        The leading eigenvectors of the final kernel, scaled by the roots of their eigenvalues; may
        have fewer columns.
    loss_ : ndarray of shape (n_rounds,)
        The objective (2) after each round, over unordered pairs. Never rises.
    estimator_weights_ : ndarray of shape (n_rounds,)
        α of each round; 0 for those no better than chance.
    co_association_ : CoAssociation
        Labels and weights of the rounds.
    selected_ : str
        Where `labels_` come from: "kernel", "X" or "round 7".
    doubt_ : ndarray of shape (len(constraints),)
        Weight of the rounds that break each statement, as a share; see :meth:`suspects`.
    history_ : list of Round
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the rounds ended by themselves: False when all `n_estimators` were used.
    stop_reason_ : str
    report_ : ConstraintReport
        Which statements the labels keep.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    PCKMeans : When the clusterer may be k-means: weighs each statement against distances.
    SpectralLearning : Changes the input once, whatever the clusterer makes of it.

    Notes
    -----
    Minimises L = Σ_must exp(−K_ij) · Σ_cannot exp(K_ab) over K = Σ_t α_t Δ_t, where Δ_t says which
    rows round t puts together; weights of constraints multiply their terms. Neither K nor any other
    n × n array is built. Besides the clusterer a round costs O(n d s) for the projection and, on
    the three routes of `solver` with m constrained rows and c constraints, O(m d² + d³),
    O(m³) or O(nnz(X) m / n + c) per Lanczos iteration. The criterion depends on the scale of the
    features: standardise them first if their units differ. X is centred, in the products only if
    it is sparse.

    Where the paper leaves open what to do: directions with eigenvalues ≤ 0 are dropped, and if none
    is left X itself is clustered; the projected rows are scaled to unit maximum; the masses of eq.
    (13) get half a constraint each, so α ≤ ln(1 + 2 c). Rounds stop early when one keeps every
    statement, when three in a row have α ≤ 0, or when ln L has settled. Rows that the clusterer
    calls noise (label −1) count as one cluster. Without constraints this is `estimator` on X.

    References
    ----------
    .. [1] Y. Liu, R. Jin and A. K. Jain. BoostCluster: boosting clustering by pairwise constraints.
       KDD 2007.

    Examples
    --------
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from conclust import BoostCluster, sample_constraints
    >>> X, y = load_wine(return_X_y=True)
    >>> known = sample_constraints(y, 100, random_state=0)
    >>> model = BoostCluster(AgglomerativeClustering(), n_clusters=3, random_state=0)
    >>> model.fit(scale(X), constraints=known).report_.share > 0.9
    True
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="by vote",
        when="the clusterer you already use, through the projections it is given",
        weights="weights",
        names=(Named("boostcluster", "boosts any clusterer by projections"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods("fit_predict"), None],
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions({"constraints", "paper"})],
        "solver": [StrOptions({"auto", "features", "samples", "operator"})],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        n_estimators: int = 25,
        selection: Literal["constraints", "paper"] = "constraints",
        solver: Literal["auto", "features", "samples", "operator"] = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_estimators = n_estimators
        self.selection = selection
        self.solver = solver
        self.verbose = verbose
        self.random_state = random_state

    # The clusterer checks its own parameters: they are the user's too.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: Any = None, *, constraints: Constraints | None = None
    ) -> "BoostCluster":
        """Cluster the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Must-links and cannot-links.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        links = links_of(constraints)
        random_state = check_random_state(self.random_state)
        plain_seed, self._final_seed = random_state.randint(2**31 - 1, size=2)
        seeds = random_state.randint(2**31 - 1, size=self.n_estimators)
        self._n_components = self.n_components or self.n_clusters + 1
        rounds = Boosting([], [], True, "no constraints")
        if len(links.rows):
            with progress(self.verbose, type(self).__name__, self.n_estimators) as show:
                rounds = boost_cluster(
                    X,
                    links,
                    self._cluster,
                    n_components=self._n_components,
                    seeds=seeds,
                    takes_x=self._clusterer_takes(X),
                    solver=self.solver,
                    on_round=lambda record: show(record, advance=1),
                )
        self.history_, self.n_iter_ = rounds.history, len(rounds.history)
        self.converged_, self.stop_reason_ = rounds.converged, rounds.stop_reason
        self.estimator_weights_ = np.array([record.alpha for record in rounds.history])
        self.loss_ = np.exp([record.log_loss for record in rounds.history])
        self._links, self._plain = links, None
        if not self.estimator_weights_.any() or (
            self.selection == "constraints" and self._clusterer_takes(X)
        ):
            self._plain = self._cluster(X, plain_seed)
        self.co_association_ = CoAssociation(
            np.column_stack(rounds.labels or [self._plain]),  # type: ignore[list-item]
            usable(self.estimator_weights_) if rounds.labels else None,
        )
        self.labels_, self.selected_, self.embedding_ = self._answer(self.n_iter_)
        self.constraints_ = constraints
        pairs = constraints.pairs()
        belief = self.co_association_.confidence(pairs.pairs) * pairs.sign
        self.doubt_ = by_statement((1 - belief) / 2, pairs.statement, len(constraints))
        self.report_ = constraints.report(self.labels_)
        return self

    def staged_labels(self) -> Iterator[np.ndarray]:
        """Labels after each round, without repeating the rounds.

        Yields
        ------
        ndarray of shape (n_samples,), int32
            What `labels_` would be had boosting stopped there; the last one equals `labels_`.
        """
        for n_rounds in range(1, self.n_iter_ + 1):
            yield self._answer(n_rounds)[0]

    def _cluster(self, X: Matrix, seed: int) -> np.ndarray:
        base = KMeans(n_init=1) if self.estimator is None else self.estimator
        return labels_from(base, X, self.n_clusters, seed)

    def _clusterer_takes(self, X: Matrix) -> bool:
        """Whether the clusterer accepts X as it is."""
        if not sp.issparse(X) or self.estimator is None:
            return True
        return bool(get_tags(self.estimator).input_tags.sparse)

    def _answer(self, n_rounds: int) -> tuple[np.ndarray, str, np.ndarray]:
        """Labels after so many rounds, where they come from, and the embedding."""
        weights = self.estimator_weights_[:n_rounds]
        codes = self.co_association_.codes[:, : max(n_rounds, 1)]
        members = CoAssociation(codes, usable(weights) if n_rounds else None)
        embedding = kernel_embedding(members, self._n_components + 1)
        if not weights.any():
            assert self._plain is not None
            return self._plain, "X", embedding
        first, row, _ = members._collapsed
        if len(first) <= self.n_clusters:
            kernel = row.astype(np.int32)  # the clusterer has nothing left to decide
        else:
            kernel = self._cluster(embedding, self._final_seed)
        if self.selection == "paper":
            return kernel, "kernel", embedding
        candidates = [("kernel", kernel)]
        candidates += [(f"round {t}", codes[:, t - 1]) for t in range(n_rounds, 0, -1)]
        if self._plain is not None:
            candidates.append(("X", self._plain))
        kept = [
            kept_share(*together(labels[self._links.rows], self._links), self._links)
            for _, labels in candidates
        ]
        name, labels = candidates[int(np.argmax(kept))]
        return labels.astype(np.int32), name, embedding
