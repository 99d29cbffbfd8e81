"""Everything the page says, as plain values: no HTML here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from conclust._progress import curve_of
from conclust._words import note
from conclust.constraints import ConstraintReport, Constraints
from conclust.reporting._labels import check_clusters, check_lengths, check_rows
from conclust.reporting._map import Map, draw
from conclust.reporting._profiles import profiles

if TYPE_CHECKING:
    import pandas as pd

N_BROKEN = 200  # broken statements listed
N_PRIORITIES = 15
STANDS_OUT = 1.05  # times the median


@dataclass(frozen=True)
class Curve:
    """Values along rounds or numbers of clusters."""

    title: str
    x_label: str
    y_label: str
    x: list[float]
    y: list[float]
    spread: list[float] = field(default_factory=list)
    marked: float | None = None  # the x chosen
    note: str = ""


@dataclass(frozen=True)
class Facts:
    """One clustering and what is known about it."""

    title: str
    n_samples: int
    n_clusters: int
    method: str
    reasons: list[str]
    notes: list[str]
    ids: list[str]  # of the rows drawn
    labels: list[int]  # of the rows drawn, places in `names`; -1 in no cluster
    names: list[str]  # of the clusters, as they were given
    n_set_aside: int  # rows in no cluster
    sizes: list[int]
    phrases: list[list[str]]
    confidence: list[float]  # mean per cluster; empty where the method has none
    map: Map
    counts: list[tuple[str, int, int]]  # kind, given, kept
    n_violated: int
    violated: list[dict[str, Any]]
    priorities: list[tuple[str, float, bool]]  # statement, value, kept
    priority_title: str
    conflicts: list[str]
    curves: list[Curve]
    comparison: list[Mapping[str, Any]]
    details: Mapping[str, Any]


class About(TypedDict, total=False):
    """What may be said about a clustering besides rows, labels and statements."""

    report: ConstraintReport  # of the labels, where it is known already
    conflicts: Sequence[object]  # of the statements, where they are known already
    ids: Sequence[str]  # names of the rows
    frame: "pd.DataFrame | None"  # the user's columns, for the profiles, and which of them are …
    numbers: Sequence[str]
    categories: Sequence[str]
    texts: Sequence[str]
    title: str
    method: str
    reasons: Sequence[str]  # why this method
    notes: Sequence[str]  # what was done to the table
    history: Sequence[Any]  # records of the rounds, as `history_` holds them
    priorities: Any  # (n_statements,) learned, as `constraint_weights_`
    doubt: Any  # (n_statements,), as `doubt_`
    confidence: Any  # (n_samples,) between 0 and 1
    curve: Any  # numbers of clusters tried, their scores, and the one chosen
    comparison: Sequence[Mapping[str, Any]]  # one row per method
    projection: str  # "pca", "tsne" or "umap"
    seed: int  # of the projection and of what is drawn
    details: Mapping[str, Any]  # command, seed, parameters, inputs and versions are shown


def gather(
    X: Any, labels: Any, constraints: Constraints | None = None, **about: Unpack[About]
) -> Facts:
    """Collect what the page says.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        Of any kind; -1, None and NaN are rows in no cluster.
    constraints : Constraints, default=None
    **about : see `About`

    Returns
    -------
    Facts
    """
    unknown = about.keys() - About.__annotations__.keys()
    if unknown:
        raise TypeError(
            f"A report has no {min(unknown)!r}; besides X, labels and constraints it takes "
            f"{', '.join(About.__annotations__)}."
        )
    constraints = (constraints if constraints is not None else Constraints()).on_rows_of(X)
    X, columns = check_rows(X)
    clusters = check_clusters(labels, X.shape[0])
    check_lengths(X.shape[0], about)
    report = about.get("report") or constraints.report(labels)
    labels, n_clusters = clusters.codes, len(clusters.names)
    conflicts = about.get("conflicts")
    drawing = draw(
        X, constraints, report.kept, about.get("projection", "pca"), about.get("seed", 0)
    )
    ids = about.get("ids")
    names = range(len(labels)) if ids is None else ids
    ranked, ranked_title = _ranked(
        constraints, report.kept, about.get("priorities"), about.get("doubt")
    )
    curves = [_k_curve(about.get("curve")), _history(about.get("history", ()))]
    violated = report.violated.head(N_BROKEN).to_dict("records") if report.n_violated else []
    return Facts(
        title=about.get("title", "Clusters"),
        n_samples=len(labels),
        n_clusters=n_clusters,
        method=about.get("method", ""),
        reasons=list(about.get("reasons", ())),
        notes=list(about.get("notes", ())),
        ids=[str(names[i]) for i in drawing.rows],
        labels=labels[drawing.rows].tolist(),
        names=clusters.names,
        n_set_aside=clusters.n_set_aside,
        sizes=np.bincount(labels[labels >= 0], minlength=n_clusters).tolist(),
        phrases=profiles(
            X,
            labels,
            n_clusters,
            columns=columns,
            frame=about.get("frame"),
            numbers=about.get("numbers", ()),
            categories=about.get("categories", ()),
            texts=about.get("texts", ()),
        ),
        confidence=_mean_confidence(about.get("confidence"), labels, n_clusters),
        map=drawing,
        counts=[(kind, c.given, c.kept) for kind, c in report.counts.items()],
        n_violated=report.n_violated,
        violated=violated,
        priorities=ranked,
        priority_title=ranked_title,
        conflicts=list(map(str, constraints.conflicts() if conflicts is None else conflicts)),
        curves=[curve for curve in curves if curve is not None],
        comparison=list(about.get("comparison", ())),
        details=about.get("details", {}),
    )


def _mean_confidence(confidence: Any, labels: Any, n_clusters: int) -> list[float]:
    if confidence is None:
        return []
    inside = labels >= 0
    total = np.bincount(labels[inside], np.asarray(confidence)[inside], n_clusters)
    return (total / np.maximum(np.bincount(labels[inside], minlength=n_clusters), 1)).tolist()


def _ranked(
    constraints: Constraints, kept: Any, priorities: Any, doubt: Any
) -> tuple[list[tuple[str, float, bool]], str]:
    """The statements of highest learned priority, else the most doubted."""
    for values, title in (
        (priorities, "Learned priorities: the statements hardest to keep"),
        (doubt, "The statements least believed"),
    ):
        if values is None or len(values) != len(constraints) or not len(constraints):
            continue
        values = np.asarray(values)
        # Most statements share one value; only those above it say something.
        stands_out = np.flatnonzero(values > STANDS_OUT * np.median(values))
        order = stands_out[np.argsort(-values[stands_out], kind="stable")][:N_PRIORITIES]
        return [(_note(constraints, i), float(values[i]), bool(kept[i])) for i in order], title
    return [], ""


def _note(constraints: Constraints, i: Any) -> str:
    statement = constraints[int(i)]
    return note(statement.kind, [constraints.name(s) for s in statement.samples])


def _history(history: Sequence[Any]) -> Curve | None:
    """The number to watch along the rounds, from the records of any estimator."""
    if len(history) < 2 or not hasattr(history[0], "_fields"):
        return None
    name = curve_of(history[0])
    values = [float(getattr(record, name)) for record in history]
    if not np.isfinite(values).all():
        return None
    rounds = [float(i + 1) for i in range(len(values))]
    return Curve(f"History of the fit: {name}", "round", name, rounds, values)


def _k_curve(curve: Any) -> Curve | None:
    if curve is None or not curve.points:
        return None
    points = [p for p in curve.points if np.isfinite(p.score)]
    return Curve(
        "How many clusters?",
        "number of clusters",
        curve.measure,
        [float(p.n_clusters) for p in points],
        [p.score for p in points],
        [p.spread for p in points],
        float(curve.chosen),
        curve.reason,
    )
