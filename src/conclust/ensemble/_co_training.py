"""CoTraining: several views of the same rows give each other constraints."""

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.metrics import normalized_mutual_info_score
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from conclust._declare import PAIRS, Named, Takes
from conclust._progress import Rounds, progress
from conclust._sklearn import Interval, StrOptions, fit_context
from conclust._summaries import Shown
from conclust._validation import (
    as_constraints,
    as_rows,
    check_enough_rows,
    check_inputs,
    check_new_rows,
)
from conclust.constraints import Constraints
from conclust.ensemble._consensus import CoAssociation
from conclust.ensemble._random_orders import ConstrainedKMeansEnsemble

# Pairs that each view adds in a round where nothing else is said: as many as in the paper.
PER_ROUND = 5
# What "auto" tries: no pairs, only must-links, only cannot-links, some of both.
SETTINGS = ((0, 0), (PER_ROUND, 0), (0, PER_ROUND), (2, 3))

# Members of an ensemble that is told nothing, to see how far a view gets by itself.
N_PROBES = 20


class Round(NamedTuple):
    """What one round did: clusterings of all views, and the pairs they added."""

    share_kept: float  # of the given statements, mean over the views
    n_must_link: int  # added
    n_cannot_link: int  # added
    n_skipped: int  # contradict what is given, or another view
    agreement: float  # mean NMI between the views' labels; NaN for a single view


class Added(NamedTuple):
    """Pairs that the views have added."""

    pairs: npt.NDArray[np.int64]  # (m, 2)
    sign: npt.NDArray[np.int8]  # (m,) +1 must-link, −1 cannot-link
    round: npt.NDArray[np.int64]  # (m,)
    view: npt.NDArray[np.int64]  # (m,)
    confidence: npt.NDArray[np.float64]  # (m,)


class Trained(NamedTuple):
    """The result of one co-training."""

    fitted: list[Any]  # the estimator of each view, of the last round that counts
    labels: npt.NDArray[np.int32]  # (rounds + 1, n_views, n_samples)
    added: Added
    history: list[Round]  # rounds + 1 records
    trust: float  # in the last of these rounds


NOTHING = Added(
    np.empty((0, 2), np.int64),
    np.empty(0, np.int8),
    np.empty(0, np.int64),
    np.empty(0, np.int64),
    np.empty(0),
)


def co_train(
    cluster: Callable[[int, Constraints, int], Any],
    given: Constraints,
    first: list[Any],
    counts: list[tuple[int, int]],
    n_rounds: int,
    random_state: np.random.RandomState,
    *,
    until_trusted: bool = False,
    on_round: Callable[[Round], object] | None = None,
) -> Trained:
    """Cluster every view, add the pairs each is surest of to the constraints of all, repeat.

    Parameters
    ----------
    cluster : callable
        ``cluster(view, constraints, seed)`` returns a fitted estimator with `labels_` and
        `co_association_`.
    given : Constraints
        With `n_samples`.
    first : list of estimators
        What ``cluster`` gives for each view and what is given.
    counts : list of (int, int)
        Must-links and cannot-links that each view adds in a round.
    n_rounds : int
        Rounds of adding; the views are clustered once more after the last.
    random_state : RandomState
    until_trusted : bool, default=False
        Whether to return the state after the round that `trust_in` is highest for, not the last,
        and to stop when nothing is added any more.
    on_round : callable, default=None
        Called with the `Round` of each.

    Returns
    -------
    Trained
    """
    closure = given.pairwise.repaired().closure(given.n_samples)
    known = given.pairs().pairs
    added, labels = NOTHING, []
    rounds = Rounds(Round, on_round)
    best: Trained | None = None
    for t in range(n_rounds + 1):
        told = given + as_pairs(added, given.n_samples)
        fitted = first if t == 0 else clustered(cluster, told, len(first), random_state)
        labels.append([model.labels_ for model in fitted])
        told_so_far, n_skipped = added, 0
        for view, model in enumerate(fitted if t < n_rounds else []):
            offered = offer(
                model.co_association_, counts[view], np.vstack([known, added.pairs]), random_state
            )
            n_offered = len(offered.sign)
            offered = offered._replace(
                round=np.full(n_offered, t), view=np.full(n_offered, view, dtype=np.int64)
            )
            offered = agreeing(offered, closure.implied(offered.pairs))
            n_skipped += n_offered - len(offered.sign)
            added = joined(added, offered)
        new = added.sign[len(told_so_far.sign) :]
        record = rounds.note(
            float(np.mean([given.report(one).weighted_share for one in labels[-1]])),
            int((new > 0).sum()),
            int((new < 0).sum()),
            n_skipped,
            agreement_of(labels[-1]),
        )
        trust = trust_in(record)
        if best is None or not until_trusted or trust > best.trust:
            records = list(rounds.history)
            best = Trained(fitted, np.array(labels, np.int32), told_so_far, records, trust)
        if until_trusted and not len(new):
            break
    assert best is not None
    return best


