"""ConstrainedKMeans: the modified COP-Kmeans of paper 000, which never fails."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state

from conclust._progress import progress
from conclust._sklearn import Interval, StrOptions, fit_context, scaled_tolerance
from conclust._validation import check_inputs, weights_of_rows
from conclust.cluster._centers import CentersMixin
from conclust.cluster._lloyd import Run, centred, constrained_kmeans, init_centers
from conclust.constraints import Constraints


class ConstrainedKMeans(CentersMixin):
    """K-means that heeds must-links and cannot-links by priority, and never fails.

    In each iteration the linked rows are placed first, pair after pair in descending priority:
    each gets its nearest centre as far as its pair and the rows placed before it allow. Then every
    other row goes to its nearest centre and the centres move to the means. Statements of high
    priority are likely to hold; a statement whose two rows were placed by earlier ones may break.

    Parameters
    ----------
    n_clusters : int, default=8
    init : {"k-means++", "random"}, array-like or callable, default="k-means++"
        As in scikit-learn's :class:`~sklearn.cluster.KMeans`.
    n_init : int, default=1
        Starts; the one that breaks the least weight is kept, the lowest inertia among equals.
    max_iter : int, default=300
    tol : float, default=None
        Stop when the centres move less than this, relative to the variance of X. By default
        scikit-learn's 1e-4 when there are no constraints, and 0 with them: paper 000 stops only
        when no label changes.
    order : {"given", "random"}, default="given"
        Place pairs by descending priority (ties as given), or in a new random order in each
        iteration, as in paper 001.
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
        False when `max_iter` was reached, or when labels came back: with clashing statements they
        often cycle, which is normal.
    history_ : list of Round
        Inertia, rows that changed, pairs broken and shift of the centres in each iteration.
    report_ : ConstraintReport
        Which statements the labels keep.
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
    M. Okabe and S. Yamada. Clustering by learning constraints priorities. Algorithm 2.

    Examples
    --------
    >>> from conclust import ConstrainedKMeans, Constraints
    >>> X = [[0, 0], [0, 1], [4, 0], [4, 1]]
    >>> known = Constraints(must_link=[(0, 2)], cannot_link=[(0, 1)])
    >>> model = ConstrainedKMeans(n_clusters=2, random_state=0).fit(X, constraints=known)
    >>> model.report_
    ConstraintReport(2 of 2 kept: 1 of 1 must-link, 1 of 1 cannot-link)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "order": [StrOptions({"given", "random"})],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float | None = None,
        order: Literal["given", "random"] = "given",
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.order = order
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
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
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
        constraints : Constraints, default=None
            Must-links and cannot-links.
        priority : array-like of shape (len(constraints),), default=None
            Which statements are placed first; the weights of the constraints by default.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = None if sample_weight is None else weights_of_rows(sample_weight, X)
        # Beside few features, arrays as long as the pairs are felt in the memory.
        pairs, sign, ranks = _visits(constraints, priority, n_samples=X.shape[0])
        tol = self.tol if self.tol is not None else (0.0 if len(pairs) else 1e-4)
        random_state = check_random_state(self.random_state)
        tol = scaled_tolerance(X, tol)
        data = centred(X)
        n_init = (
            1 if hasattr(self.init, "__array__") or isinstance(self.init, list) else self.n_init
        )
        best: tuple[tuple[float, float], Run] | None = None
        with progress(self.verbose, type(self).__name__, n_init) as show:
            for _ in range(n_init):
                start = init_centers(
                    data.X, self.n_clusters, self.init, weight, random_state, mean=data.mean
                )
                run = constrained_kmeans(
                    data.X,
                    pairs,
                    sign,
                    ranks,
                    start,
                    sample_weight=weight,
                    max_iter=self.max_iter,
                    tol=tol,
                    order=self.order,
                    random_state=random_state,
                    on_round=show,
                )
                broken = _broken_weight(constraints, run.labels) if n_init > 1 else 0.0
                value = (broken, run.inertia)
                if best is None or value < best[0]:
                    best = value, run
                show(run.history[-1], advance=1)
        assert best is not None
        run = best[1]
        self.cluster_centers_ = run.centers + data.mean
        self.labels_, self.inertia_ = run.labels, run.inertia
        self.n_iter_, self.converged_, self.history_ = run.n_iter, run.converged, run.history
        self.report_ = constraints.report(run.labels)
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


def _broken_weight(constraints: Constraints, labels: np.ndarray) -> float:
    pairs, sign, weight, _ = constraints.pairs()
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return float(weight[same != (sign > 0)].sum())


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
