"""``conclust cluster``: from a table and a list of links to clusters and a page to forward."""

import json
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conclust._declare import Method, methods, why_not
from conclust._words import violation
from conclust.cli._errors import BadInput, about
from conclust.cli._options import (
    METHODS,
    PATH,
    ClusterCount,
    TableOptions,
    common_options,
    on_terminal,
    output_folder,
    plain,
    say,
    seed_option,
    settings_of,
    show_json,
    table_options,
    working,
)

if TYPE_CHECKING:
    from conclust import Conflict, ConstraintReport
    from conclust.cli._job import Job
    from conclust.model_selection import KCurve
    from conclust.reporting import About


@dataclass(frozen=True)
class Outcome:
    """One clustering, and how it came about."""

    method: Method
    reasons: list[str]
    estimator: Any  # fitted
    n_clusters: int
    curve: "KCurve | None"  # None where k was given
    seconds: float
    warnings: tuple[str, ...]
    confidence: Any  # (n_samples,), or None where the method cannot tell
    report: "ConstraintReport"
    conflicts: "list[Conflict]"

    @property
    def labels(self) -> Any:
        """The cluster of each row."""
        return self.estimator.labels_


N_BROKEN = 10  # broken statements printed; all are in the report


@click.command("cluster")
@click.argument("data", type=PATH)
@click.option("--constraints", "links", type=PATH, help="Statements: CSV, TSV, JSON or JSONL.")
@click.option(
    "-k",
    "--n-clusters",
    type=ClusterCount(),
    default="auto",
    show_default=True,
    help="Number of clusters, or auto.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="auto",
    show_default=True,
    help="How; `conclust compare` helps to choose.",
)
@click.option("--set", "settings", multiple=True, help="A parameter of the method: NAME=VALUE.")
@click.option("-o", "--output", type=PATH, help="Folder to write; DATA-clusters by default.")
@click.option(
    "--map",
    "projection",
    type=click.Choice(["pca", "tsne", "umap"]),
    default="pca",
    show_default=True,
    help="How the report draws rows.",
)
@click.option("--model/--no-model", default=None, help="Write model.skops, for `predict`.")
@table_options
@seed_option
@common_options
def command(
    data: Path,
    links: Path | None,
    n_clusters: int | str,
    method: str,
    settings: tuple[str, ...],
    output: Path | None,
    projection: str,
    model: bool | None,
    options: TableOptions,
    seed: int,
    as_json: bool,
) -> None:
    r"""Cluster the rows of DATA (CSV, TSV, Parquet, NPY or NPZ) under what you know about them.

    Writes labels.csv, report.html, run.json and, where skops is installed, model.skops.

    \b
    conclust cluster table.csv --constraints links.csv --id-col key -k 6
    """
    from conclust._persist import require_skops
    from conclust.cli._job import check_n_clusters, read_job
    from conclust.reporting import check_projection

    given = settings_of(settings)
    if model:
        require_skops()
    job = read_job(data, links, options)
    say(f"{data.name}: {len(job.table):,} rows, {job.X.shape[1]:,} features.", quiet=as_json)
    for note in job.notes:
        say(f"  {note}", quiet=as_json)
    if n_clusters != "auto":
        check_n_clusters(int(n_clusters), len(job.table))
    with about("--map"):
        check_projection(projection, len(job.table))
    with output_folder(output or Path(f"{data.stem}-clusters")) as folder:
        found = run(job, n_clusters, method, given, seed, quiet=as_json)
        with working("writing the report"):
            record = write(folder, job, found, seed, projection, model)
    if as_json:
        show_json(record)
    else:
        _print(job, found, record)


def run(
    job: "Job",
    n_clusters: int | str,
    method_name: str,
    settings: dict[str, Any],
    seed: int,
    quiet: bool = False,
) -> Outcome:
    """Choose what is left open, fit, and return all that the outputs need."""
    from conclust.model_selection import choose_n_clusters

    X, constraints = job.X, job.constraints
    curve = None
    method = methods()[method_name]
    reason = why_not(method, constraints, 0)  # asked for: size is the user's decision
    if reason is not None:
        raise BadInput(f"--method {method_name}: {reason}. Methods: {', '.join(methods())}.")
    if n_clusters == "auto":
        with working("looking for the number of clusters"):
            curve = choose_n_clusters(X, constraints, random_state=seed)
        n_clusters = curve.chosen
        say(f"{curve.reason}", quiet=quiet)
    k = int(n_clusters)
    conflicts = constraints.conflicts(k)
    with about(f"--method {method.name}"):
        estimator = method.make(k, seed, verbose=on_terminal() and not quiet, **settings)
        began = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            told = {"constraints": constraints} if method.kinds else {}
            estimator = estimator.fit(X, **told)
        seconds = time.perf_counter() - began
    reasons = reasons_of(method, estimator)
    say(f"Method: {method.name}. {' '.join(reasons)}", quiet=quiet)
    return Outcome(
        method=method,
        reasons=reasons,
        estimator=estimator,
        n_clusters=k,
        curve=curve,
        seconds=seconds,
        warnings=tuple(dict.fromkeys(str(w.message) for w in caught if _for_the_user(w))),
        confidence=confidence_of(estimator, X),
        report=report_of(estimator, constraints),
        conflicts=conflicts,
    )


