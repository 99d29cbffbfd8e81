"""What notebooks show of statements, of which of them hold, and of fitted models."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import engine_of
from conclust._html import Html, bar, folded, paragraph, sentences, summary, table
from conclust._pairs import connected
from conclust._words import count_conflicts, note

if TYPE_CHECKING:
    from conclust.constraints import ConstraintReport, Constraints

N_ROWS = 5
N_CLUSTERS = 12
N_CONFLICTS = 10
# Statements among which contradictions are looked for unasked: some tenths of a second.
MAX_PAIRWISE, MAX_RELATIVE = 20_000, 100
LIKELY_WRONG = 0.5


class Shown:
    """A fitted model's clusters and statements below the diagram of scikit-learn."""

    @property
    def _repr_html_(self) -> Any:
        diagram = super()._repr_html_  # type: ignore[misc]  # none where the user wants text
        return lambda: diagram() + model_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += model_html(self)
        return bundle


# ---------------------------------------------------------------------- statements


def constraints_html(constraints: "Constraints") -> str:
    """Counts by kind, groups, contradictions and the first statements."""
    if not len(constraints):
        return summary(repr(constraints))
    parts = (_counts(constraints), _groups(constraints), _conflicts(constraints))
    return summary(repr(constraints), *parts, _first(constraints))


def report_html(report: "ConstraintReport") -> str:
    """Counts by kind and the first broken statements."""
    if not len(report.kept):
        return summary(repr(report))
    return summary(repr(report), _kept(report), _broken(report))


def _counts(constraints: "Constraints") -> Html:
    """Statements by kind, and how many rows each kind names."""
    rows = []
    for kind in dict.fromkeys(constraints.kinds.tolist()):
        chosen = constraints[constraints.kinds == kind]
        rows.append((kind, len(chosen), len(chosen.samples), _weights(chosen)))
    return table(("statements", "given", "rows named", "weight"), rows)


def _weights(constraints: "Constraints") -> str:
    low, high = float(constraints.weight.min()), float(constraints.weight.max())
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _groups(constraints: "Constraints") -> Html:
    """What must-links join: how many groups of rows, and how large."""
    if not len(constraints.must_link):
        return Html("")
    rows, ends = np.unique(constraints.must_link, return_inverse=True)
    component, n_groups = connected(ends.reshape(-1, 2), len(rows))
    largest = f", the largest of {np.bincount(component).max():,}" if n_groups > 1 else ""
    groups = f"{n_groups:,} group{'s' * (n_groups != 1)}"
    return paragraph(f"Must-links join {len(rows):,} rows to {groups}{largest}.")


def _conflicts(constraints: "Constraints") -> Html:
    """Whether statements contradict each other, where that is quick to find out."""
    if len(constraints.relative) > MAX_RELATIVE or len(constraints) > MAX_PAIRWISE:
        return paragraph("So many statements: .conflicts() looks for contradictions.")
    found = constraints.conflicts(max_listed=N_CONFLICTS)
    if not found:
        return paragraph("No contradictions.")
    title = f"{count_conflicts(len(found), N_CONFLICTS)}: statements that cannot all hold"
    return folded(title, sentences(found[:N_ROWS]))


def _first(constraints: "Constraints") -> Html:
    rows = []
    for statement in constraints[: min(len(constraints), N_ROWS)]:
        names = [constraints.name(sample) for sample in statement.samples]
        rows.append((note(statement.kind, names), float(statement.weight)))
    title = f"the first {len(rows)} statements" if len(constraints) > N_ROWS else "the statements"
    return folded(title, table(("statement", "weight"), rows))


def _kept(report: "ConstraintReport") -> Html:
    rows = [
        (kind, count.given, count.kept, bar(count.share, of_two=True), f"{count.share:.1%}")
        for kind, count in report.counts.items()
    ]
    return table(("statements", "given", "kept", "", ""), rows)


def _broken(report: "ConstraintReport") -> Html:
    if not report.n_violated:
        return Html("")
    return _listed(f"{report.n_violated:,} broken", report.violated, "report_.violated")


def _listed(title: str, frame: Any, where: str) -> Html:
    """The first rows of a table, folded."""
    body = table(frame.columns, frame.head(N_ROWS).to_numpy(dtype=object).tolist())
    if len(frame) > N_ROWS:
        body = Html(body + paragraph(f"… and {len(frame) - N_ROWS:,} more in .{where}"))
    return folded(title, body)


# ---------------------------------------------------------------------- models


def model_html(model: Any) -> str:
    """What a fit has found; nothing before it."""
    found = _sizes(model)
    if found is None:
        return ""
    numbers, sizes = found
    report = getattr(model, "report_", None)
    parts = [_clusters(numbers, sizes, getattr(model, "classes_", None))]
    if report is not None and len(report.kept):
        parts += [_kept(report), _broken(report), _suspects(model)]
        if report.n_violated:
            parts.append(_conflicts(report.constraints))
    reasons = getattr(model, "reasons_", ())
    if reasons:
        parts.append(folded("why this result", sentences(reasons)))
    return summary(_headline(numbers, sizes, report), *parts)


def _sizes(model: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
    """Numbers and sizes of the clusters; labels on an engine were counted by the fit."""
    labels = getattr(model, "labels_", None)
    if labels is None or engine_of(labels):
        return getattr(getattr(model, "estimator_", model), "_sizes", None)
    return np.unique(labels, return_counts=True)


def _headline(numbers: Any, sizes: Any, report: "ConstraintReport | None") -> str:
    n_clusters = int((numbers >= 0).sum())
    text = f"{n_clusters:,} cluster{'s' * (n_clusters != 1)} of {int(sizes.sum()):,} rows"
    if report is not None and len(report.kept):
        text += f" · {int(report.kept.sum()):,} of {len(report.kept):,} statements kept"
    return text


def _clusters(numbers: Any, sizes: Any, classes: Any) -> Html:
    """The largest clusters with their sizes; rows set aside come last."""
    order = np.lexsort((-sizes, numbers < 0))
    rows = [
        (_name(number, classes), size, bar(size / sizes.max()))
        for number, size in zip(numbers[order].tolist(), sizes[order].tolist(), strict=True)
    ]
    shown = table(("cluster", "rows", ""), rows[:N_CLUSTERS])
    more = len(rows) - N_CLUSTERS
    return Html(shown + paragraph(f"… and {more:,} smaller ones")) if more > 0 else shown


def _name(number: int, classes: Any) -> str:
    if number < 0:
        return "set aside"
    named = classes is not None and number < len(classes) and classes[number] is not None
    return f"{number}: {classes[number]}" if named else str(number)


def _suspects(model: Any) -> Html:
    """The statements that are more likely wrong than right, where the fit has told."""
    doubt = getattr(model, "doubt_", ())
    n_doubted = int((np.asarray(doubt) > LIKELY_WRONG).sum())
    if not n_doubted:
        return Html("")
    return _listed(f"{n_doubted:,} probably wrong", model.suspects(n_doubted), "suspects()")
