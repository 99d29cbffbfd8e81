"""Everything the page says, as plain values: no HTML here."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from conclust._drawn import check_clusters, check_rows
from conclust._progress import curve_of
from conclust.constraints import ConstraintReport, Constraints, RelativeCount
from conclust.reporting._before import Before, before
from conclust.reporting._cases import (
    LIKELY_WRONG,
    Case,
    broken_cases,
    conflict_cases,
    hardest_cases,
    little_believed,
)
from conclust.reporting._map import Map, draw
from conclust.reporting._names import first_of, given_names, names_of_classes
from conclust.reporting._profiles import MAX_LEVELS, deciding_column, named_columns, profiles
from conclust.reporting._rows import Row, Window, is_numeric, typical_rows

if TYPE_CHECKING:
    import pandas as pd

N_BRANCHES, N_LEAVES = 40, 200  # of a tree at a glance, and of the whole
N_TYPICAL_CLUSTERS = 40  # the largest, of which typical rows are shown


@dataclass(frozen=True)
class Curve:
    """Values along rounds or numbers of clusters."""

    title: str
    x_label: str
    y_label: str
    x: list[float]
    y: list[float]
    spread: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)  # a second line on the same scale
    other_label: str = ""
    marked: float | None = None  # the x chosen
    note: str = ""
    is_aside: bool = False  # of interest to few


@dataclass(frozen=True)
class Facts:
    """One clustering and what is known about it."""

    title: str
    source: str  # what the rows are rows of
    date: str
    labels_in: str  # where the label of each row is written
    n_samples: int
    n_clusters: int
    method: str
    reasons: list[str]
    notes: list[str]
    warnings: list[str]  # what to distrust
    decides: str  # the column that decides alone, if one does
    ids: list[str]  # of the rows drawn
    labels: list[int]  # of the rows drawn, places in `names`; -1 in no cluster
    names: list[str]  # of the clusters, as they were given
    titles: list[str]  # of the clusters: the user's, known classes', else by profile; or empty
    is_named: list[bool]  # whether the user or known classes named the cluster
    n_set_aside: int  # rows in no cluster
    sizes: list[int]
    phrases: list[list[str]]
    confidence: list[float]  # mean per cluster; empty where the method has none
    columns: list[str]  # of the rows to look at
    typical: dict[int, list[Row]]  # by cluster
    map: Map
    counts: list[tuple[str, int, int]]  # kind, given, kept
    relative: RelativeCount  # what became of the relative ones
    n_violated: int
    n_doubted: int  # of those broken: likely wrong; 0 where nobody tells
    broken: list[Case]
    suspects: list[Case]  # kept, yet hard to keep or little believed
    suspects_title: str
    n_conflicts: int
    conflicts: list[Case]
    before: Before | None
    trees: list[str]  # SVG of a hierarchy: its upper branches, and all of it where that is more
    curves: list[Curve]
    comparison: list[Mapping[str, Any]]
    details: Mapping[str, Any]


class About(TypedDict, total=False):
    """What may be said about a clustering besides rows, labels and statements.

    See Also
    --------
    write_report : Writes the page, and takes these by name.

    Examples
    --------
    >>> from conclust.reporting import About
    >>> about: About = {"title": "Customers", "method": "PCKMeans", "names": ["small", "large"]}
    """

    report: ConstraintReport  # of the labels, where it is known already
    conflicts: Sequence[object]  # of the statements, where they are known already
    ids: Sequence[str]  # names of the rows
    features: Sequence[str]  # names of the columns of X
    frame: "pd.DataFrame | None"  # the user's columns, to show, and which of them are …
    numbers: Sequence[str]
    categories: Sequence[str]
    texts: Sequence[str]  # by what they hold if nothing is said
    title: str
    source: str  # what the rows are rows of, such as the name of a file
    date: str  # today by default
    labels_in: str  # where the label of each row is written
    names: Mapping[Any, str] | Sequence[str] | None  # of the clusters, by label or in order
    classes: Any  # (n_samples,) known classes of some rows, to name the clusters by
    method: str
    reasons: Sequence[str]  # why this method
    notes: Sequence[str]  # what was done to the table
    warnings: Sequence[str]  # what a reader should know before relying on the clusters
    history: Sequence[Any]  # records of the rounds, as `history_` holds them
    priorities: Any  # (n_statements,) learned, as `constraint_weights_`
    doubt: Any  # (n_statements,), as `doubt_`
    confidence: Any  # (n_samples,) between 0 and 1
    tree: Any  # a fitted hierarchy, to be drawn
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
        What was said of the rows.
    **about : see `About`
        Fields of `About`.

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
    columns = list(about.get("features") or columns or ()) or None
    clusters = check_clusters(labels, X.shape[0])
    check_lengths(X.shape[0], about)
    report = about.get("report") or constraints.report(labels)
    labels, n_clusters, seed = clusters.codes, len(clusters.names), about.get("seed", 0)
    drawing = draw(X, constraints, report.kept, about.get("projection", "pca"), seed)
    frame, kinds = about.get("frame"), kinds_of_columns(about)
    profile = profiles(X, labels, n_clusters, columns=columns, frame=frame, **kinds)
    rows = _names_of_rows(about.get("ids"), constraints)
    window = Window(
        X,
        rows,
        labels,
        profile.columns,
        columns=columns,
        frame=frame,
        texts=kinds["texts"],
        used=[*kinds["numbers"], *kinds["categories"]],
    )
    called = first_of(
        given_names(clusters, about.get("names")), names_of_classes(clusters, about.get("classes"))
    )
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters).tolist()
    largest = sorted(range(n_clusters), key=lambda c: (-sizes[c], c))[:N_TYPICAL_CLUSTERS]
    doubt = _values(about.get("doubt"), constraints)
    suspects, suspects_title = _suspects(constraints, report.kept, doubt, window, about)
    conflicts = about.get("conflicts")
    conflicts = constraints.conflicts() if conflicts is None else conflicts
    curves = [_k_curve(about.get("curve")), _history(about.get("history", ()))]
    by_profile = [
        name if label.isdecimal() else ""
        for label, name in zip(clusters.names, profile.names, strict=True)
    ]
    return Facts(
        title=about.get("title", "Clusters"),
        source=about.get("source", ""),
        date=about.get("date") or f"{date.today():%d %B %Y}".lstrip("0"),
        labels_in=about.get("labels_in", ""),
        n_samples=len(labels),
        n_clusters=n_clusters,
        method=about.get("method", ""),
        reasons=[plainly(reason) for reason in about.get("reasons", ())],
        notes=[plainly(note) for note in about.get("notes", ())],
        warnings=[plainly(warning) for warning in about.get("warnings", ())],
        decides=_deciding(X, labels, columns, frame),
        ids=[str(rows[i]) for i in drawing.rows],
        labels=labels[drawing.rows].tolist(),
        names=clusters.names,
        titles=first_of(called, by_profile),
        is_named=[bool(name) for name in called],
        n_set_aside=clusters.n_set_aside,
        sizes=sizes,
        phrases=profile.phrases,
        confidence=_mean_confidence(about.get("confidence"), labels, n_clusters),
        columns=window.columns,
        typical=dict(zip(largest, typical_rows(X, labels, largest, window), strict=True)),
        map=drawing,
        counts=[(kind, c.given, c.kept) for kind, c in report.counts.items()],
        relative=report.relative,
        n_violated=report.n_violated,
        n_doubted=_n_doubted(doubt, report.kept),
        broken=broken_cases(constraints, report.kept, doubt, window),
        suspects=suspects,
        suspects_title=suspects_title,
        n_conflicts=len(conflicts),
        conflicts=conflict_cases(conflicts, window),
        before=(
            before(X, labels, n_clusters, constraints, seed)
            if about.get("method") != "KMeans"
            else None
        ),
        trees=_trees(about.get("tree"), rows, constraints),
        curves=[curve for curve in curves if curve is not None],
        comparison=list(about.get("comparison", ())),
        details=about.get("details", {}),
    )


def check_lengths(n_samples: int, about: Mapping[str, Any]) -> None:
    """Refuse names, confidences or a frame that are not about as many rows."""
    for name in ("ids", "confidence", "frame", "classes"):
        value = about.get(name)
        if value is not None and len(value) != n_samples:
            raise ValueError(
                f"{name} has {len(value)} entries, but X has {n_samples} rows; pass one per row."
            )


# An option such as --raw, or a call such as suspects().
_FOR_USERS = re.compile(r"(^|[\s(])--[a-z]|\w\(\)")
_ASIDE = re.compile(r" \([^()]+\)")
_CLAUSES = re.compile(r"(?<=[;.])\s")


def plainly(sentence: str) -> str:
    """The sentence without clauses about options and calls, which a reader has not got."""
    shorter = _ASIDE.sub(lambda aside: "" if _FOR_USERS.search(aside[0]) else aside[0], sentence)
    clauses = [clause for clause in _CLAUSES.split(shorter) if not _FOR_USERS.search(clause)]
    if not clauses:
        return sentence
    return re.sub(r";$", ".", " ".join(clauses))


def _deciding(X: Any, labels: Any, columns: Sequence[str] | None, frame: Any) -> str:
    if columns is None and frame is not None:
        return ""  # a reader of that frame would not know what x1 is
    return deciding_column(X, labels, named_columns(X, columns)) or ""


def _trees(model: Any, names: Any, constraints: Constraints) -> list[str]:
    from conclust.reporting._tree import dendrogram_svg

    if model is None:
        return []
    limits = [N_BRANCHES, N_LEAVES] if len(names) > N_BRANCHES else [N_LEAVES]
    return [
        dendrogram_svg(model, names=names, constraints=constraints, max_leaves=n) for n in limits
    ]


def kinds_of_columns(about: About) -> dict[str, Sequence[str]]:
    """Which columns of the frame are of which kind: as told, else by what they hold."""
    numbers, categories = about.get("numbers", ()), about.get("categories", ())
    frame, texts = about.get("frame"), about.get("texts", ())
    if frame is not None and not (len(numbers) or len(categories) or len(texts)):
        numbers = [name for name, column in frame.items() if is_numeric(column)]
        most = min(MAX_LEVELS, len(frame))  # as many values as rows are names of rows
        categories = [n for n in frame if n not in numbers and frame[n].nunique() < most]
    return {"numbers": numbers, "categories": categories, "texts": texts}


def _names_of_rows(ids: Any, constraints: Constraints) -> Any:
    for names in (ids, constraints.ids):
        if names is not None:
            return names
    return range(constraints.n_samples or 0)


def _values(values: Any, constraints: Constraints) -> Any:
    """Values of the statements, or None where they are not about these."""
    usable = values is not None and 0 < len(values) == len(constraints)
    return np.asarray(values, dtype=np.float64) if usable else None


def _n_doubted(doubt: Any, kept: Any) -> int:
    """How many broken statements a method holds for wrong; of 0 and 1 alone nothing follows."""
    if doubt is None or np.isin(doubt, (0, 1)).all():
        return 0
    return int((doubt[~kept] > LIKELY_WRONG).sum())


def _suspects(
    constraints: Constraints, kept: Any, doubt: Any, window: Window, about: About
) -> tuple[list[Case], str]:
    """The statements of highest learned priority, else the most doubted ones that are kept."""
    priorities = _values(about.get("priorities"), constraints)
    if priorities is not None:
        cases = hardest_cases(constraints, kept, priorities, window)
        return cases, "Hardest to keep, by the priorities learned"
    if doubt is not None:
        return little_believed(constraints, kept, doubt, window), "Kept, but little believed"
    return [], ""


def _mean_confidence(confidence: Any, labels: Any, n_clusters: int) -> list[float]:
    if confidence is None:
        return []
    inside = labels >= 0
    total = np.bincount(labels[inside], np.asarray(confidence)[inside], n_clusters)
    return (total / np.maximum(np.bincount(labels[inside], minlength=n_clusters), 1)).tolist()


def _history(history: Sequence[Any]) -> Curve | None:
    """The number to watch along the rounds, from the records of any estimator."""
    if len(history) < 2 or not hasattr(history[0], "_fields"):
        return None
    name = curve_of(history[0])
    values = [float(getattr(record, name)) for record in history]
    if not np.isfinite(values).all():
        return None
    rounds = [float(i + 1) for i in range(len(values))]
    return Curve(f"History of the fit: {name}", "round", name, rounds, values, is_aside=True)


def _k_curve(curve: Any) -> Curve | None:
    if curve is None:
        return None
    told = [p for p in curve.points if np.isfinite(p.kept)]
    points = told or [p for p in curve.points if np.isfinite(p.rows)]
    if not points:
        return None
    return Curve(
        "How many clusters?",
        "number of clusters",
        "must-links broken, a share of all statements" if told else curve.measure,
        [float(p.n_clusters) for p in points],
        [p.must_apart if told else p.rows for p in points],
        other=[p.cannot_together for p in told],
        other_label="cannot-links broken" if told else "",
        marked=float(curve.chosen),
        note=curve.reason,
    )
