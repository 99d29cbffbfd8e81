"""Choose a method without labels: hold out statements and look."""

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from conclust._arrays import IntArray
from conclust._fitting import fit_told, labels_of
from conclust._folds import AS_GOOD, FEW, N_FOLDS
from conclust._words import count_conflicts
from conclust.cluster import COPKMeans, PCKMeans
from conclust.constraints import MAX_LISTED, Conflict, Constraints
from conclust.exceptions import ConclustError
from conclust.hierarchy import ReCon
from conclust.model_selection._search import constraint_satisfaction_scorer
from conclust.model_selection._split import ConstraintKFold

# If weighing does as well and breaks more of what it was told than this, some of it may be wrong.
FEW_BROKEN = 0.02
NAN = float("nan")
# Rows looked at while choosing: all that statements name, and others up to this many.
MAX_ROWS = 20_000
# Starts of the methods that start once by default.
N_INIT = 10

Split = tuple[IntArray, IntArray]


class HeldOut(NamedTuple):
    """How an estimator does on statements it was not told.

    Attributes
    ----------
    score : float
        Mean over folds of the share kept, must-links and others half each.
    spread : float
        Standard deviation over folds.
    n_folds : int
        How many folds there were.
    broken : float
        Share of the statements it was told that it breaks, mean.
    seconds : float
        One fit, mean.
    failed : str
        Why there is no score, or "".
    """

    score: float
    spread: float
    n_folds: int
    broken: float
    seconds: float
    failed: str


class Choice(NamedTuple):
    """An estimator, not yet fitted, and why.

    Attributes
    ----------
    estimator : estimator
        Not fitted.
    reasons : list of str
        Sentences for people.
    """

    estimator: Any
    reasons: list[str]


def held_out_score(
    estimator: Any,
    X: Any,
    constraints: Constraints,
    *,
    cv: ConstraintKFold | Iterable[Split] | None = None,
    on_fold: Callable[[], None] | None = None,
) -> HeldOut:
    """Fit without each fold of statements in turn and count what of it is kept.

    Parameters
    ----------
    estimator : clusterer or Pipeline that ends in one
        One that takes no constraints is told nothing, which makes a baseline. It is cloned.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    constraints : Constraints
        The statements, a part of which is held out in turn.
    cv : ConstraintKFold or iterable of (train, test), default=None
        Which statements are held out; ``ConstraintKFold(5, random_state=0)`` by default.
    on_fold : callable, default=None
        Called after each fold.

    Returns
    -------
    HeldOut
        `score`, `spread`, `n_folds`, `broken`, `seconds`, and `failed`: why there is no score (it
        is then NaN), for instance since a hard method cannot keep all it is told.

    See Also
    --------
    ConstraintSearchCV : Choose among settings of one estimator.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from conclust import COPKMeans, sample_constraints
    >>> from conclust.model_selection import held_out_score
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 100, random_state=0)
    >>> told = held_out_score(COPKMeans(3, random_state=0), X, known)
    >>> told_nothing = held_out_score(KMeans(3, n_init=10, random_state=0), X, known)
    >>> told.score > told_nothing.score
    True
    """
    constraints = constraints.on_rows_of(X)
    if cv is None:
        cv = ConstraintKFold(random_state=0)
    splits = list(cv.split(constraints) if isinstance(cv, ConstraintKFold) else cv)
    scores, broken, seconds = [], [], []
    for train, test in splits:
        began = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = fit_told(clone(estimator), X, constraints[train])
        except (ConclustError, ValueError, np.linalg.LinAlgError, MemoryError) as error:
            reason = str(error).strip().split("\n")[0] or type(error).__name__
            return HeldOut(NAN, NAN, len(splits), NAN, NAN, reason)
        seconds.append(time.perf_counter() - began)
        scores.append(constraint_satisfaction_scorer(fitted, constraints[test]))
        broken.append(1 - constraints[train].satisfied(labels_of(fitted)).mean())
        if on_fold is not None:
            on_fold()
    return HeldOut(
        float(np.mean(scores)),
        float(np.std(scores)),
        len(splits),
        float(np.mean(broken)),
        float(np.mean(seconds)),
        "",
    )


def folds(constraints: Constraints, random_state: Any, n_splits: int) -> list[Split]:
    """At most `n_splits` folds over statements; none when they all hang together."""
    for n in range(min(n_splits, len(constraints)), 1, -1):
        try:
            return list(ConstraintKFold(n, random_state=random_state).split(constraints))
        except ValueError:  # fewer units than folds
            continue
    return []


