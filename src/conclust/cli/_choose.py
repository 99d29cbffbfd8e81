"""Choose a method and a number of clusters without labels: hold out statements and look."""

import time
import warnings
from typing import Any, NamedTuple

from conclust._declare import Method, methods, why_not
from conclust.cli._errors import BadInput

# With fewer statements than this held-out shares are noise.
FEW = 20
N_SPLITS = 5
# Shares of held-out statements closer than this are the same.
AS_GOOD = 0.01
# If weighing does as well and breaks more of what it was told than this, some of it may be wrong.
FEW_BROKEN = 0.02
NAN = float("nan")
# Rows looked at while choosing: all that statements name, and others up to this many.
MAX_ROWS = 20_000
MAX_CLUSTERS = 10


class HeldOut(NamedTuple):
    """How a method does on statements it was not told."""

    score: float  # mean over folds of the share kept, must-links and others half each
    spread: float  # standard deviation over folds
    n_folds: int
    broken: float  # share of the statements it was told that it breaks, mean
    seconds: float  # one fit, mean
    failed: str  # why there is no score, or ""


class Choice(NamedTuple):
    """A method and why."""

    method: Method
    reasons: list[str]


class KPoint(NamedTuple):
    """One number of clusters tried."""

    n_clusters: int
    score: float
    spread: float
    feasible: bool


class KCurve(NamedTuple):
    """All numbers of clusters tried."""

    points: list[KPoint]
    chosen: int
    measure: str  # what the score is
    reason: str


def folds(constraints: Any, seed: int, n_splits: int = N_SPLITS) -> list[Any]:
    """At most `n_splits` folds over statements; none when they all hang together."""
    from conclust import ConstraintKFold

    for n in range(min(n_splits, len(constraints)), 1, -1):
        try:
            return list(ConstraintKFold(n, random_state=seed).split(constraints))
        except ValueError:  # fewer units than folds
            continue
    return []


def held_out(
    method: Method,
    X: Any,
    constraints: Any,
    n_clusters: int,
    seed: int,
    splits: list[Any],
    settings: dict[str, Any] | None = None,
    on_fold: Any = None,
) -> HeldOut:
    """Fit without each fold in turn and count what of it is kept."""
    import numpy as np

    from conclust import constraint_satisfaction_scorer
    from conclust.exceptions import ConclustError

    scores, broken, seconds = [], [], []
    for train, test in splits:
        began = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                estimator = fit(
                    method.make(n_clusters, seed, **(settings or {})), method, X, constraints[train]
                )
        except (ConclustError, ValueError, np.linalg.LinAlgError, MemoryError) as error:
            reason = str(error).strip().split("\n")[0] or type(error).__name__
            return HeldOut(NAN, NAN, len(splits), NAN, NAN, reason)
        seconds.append(time.perf_counter() - began)
        scores.append(constraint_satisfaction_scorer(estimator, constraints[test]))
        broken.append(1 - constraints[train].satisfied(estimator.labels_).mean())
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


def fit(estimator: Any, method: Method, X: Any, constraints: Any) -> Any:
    """Fit with the statements the method takes."""
    return estimator.fit(X, constraints=constraints) if method.kinds else estimator.fit(X)