def reasons_of(method: Method, estimator: Any) -> list[str]:
    """Why this method: what it says itself, or that it was asked for."""
    if hasattr(estimator, "reasons_"):
        return [f"{estimator.method_[:1].upper()}{estimator.method_[1:]}.", *estimator.reasons_]
    return [f"As asked for: {method.about}."]


def _for_the_user(warning: Any) -> bool:
    from sklearn.exceptions import ConvergenceWarning

    from conclust.exceptions import ConclustWarning

    return issubclass(warning.category, ConclustWarning | ConvergenceWarning)


def report_of(estimator: Any, constraints: Any) -> "ConstraintReport":
    """The report that the fit has made, if it is about the same statements, else one made now."""
    report = getattr(estimator, "report_", None)
    if report is not None and len(report.kept) == len(constraints):
        return report
    return constraints.report(estimator.labels_)


def confidence_of(estimator: Any, X: Any) -> Any:
    """How sure the method is of each row, between 0 and 1; None where it cannot tell.

    An ensemble: how often its members put a row together with a random row of its cluster. A
    mixture: the probability of the row's cluster.
    """
    import numpy as np

    if hasattr(estimator, "probabilities_"):
        return estimator.confidence()
    if hasattr(estimator, "co_association_") and hasattr(estimator, "profiles_"):
        together, labels = estimator.co_association_, estimator.labels_
        total = np.zeros(len(labels))
        for codes, weight, profile in zip(
            together.codes.T, together.weights, estimator.profiles_, strict=True
        ):
            total += weight * profile[codes, labels]
        return total / together.weights.sum()
    if hasattr(estimator, "predict_proba"):
        # Of the row's own label, which statements may have moved away from the likeliest one.
        return estimator.predict_proba(X)[np.arange(X.shape[0]), estimator.labels_]
    return None


# ---------------------------------------------------------------------- files


