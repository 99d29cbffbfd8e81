"""Clusterings that go on: known labels, new rows and new statements, and what they changed."""

import copy
from collections.abc import Callable, Mapping
from functools import wraps
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from conclust._arrays import (
    FloatArray,
    IntArray,
    brought_here,
    engine_of,
    is_afar,
    is_source,
)
from conclust._known_labels import Known, known_labels, start_at, statements_of
from conclust._lazy_labels import LazyLabels
from conclust._matching import renumbering
from conclust._pairs import connected
from conclust._placement.links import link_rows
from conclust._placement.sizes import bounds_of, fit_around
from conclust._validation import as_constraints, as_rows, check_enough_rows
from conclust.constraints import Constraints, n_rows
from conclust.exceptions import (
    InconsistentConstraintsError,
    InfeasibleConstraintsError,
    InfeasibleSizesError,
)

if TYPE_CHECKING:
    import pandas as pd

NEW, NAMED, LINKED, OPENED, FOLLOWED = (
    "new row",
    "named in a new statement",
    "must-linked to a row of a new statement",
    "a cluster opened there",
    "its cluster moved",
)


class Fitted(NamedTuple):
    """What `fit` was given and `update` needs again."""

    X: Any  # None: not kept on disk, nor where an engine has it
    more: dict[str, Any]  # sample_weight, …: one entry per row


def told(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a `fit`: labels known become statements and starts, and what it was given is kept."""

    @wraps(fit)
    def fit_and_keep(
        self: Any, X: Any, y: Any = None, *, constraints: Any = None, **more: Any
    ) -> Any:
        X = as_rows(self, X)
        known = self._known_labels(X, brought_here(y))
        if known is None:
            vars(self).pop("classes_", None)
            fit(self, X, constraints=constraints, **more)
            self.constraints_ = as_constraints(constraints, X)
        else:
            _fit_seeded(self, fit, known, X, as_constraints(constraints, X), more)
        self._keep_labels(X)
        vars(self).pop("_changes", None)
        # Of no use to `update`, a collection would be held by its engine as long as the model is.
        rows = None if is_source(X) and X.is_lazy else X
        self._fitted = Fitted(rows, {name: v for name, v in more.items() if v is not None})
        return self

    return fit_and_keep


def _fit_seeded(
    model: Any,
    fit: Callable[..., Any],
    known: Known,
    X: Any,
    constraints: Constraints,
    more: dict[str, Any],
) -> None:
    """Fit with known labels, and give clusters the numbers of their classes."""
    if more.get("priority") is not None:
        raise ValueError("priority cannot be given with y; give the constraints weights instead.")
    inner = copy.copy(model)
    if isinstance(getattr(model, "init", None), str):
        inner.init = start_at(known)
    if known.how == "hard":
        _check_room(inner, known, more)
    all_said = constraints + statements_of(known, keeps_all=model._keeps_all)
    try:
        fit(inner, X, constraints=all_said, **more)
    except InconsistentConstraintsError as error:
        if constraints.conflicts(max_listed=1):
            raise
        raise InconsistentConstraintsError(
            f"The labels in y contradict the constraints: together they say that "
            f"{error.conflicts[0]} Drop the statement, mark one of the rows as unknown (-1), or "
            "pass seeds='init'.",
            error.conflicts,
        ) from None
    n_clusters = inner._n_clusters
    if n_clusters < len(known.classes):  # it chose the number itself
        n_clusters = len(known.classes)
        setattr(inner, model._takes.clusters, n_clusters)
        fit(inner, X, constraints=all_said, **more)
        inner.reasons_.insert(0, f"{n_clusters} clusters: y names as many classes.")
    if not _has_own_sizes(inner):
        inner._renumber(renumbering(inner.labels_, known.number, n_clusters))
    inner._heed(X, known, constraints)
    if known.how == "hard":
        _bind_all(inner, X, known, all_said, more)
    _take_over(model, inner)
    model.constraints_ = all_said
    model.classes_ = np.append(known.classes, [None] * (n_clusters - len(known.classes)))


def _has_own_sizes(model: Any) -> bool:
    """Whether a cluster's number says how large it may be: it starts with it, and keeps it."""
    return max(np.ndim(getattr(model, name, 0)) for name in ("size_min", "size_max")) > 0


def _bounds(model: Any, more: dict[str, Any]) -> tuple[FloatArray, FloatArray] | None:
    """Least and largest size of each cluster; None where there are none."""
    sizes = getattr(model, "size_min", None), getattr(model, "size_max", None)
    if all(one is None for one in sizes):
        return None
    return bounds_of(*sizes, model._n_clusters, in_rows="sample_weight" not in more)


def _check_room(model: Any, known: Known, more: dict[str, Any]) -> None:
    """Refuse labels that bind more rows to a cluster than it may have, before anything is tried."""
    largest = getattr(model, "size_max", None)
    if largest is None:
        return
    weight = more.get("sample_weight")
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)[known.rows]
    mass = np.bincount(known.number[known.rows], weight, len(known.classes))
    upper = np.broadcast_to(largest, max(np.size(largest), len(mass)))[: len(mass)]
    for cluster in np.flatnonzero(mass > upper * (1 + 1e-9)):
        raise InfeasibleSizesError(
            f"By the labels in y cluster {cluster} has {mass[cluster]:g}, and its "
            f"size_max={upper[cluster]:g}. Widen size_max, or pass seeds='soft'."
        )


