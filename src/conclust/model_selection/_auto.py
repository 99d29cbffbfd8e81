"""AutoCluster: the estimator for those who do not want to choose one."""

import copy
import time
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from conclust._arrays import FloatArray, IntArray
from conclust._declare import KINDS, Named, Takes
from conclust._fitting import fit_told, labels_of
from conclust._folds import AS_GOOD, FEW, N_FOLDS
from conclust._known_labels import Known
from conclust._living import Living, told
from conclust._lloyd.start import means_of
from conclust._placement.belief import Rates
from conclust._progress import progress
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._statements import by_statement, most_doubted
from conclust._summaries import Shown
from conclust._threads import one_blas_thread, one_thread
from conclust._validation import METRICS, check_enough_rows, check_inputs, check_new_rows
from conclust.cluster import (
    FIRST_RATE,
    ConstrainedKMeans,
    Scatter,
    doubting_mixture,
    rates_of,
    rates_of_shares,
    softened,
    wrong_shares,
)
from conclust.constraints import Constraints
from conclust.hierarchy import ReCon
from conclust.metric_learning import RelativeMetric
from conclust.model_selection._choose import (
    N_INIT,
    fewer_rows,
    folds,
    held_out_score,
)
from conclust.model_selection._classes import ByClass, doubt_of, heed
from conclust.model_selection._consensus import Consensus, Heard, Said, agree, with_floor
from conclust.model_selection._n_clusters import KCurve, check_range, choose_n_clusters
from conclust.model_selection._stack import (
    Fitter,
    Judged,
    Member,
    Mixed,
    believe,
    judge,
    members_of,
    problem_of,
    share_out,
)
from conclust.model_selection._votes import Voted, Votes, count_votes, heard

if TYPE_CHECKING:
    import pandas as pd

# Above so many rows, or statements, members are chosen on those and fitted to all afterwards.
MAX_ROWS_CHOOSING, MAX_STATEMENTS_CHOOSING = 5_000, 1_000
SAMPLE_ROWS, SAMPLE_STATEMENTS = 2_000, 600
# Iterations on all rows of a member that was found on a sample.
MAX_ITER_ALL = 2
# Statements that such a member is told at most: enough for its shape; the last word is of all.
MAX_STATEMENTS_ALL = 50_000
# Of the members so many, those with the largest parts, are fitted to all rows.
MOST_ON_ALL = 4
# More features are brought down to so many.
MAX_FEATURES = 50
# Members with less than this part in the average are not counted as one of it.
LEAST_PART = 0.01
# A tree of more rows takes too long to be tried unasked.
MAX_ROWS_TREE = 5_000
NAN = float("nan")
# Ends of sentences of which the latest counts.
SEEM_WRONG = "pairwise statements seem wrong."
NO_MORE = "rows and statements speak for no more."


class Tried(NamedTuple):
    """One candidate, and how it did."""

    held_out: float  # log-likelihood per statement held out, or the share of them kept
    told: float  # log-likelihood per statement told; NaN where it has none
    weight: float  # its part in the result
    candidate: str
    seconds: float  # to fit it once


class Stage(NamedTuple):
    """What is being done, for the progress bar."""

    stage: str