def clustered(
    cluster: Callable[[int, Constraints, int], Any],
    told: Constraints,
    n_views: int,
    random_state: np.random.RandomState,
) -> list[Any]:
    """Cluster every view."""
    return [cluster(view, told, random_state.randint(2**31 - 1)) for view in range(n_views)]


def offer(
    together: CoAssociation,
    counts: tuple[int, int],
    exclude: npt.NDArray[np.int64],
    random_state: np.random.RandomState,
) -> Added:
    """The pairs a view is surest of: so many together, so many apart; ties drawn uniformly."""
    n_must, n_cannot = counts
    sure = together.most_confident(n_must, exclude=exclude, random_state=random_state)
    exclude = np.vstack([exclude, sure.pairs])
    apart = together.least_confident(n_cannot, exclude=exclude, random_state=random_state)
    sign = np.repeat(np.array([1, -1], np.int8), [len(sure.pairs), len(apart.pairs)])
    return NOTHING._replace(
        pairs=np.vstack([sure.pairs, apart.pairs]),
        sign=sign,
        confidence=np.concatenate([sure.confidence, apart.confidence]),
    )


def agreeing(offered: Added, implied: npt.NDArray[np.int8]) -> Added:
    """Leave out what contradicts the closure of the given statements."""
    good = implied != -offered.sign
    return Added._make(np.asarray(column)[good] for column in offered)


def joined(first: Added, second: Added) -> Added:
    """Return the pairs of both."""
    return Added._make(
        np.concatenate([np.asarray(a), np.asarray(b)]) for a, b in zip(first, second, strict=True)
    )


def as_pairs(added: Added, n_samples: int | None) -> Constraints:
    """Return added pairs as constraints."""
    return Constraints(
        added.pairs[added.sign > 0], added.pairs[added.sign < 0], n_samples=n_samples
    )


def as_constraints_with_origin(added: Added, n_samples: int) -> Constraints:
    """Return added pairs as constraints that know their round, view and confidence."""
    import pandas as pd

    kinds = np.where(added.sign > 0, "must-link", "cannot-link")
    frame = pd.DataFrame(
        {
            "a": added.pairs[:, 0],
            "b": added.pairs[:, 1],
            "type": kinds,
            "round": added.round,
            "view": added.view,
            "confidence": added.confidence,
        }
    )
    return Constraints.from_frame(frame).on(n_samples)


def agreement_of(labels: list[np.ndarray]) -> float:
    """Mean NMI between the labels of each two views."""
    scores = [
        normalized_mutual_info_score(a, b) for i, a in enumerate(labels) for b in labels[i + 1 :]
    ]
    return float(np.mean(scores)) if scores else float("nan")


def trust_in(record: Round) -> float:
    """How far to trust the labels of a round, without the truth: more is better.

    Views that see different things agree about little but the truth, so the agreement between them
    counts, and so does the share of the given statements they keep.
    """
    return record.share_kept + float(np.nan_to_num(record.agreement))


