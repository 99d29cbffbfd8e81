"""PCKMeans: k-means in which every broken statement has its price."""

from collections.abc import Callable
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from conclust import blocks
from conclust._arrays import Matrix
from conclust._declare import PAIRS, Named, Takes
from conclust._kernels.place_soft import violated_price
from conclust._known_labels import SEEDS
from conclust._living import Living, told
from conclust._lloyd.best import n_starts, warn_if_degenerate
from conclust._lloyd.exact_moves import ExactMoves, Statements, parts_of
from conclust._lloyd.fill import means_and_far_rows
from conclust._lloyd.improve import Improver, best_improved, swapped
from conclust._lloyd.rows import open_rows
from conclust._lloyd.start import centered, scaled_tolerance, start_centers
from conclust._lloyd.sweep import Assigned, on_sphere
from conclust._lloyd.trim import (
    OUTLIERS,
    Trimmed,
    Trimming,
    best_trimmed,
    far_rows,
    first_share,
    init_of_start,
)
from conclust._placement.links import Links, link_rows
from conclust._placement.sizes import SIZES, Sized, Sizes, Vertices, sizes_of
from conclust._placement.soft import best_to_move, place_rows
from conclust._progress import Rounds
from conclust._sklearn import (
    Interval,
    StrOptions,
    fit_context,
)
from conclust._validation import METRICS, check_inputs, weights_of_rows
from conclust.cluster._by_centers import CentersMixin
from conclust.cluster._penalty import choose_price, price_by_regret
from conclust.constraints import Constraints
from conclust.exceptions import InfeasibleSizesError


class Round(NamedTuple):
    """What one iteration did, measured after its assignment."""

    objective: float  # inertia + the prices of the broken pairs
    inertia: float  # weighted sum of squared distances
    n_violated: int  # broken pairs
    n_changed: int  # rows whose cluster is not the one they had
    seconds: float


class Run(NamedTuple):
    """The result of one start, in the coordinates of the X it was given."""

    labels: npt.NDArray[np.int32]  # (n_samples,)
    centers: np.ndarray  # (n_clusters, n_features)
    inertia: float
    objective: float
    converged: bool  # False: the last iteration still moved rows and centres
    history: list[Round]


def pckmeans(
    X: Matrix,
    links: Links,
    penalty: float,
    centers_init: np.ndarray,
    *,
    sample_weight: np.ndarray | None = None,
    max_iter: int = 300,
    tol: float = 0.0,
    spherical: bool = False,
    n_threads: int | None = None,
    on_round: Callable[[Round], object] | None = None,
) -> Run:
    """Run pairwise constrained k-means from given centres.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), float32 or float64
        C-contiguous, or a source of rows: see `open_rows`. Pass dense data through `centered`
        first, for accuracy.
    links : Links
        The statements as edges between rows.
    penalty : float
        Price of a broken pair of weight 1.
    centers_init : ndarray of shape (n_clusters, n_features)
        In the coordinates of X; left as they are.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weight of each row; None for 1 each.
    max_iter : int, default=300
        Iterations of one start at most.
    tol : float, default=0.0
        Stop once Σ ‖new centre − old centre‖² is at most this. Absolute: scale it beforehand.
    spherical : bool, default=False
        Rows have unit length, and so shall centres.
    n_threads : int, default=None
        None for as many as scikit-learn would use.
    on_round : callable, default=None
        Called with the `Round` of each iteration.

    Returns
    -------
    Run

    Notes
    -----
    An iteration gives free rows their nearest centre, moves linked rows from where they were as
    long as that lowers the objective, and puts the centres at the means; none of these raises the
    objective. A cluster left empty takes the row whose move saves most, links included.
    """
    with SoftLloyd(
        X,
        links,
        penalty,
        len(centers_init),
        sample_weight=sample_weight,
        spherical=spherical,
        n_threads=n_threads,
    ) as loop:
        return loop.run(centers_init, max_iter=max_iter, tol=tol, on_round=on_round)


