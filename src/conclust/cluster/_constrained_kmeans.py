"""ConstrainedKMeans: the modified COP-Kmeans of Okabe & Yamada (2012a): it never fails."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from conclust import blocks
from conclust._arrays import Matrix
from conclust._declare import PAIRS, Named, Takes
from conclust._kernels.place_in_order import count_violated, place_pairs
from conclust._known_labels import SEEDS
from conclust._living import Living, told
from conclust._lloyd.best import best_of_starts, n_starts, warn_if_degenerate
from conclust._lloyd.bookmark import Bookmark, Standing, set_state, state_of
from conclust._lloyd.rows import open_rows
from conclust._lloyd.start import centered, init_centers, scaled_tolerance
from conclust._lloyd.sweep import Assigned, on_sphere
from conclust._pairs import named_rows
from conclust._placement.in_order import Plan, descending, plan_of
from conclust._progress import Rounds
from conclust._sklearn import (
    Interval,
    StrOptions,
    fit_context,
)
from conclust._validation import METRICS, check_inputs, weights_of_rows
from conclust.cluster._by_centers import CentersMixin
from conclust.constraints import Constraints

# Part of the inertia that counts as a fall where new orders of the pairs make it go up and down.
FALL = 1e-3


class Round(NamedTuple):
    """What one iteration did."""

    inertia: float  # weighted sum of squared distances to the centres the rows were assigned to
    n_changed: int  # rows whose cluster is not the one they had
    n_violated: int  # pairs broken by the assignment
    center_shift: float  # Σ ‖new centre − old centre‖²
    seconds: float


class Run(NamedTuple):
    """The result of one run, in the coordinates of the X it was given."""

    labels: np.ndarray  # (n_samples,) int32
    centers: np.ndarray  # (n_clusters, n_features)
    inertia: float
    n_iter: int
    converged: bool  # False: the last iteration still moved rows and centres
    history: list[Round]


def constrained_kmeans(
    X: Matrix,
    pairs: np.ndarray,
    sign: np.ndarray,
    priority: np.ndarray | None,
    centers_init: np.ndarray,
    *,
    sample_weight: np.ndarray | None = None,
    max_iter: int = 300,
    tol: float = 0.0,
    order: Literal["given", "random"] = "given",
    spherical: bool = False,
    random_state: int | np.random.RandomState | None = None,
    n_threads: int | None = None,
    on_round: Callable[[Round], object] | None = None,
    standing: Standing | None = None,
    on_standing: Callable[[Standing], object] | None = None,
) -> Run:
    """Run the modified COP-Kmeans (Algorithm 2 of [1]_): k-means that heeds pairs, and never fails.

    In each iteration the rows named in pairs are placed first, pair after pair in descending
    priority: each gets its nearest centre as far as its pair and the rows placed before it allow.
    Then every other row goes to its nearest centre, and the centres move to the means.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), float32 or float64
        C-contiguous, or a source of rows: see `open_rows`. Pass dense data through `centered`
        first, for accuracy.
    pairs : ndarray of shape (n_pairs, 2)
        Row numbers.
    sign : ndarray of shape (n_pairs,)
        +1 for a must-link, −1 for a cannot-link.
    priority : ndarray of shape (n_pairs,) or None
        Pairs are visited in descending priority, ties (and None) in the order given.
    centers_init : ndarray of shape (n_clusters, n_features)
        In the coordinates of X; left as they are.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weight of each row in the means and in the inertia.
    max_iter : int, default=300
        Iterations of one start at most.
    tol : float, default=0.0
        Stop once Σ ‖new centre − old centre‖² is at most this. Absolute: scale it beforehand.
    order : {"given", "random"}, default="given"
        "random" ignores priorities and draws a new order in each iteration, as in [2]_.
    spherical : bool, default=False
        Rows have unit length, and so shall centres.
    random_state : int, RandomState or None, default=None
        For ``order="random"``.
    n_threads : int, default=None
        None for as many as scikit-learn would use.
    on_round : callable, default=None
        Called with the `Round` of each iteration.
    standing : Standing, default=None
        Where a run with the same arguments was left off: go on from there.
    on_standing : callable, default=None
        Called after each iteration with what `standing` takes.

    Returns
    -------
    Run

    Notes
    -----
    Stops when no label changes, when the centres stay within ``tol``, when labels come
    back (with conflicting pairs they may cycle), or after ``max_iter`` iterations. With
    ``order="random"`` the rows in pairs may change for ever: there it stops when no other row
    changes and the inertia does not fall by a thousandth. Unless no label changed, the rows are
    assigned once more (in the last order) so that labels agree with the centres returned. A cluster
    left empty restarts at the row farthest from its own centre. Without pairs this is
    scikit-learn's ``KMeans(algorithm="lloyd")`` with the same start: same labels, inertia, centres
    and number of iterations.

    Beside plain k-means an iteration costs O(n_pairs), and O(n_features) for each row that is not
    placed at its nearest centre. Memory grows by some 50 bytes per row named in pairs.

    References
    ----------
    .. [1] M. Okabe and S. Yamada (2012a). Clustering by learning constraints priorities. ICDM.
    .. [2] M. Okabe and S. Yamada (2012b). Clustering with extended constraints by co-training.
       WI-IAT.
    """
    with ConstrainedLloyd(
        X,
        pairs,
        sign,
        len(centers_init),
        sample_weight=sample_weight,
        spherical=spherical,
        n_threads=n_threads,
    ) as rows:
        return rows.run(
            priority,
            centers_init,
            max_iter=max_iter,
            tol=tol,
            order=order,
            random_state=random_state,
            on_round=on_round,
            standing=standing,
            on_standing=on_standing,
        )


class ConstrainedLloyd:
    """`constrained_kmeans` again and again on the same rows and pairs: buffers are kept.

    A context manager; the parameters, here and of `run`, are those of `constrained_kmeans`.
    """

    def __init__(
        self,
        X: Matrix,
        pairs: np.ndarray,
        sign: np.ndarray,
        n_clusters: int,
        *,
        sample_weight: np.ndarray | None = None,
        spherical: bool = False,
        n_threads: int | None = None,
    ):
        linked, self._pairs = named_rows(np.asarray(pairs).reshape(-1, 2), np.uint32)
        self._sign = np.asarray(sign).astype(np.int8)
        self._placed = np.empty(len(linked), dtype=np.int32)
        self._dtype, self._spherical = X.dtype, spherical
        self._rows = open_rows(
            X,
            n_clusters,
            sample_weight=sample_weight,
            linked=linked,
            spherical=spherical,
            n_threads=n_threads,
        )

    def __enter__(self) -> Self:
        self._rows.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._rows.__exit__(*exception)

    def run(
        self,
        priority: np.ndarray | None,
        centers_init: np.ndarray,
        *,
        max_iter: int = 300,
        tol: float = 0.0,
        order: Literal["given", "random"] = "given",
        random_state: int | np.random.RandomState | None = None,
        on_round: Callable[[Round], object] | None = None,
        standing: Standing | None = None,
        on_standing: Callable[[Standing], object] | None = None,
    ) -> Run:
        """Run once from the centres given."""
        self._rows.forget()
        # Sorted once: Algorithm 2 repeats its line 5, but priorities do not change within a run.
        visits = descending(priority, len(self._pairs))
        plan = plan_of(self._pairs, self._sign, visits, len(self._placed))
        centers = np.array(centers_init, dtype=self._dtype, order="C")
        if self._spherical:
            centers = on_sphere(centers, centers)
        stand = Standing(centers) if standing is None else standing
        rounds = Rounds(Round, on_round, history=stand.history)
        stand.history = rounds.history
        if order == "random":
            generator = check_random_state(random_state)
            self._reorder(stand, rounds, max_iter, tol, generator, on_standing)
        else:
            self._repeat(stand, plan, rounds, max_iter, tol, on_standing)
        inertia, history = self._rows.inertia(stand.centers), rounds.history
        labels = self._rows.labels
        return Run(labels, stand.centers, inertia, len(history), stand.converged, history)

    def _repeat(
        self,
        stand: Standing,
        plan: Plan,
        rounds: Rounds[Round],
        max_iter: int,
        tol: float,
        on_standing: Callable[[Standing], object] | None,
    ) -> None:
        """Iterate in one order until labels or centres stay, or labels come back."""
        rows, pairs, sign, placed = self._rows, self._pairs, self._sign, self._placed
        if stand.before is not None:
            self._assign(stand.before, plan)  # the labels it was left off with
        while len(rounds.history) < max_iter and not (stand.converged or stand.cycles):
            if rows.is_small:
                # Whole iterations in one call; it comes back where a cluster is empty.
                left = max_iter - len(rounds.history)
                records, stand.seen, is_empty = rows.iterate(
                    stand.centers, plan, pairs, sign, placed, left, tol, stand.seen
                )
                *whole, last = records.tolist()
                if not is_empty:  # the rows are assigned to the last centres already
                    whole.append(last)
                rounds.note_all([(i, int(n), int(broken), s) for i, n, broken, s in whole])
                if not is_empty:
                    stand.converged = last[1] == 0 or last[3] <= tol
                    return
                stand.seen.pop()  # what follows does not follow from these labels alone
                assigned = Assigned(int(last[1]), last[0])
            else:
                assigned = self._assign(stand.centers, plan)
            filled = rows.all_filled
            self._update(stand, assigned, rounds, tol)
            if len(placed) and filled:
                # The means follow from the labels: those met before would come back for ever.
                met = rows.fingerprint()
                stand.cycles = met in stand.seen
                stand.seen.append(met)
            if on_standing is not None:
                on_standing(stand)
        if not stand.unchanged:
            self._assign(stand.centers, plan)

    def _reorder(
        self,
        stand: Standing,
        rounds: Rounds[Round],
        max_iter: int,
        tol: float,
        generator: np.random.RandomState,
        on_standing: Callable[[Standing], object] | None,
    ) -> None:
        """Draw an order in each iteration, until only rows in pairs change and nothing is won."""
        if stand.before is not None and stand.drawn is not None:
            set_state(generator, stand.drawn)
            plan = self._drawn_plan(generator)
            self._assign(stand.before, plan)  # the labels it was left off with
        lowest = min((round.inertia for round in rounds.history), default=np.inf)
        while len(rounds.history) < max_iter and not stand.converged:
            if on_standing is not None:
                stand.drawn = state_of(generator)
            plan = self._drawn_plan(generator)
            assigned = self._assign(stand.centers, plan)
            self._update(stand, assigned, rounds, tol)
            falls = assigned.inertia < lowest * (1 - FALL)
            lowest = min(lowest, assigned.inertia)
            stand.converged = stand.converged or not (falls or self._rows.n_free_changed)
            if on_standing is not None:
                on_standing(stand)
        if not stand.unchanged:
            self._assign(stand.centers, plan)

    def _drawn_plan(self, generator: np.random.RandomState) -> Plan:
        visits = generator.permutation(len(self._pairs)).astype(np.uint32)
        return plan_of(self._pairs, self._sign, visits, len(self._placed))

    def _update(
        self, stand: Standing, assigned: Assigned, rounds: Rounds[Round], tol: float
    ) -> None:
        """Put the centres at the means, keep the record, and see whether that is all."""
        stand.before, stand.centers = stand.centers, self._rows.means(stand.centers)
        step = (stand.centers - stand.before).ravel()
        shift = float(step @ step)
        pairs = self._pairs
        n_broken = count_violated(pairs, self._sign, self._placed) if len(pairs) else 0
        rounds.note(assigned.inertia, assigned.n_changed, n_broken, shift)
        stand.unchanged = assigned.n_changed == 0
        stand.converged = stand.unchanged or shift <= tol

    def _assign(self, centers: np.ndarray, plan: Plan) -> Assigned:
        rows, placed = self._rows, self._placed
        swept = rows.sweep(centers)
        if not len(placed):
            return swept
        place_pairs(rows.nearest, rows.second, rows.nearest_distance, plan, placed)
        moved = rows.add(placed, centers)
        return Assigned(swept.n_changed + moved.n_changed, swept.inertia + moved.inertia)


class ConstrainedKMeans(Living, CentersMixin):
    """K-means that heeds must-links and cannot-links by priority, and never fails.

    In each iteration the linked rows are placed first, pair after pair in descending priority:
    each gets its nearest centre as far as its pair and the rows placed before it allow. Then every
    other row goes to its nearest centre and the centres move to the means. Statements of high
    priority are likely to hold; a statement whose two rows were placed by earlier ones may break.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    init : {"k-means++", "k-means||", "random"}, array-like or callable, default="k-means++"
        As in scikit-learn's :class:`~sklearn.cluster.KMeans`. "k-means||" draws in a few passes
        over all rows, where k-means++ draws from a sample of those in blocks.
    seeds : {"auto", "hard", "soft", "init"} or None, default="auto"
        What the classes of some rows are, given as `y` to `fit`. "hard": bound to their clusters.
        "soft": statements like others. "init": places where clusters start, no more. None:
        ignored. "auto": "soft", but a `y` that leaves no row open is ignored, as scikit-learn's
        clusterers do.
    n_init : int, default=1
        Starts; the one that breaks the least weight is kept, the lowest inertia among equals.
    max_iter : int, default=300
        Iterations of one start at most.
    tol : float, default=None
        Stop when the centres move less than this, relative to the variance of X. By default
        scikit-learn's 1e-4 when there are no constraints, and 0 with them: Okabe & Yamada
        (2012a) stop only when no label changes.
    order : {"given", "random"}, default="given"
        Place pairs by descending priority (ties as given), or in a new random order in each
        iteration (Okabe & Yamada 2012b).
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
        Of a collection of an engine, one of that engine, not computed yet, as `predict` gives.
    inertia_ : float
        Weighted sum of squared distances of the rows to the centres of their clusters.
    n_iter_ : int
    converged_ : bool
        False when `max_iter` was reached, or when labels came back: with clashing statements they
        often cycle, which is normal.
    history_ : list of Round
        Inertia, rows that changed, pairs broken and shift of the centres in each iteration.
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
    COPKMeans : Keeps every statement, or says why it cannot.
    PCKMeans : Weighs broken statements against distances.

    Notes
    -----
    Without constraints this is scikit-learn's ``KMeans(algorithm="lloyd")`` with the same start.
    An iteration costs O(n_samples · n_clusters · n_features + n_pairs), as plain k-means does.

    References
    ----------
    M. Okabe and S. Yamada (2012a). Clustering by learning constraints priorities. ICDM.
    Algorithm 2.

    M. Okabe and S. Yamada (2012b). Clustering with extended constraints by co-training. WI-IAT.

    Examples
    --------
    >>> from conclust import ConstrainedKMeans, Constraints
    >>> X = [[0, 0], [0, 1], [4, 0], [4, 1]]
    >>> known = Constraints(must_link=[(0, 2)], cannot_link=[(0, 1)])
    >>> model = ConstrainedKMeans(n_clusters=2, random_state=0).fit(X, constraints=known)
    >>> model.report_
    ConstraintReport(2 of 2 kept: 1 of 1 must-link, 1 of 1 cannot-link)
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="by priority, never fails",
        when="some statements matter more, or it must be as fast as k-means",
        weights="priorities",
        cosine=True,
        blocks=blocks.open,
        # One start is the default of the class; other methods start ten times by themselves.
        names=(Named("ckm", "obeys statements by priority, never fails", {"n_init": 10}),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
        "seeds": SEEDS,
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "order": [StrOptions({"given", "random"})],
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
        n_init: int = 1,
        max_iter: int = 300,
        tol: float | None = None,
        order: Literal["given", "random"] = "given",
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
        self.order = order
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
        priority: Any = None,
        sample_weight: Any = None,
    ) -> "ConstrainedKMeans":
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
        priority : array-like of shape (len(constraints),), default=None
            Which statements are placed first; the weights of the constraints by default.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; None for 1 each.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = None if sample_weight is None else weights_of_rows(sample_weight, X)
        # Beside few features, arrays as long as the pairs are felt in the memory.
        pairs, sign, ranks = _visits(constraints, priority, n_samples=X.shape[0])
        tol = self.tol if self.tol is not None else (0.0 if len(pairs) else 1e-4)
        random_state = check_random_state(self.random_state)
        tol = scaled_tolerance(X, tol)
        data = centered(X, metric=self.metric)
        bookmark = Bookmark(random_state, Run, Round)

        def start(number: int, on_round: Any) -> Run:
            standing = bookmark.begin(number)
            return constrained_kmeans(
                data.X,
                pairs,
                sign,
                ranks,
                init_centers(
                    data.X, self.n_clusters, self.init, weight, random_state, mean=data.mean
                ),
                sample_weight=weight,
                max_iter=self.max_iter,
                tol=tol,
                order=self.order,
                spherical=data.spherical,
                random_state=random_state,
                on_round=on_round,
                standing=standing,
                on_standing=bookmark.note,
            )

        run = best_of_starts(
            start,
            n_starts(self.init, self.n_init),
            lambda run: (_violated_weight(constraints, run.labels), run.inertia),
            what=type(self).__name__,
            verbose=self.verbose,
            bookmark=bookmark,
        )
        self.cluster_centers_ = run.centers + data.mean
        self.labels_, self.inertia_ = run.labels, run.inertia
        self.n_iter_, self.converged_, self.history_ = run.n_iter, run.converged, run.history
        self.report_ = constraints.report(run.labels)
        warn_if_degenerate(run.labels, self.n_clusters)
        return self


def _visits(
    constraints: Constraints, priority: Any, n_samples: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Pairs, signs and priorities, in as few bytes as they need; None when all rank alike."""
    pairs, sign, ranks, statement = constraints.pairs()
    if priority is not None:
        ranks = _priorities(priority, constraints)[statement]
    small = pairs.astype(np.int32) if n_samples < 2**31 else pairs
    return small, sign, None if (ranks == ranks[:1]).all() else ranks


def _violated_weight(constraints: Constraints, labels: np.ndarray) -> float:
    pairs = constraints.pairs()
    return float(pairs.weight[pairs.violated(labels)].sum())


def _priorities(priority: Any, constraints: Constraints) -> np.ndarray:
    priority = np.asarray(priority, dtype=np.float64)
    if priority.shape != (len(constraints),):
        raise ValueError(
            f"priority has shape {priority.shape}, but there are {len(constraints)} statements; "
            "pass one number per statement, in the order of the constraints."
        )
    if np.isnan(priority).any():
        raise ValueError("priority holds NaN; pass one number per statement.")
    return priority