def _bind_all(
    model: Any, X: Any, known: Known, constraints: Constraints, more: dict[str, Any]
) -> None:
    """Put rows into the clusters of their classes; others make room where sizes demand it."""
    labels = model.labels_.astype(np.int64)
    labels[known.rows] = known.number[known.rows]
    bounds = _bounds(model, more)
    if bounds is not None:
        weight = more.get("sample_weight")
        weight = None if weight is None else np.asarray(weight, dtype=np.float64)
        cost = model.transform(X) ** 2 * (1.0 if weight is None else weight[:, np.newaxis])
        links = link_rows(constraints)
        price = links.weight * (np.inf if model._keeps_all else model.penalty_)
        labels = fit_around(labels, known.number >= 0, cost, links, price, weight, bounds)
    _put(model, X, np.arange(len(labels)), labels, more)


def _take_over(model: Any, inner: Any) -> None:
    """The fitted attributes of another fit, none of its parameters."""
    found = {name: value for name, value in vars(inner).items() if name.endswith("_")}
    vars(model).update(found)


class Living(LazyLabels):
    """`update`, for estimators whose `fit` is `told`."""

    # Fitted arrays with an entry for each cluster, and the axis of the clusters.
    _by_cluster: ClassVar[Mapping[str, int]] = {"cluster_centers_": 0}

    _takes: ClassVar[Any]
    _n_wraps: ClassVar[int] = 1  # of `fit`, for warnings that point to whoever called it
    _changes: dict[str, npt.NDArray[Any]]
    seeds: str | None
    labels_: Any
    report_: Any

    def update(
        self,
        X_new: Any = None,
        constraints_new: Constraints | None = None,
        *,
        X: Any = None,
        sample_weight_new: Any = None,
        n_clusters: int | None = None,
        keep: float = 0.99,
    ) -> Self:
        """Go on from this clustering with new rows, new statements, or both.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features), default=None
            Rows that come after those there are: their positions follow.
        constraints_new : Constraints, default=None
            Statements about old and new rows, beside those there are.
        X : array-like of shape (n_samples, n_features), default=None
            The rows there are. A fitted model refers to what it was given and needs none; one that
            was read from a file or copied does.
        sample_weight_new : array-like of shape (n_new,), default=None
            1 by default; of no use to an estimator that takes no weights.
        n_clusters : int, default=None
            How many clusters there shall be, not fewer than there are. By default more are opened
            only where statements that must be kept cannot be kept otherwise.
        keep : float, default=0.99
            The share of rows that keep their label at least, of those that no new statement names
            or joins to one it names. When more would move between old clusters, all of them stay
            but for those whose staying would break a statement, a size or the share set
            aside. 0 lets clusters move as they like.

        Returns
        -------
        self
            `labels_` of old rows first, numbers of clusters as they were, `constraints_` with the
            new ones, `changes_`. When it raises, nothing has changed.

        Examples
        --------
        >>> from conclust import Constraints, COPKMeans
        >>> model = COPKMeans(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]])
        >>> before = model.labels_
        >>> model = model.update([[10.0]], Constraints(must_link=[(1, 4)]))
        >>> model.changes_["why"].tolist()
        ['named in a new statement', 'new row']
        """
        return update(self, X_new, constraints_new, X, sample_weight_new, n_clusters, keep)

    @property
    def changes_(self) -> "pd.DataFrame":
        """What the last `update` changed: `row`, `from` (-1: it is new), `to`, `why`."""
        import pandas as pd

        if "_changes" not in vars(self):
            raise AttributeError("changes_ is there after `update`.")
        return pd.DataFrame(self._changes)

    # ------------------------------------------------------------------ for those who refine it

    @property
    def _keeps_all(self) -> bool:
        """Whether every statement is kept."""
        return bool(self._takes.hard)

    @property
    def _n_clusters(self) -> int:
        """How many clusters were found."""
        return int(getattr(self, next(iter(self._by_cluster))).shape[0])

    def _known_labels(self, X: Any, y: Any) -> Known | None:
        if y is None or self.seeds is None:
            return None
        asked = getattr(self, self._takes.clusters)
        n_clusters = None if isinstance(asked, str) else int(asked)
        how: dict[str, Any] = {"keeps_all": self._keeps_all, "name": type(self).__name__}
        return known_labels(y, self.seeds, n_rows(X), n_clusters, **how)

    def _heed(self, X: Any, known: Known, constraints: Constraints) -> None:
        """Learn more from known labels than the pairs they made say; `constraints` are others."""

    def _renumber(self, number: IntArray) -> None:
        """Give each cluster its new number."""
        old = np.argsort(number)
        for name, axis in self._by_cluster.items():
            setattr(self, name, np.take(getattr(self, name), old, axis=axis))
        self._relabel(np.append(number, -1)[self.labels_])

    def _relabel(self, labels: npt.NDArray[Any]) -> None:
        self.labels_ = labels.astype(self.labels_.dtype)
        self.report_ = self.report_.constraints.report(self.labels_)

    def _bind(self, rows: IntArray, numbers: IntArray) -> None:
        """Put rows into clusters, whatever was found."""
        labels = self.labels_.copy()
        labels[rows] = numbers
        self._relabel(labels)

    def _resumed(self, X: Any, labels: IntArray, centers: npt.NDArray[Any]) -> Any:
        """A copy that will start where this one is; `labels` and `centers` with opened clusters."""
        inner: Any = copy.copy(self)
        inner.init, inner.n_init, inner.n_clusters = centers, 1, len(centers)
        return inner

    def _centers(self, X: Any) -> npt.NDArray[Any]:
        """Centres of the clusters; X are the rows of `fit`."""
        return self.cluster_centers_  # type: ignore[attr-defined]

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        if "_fitted" not in state:
            return state
        return {**state, "_fitted": state["_fitted"]._replace(X=None)}


