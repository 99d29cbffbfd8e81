"""MiniBatchConstrainedKMeans: k-means in small batches, statements between rows of any of them."""

import math
import time
import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from conclust import blocks
from conclust._arrays import IntArray, Matrix, is_source
from conclust._declare import PAIRS, Named, Takes
from conclust._lazy_labels import LazyLabels
from conclust._lloyd.best import warn_if_degenerate
from conclust._lloyd.rows import open_rows
from conclust._lloyd.start import centered, init_centers, scaled_tolerance
from conclust._pairs import SignedPairs
from conclust._placement.in_turn import Turns
from conclust._progress import Rounds, progress
from conclust._sklearn import Interval, StrOptions, fit_context, unchecked_distances
from conclust._threads import one_blas_thread
from conclust._validation import (
    as_rows,
    check_enough_rows,
    check_inputs,
    check_rows,
    warn_of_ignored,
    weights_of_rows,
)
from conclust.cluster._by_centers import CentersMixin
from conclust.constraints import ConstraintReport, Constraints
from conclust.exceptions import ConstraintsIgnoredWarning

# Rows that are drawn and gathered at a time, and numbers in them at most: one pass over a source
# that knows no way to single rows then serves many batches.
AHEAD_ROWS, AHEAD_NUMBERS = 1 << 16, 1 << 22
# A start is drawn from so many batches' worth of rows.
START_BATCHES = 3
# Batches over which the inertia is smoothed at most. scikit-learn smooths over as many as there are
# in a pass, and hardly stops before its end, however many rows there are.
SMOOTHED = 100
# Rows, for each cluster, after which starved centres are looked for again.
LOOK = 10
# Share of a batch's mass below which a cluster has got nothing but rounding.
ROUNDING = 1e-9


class Round(NamedTuple):
    """What one batch did."""

    inertia: float  # squared distance to the centres, per unit of weight, before they moved
    smoothed: float  # its moving average, which tells when to stop
    center_shift: float  # Σ ‖new centre − old centre‖²
    n_reassigned: int  # centres put elsewhere, for they had hardly any rows
    seconds: float


class Step(NamedTuple):
    """The rows of one batch, and what became of the centres."""

    labels: np.ndarray  # (n_rows,) int32
    inertia: float  # per unit of weight
    center_shift: float
    n_reassigned: int


class LinkedRows:
    """The rows that statements name, kept as they come by."""

    def __init__(self, pairs: SignedPairs):
        self.turns = Turns(pairs)
        self._X: Matrix | None = None  # in the order in which they came
        self._weight = np.empty(0)
        self._at = np.full(len(self.turns.rows), -1)  # where each linked row is in there

    def __len__(self) -> int:
        return len(self.turns.rows)

    @property
    def is_kept(self) -> np.ndarray:
        """(n_linked,) which of them have come by."""
        return self._at >= 0

    def tell(self, pairs: SignedPairs) -> None:
        """Take all statements anew; rows that have come by stay."""
        before, at = self.turns, self._at
        self.turns = Turns(pairs)
        self._at = np.full(len(self.turns.rows), -1)
        self._at[self.turns.positions(before.rows)] = at

    def keep(self, rows: IntArray, X: Matrix, weight: np.ndarray | None) -> None:
        """Keep those of these rows that statements name, and that were not kept before."""
        positions = self.turns.positions(rows)
        here = np.flatnonzero((positions >= 0) & ~np.append(self.is_kept, True)[positions])
        here = here[np.unique(positions[here], return_index=True)[1]]
        if not len(here):
            return
        self._at[positions[here]] = len(self._weight) + np.arange(len(here))
        self._X = _below(self._X, X[here])
        own = np.ones(len(here)) if weight is None else weight[here].astype(np.float64)
        self._weight = np.append(self._weight, own)

    def labels(self, positions: IntArray, centers: np.ndarray) -> np.ndarray:
        """Clusters of rows that have come by, (n_positions,) int32, as all statements want it."""
        assert self._X is not None
        labels = np.empty(len(self), dtype=np.int32)
        for tied in self.turns.tied_to(positions):
            here = tied[self.is_kept[tied]]
            at = self._at[here]
            distances = unchecked_distances(self._X[at], centers, squared=True)
            labels[here] = self.turns.place(here, distances, self._weight[at])
        return labels[positions]


