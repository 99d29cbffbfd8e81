"""COPKMeans: k-means under hard must-links and cannot-links, made to keep its word."""

import warnings
from collections.abc import Callable
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from conclust import blocks
from conclust._arrays import Matrix
from conclust._declare import PAIRS, Named, Takes
from conclust._kernels.place_hard import sum_costs
from conclust._known_labels import SEEDS
from conclust._living import Living, told
from conclust._lloyd.best import n_starts, warn_if_degenerate
from conclust._lloyd.exact_moves import NO_GROUPS, ExactMoves, Statements, parts_of
from conclust._lloyd.fill import means_and_far_rows
from conclust._lloyd.improve import Improver, best_improved, swapped
from conclust._lloyd.rows import open_rows
from conclust._lloyd.start import centered, init_centers, scaled_tolerance
from conclust._lloyd.sweep import on_sphere
from conclust._lloyd.trim import OUTLIERS, Trimmed, Trimming, best_trimmed, far_rows, init_of_start
from conclust._pairs import Graph
from conclust._placement.hard import NOTHING, RUNGS, GivenUp, Outcome, Placement, place
from conclust._placement.sizes import SIZES, Sized, Sizes, Vertices, sizes_of
from conclust._placement.units import STILL, Units, hard_units, raise_infeasible, units_of
from conclust._progress import Rounds
from conclust._sklearn import (
    Interval,
    StrOptions,
    fit_context,
)
from conclust._validation import METRICS, check_inputs, weights_of_rows
from conclust.cluster._by_centers import CentersMixin
from conclust.constraints import Constraints, hitting_set
from conclust.exceptions import (
    ConstraintsViolatedWarning,
    InfeasibleSizesError,
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
    spherical: bool = False,
    on_round: Callable[[Round], object] | None = None,
) -> Run:
    """Alternate placing units (every cannot-link kept) and moving centres, from one start.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), or source of rows
        Centred, for accuracy. See `open_rows`.
    units : Units
        Rows that move as one, and which stay apart.
    centers_init : ndarray of shape (n_clusters, n_features)
        Where the centres start.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weight of each row; None for 1 each.
    max_iter : int, default=300
        Iterations of one start at most.
    tol : float, default=0.0
        Absolute, on the summed squared shift of the centres.
    relax : bool, default=False
        Break the least weight instead of stopping when no placement is found.
    time_limit : float, default=10.0
        Seconds for the exact solver in one placement.
    spherical : bool, default=False
        Rows have unit length, and so shall centres.
    on_round : callable, default=None
        Called with the record of each iteration.

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
    n_clusters = len(centers_init)
    with HardLloyd(
        X,
        units,
        n_clusters,
        sample_weight=sample_weight,
        relax=relax,
        time_limit=time_limit,
        spherical=spherical,
    ) as loop:
        return loop.run(centers_init, max_iter=max_iter, tol=tol, on_round=on_round)


class HardLloyd:
    """The loop of `cop_kmeans`, from several starts over the same rows; a context manager.

    Parameters
    ----------
    X, units, sample_weight, relax, time_limit, spherical
        As in `cop_kmeans`.
    n_clusters : int
    sizes : Sizes, default=None
        Least and largest size of each cluster.
    outlier_share : float, default=0.0
        Share of the rows that is set aside.
    """

    def __init__(
        self,
        X: Matrix,
        units: Units,
        n_clusters: int,
        *,
        sample_weight: np.ndarray | None = None,
        relax: bool = False,
        time_limit: float = 10.0,
        spherical: bool = False,
        sizes: Sizes | None = None,
        outlier_share: float = 0.0,
    ):
        self.units, self.n_clusters = units, n_clusters
        self.relax, self.time_limit, self.spherical = relax, time_limit, spherical
        self.n_features = X.shape[1]
        self.weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        self._weight = np.empty(0) if sample_weight is None else sample_weight[units.rows]
        self._given_up: GivenUp = {}
        # Made once: to get so much memory from the system takes longer than to fill it.
        self._cost = np.empty((units.graph.n_units, n_clusters))
        self._work = np.empty_like(self._cost)
        self._trimming: Trimming | None = None
        if outlier_share:
            self._trimming = Trimming(outlier_share, units.of_rows(X.shape[0]), self.weight)
        self._sized: Sized | None = None
        if sizes is not None:
            vertices = Vertices(*self._links, sample_weight, X.shape[0])
            self._sized = Sized(sizes, vertices, time_limit=time_limit)
        self.near = open_rows(
            X,
            n_clusters,
            sample_weight=sample_weight,
            linked=units.rows if sizes is None else np.arange(X.shape[0]),
            all_distances=True,
            spherical=spherical,
        )

    def __enter__(self) -> Self:
        self.near.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self.near.__exit__(*exception)

    def run(
        self,
        centers: np.ndarray,
        *,
        max_iter: int,
        tol: float,
        exact: bool = False,
        on_round: Callable[[Round], object] | None = None,
    ) -> Run:
        """Iterate from given centres; `exact`: go on by single moves where that comes to rest."""
        self.near.forget()
        self._labels: np.ndarray | None = None
        self._last = self.near.labels.copy()
        self._moving = True
        if self.spherical:
            centers = on_sphere(centers, centers)
        if self._sized is not None:
            self._sized.forget()
        return self._iterate(centers, Rounds(Round, on_round), max_iter, tol, exact)

    def matched(self, centers: np.ndarray) -> np.ndarray:
        """Centres in an order that suits sizes which differ from cluster to cluster."""
        return centers if self._sized is None else self._sized.matched(centers, self.near)

    def improve(self, run: Run, *, max_iter: int, tol: float) -> Run:
        """Go on from a run by single moves, and by iterations where these help."""
        near, (rows, unit, _) = self.near, self.units
        self._labels = np.empty(len(run.placement.labels), np.int64)
        self._labels[unit] = run.labels[rows]
        self._moving = False
        near.labels = run.labels.copy()
        if len(run.history) >= max_iter:
            return run
        centers, n_moves = self._move(self._moves.means(run.centers), self._labels)
        if not n_moves:
            return run
        rounds = Rounds(Round, history=run.history)
        return self._iterate(centers, rounds, max_iter - len(run.history), tol, True)

    def improver(
        self, random_state: np.random.RandomState, *, max_iter: int, tol: float
    ) -> Improver[Run]:
        """What `best_of_starts` needs to go on from runs."""

        def restart(run: Run) -> Run:
            self.near.labels = run.labels
            centers = swapped(self.near, run.centers, self.weight, random_state)
            try:
                return self.run(centers, max_iter=max_iter, tol=tol, exact=True)
            except InfeasibleSizesError:  # not found from there
                return run

        return Improver(partial(self.improve, max_iter=max_iter, tol=tol), restart)

    @cached_property
    def _links(self) -> Statements:
        """Links between units, none of which may be broken."""
        rows, unit, graph = self.units
        links = Graph(graph.indptr, graph.indices, np.zeros(len(graph.indices), np.int64))
        return Statements(rows, unit, links, np.full(1, -1, np.int8), np.full(1, np.inf))

    @cached_property
    def _moves(self) -> ExactMoves:
        """Single moves of units, none of which breaks a link."""
        return ExactMoves(
            self.near,
            parts_of(self._links, NO_GROUPS, self.weight),
            self.n_features,
            spherical=self.spherical,
            bounds=None if self._sized is None else self._sized.bounds,
        )

    def _move(self, centers: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, int]:
        """Single moves, which the next placement begins with."""
        centers, n_moves = self._moves(centers, labels)
        if self._sized is not None:
            self._sized.remember(self.near.labels)
        return centers, n_moves

    def _iterate(
        self, centers: np.ndarray, rounds: Rounds, max_iter: int, tol: float, exact: bool
    ) -> Run:
        near, graph = self.near, self.units.graph
        placement: Placement
        converged = False
        for _ in range(max_iter):
            n_changed, inertia, placement = self._assign(centers)
            if placement.outcome in (Outcome.INFEASIBLE, Outcome.UNKNOWN):
                break
            previous, centers = centers, self._means(centers, exact)
            shift = float(((centers - previous) ** 2).sum())
            rounds.note(inertia, n_changed, len(placement.broken), shift, placement.rung)
            converged = n_changed == 0 or shift <= tol
            if converged and exact:
                centers, n_moves = self._move(centers, placement.labels)
                converged = n_moves == 0
            if converged:
                break
        if rounds.history and not (converged and rounds.history[-1].n_changed == 0):
            _, _, placement = self._assign(centers)
        return Run(
            near.labels,
            centers,
            near.inertia(centers),
            float(graph.apart_weight[placement.broken].sum()),
            converged,
            rounds.history,
            placement,
        )

    def _means(self, centers: np.ndarray, exact: bool) -> np.ndarray:
        if self._sized is not None or self._trimming is not None:
            return means_and_far_rows(self.near, centers)
        # Single moves fill empty clusters by what saves most.
        return self.near.means(centers, refill=not exact)

    def _assign(self, centers: np.ndarray) -> tuple[int, float, Placement]:
        """Place all rows; return rows changed, inertia and where the units went."""
        near, unit = self.near, self.units.unit
        free = near.sweep(centers)
        aside = None if self._trimming is None else self._trimming(near.distances_to_own(centers))
        if self._sized is None:
            cost = self._cost
            sum_costs(near.distances, unit, self._weight, cost)
            if aside is not None:
                cost[unit[aside[self.units.rows]]] = 0.0  # wherever that suits the others
            placement = self._place(cost)
            placed = placement.labels[unit]
        else:
            placement, placed = self._place_sized(self._sized, aside)
        self._labels = placement.labels
        linked = near.add(placed.astype(np.int32), centers)
        n_changed, inertia = free.n_changed + linked.n_changed, free.inertia + linked.inertia
        if aside is not None:
            near.drop(np.flatnonzero(aside))
            n_changed, inertia = int((near.labels != self._last).sum()), near.inertia(centers)
            self._last = near.labels.copy()
        self._moving = n_changed > STILL * len(self.weight)
        return n_changed, inertia, placement

    def _place(self, cost: np.ndarray) -> Placement:
        return place(
            cost,
            self.units.graph,
            previous=self._labels,
            fresh=self._moving,
            relax=self.relax,
            time_limit=self.time_limit,
            given_up=self._given_up,
            work=self._work,
        )

    def _place_sized(self, sized: Sized, aside: np.ndarray | None) -> tuple[Placement, np.ndarray]:
        """Place units and all other rows within the sizes; where units went, and rows."""
        near, graph = self.near, self.units.graph
        placement = Placement(NOTHING, 0.0, NOTHING, Outcome.FEASIBLE, RUNGS[0], NOTHING)

        def place_units(cost: np.ndarray) -> np.ndarray | None:
            nonlocal placement
            placement = self._place(cost)
            clashes = placement.outcome in (Outcome.INFEASIBLE, Outcome.UNKNOWN)
            return None if clashes else placement.labels

        cost = near.distances * self.weight[:, np.newaxis].astype(np.float64)
        found = sized(cost, place_units, aside)
        if found is None:
            return placement, near.nearest
        labels, placed = found
        return placement._replace(labels=labels, broken=graph.broken(labels)), placed


def _without_weak_must_links(constraints: Constraints, n_clusters: int) -> Constraints:
    """Drop must-links that are the lightest way out of having too few clusters.

    Units move as one, so `place` can only break cannot-links.
    """
    while True:
        conflicts = constraints.conflicts(n_clusters, max_listed=None)
        chosen = hitting_set([c.index for c in conflicts], constraints.weight)
        weak = chosen[constraints.kinds[chosen] == "must-link"]
        if not len(weak):
            return constraints
        constraints = constraints[np.delete(np.arange(len(constraints)), weak)]


class COPKMeans(Living, CentersMixin):
    """K-means that keeps every must-link and cannot-link, or says why it cannot.

    Must-linked rows move as one. Each iteration looks for the cheapest assignment that keeps all
    cannot-links: most constrained first, improved by moves and Kempe chains, repaired by tabu
    search and, for small parts that still clash, by exact colouring and an integer programme. A
    feasible set is therefore solved where the textbook algorithm gives up, and every labelling
    returned keeps every statement.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    init : {"k-means++", "k-means||", "random"}, array-like or callable, default="k-means++"
        As in scikit-learn's :class:`~sklearn.cluster.KMeans`. "k-means||" draws in a few passes
        over all rows, where k-means++ draws from a sample of those in blocks.
    seeds : {"auto", "hard", "init"} or None, default="auto"
        What the classes of some rows are, given as `y` to `fit`. "hard": bound to their clusters.
        "init": places where clusters start, no more. None: ignored. "auto": "hard", but a `y` that
        leaves no row open is ignored, as scikit-learn's clusterers do.
    n_init : int, default=10
        Starts; the ones with the lowest inertia are gone on from, see Notes.
    max_iter : int, default=300
        Iterations of one start at most.
    tol : float, default=1e-4
        Stop when the centres move less than this, relative to the variance of X.
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do when no assignment into `n_clusters` clusters keeps every statement: raise
        :class:`~conclust.exceptions.InfeasibleConstraintsError` naming the conflict, or break the
        least weight found, warn, and report it.
    time_limit : float, default=10.0
        Seconds for the exact solver in one placement, with sizes for all of a fit; hardly any data
        set reaches it.
    size_min, size_max : int, float or array-like of shape (n_clusters,), default=None
        Least and largest size of each cluster, one number for all or one for each, counted in rows
        or, with `sample_weight`, in weight. Every clustering returned has them; sizes that cannot
        be had raise :class:`~conclust.exceptions.InfeasibleSizesError`.
    outliers : float, "auto" or None, default=None
        Share of the rows (of `sample_weight` where given) to set aside as belonging nowhere: those
        farthest from every centre get the label -1 and count in no mean (trimmed k-means).
        Must-linked rows are set aside together or not at all; a cannot-link with such a row holds.
        "auto" sets aside rows that lie farther out than those of a normal cluster do, a tenth of
        them wrongly: hardly any where there is no noise.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" clusters directions (spherical k-means): rows and centres have unit length, and
        distances, inertia included, are those between them: ‖x − c‖² = 2 (1 − cos).
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,), int32
        -1 for rows set aside by `outliers`.
        Of a collection of an engine, one of that engine, not computed yet, as `predict` gives.
    inertia_ : float
        Weighted sum of squared distances of the rows to the centres of their clusters.
    outlier_share_ : float
        Share set aside.
    n_iter_ : int
    converged_ : bool
        False when `max_iter` was reached.
    history_ : list of Round
        Of the start that was kept, what went on from it included. The inertia never rises.
    report_ : ConstraintReport
        Which statements the labels keep: all, unless ``on_infeasible="relax"`` had to break some.
    classes_ : ndarray of shape (n_clusters,)
        The class of each cluster, None for one without; with known labels only.
    constraints_ : Constraints
        All statements, those of known labels included.
    changes_ : DataFrame
        What the last :meth:`update` changed.
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

    From the best starts single rows and units go on moving, the means with them (Hartigan's moves),
    under sizes two of them swap clusters, too, and centres are put elsewhere, for at most half the
    time of the starts. Without statements none of this is done: the answer is that of
    scikit-learn's :class:`~sklearn.cluster.KMeans`.

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
        cosine=True,
        blocks=blocks.open,
        names=(Named("cop-kmeans", "keeps every statement, or names the conflict"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
        "seeds": SEEDS,
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "on_infeasible": [StrOptions({"raise", "relax"})],
        "time_limit": [Interval(Real, 0, None, closed="neither")],
        "size_min": SIZES,
        "size_max": SIZES,
        "outliers": OUTLIERS,
        "metric": METRICS,
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        seeds: str | None = "auto",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        on_infeasible: str = "raise",
        time_limit: float = 10.0,
        size_min: Any = None,
        size_max: Any = None,
        outliers: Any = None,
        metric: str = "euclidean",
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.seeds = seeds
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.on_infeasible = on_infeasible
        self.time_limit = time_limit
        self.size_min = size_min
        self.size_max = size_max
        self.outliers = outliers
        self.metric = metric
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
    ) -> "COPKMeans":
        """Cluster the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, Blocks} of shape (n_samples, n_features)
            Blocks: see :func:`conclust.blocks.open`. A dask array or data frame, a Ray dataset and
            a tensor on a GPU are opened so.
        y : array-like of shape (n_samples,), default=None
            Class of each row, -1, None or NaN where it is not known; see `seeds`.
        constraints : Constraints, default=None
            Must-links and cannot-links.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; None for 1 each.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InconsistentConstraintsError
            When the statements contradict each other, whatever the number of clusters.
        InfeasibleConstraintsError
            When no assignment into `n_clusters` clusters keeps them.
        InfeasibleSizesError
            When none has the sizes asked for, too.
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
        data = centered(X, metric=self.metric)

        how: dict[str, Any] = {"max_iter": self.max_iter, "tol": tol}

        def best_run(share: float, first: np.ndarray | None = None) -> Trimmed[Run]:
            sizes = sizes_of(
                self.size_min, self.size_max, self.n_clusters, weight, X.shape[0], share
            )
            with HardLloyd(
                data.X,
                units,
                self.n_clusters,
                sample_weight=weight,
                relax=relax,
                time_limit=self.time_limit,
                spherical=data.spherical,
                sizes=sizes,
                outlier_share=share,
            ) as loop:

                def start(number: int, on_round: Any) -> Run:
                    centers = first
                    if centers is None:
                        init = init_of_start(self.init, number, share)
                        centers = init_centers(
                            data.X, self.n_clusters, init, weight, random_state, mean=data.mean
                        )
                        if isinstance(self.init, str):
                            centers = loop.matched(centers)
                    run = loop.run(centers, on_round=on_round, **how)
                    if not run.history:
                        raise_infeasible(constraints, self.n_clusters, run.placement, WAY_OUT)
                    return run

                # Without statements this is scikit-learn's KMeans; single moves know no rows set
                # aside.
                goes_on = len(units.rows) and not share
                run = best_improved(
                    start,
                    n_starts(self.init, self.n_init) if first is None else 1,
                    lambda run: (run.violated_weight, run.inertia),
                    loop.improver(random_state, **how) if goes_on else None,
                    what=type(self).__name__,
                    verbose=self.verbose,
                )
                is_asked = self.outliers == "auto"
                return Trimmed(run, far_rows(loop.near, run.centers) if is_asked else None)

        best, self.outlier_share_ = best_trimmed(best_run, self.outliers, weight)
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