def update(
    model: Any,
    X_new: Any,
    constraints_new: Constraints | None,
    X: Any,
    sample_weight_new: Any,
    n_clusters: int | None,
    keep: float,
) -> Any:
    """`Living.update`, as a function."""
    check_is_fitted(model)
    if not (isinstance(keep, Real) and 0 <= keep <= 1):
        raise ValueError(f"keep={keep!r} is a share of rows, from 0 to 1.")
    n_before = model._n_clusters
    _check_n_clusters(n_clusters, n_before)
    _refuse_parts(model, X, X_new)
    fitted, before = _fitted_of(model, X), model.labels_
    rows = stacked(fitted.X, X_new)
    n_new = n_rows(rows) - len(before)
    check_enough_rows(n_rows(rows), n_clusters)
    grown, new = _grown(model.constraints_, constraints_new, rows, len(before) + n_new)
    more = _longer(fitted.more, sample_weight_new, len(before), n_new, grown)
    labels = np.append(before, model.predict(X_new)) if n_new else before.copy()
    labels = labels if (labels >= 0).all() else model.predict(rows)  # some are in no cluster
    inner = _refit(model, rows, labels.astype(np.int64), grown, more, n_clusters)
    why = _reasons(new, grown, len(before))
    moved = _to_put_back(inner, before, why, n_before, keep, more)
    _put(inner, rows, moved, before[moved], more)
    _take_over(model, inner)
    model.constraints_ = grown
    model._fitted = Fitted(rows, more)
    model._changes = _changes(before, model.labels_, why, n_before)
    return model


