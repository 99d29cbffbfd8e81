"""``conclust cluster``: from a table and a list of links to clusters and a page to forward."""

import contextlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conclust._declare import Method, methods, why_not
from conclust._words import relative_words, violation
from conclust.cli._errors import BadInput, about
from conclust.cli._options import (
    INPUT,
    METHODS,
    PATH,
    ClusterCount,
    TableOptions,
    common_options,
    on_terminal,
    output_folder,
    plain,
    printed_table,
    range_of,
    say,
    seed_option,
    settings_of,
    show_json,
    skip_unknown_option,
    staged,
    table_options,
    working,
)

if TYPE_CHECKING:
    from conclust import Conflict, ConstraintReport
    from conclust.cli._job import Job
    from conclust.cli._join import Cells
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
    labels: Any  # the cluster of each row


@dataclass(frozen=True)
class Labels:
    """How labels.csv is to look."""

    names: Mapping[str, str] = field(default_factory=dict)  # of clusters, by their number
    cells: "Cells | None" = None  # the table to join the clusters to, else ids are written
    classes: list[Any] | None = None  # of rows, to name the clusters by on the page
    workbook: bool = False  # labels.xlsx too
    parquet: bool = False  # labels.parquet too


@dataclass(frozen=True)
class Whole:
    """A table of which the job holds some rows only."""

    write_labels: Callable[[Path], int]  # of all rows; returns how many cells were guarded
    record: dict[str, Any]  # what run.json says of all rows
    remark: str  # on the page, about the rows it does not show; or nothing
    within: Path  # where results are written before they are moved


N_BROKEN = 10  # broken statements printed; all are in the report
CHUNK = 1 << 20  # labels counted at a time: numpy makes longer numbers of them for that


