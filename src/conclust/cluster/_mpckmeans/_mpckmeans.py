"""MPCKMeans: k-means that pays for broken statements and learns how to measure distance."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_random_state

from conclust._arrays import FloatArray, IntArray, Matrix
from conclust._declare import PAIRS, Named, Takes
from conclust._kernels.place_soft import violated_price
from conclust._living import Living, told
from conclust._lloyd.best import best_of_starts, n_starts, warn_if_degenerate
from conclust._lloyd.start import means_of, start_centers
from conclust._placement.links import link_rows
from conclust._placement.soft import best_to_move, place_rows
from conclust._progress import Rounds
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._validation import check_inputs, weights_of_rows
from conclust.cluster._by_centers import CentersMixin
from conclust.cluster._mpckmeans.metrics import KINDS, Metrics, blocks, nearest_under, width
from conclust.cluster._mpckmeans.problem import Problem, pose, standardized
from conclust.cluster._mpckmeans.step import first_matrices, step, terms_of, total_value
from conclust.constraints import Constraints


class Round(NamedTuple):
    """What one iteration did; the objective does not rise in any of its three steps."""

    objective: float  # after the last step, the metrics
    after_assignment: float
    after_centers: float
    n_violated: int  # broken pairs
    n_changed: int  # rows whose cluster is not the one they had
    seconds: float


class Run(NamedTuple):
    """The result of one start, in the coordinates of the X it was given."""

    labels: npt.NDArray[np.int32]  # (n_samples,)
    centers: FloatArray  # (n_clusters, n_features)
    metrics: FloatArray  # (n_clusters or 1, n_features[, n_features])
    inertia: float
    objective: float
    converged: bool
    history: list[Round]


def mpckmeans(
    problem: Problem,
    centers_init: np.ndarray,
    matrices_init: FloatArray,
    *,
    max_iter: int = 300,
    tol: float = 0.0,
    on_round: Callable[[Round], object] | None = None,
) -> Run:
    """Run metric pairwise constrained k-means from given centres.

    Parameters
    ----------
    problem : Problem
    centers_init : ndarray of shape (n_clusters, n_features)
    matrices_init : ndarray of shape (n_metrics, n_features[, n_features])
    max_iter : int, default=300
    tol : float, default=0.0
        Stop once an iteration lowers the objective by at most this per unit of row weight.
    on_round : callable, default=None
        Called with the `Round` of each iteration.

    Returns
    -------
    Run
    """
    X, weight = problem.X, problem.weight
    centers = centers_init.astype(np.float64)
    metrics = problem.kind(matrices_init)
    labels = np.full(X.shape[0], -1, dtype=np.int32)
    rounds = Rounds(Round, on_round)
    objective, converged = np.inf, False
    for _ in range(max_iter):
        assigned = assign(problem, metrics, centers, labels)
        n_changed = assigned.n_changed + _refill(problem, metrics, assigned, labels)
        mass = np.bincount(labels, weights=weight, minlength=problem.n_clusters)
        centers[mass > 0] = means_of(X, labels, mass, weight)[mass > 0]
        terms = terms_of(problem, labels, centers)
        after_centers = total_value(problem, terms, metrics)
        matrices = [step(problem, t, m) for t, m in zip(terms, metrics.matrices, strict=True)]
        metrics = problem.kind(np.array(matrices))
        before, objective = objective, total_value(problem, terms, metrics)
        rounds.note(objective, assigned.objective, after_centers, assigned.n_broken, n_changed)
        fell = before - objective
        converged = n_changed == 0 or fell <= tol * weight.sum()
        if converged:
            break
    if n_changed:
        # So that labels agree with the centres and metrics returned.
        objective = assign(problem, metrics, centers, labels).objective
    inertia = _inertia(problem, metrics, labels, centers)
    return Run(labels, centers, metrics.matrices, inertia, objective, converged, rounds.history)


class Assigned(NamedTuple):
    """What assigning the rows did."""

    objective: float
    cost: FloatArray  # (n_samples,) of each row where it is, weighted
    price: FloatArray  # (n_pairs, n_metrics)
    n_broken: int
    n_changed: int


def assign(
    problem: Problem, metrics: Metrics, centers: FloatArray, labels: npt.NDArray[np.int32]
) -> Assigned:
    """Label the free rows anew and the linked rows from where they were, in place."""
    links, weight = problem.links, problem.weight
    price = problem.prices(metrics)
    previous = labels.copy()
    labels[:], cost, table = nearest_under(metrics, problem.X, centers, links.rows)
    cost *= weight
    placed = labels[links.rows]
    if len(links):
        before = previous[links.rows]
        placed = np.where(before < 0, placed, before)
        table *= weight[links.rows, np.newaxis]
        place_rows(table, links, price, placed)
        labels[links.rows] = placed
        cost[links.rows] = table[np.arange(len(placed)), placed]
    paid = np.empty(len(links))
    n_broken = violated_price(links.pairs, links.sign, price, placed, paid)
    objective = float(cost.sum()) + float(paid.sum()) + _prior(problem, metrics)
    return Assigned(objective, cost, price, n_broken, int((labels != previous).sum()))


def _prior(problem: Problem, metrics: Metrics) -> float:
    """What the prior adds to the objective: ν Σ_h (tr A_h − ln det A_h)."""
    unit = problem.kind.plain(1, problem.X.shape[1])
    trace = float((metrics.matrices * unit).sum())
    log_det = float(metrics.log_det.sum())
    return problem.prior_mass * (trace - log_det)


def _refill(
    problem: Problem, metrics: Metrics, assigned: Assigned, labels: npt.NDArray[np.int32]
) -> int:
    """Give each empty cluster the row whose move there saves most; return how many moved."""
    n_moved = 0
    rounding = 1e-12 * problem.X.shape[1]  # distances are in units of variance
    cost = assigned.cost.copy()
    mass = np.bincount(labels, weights=problem.weight, minlength=problem.n_clusters)
    log_det = np.broadcast_to(metrics.log_det, problem.n_clusters)
    for cluster in np.flatnonzero(mass == 0).tolist():
        alone = -log_det[cluster] * problem.weight
        row = best_to_move(labels, problem.links, assigned.price, cost, alone, cluster, rounding)
        if row >= 0:
            labels[row] = cluster
            cost[row] = alone[row]
            n_moved += 1
    return n_moved


def _inertia(
    problem: Problem, metrics: Metrics, labels: npt.NDArray[np.int32], centers: FloatArray
) -> float:
    total = 0.0
    for start, stop in blocks(len(labels), max(width(problem.X), len(centers))):
        squared = metrics.squared(problem.X[start:stop], centers)
        own = squared[np.arange(stop - start), labels[start:stop]]
        total += float(own @ problem.weight[start:stop])
    return total


def _among_standardized(metrics: npt.NDArray[Any], scale: FloatArray) -> FloatArray:
    """Metrics of features as they are, as those of features divided by `scale`."""
    scale = scale.astype(np.float64)
    return metrics * scale * (scale if metrics.ndim == 2 else scale[:, np.newaxis])


class MPCKMeans(Living, CentersMixin):
    r"""Metric pairwise constrained k-means: statements also teach how to measure distance.

    As in `PCKMeans` breaking a statement costs, and nothing is infeasible. Besides, each iteration
    fits a metric, diagonal or full, to the clusters and to the statements they break: features
    along which clusters are tight count more, and so do those that part the pairs that must be
    parted. Worth it when features differ in worth or hang together.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.

    metric : {"diagonal", "full"}, default="diagonal"
        One weight per feature, or a matrix of n_features × n_features. "full" also sees features
        that hang together; it needs dense X, and far more rows than features.

    shared : bool, default=True
        One metric for all clusters, or one for each: then clusters may differ in size and shape,
        and the log-determinant decides how much. A metric of its own needs many rows in each
        cluster.

    penalty : float, default=0.05
        Factor on the price of every broken statement; see Notes. The 1 of [1]_ obeys true
        statements slightly better, and wrong ones too.

    regularization : float, default=0.1
        As many rows as spread out as the whole data stand behind each metric. The larger, the
        closer to plain distances between standardised features.

    init : {"neighborhoods", "k-means++", "random"}, callable or array-like, default="neighborhoods"
        As in `PCKMeans`, among standardised features. A callable receives those, and returns
        centres in them; an array of shape (n_clusters, n_features) is in the units of X.

    n_init : int, default=10
        Number of starts; the one with the lowest objective is kept. An array as `init` is started
        from once.

    max_iter : int, default=300
        Iterations of one start at most.

    tol : float, default=1e-4
        A start ends when an iteration lowers the objective by at most this per row, or when no row
        changes its cluster.

    verbose : int, default=0
        Show progress on stderr.

    random_state : int, RandomState or None, default=None
        Draws the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.

    cluster_centers_ : ndarray of shape (n_clusters, n_features)

    metrics_ : ndarray of shape (n_clusters, n_features) or (n_clusters, n_features, n_features)
        The diagonals, or the matrices, of :math:`A_h`. Where the metric is shared, a read-only view
        that repeats one.

    inertia_ : float
        Weighted sum of squared distances, each under the metric of its cluster.

    objective_ : float
        What the fit minimised; see Notes.

    n_iter_ : int
        Iterations of the start that was kept.

    converged_ : bool
        False when that start was cut off by `max_iter`.

    history_ : list of Round
        One record per iteration of that start: ``objective``, the same ``after_assignment`` and
        ``after_centers``, ``n_violated``, ``n_changed``, ``seconds``. The objective never rises.

    report_ : ConstraintReport
        Which statements the labels keep.

    constraints_ : Constraints
        All statements.

    changes_ : DataFrame
        What the last :meth:`update` changed.

    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    PCKMeans : Keeps to plain distances; faster.
    COPKMeans : Keeps every statement, or says why it cannot.

    Notes
    -----
    Features are divided by their standard deviations first, so that their units do not matter;
    `cluster_centers_` and `metrics_` are in the units of X again. With weights :math:`s_i` of
    samples and :math:`w_{ij}` of statements, penalty :math:`p`,
    :math:`\lVert v \rVert_A^2 = v^T A v`, must-links M and cannot-links C, labels, centres and
    metrics minimise

    .. math::

        \sum_i s_i \bigl( \lVert x_i - \mu_{l_i} \rVert_{A_{l_i}}^2 - \ln\det A_{l_i} \bigr)
        + p \sum_{(i, j) \in M,\, l_i \ne l_j} w_{ij} f_M
        + p \sum_{(i, j) \in C,\, l_i = l_j} w_{ij} f_C
        + \nu \sum_h \bigl( \operatorname{tr} A_h - \ln\det A_h \bigr)

    .. math::

        f_M = \tfrac12 \lVert x_i - x_j \rVert_{A_{l_i}}^2
            + \tfrac12 \lVert x_i - x_j \rVert_{A_{l_j}}^2, \qquad
        f_C = \max\bigl(0,\; \max_{v \in V} \lVert v \rVert_{A_h}^2
            - \lVert x_i - x_j \rVert_{A_h}^2 \bigr).

    Departures from [1]_:

    * V holds the differences between 16 rows far from each other, chosen once. The paper takes the
      most distant pair of all under the current metric, which costs O(n²) to find and makes the
      objective jump. The outer maximum keeps the price of pairs farther apart than any in V at 0.
    * The last sum is new: :math:`\nu` (`regularization`) rows of unit variance stand behind every
      metric. It keeps metrics of small clusters finite, and being part of the objective does not
      disturb its fall.
    * The metric :math:`A_h = m_h S_h^{-1}` (mass times inverse scatter, broken must-links added and
      broken cannot-links taken out) minimises the objective only while the longest of V stays the
      same and :math:`S_h` positive; entries or eigenvalues below :math:`\nu` are raised to it. The
      objective being convex in :math:`A_h`, a step that would raise it is halved, at last given up.
    * Every other start begins with the metric that whitens the differences of must-linked pairs,
      the first one with plain distances as in the paper.
    * The assignment is that of `PCKMeans`.

    Every step lowers the objective or leaves it. `sample_weight` in other units changes nothing:
    :math:`p` and :math:`\nu` count in mean weights.

    An iteration costs O(n_samples · n_clusters · n_features), for "full" times n_features (once and
    not n_clusters times if shared), and memory for n_clusters · n_features² numbers. Prices take
    8 bytes per pair, times n_clusters unless shared. Works in float64 on a copy of X; float32 comes
    back as float32, sparse X stays sparse. Rare features of sparse X weigh much, as rare words in
    texts do: `PCKMeans`, or fewer dimensions, may serve better there.

    `predict` does not re-apply statements: new rows go to the centre where squared distance minus
    log-determinant is least.

    References
    ----------
    .. [1] M. Bilenko, S. Basu and R. J. Mooney, "Integrating Constraints and Metric Learning in
       Semi-Supervised Clustering", ICML 2004. :doi:`10.1145/1015330.1015360`

    Examples
    --------
    The second feature is noise; that far rows belong together says so.

    >>> from conclust import Constraints, MPCKMeans
    >>> X = [[0, 0], [0.2, 5], [0.1, 9], [1, 1], [1.2, 4], [1.1, 8]]
    >>> known = Constraints(must_link=[(0, 2), (3, 5)], cannot_link=[(0, 3), (1, 4)])
    >>> model = MPCKMeans(2, random_state=0).fit(X, constraints=known)
    >>> model.report_
    ConstraintReport(4 of 4 kept: 2 of 2 must-link, 2 of 2 cannot-link)
    >>> bool(model.metrics_[0, 0] > 10 * model.metrics_[0, 1])
    True
    """

    seeds = None  # labels known of some rows are not read
    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="soft, learns the metric",
        when="features differ in relevance",
        weights="weights",
        names=(Named("mpckmeans", "weighs statements and learns which features matter"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"diagonal", "full"})],
        "shared": ["boolean"],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "regularization": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"neighborhoods", "k-means++", "random"}), callable, "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "diagonal",
        shared: bool = True,
        penalty: float = 0.05,
        regularization: float = 0.1,
        init: Any = "neighborhoods",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.metric = metric
        self.shared = shared
        self.penalty = penalty
        self.regularization = regularization
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    @told
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Constraints | None = None,
        sample_weight: Any = None,
    ) -> "MPCKMeans":
        """Cluster X and learn metrics, heeding the statements.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Dense for ``metric="full"``.
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Must-links and cannot-links.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; None for 1 each.

        Returns
        -------
        self
            The fitted estimator.
        """
        if self.metric == "full" and sp.issparse(X):
            raise TypeError(
                'metric="full" needs dense X, and a matrix of n_features × n_features. For sparse '
                'X use metric="diagonal", or reduce it first, with TruncatedSVD for example.'
            )
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = weights_of_rows(sample_weight, X).astype(np.float64)
        random_state = check_random_state(self.random_state)
        data = standardized(X, weight)
        links = link_rows(constraints)
        problem = pose(
            data.X,
            links,
            weight,
            n_clusters=self.n_clusters,
            metric=self.metric,
            shared=self.shared,
            penalty=self.penalty,
            regularization=self.regularization,
        )
        is_drawn = isinstance(self.init, str) or callable(self.init)
        resumes = vars(self).get("_resumes")  # the metrics that `update` goes on with
        if resumes is not None:
            resumes = _among_standardized(resumes, data.scale)
        n = n_starts(self.init, self.n_init)
        seeds = random_state.randint(2**31 - 1, size=n)

        def start(number: int, on_round: Any) -> Run:
            generator = np.random.RandomState(seeds[number])
            centers = start_centers(
                data.X, links, self.n_clusters, self.init, weight, generator, number, data.mean
            )
            return mpckmeans(
                problem,
                centers if is_drawn else centers / data.scale,
                first_matrices(problem, number) if resumes is None else resumes,
                max_iter=self.max_iter,
                tol=self.tol,
                on_round=on_round,
            )

        best = best_of_starts(
            start,
            n,
            lambda run: (run.objective,),
            what=type(self).__name__,
            verbose=self.verbose,
        )
        warn_if_degenerate(best.labels, self.n_clusters, "Lower n_clusters or the penalty.")
        self.labels_ = best.labels
        self.cluster_centers_ = (best.centers * data.scale + data.mean).astype(X.dtype)
        metrics = best.metrics / data.scale
        metrics = metrics / (data.scale if metrics.ndim == 2 else data.scale[:, np.newaxis])
        metrics = metrics.astype(X.dtype)
        self.metrics_ = np.broadcast_to(metrics, (self.n_clusters, *metrics.shape[1:]))
        self.inertia_, self.objective_ = best.inertia, best.objective
        self.n_iter_, self.converged_ = len(best.history), best.converged
        self.history_, self.report_ = best.history, constraints.report(best.labels)
        return self

    def _renumber(self, number: IntArray) -> None:
        super()._renumber(number)
        if not self.shared:
            self.metrics_ = self.metrics_[np.argsort(number)]

    def _resumed(self, X: Any, labels: npt.NDArray[Any], centers: npt.NDArray[Any]) -> "MPCKMeans":
        inner: MPCKMeans = super()._resumed(X, labels, centers)
        metrics = self.metrics_[:1]
        if not self.shared:
            n_opened = len(centers) - len(self.metrics_)
            of_opened = [self.metrics_.mean(axis=0, keepdims=True)] * n_opened
            metrics = np.concatenate([self.metrics_, *of_opened])
        inner._resumes = metrics
        return inner

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """Cluster of each row: least squared distance minus log-determinant.

        Statements are not re-applied.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int32
        """
        return self._nearest(X)[0]

    def transform(self, X: Any) -> np.ndarray:
        """Distances of each row to each centre, under the metric of its cluster.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        X = self._check_new_rows(X)
        metrics, X, centers = self._measure(X)
        distances = np.empty((X.shape[0], len(centers)), dtype=self.cluster_centers_.dtype)
        for start, stop in blocks(X.shape[0], max(width(X), len(centers))):
            squared = metrics.squared(X[start:stop].astype(np.float64, copy=False), centers)
            distances[start:stop] = np.sqrt(squared)
        return distances

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the objective of the rows where `predict` puts them, without statements.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        X = self._check_new_rows(X)
        weight = weights_of_rows(sample_weight, X)
        return -float(self._nearest(X)[1] @ weight)

    def _nearest(self, X: Any) -> tuple[npt.NDArray[np.int32], FloatArray]:
        metrics, X, centers = self._measure(self._check_new_rows(X))
        return nearest_under(metrics, X, centers, np.empty(0, np.int64))[:2]

    def _measure(self, X: Matrix) -> tuple[Metrics, Matrix, FloatArray]:
        """Metrics, rows and centres, dense rows moved to the centres for accuracy."""
        metrics = KINDS[self.metric](self.metrics_.astype(np.float64))
        centers = self.cluster_centers_.astype(np.float64)
        if sp.issparse(X):
            return metrics, X, centers
        origin = centers.mean(axis=0)
        return metrics, X - origin, centers - origin

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric == "diagonal"
        return tags