class AutoCluster(Living, Shown, ClusterMixin, BaseEstimator):
    """Cluster by what people know, without choosing a method: learn, keep, doubt.

    Fits Gaussian mixtures that take statements as evidence (see
    :class:`~conclust.ConstrainedGaussianMixture` with ``flip_rate="auto"``) in the given space,
    in one learned from the statements and on a map of neighbourhoods, and clusters of any shape
    by what rows near each other say; asks each for statements it was not told; and averages them
    by how well they knew those. The statements then have the last word, as far as they are
    believed.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        "auto" takes the number that statements held out, or else the rows, speak for; see
        :func:`~conclust.model_selection.choose_n_clusters`.
    n_clusters_range : (int, int), default=None
        With "auto": the fewest and the most to try; None is 2 to about twice the root of the number
        of rows.
    flip_rate : "auto", float or (float, float), default="auto"
        Probability that a statement is wrong, whatever is true, or the shares of must-links and of
        cannot-links that are wrong; "auto" estimates both. Give it where it is known better than
        rows can tell: questions chosen because the answer was uncertain contradict the rows more
        often than they are wrong.
    n_checked : int, default=0
        How many answers, compared with others, told a `flip_rate` that is given. The more, the less
        is thought of models that believe in more errors than that.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" compares directions: all rows, new ones too, are brought to unit length first.
    time_budget : float, default=None
        Seconds after which nothing more is tried; what was begun is finished. A result without
        statements held out follows those told.
    seeds : {"auto", "hard", "soft"} or None, default="auto"
        What the classes of some rows are, given as `y` to `fit`. "hard": bound to their clusters.
        "soft": statements like others, and votes of rows near each other (see Notes). None:
        ignored. "auto": "soft", but a `y` that leaves no row open is ignored, as scikit-learn's
        clusterers do.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
    n_clusters_ : int
    curve_ : KCurve or None
        The numbers of clusters tried, where none was given; ``curve_.frame()`` is the table.
    method_ : str
        What the result is.
    reasons_ : list of str
        Why, in sentences.
    probabilities_ : ndarray of shape (n_samples, n_clusters)
        Of each cluster for each row of `fit`, given rows and statements.
    prior_ : ndarray of shape (n_samples, n_clusters)
        The same by what the models say of the rows, before the statements have the last word.
    flip_rate_ : (float, float)
        Estimated share of must-links and of cannot-links that are wrong; NaN without such.
    doubt_ : ndarray of shape (len(constraints),)
        Probability that each statement is wrong; for relative ones beside pairs, whether the
        result breaks it.
    history_ : list of Tried
        All that was tried; see :attr:`candidates_`.
    n_iter_ : int
        Number of candidates tried.
    converged_ : bool
        Whether everything was tried within the `time_budget`.
    classes_ : ndarray of shape (n_clusters,)
        The class of each cluster, None for one without; with known labels only.
    constraints_ : Constraints
        All statements, those of known labels included.
    changes_ : DataFrame
        What the last :meth:`update` changed.
    report_ : ConstraintReport
        Which statements `labels_` keeps.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    ConstrainedGaussianMixture : One of the mixtures.
    COPKMeans : Keeps every statement, whatever it takes.
    ReCon : A hierarchy; used here for relative statements alone.

    Notes
    -----
    Without statements it is k-means. With relative statements alone: k-means, k-means in a space
    learned from them, or :class:`~conclust.ReCon`, whichever keeps most of those held out. Relative
    statements beside pairs weight the features.

    A quarter of the pairs is held out, four times; whatever is learned from statements is learned
    anew without them, and those that follow from what was told are not asked for. A candidate's
    part in the average is exp(a h) with its mean log-likelihood h of statements held out, wrong at
    the rate likeliest for it, shared among the starts of its model; a = 3 √m for m pairs: few
    statements hardly choose, many do. Clusters of any shape begin with a third of a mixture's part.
    Half of what a model has goes to all its starts, those that were not asked as well.

    Members number their clusters in their own ways and cut rows where others do not. Their
    clusters are matched, the mean of what they say makes first clusters, and a row is of the
    cluster whose profile, the mean of what each member says of its rows, is nearest to its own.

    Where labels are known (`y`), of 20 rows or more and of every cluster, the rows that have them
    vote on the others as well, near ones most. Their part is by how well they know the labels of
    one another, each row being asked of all others, against what the models say of them.

    Above 5 000 rows, or 1 000 pairs, all this is done on a sample of 600 pairs, the rows they name
    and others, 2 000 in all; the mixtures found are then fitted to all rows and statements. More
    than 50 features are brought down to their 50 leading components.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import AutoCluster, sample_constraints
    >>> X, y = load_iris(return_X_y=True)
    >>> told = sample_constraints(y, 150, noise=0.1, random_state=0)  # one in ten is wrong
    >>> model = AutoCluster(3, random_state=0).fit(X, constraints=told)
    >>> float((model.suspects(10)["flipped"]).mean()) > 0.7
    True
    >>> model.predict(X[:1]) == model.labels_[:1]
    array([ True])
    """

    _takes: ClassVar[Takes] = Takes(
        frozenset(KINDS),
        how="by evidence",
        when="you do not want to choose; few statements, many, or partly wrong ones",
        weights="weights",
        cosine=True,
        names=(Named("auto", "several models that doubt, averaged by statements held out"),),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_clusters_range": [tuple, list, None],
        "flip_rate": [Interval(Real, 0, 0.5, closed="left"), tuple, list, StrOptions({"auto"})],
        "n_checked": [Interval(Integral, 0, None, closed="left")],
        "metric": METRICS,
        "time_budget": [Interval(Real, 0, None, closed="neither"), None],
        "seeds": [StrOptions({"auto", "hard", "soft"}), None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: Any = "auto",
        *,
        n_clusters_range: tuple[int, int] | None = None,
        flip_rate: Any = "auto",
        n_checked: int = 0,
        metric: str = "euclidean",
        time_budget: float | None = None,
        seeds: str | None = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.n_clusters_range = n_clusters_range
        self.flip_rate = flip_rate
        self.n_checked = n_checked
        self.metric = metric
        self.time_budget = time_budget
        self.seeds = seeds
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    @told
    def fit(
        self, X: Any, y: Any = None, *, constraints: Constraints | None = None
    ) -> "AutoCluster":
        """Cluster the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Class of each row, -1, None or NaN where it is not known; see `seeds`.
        constraints : Constraints, default=None
            Must-links, cannot-links and relative statements.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, constraints = check_inputs(self, X, constraints)
        if self._resumes is not None:
            return self._go_on(X, constraints)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.constraints_ = constraints
        self.reasons_: list[str] = []
        self.history_: list[Tried] = []
        self.consensus_: Consensus | None = None
        self.by_class_: ByClass | None = None
        self.labels_: Any
        self.model_: Any = None
        self.curve_: KCurve | None = None
        self.flip_rate_, self.doubt_ = (NAN, NAN), np.zeros(len(constraints))
        self.converged_ = True
        began = time.perf_counter()

        def in_time() -> bool:
            late = self.time_budget is not None and time.perf_counter() - began > self.time_budget
            self.converged_ = self.converged_ and not late
            return not late

        with progress(self.verbose, type(self).__name__, 3 + N_FOLDS) as show:

            def stage(words: str) -> None:
                show(Stage(words), advance=1)

            stage("looking at the rows")
            self._choose_number(X, constraints, seed)
            pairs = constraints.pairwise
            if len(pairs):
                self._fit_pairs(X, constraints, seed, stage, in_time)
            elif len(constraints):
                self._fit_relative(X, constraints, seed, stage)
            else:
                self._fit_plain(X, seed)
        self.n_iter_ = len(self.history_)
        self.labels_ = self.labels_.astype(np.int32)
        self.report_ = constraints.report(self.labels_)
        self._tell_empty()
        return self

    def _tell_empty(self) -> None:
        """Say so where clusters have no rows."""
        n_found = len(np.unique(self.labels_))
        few = n_found < self.n_clusters_
        self._say(few, f"Only {n_found} of {self.n_clusters_} clusters have rows: ", NO_MORE)

    def _say(self, it_is_so: bool, words: str, end: str) -> None:
        """A reason, if it is one, instead of the one before that ended alike."""
        self.reasons_ = [reason for reason in self.reasons_ if not reason.endswith(end)]
        if it_is_so:
            self.reasons_.append(words + end)

    def _choose_number(self, X: Any, constraints: Constraints, seed: int) -> None:
        """Set `n_clusters_`."""
        within = check_range(self.n_clusters_range)
        if isinstance(self.n_clusters, str):
            curve = choose_n_clusters(X, constraints, n_clusters_range=within, random_state=seed)
            self.n_clusters_, self.curve_ = min(curve.chosen, X.shape[0]), curve
            self.reasons_.append(curve.reason)
        else:
            check_enough_rows(X.shape[0], self.n_clusters)
            self.n_clusters_ = int(self.n_clusters)

    # ------------------------------------------------------------------ without statements

    def _fit_plain(self, X: Any, seed: int) -> None:
        """Plain k-means."""
        began = time.perf_counter()
        how: dict[str, Any] = {"n_init": N_INIT, "random_state": seed}
        if self.metric == "cosine":
            self.method_ = "spherical k-means"
            model = ConstrainedKMeans(self.n_clusters_, metric=self.metric, **how)
        else:
            self.method_ = "k-means"
            model = KMeans(self.n_clusters_, **how)
        self._set_model(model.fit(X))
        self.reasons_.append(f"There are no statements, so this is plain {self.method_}.")
        self.history_ = [Tried(NAN, NAN, 1.0, self.method_, time.perf_counter() - began)]

    def _set_model(self, model: Any) -> None:
        """Take labels from one fitted model, whose labels are certain."""
        self.model_ = model
        self._numbers_ = np.arange(self.n_clusters_)
        self.labels_ = labels_of(model)
        self.probabilities_ = np.eye(self.n_clusters_)[self.labels_]
        self.prior_ = self.probabilities_

    # ------------------------------------------------------------------ relative statements alone

    def _fit_relative(
        self, X: Any, constraints: Constraints, seed: int, stage: Callable[[str], None]
    ) -> None:
        """Whichever of a few methods keeps most of the relative statements held out."""
        k = self.n_clusters_
        plain = KMeans(k, n_init=N_INIT, random_state=seed)
        methods = {
            "k-means": plain,
            "k-means on weighted features": make_pipeline(RelativeMetric(), plain),
        }
        if not sp.issparse(X) and X.shape[0] <= MAX_ROWS_TREE:
            methods["a tree (ReCon)"] = ReCon(k, flip_rate="auto")
        splits = folds(constraints, seed, N_FOLDS)
        scores = {}
        for name, model in methods.items():
            stage(f"trying {name}")
            began = time.perf_counter()
            found = held_out_score(model, X, constraints, cv=splits) if splits else None
            took = (time.perf_counter() - began) / max(len(splits), 1)
            scores[name] = NAN if found is None else found.score
            self.history_.append(Tried(scores[name], NAN, 0.0, name, took))
        known = {name: score for name, score in scores.items() if np.isfinite(score)}
        # The last of equals: what listens most to the statements.
        good = [name for name, score in known.items() if score >= max(known.values()) - AS_GOOD]
        best = (good or list(methods))[-1]
        fitted = fit_told(methods[best], X, constraints)
        self._set_model(fitted)
        self.history_ = [t._replace(weight=float(t.candidate == best)) for t in self.history_]
        self.method_ = best
        self.doubt_[:] = getattr(fitted, "doubt_", ~constraints.satisfied(self.labels_))
        shares = ", ".join(f"{name} {score:.0%}" for name, score in known.items())
        self.reasons_.append(
            f"There are relative statements only ({len(constraints)}). "
            + (f"Of those held out, {shares} are kept." if known else "They are all kept.")
        )
        n_out, n_turned = (len(getattr(fitted, name, ())) for name in ("dropped_", "turned_"))
        if n_out:
            turned = f", and another answer obeyed in the place of {n_turned}" if n_turned else ""
            self.reasons_.append(
                f"{n_out} of them contradict others or the rows and were not obeyed{turned}."
            )

    # ------------------------------------------------------------------ pairs

    def _fit_pairs(
        self,
        X: Any,
        constraints: Constraints,
        seed: int,
        stage: Callable[[str], None],
        in_time: Callable[[], bool],
    ) -> None:
        """Several mixtures, averaged."""
        pairs = constraints.pairwise
        X = self._prepare(X, constraints, seed)
        rows, known = _for_choosing(X, pairs, seed)
        stage("fitting candidates")
        with one_thread():
            rates = rates_of(self.flip_rate, pairs.pairs())
            problem = problem_of(rows, self.n_clusters_, seed, rates, self.n_checked)
            fitter = Fitter(problem, known)
            members = members_of(fitter)
        number = 0

        def on_fold() -> bool:
            nonlocal number
            number += 1
            stage(f"holding statements out, {number} of {N_FOLDS}")
            return in_time()

        with one_thread():
            judged = judge(problem, known, members, on_fold=on_fold)
        first = max(judged, key=_weight).member
        if rows is X:
            judged = share_out(judged, fitter.members.values(), known, problem)
            mean = agree(map(_heard, judged), first.found.responsibilities)
        else:
            stage("fitting all rows")
            with one_blas_thread():
                on_all = _on_all(judged, X, _drawn(pairs, MAX_STATEMENTS_ALL, seed))
                mean = agree(map(_heard, on_all))
            self.reasons_.append(
                f"Candidates were compared on {len(rows):,} of {len(X):,} rows and {len(known):,} "
                f"of {len(pairs):,} pairs; those that count were fitted to all."
            )
        self._tell(judged, first, fitter)
        found = believe(mean.prior, pairs, mean.rates)
        self.prior_, self.consensus_ = mean.prior, mean.consensus
        self.probabilities_, self.labels_ = found.probability, found.probability.argmax(axis=1)
        self._tell_rates(found.shares, found.doubt, constraints)

    def _prepare(self, X: Any, constraints: Constraints, seed: int) -> FloatArray:
        """Weight features by relative statements, bring many of them down; remember how."""
        self.steps_: list[Any] = []
        if len(constraints.relative):
            relative = constraints[np.flatnonzero(constraints.kinds == "relative")]
            self.steps_.append(RelativeMetric().fit(X, constraints=relative))
            self.reasons_.append(
                f"The {len(relative)} relative statements weight the features before pairs are "
                "looked at."
            )
            X = self.steps_[-1].transform(X)
        if X.shape[1] > MAX_FEATURES:
            n = min(MAX_FEATURES, X.shape[0] - 1)
            if n >= 1:
                reduce = TruncatedSVD if sp.issparse(X) else PCA
                self.steps_.append(reduce(n, random_state=seed).fit(X))
                self.reasons_.append(
                    f"The {X.shape[1]:,} features were brought down to {n} leading components."
                )
                X = self.steps_[-1].transform(X)
        X = X.toarray() if sp.issparse(X) else X
        return np.ascontiguousarray(X, dtype=np.float64)

    def _tell(self, judged: list[Judged], best: Member, fitter: Fitter) -> None:
        """Set `history_`, `method_` and why."""
        by_candidate = {one.member.candidate: one for one in judged}
        n_pairs = len(fitter.pairs.sign)
        for member in fitter.members.values():
            one = by_candidate.get(member.candidate)
            self.history_.append(
                Tried(
                    one.held_out if one else NAN,
                    member.found.log_evidence / n_pairs,
                    one.weight if one else 0.0,
                    member.name,
                    member.seconds,
                )
            )
        n_parts = sum(one.weight >= LEAST_PART for one in judged)
        self.method_ = (
            f"one model: {best.name}"
            if n_parts == 1
            else f"average of {n_parts} models, first: {best.name}"
        )
        held_out = by_candidate[best.candidate].held_out
        if np.isfinite(held_out):
            self.reasons_.append(
                f"Of {len(fitter.members)} models tried the one with {best.name} knows held-out "
                f"statements as well as any (log-likelihood {held_out:.2f} each; chance "
                f"is {np.log(0.5):.2f})."
            )
        else:
            self.reasons_.append(
                "No statements could be held out; models are weighed by those told."
            )
        self.reasons_.append(
            f"The result is the average of {n_parts} of them: the fewer statements, the less one "
            "is preferred to another."
            if n_parts > 1
            else "It is clearly the best, and stands alone."
        )

    def _tell_rates(
        self, shares: tuple[float, float], doubt: FloatArray, constraints: Constraints
    ) -> None:
        """Set `flip_rate_` and `doubt_`, and say what they mean."""
        pairwise = np.flatnonzero(constraints.kinds != "relative")
        statement = constraints.pairwise.pairs().statement
        self.doubt_[pairwise] = by_statement(doubt, statement, len(pairwise))
        relative = np.flatnonzero(constraints.kinds == "relative")
        self.doubt_[relative] = ~constraints[relative].satisfied(self.labels_)
        sign = constraints.pairs().sign
        self.flip_rate_ = (
            shares[0] if (sign > 0).any() else NAN,
            shares[1] if (sign < 0).any() else NAN,
        )
        n_doubted = int((self.doubt_[pairwise] > 0.5).sum())
        self._say(n_doubted > 0, f"{n_doubted} of {len(pairwise)} ", SEEM_WRONG)

    # ------------------------------------------------------------------ afterwards

    @property
    def candidates_(self) -> "pd.DataFrame":
        """What was tried: its score on statements held out, its part in the result, seconds."""
        import pandas as pd

        check_is_fitted(self)
        frame = pd.DataFrame(self.history_, columns=list(Tried._fields))
        frame = frame[["candidate", "held_out", "told", "weight", "seconds"]]
        order = ["weight", "told"]
        return frame.sort_values(order, ascending=False, kind="stable", ignore_index=True)

    def suspects(self, n: int = 10) -> "pd.DataFrame":
        """The statements least believed after the fit: "please look at these again".

        Parameters
        ----------
        n : int, default=10
            How many statements at most, the least believed first.

        Returns
        -------
        DataFrame
            The statements as in ``constraints.to_frame()``, with their number `statement` and
            `doubt`, the probability that it is wrong, most doubtful first.
        """
        check_is_fitted(self)
        return most_doubted(self.constraints_, self.doubt_, n)

    def confidence(self, pairs: Any = None) -> FloatArray:
        """How sure the result is.

        Parameters
        ----------
        pairs : array-like of shape (m, 2), default=None
            Rows of `fit`.

        Returns
        -------
        ndarray
            Of pairs: from -1 (surely apart) to 1 (surely together), (m,). Without pairs: the
            probability of each row's label, (n_samples,).
        """
        check_is_fitted(self)
        shares = self.probabilities_
        if pairs is None:
            return shares[np.arange(len(shares)), self.labels_]
        first, second = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
        return 2 * np.einsum("ij,ij->i", shares[first], shares[second]) - 1

    def predict(self, X: Any) -> IntArray:
        """Cluster of new rows; statements are not applied again.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int32
            The cluster of each row.
        """
        check_is_fitted(self)
        X = check_new_rows(self, X, dtype=[np.float64, np.float32])
        return self._prior_of(X).argmax(axis=1).astype(np.int32)

    def _prior_of(self, X: Any) -> FloatArray:
        """What the models say of rows; one model alone is believed, not certain."""
        if self.model_ is not None:
            if isinstance(self.model_, KMeans):  # its loops take rows of the kind of its centres
                X = X.astype(self.model_.cluster_centers_.dtype, copy=False)
            dense = sp.issparse(X) and isinstance(self.model_, ReCon)
            labels = self.model_.predict(X.toarray() if dense else X)
            return softened(self._numbers_[labels], self.n_clusters_)
        X = self._seen(X)
        assert self.consensus_ is not None
        with one_blas_thread():  # blocks of few rows: on busy cores its threads mostly wait
            prior = self.consensus_.prior(X)
            return prior if self.by_class_ is None else self.by_class_.mixed(prior, X)

    def _seen(self, X: Any) -> FloatArray:
        """Rows as the models see them."""
        for step in self.steps_:
            X = step.transform(X)
        return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)

    # ------------------------------------------------------------------ known labels, going on

    _by_cluster: ClassVar[dict[str, int]] = {"probabilities_": 1, "prior_": 1}

    def _known_labels(self, X: Any, y: Any) -> Known | None:
        known = super()._known_labels(X, y)
        within = check_range(self.n_clusters_range) if self.n_clusters == "auto" else None
        if known and within and len(known.classes) > within[1]:
            raise ValueError(
                f"y names {len(known.classes)} classes, but n_clusters_range={within} allows fewer "
                "clusters. Widen it, or mark the rows of some classes as unknown (-1)."
            )
        return known

    def _heed(self, X: Any, known: Known, constraints: Constraints) -> None:
        """Where every cluster has a class, let rows of known classes vote on the others."""
        classes = np.unique(known.number[known.rows])
        few = len(known.rows) < FEW or len(classes) < self.n_clusters_
        if few or self.model_ is not None:
            return
        X = self._seen(check_new_rows(self, X, dtype=[np.float64, np.float32]))
        with one_blas_thread():
            found = heed(X, self.prior_, known.number, 0)
        self.by_class_, self.prior_, self.probabilities_ = (
            found.by_class,
            found.prior,
            found.believed,
        )
        others = constraints.pairwise
        if len(others):
            rates = rates_of(self.flip_rate, others.pairs()) or Rates(found.wrong, found.wrong)
            self.probabilities_ = believe(found.believed, others, rates).probability
        self._relabel(self.probabilities_.argmax(axis=1))
        pairs = self.constraints_.pairwise.pairs()
        doubt = doubt_of(pairs, self.probabilities_)
        self._tell_rates(wrong_shares(doubt, pairs), doubt, self.constraints_)
        self._tell_empty()
        self.reasons_.append(
            f"Rows of known classes vote on those near them, with a part of "
            f"{found.by_class.weight:.0%} beside the models: by how well each knows labels that "
            "it is not told."
        )

    _resumes: IntArray | None = None  # the labels that a copy made by `update` goes on from

    @property
    def _n_clusters(self) -> int:
        return self.n_clusters_

    def _renumber(self, number: IntArray) -> None:
        super()._renumber(number)
        if self.consensus_ is not None:
            self.consensus_ = self.consensus_.renumbered(number)
        if self.by_class_ is not None:
            self.by_class_ = self.by_class_.renumbered(number)
        if self.model_ is not None:
            self._numbers_ = number[self._numbers_]

    def _bind(self, rows: IntArray, numbers: IntArray) -> None:
        super()._bind(rows, numbers)
        self.probabilities_ = self.probabilities_.copy()
        self.probabilities_[rows] = np.eye(self.n_clusters_)[numbers]

    def _centers(self, X: Any) -> FloatArray:
        mass = np.bincount(self.labels_, minlength=self.n_clusters_).astype(np.float64)
        return means_of(X, self.labels_, mass, np.ones(X.shape[0]))

    def _resumed(self, X: Any, labels: IntArray, centers: FloatArray) -> "AutoCluster":
        inner: AutoCluster = copy.copy(self)
        if len(centers) > self.n_clusters_:  # of further clusters the models know nothing
            inner.n_clusters = len(centers)
        else:
            inner._resumes = labels
        return inner

    def _go_on(self, X: Any, constraints: Constraints) -> "AutoCluster":
        """Leave the models as they are; statements old and new have the last word."""
        prior = self.prior_
        if self.model_ is not None:
            prior = softened(prior.argmax(axis=1), self.n_clusters_)
        if X.shape[0] > len(prior):
            prior = np.vstack([prior, self._prior_of(X[len(prior) :])])
        if self.by_class_ is not None:
            return self._go_on_from_classes(prior, constraints)
        self.prior_ = self.probabilities_ = prior
        self.labels_ = prior.argmax(axis=1).astype(np.int32)
        self.constraints_, self.doubt_ = constraints, np.zeros(len(constraints))
        self.reasons_ = [*self.reasons_, "Updated since: new rows and statements, same models."]
        pairs = constraints.pairwise
        if len(pairs):
            must, cannot = (FIRST_RATE if np.isnan(share) else share for share in self.flip_rate_)
            rates = rates_of(self.flip_rate, pairs.pairs())
            if rates is None:
                rates = rates_of_shares((must, cannot), pairs.pairs())
            found = believe(prior, pairs, rates)
            self.probabilities_ = found.probability
            self.labels_ = found.probability.argmax(axis=1).astype(np.int32)
            self._tell_rates(found.shares, found.doubt, constraints)
        self.report_ = constraints.report(self.labels_)
        return self

    def _go_on_from_classes(self, prior: FloatArray, constraints: Constraints) -> "AutoCluster":
        """The same after known labels: these have spoken, so that only new statements speak."""
        pairs, before = constraints.pairwise, self.constraints_.pairwise
        said = {(*pair, sign) for pair, sign in _named(before)}
        new = [i for i, (pair, sign) in enumerate(_named(pairs)) if (*pair, sign) not in said]
        believed = np.vstack([self.probabilities_, prior[len(self.probabilities_) :]])
        if new:
            rates = rates_of(self.flip_rate, pairs[new].pairs()) or Rates(FIRST_RATE, FIRST_RATE)
            believed = believe(with_floor(believed), pairs[new], rates).probability
        self.prior_, self.probabilities_ = prior, believed
        self.labels_ = believed.argmax(axis=1).astype(np.int32)
        self.constraints_, self.doubt_ = constraints, np.zeros(len(constraints))
        self.reasons_ = [*self.reasons_, "Updated since: new rows and statements, same models."]
        doubt = doubt_of(pairs.pairs(), believed)
        self._tell_rates(wrong_shares(doubt, pairs.pairs()), doubt, constraints)
        self.report_ = constraints.report(self.labels_)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _named(known: Constraints) -> Iterator[tuple[tuple[int, int], int]]:
    """The two rows of each pair, the lower first, and its sign."""
    pairs, sign, _, _ = known.pairs()
    return zip(map(tuple, np.sort(pairs, axis=1).tolist()), sign.tolist(), strict=True)


def _for_choosing(X: FloatArray, pairs: Constraints, seed: int) -> tuple[FloatArray, Constraints]:
    """Rows and pairs that candidates are compared on: all, or a sample where there are many."""
    if len(X) <= MAX_ROWS_CHOOSING and len(pairs) <= MAX_STATEMENTS_CHOOSING:
        return X, pairs
    few = _drawn(pairs, SAMPLE_STATEMENTS, seed)
    return fewer_rows(X, few, seed, max_rows=SAMPLE_ROWS)


def _drawn(pairs: Constraints, most: int, seed: int) -> Constraints:
    """So many statements drawn at random, in their order; all where there are no more."""
    if len(pairs) <= most:
        return pairs
    drawn = np.random.RandomState(seed).choice(len(pairs), size=most, replace=False)
    return pairs[np.sort(drawn)]


def _weight(one: Judged) -> float:
    return one.weight


def _heard(one: Judged) -> Heard:
    found = one.member.found
    return Heard(one.weight, one.member.voice, found.responsibilities, found.log_prior, found.rates)


def _on_all(judged: list[Judged], X: FloatArray, pairs: Constraints) -> Iterator[Judged]:
    """The members that count, told all rows and `pairs`, from where they were; heaviest first."""
    heavy = sorted(judged, key=_weight, reverse=True)[:MOST_ON_ALL]
    total = sum(one.weight for one in heavy)
    there: dict[int, Scatter] = {}  # rows in each space, which members share
    votes = [one.member.voice for one in heavy if isinstance(one.member.voice, Votes)]
    counted = count_votes(votes, X)
    for number, one in enumerate(heavy, start=1):
        yield one._replace(
            member=_member_on_all(one.member, X, pairs, there, counted), weight=one.weight / total
        )
        later = {id(getattr(other.member.voice, "space", None)) for other in heavy[number:]}
        for space in there.keys() - later:
            del there[space]


def _member_on_all(
    member: Member,
    X: FloatArray,
    pairs: Constraints,
    there: dict[int, Scatter],
    counted: dict[Votes, Said],
) -> Member:
    """A mixture goes on from where it was; votes stand, and the statements speak."""
    voice = member.voice
    if isinstance(voice, Votes):
        assert isinstance(member.found, Voted)
        log_prior = counted.pop(voice).astype(np.float64)
        return member._replace(found=heard(member.found, log_prior, pairs.pairs()))
    space = id(voice.space)
    if space not in there:
        there[space] = Scatter(voice.space.transform(X))
    rows = there[space]
    found = doubting_mixture(
        rows,
        pairs.pairs(),
        voice.about(rows.mean),
        covariance_type=voice.covariance_type,
        max_iter=MAX_ITER_ALL,
    )
    mixed = Mixed(voice.space, rows.mean, found.mixture, voice.covariance_type)
    return member._replace(voice=mixed, found=found)