def _below(X: Matrix | None, new: Matrix) -> Matrix:
    if X is None:
        return new
    return sp.vstack([X, new], format="csr") if sp.issparse(X) else np.concatenate([X, new])


class MiniBatches:
    """Centres that follow batch after batch.

    Parameters
    ----------
    centers : ndarray of shape (n_clusters, n_features)
    linked : LinkedRows
    reassignment_ratio : float

    Notes
    -----
    A centre is the mean of all rows that were ever put into its cluster, each as often as it came
    (the rule of scikit-learn's ``MiniBatchKMeans``), so batches move it less and less.
    """

    def __init__(self, centers: np.ndarray, linked: LinkedRows, reassignment_ratio: float):
        self.centers, self.linked = centers, linked
        self.counts = np.zeros(len(centers))
        self._ratio, self._n_since = reassignment_ratio, 0

    def step(
        self,
        X: Matrix,
        rows: IntArray,
        weight: np.ndarray | None,
        random_state: np.random.RandomState,
    ) -> Step:
        """Put the rows of a batch into clusters and move the centres.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        rows : ndarray of shape (n_rows,)
            Their numbers; linked ones are kept already.
        weight : ndarray of shape (n_rows,) or None
        random_state : RandomState
            Draws the rows to which starved centres go.
        """
        positions = self.linked.turns.positions(rows)
        inside = np.flatnonzero(positions >= 0)
        with open_rows(X, len(self.centers), sample_weight=weight, linked=inside) as near:
            inertia = near.sweep(self.centers).inertia
            if len(inside):
                placed = self.linked.labels(positions[inside], self.centers)
                inertia += near.add(placed, self.centers).inertia
            sums, masses = near.totals
        mass = float(masses.sum())
        before, self.centers = self.centers, self._moved(sums, masses)
        n_reassigned = self._reassign(X, random_state)
        shift = (self.centers - before).ravel()
        return Step(near.labels, inertia / mass, float(shift @ shift), n_reassigned)

    def _moved(self, sums: np.ndarray, masses: np.ndarray) -> np.ndarray:
        gets = masses > ROUNDING * masses.sum()
        before = self.counts[gets, np.newaxis]
        self.counts[gets] += masses[gets]
        centers = self.centers.copy()
        centers[gets] = (before * centers[gets] + sums[gets]) / self.counts[gets, np.newaxis]
        return centers

    def _reassign(self, X: Matrix, random_state: np.random.RandomState) -> int:
        """Put centres that have hardly any rows on rows of the batch; as scikit-learn does it."""
        self._n_since += X.shape[0]
        if self.counts.all() and self._n_since < LOOK * len(self.counts):
            return 0
        self._n_since = 0
        most = X.shape[0] // 2
        starved = np.flatnonzero(self.counts < self._ratio * self.counts.max())
        starved = np.sort(starved[np.argsort(self.counts[starved], kind="stable")[:most]])
        if len(starved):
            drawn = X[random_state.choice(X.shape[0], len(starved), replace=False)]
            self.centers[starved] = drawn.toarray() if sp.issparse(drawn) else drawn
            # Not so few that they would be put elsewhere at once.
            self.counts[starved] = np.delete(self.counts, starved).min()
        return len(starved)