def _check_n_clusters(n_clusters: Any, n_before: int) -> None:
    if n_clusters is None:
        return
    if not isinstance(n_clusters, Integral):
        raise TypeError(f"n_clusters={n_clusters!r} must be a whole number, or None.")
    if n_clusters < n_before:
        raise ValueError(
            f"n_clusters={n_clusters}, but there are {n_before} clusters, and `update` closes "
            "none. Fit again with fewer, and give them their numbers with conclust.match_labels."
        )


def _refuse_parts(model: Any, X: Any, X_new: Any) -> None:
    """Refuse rows that are not all in memory, be it only that those of `fit` were not."""
    labels = getattr(model, "labels_", None)  # a copy leaves behind those of an engine
    given = model._fitted.X, X, X_new, labels
    if labels is None or any(is_source(one) or is_afar(one) or engine_of(one) for one in given):
        raise TypeError(
            "`update` needs all rows at once and takes none in blocks. Fit again with all rows, "
            "init=model.cluster_centers_ to start from what there is."
        )


def _fitted_of(model: Any, X: Any) -> Fitted:
    fitted: Fitted = model._fitted if X is None else model._fitted._replace(X=X)
    if fitted.X is None:
        raise ValueError(
            f"This {type(model).__name__} was read from a file or copied, and the rows it was "
            "fitted to are not kept with it: pass them as X."
        )
    if n_rows(fitted.X) != len(model.labels_):
        raise ValueError(
            f"X has {n_rows(fitted.X)} rows, but the model was fitted to {len(model.labels_)}; X "
            "is what it was fitted to, new rows are X_new."
        )
    return fitted


def stacked(X: Any, X_new: Any) -> Any:
    """Old rows and new ones below each other, as what they came."""
    if X_new is None:
        return X
    if hasattr(X, "iloc"):
        import pandas as pd

        if not hasattr(X_new, "iloc") or list(X_new.columns) != list(X.columns):
            raise ValueError(
                "X_new must be a data frame with the columns of the rows there are, in their "
                f"order: {', '.join(map(repr, list(X.columns)[:5]))}{', …' * (X.shape[1] > 5)}."
            )
        return pd.concat([X, X_new])
    old, new = (rows if sp.issparse(rows) else np.asarray(rows) for rows in (X, X_new))
    if new.ndim != 2 or new.shape[1] != old.shape[1]:
        raise ValueError(
            f"X_new has shape {new.shape}, but the rows there are have {old.shape[1]} features; "
            f"its shape must be (n_new, {old.shape[1]})."
        )
    if sp.issparse(old) or sp.issparse(new):
        return sp.vstack([sp.csr_array(old), sp.csr_array(new)], format="csr")
    return np.vstack([old, new])


def _grown(
    known: Constraints, new: Constraints | None, rows: Any, n_samples: int
) -> tuple[Constraints, Constraints]:
    """All statements, and the new ones, about all rows."""
    longer = known
    if known.n_samples != n_samples:
        has_names = known.ids is not None and hasattr(rows, "index")
        longer = known.extended(n_samples, rows.index.to_numpy() if has_names else None)
    if new is None:
        return longer, Constraints(n_samples=n_samples)
    if not isinstance(new, Constraints):
        raise TypeError(
            f"constraints_new must be a conclust.Constraints or None; got {type(new).__name__}. "
            "Make one with Constraints(must_link=[(0, 1)], cannot_link=[(0, 2)])."
        )
    if new.n_samples is not None and new.n_samples < n_samples and new.ids is None:
        new = new.extended(n_samples)  # said of the old rows alone
    new = as_constraints(new, rows)
    return longer + new, new


def _longer(
    more: dict[str, Any], weight_new: Any, n_old: int, n_new: int, grown: Constraints
) -> dict[str, Any]:
    """What `fit` takes one by one, with entries for what is new."""
    if "priority" in more:
        raise ValueError(
            "The model was fitted with priority, which says nothing of new statements; fit again "
            "with weights in the constraints instead."
        )
    if "sample_weight" not in more and weight_new is None:
        return more
    old = np.asarray(more.get("sample_weight", np.ones(n_old)))
    new = np.ones(n_new) if weight_new is None else np.asarray(weight_new)
    if new.shape != (n_new,):
        raise ValueError(
            f"sample_weight_new has shape {new.shape}, but there are {n_new} new rows; pass one "
            "weight for each."
        )
    return {**more, "sample_weight": np.append(old, new)}