def fewer_rows(
    X: Any, constraints: Constraints, random_state: Any, *, max_rows: int | None = None
) -> tuple[Any, Constraints]:
    """The rows that statements name and a sample of the others, where there are many."""
    n_samples = X.shape[0]
    max_rows = MAX_ROWS if max_rows is None else max_rows
    if n_samples <= max_rows:
        return X, constraints
    named = constraints.samples
    others = np.setdiff1d(np.arange(n_samples), named)
    n_others = max(max_rows - len(named), min(len(others), max_rows // 2))
    drawn = check_random_state(random_state).choice(
        others, size=min(n_others, len(others)), replace=False
    )
    rows = np.sort(np.concatenate([named, drawn]))
    if constraints.apart_groups:  # written out: their pairs are dealt into folds one by one
        plain = constraints.to_frame(ids=range(n_samples))
        return X[rows], Constraints.from_frame(plain, ids=rows.tolist())
    place = np.full(n_samples, -1)
    place[rows] = np.arange(len(rows))
    return X[rows], constraints.moved(place, len(rows), ids=rows)


def choose_method(
    X: Any,
    constraints: Constraints,
    n_clusters: int,
    *,
    conflicts: Sequence[Conflict] | None = None,
    random_state: Any = None,
) -> Choice:
    """Choose by kinds of statements, whether they can all hold, and how true they seem.

    Without statements: k-means. With relative ones: :class:`~conclust.ReCon`, which doubts and
    repairs if they contradict each other. With pairs that cannot all hold:
    :class:`~conclust.PCKMeans`. Else :class:`~conclust.COPKMeans`, unless held-out statements speak
    for PCKMeans.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        With more than 20 000 rows those that statements name and a sample of the others are used.
    constraints : Constraints
        The statements, a part of which is held out in turn.
    n_clusters : int
        How many clusters to form.
    conflicts : list of Conflict, default=None
        ``constraints.conflicts(n_clusters)``, if known already.
    random_state : int, RandomState or None, default=None
        Draws the folds and is handed to the estimator, as a number.

    Returns
    -------
    Choice
        The `estimator`, not yet fitted, and `reasons`, sentences for the user.

    See Also
    --------
    AutoCluster : An estimator that chooses as it is fitted.
    held_out_score : What it compares by.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import sample_constraints
    >>> from conclust.model_selection import choose_method
    >>> X, y = load_iris(return_X_y=True)
    >>> wrong = sample_constraints(y, 200, noise=0.1, random_state=0)
    >>> choice = choose_method(X, wrong, 3, random_state=0)
    >>> choice.estimator
    PCKMeans(n_clusters=3, random_state=0)
    >>> labels = choice.estimator.fit(X, constraints=wrong).labels_
    """
    constraints = constraints.on_rows_of(X)
    seed = as_seed(random_state)
    if not constraints:
        return Choice(
            KMeans(n_clusters, n_init=N_INIT, random_state=seed),
            ["There are no statements, so this is plain k-means."],
        )
    if len(constraints.relative):
        why = f"There are relative statements ({len(constraints.relative)}): "
        if _contradict(constraints, conflicts):
            why += "a tree, without the doubtful ones, since some contradict each other."
            doubting = ReCon(n_clusters=n_clusters, on_conflict="repair", flip_rate="auto")
            return Choice(doubting, [why])
        return Choice(ReCon(n_clusters=n_clusters), [why + "a tree that keeps them all."])
    hard = COPKMeans(n_clusters, random_state=seed)
    soft = PCKMeans(n_clusters, random_state=seed)
    clashes = constraints.conflicts(n_clusters) if conflicts is None else conflicts
    if clashes:
        why = (
            f"The statements cannot all hold with {n_clusters} clusters "
            f"({count_conflicts(len(clashes), MAX_LISTED)}), so a method that may break some."
        )
        return Choice(soft, [why])
    if len(constraints) < FEW:
        why = (
            f"The {_counted(len(constraints), 'statement')} can all hold, and so few are all kept."
        )
        return Choice(hard, [why])
    small, said = fewer_rows(with_rows(X), constraints, seed)
    splits = folds(said, seed, N_FOLDS)
    if not splits:
        why = "The statements all hang together and can all hold, so they are all kept."
        return Choice(hard, [why])
    keep_all, why = _hard_or_soft(
        held_out_score(hard, small, said, cv=splits), held_out_score(soft, small, said, cv=splits)
    )
    return Choice(hard if keep_all else soft, [why])


def _contradict(constraints: Constraints, conflicts: Sequence[Conflict] | None) -> bool:
    """Whether statements contradict each other whatever the number of clusters."""
    found = constraints.conflicts(max_listed=1) if conflicts is None else conflicts
    return any(conflict.kind != "too few clusters" for conflict in found)


def _hard_or_soft(all_kept: HeldOut, weighed: HeldOut) -> tuple[bool, str]:
    """Keep all statements unless held-out ones, or those a soft method breaks, speak against it."""
    shares = f"({all_kept.score:.0%} of them hold; weighing statements: {weighed.score:.0%})"
    if all_kept.score > weighed.score + AS_GOOD:
        return True, (
            f"The statements can all hold, and keeping all predicts held-out ones best {shares}."
        )
    if not all_kept.score >= weighed.score - AS_GOOD:  # also when the hard method failed
        return False, (
            "The statements can all hold, but some seem wrong: keeping all predicts held-out ones "
            f"worse {shares}."
        )
    if weighed.broken > FEW_BROKEN:
        return False, (
            f"The statements can all hold, but some seem wrong: weighing them breaks "
            f"{weighed.broken:.0%} and predicts held-out ones as well as keeping all does {shares}."
        )
    return True, (
        "The statements can all hold and fit the data: keeping all predicts held-out ones as well "
        f"as weighing does {shares}."
    )


def as_seed(random_state: Any) -> int:
    """One number for folds and estimators, so that an integer means the same in all of them."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def with_rows(X: Any) -> Any:
    """X as something whose rows can be taken by position."""
    return X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