class Draws:
    """Batches of rows drawn from all, heavy rows more often; with replacement.

    Where a batch has room for all rows, it is all of them, each once.
    """

    def __init__(
        self,
        X: Matrix,
        weight: np.ndarray | None,
        batch_size: int,
        random_state: np.random.RandomState,
    ):
        self.X, self._random_state = X, random_state
        self._weight = weight
        self.batch_size = min(batch_size, X.shape[0])
        self._shares = None if weight is None else np.cumsum(weight, dtype=np.float64)

    @property
    def takes_all(self) -> bool:
        """Whether each batch is all rows."""
        return self.batch_size == self.X.shape[0]

    def rows(self, size: int) -> IntArray:
        """Numbers of rows, (size,)."""
        share, n_samples = self._random_state.random_sample(size), self.X.shape[0]
        if self._shares is None:
            found = (share * n_samples).astype(np.int64)
        else:
            found = self._shares.searchsorted(share * self._shares[-1], side="right")
        return np.minimum(found, n_samples - 1)

    def sample(self, size: int) -> Matrix:
        """Rows to begin with; all of them where they are not more."""
        n_samples = self.X.shape[0]
        return self.X[np.arange(n_samples) if size >= n_samples else self.rows(size)]

    def batches(self, n_batches: int) -> Iterator[tuple[Matrix, IntArray, np.ndarray | None]]:
        """Rows, their numbers, their weights (None: all alike)."""
        if self.takes_all:
            every = np.arange(self.X.shape[0])
            whole = self.X[every]
            for _ in range(n_batches):
                yield whole, every, self._weight
            return
        size = self.batch_size
        n_rows = min(AHEAD_ROWS, AHEAD_NUMBERS // self.X.shape[1])
        ahead = max(n_rows // size, 1)
        for first in range(0, n_batches, ahead):
            rows = self.rows(min(ahead, n_batches - first) * size)
            found = self.X[rows]
            for at in range(0, len(rows), size):
                yield found[at : at + size], rows[at : at + size], None


class Patience:
    """When to stop: the moving average of the inertia has not fallen for so many batches."""

    def __init__(self, share: float, max_no_improvement: int | None):
        self._share, self._most = min(share, 1.0), max_no_improvement
        self._lowest, self._n_batches, self._n_waited = np.inf, 0, 0
        self.smoothed = np.inf

    def is_over(self, inertia: float) -> bool:
        """Take note of a batch; the first one tells of the start only, and is forgotten."""
        self._n_batches += 1
        if self._n_batches <= 2:
            self.smoothed = inertia
        else:
            self.smoothed += self._share * (inertia - self.smoothed)
        if self._n_batches == 1:
            return False
        self._n_waited = 0 if self.smoothed < self._lowest else self._n_waited + 1
        self._lowest = min(self._lowest, self.smoothed)
        return self._most is not None and self._n_waited >= self._most


class MiniBatchConstrainedKMeans(LazyLabels, CentersMixin):
    r"""K-means in small batches of rows, with statements between rows of different batches.

    A batch is assigned to the present centres, and each centre moves to the mean of all rows it
    was ever given. Rows that statements name are kept when they come by; a batch with one of them
    is assigned with all rows that statements tie it to, whichever batch they came in. For rows
    that come as a stream (:meth:`partial_fit`), and for far more rows than a few passes can be
    made over (:meth:`fit`).

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    init : {"k-means++", "random"}, array-like or callable, default="k-means++"
        As in scikit-learn's :class:`~sklearn.cluster.KMeans`; drawn from three batches' worth of
        rows, by :meth:`partial_fit` from the first batch.
    n_init : int, default=3
        Starts that `fit` draws; the one nearest to as many other rows is taken.
    max_iter : int, default=100
        As many batches at most as so many passes over all rows would be.
    batch_size : int, default=1024
        Rows in a batch of `fit`.
    tol : float, default=0.0
        Stop when a batch moves the centres by less, relative to the variance of X. By default only
        `max_no_improvement` counts.
    max_no_improvement : int or None, default=10
        Stop when the inertia, smoothed over a pass but at most 100 batches, has not fallen for so
        many of them. None: never.
    reassignment_ratio : float, default=0.01
        A centre with less than this share of the rows of the largest cluster is put elsewhere.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Of starts, batches and centres put elsewhere.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,), int32
        Of all rows after `fit`, of the last batch after `partial_fit`.
        Of a collection of an engine, one of that engine, not computed yet, as `predict` gives.
    inertia_ : float
        Weighted sum of squared distances of the rows to the centres of their clusters; after
        `partial_fit` of the last batch, before the centres moved.
    n_iter_ : int
        Passes over all rows that the batches of `fit` amount to.
    n_steps_ : int
        Batches so far.
    n_rows_seen_ : int
        The number that the next row gets: one more than the largest so far.
    converged_ : bool
        False when `fit` reached `max_iter`.
    history_ : list of Round
        Inertia, its moving average (in `fit`), shift of the centres and centres put elsewhere, for
        each batch.
    report_ : ConstraintReport
        Which statements hold: after `fit` of all; after `partial_fit` of those whose rows have all
        come by, under the present centres. Made when asked for.
    constraints_ : Constraints
        All statements told so far.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    ConstrainedKMeans : All rows in each iteration; the answer to prefer where time allows.

    Notes
    -----
    What is promised of statements, within a batch, across batches, and in `labels_` of `fit`:

    * They are taken in descending weight, ties in the order told; one that contradicts those taken
      before is left out. The rest cannot contradict each other.
    * Rows joined by must-links taken always share a cluster: the one where the sum of weighted
      squared distances of those that have come by is least.
    * Groups to be kept apart take their clusters in the order of their heaviest cannot-link: the
      cheapest one that no group apart from it holds. Only where all clusters are held a cannot-link
      breaks; so none does that ties a group with fewer than `n_clusters` others. Of two groups that
      come to their turn together the one chooses first to which its second choice costs more.

    A row counts in the centres each time it comes, and not when it only helps to place others.
    Without statements :meth:`partial_fit` is that of scikit-learn's
    :class:`~sklearn.cluster.MiniBatchKMeans`: the same batches give the same centres. Where one
    batch has room for all rows, the first one is an iteration of k-means.

    A batch of b rows costs O(b k d), and as much for each linked row tied to one of them through
    statements; telling new ones O(m log m) for all m told. Memory: the linked rows, and in `fit`
    65 536 rows drawn ahead and 4 bytes per row for the labels, of which one pass is made at the
    end. Batches of `fit` are drawn with replacement, heavy rows more often.

    What :class:`ConstrainedKMeans` has and this has not: `metric` (bring rows to unit length first,
    which is near to the cosine; centres are not brought there), labels known of some rows as `y`,
    which is ignored (``constraints=Constraints.from_labels(y)`` says the same), and `update`
    (:meth:`partial_fit` goes on with new rows and statements).

    References
    ----------
    D. Sculley (2010). Web-scale k-means clustering. WWW, 1177-1178.

    Examples
    --------
    >>> from conclust import Constraints, MiniBatchConstrainedKMeans
    >>> model = MiniBatchConstrainedKMeans(2, init=[[0.0], [8.0]])
    >>> told = Constraints(must_link=[(1, 4)], cannot_link=[(3, 4)])  # row 4 is yet to come
    >>> model.partial_fit([[0.0], [1.0], [8.0], [9.0]], constraints=told).labels_.tolist()
    [0, 0, 1, 1]
    >>> model.partial_fit([[6.0], [10.0]]).labels_.tolist()
    [0, 1]
    >>> model.report_
    ConstraintReport(2 of 2 kept: 1 of 1 must-link, 1 of 1 cannot-link)
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="must-links hard, cannot-links by priority, never fails",
        when="rows come in batches, or there are too many to look at all in each iteration",
        weights="priorities",
        blocks=blocks.open,
        names=(Named("minibatch", "k-means in small batches, obeys statements by priority"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_no_improvement": [Interval(Integral, 1, None, closed="left"), None],
        "reassignment_ratio": [Interval(Real, 0, 1, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    _report: ConstraintReport | None

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int = 3,
        max_iter: int = 100,
        batch_size: int = 1024,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        reassignment_ratio: float = 0.01,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.reassignment_ratio = reassignment_ratio
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
    ) -> "MiniBatchConstrainedKMeans":
        """Cluster the rows of X, from batches drawn among them.

        Parameters
        ----------
        X : {array-like, sparse matrix, Blocks} of shape (n_samples, n_features)
            Blocks: see :func:`conclust.blocks.open`; the answer is that of the same rows in memory.
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Must-links and cannot-links; their weights are priorities.
        sample_weight : array-like of shape (n_samples,), default=None
            A row is drawn so much more often.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = None if sample_weight is None else weights_of_rows(sample_weight, X)
        random_state = check_random_state(self.random_state)
        tol = scaled_tolerance(X, self.tol)
        data = centered(X)
        draws = Draws(data.X, weight, self.batch_size, random_state)
        linked = LinkedRows(constraints.pairs())
        named = linked.turns.rows
        linked.keep(named, data.X[named], None if weight is None else weight[named])
        with one_blas_thread():
            centers = self._best_start(draws, data.mean, random_state)
            model = MiniBatches(centers, linked, self.reassignment_ratio)
            history, self.converged_ = self._run(model, draws, tol, random_state)
        labels, self.inertia_ = _assigned(data.X, weight, model)
        self._batches, self._origin, self._random_state = model, data.mean, random_state
        self.cluster_centers_ = (model.centers + data.mean).astype(X.dtype, copy=False)
        self.labels_, self.constraints_ = labels, constraints
        self._report = constraints.report(labels)
        self.history_, self.n_steps_ = history, len(history)
        self.n_iter_ = math.ceil(len(history) * draws.batch_size / X.shape[0])
        self.n_rows_seen_ = X.shape[0]
        warn_if_degenerate(labels, self.n_clusters)
        self._keep_labels(X)
        return self

    def _best_start(
        self, draws: Draws, mean: np.ndarray, random_state: np.random.RandomState
    ) -> np.ndarray:
        """The start whose centres are nearest to rows it was not drawn from."""
        size = START_BATCHES * max(draws.batch_size, self.n_clusters)
        is_drawn = isinstance(self.init, str) or callable(self.init)
        starts = [
            init_centers(
                draws.sample(size), self.n_clusters, self.init, None, random_state, mean=mean
            )
            for _ in range(self.n_init if is_drawn else 1)
        ]
        if len(starts) == 1:
            return starts[0]
        others = draws.sample(size)
        cost = [unchecked_distances(others, one, squared=True).min(axis=1).sum() for one in starts]
        return starts[int(np.argmin(cost))]

    def _run(
        self, model: MiniBatches, draws: Draws, tol: float, random_state: np.random.RandomState
    ) -> tuple[list[Round], bool]:
        n_samples, size = draws.X.shape[0], draws.batch_size
        n_batches = max(self.max_iter * n_samples // size, 1)
        share = max(2 * size / (n_samples + 1), 2 / (SMOOTHED + 1))
        patience = Patience(share, self.max_no_improvement)
        with progress(self.verbose, type(self).__name__, n_batches) as show:
            rounds = Rounds(Round, lambda record: show(record, advance=1))
            for X, rows, weight in draws.batches(n_batches):
                step = model.step(X, rows, weight, random_state)
                is_over = patience.is_over(step.inertia)
                rounds.note(step.inertia, patience.smoothed, step.center_shift, step.n_reassigned)
                if is_over or 0 < step.center_shift <= tol:
                    return rounds.history, True
        return rounds.history, False

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Constraints | None = None,
        rows: Any = None,
        sample_weight: Any = None,
    ) -> "MiniBatchConstrainedKMeans":
        """Go on with one batch of rows; the first one is also where the centres start.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            At least `n_clusters` rows in the first batch.
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Statements beside those told before, about rows by their numbers: of this batch, of
            later ones, and of earlier ones that statements have named before they came. Others
            have passed and are not kept: pass them once more, with their numbers.
        rows : array-like of shape (n_rows,), default=None
            Their numbers. By default they are counted on: the first row of the first batch is 0.
        sample_weight : array-like of shape (n_rows,), default=None
            What each row counts.

        Returns
        -------
        self
            The fitted estimator.
        """
        if is_source(X := as_rows(self, X)):
            raise TypeError(
                f"X is {X!r}, and partial_fit takes one batch at a time: pass it to fit, or go "
                "over it with `for start, batch in X.read(): model.partial_fit(batch)`."
            )
        is_first = not hasattr(self, "cluster_centers_")
        X = check_rows(self, X, reset=is_first)
        if is_first:
            check_enough_rows(X.shape[0], self.n_clusters)
        elif X.dtype != self.cluster_centers_.dtype:
            X = X.astype(self.cluster_centers_.dtype)
        weight = None if sample_weight is None else weights_of_rows(sample_weight, X)
        n_before = getattr(self, "n_rows_seen_", 0)
        numbers = _numbers(rows, X.shape[0], n_before)
        known = self._told(constraints, None if is_first else self.constraints_)
        X = self._begin(X, weight) if is_first else self._moved(X)
        self._tell(constraints, known, numbers, n_before)
        model = self._batches
        model.linked.keep(numbers, X, weight)
        began = time.perf_counter()
        step = model.step(X, numbers, weight, self._random_state)
        took = time.perf_counter() - began
        self.history_.append(Round(step.inertia, step.inertia, *step[2:], took))
        mass = X.shape[0] if weight is None else float(weight.sum(dtype=np.float64))
        self.cluster_centers_ = (model.centers + self._origin).astype(X.dtype, copy=False)
        self.labels_, self.inertia_ = step.labels, step.inertia * mass
        self.n_steps_, self._report = len(self.history_), None
        self.n_rows_seen_ = max(n_before, int(numbers.max()) + 1)
        return self

    def _moved(self, X: Matrix) -> Matrix:
        return X if sp.issparse(X) else X - self._origin

    def _begin(self, X: Matrix, weight: np.ndarray | None) -> Matrix:
        """Start at the first batch, and return it moved to its mean, as later ones will be."""
        self._random_state = check_random_state(self.random_state)
        moved, self._origin, _ = centered(X)
        centers = init_centers(
            moved, self.n_clusters, self.init, weight, self._random_state, mean=self._origin
        )
        linked = LinkedRows(Constraints().pairs())
        self._batches = MiniBatches(centers, linked, self.reassignment_ratio)
        self.history_ = []
        return moved

    def _told(self, new: Any, known: Constraints | None) -> Constraints:
        """All statements, those told before first."""
        if new is not None and not isinstance(new, Constraints):
            raise TypeError(
                f"constraints must be a conclust.Constraints or None; got {type(new).__name__}. "
                "Make one with Constraints(must_link=[(0, 1)], cannot_link=[(0, 2)])."
            )
        if new is None:
            return Constraints() if known is None else known
        warn_of_ignored(self, new)
        if known is None:
            return new
        longest = max(known.n_samples or 0, new.n_samples or 0)
        both = (one if one.n_samples is None else one.extended(longest) for one in (known, new))
        first, second = both
        return first + second

    def _tell(
        self, new: Constraints | None, known: Constraints, numbers: IntArray, n_before: int
    ) -> None:
        """Take all statements; say which rows of new ones have passed and were not kept."""
        linked = self._batches.linked
        self.constraints_ = known
        if new is None:
            return
        linked.tell(known.pairs())
        waiting = np.setdiff1d(linked.turns.rows[~linked.is_kept], numbers)
        passed = np.intersect1d(waiting[waiting < n_before], new.samples)
        if len(passed):
            shown = ", ".join(map(str, passed[:5].tolist())) + ", …" * (len(passed) > 5)
            warnings.warn(
                f"{len(passed)} rows that constraints name have come by before and were not kept, "
                f"since no statement named them then: {shown}. Their statements wait. Tell "
                "statements before or with the batch of their rows, or pass the rows once more, "
                f"with rows=[{passed[0]}, …].",
                ConstraintsIgnoredWarning,
                stacklevel=4,
            )

    def linked_labels(self) -> tuple[IntArray, np.ndarray]:
        """The rows that statements name, and their clusters under the present centres.

        Returns
        -------
        rows : ndarray of shape (n_linked,)
            Numbers of those that have come by, ascending.
        labels : ndarray of shape (n_linked,), int32
            Their clusters.
        """
        check_is_fitted(self)
        linked = self._batches.linked
        kept = np.flatnonzero(linked.is_kept)
        if not len(kept):
            return kept, np.empty(0, dtype=np.int32)
        return linked.turns.rows[kept], linked.labels(kept, self._batches.centers)

    @property
    def report_(self) -> ConstraintReport:
        """Which statements hold, of those whose rows have all come by."""
        if self._report is None:
            rows, labels = self.linked_labels()
            self._report = _among(self.constraints_.pairs(), rows).report(labels)
        return self._report


def _among(pairs: SignedPairs, rows: IntArray) -> Constraints:
    """The statements about these rows alone, which keep their numbers as names."""
    import pandas as pd

    here = np.isin(pairs.pairs, rows).all(axis=1)
    frame = pd.DataFrame(pairs.pairs[here], columns=["a", "b"])
    frame["type"] = np.where(pairs.sign[here] > 0, "must-link", "cannot-link")
    frame["weight"] = pairs.weight[here]
    return Constraints.from_frame(frame, ids=rows)


def _assigned(X: Matrix, weight: np.ndarray | None, model: MiniBatches) -> tuple[Any, float]:
    """Labels of all rows under the centres, and their inertia: one pass."""
    linked = model.linked
    rows = open_rows(X, len(model.centers), sample_weight=weight, linked=linked.turns.rows)
    with rows as near:
        inertia = near.sweep(model.centers).inertia
        if len(linked):
            placed = linked.labels(np.arange(len(linked)), model.centers)
            inertia += near.add(placed, model.centers).inertia
        return near.labels, inertia


def _numbers(rows: Any, n_rows: int, n_before: int) -> IntArray:
    """The numbers of the rows of a batch."""
    if rows is None:
        return np.arange(n_before, n_before + n_rows)
    numbers = np.asarray(rows)
    if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"rows has shape {numbers.shape} and type {numbers.dtype}, but the batch has {n_rows} "
            "rows; pass one whole number for each."
        )
    if numbers.min() < 0:
        raise ValueError(f"rows holds {numbers.min()}; numbers of rows begin at 0.")
    return numbers.astype(np.int64)