class SoftLloyd:
    """The loop of `pckmeans`, from several starts over the same rows; a context manager.

    Parameters
    ----------
    X, links, penalty, sample_weight, spherical, n_threads
        As in `pckmeans`.
    n_clusters : int
    sizes : Sizes, default=None
        Least and largest size of each cluster.
    outlier_share : float, default=0.0
        Share of the rows that is set aside.
    """

    def __init__(
        self,
        X: Matrix,
        links: Links,
        penalty: float,
        n_clusters: int,
        *,
        sample_weight: np.ndarray | None = None,
        spherical: bool = False,
        sizes: Sizes | None = None,
        outlier_share: float = 0.0,
        n_threads: int | None = None,
    ):
        self.links, self.n_clusters, self.n_features = links, n_clusters, X.shape[1]
        self.weight = np.ones(X.shape[0], X.dtype) if sample_weight is None else sample_weight
        self.price = penalty * links.weight[:, np.newaxis]
        self.spherical = spherical
        self._eps = float(np.finfo(X.dtype).eps)
        self._paid = np.zeros(len(links))
        self._placed = np.empty(len(links.rows), dtype=np.int32)
        # Made once: to get so much memory from the system takes longer than to fill it.
        self._cost = np.empty((len(links.rows), n_clusters))
        self._trimming: Trimming | None = None
        if outlier_share:
            self._trimming = Trimming(outlier_share, links.units_of(X.shape[0]), self.weight)
        self._priced = self.price  # but for links of rows set aside
        self._sized: Sized | None = None
        if sizes is not None:
            self._sized = Sized(sizes, Vertices(*self._statements, sample_weight, X.shape[0]))
        self.rows = open_rows(
            X,
            n_clusters,
            sample_weight=sample_weight,
            linked=links.rows if sizes is None else np.arange(X.shape[0]),
            all_distances=True,
            spherical=spherical,
            n_threads=n_threads,
        )

    def __enter__(self) -> Self:
        self.rows.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self.rows.__exit__(*exception)

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
        self.rows.forget()
        self._last = self.rows.labels.copy()
        if self.spherical:
            centers = on_sphere(centers, centers)
        if self._sized is not None:
            self._sized.forget()
        rounds = Rounds(Round, on_round)
        return self._iterate(centers, rounds, max_iter, tol, exact, is_first=True)

    def improve(self, run: Run, *, max_iter: int, tol: float) -> Run:
        """Go on from a run by single moves, and by iterations where these help."""
        if len(run.history) >= max_iter:
            return run
        self.rows.labels = run.labels.copy()
        self._placed[:] = run.labels[self.links.rows]
        centers, n_moves = self._move(self._moves.means(run.centers))
        if not n_moves:
            return run
        rounds = Rounds(Round, history=run.history)
        return self._iterate(centers, rounds, max_iter - len(run.history), tol, exact=True)

    def improver(
        self, random_state: np.random.RandomState, *, max_iter: int, tol: float
    ) -> Improver[Run]:
        """What `best_improved` needs to go on from runs."""

        def restart(run: Run) -> Run:
            self.rows.labels = run.labels
            centers = swapped(self.rows, run.centers, self.weight, random_state)
            try:
                return self.run(centers, max_iter=max_iter, tol=tol, exact=True)
            except InfeasibleSizesError:  # not found from there
                return run

        return Improver(partial(self.improve, max_iter=max_iter, tol=tol), restart)

    def matched(self, centers: np.ndarray) -> np.ndarray:
        """Centres in an order that suits sizes which differ from cluster to cluster."""
        return centers if self._sized is None else self._sized.matched(centers, self.rows)

    @cached_property
    def _statements(self) -> Statements:
        links = self.links
        slots = np.arange(len(links.rows))
        return Statements(links.rows, slots, links.graph, links.sign, self.price[:, 0])

    @cached_property
    def _moves(self) -> ExactMoves:
        """Single moves of must-link components and of rows."""
        return ExactMoves(
            self.rows,
            parts_of(self._statements, self.links.groups, self.weight),
            self.n_features,
            spherical=self.spherical,
            bounds=None if self._sized is None else self._sized.bounds,
        )

    def _move(self, centers: np.ndarray) -> tuple[np.ndarray, int]:
        """Single moves, which the next placement begins with."""
        centers, n_moves = self._moves(centers, self._placed)
        if self._sized is not None:
            self._sized.remember(self.rows.labels)
        return centers, n_moves

    def _iterate(
        self,
        centers: np.ndarray,
        rounds: Rounds[Round],
        max_iter: int,
        tol: float,
        exact: bool,
        *,
        is_first: bool = False,
    ) -> Run:
        links, paid, placed = self.links, self._paid, self._placed
        unchanged = converged = False
        for _ in range(max_iter):
            assigned = self._assign(centers, is_first=is_first)
            is_first = False
            n_broken = violated_price(links.pairs, links.sign, self._priced, placed, paid)
            previous = centers
            centers, n_refilled = self._update(centers)
            shift = float(((centers - previous) ** 2).sum())
            objective = assigned.inertia + float(paid.sum())
            rounds.note(objective, assigned.inertia, n_broken, assigned.n_changed)
            unchanged = assigned.n_changed + n_refilled == 0
            converged = unchanged or shift <= tol
            if converged and exact:
                centers, n_moves = self._move(centers)
                converged = n_moves == 0
                unchanged &= converged
            if converged:
                break
        if not unchanged:
            self._assign(centers)
            violated_price(links.pairs, links.sign, self._priced, placed, paid)
        inertia = self.rows.inertia(centers)
        objective = inertia + float(paid.sum())
        return Run(self.rows.labels, centers, inertia, objective, converged, rounds.history)

    def _assign(self, centers: np.ndarray, *, is_first: bool = False) -> Assigned:
        """Give free rows their nearest centre, and move linked ones from where they were."""
        rows, placed = self.rows, self._placed
        free = rows.sweep(centers)
        aside = None if self._trimming is None else self._trimming(rows.distances_to_own(centers))
        if aside is not None:
            named = np.any(aside[self.links.rows[self.links.pairs]], axis=1)
            self._priced = np.where(named[:, np.newaxis], 0.0, self.price)
        linked = Assigned(0, 0.0)
        if self._sized is not None:
            placed_rows = self._place_sized(self._sized, aside, is_first=is_first)
            linked = rows.add(placed_rows, centers)
        elif len(self.links):
            if is_first:
                placed[:] = rows.nearest
            weight = self.weight[self.links.rows, np.newaxis].astype(np.float64)
            np.multiply(rows.distances, weight, out=self._cost)
            place_rows(self._cost, self.links, self._priced, placed)
            linked = rows.add(placed, centers)
        if aside is None:
            return Assigned(free.n_changed + linked.n_changed, free.inertia + linked.inertia)
        rows.drop(np.flatnonzero(aside))
        n_changed = int((rows.labels != self._last).sum())
        self._last = rows.labels.copy()
        return Assigned(n_changed, rows.inertia(centers))

    def _place_sized(
        self, sized: Sized, aside: npt.NDArray[np.bool_] | None, *, is_first: bool
    ) -> npt.NDArray[np.int32]:
        """Place linked rows and all others within the sizes; clusters of all rows."""

        def place_linked(cost: np.ndarray) -> np.ndarray:
            placed = cost.argmin(axis=1).astype(np.int32) if is_first else self._placed.copy()
            place_rows(cost, self.links, self._priced, placed)
            return placed

        cost = self.rows.distances * self.weight[:, np.newaxis].astype(np.float64)
        found = sized(cost, place_linked, aside)
        assert found is not None  # soft links do not clash
        self._placed[:], labels = found
        return labels.astype(np.int32)

    def _update(self, centers: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the means, and how many rows were moved to fill empty clusters."""
        rows, links, weight = self.rows, self.links, self.weight
        if self._sized is not None or self._trimming is not None:
            return means_and_far_rows(rows, centers), 0
        if not len(links) or rows.all_filled:
            return rows.means(centers), 0
        mass = np.bincount(rows.labels, weights=weight, minlength=self.n_clusters)
        if mass.all():
            return rows.means(centers), 0
        # `rows.means` would move the farthest row whatever its links say.
        centers, n_moved = centers.copy(), 0
        rounding = 1e3 * float(self._eps * rows.total_norm / weight.sum())
        for cluster in np.flatnonzero(mass == 0).tolist():
            own = rows.distances_to_own(centers).astype(np.float64) * weight
            alone = np.zeros_like(own)
            row = best_to_move(rows.labels, links, self.price, own, alone, cluster, rounding)
            if row >= 0:
                rows.move(row, cluster)
                centers[cluster] = rows.row(row)
                n_moved += 1
        self._placed[:] = rows.labels[links.rows]
        return rows.means(centers, refill=False), n_moved


class PCKMeans(Living, CentersMixin):
    r"""Pairwise constrained k-means: statements are wishes, and breaking one costs.

    For statements that are mostly right. Nothing is ever infeasible: contradictory statements, or
    more mutually apart samples than clusters, cost what they cost.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.

    penalty : "auto" or float, default="auto"
        Price of breaking a statement of weight 1, in squared distances; statements of weight w
        cost w times as much. A number is used as it is. "auto" holds a quarter of the statements
        out, four times, and takes the price under which most of those are kept that do not follow
        from the others: 1, 4 or 16 times 0.6 times what it costs the median row to move (the lead
        of its nearest centre over the second nearest in plain k-means). Statements that predict
        each other become all but hard, doubtful ones cheap to break. With fewer than 20 to count
        it is 4 times.

    init : str, callable or array-like, default="neighborhoods"
        Where centres start. "neighborhoods": the means of must-link components, far from each
        other; where these are fewer than `n_clusters`, the rest are drawn as by k-means++, so
        without must-links it is k-means++. Every second start is k-means++ throughout, for wrong
        must-links make poor seeds. "k-means++", "random": as in scikit-learn. "k-means||" draws in
        a few passes over all rows, where k-means++ draws from a sample of those in blocks. A
        callable receives ``(X, n_clusters, random_state=...)``, with a dense X moved to its mean.
        An array has the shape (n_clusters, n_features).

    seeds : {"auto", "hard", "soft", "init"} or None, default="auto"
        What the classes of some rows are, given as `y` to `fit`. "hard": bound to their clusters.
        "soft": statements like others. "init": places where clusters start, no more. None:
        ignored. "auto": "soft", but a `y` that leaves no row open is ignored, as scikit-learn's
        clusterers do.

    n_init : int, default=10
        Number of starts; the ones with the lowest objective are gone on from, see Notes. An array
        as `init` is started from once.

    max_iter : int, default=300
        Iterations of one start at most.

    tol : float, default=1e-4
        A start ends when the squared shifts of the centres, summed, fall below `tol` times the
        mean variance of the features, or when no row changes its cluster.

    size_min, size_max : int, float or array-like of shape (n_clusters,), default=None
        Least and largest size of each cluster, one number for all or one for each, counted in rows
        or, with `sample_weight`, in weight. Hard, unlike statements: every clustering returned has
        them, and sizes that cannot be had raise
        :class:`~conclust.exceptions.InfeasibleSizesError`.

    outliers : float, "auto" or None, default=None
        Share of the rows (of `sample_weight` where given) to set aside as belonging nowhere: those
        farthest from every centre get the label -1 and count in no mean (trimmed k-means).
        Must-linked rows are set aside together or not at all; a cannot-link with such a row holds.
        "auto" sets aside rows that lie farther out than those of a normal cluster do, a tenth of
        them wrongly: hardly any where there is no noise.

    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" clusters directions (spherical k-means): rows and centres have unit length, and
        distances, inertia and prices included, are those between them: ‖x − c‖² = 2 (1 − cos).

    verbose : int, default=0
        Show progress on stderr.

    random_state : int, RandomState or None, default=None
        Draws the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample; -1 for those set aside by `outliers`.
        Of a collection of an engine, one of that engine, not computed yet, as `predict` gives.

    cluster_centers_ : ndarray of shape (n_clusters, n_features)

    inertia_ : float
        Weighted sum of squared distances of the samples to the centres of their clusters.

    objective_ : float
        `inertia_` plus the prices of the broken statements.

    penalty_ : float
        The price of a broken statement of weight 1; 0 for "auto" when there are no statements.

    outlier_share_ : float
        Share set aside.

    n_iter_ : int
        Iterations of the start that was kept, what went on from it included.

    converged_ : bool
        False when that start was cut off by `max_iter`.

    history_ : list of Round
        One record per iteration of that start: ``objective``, ``inertia``, ``n_violated``,
        ``n_changed``, ``seconds``. The objective never rises.

    report_ : ConstraintReport
        Which statements the labels keep.

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
    MPCKMeans : Learns metrics besides.
    COPKMeans : Keeps every statement, or says why it cannot.
    ConstrainedKMeans : Obeys statements by priority; the weak learner of the ensembles.

    Notes
    -----
    With weights :math:`s_i` of samples and :math:`w_{ij}` of statements and the price :math:`p`,
    labels :math:`l` and centres :math:`\mu` minimise

    .. math::

        \sum_i s_i \lVert x_i - \mu_{l_i} \rVert^2
        + p \sum_{(i, j) \in M} w_{ij} \, [l_i \ne l_j]
        + p \sum_{(i, j) \in C} w_{ij} \, [l_i = l_j]

    for must-links M and cannot-links C. The assignment step departs from [1]_, which visits each
    row once: rows are visited until none wants to move; then must-link components move as one, and
    so do chains of rows in which each answers to the move before. Only what lowers the objective
    is kept, so it falls with every iteration, and a start ends in a labelling that no such move
    betters. From the best starts single rows and must-link components go on moving, the means with
    them (Hartigan's moves), under sizes two of them swap clusters, too, and centres are put
    elsewhere, for at most half the time of the starts. Without statements none of this is done: it
    is scikit-learn's :class:`~sklearn.cluster.KMeans`.

    An iteration costs one of k-means and, for a statement, O(n_clusters) a few times. Memory grows
    by a table of squared distances, samples named in statements × `n_clusters`, and by some
    80 bytes per pair; groups of mutually apart samples are written out pair by pair.

    `predict` does not re-apply statements: new rows go to the nearest centre.

    References
    ----------
    .. [1] S. Basu, A. Banerjee and R. J. Mooney, "Active Semi-Supervision for Pairwise Constrained
       Clustering", SDM 2004. :doi:`10.1137/1.9781611972740.31`
    .. [2] M. Bilenko, S. Basu and R. J. Mooney, "Integrating Constraints and Metric Learning in
       Semi-Supervised Clustering", ICML 2004. :doi:`10.1145/1015330.1015360`

    Examples
    --------
    >>> from conclust import Constraints, PCKMeans
    >>> X = [[0.0], [1.0], [4.0], [10.0], [11.0]]
    >>> PCKMeans(2, random_state=0).fit(X).labels_[2:4]
    array([0, 1], dtype=int32)
    >>> known = Constraints(must_link=[(2, 3)], cannot_link=[(1, 2)])
    >>> model = PCKMeans(2, random_state=0).fit(X, constraints=known)
    >>> bool(model.labels_[2] == model.labels_[3])
    True
    >>> model.report_
    ConstraintReport(2 of 2 kept: 1 of 1 must-link, 1 of 1 cannot-link)
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="soft",
        when="some statements may be wrong",
        weights="weights",
        cosine=True,
        blocks=blocks.open,
        names=(Named("pckmeans", "weighs statements against distances"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "init": [
            StrOptions({"neighborhoods", "k-means++", "k-means||", "random"}),
            callable,
            "array-like",
        ],
        "seeds": SEEDS,
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
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
        penalty: Any = "auto",
        init: Any = "neighborhoods",
        seeds: str | None = "auto",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        size_min: Any = None,
        size_max: Any = None,
        outliers: Any = None,
        metric: str = "euclidean",
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.penalty = penalty
        self.init = init
        self.seeds = seeds
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
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
    ) -> "PCKMeans":
        """Cluster X, heeding the statements.

        Parameters
        ----------
        X : array-like, CSR matrix, data frame or Blocks of shape (n_samples, n_features)
            Blocks: see :func:`conclust.blocks.open`. A dask array or data frame and a Ray dataset
            are opened so.
        y : array-like of shape (n_samples,), default=None
            Class of each row, -1, None or NaN where it is not known; see `seeds`.
        constraints : Constraints, default=None
            Must-links and cannot-links.
        sample_weight : array-like of shape (n_samples,), default=None
            1 for each sample by default.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InfeasibleSizesError
            When no assignment has the sizes asked for.
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = weights_of_rows(sample_weight, X)
        random_state = check_random_state(self.random_state)
        tol = scaled_tolerance(X, self.tol)
        constraints = constraints[constraints.kinds != "relative"]
        X, mean, spherical = centered(X, metric=self.metric)
        told = None if sample_weight is None else weight

        def centers(
            links: Links, generator: np.random.RandomState, number: int, share: float = 0.0
        ) -> np.ndarray:
            init = init_of_start(self.init, number, share)
            # Wrong must-links make poor seeds, and two rows are few to be one.
            if isinstance(init, str) and init == "neighborhoods" and number % 2:
                init = "k-means++"
            return start_centers(X, links, self.n_clusters, init, weight, generator, number, mean)

        def best_run(
            known: Constraints,
            price: float,
            n_init: int,
            seed: int,
            *,
            share: float = 0.0,
            from_centers: np.ndarray | None = None,
            improve: bool = False,
        ) -> Trimmed[Run]:
            sizes = sizes_of(self.size_min, self.size_max, self.n_clusters, told, X.shape[0], share)
            links = link_rows(known)
            generator = np.random.RandomState(seed)
            n = n_starts(self.init, n_init) if from_centers is None else 1
            seeds = generator.randint(2**31 - 1, size=n)
            how: dict[str, Any] = {"max_iter": self.max_iter, "tol": tol}
            with SoftLloyd(
                X,
                links,
                price,
                self.n_clusters,
                sample_weight=told,
                spherical=spherical,
                sizes=sizes,
                outlier_share=share,
            ) as loop:

                def start(number: int, on_round: Any) -> Run:
                    if from_centers is not None:
                        return loop.run(from_centers, on_round=on_round, **how)
                    first = centers(links, np.random.RandomState(seeds[number]), number, share)
                    if isinstance(self.init, str):
                        first = loop.matched(first)
                    return loop.run(first, on_round=on_round, **how)

                # Without statements this is scikit-learn's KMeans; single moves know no rows set
                # aside.
                goes_on = improve and len(links) and not share
                run = best_improved(
                    start,
                    n,
                    lambda run: (run.objective,),
                    loop.improver(generator, **how) if goes_on else None,
                    what=type(self).__name__,
                    verbose=self.verbose,
                )
                is_asked = improve and self.outliers == "auto"
                return Trimmed(run, far_rows(loop.rows, run.centers) if is_asked else None)

        seed = random_state.randint(2**31 - 1)
        if self.penalty != "auto":
            self.penalty_ = float(self.penalty)
        elif not len(constraints):
            self.penalty_ = 0.0
        else:
            generator = np.random.RandomState(random_state.randint(2**31 - 1))
            first = centers(link_rows(constraints), generator, 0)
            self.penalty_ = choose_price(
                price_by_regret(X, first, weight, spherical=spherical),
                constraints,
                lambda *case: best_run(*case, share=first_share(self.outliers)).run.labels,
                generator,
            )

        def trimmed(share: float, from_centers: np.ndarray | None = None) -> Trimmed[Run]:
            case = constraints, self.penalty_, self.n_init, seed
            return best_run(*case, share=share, from_centers=from_centers, improve=True)

        best, self.outlier_share_ = best_trimmed(trimmed, self.outliers, told)
        warn_if_degenerate(best.labels, self.n_clusters, "Lower n_clusters or the penalty.")
        self.labels_ = best.labels
        self.cluster_centers_ = best.centers + mean
        self.inertia_, self.objective_ = best.inertia, best.objective
        self.n_iter_, self.converged_ = len(best.history), best.converged
        self.history_, self.report_ = best.history, constraints.report(best.labels)
        return self

    def _resumed(self, X: Any, labels: np.ndarray, centers: np.ndarray) -> "PCKMeans":
        inner: PCKMeans = super()._resumed(X, labels, centers)
        if self.penalty_ > 0:  # found with fewer statements, and good enough for more
            inner.penalty = self.penalty_
        return inner