# --- views -------------------------------------------------------------------------------------


def split_views(X: Any, columns: Any) -> list[Any] | None:
    """Return the views as a list; None when X is a single table."""
    if columns is not None:
        return [_columns(X, some) for some in columns]
    if isinstance(X, list | tuple) and X and all(_is_table(view) for view in X):
        return list(X)
    return None


def _columns(X: Any, names: Any) -> Any:
    if hasattr(X, "columns"):
        missing = [name for name in names if name not in X.columns]
        if missing:
            raise ValueError(f"views names the columns {missing[:5]}, which X does not have.")
        return X[list(names)]
    return np.asarray(X)[:, list(names)] if not hasattr(X, "tocsc") else X.tocsc()[:, list(names)]


def _is_table(view: Any) -> bool:
    if hasattr(view, "shape"):
        return len(view.shape) == 2
    return isinstance(view, list | tuple) and bool(view) and isinstance(view[0], list | tuple)


class CoTraining(Shown, ClusterMixin, BaseEstimator):
    """Several views of the same rows give each other constraints.

    Each round clusters every view with an ensemble, takes the pairs each is surest of and adds
    them to the constraints of all views. For few statements and two kinds of features that see
    different things, as the words of a page and the words of links to it.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    estimator : estimator, default=None
        An ensemble with `co_association_`; :class:`ConstrainedKMeansEnsemble` by default. Its
        `n_clusters` and `random_state` are set on the clones.
    n_rounds : int, default=10
        Rounds of adding pairs; the views are clustered once more after the last.
    n_must_link, n_cannot_link : int, "auto" or list of int, default=0 and 5
        Pairs that each view adds in a round, surest first; a list gives one number per view.
        "auto", for both, runs four settings (none, 5 and 0, 0 and 5, 2 and 3) and takes the one,
        and the round, whose views keep most of the given statements and agree best.
    views : list of lists of columns, default=None
        The columns of each view, where `fit` gets one table.
    consensus : {"best", "joint"}, default="best"
        "best": `labels_` are those of the view whose features alone, told nothing, keep most of the
        given statements. "joint" clusters the members of all views together.
    verbose : int, default=0
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
    view_labels_ : ndarray of shape (n_views, n_samples), int32
    round_labels_ : ndarray of shape (n_rounds + 1, n_views, n_samples), int32
        Labels of the views before the first pairs were added, and after each round.
    best_view_ : int
    view_scores_ : ndarray of shape (n_views,)
        Share of the given statements that each view keeps when it is told none.
    estimators_ : list of estimators
        The last one of each view.
    added_constraints_ : Constraints
        The pairs added; ``.to_frame()`` shows the `round`, `view` and `confidence` of each.
    n_must_link_, n_cannot_link_ : list of int
        Pairs per round of each view, as given or chosen.
    history_ : list of Round
        One record per round; what the last one added, if anything, was not used any more.
    n_iter_ : int
        Rounds of adding that count.
    converged_ : bool
        Whether the estimators of the last round converged.
    report_ : ConstraintReport
        Which of the given statements `labels_` keep.
    n_features_in_ : int
        Columns of all views together.

    See Also
    --------
    ConstrainedKMeansEnsemble : One view.

    Notes
    -----
    Pairs given or added before are not added again; a pair that contradicts the closure of the
    given statements is skipped and counted. Ties are massive (all members agree on many pairs) and
    drawn uniformly. Selection works on the label codes: no n × n array. A single table is one view,
    which then trains itself; "auto" then has no agreement to go by.

    Costs (n_rounds + 1) · n_views fits of `estimator`, three times that with "auto", and one of 20
    members for each of several views to tell which is better: told the statements, all views keep
    them.

    References
    ----------
    M. Okabe and S. Yamada (2012). Clustering with extended constraints by co-training. WI-IAT.
    Section III.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import CoTraining, sample_constraints
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 10, random_state=0)
    >>> sepals_and_petals = [X[:, :2], X[:, 2:]]
    >>> model = CoTraining(3, n_rounds=2, random_state=0)
    >>> model.fit(sepals_and_petals, constraints=known).view_labels_.shape
    (2, 150)
    >>> model.added_constraints_
    Constraints(20 cannot-link; 150 samples)
    """

    _takes: ClassVar[Takes] = Takes(
        PAIRS,
        how="by vote",
        when="several views of the same rows, few statements",
        names=(Named("cotraining", "two views teach each other"),),
        needs="two tables",
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "estimator": [None, BaseEstimator],
        "n_rounds": [Interval(Integral, 0, None, closed="left")],
        "n_must_link": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"}), list],
        "n_cannot_link": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"}), list],
        "views": [None, list],
        "consensus": [StrOptions({"best", "joint"})],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        estimator: Any = None,
        n_rounds: int = 10,
        n_must_link: Any = 0,
        n_cannot_link: Any = PER_ROUND,
        views: Any = None,
        consensus: str = "best",
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.estimator = estimator
        self.n_rounds = n_rounds
        self.n_must_link = n_must_link
        self.n_cannot_link = n_cannot_link
        self.views = views
        self.consensus = consensus
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> "CoTraining":
        """Cluster rows that are seen in several views.

        Parameters
        ----------
        X : list of tables, or {array-like, sparse matrix} of shape (n_samples, n_features)
            The views, with the same rows in the same order; or one table, cut up by `views` or
            taken as a single view.
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints, default=None
            Must-links and cannot-links.

        Returns
        -------
        self
            The fitted estimator.
        """
        views, given = self._check(X, constraints)
        random_state = check_random_state(self.random_state)
        settings = self._settings(len(views))
        base = ConstrainedKMeansEnsemble() if self.estimator is None else self.estimator

        def cluster(view: int, told: Constraints, seed: int, **settings: Any) -> Any:
            model = clone(base)
            has = model.get_params()
            for name, value in {"n_clusters": self.n_clusters, **settings}.items():
                if name in has:
                    model.set_params(**{name: value})
            model.set_params(random_state=seed).fit(views[view], constraints=told)
            if not hasattr(model, "co_association_"):
                raise TypeError(
                    f"estimator={type(base).__name__} has no `co_association_` after fit; pass an "
                    "ensemble such as ConstrainedKMeansEnsemble or BoostedConstrainedKMeans."
                )
            return model

        seed = random_state.randint(2**31 - 1)
        first = clustered(cluster, given, len(views), np.random.RandomState(seed))
        n_rounds = sum(1 + self.n_rounds * any(map(any, counts)) for counts in settings)
        best: tuple[Trained, list[tuple[int, int]]] | None = None
        with progress(self.verbose, type(self).__name__, n_rounds) as show:
            for counts in settings:
                trained = co_train(
                    cluster,
                    given,
                    first,
                    counts,
                    self.n_rounds,
                    np.random.RandomState(seed + 1),
                    # What is asked for is done to the end; "auto" may stop where trust is highest.
                    until_trusted=len(settings) > 1,
                    on_round=lambda record: show(record, advance=1),
                )
                if best is None or trained.trust > best[0].trust:
                    best = trained, counts
        assert best is not None
        trained, counts = best
        self.view_scores_ = np.ones(len(views))
        if len(views) > 1 and len(given):
            nothing = Constraints(n_samples=given.n_samples)
            n_members = min(getattr(base, "n_estimators", N_PROBES), N_PROBES)
            untold = [cluster(v, nothing, seed, n_estimators=n_members) for v in range(len(views))]
            self.view_scores_ = np.array(
                [given.report(model.labels_).weighted_share for model in untold]
            )
        self._keep(trained, given, random_state)
        self.n_must_link_ = [n for n, _ in counts]
        self.n_cannot_link_ = [n for _, n in counts]
        return self

    def _check(self, X: Any, constraints: Any) -> tuple[list[Any], Constraints]:
        views = split_views(X, self.views)
        if views is None:
            table, given = check_inputs(self, X, constraints, n_clusters=self.n_clusters)
            self._n_features = [table.shape[1]]
            return [table], given
        checked = []
        for number, view in enumerate(views):
            as_rows(self, view)
            checked.append(
                check_array(
                    view,
                    accept_sparse="csr",
                    dtype=[np.float64, np.float32],
                    order="C",
                    input_name=f"view {number}",
                    estimator=self,
                )
            )
        n_rows = [view.shape[0] for view in checked]
        if len(set(n_rows)) > 1:
            raise ValueError(
                f"The views have {n_rows} rows; they must describe the same rows in the same order."
            )
        check_enough_rows(n_rows[0], self.n_clusters)
        self._n_features = [view.shape[1] for view in checked]
        self.n_features_in_ = sum(self._n_features)
        return checked, as_constraints(constraints, views[0])

    def _settings(self, n_views: int) -> list[list[tuple[int, int]]]:
        """Numbers of pairs per view, for each setting to try."""
        automatic = [isinstance(value, str) for value in (self.n_must_link, self.n_cannot_link)]
        if all(automatic):
            return [[setting] * n_views for setting in SETTINGS]
        if any(automatic):
            raise ValueError(
                f"n_must_link={self.n_must_link!r} and n_cannot_link={self.n_cannot_link!r}: "
                'they are chosen together, so give "auto" for both or for neither.'
            )
        columns = []
        for name in ("n_must_link", "n_cannot_link"):
            value = getattr(self, name)
            numbers = list(value) if isinstance(value, list) else [value] * n_views
            if len(numbers) != n_views or any(int(n) != n or n < 0 for n in numbers):
                raise ValueError(
                    f"{name}={value!r} must be a whole number, or a list of {n_views} of them, one "
                    "per view."
                )
            columns.append([int(n) for n in numbers])
        return [list(zip(*columns, strict=True))]

    def _keep(
        self, trained: Trained, given: Constraints, random_state: np.random.RandomState
    ) -> None:
        self.estimators_, self.history_ = trained.fitted, trained.history
        self.converged_ = all(getattr(model, "converged_", True) for model in trained.fitted)
        self.round_labels_, self.view_labels_ = trained.labels, trained.labels[-1]
        self.n_iter_ = len(trained.history) - 1
        self.added_constraints_ = as_constraints_with_origin(trained.added, given.n_samples or 0)
        self.best_view_ = int(self.view_scores_.argmax())
        if self.consensus == "best":
            self.labels_ = self.view_labels_[self.best_view_]
        else:
            self.co_association_ = _joined(self.estimators_)
            found = self.co_association_.cluster(
                self.n_clusters, random_state=random_state.randint(2**31 - 1)
            )
            self.labels_, self.profiles_ = found.labels, found.profiles
        self.report_ = given.report(self.labels_)

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of new rows, given in the same views; constraints are not applied again.

        Parameters
        ----------
        X : as for `fit`
            The rows, new or old.

        Returns
        -------
        ndarray of shape (n_samples,), int32
            The cluster of each row.
        """
        check_is_fitted(self)
        views = split_views(X, self.views)
        if views is None:
            views = [check_new_rows(self, X, dtype=[np.float64, np.float32])]
        if len(views) != len(self.estimators_):
            raise ValueError(f"X has {len(views)} views, but fit had {len(self.estimators_)}.")
        if self.consensus == "best":
            return self.estimators_[self.best_view_].predict(views[self.best_view_])
        codes = [model.codes_of(view) for model, view in zip(self.estimators_, views, strict=True)]
        return self.co_association_.assign(np.hstack(codes), self.profiles_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes.sparse
        return tags


def _joined(models: list[Any]) -> CoAssociation:
    """Members of all views, every view with the same weight."""
    every = [model.co_association_ for model in models]
    dtype = np.result_type(*(one.codes.dtype for one in every))
    return CoAssociation(
        np.hstack([one.codes.astype(dtype) for one in every]),
        np.concatenate([one.weights / one.weights.sum() for one in every]),
    )