# ---------------------------------------------------------------------- going on


def _refit(
    model: Any,
    X: Any,
    labels: IntArray,
    constraints: Constraints,
    more: dict[str, Any],
    n_clusters: int | None,
) -> Any:
    """Fit a copy that starts where the model is, with as many clusters as it takes."""
    fit = type(model).fit
    n_old = len(model.labels_)
    centers = model._centers(_as_points(X)[:n_old])
    for _ in range((n_clusters or 0) - len(centers)):
        labels, centers = _with_opened(model, X, labels, centers, constraints)
    while True:
        inner = model._resumed(X, labels, centers)
        try:
            fit(inner, X, constraints=constraints, **more)
            if not _has_own_sizes(inner):
                inner._renumber(renumbering(inner.labels_, labels, len(centers)))
            return inner
        except (InconsistentConstraintsError, InfeasibleSizesError):
            raise
        except InfeasibleConstraintsError:
            if n_clusters is not None or len(centers) >= len(labels):
                raise
            labels, centers = _with_opened(model, X, labels, centers, constraints)


def _with_opened(
    model: Any, X: Any, labels: IntArray, centers: npt.NDArray[Any], constraints: Constraints
) -> tuple[IntArray, npt.NDArray[Any]]:
    """One cluster more, where a cannot-link is broken, else in the cluster that is widest."""
    points = _as_points(X)
    pairs = constraints.pairs()
    broken = pairs.pairs[(pairs.sign < 0) & pairs.violated(labels)]
    if len(broken):
        unit, n_units = connected(constraints.must_link, len(labels))
        most = np.bincount(unit[broken[:, 1]], minlength=n_units).argmax()
        seed = np.flatnonzero(unit == most)
    else:
        squared = _squared_to(points, centers[labels])
        squared[np.bincount(labels)[labels] == 1] = -1  # a row alone cannot be parted
        widest = np.flatnonzero(labels == np.bincount(labels, weights=squared).argmax())
        half = KMeans(2, n_init=10, random_state=0).fit(points[widest]).labels_
        seed = widest[half == np.bincount(half).argmin()]
    center = np.asarray(points[seed].mean(axis=0)).reshape(1, -1)
    inside = labels == labels[seed[0]]
    nearer = _squared_to(points, center) < _squared_to(points, centers[labels])
    labels = np.where(inside & nearer, len(centers), labels)
    labels[seed] = len(centers)
    return labels, np.vstack([centers, center.astype(centers.dtype)])


def _as_points(X: Any) -> Any:
    return X.tocsr() if sp.issparse(X) else np.asarray(X, dtype=np.float64)


