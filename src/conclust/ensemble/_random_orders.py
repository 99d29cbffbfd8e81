"""ConstrainedKMeansEnsemble: constrained k-means in random orders, combined."""

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from conclust import blocks
from conclust._declare import PAIRS, Named, Takes
from conclust._lloyd.best import warn_if_degenerate
from conclust._lloyd.start import Centered, centered, init_centers
from conclust._progress import Rounds, progress
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._validation import METRICS, check_inputs, weights_of_rows
from conclust.cluster import constrained_kmeans
from conclust.constraints import Constraints
from conclust.ensemble._judges import JudgedMixin, Judges
from conclust.ensemble._members import (
    Member,
)


class Round(NamedTuple):
    """What one member did."""

    share_satisfied: float  # share of pairs kept
    n_iter: int


def fit_member(
    data: Centered,
    pairs: np.ndarray,
    sign: np.ndarray,
    n_clusters: int,
    init: Any,
    sample_weight: np.ndarray | None,
    max_iter: int,
    reorder: str,
    seed: int,
) -> Member:
    """Run constrained k-means once, pairs in random order."""
    rng = np.random.RandomState(seed)
    start = init_centers(data.X, n_clusters, init, sample_weight, rng, mean=data.mean)
    run = constrained_kmeans(
        data.X,
        pairs,
        sign,
        rng.uniform(size=len(pairs)) if reorder == "run" else None,
        start,
        sample_weight=sample_weight,
        max_iter=max_iter,
        spherical=data.spherical,
        order="random" if reorder == "iteration" else "given",
        random_state=rng,
        # One thread each: sums in another order would make labels depend on n_jobs.
        n_threads=1,
    )
    return Member(run.labels, run.centers + data.mean, run.n_iter, run.converged)


class ConstrainedKMeansEnsemble(JudgedMixin):
    """Many runs of constrained k-means with statements in random order, combined.

    Each member places the linked rows in another order and so breaks other statements; what most
    members agree on is more reliable than any of them. Wrong statements are outvoted, which makes
    this the ensemble for doubtful statements.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    n_estimators : int, default=50
        Members.
    reorder : {"iteration", "run"}, default="iteration"
        Draw a new order in each iteration (Okabe & Yamada 2012b, Algorithm 1) or once per member
        (RCKM of Okabe & Yamada 2012a).
    init : {"random", "k-means++", "k-means||"}, array-like or callable, default="random"
    max_iter : int, default=30
        Iterations of each member. With new orders in each, a member ends when only rows named in
        statements still change and its inertia does not fall by a thousandth.
    n_init : int, default=10
        Starts of the final kernel k-means.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" clusters directions: rows and the members' centres have unit length.
    n_jobs : int, default=None
        Members fitted at a time (joblib, threads by default). Labels do not depend on it.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Of a collection of an engine, one of that engine, not computed yet, as `predict` gives.
    co_association_ : CoAssociation
        The members' labels.
    member_centers_ : ndarray of shape (n_estimators, n_clusters, n_features)
    history_ : list of Round
        One record per member.
    n_iter_ : int
        Number of members.
    converged_ : bool
        Whether all members ended before `max_iter`.
    report_ : ConstraintReport
        Which statements the final labels keep.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    BoostedConstrainedKMeans : Learns the order instead of drawing it.

    Notes
    -----
    The papers call this bagging, but nothing is resampled: only the order is random. Memory:
    n_samples · n_estimators bytes, and the kernel is never built. The fitted model keeps the rows
    that statements name, for :meth:`doubt` and :meth:`suspects`, and saves them with it.

    References
    ----------
    M. Okabe and S. Yamada (2012a). Clustering by learning constraints priorities. ICDM.

    M. Okabe and S. Yamada (2012b). Clustering with extended constraints by co-training. WI-IAT.
    Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import ConstrainedKMeansEnsemble, sample_constraints
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 300, noise=0.1, random_state=0)
    >>> model = ConstrainedKMeansEnsemble(3, random_state=0).fit(X, constraints=known)
    >>> int(model.suspects(5)["flipped"].sum())  # of five answers to review, so many are wrong
    5
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="by vote",
        when="how sure is each pair?",
        cosine=True,
        blocks=blocks.open,
        names=(
            Named("ensemble", "votes over random orders of statements"),
            Named("rckm", "votes over random orders, one per member", {"reorder": "run"}),
        ),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "reorder": [StrOptions({"iteration", "run"})],
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "metric": METRICS,
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_estimators: int = 50,
        reorder: str = "iteration",
        init: Any = "random",
        max_iter: int = 30,
        n_init: int = 10,
        metric: str = "euclidean",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.reorder = reorder
        self.init = init
        self.max_iter = max_iter
        self.n_init = n_init
        self.metric = metric
        self.n_jobs = n_jobs
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
    ) -> "ConstrainedKMeansEnsemble":
        """Cluster the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, Blocks} of shape (n_samples, n_features)
            Blocks: see :func:`conclust.blocks.open`. A dask array or data frame and a Ray dataset
            are opened so.
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Must-links and cannot-links.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the means of the members.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = None if sample_weight is None else weights_of_rows(sample_weight, X)
        pairs = constraints.pairs()
        random_state = check_random_state(self.random_state)
        final_seed = random_state.randint(2**31 - 1)
        seeds = random_state.randint(2**31 - 1, size=self.n_estimators)
        data = centered(X, metric=self.metric)
        work = (
            delayed(fit_member)(
                data,
                pairs.pairs,
                pairs.sign,
                self.n_clusters,
                self.init,
                weight,
                self.max_iter,
                self.reorder,
                seed,
            )
            for seed in seeds
        )
        members: list[Member] = []
        with progress(self.verbose, type(self).__name__, self.n_estimators) as show:
            rounds = Rounds(Round, lambda record: show(record, advance=1))
            parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
            for member in parallel(work):
                members.append(member)
                kept = ~pairs.violated(member.labels)
                rounds.note(float(kept.mean()) if len(kept) else 1.0, member.n_iter)
        self._combine(members, constraints, final_seed)
        self.history_ = rounds.history
        self.converged_ = all(member.converged for member in members)
        warn_if_degenerate(self.labels_, self.n_clusters)
        self._keep_labels(X)
        self._judges = Judges.of(data, constraints, members, weight, final_seed)
        return self
