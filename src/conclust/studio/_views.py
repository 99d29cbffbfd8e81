"""What pages show of rows and clusters, as JSON has it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from conclust.active import Question
from conclust.exceptions import SessionError
from conclust.studio import _verbs

if TYPE_CHECKING:
    from conclust.studio._project import Project

MAX_LINES = 1_000  # statements of each sort on the map
MAX_FOUND = 20  # rows of a name


def about(project: "Project") -> dict[str, Any]:
    """What the page begins with."""
    with project.lock:
        return {
            "name": project.data.name,
            "n_rows": project.data.n_rows,
            "n_clusters": project.n_clusters,
            "columns": [{"name": n, "type": t} for n, t in project.data.kinds.items()],
            "id_column": project.data.id_column,
            "people": list(project.book.people),
            "kinds": ["pair", "triple", "piles"],
            "notes": project.data.notes,
            "warnings": project.data.warnings,
        }


def rows_on_map(project: "Project") -> dict[str, Any]:
    """Where each row is drawn, and its cluster."""
    now = project.clustering
    found = {
        "rows": project.shown.tolist(),
        "x": project.plane[0],
        "y": project.plane[1],
        "n_rows": project.data.n_rows,
        **labels(project),
    }
    if now is not None:
        found["confidence"] = np.round(now.confidence[project.shown], 2).tolist()
    return found


def labels(project: "Project") -> dict[str, Any]:
    """The cluster of each row of the map."""
    now = project.clustering
    if now is None:
        nowhere = [-1] * len(project.shown)
        return {"version": 0, "cluster": nowhere, "sizes": [], "names": []}
    return {
        "version": now.version,
        "cluster": now.labels[project.shown].tolist(),
        "sizes": now.sizes,
        "names": now.names,
    }


def lines(project: "Project") -> dict[str, Any]:
    """The pairs as they were said, the latest, to be drawn on the map."""
    with project.lock:
        answers = dict(project.book.answers)
    said = [pair for number in sorted(answers) for pair in answers[number].pairs]
    return {
        name: [[int(a), int(b)] for a, b, s in said if s == sign][-MAX_LINES:]
        for name, sign in (("must", 1), ("cannot", -1))
    }


def found(project: "Project", text: str) -> dict[str, Any]:
    """Rows by their names."""
    rows = project.data.find(text, MAX_FOUND)
    return {"rows": [{"row": row, "name": project.data.row_name(row)} for row in rows]}


def item(project: "Project", row: Any) -> dict[str, Any]:
    """One row, as it is shown."""
    if type(row) is not int or not 0 <= row < project.data.n_rows:
        raise SessionError(
            f"There is no row {row!r:.40}; rows count from 0 to {project.data.n_rows - 1}."
        )
    now = project.clustering
    return {
        "row": row,
        "name": project.data.row_name(row),
        "cluster": None if now is None else int(now.labels[row]),
        "fields": project.data.fields(row),
    }


def one_cluster(project: "Project", number: int) -> dict[str, Any]:
    """What distinguishes a cluster, and its most typical rows."""
    now = project.clustering
    if now is None or not 0 <= number < now.n_clusters:
        raise SessionError(f"There is no cluster {number}; look at the map again.")
    members = np.flatnonzero(now.labels == number)
    typical = _verbs.typical(project.data.X, members, 5) if len(members) else []
    return {
        "cluster": number,
        "size": len(members),
        "name": now.names[number],
        "typical": [item(project, row) for row in typical],
        "profile": "; ".join(now.phrases[number]),
    }


def question(project: "Project", question: Question) -> dict[str, Any]:
    """A question, with all that is shown of its rows."""
    items = [item(project, row) for row in question.samples]
    values = [{f["column"]: f["value"] for f in item["fields"]} for item in items]
    return {
        "id": question.id,
        "kind": question.kind,
        "samples": list(question.samples),
        "why": question.why,
        "worth": finite(question.worth),
        "items": items,
        "differing": [c for c in project.data.kinds if len({v.get(c) for v in values}) > 1],
    }


def finite(value: Any) -> float | None:
    """A number that JSON has, or None."""
    return float(value) if value is not None and np.isfinite(float(value)) else None