def fewer_rows(X: Any, constraints: Any, seed: int) -> tuple[Any, Any]:
    """The rows that statements name and a sample of the others, where there are many."""
    import numpy as np

    from conclust import Constraints

    n_samples = X.shape[0]
    if n_samples <= MAX_ROWS:
        return X, constraints
    named = constraints.samples
    others = np.setdiff1d(np.arange(n_samples), named)
    n_others = max(MAX_ROWS - len(named), min(len(others), MAX_ROWS // 2))
    drawn = np.random.RandomState(seed).choice(
        others, size=min(n_others, len(others)), replace=False
    )
    rows = np.sort(np.concatenate([named, drawn]))
    plain = constraints.to_frame(ids=range(n_samples))
    return X[rows], Constraints.from_frame(plain, ids=rows.tolist())


def choose_method(
    X: Any, constraints: Any, n_clusters: int, seed: int, clashes: list[Any] | None = None
) -> Choice:
    """Choose by kinds of statements, whether they can all hold, and how true they seem.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
    constraints : Constraints
    n_clusters : int
    seed : int
    clashes : list of Conflict, default=None
        ``constraints.conflicts(n_clusters)`` where it is known.

    Returns
    -------
    Choice
    """
    if not constraints:
        return Choice(methods()["kmeans"], ["There are no statements, so this is plain k-means."])
    kinds = set(constraints.kinds.tolist())
    if "relative" in kinds:
        found = _for_relative(constraints, kinds, X.shape[0])
        if found is not None:
            return found
        reasons = [
            f"This version has no method for relative statements: the {len(constraints.relative)} "
            "of them are ignored."
        ]
        constraints = constraints[constraints.kinds != "relative"]
    else:
        reasons = []
    hard, soft = methods()["cop-kmeans"], methods()["pckmeans"]
    if clashes is None:
        clashes = constraints.conflicts(n_clusters)
    if clashes:
        reasons.append(
            f"The statements cannot all hold with {n_clusters} clusters "
            f"({_counted(len(clashes), 'conflict')}), so a method that may break some."
        )
        return Choice(soft, reasons)
    if len(constraints) < FEW:
        reasons.append(
            f"The {_counted(len(constraints), 'statement')} can all hold, and so few are all kept."
        )
        return Choice(hard, reasons)
    small, said = fewer_rows(X, constraints, seed)
    splits = folds(said, seed, 4)
    if not splits:
        reasons.append("The statements all hang together and can all hold, so they are all kept.")
        return Choice(hard, reasons)
    all_kept = held_out(hard, small, said, n_clusters, seed, splits)
    weighed = held_out(soft, small, said, n_clusters, seed, splits)
    return Choice(*_hard_or_soft(hard, soft, all_kept, weighed, reasons))


def _hard_or_soft(
    hard: Method, soft: Method, all_kept: HeldOut, weighed: HeldOut, reasons: list[str]
) -> tuple[Method, list[str]]:
    """Keep all statements unless held-out ones, or those a soft method breaks, speak against it."""
    shares = f"({all_kept.score:.0%} of them hold; weighing statements: {weighed.score:.0%})"
    if all_kept.score > weighed.score + AS_GOOD:
        why = f"The statements can all hold, and keeping all predicts held-out ones best {shares}."
        return hard, [*reasons, why]
    if not all_kept.score >= weighed.score - AS_GOOD:  # also when the hard method failed
        why = (
            "The statements can all hold, but some seem wrong: keeping all predicts held-out ones "
            f"worse {shares}."
        )
        return soft, [*reasons, why]
    if weighed.broken > FEW_BROKEN:
        why = (
            f"The statements can all hold, but some seem wrong: weighing them breaks "
            f"{weighed.broken:.0%} and predicts held-out ones as well as keeping all does {shares}."
        )
        return soft, [*reasons, why]
    why = (
        "The statements can all hold and fit the data: keeping all predicts held-out ones as well "
        f"as weighing does {shares}."
    )
    return hard, [*reasons, why]


def _for_relative(constraints: Any, kinds: set[str], n_samples: int) -> Choice | None:
    takers = [m for m in methods().values() if kinds <= m.kinds]
    for method in takers:
        if why_not(method, constraints, n_samples) is None:
            return Choice(
                method,
                [f"There are relative statements ({len(constraints.relative)}): {method.about}."],
            )
    if kinds == {"relative"}:
        raise BadInput(
            "All statements are relative, and no method of this version uses them. "
            "Add must-links or cannot-links."
        )
    return None


def choose_n_clusters(X: Any, constraints: Any, seed: int) -> KCurve:
    """Try 2, 3, … clusters: by held-out statements, or by stability where there are few.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
    constraints : Constraints
    seed : int

    Notes
    -----
    `ConstrainedKMeans` clusters: on iris (8 draws) it led to the numbers that `PCKMeans` led to, in
    a fifth of the time.
    """
    import numpy as np

    small, said = fewer_rows(X, constraints, seed)
    pairs = said[said.kinds != "relative"]
    both = {"must-link"} < set(pairs.kinds.tolist()) and len(pairs) >= FEW
    splits = folds(pairs, seed, 4) if both else []
    method = methods()["ckm"]
    points = []
    for k in range(2, min(MAX_CLUSTERS, small.shape[0] - 1) + 1):
        feasible = not pairs or not _too_few(pairs, k)
        if splits:
            found = held_out(method, small, pairs, k, seed, splits)
            score, spread = found.score, found.spread
        else:
            score, spread = stability(small, k, seed)
        points.append(KPoint(k, score, spread, feasible))
    if not points:
        return KCurve([], 1, "", "There are too few rows for more than one cluster.")
    allowed = [p for p in points if p.feasible and np.isfinite(p.score)] or points
    best = max(allowed, key=lambda p: p.score)
    if splits:
        error = best.spread / np.sqrt(len(splits))
        chosen = next(p for p in allowed if p.score >= best.score - error)
    else:  # two far groups of groups are stable, too: the finest of the most stable
        chosen = next(p for p in allowed[::-1] if p.score >= best.score - AS_GOOD)
    measure = "held-out statements kept" if splits else "stability (adjusted Rand index)"
    why = (
        "the fewest clusters within one standard error of the best"
        if splits
        else "the most that stay under resampling; too few statements of both kinds to hold out"
    )
    return KCurve(points, chosen.n_clusters, measure, f"{chosen.n_clusters} clusters: {why}.")


def _too_few(pairs: Any, n_clusters: int) -> bool:
    return any(c.kind == "too few clusters" for c in pairs.conflicts(n_clusters))


def stability(X: Any, n_clusters: int, seed: int, n_pairs: int = 5) -> tuple[float, float]:
    """Mean and spread of the agreement of k-means on pairs of random halves of the rows.

    Each half gives centres; both sets of centres label all rows.
    """
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score

    rng = np.random.RandomState(seed)
    half = max(n_clusters, X.shape[0] // 2)
    agreement = []
    for _ in range(n_pairs):
        labels = []
        for _ in range(2):
            rows = rng.choice(X.shape[0], size=half, replace=False)
            model = KMeans(n_clusters, n_init=5, random_state=rng.randint(2**31 - 1))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # fewer different rows than clusters
                model.fit(X[rows])
            labels.append(model.predict(X))
        agreement.append(adjusted_rand_score(*labels))
    return float(np.mean(agreement)), float(np.std(agreement))


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
