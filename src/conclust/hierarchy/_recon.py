"""ReCon: hierarchical clustering that keeps every relative statement."""

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from conclust._arrays import FloatArray, IntArray
from conclust._declare import PAIRS, RELATIVE, Named, Takes
from conclust._progress import progress
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._statements import most_doubted
from conclust._summaries import Shown
from conclust._tree_layout import heights, names_of
from conclust._validation import check_inputs, check_new_rows
from conclust._words import count_conflicts
from conclust.constraints import MAX_LISTED, Constraints
from conclust.exceptions import InconsistentConstraintsError, InfeasibleConstraintsError
from conclust.hierarchy._cut import cut_hierarchy, mended, statements_of
from conclust.hierarchy._doubt import (
    Rows,
    judge,
    rows_by_density,
    rows_by_neighbors,
    too_doubtful,
    turned,
)
from conclust.hierarchy._few import are_few, folds, is_better, shown
from conclust.hierarchy._linkage import BY_CENTERS, Dendrogram, Show, constrained_linkage
from conclust.hierarchy._text import nested, newick

if TYPE_CHECKING:
    import pandas as pd


# A hierarchy without triplets; hierarchies with what each was told, and what it was not.
Compared = tuple[Dendrogram, list[tuple[Dendrogram, Constraints, Constraints]]]


class Merge(NamedTuple):
    """One round: which two clusters became one."""

    distance: float
    left: int
    right: int
    n_clusters: int  # left after it


