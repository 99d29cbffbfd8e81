"""What leaves a project: labels, statements, a report, the model."""

import csv
import io
import json
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conclust import Constraints, read_constraints, save
from conclust._atomic import atomic_write
from conclust._files import guarded, is_formula
from conclust.exceptions import (
    ConclustWarning,
    InvalidConstraintsError,
    MissingExtraError,
    SessionError,
)
from conclust.reporting import gather, page
from conclust.studio._book import constraints_of
from conclust.studio._clustering import Clustering
from conclust.studio._data import Data
from conclust.studio._project import Project

EXPORTS = {
    "labels.csv": "text/csv; charset=utf-8",
    "constraints.csv": "text/csv; charset=utf-8",
    "constraints.json": "application/json",
    "answers.jsonl": "application/x-ndjson",
    "report.html": "text/html; charset=utf-8",
    "model": "application/octet-stream",
}
PATIENCE = 300.0  # seconds that a download waits for the clustering
STATEMENTS = (".csv", ".tsv", ".json", ".jsonl")


def export(project: Project, name: str) -> tuple[bytes, str]:
    """The content of a file, and what it is called."""
    if name not in EXPORTS:
        raise SessionError(f"{name[:60]!a} cannot be had; there are {', '.join(EXPORTS)}.")
    if name == "answers.jsonl":
        return _answers(project).encode(), name
    if name in ("constraints.csv", "constraints.json"):
        return _statements(project, name), name
    now = project.up_to_date(PATIENCE)
    if name == "labels.csv":
        return _labels(project.data, now).encode(), name
    if name == "report.html":
        return _report(project, now).encode(), name
    return _model(project.data, now), "model.skops"


def write_all(project: Project, folder: Path) -> list[str]:
    """Write every file into a folder; return what was written, or why not, in sentences."""
    project.recluster()
    folder.mkdir(parents=True, exist_ok=True)
    told = []
    for name in EXPORTS:
        try:
            content, file_name = export(project, name)
        except (MissingExtraError, SessionError) as error:
            told.append(f"No {name}: {error}")
            continue
        with atomic_write(folder / file_name, "wb") as file:
            file.write(content)
        told.append(f"{folder / file_name}")
    return told


# ---------------------------------------------------------------------- one file each


def _labels(data: Data, now: Clustering) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["id", "label", "cluster_name", "confidence"])
    for row, (label, sure) in enumerate(
        zip(now.labels.tolist(), now.confidence.tolist(), strict=True)
    ):
        cells = [data.row_name(row), label, now.names[label], round(sure, 4)]
        writer.writerow([guarded(cell) for cell in cells])
    return file.getvalue()


def _statement_rows(project: Project) -> Iterator[dict[str, Any]]:
    """Each statement by the names of its rows, with who said it and when."""
    name = project.data.row_name
    for answer in project.book.answers.values():
        more = {
            "weight": answer.weight,
            "who": answer.by,
            "when": answer.when,
            "number": answer.number,
            "from": answer.origin,
            "seconds": answer.seconds,
        }
        if not answer.says_something:
            rows = dict(zip("abc", map(name, answer.samples), strict=False))
            yield {**rows, "type": answer.answer, **more}
        for a, b, sign in answer.pairs:
            word = "must-link" if sign > 0 else "cannot-link"
            yield {"a": name(a), "b": name(b), "type": word, **more}
        for a, b, c in answer.relative:
            yield {"a": name(a), "b": name(b), "c": name(c), "type": "relative", **more}


def _answers(project: Project) -> str:
    return "".join(
        json.dumps({k: v for k, v in row.items() if v is not None}, ensure_ascii=False) + "\n"
        for row in _statement_rows(project)
    )


def _statements(project: Project, name: str) -> bytes:
    rows = list(_statement_rows(project))
    named = {str(row[key]) for row in rows for key in "abc" if key in row}
    risky = sorted(each for each in named if is_formula(each))
    if risky and name.endswith(".csv"):
        raise SessionError(
            f"The id {risky[0][:60]!r} would be run as a formula by a spreadsheet; take "
            "constraints.json or answers.jsonl instead."
        )
    if name.endswith(".json"):
        answers = project.book.answers.values()
        known, _ = constraints_of(answers, project.data.n_rows, project.data.ids)
        with tempfile.TemporaryDirectory() as folder:
            known.write(Path(folder, name))
            return Path(folder, name).read_bytes()
    file = io.StringIO(newline="")
    columns = ["a", "b", "c", "type", "weight", "who", "when"]
    writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: guarded(value) for key, value in row.items()})
    return file.getvalue().encode()


def _report(project: Project, now: Clustering) -> str:
    data, model = project.data, now.model
    doubt = getattr(model, "doubt_", None)
    facts = gather(
        data.X,
        now.labels,
        model.constraints_,
        ids=[data.row_name(row) for row in range(data.n_rows)],
        frame=data.used,
        numbers=data.numbers,
        categories=data.categories,
        texts=data.texts,
        features=data.features,
        title=f"Clusters of {data.name}",
        source=data.name,
        labels_in="labels.csv, from the same project",
        method=type(model).__name__,
        reasons=model.reasons_,
        notes=data.notes,
        warnings=data.warnings,
        history=model.history_,
        doubt=doubt,
        confidence=now.confidence,
        curve=model.curve_,
        seed=project.seed,
    )
    return page(facts)


def _model(data: Data, now: Clustering) -> bytes:
    from sklearn.pipeline import Pipeline

    steps = [("cluster", now.model)]
    if data.transformer is not None:
        steps.insert(0, ("prepare", data.transformer))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.skops")
        save(Pipeline(steps), path)
        return path.read_bytes()


# ---------------------------------------------------------------------- and what comes in


def read_statements(data: Data, content: bytes, name: str) -> tuple[Constraints, list[str]]:
    """Statements from the content of a file, by the suffix of its name; and what was left out."""
    suffix = "." + name.rpartition(".")[2].lower()
    if suffix not in STATEMENTS:
        raise SessionError(f"{name[:60]!a}: statements are read from {', '.join(STATEMENTS)}.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"statements{suffix}")
        path.write_bytes(content)
        try:
            return read_constraints(path, ids=data.ids).on(data.n_rows), []
        except InvalidConstraintsError as error:
            if data.ids is None or "is not among" not in str(error):
                raise
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConclustWarning)
                known = read_constraints(path, ids=data.ids, skip_unknown=True)
            return known.on(data.n_rows), [str(error)]
