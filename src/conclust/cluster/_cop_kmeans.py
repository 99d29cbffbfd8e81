"""COPKMeans: k-means under hard must-links and cannot-links, made to keep its word."""

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from conclust._arrays import Matrix
from conclust._declare import PAIRS, Named, Takes
from conclust._kernels.place_hard import sum_costs
from conclust._lloyd.best import best_of_starts, n_starts, warn_if_degenerate
from conclust._lloyd.exact_moves import NO_GROUPS, ExactMoves, Parts, Statements, parts_of
from conclust._pairs import Graph
from conclust._lloyd.rows import open_rows
from conclust._lloyd.start import centered, init_centers
from conclust._placement.hard import Outcome, Placement, place
from conclust._placement.units import STILL, Units, hard_units, raise_infeasible, units_of
from conclust._progress import Rounds
from conclust._sklearn import (
    Interval,
    StrOptions,
    fit_context,
    scaled_tolerance,
)
from conclust._validation import check_inputs, weights_of_rows
from conclust.cluster._by_centers import CentersMixin
from conclust.constraints import Constraints, hitting_set
from conclust.exceptions import (
    ConstraintsViolatedWarning,
)

WAY_OUT = (
    "Raise n_clusters, drop one of these statements, or pass on_infeasible='relax' to break the "
    "least weight."
)


class Round(NamedTuple):
    """What one iteration did."""

    inertia: float  # weighted sum of squared distances to the centres the rows were assigned to
    n_changed: int  # rows whose cluster changed
    n_violated: int  # cannot-linked pairs of units that share a cluster
    center_shift: float  # Σ ‖new centre − old centre‖²
    rung: str  # how far up the ladder of placements the iteration went
    seconds: float


class Run(NamedTuple):
    """The result of one start, in the coordinates of the X it was given."""

    labels: np.ndarray  # (n_samples,) int32
    centers: np.ndarray  # (n_clusters, n_features)
    inertia: float
    violated_weight: float
    converged: bool
    history: list[Round]
    placement: Placement


def hard_parts(units, weight):
    rows, unit, graph = units
    links = Graph(graph.indptr, graph.indices, np.zeros(len(graph.indices), np.int64))
    statements = Statements(rows, unit, links, np.full(1, -1, np.int8), np.full(1, np.inf))
    return parts_of(statements, NO_GROUPS, weight)


def _first(unit):
    return np.unique(unit, return_index=True)[1]