class ReCon(Shown, ClusterMixin, BaseEstimator):
    """Agglomerative clustering that keeps every relative statement ``ab|c``, and always finishes.

    At each step the two closest clusters merge, unless that would leave no way to keep the
    statements to the end. The hierarchy satisfies all of them, and so does every cut. Must-linked
    samples form branches of their own, and cannot-linked ones stay apart as long as anything else
    can merge.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Clusters in `labels_`. None builds the hierarchy only; :meth:`cut` labels it later.
    linkage : {"centroid", "ward", "average", "complete", "single"}, default="centroid"
        The distance between clusters; the paper uses centroids.
    metric : str or callable, default="euclidean"
        As in :func:`sklearn.metrics.pairwise_distances`, or "precomputed": X is then a square
        matrix of distances. Centroid and ward linkage need "euclidean" or "precomputed".
    cut_by : {"constraints", "order"}, default="constraints"
        Which merges are undone for `n_clusters` clusters: those that take c from a and b for the
        most statements and a from b for the fewest, from the top of the statements' tree down (the
        k top branches of a taxonomy with k of them), or the last ones (the paper).
    min_branch_size : int or "auto", default="auto"
        Branches with fewer samples are outliers: they do not count as clusters, and join the
        nearest cluster that keeps the statements. "auto" tries a quarter of an average cluster,
        and half of that again and again, and takes the first that separates c from a and b, both
        in one cluster, for the most statements; without relative statements, and with
        ``cut_by="order"``, it is a twentieth of the samples, at most half an average cluster. 1
        gives a plain cut.
    on_conflict : {"raise", "repair"}, default="raise"
        What to do with statements that contradict each other: raise
        :class:`~conclust.exceptions.InconsistentConstraintsError` with a smallest set of them, or
        drop the least weight found (`dropped_`).
    flip_rate : float or "auto", default=0.0
        Share of the relative statements that may be wrong. Other than 0, each is compared with
        what the others and the rows say about `n_clusters` clusters. The doubtful ones are left
        out (`dropped_`), or turned where another answer about the same three samples is sure
        (`turned_`); the rest is obeyed. Relative statements that still contradict each other are
        dropped too, whatever `on_conflict` says. "auto" learns the share, from 20 statements on.
        A doubt is about clusters: a statement inside one is not judged.
    verbose : int, default=0
        Show progress on stderr.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        When `n_clusters` is given.
    children_ : ndarray of shape (n_samples - 1, 2)
        The clusters joined by each merge; sample i is i, merge v makes cluster n_samples + v.
    distances_ : ndarray of shape (n_samples - 1,)
        Their distances. They may fall from one merge to the next: centroids do that, and so do
        statements that make a far merge come first.
    constraints_ : Constraints
        The statements that were kept to.
    dropped_ : Constraints
        What was left out as doubtful, or by ``on_conflict="repair"``.
    turned_ : Constraints
        ``ac|b`` or ``bc|a`` in the place of a doubtful ``ab|c``; these are in `constraints_`.
    flip_rate_ : float
        `flip_rate`, or the share of wrong relative statements that "auto" found.
    doubt_ : ndarray of shape (len(constraints),)
        How probably each statement is wrong, in the order given; 0 for must-links and
        cannot-links. See :meth:`suspects`.
    n_tests_ : int
        How often the statements had to be checked as a whole.
    n_iter_ : int
        Merges.
    converged_ : bool
        True: merging always ends.
    history_ : list of Merge
    report_ : ConstraintReport
        Which statements the labels keep, when `n_clusters` is given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    COPKMeans : Must-links and cannot-links, all kept.
    Constraints.from_hierarchy : Relative statements from a taxonomy.

    Notes
    -----
    Time is that of unconstrained linkage, O(n² d), for statements that fit the data; memory
    O(n d) for centroid and ward linkage and one n × n matrix for the others and for
    "precomputed". Without constraints the hierarchy is scipy's.

    A fitted model keeps the training data, which :meth:`cut` looks at: branches too small to be a
    cluster join the nearest one. :meth:`predict` looks at it too.

    Cannot-links are best effort here: `report_` tells which are kept. With cannot-links that bind,
    the clusters are not a cut: the largest clusters reached before any had to break attract the
    others, and branches then move to wherever they break less.

    Up to one relative statement for two samples (and no cannot-links, and ``cut_by`` and
    ``min_branch_size`` as they are by default) the clusters of the hierarchy are kept only if
    they show more of held-out statements than clusters found without any; otherwise those are
    taken, and a few samples move until every statement holds. This takes six hierarchies instead
    of one.

    References
    ----------
    E. Y. Liu, Z. Zhang and W. Wang (2011). Clustering with relative constraints. KDD.

    Examples
    --------
    >>> from conclust import Constraints, ReCon
    >>> X = [[0], [1], [2], [7], [8], [9]]
    >>> known = Constraints(relative=[(2, 3, 0), (2, 3, 1)])  # 2 goes with 3
    >>> ReCon(n_clusters=2).fit(X, constraints=known).labels_
    array([0, 0, 1, 1, 1, 1], dtype=int32)
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS | RELATIVE,
        how="hard for relative and must-links",
        when='"a and b are closer than c"; a hierarchy, a taxonomy',
        weights="weights",
        sparse=False,
        names=(Named("recon", "a tree that keeps relative statements"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "linkage": [StrOptions({"centroid", "ward", "average", "complete", "single"})],
        "metric": [str, callable],
        "cut_by": [StrOptions({"constraints", "order"})],
        "min_branch_size": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "on_conflict": [StrOptions({"raise", "repair"})],
        "flip_rate": [Interval(Real, 0, 0.5, closed="left"), StrOptions({"auto"})],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: Literal["centroid", "ward", "average", "complete", "single"] = "centroid",
        metric: Any = "euclidean",
        cut_by: Literal["constraints", "order"] = "constraints",
        min_branch_size: int | Literal["auto"] = "auto",
        on_conflict: Literal["raise", "repair"] = "raise",
        flip_rate: float | Literal["auto"] = 0.0,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.metric = metric
        self.cut_by = cut_by
        self.min_branch_size = min_branch_size
        self.on_conflict = on_conflict
        self.flip_rate = flip_rate
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> "ReCon":
        """Build the hierarchy, and label the rows when `n_clusters` is given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Samples, or distances with ``metric="precomputed"``.
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Relative statements, must-links and cannot-links.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        if self.linkage in BY_CENTERS and self.metric not in ("euclidean", "precomputed"):
            raise ValueError(
                f"linkage={self.linkage!r} is defined by Euclidean distances; got "
                f"metric={self.metric!r}. Choose linkage='average', 'complete' or 'single', or "
                "metric='euclidean'."
            )
        if self.metric == "precomputed":
            check_distances(X)
        self._X = X
        used = self._believed(X, constraints)
        n = X.shape[0]
        with progress(self.verbose, type(self).__name__, n - 1) as show:
            tree = self._link(X, used, lambda merge, n_more: show(Merge(*merge), advance=n_more))
        self.history_ = [
            Merge(distance, left, right, n - 1 - v)
            for v, ((left, right), distance) in enumerate(
                zip(tree.children.tolist(), tree.distances.tolist(), strict=True)
            )
        ]
        self.children_, self.distances_ = tree.children, tree.distances
        self.n_iter_, self.n_tests_ = max(len(tree.children), 1), tree.n_tests
        self.converged_ = True
        self._tree, self.constraints_, self._given = tree, used, constraints
        self._others: Compared | None = None
        if self.n_clusters is not None:
            self.labels_ = self._cut(int(self.n_clusters))
            self.report_ = constraints.report(self.labels_)
        return self

    def cut(self, n_clusters: int) -> npt.NDArray[np.int32]:
        """Label the rows with another number of clusters; the hierarchy stays as it is.

        Parameters
        ----------
        n_clusters : int
            How many clusters the tree is cut into.

        Returns
        -------
        ndarray of shape (n_samples,), int32
            No relative statement and no must-link is broken, whatever the number.
        """
        check_is_fitted(self, "children_")
        n = len(self.children_) + 1
        if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral):
            raise TypeError(f"n_clusters must be a whole number; got {n_clusters!r}.")
        if not 1 <= n_clusters <= n:
            raise ValueError(f"n_clusters={n_clusters} must be between 1 and the {n} samples.")
        return self._cut(int(n_clusters))

    def suspects(self, n: int = 10) -> "pd.DataFrame":
        """The relative statements most doubted: "please look at these again".

        Parameters
        ----------
        n : int, default=10
            How many statements at most, the least believed first.

        Returns
        -------
        DataFrame
            The statements as in ``constraints.to_frame()``, with their number `statement` and
            `doubt`, most doubtful first. All doubts are 0 with ``flip_rate=0``.
        """
        check_is_fitted(self, "children_")
        relative = np.flatnonzero(self._given.kinds == "relative")
        frame = most_doubted(self._given[relative], self.doubt_[relative], n)
        frame["statement"] = relative[frame["statement"]]
        return frame

    def linkage_matrix(self) -> FloatArray:
        """The hierarchy as scipy writes it, for :func:`scipy.cluster.hierarchy.dendrogram`.

        Returns
        -------
        ndarray of shape (n_samples - 1, 4)
            Two clusters, their distance, and the number of samples below, for each merge.
        """
        check_is_fitted(self, "children_")
        from conclust._kernels._short import short
        from conclust._kernels.cut import cluster_sizes

        n = len(self.children_) + 1
        size = np.empty(2 * n - 1, dtype=np.int64)
        short(cluster_sizes, n)(self.children_, size)
        return np.column_stack([self.children_, self.distances_, size[n:]]).astype(np.float64)

    def to_newick(self, names: Any = None) -> str:
        """The hierarchy as Newick text, which programs for trees read.

        Parameters
        ----------
        names : sequence of length n_samples, default=None
            By default the ids that the statements know, else positions.

        Returns
        -------
        str
            With the lengths of branches: the height of a merge is its distance, or that of its
            highest part where that is more. :meth:`Constraints.from_hierarchy` reads it.

        Examples
        --------
        >>> from conclust import ReCon
        >>> ReCon(2).fit([[0.0], [1.0], [5.0]]).to_newick(["ann", "bob", "a cat"])
        "('a cat':4.5,(ann:1,bob:1):3.5);"
        """
        check_is_fitted(self, "children_")
        return newick(
            self.children_, heights(self.children_, self.distances_), names_of(self, names)
        )

    def to_nested(self, names: Any = None) -> list[Any]:
        """The hierarchy as nested lists of two parts each.

        Parameters
        ----------
        names : sequence of length n_samples, default=None
            By default the ids that the statements know, else positions.

        Returns
        -------
        list
            As deep as the hierarchy is; :meth:`Constraints.from_hierarchy` reads it.

        Examples
        --------
        >>> from conclust import ReCon
        >>> ReCon(2).fit([[0.0], [1.0], [5.0]]).to_nested()
        [2, [0, 1]]
        """
        check_is_fitted(self, "children_")
        return nested(self.children_, names_of(self, names))

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """Cluster of new rows: that of the nearest row of `fit`, beside which each would hang.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features) or (n_new, n_samples)
            New rows, or their distances to the rows of `fit` with ``metric="precomputed"``.

        Returns
        -------
        ndarray of shape (n_new,), int32
            By the `metric` and whatever the `linkage`, since between single rows all linkages are
            the metric. Statements are not applied again. Rows of `fit` get their own label, unless
            an equal row came before them and statements gave it another one.
        """
        check_is_fitted(self, "children_")
        if not hasattr(self, "labels_"):
            raise ValueError(
                "predict needs clusters, but n_clusters=None built the hierarchy only. Give "
                "n_clusters to fit."
            )
        X = check_new_rows(self, X, dtype=[np.float64, np.float32])
        if self.metric == "precomputed":
            return self.labels_[X.argmin(axis=1)]
        return self.labels_[pairwise_distances_argmin(X, self._X, metric=self.metric)]

    def _believed(self, X: FloatArray, constraints: Constraints) -> Constraints:
        """The statements to keep to, consistent; sets what is thought of the others."""
        self.doubt_ = np.zeros(len(constraints))
        if self.flip_rate == 0:
            self.flip_rate_, used = 0.0, self._consistent(constraints)
            self.dropped_, self.turned_ = used.dropped, Constraints(n_samples=len(X))
            return used
        if self.n_clusters is None:
            raise ValueError(
                f"flip_rate={self.flip_rate!r} judges statements by clusters and needs n_clusters; "
                "got n_clusters=None. Give a number (`cut` gives other numbers later), or "
                "flip_rate=0."
            )
        relative = np.flatnonzero(constraints.kinds == "relative")
        rows, start = self._rows(X, int(self.n_clusters), len(relative))
        verdict = judge(
            constraints.relative,
            constraints.relative_weight,
            rows,
            start,
            int(self.n_clusters),
            self.flip_rate,
        )
        self.flip_rate_, self.doubt_[relative] = verdict.flip_rate, verdict.doubt
        self._consistent(_without_triplets(constraints))  # these are not doubted
        gone = np.zeros(len(constraints), dtype=bool)
        gone[relative] = too_doubtful(verdict)
        numbers, rows_turned = turned(constraints.relative, verdict)
        self.turned_ = Constraints(
            relative=rows_turned,
            relative_weight=constraints.relative_weight[numbers],
            n_samples=len(X),
        )
        kept = constraints[np.flatnonzero(~gone)].repaired()
        used = (kept + self.turned_).repaired()
        not_kept = _without(used.dropped, self.turned_.relative)
        self.dropped_ = constraints[np.flatnonzero(gone)] + kept.dropped + not_kept
        self.turned_ = _without(self.turned_, used.dropped.relative)
        return used

    def _rows(
        self, X: FloatArray, n_clusters: int, n_relative: int
    ) -> tuple[Rows, npt.NDArray[np.int32]]:
        """What the rows say about clusters, and clusters of the rows alone to begin with."""
        if not n_relative or len(X) < 2:
            return np.zeros_like, np.zeros(len(X), dtype=np.int32)
        nothing = Constraints(n_samples=len(X))
        if self.metric == "euclidean":
            tree = constrained_linkage(X, None, nothing, linkage="ward")
            rows = rows_by_density(X)
        else:
            tree = self._link(X, nothing, _silent)
            rows = rows_by_neighbors(X, self.metric)
        return rows, cut_hierarchy(tree, nothing, n_clusters, self._distances)

    def _consistent(self, constraints: Constraints) -> Constraints:
        if self.on_conflict == "repair":
            return constraints.repaired()
        conflicts = constraints.conflicts()
        if conflicts:
            n = len(conflicts)
            more = f" (This is one of {count_conflicts(n, MAX_LISTED)}.)" if n > 1 else ""
            raise InconsistentConstraintsError(
                f"The constraints contradict each other: {conflicts[0]}{more} "
                "`constraints.conflicts()` lists them; drop one statement of each, or pass "
                "on_conflict='repair' to drop the least weight found.",
                conflicts,
            )
        return constraints

    def _link(self, X: FloatArray, constraints: Constraints, show: Show) -> Dendrogram:
        if self.metric != "precomputed" and self.linkage in BY_CENTERS:
            return constrained_linkage(X, None, constraints, linkage=self.linkage, show=show)
        if self.metric == "precomputed":
            square = np.array(X, dtype=np.float64)
        else:
            with np.errstate(over="ignore", invalid="ignore"):  # reported by the linkage
                square = np.asarray(pairwise_distances(X, metric=self.metric), dtype=np.float64)
        if self.linkage in BY_CENTERS:
            with np.errstate(over="ignore"):
                square **= 2
        return constrained_linkage(None, square, constraints, linkage=self.linkage, show=show)

    def _cut(self, n_clusters: int) -> npt.NDArray[np.int32]:
        n_groups = len(self.children_) + 1 - self._tree.n_forced
        if n_clusters > n_groups:
            raise InfeasibleConstraintsError(
                f"Must-links leave {n_groups} groups, too few for n_clusters={n_clusters}. Ask for "
                "fewer clusters or drop must-links."
            )
        labels = self._cut_of(self._tree, self.constraints_, n_clusters)
        as_they_are = self.cut_by == "constraints" and self.min_branch_size == "auto"
        if not as_they_are or not are_few(self.constraints_, len(labels)):
            return labels
        plain, told = self._compared()
        without = self._cut_of(plain, _without_triplets(self.constraints_), n_clusters)
        gained = [
            shown(self._cut_of(tree, known, n_clusters), asked.relative, asked.relative_weight)
            for tree, known, asked in told
        ]
        triplets, weight = self.constraints_.relative, self.constraints_.relative_weight
        if gained and is_better(sum(gained), shown(without, triplets, weight), weight):
            return labels
        kept = mended(self._tree, without, n_clusters, statements_of(self.constraints_))
        return labels if kept is None else kept

    def _compared(self) -> Compared:
        """The hierarchy without triplets, and those told a part of them; made when first asked."""
        if self._others is None:
            pairwise = _without_triplets(self.constraints_)
            self._others = (
                self._link(self._X, pairwise, _silent),
                [
                    (self._link(self._X, known, _silent), known, asked)
                    for known, asked in folds(self.constraints_)
                ],
            )
        return self._others

    def _cut_of(
        self, tree: Dendrogram, constraints: Constraints, n_clusters: int
    ) -> npt.NDArray[np.int32]:
        return cut_hierarchy(
            tree,
            constraints,
            n_clusters,
            self._distances,
            by=self.cut_by,
            min_branch_size=self.min_branch_size,
        )

    def _distances(self, piece: IntArray, n_pieces: int, cores: IntArray) -> FloatArray:
        """Of each piece to each core: between centres, or the mean over all pairs of samples."""
        size = np.bincount(piece, minlength=n_pieces)[:, None]
        if self.metric == "euclidean":
            centers = np.zeros((n_pieces, self._X.shape[1]))
            np.add.at(centers, piece, self._X)
            centers /= size
            return pairwise_distances(centers, centers[cores])
        total = np.zeros((n_pieces, len(cores)))
        for number, core in enumerate(cores):
            members = np.flatnonzero(piece == core)
            if self.metric == "precomputed":
                to_members = self._X[:, members]
            else:
                to_members = pairwise_distances(self._X, self._X[members], metric=self.metric)
            np.add.at(total[:, number], piece, to_members.mean(axis=1))
        return total / size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _without_triplets(constraints: Constraints) -> Constraints:
    return constraints[np.flatnonzero(constraints.kinds != "relative")]


def _without(constraints: Constraints, triplets: IntArray) -> Constraints:
    """All statements but some triplets."""
    relative = constraints.relative
    _, number = np.unique(np.concatenate([triplets, relative]), axis=0, return_inverse=True)
    number = number.ravel()
    keep = np.ones(len(constraints), dtype=bool)
    keep[constraints.kinds == "relative"] = ~np.isin(
        number[len(triplets) :], number[: len(triplets)]
    )
    return constraints[np.flatnonzero(keep)]


def _silent(merge: Any, n_more: int) -> None:
    """Show nothing."""


def check_distances(D: FloatArray) -> None:
    """Refuse what is no matrix of distances."""
    if D.shape[0] != D.shape[1]:
        raise ValueError(
            f"With metric='precomputed' X must be a square matrix of distances; got {D.shape}."
        )
    if (D < 0).any() or not np.allclose(D, D.T):
        raise ValueError(
            "With metric='precomputed' X must hold distances: symmetric and not negative. "
            "Turn similarities into distances first, such as D = S.max() - S."
        )