def _squared_to(points: Any, centers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Squared distance of each row to its centre, or to the one."""
    if not sp.issparse(points):
        squared: npt.NDArray[Any] = ((points - centers) ** 2).sum(axis=1)
        return squared
    centers = np.broadcast_to(centers, points.shape)
    norms = np.asarray(points.multiply(points).sum(axis=1)).ravel()
    inner = np.asarray(points.multiply(centers).sum(axis=1)).ravel()
    return norms - 2 * inner + (centers**2).sum(axis=1)


# ---------------------------------------------------------------------- what changed


def _reasons(new: Constraints, grown: Constraints, n_old: int) -> npt.NDArray[Any]:
    """Why each row may change: new, named, linked; empty for rows that are not concerned."""
    n_samples = grown.n_samples
    assert n_samples is not None
    unit, n_units = connected(grown.must_link, n_samples)
    is_named = np.zeros(n_samples, dtype=bool)
    is_named[new.samples] = True
    linked = np.bincount(unit[is_named], minlength=n_units)[unit] > 0
    why = np.full(n_samples, "", dtype=f"U{max(map(len, (NEW, NAMED, LINKED, OPENED, FOLLOWED)))}")
    why[linked] = LINKED
    why[is_named] = NAMED
    why[n_old:] = NEW
    return why


def _to_put_back(
    inner: Any,
    before: npt.NDArray[Any],
    why: npt.NDArray[Any],
    n_clusters: int,
    keep: float,
    more: dict[str, Any],
) -> IntArray:
    """Rows that are not concerned and moved, if too many of them did."""
    others = np.flatnonzero(why[: len(before)] == "")
    now = inner.labels_
    moved = others[(now[others] != before[others]) & (now[others] < n_clusters)]
    if len(moved) <= (1 - keep) * len(others):
        return moved[:0]
    constraints, held = inner.report_.constraints, now.copy()
    room = _room(inner, len(now), more)
    while len(moved):
        held[:] = inner.labels_
        held[moved] = before[moved]
        broken = inner.report_.kept & ~constraints.satisfied(held)
        # What a statement or a size moves must go; the others can stay.
        named = constraints[np.flatnonzero(broken)].samples
        goes = np.isin(moved, named) | room.lacks(held, moved, now[moved])
        if not goes.any():
            break
        moved = moved[~goes]
    return moved


class _Room(NamedTuple):
    """How much each cluster holds at least and at most; the last one is that of rows set aside."""

    lower: FloatArray
    upper: FloatArray
    mass: FloatArray  # (n_samples,)

    def lacks(
        self, held: npt.NDArray[Any], rows: IntArray, elsewhere: npt.NDArray[Any]
    ) -> npt.NDArray[np.bool_]:
        """Which of the rows must go elsewhere, so that no cluster is too large or too small."""
        load = np.bincount(held % len(self.lower), self.mass, len(self.lower))
        rounding = 1e-9 * float(self.mass.sum())
        goes = np.zeros(len(rows), dtype=bool)
        for labels, much in ((held[rows], load - self.upper), (elsewhere, self.lower - load)):
            for cluster in np.flatnonzero(much > rounding):
                there = np.flatnonzero(labels % len(load) == cluster)
                sums = np.cumsum(self.mass[rows[there]])
                goes[there[: np.searchsorted(sums, much[cluster] - rounding) + 1]] = True
        return goes


def _room(model: Any, n_samples: int, more: dict[str, Any]) -> _Room:
    n_clusters, share = model._n_clusters, getattr(model, "outliers", None)
    mass = np.asarray(more.get("sample_weight", np.ones(n_samples)), dtype=np.float64)
    lower, upper = _bounds(model, more) or (np.zeros(n_clusters), np.full(n_clusters, np.inf))
    aside = np.inf if share in (None, "auto") else float(share) * float(mass.sum())
    return _Room(np.append(lower, 0.0), np.append(upper, aside), mass)


def _put(model: Any, X: Any, rows: IntArray, numbers: IntArray, more: dict[str, Any]) -> None:
    """Put rows into clusters, whatever was found, and bring what follows from labels in line."""
    elsewhere = model.labels_[rows] != numbers
    rows, numbers = rows[elsewhere], numbers[elsewhere]
    if not len(rows):
        return
    weight = more.get("sample_weight")
    if hasattr(model, "inertia_"):
        growth = _growth(model, X, rows, numbers)
        step = float(growth.sum() if weight is None else growth @ np.asarray(weight)[rows])
        model.inertia_ += step
        if hasattr(model, "objective_"):
            model.objective_ += step
    model._bind(rows, numbers)
    if hasattr(model, "outlier_share_"):
        model.outlier_share_ = float(np.average(model.labels_ < 0, weights=weight))


def _growth(model: Any, X: Any, rows: IntArray, numbers: IntArray) -> npt.NDArray[Any]:
    """How much farther, squared, rows are from the centres of other clusters than of theirs."""
    squared = model.transform(X.iloc[rows] if hasattr(X, "iloc") else _taken(X, rows)) ** 2
    squared = np.column_stack([squared, np.zeros(len(rows))])  # in no cluster: no distance
    each = np.arange(len(rows))
    growth: npt.NDArray[Any] = squared[each, numbers] - squared[each, model.labels_[rows]]
    return growth


def _taken(X: Any, rows: IntArray) -> Any:
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def _changes(
    before: npt.NDArray[Any], now: npt.NDArray[Any], why: npt.NDArray[Any], n_clusters: int
) -> dict[str, npt.NDArray[Any]]:
    old = np.append(before, np.full(len(now) - len(before), -1, dtype=before.dtype))
    is_new = np.arange(len(now)) >= len(before)
    rows = np.flatnonzero((old != now) | is_new)
    reasons = why[rows]
    reasons[reasons == ""] = FOLLOWED
    reasons[(why[rows] == "") & (now[rows] >= n_clusters)] = OPENED
    return {"row": rows, "from": old[rows], "to": now[rows], "why": reasons}