def cop_kmeans(
    X: Matrix,
    units: Units,
    centers_init: np.ndarray,
    *,
    sample_weight: np.ndarray | None = None,
    max_iter: int = 300,
    tol: float = 0.0,
    relax: bool = False,
    time_limit: float = 10.0,
    parts: Parts | None = None,
    labels_init: np.ndarray | None = None,
    on_round: Callable[[Round], object] | None = None,
) -> Run:
    """Alternate placing units (every cannot-link kept) and moving centres, from one start.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), or source of rows
        Centred, for accuracy. See `open_rows`.
    units : Units
    centers_init : ndarray of shape (n_clusters, n_features)
    sample_weight : ndarray of shape (n_samples,), default=None
    max_iter : int, default=300
    tol : float, default=0.0
        Absolute, on the summed squared shift of the centres.
    relax : bool, default=False
        Break the least weight instead of stopping when no placement is found.
    time_limit : float, default=10.0
        Seconds for the exact solver in one placement.
    on_round : callable, default=None

    Returns
    -------
    Run
        `placement.outcome` tells whether the links could be kept; when they could not and
        `relax` is off, the run stops at once and its labels are no answer.

    Notes
    -----
    The objective Σ_i w_i ‖x_i − c_{l(i)}‖² never rises: each placement costs no more than the
    last one under the same centres, and means are optimal for their rows.
    """
    rows, unit, graph = units
    n_clusters = len(centers_init)
    weight_of_rows = np.empty(0) if sample_weight is None else sample_weight[rows]
    labels_of_units = None if labels_init is None else labels_init[rows[_first(unit)]]
    moving = labels_init is None
    with open_rows(
        X, n_clusters, sample_weight=sample_weight, linked=rows, all_distances=True
    ) as near:

        def assign(centers: np.ndarray) -> tuple[int, float, Placement]:
            nonlocal labels_of_units, moving
            free = near.sweep(centers)
            cost = np.zeros((graph.n_units, n_clusters))
            sum_costs(near.distances, unit, weight_of_rows, cost)
            placement = place(
                cost,
                graph,
                previous=labels_of_units,
                fresh=moving,
                relax=relax,
                time_limit=time_limit,
            )
            labels_of_units = placement.labels
            linked = near.add(placement.labels[unit].astype(np.int32), centers)
            n_changed = free.n_changed + linked.n_changed
            moving = n_changed > STILL * X.shape[0]
            return n_changed, free.inertia + linked.inertia, placement

        if parts is not None:
            moves = ExactMoves(near, parts, X.shape[1])
        centers = centers_init
        rounds = Rounds(Round, on_round)
        converged = False
        for _ in range(max_iter):
            n_changed, inertia, placement = assign(centers)
            if placement.outcome in (Outcome.INFEASIBLE, Outcome.UNKNOWN):
                break
            previous, centers = centers, near.means(centers, refill=parts is None)
            shift = float(((centers - previous) ** 2).sum())
            rounds.note(inertia, n_changed, len(placement.broken), shift, placement.rung)
            converged = n_changed == 0 or shift <= tol
            if converged and parts is not None:
                centers, n_passes = moves(centers, labels_of_units)
                converged = n_passes == 0
            if converged:
                break
        if rounds.history and rounds.history[-1].n_changed:
            _, _, placement = assign(centers)
        return Run(
            near.labels,
            centers,
            near.inertia(centers),
            float(graph.apart_weight[placement.broken].sum()),
            converged,
            rounds.history,
            placement,
        )


def _without_weak_must_links(constraints: Constraints, n_clusters: int) -> Constraints:
    """Drop must-links that are the lightest way out of having too few clusters.

    Units move as one, so `place` can only break cannot-links.
    """
    while True:
        conflicts = constraints.conflicts(n_clusters)
        chosen = hitting_set([c.index for c in conflicts], constraints.weight)
        weak = chosen[constraints.kinds[chosen] == "must-link"]
        if not len(weak):
            return constraints
        constraints = constraints[np.delete(np.arange(len(constraints)), weak)]


