"""TrustEnsemble: soft clusterings on parts of the statements, which vote on the rest."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from conclust import blocks
from conclust._declare import PAIRS, Named, Takes
from conclust._folds import AS_GOOD, left_open
from conclust._lloyd.best import best_of_starts, n_starts, warn_if_degenerate
from conclust._lloyd.start import Centered, centered, scaled_tolerance, start_centers
from conclust._placement.links import link_rows
from conclust._progress import Rounds, progress
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._validation import METRICS, check_inputs, weights_of_rows
from conclust.cluster import MULTIPLES, pckmeans, price_by_regret
from conclust.constraints import Constraints
from conclust.ensemble._judges import SHARE, TOL, draw_heard
from conclust.ensemble._members import CodesMixin, Member

# Members are told all but this part of what judges are not told: a tenth instead of a quarter.
UNHEARD_BY_MEMBERS = 0.4
# Starts of each judge and member.
N_STARTS = 2
# A statement every judge breaks keeps a little weight: without any, its rows would be forgotten.
LEAST_TRUST = 0.02


class Round(NamedTuple):
    """What one judge or member did."""

    share_satisfied: float  # share of all statements kept
    price: float  # of a broken statement of weight 1
    share_unheard: float  # share kept of those it was not told; NaN if it was told all
    n_iter: int


class Settings(NamedTuple):
    """What all members of one fit have in common."""

    data: Centered
    n_clusters: int
    init: Any
    n_init: int
    max_iter: int
    tol: float
    sample_weight: np.ndarray  # (n_samples,)


def soft_member(
    settings: Settings, constraints: Constraints, trust: np.ndarray, price: float, seed: int
) -> Member:
    """Run PCKMeans on some statements, each priced by its weight, its trust and `price`."""
    (X, mean, spherical), n_clusters, init, n_init, max_iter, tol, weight = settings
    links = link_rows(constraints)
    links = replace(links, weight=links.weight * trust[constraints.pairs().statement])
    rng = np.random.RandomState(seed)

    def start(number: int, on_round: Any) -> Any:
        return pckmeans(
            X,
            links,
            price,
            start_centers(X, links, n_clusters, init, weight, rng, number, mean),
            sample_weight=weight,
            max_iter=max_iter,
            tol=tol,
            spherical=spherical,
            # One thread each: sums in another order would make labels depend on n_jobs.
            n_threads=1,
        )

    best = best_of_starts(start, n_starts(init, n_init), lambda run: (run.objective,))
    return Member(best.labels, best.centers + mean, len(best.history), best.converged)


def lowest_price(settings: Settings, constraints: Constraints, seed: int) -> float:
    """Price by what moving a row costs, from a first start."""
    (X, mean, spherical), n_clusters, init, *_, weight = settings
    rng = np.random.RandomState(seed)
    first = start_centers(X, link_rows(constraints), n_clusters, init, weight, rng, 0, mean)
    return price_by_regret(X, first, weight, spherical=spherical)


class TrustEnsemble(CodesMixin):
    """Soft clusterings on parts of the statements, which vote on how far to trust each.

    For statements of which some may be wrong, nobody knows how many: close to the best method at
    either end, the hard one when all are right and the random-order ensemble when many are wrong.

    Judges cluster the rows with :class:`~conclust.PCKMeans`, each told three quarters of the
    statements, at prices from cheap to all but hard. The price whose judges keep most of what they
    were not told is taken; the share of its judges that keep a statement is the trust in it.
    Members then cluster with all but a tenth of the statements, priced by trust, and their
    co-association is clustered.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    n_estimators : int, default=16
        Members whose labels are combined.
    n_judges : int, default=8
        Judges at each of three prices.
    share : float, default=0.75
        Share of the statements a judge is told; members are told all but 0.4 (1 − `share`).
    init : {"neighborhoods", "k-means++", "k-means||", "random"}, callable or array-like, \
            default="neighborhoods"
        As in :class:`~conclust.PCKMeans`.
    max_iter : int, default=50
        Iterations of each judge and member.
    n_init : int, default=10
        Starts of the final kernel k-means. Judges and members start twice.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" clusters directions: rows and the members' centres have unit length.
    n_jobs : int, default=None
        Judges and members fitted at a time (joblib, threads by default). Labels do not depend on
        it.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Of a collection of an engine, one of that engine, not computed yet, as `predict` gives.
    trust_ : ndarray of shape (len(constraints),)
        Share of the judges at the chosen price that keep each statement.
    penalty_ : float
        The chosen price, in squared distances; 0 without statements.
    doubt_ : ndarray of shape (len(constraints),)
        Share of the judges at the lowest price that break each statement; see :meth:`suspects`.
    co_association_ : CoAssociation
        The members' labels.
    member_centers_ : ndarray of shape (n_estimators, n_clusters, n_features)
    history_ : list of Round
        One record per judge, then one per member.
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
    PCKMeans : One soft clustering.
    COPKMeans : Keeps every statement: for statements that are all right.

    Notes
    -----
    Costs some 80 runs of PCKMeans with the default numbers. Memory: n_samples · n_estimators bytes
    for the members, beside what PCKMeans needs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import TrustEnsemble, sample_constraints
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 300, noise=0.1, random_state=0)
    >>> model = TrustEnsemble(3, random_state=0).fit(X, constraints=known)
    >>> int(model.suspects(20)["flipped"].sum()) > 15  # of twenty answers to review
    True
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="by trust",
        when="some statements are wrong, nobody knows how many; which ones?",
        weights="weights",
        cosine=True,
        blocks=blocks.open,
        names=(Named("trust", "judges which statements to believe, then votes"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "n_judges": [Interval(Integral, 1, None, closed="left")],
        "share": [Interval(Real, 0, 1, closed="neither")],
        "init": [
            StrOptions({"neighborhoods", "k-means++", "k-means||", "random"}),
            callable,
            "array-like",
        ],
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
        n_estimators: int = 16,
        n_judges: int = 8,
        share: float = SHARE,
        init: Any = "neighborhoods",
        max_iter: int = 50,
        n_init: int = 10,
        metric: str = "euclidean",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.n_judges = n_judges
        self.share = share
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
    ) -> "TrustEnsemble":
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
            Weight of each row; None for 1 each.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, constraints = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
        weight = weights_of_rows(sample_weight, X)
        random_state = check_random_state(self.random_state)
        final_seed = random_state.randint(2**31 - 1)
        tol = scaled_tolerance(X, TOL)
        data = centered(X, metric=self.metric)
        settings = Settings(data, self.n_clusters, self.init, N_STARTS, self.max_iter, tol, weight)
        pairwise = np.flatnonzero(constraints.kinds != "relative")
        known = constraints[pairwise]
        n_rounds = self.n_estimators + (len(MULTIPLES) * self.n_judges if len(known) else 0)
        with progress(self.verbose, type(self).__name__, n_rounds) as show:
            rounds = Rounds(Round, lambda record: show(record, advance=1))

            def cluster(
                all_heard: npt.NDArray[np.bool_], trust: np.ndarray, price: float
            ) -> tuple[list[Member], npt.NDArray[np.bool_]]:
                """Cluster once for each row of `all_heard`; which statements each keeps."""
                seeds = random_state.randint(2**31 - 1, size=len(all_heard))
                work = (
                    delayed(soft_member)(settings, known[heard], trust[heard], price, seed)
                    for heard, seed in zip(all_heard, seeds, strict=True)
                )
                members, all_kept = [], np.ones(all_heard.shape, dtype=bool)
                parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
                for kept, heard, member in zip(all_kept, all_heard, parallel(work), strict=True):
                    kept[:] = known.satisfied(member.labels)
                    members.append(member)
                    rounds.note(_mean(kept), price, _mean(kept[~heard]), member.n_iter)
                return members, all_kept

            trust, doubt = np.ones(len(known)), np.zeros(len(known))
            self.penalty_ = 0.0
            if len(known):
                lowest = lowest_price(settings, known, random_state.randint(2**31 - 1))
                prices = [lowest * multiple for multiple in MULTIPLES]
                heard = draw_heard(self.n_judges, len(known), self.share, random_state)
                verdicts = [cluster(heard, trust, price)[1] for price in prices]
                asked = np.array([left_open(known, told) for told in heard])
                chosen = choose(verdicts, asked, known.weight)
                self.penalty_, trust = prices[chosen], verdicts[chosen].mean(axis=0)
                doubt = 1 - verdicts[0].mean(axis=0)
            share = 1 - UNHEARD_BY_MEMBERS * (1 - self.share)
            heard = draw_heard(self.n_estimators, len(known), share, random_state)
            members, _ = cluster(heard, np.maximum(trust, LEAST_TRUST), self.penalty_)
        self._combine(members, constraints, final_seed)
        self.history_ = rounds.history
        self.converged_ = all(member.converged for member in members)
        warn_if_degenerate(self.labels_, self.n_clusters)
        self._keep_labels(X)
        self.trust_, self.doubt_ = np.ones(len(constraints)), np.zeros(len(constraints))
        self.trust_[pairwise], self.doubt_[pairwise] = trust, doubt
        return self


def choose(
    verdicts: list[npt.NDArray[np.bool_]], asked: npt.NDArray[np.bool_], weight: np.ndarray
) -> int:
    """Choose the first (lowest) price whose judges keep as much of the asked weight as any's.

    Parameters
    ----------
    verdicts : list of ndarray of shape (n_judges, n_statements)
        For each price, which statements its judges keep.
    asked : ndarray of shape (n_judges, n_statements)
        What they were not told and what they were told leaves open.
    weight : ndarray of shape (n_statements,)

    Returns
    -------
    int
        The middle one where nothing was asked.
    """
    if not asked.any():
        return len(verdicts) // 2
    kept = np.array([((verdict & asked) @ weight).sum() for verdict in verdicts])
    return int(np.argmax(kept >= kept.max() * (1 - AS_GOOD)))


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else float("nan")