@click.command("cluster")
@click.argument("data", type=INPUT)
@click.option(
    "--constraints",
    "links",
    type=INPUT,
    help="Statements (CSV, XLSX, JSON, JSONL) or a taxonomy (.nwk, nested JSON).",
)
@skip_unknown_option
@click.option(
    "-k",
    "--n-clusters",
    type=ClusterCount(ranged=True),
    default="auto",
    show_default=True,
    help="Number of clusters, or auto, or auto:2-30 to try 2 to 30.",
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
@click.option(
    "--names",
    "named",
    help="What clusters are called: 0=Loyal,1=New, a file cluster,name, or a column of classes.",
)
@click.option("--join", is_flag=True, help="labels.csv is your whole table with a column cluster.")
@click.option("--xlsx", is_flag=True, help="Write labels.xlsx too, as for a workbook.")
@click.option("--parquet", is_flag=True, help="Write labels.parquet too: ids and labels.")
@click.option("--model/--no-model", default=None, help="Write model.skops, for `predict`.")
@click.option(
    "--blocks/--no-blocks",
    default=None,
    help="Read Parquet or NPY in blocks; by default if it is large beside the memory.",
)
@click.option("--block-rows", type=click.IntRange(1), help="Rows in a block.")
@click.option("--resume", is_flag=True, help="Go on with a run in blocks that was stopped.")
@table_options
@seed_option
@common_options
def command(
    data: Path,
    links: Path | None,
    skip_unknown: bool,
    n_clusters: int | str,
    method: str,
    settings: tuple[str, ...],
    output: Path | None,
    projection: str,
    named: str | None,
    join: bool,
    xlsx: bool,
    parquet: bool,
    model: bool | None,
    blocks: bool | None,
    block_rows: int | None,
    resume: bool,
    options: TableOptions,
    seed: int,
    as_json: bool,
) -> None:
    r"""Cluster the rows of DATA (CSV, XLSX, Parquet, NPY or NPZ) under what you know about them.

    Writes labels.csv, report.html, run.json, for a hierarchy tree.nwk and, where skops is
    installed, model.skops.

    \b
    conclust cluster table.csv --constraints links.csv --id-col key -k 6
    cat table.csv | conclust cluster - -k 6 -o out
    """
    from conclust._files import require_openpyxl, require_pyarrow
    from conclust._persist import require_skops
    from conclust.cli._big_table import refuse_in_blocks, wants_blocks
    from conclust.cli._job import check_n_clusters, read_job
    from conclust.cli._join import read_cells
    from conclust.cli._names import check_names, classes_of, is_column, names_of
    from conclust.reporting import check_projection

    given, names = settings_of(settings), names_of(named)
    if model:
        require_skops()
    if xlsx:
        require_openpyxl(Path("labels.xlsx"))
    if parquet:
        require_pyarrow(Path("labels.parquet"))
    output = output or Path(f"{data.name.split('.')[0] or 'table'}-clusters")
    if wants_blocks(data, blocks):
        from conclust.cli._cluster_in_blocks import Request, cluster_in_blocks

        refuse_in_blocks({"--join": join, "--xlsx": xlsx, "--names COLUMN": is_column(named)})
        asked = Request(data, links, skip_unknown, n_clusters, method, given, seed, options)
        job, found, record = cluster_in_blocks(
            asked,
            output,
            block_rows,
            resume,
            projection,
            model,
            Labels(names, parquet=parquet),
            quiet=as_json,
        )
        _tell(job, found, record, as_json=as_json)
        return
    if resume:
        raise BadInput(
            f"--resume goes on with a run in blocks, and {data.name} is read whole: leave it out, "
            "or pass --blocks."
        )
    job = read_job(data, links, options, skip_unknown)
    size = f"{data.name}: {len(job.table):,} rows, {job.X.shape[1]:,} features."
    say_job(job, size, quiet=as_json)
    if isinstance(n_clusters, int):
        check_n_clusters(n_clusters, len(job.table))
        check_names(names, n_clusters)
    labels = Labels(
        names,
        read_cells(job.table, options, "--join") if join else None,
        classes_of(named, job.table, options) if is_column(named) else None,
        workbook=xlsx,
        parquet=parquet,
    )
    with about("--map"):
        check_projection(projection, len(job.table))
    with output_folder(output) as folder:
        found = run(job, n_clusters, method, given, seed, quiet=as_json)
        with working("writing the report"):
            record = write(folder, job, found, seed, projection, model, labels=labels)
    _tell(job, found, record, as_json=as_json)


def say_job(job: "Job", size: str | None = None, *, quiet: bool) -> None:
    """Say what is wrong with the table, how large it is, and what was done to it."""
    for warning in job.warnings:
        say(f"Warning: {warning} Leave out --raw, or the column (--exclude).", quiet=quiet)
    if size is not None:
        say(size, quiet=quiet)
    for note in job.notes:
        say(f"  {note}", quiet=quiet)


def run(
    job: "Job",
    n_clusters: int | str,
    method_name: str,
    settings: dict[str, Any],
    seed: int,
    quiet: bool = False,
) -> Outcome:
    """Choose what is left open, fit, and return all that the outputs need."""
    X, constraints = job.X, job.constraints
    curve = None
    method = methods()[method_name]
    reason = why_not(method, constraints, 0)  # asked for: size is the user's decision
    if reason is not None:
        raise BadInput(f"--method {method_name}: {reason}. Methods: {', '.join(methods())}.")
    if isinstance(n_clusters, str):
        curve = number_of_clusters(X, constraints, n_clusters, seed, quiet=quiet)
        n_clusters = curve.chosen
    k = int(n_clusters)
    conflicts = constraints.conflicts(k)
    with about(f"--method {method.name}"):
        estimator = method.make(k, seed, verbose=on_terminal() and not quiet, **settings)
        began = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            told = {"constraints": constraints} if method.kinds else {}
            with way_out_of_clashes(method, estimator, job.links):
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
        warnings=tuple(dict.fromkeys(str(w.message) for w in caught if for_the_user(w))),
        confidence=confidence_of(estimator, X),
        report=report_of(estimator, constraints),
        conflicts=conflicts,
        labels=estimator.labels_,
    )


def number_of_clusters(X: Any, constraints: Any, asked: str, seed: int, *, quiet: bool) -> "KCurve":
    """Look for the number of clusters ("auto", or a range of them), and say what was seen."""
    from conclust.model_selection import choose_n_clusters

    with working("looking for the number of clusters"):
        curve = choose_n_clusters(
            X, constraints, n_clusters_range=range_of(asked), random_state=seed
        )
    say(curve.reason, quiet=quiet)
    if curve.points:
        say(_printed_curve(curve), quiet=quiet)
    return curve


N_POINTS = 9  # of the curve printed: those about the number chosen; all are in the report