class COPKMeans(CentersMixin):
    """K-means that keeps every must-link and cannot-link, or says why it cannot.

    Must-linked rows move as one. Each iteration looks for the cheapest assignment that keeps all
    cannot-links: most constrained first, improved by moves and Kempe chains, repaired by tabu
    search and, for small parts that still clash, by exact colouring and an integer programme. A
    feasible set is therefore solved where the textbook algorithm gives up, and every labelling
    returned keeps every statement.

    Parameters
    ----------
    n_clusters : int, default=8
    init : {"k-means++", "random"}, array-like or callable, default="k-means++"
        As in scikit-learn's :class:`~sklearn.cluster.KMeans`.
    n_init : int, default=10
        Starts; the one with the lowest inertia is kept.
    max_iter : int, default=300
    tol : float, default=1e-4
        Stop when the centres move less than this, relative to the variance of X.
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do when no assignment into `n_clusters` clusters keeps every statement: raise
        :class:`~conclust.exceptions.InfeasibleConstraintsError` naming the conflict, or break the
        least weight found, warn, and report it.
    time_limit : float, default=10.0
        Seconds for the exact solver in one placement; hardly any data set reaches it.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,), int32
    inertia_ : float
        Weighted sum of squared distances of the rows to the centres of their clusters.
    n_iter_ : int
    converged_ : bool
        False when `max_iter` was reached.
    history_ : list of Round
        Of the start that was kept.
    report_ : ConstraintReport
        Which statements the labels keep: all, unless ``on_infeasible="relax"`` had to break some.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    ConstrainedKMeans : Never fails, may break statements.
    PCKMeans : Weighs broken statements against distances: for statements that may be wrong.

    Notes
    -----
    Finding the cheapest assignment is NP-hard with cannot-links and three or more clusters; with
    two clusters, and for cannot-links that form trees, the assignment found is optimal. Memory:
    the distances of constrained rows to all centres, 8 · n_clusters bytes for each such row.

    Clean statements only: one wrong must-link can join two clusters. With doubtful ones use
    `PCKMeans`, or look at :meth:`conclust.Constraints.repaired` first.

    References
    ----------
    K. Wagstaff, C. Cardie, S. Rogers and S. Schroedl (2001). Constrained k-means clustering with
    background knowledge. ICML, 577-584.

    Examples
    --------
    >>> from conclust import COPKMeans, Constraints
    >>> X = [[0, 0], [0, 1], [4, 0], [4, 1]]
    >>> known = Constraints(must_link=[(0, 2)], cannot_link=[(0, 1)])
    >>> COPKMeans(n_clusters=2, random_state=0).fit(X, constraints=known).report_
    ConstraintReport(2 of 2 kept: 1 of 1 must-link, 1 of 1 cannot-link)
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="hard",
        when="the statements are true",
        hard=True,
        names=(Named("cop-kmeans", "keeps every statement, or names the conflict"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "on_infeasible": [StrOptions({"raise", "relax"})],
        "time_limit": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        on_infeasible: str = "raise",
        time_limit: float = 10.0,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.on_infeasible = on_infeasible
        self.time_limit = time_limit
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
    ) -> "COPKMeans":
        """Cluster the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
        constraints : Constraints, default=None
            Must-links and cannot-links.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self

        Raises
        ------
        InconsistentConstraintsError
            When the statements contradict each other, whatever the number of clusters.
        InfeasibleConstraintsError
            When no assignment into `n_clusters` clusters keeps them.
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = None if sample_weight is None else weights_of_rows(sample_weight, X)
        relax = self.on_infeasible == "relax"
        if relax:
            weakened = _without_weak_must_links(constraints.pairwise.repaired(), self.n_clusters)
            units = units_of(weakened.closure())
        else:
            units = hard_units(constraints, self.n_clusters, WAY_OUT)
        random_state = check_random_state(self.random_state)
        tol = scaled_tolerance(X, self.tol)
        data = centered(X)

        def start(number: int, on_round: Any) -> Run:
            run = cop_kmeans(
                data.X,
                units,
                init_centers(
                    data.X, self.n_clusters, self.init, weight, random_state, mean=data.mean
                ),
                sample_weight=weight,
                max_iter=self.max_iter,
                tol=tol,
                relax=relax,
                time_limit=self.time_limit,
                on_round=on_round,
            )
            if not run.history:
                raise_infeasible(constraints, self.n_clusters, run.placement, WAY_OUT)
            return run

        best = best_of_starts(
            start,
            n_starts(self.init, self.n_init),
            lambda run: (run.violated_weight, run.inertia),
            what=type(self).__name__,
            verbose=self.verbose,
        )
        self.cluster_centers_ = best.centers + data.mean
        self.labels_, self.inertia_ = best.labels, best.inertia
        self.n_iter_, self.converged_ = len(best.history), best.converged
        self.history_ = best.history
        warn_if_degenerate(best.labels, self.n_clusters)
        self.report_ = constraints.report(best.labels)
        known = constraints.pairwise  # relative statements are ignored, not broken
        n_broken = known.report(best.labels).n_violated
        if n_broken:
            warnings.warn(
                f"COPKMeans broke {n_broken} of {len(known)} statements, the "
                f"least weight found, since {self.n_clusters} clusters cannot keep them all; "
                "`report_.violated` lists them.",
                ConstraintsViolatedWarning,
                stacklevel=2,
            )
        return self
