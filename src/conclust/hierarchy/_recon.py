"""ReCon: hierarchical clustering that keeps every relative statement."""

from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted

from conclust._arrays import FloatArray, IntArray
from conclust._declare import PAIRS, RELATIVE, Named, Takes
from conclust._progress import progress
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._validation import check_inputs
from conclust.constraints import MAX_LISTED, Constraints
from conclust.exceptions import InconsistentConstraintsError, InfeasibleConstraintsError
from conclust.hierarchy._cut import cut_hierarchy
from conclust.hierarchy._linkage import BY_CENTERS, Dendrogram, Show, constrained_linkage


class Merge(NamedTuple):
    """One round: which two clusters became one."""

    distance: float
    left: int
    right: int
    n_clusters: int  # left after it


class ReCon(ClusterMixin, BaseEstimator):
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
        most statements and a from b for the fewest, or the last ones (the paper).
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
        What ``on_conflict="repair"`` left out; empty otherwise.
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
    cluster join the nearest one.

    Cannot-links are best effort here: `report_` tells which are kept. With cannot-links that bind,
    the clusters are not a cut: the largest clusters reached before any had to break attract the
    others, and branches then move to wherever they break less.

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
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.metric = metric
        self.cut_by = cut_by
        self.min_branch_size = min_branch_size
        self.on_conflict = on_conflict
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> "ReCon":
        """Build the hierarchy, and label the rows when `n_clusters` is given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Samples, or distances with ``metric="precomputed"``.
        y : ignored
        constraints : Constraints, default=None
            Relative statements, must-links and cannot-links.

        Returns
        -------
        self
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
        used = self._consistent(constraints)
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
        self.dropped_ = used.dropped
        self._tree, self.constraints_, self._X = tree, used, X
        if self.n_clusters is not None:
            self.labels_ = self._cut(int(self.n_clusters))
            self.report_ = constraints.report(self.labels_)
        return self

    def cut(self, n_clusters: int) -> npt.NDArray[np.int32]:
        """Label the rows with another number of clusters; the hierarchy stays as it is.

        Parameters
        ----------
        n_clusters : int

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

    def _consistent(self, constraints: Constraints) -> Constraints:
        if self.on_conflict == "repair":
            return constraints.repaired()
        conflicts = constraints.conflicts()
        if conflicts:
            more = ""
            if len(conflicts) > 1:  # the search for those of relative statements may have stopped
                least = "at least " if len(conflicts) >= MAX_LISTED else ""
                more = f" ({least}{len(conflicts) - 1} more conflicts.)"
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
        return cut_hierarchy(
            self._tree,
            self.constraints_,
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