def _printed_curve(curve: "KCurve") -> str:
    """The numbers about the chosen one, with what statements and rows say of them."""
    points = curve.points
    at = min(range(len(points)), key=lambda i: abs(points[i].n_clusters - curve.chosen))
    first = max(min(at - N_POINTS // 2, len(points) - N_POINTS), 0)

    def cell(value: float, form: str) -> str:
        return format(value, form) if value == value else "–"

    return printed_table(
        ["clusters", "statements kept", "must-links broken", "cannot-links broken", curve.measure],
        [
            [
                f"{p.n_clusters}{' *' if p.n_clusters == curve.chosen else ''}",
                cell(p.kept, ".1%"),
                cell(p.must_apart, ".1%"),
                cell(p.cannot_together, ".1%"),
                cell(p.rows, ".3f"),
            ]
            for p in points[first : first + N_POINTS]
        ],
    )


@contextlib.contextmanager
def way_out_of_clashes(method: Method, estimator: Any, links: Path | None) -> Iterator[None]:
    """Say what to do about statements that clash in options; the library names its own calls."""
    from conclust.exceptions import InconsistentConstraintsError, InfeasibleConstraintsError

    try:
        yield
    except InfeasibleConstraintsError as error:
        if not isinstance(error, InconsistentConstraintsError) or not error.conflicts:
            text = str(error).replace("pass on_infeasible='relax'", "--set on_infeasible=relax")
            raise BadInput(text.replace("n_clusters", "-k")) from error
        n_more = len(error.conflicts) - 1
        more = f" (and {n_more} more, see `conclust check`.)" if n_more else ""
        repair = "--set on_conflict=repair drops the least weight found; "
        raise BadInput(
            f"--method {method.name}: the statements contradict each other. {error.conflicts[0]}"
            f"{more} {repair if 'on_conflict' in estimator.get_params() else ''}"
            f"`conclust check --constraints {links} --repair FILE` writes those that can all hold; "
            "--method auto weighs them all."
        ) from error


def reasons_of(method: Method, estimator: Any) -> list[str]:
    """Why this method: what it says itself, or that it was asked for."""
    if hasattr(estimator, "reasons_"):
        return [f"{estimator.method_[:1].upper()}{estimator.method_[1:]}.", *estimator.reasons_]
    return [f"As asked for: {method.about}."]


def for_the_user(warning: Any) -> bool:
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
    labels: Labels | None = None,
    whole: Whole | None = None,
) -> dict[str, Any]:
    """Write everything; each file is whole or not there. Return what run.json holds."""
    from conclust._atomic import atomic_write
    from conclust.reporting import write_report

    labels = labels or Labels()
    notes = [*found.warnings]
    workbook = labels.workbook or job.table.path.suffix == ".xlsx"
    more = {"labels.xlsx": workbook, "labels.parquet": labels.parquet}
    names = ["labels.csv", *(name for name, is_wanted in more.items() if is_wanted)]
    files = [*names, "report.html", "run.json"]
    others = ["compare.csv"] if comparison else []
    named = {c: name for c, name in labels.names.items() if int(c) < found.n_clusters}
    notes += [
        f"{name!r} names nothing: there is no cluster {c}."
        for c, name in labels.names.items()
        if c not in named
    ]
    with staged(folder, keep=others, within=whole.within if whole else None) as new:
        for name in names:
            if whole is not None:
                n_guarded = whole.write_labels(new / name)
            else:
                n_guarded = _write_labels(new / name, job, found, labels)
            if n_guarded:
                what = "ids" if labels.cells is None else "cells"
                notes.append(
                    f"{n_guarded} {what} begin like a formula and are written with an apostrophe "
                    "in front."
                )
        if model is not False:
            told = _write_model(new / "model.skops", job, found, required=bool(model))
            if told:
                notes.append(told)
            else:
                files.append("model.skops")
        if _write_tree(new / "tree.nwk", job.table.names, found.estimator):
            files.append("tree.nwk")
        head = {"command": ["conclust", *sys.argv[1:]], "folder": str(folder), "files": files}
        record = {**head, **record_of(job, found, seed), "warnings": [*job.warnings, *notes]}
        record |= whole.record if whole else {}
        said = about_of(job, found)
        done = [note for note in notes if note not in found.warnings]
        said |= {"notes": job.notes + done, "comparison": comparison, "details": record}
        said |= {"projection": projection, "seed": seed, "names": named}
        said["classes"] = labels.classes
        if whole is not None and whole.remark:
            said["source"] = f"a part of {job.table.path.name}"
            said["warnings"] = [whole.remark, *said["warnings"]]
        if (folder / "run.json").exists():
            record["warnings"].append("The results of an earlier run in this folder are replaced.")
        write_report(new / "report.html", job.X, found.labels, job.constraints, **said)
        with atomic_write(new / "run.json") as file:
            json.dump(plain(record), file, indent=2, ensure_ascii=False, allow_nan=False)
            file.write("\n")
    return record


def _write_labels(path: Path, job: "Job", found: Outcome, labels: Labels) -> int:
    """Write the label of each row, and how sure it is; return how many cells were guarded."""
    from conclust._files import write_rows

    found_labels = found.labels.tolist()
    columns = {"label" if labels.cells is None else "cluster": found_labels}
    if labels.names:
        columns["cluster_name"] = [labels.names.get(str(label), "") for label in found_labels]
    if found.confidence is not None:
        columns["confidence"] = [round(float(c), 4) for c in found.confidence]
    if labels.cells is not None and path.suffix != ".parquet":
        return write_rows(path, *labels.cells.joined(columns))
    columns = {"id": job.table.names, **columns}
    return write_rows(path, list(columns), list(zip(*columns.values(), strict=True)))


def _write_tree(path: Path, names: list[str], estimator: Any) -> bool:
    """Write the hierarchy of a method that has one; return whether there is one."""
    from conclust._atomic import atomic_write

    tree = getattr(estimator, "model_", estimator)  # that of `auto`, or the method itself
    if not hasattr(tree, "to_newick"):
        path.unlink(missing_ok=True)  # of an earlier run: it would not belong to these labels
        return False
    with atomic_write(path) as file:
        file.write(tree.to_newick(names) + "\n")
    return True


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
        "cluster_sizes": sizes_of(found.labels, found.n_clusters),
        "method": found.method.name,
        "why": found.reasons,
        "class": found.method.class_name,
        "parameters": {k: _parameter(v) for k, v in found.estimator.get_params(deep=False).items()},
        "seed": seed,
        "statements": found.report.as_dict(),
        "violated": found.report.violated.to_dict("records"),
        "conflicts": [str(c) for c in found.conflicts],
        "seconds": found.seconds,
        "labels_sha256": labels_checksum(found.labels),
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
        "features": _features(job),
        "title": f"Clusters of {job.table.path.name}",
        "source": job.table.path.name,
        "labels_in": "labels.csv, beside this page",
        "method": found.method.class_name,
        "reasons": found.reasons,
        "tree": _tree_of(estimator),
        "warnings": [*job.warnings, *found.warnings],
        "history": getattr(estimator, "history_", ()),
        "priorities": getattr(estimator, "constraint_weights_", None),
        "doubt": _doubt(estimator),
        "confidence": found.confidence,
        "curve": found.curve,
    }