def write(
    folder: Path,
    job: "Job",
    found: Outcome,
    seed: int,
    projection: str = "pca",
    model: bool | None = None,
    comparison: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Write everything; each file is whole or not there. Return what run.json holds."""
    from conclust._atomic import atomic_write
    from conclust.reporting import write_report

    files, notes = ["labels.csv", "report.html", "run.json"], [*found.warnings]
    n_guarded = _write_labels(folder / "labels.csv", job.table.names, found)
    if model is False:
        (folder / "model.skops").unlink(missing_ok=True)  # of an earlier run: other labels
    else:
        told = _write_model(folder / "model.skops", job, found, required=bool(model))
        if told:
            notes.append(told)
        else:
            files.append("model.skops")
    if n_guarded:
        notes.append(
            f"{n_guarded} ids begin like a formula and are written with an apostrophe in front."
        )
    head = {"command": ["conclust", *sys.argv[1:]], "folder": str(folder), "files": files}
    record = {**head, **record_of(job, found, seed), "warnings": notes}
    said = about_of(job, found)
    said |= {"notes": job.notes + notes, "comparison": comparison, "details": record}
    said |= {"projection": projection, "seed": seed}
    write_report(folder / "report.html", job.X, found.labels, job.constraints, **said)
    with atomic_write(folder / "run.json") as file:
        json.dump(plain(record), file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")
    return record


def _write_labels(path: Path, names: list[str], found: Outcome) -> int:
    """Write the label of each row, and how sure it is; return how many ids were guarded."""
    from conclust.cli._table import write_rows

    columns = {"id": names, "label": found.labels.tolist()}
    if found.confidence is not None:
        columns["confidence"] = [round(float(c), 4) for c in found.confidence]
    return write_rows(path, list(columns), list(zip(*columns.values(), strict=True)))


def record_of(job: "Job", found: Outcome, seed: int) -> dict[str, Any]:
    """What was done and what came of it, for run.json."""
    from conclust._show_versions import versions

    record = {
        "inputs": job.inputs,
        "n_rows": len(job.table),
        "n_features": job.X.shape[1],
        "columns": {
            "numbers": job.prepared.numbers,
            "categories": job.prepared.categories,
            "texts": job.prepared.texts,
            "left_out": job.prepared.left_out,
        },
        "preparation": job.notes,
        "n_clusters": found.n_clusters,
        "cluster_sizes": _sizes(found.labels, found.n_clusters),
        "method": found.method.name,
        "why": found.reasons,
        "class": found.method.class_name,
        "parameters": {k: _parameter(v) for k, v in found.estimator.get_params(deep=False).items()},
        "seed": seed,
        "statements": found.report.as_dict(),
        "violated": found.report.violated.to_dict("records"),
        "conflicts": [str(c) for c in found.conflicts],
        "seconds": found.seconds,
        "labels_sha256": _labels_checksum(found.labels),
        "versions": versions(),
    }
    if found.curve is not None:
        record["n_clusters_tried"] = [p._asdict() for p in found.curve.points]
    return record


def about_of(job: "Job", found: Outcome) -> "About":
    """What the page says of the table, the method and the fit."""
    estimator = found.estimator
    return {
        "report": found.report,
        "conflicts": found.conflicts,
        "ids": job.table.names,
        "frame": job.table.frame,
        "numbers": job.prepared.numbers,
        "categories": job.prepared.categories,
        "texts": job.prepared.texts,
        "title": f"Clusters of {job.table.path.name}",
        "method": found.method.class_name,
        "reasons": found.reasons,
        "history": getattr(estimator, "history_", ()),
        "priorities": getattr(estimator, "constraint_weights_", None),
        "doubt": _doubt(estimator),
        "confidence": found.confidence,
        "curve": found.curve,
    }


def _parameter(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | bool) else repr(value)


def _sizes(labels: Any, n_clusters: int) -> list[int]:
    import numpy as np

    return np.bincount(labels[labels >= 0], minlength=n_clusters).tolist()


def _doubt(estimator: Any) -> Any:
    """How far each statement is doubted; None where nobody tells, or the report would not say."""
    if hasattr(estimator, "constraint_weights_"):
        return None  # learned priorities are shown instead
    return estimator.doubt() if hasattr(estimator, "doubt") else getattr(estimator, "doubt_", None)


def _labels_checksum(labels: Any) -> str:
    import hashlib

    import numpy as np

    return hashlib.sha256(np.asarray(labels, dtype="<i4").tobytes()).hexdigest()


def _write_model(path: Path, job: "Job", found: Outcome, required: bool) -> str:
    """Write preparation and clusterer as one pipeline; return why not, or nothing."""
    from sklearn.pipeline import Pipeline

    import conclust
    from conclust.exceptions import MissingExtraError

    if not hasattr(found.estimator, "predict"):
        path.unlink(missing_ok=True)
        reason = f"{found.method.class_name} cannot label new rows, so there is no model file."
        if required:
            raise BadInput(f"--model: {reason}")
        return reason
    steps = [("cluster", found.estimator)]
    if job.prepared.transformer is not None:
        steps.insert(0, ("prepare", job.prepared.transformer))
    try:
        conclust.save(Pipeline(steps), path)
    except OSError:
        raise
    except Exception as error:  # skops is missing, or does not know something the method holds
        path.unlink(missing_ok=True)  # of an earlier run: it would not belong to these labels
        if required and isinstance(error, MissingExtraError):
            raise
        reason = str(error) if isinstance(error, MissingExtraError) else f"skops says: {error}"
        if required:
            raise BadInput(f"--model: {reason}") from error
        return f"No model.skops: {reason}"
    return ""


# ---------------------------------------------------------------------- words


def _print(job: "Job", found: Outcome, record: dict[str, Any]) -> None:
    report = found.report
    sizes = ", ".join(map(str, record["cluster_sizes"]))
    say(f"\n{found.n_clusters} clusters of {sizes} rows in {found.seconds:.1f} s.")
    if len(report.kept):
        parts = ", ".join(f"{c.kept} of {c.given} {kind}" for kind, c in report.counts.items())
        say(f"Statements kept: {int(report.kept.sum())} of {len(report.kept)} ({parts}).")
        for row in record["violated"][:N_BROKEN]:
            say(f"  broken: {violation(row)}")
        if len(record["violated"]) > N_BROKEN:
            say(f"  … and {len(record['violated']) - N_BROKEN} more, see the report.")
    for text in record["warnings"]:
        say(f"Note: {text}")
    say(f"\nWritten to {record['folder']}: {', '.join(record['files'])}")