def _tree_of(estimator: Any) -> Any:
    """The hierarchy that was cut, of the method itself or of the one it has chosen."""
    models = (estimator, getattr(estimator, "model_", None))
    return next((model for model in models if hasattr(model, "children_")), None)


def _features(job: "Job") -> list[str]:
    """The names of the columns of numbers that were clustered, where they are known."""
    transformer = job.prepared.transformer
    if not hasattr(transformer, "get_feature_names_out"):
        return []
    return [str(name) for name in transformer.get_feature_names_out()]


def _parameter(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | bool) else repr(value)


def sizes_of(labels: Any, n_clusters: int) -> list[int]:
    import numpy as np

    sizes = np.zeros(n_clusters, dtype=np.int64)
    for start in range(0, len(labels), CHUNK):
        some = labels[start : start + CHUNK]
        sizes += np.bincount(some[some >= 0], minlength=n_clusters)
    return sizes.tolist()


def _doubt(estimator: Any) -> Any:
    """How far each statement is doubted; None where nobody tells, or the report would not say."""
    if hasattr(estimator, "constraint_weights_"):
        return None  # learned priorities are shown instead
    return estimator.doubt() if hasattr(estimator, "doubt") else getattr(estimator, "doubt_", None)


def labels_checksum(labels: Any) -> str:
    import hashlib

    import numpy as np

    return hashlib.sha256(np.ascontiguousarray(labels, dtype="<i4").data).hexdigest()


def _write_model(path: Path, job: "Job", found: Outcome, required: bool) -> str:
    """Write preparation and clusterer as one pipeline; return why not, or nothing."""
    from sklearn.pipeline import Pipeline

    import conclust
    from conclust.exceptions import MissingExtraError

    if not hasattr(found.estimator, "predict"):
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
        if required and isinstance(error, MissingExtraError):
            raise
        reason = str(error) if isinstance(error, MissingExtraError) else f"skops says: {error!r}"
        if required:
            raise BadInput(f"--model: {reason}") from error
        return f"No model.skops: {reason}"
    return ""


# ---------------------------------------------------------------------- words


def _tell(job: "Job", found: Outcome, record: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json(record)
        return
    report = found.report
    sizes = ", ".join(map(str, record["cluster_sizes"]))
    n_aside = record["n_rows"] - sum(record["cluster_sizes"])
    aside = f", {n_aside} rows in none," if n_aside else ""
    say(f"\n{found.n_clusters} clusters of {sizes} rows{aside} in {found.seconds:.1f} s.")
    if len(report.kept):
        parts = ", ".join(f"{c.kept} of {c.given} {kind}" for kind, c in report.counts.items())
        say(f"Statements kept: {int(report.kept.sum())} of {len(report.kept)} ({parts}).")
        if "relative" in report.counts:
            say(f"  {relative_words(report.relative)}")
        for row in record["violated"][:N_BROKEN]:
            say(f"  broken: {violation(row)}")
        if len(record["violated"]) > N_BROKEN:
            say(f"  … and {len(record['violated']) - N_BROKEN} more, see the report.")
    for text in record["warnings"][len(job.warnings) :]:
        say(f"Note: {text}")
    say(f"\nWritten to {record['folder']}: {', '.join(record['files'])}")
