"""``conclust compare``: which method guesses best the statements it was not told?"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from conclust._declare import Method, methods, why_not
from conclust.cli._errors import BadInput
from conclust.cli._options import (
    INPUT,
    METHODS,
    PATH,
    ClusterCount,
    TableOptions,
    common_options,
    on_terminal,
    output_folder,
    printed_table,
    say,
    seed_option,
    show_json,
    skip_unknown_option,
    table_options,
)


@click.command("compare")
@click.argument("data", type=INPUT)
@click.option("--constraints", "links", type=INPUT, required=True, help="The statements.")
@skip_unknown_option
@click.option(
    "-k",
    "--n-clusters",
    type=ClusterCount(ranged=True),
    default="auto",
    show_default=True,
    help="Number of clusters, or auto.",
)
@click.option(
    "--method",
    "wanted",
    type=click.Choice(METHODS),
    multiple=True,
    help="Only this one; may be given more than once.",
)
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True)
@click.option(
    "-o", "--output", type=PATH, help="Folder for a report with the best method's result."
)
@table_options
@seed_option
@common_options
def command(
    data: Path,
    links: Path,
    skip_unknown: bool,
    n_clusters: int | str,
    wanted: tuple[str, ...],
    folds: int,
    output: Path | None,
    options: TableOptions,
    seed: int,
    as_json: bool,
) -> None:
    r"""Hold out statements, fold by fold, and rank every method by how many of them it keeps.

    No labels are needed. Statements that follow from each other are held out together.

    \b
    conclust compare table.csv --constraints links.csv --id-col key -k 6
    """
    from conclust.cli._cluster import number_of_clusters
    from conclust.cli._job import check_n_clusters, read_job

    job = read_job(data, links, options, skip_unknown)
    if not job.constraints:
        raise BadInput(f"{links.name} holds no statements to compare methods by.")
    if isinstance(n_clusters, str):
        n_clusters = number_of_clusters(
            job.X, job.constraints, n_clusters, seed, quiet=as_json
        ).chosen
    k = int(n_clusters)
    check_n_clusters(k, len(job.table))
    with contextlib.nullcontext() if output is None else output_folder(output) as folder:
        ranked = rank(job.X, job.constraints, k, wanted, folds, seed)
        found = {"data": str(data), "n_rows": len(job.table), "warnings": job.warnings}
        found |= {"preparation": job.notes, **ranked}
        if folder is not None:
            found["files"] = _write(folder, job, found, k, seed)
    if as_json:
        show_json(found)
    else:
        _print(found)


def rank(
    X: Any,
    constraints: Any,
    n_clusters: int,
    wanted: tuple[str, ...] = (),
    n_folds: int = 5,
    seed: int = 0,
) -> dict[str, Any]:
    """Score every method that suits the statements; see the keys of the result."""
    from conclust.model_selection import fewer_rows, folds, held_out_score

    small, said = fewer_rows(X, constraints, seed)
    splits = folds(said, seed, n_folds)
    if not splits:
        raise BadInput(
            f"The {len(constraints)} statements hang together or are too few to hold some out; "
            "add statements about other rows."
        )
    candidates, skipped = _candidates(constraints, small.shape[0], wanted)
    rows: list[dict[str, Any]] = []
    with _progress(len(candidates) * len(splits)) as (step, about):
        for method in candidates:
            about(method.name)
            estimator = method.make(n_clusters, seed)
            result = held_out_score(estimator, small, said, cv=splits, on_fold=step)
            rows.append(
                {
                    "method": method.name,
                    "class": method.class_name,
                    "score": result.score,
                    "spread": result.spread,
                    "told_broken": result.broken,
                    "seconds": result.seconds,
                    "note": result.failed or ("is told nothing" if not method.kinds else ""),
                }
            )
    done = [row for row in rows if row["score"] == row["score"]]
    failed = [row for row in rows if row["score"] != row["score"]]
    # Of equals, one that listens comes before one that is told nothing, then the faster one.
    done.sort(key=lambda row: (-round(row["score"], 6), row["class"] == "KMeans", row["seconds"]))
    ranking = [{"rank": i + 1, **row} for i, row in enumerate(done)]
    ranking += [{"rank": None, **row} for row in failed]
    return {
        "n_clusters": n_clusters,
        "n_statements": len(constraints),
        "n_rows_used": small.shape[0],
        "n_folds": len(splits),
        "best": ranking[0]["method"] if done else None,
        "ranking": ranking,
        "note": _note(ranking),
        "skipped": skipped,
    }


def _note(ranking: list[dict[str, Any]]) -> str:
    """Whether telling statements helped at all."""
    baseline = next((r for r in ranking if r["class"] == "KMeans" and r["rank"]), None)
    best = ranking[0]
    if baseline is None or best is baseline or best["score"] - baseline["score"] > best["spread"]:
        return ""
    return (
        f"k-means, which is told nothing, is within the spread of the best ({best['method']}): "
        "these statements say little that the data do not, or are too few to tell methods apart."
    )


def _candidates(
    constraints: Any, n_rows: int, wanted: tuple[str, ...]
) -> tuple[list[Method], list[dict[str, str]]]:
    chosen, skipped = [], []
    for method in methods().values():
        if wanted and method.name not in wanted:
            continue
        reason = why_not(method, constraints, n_rows)
        if reason is None:
            chosen.append(method)
        else:
            skipped.append({"method": method.name, "reason": reason})
    if not [m for m in chosen if m.kinds] and not (wanted and chosen):
        reasons = "; ".join(f"{s['method']}: {s['reason']}" for s in skipped[:3])
        raise BadInput(f"No method suits these statements ({reasons}).")
    return chosen, skipped


@contextlib.contextmanager
def _progress(total: int) -> Iterator[tuple[Callable[[], None], Callable[[str], None]]]:
    """A bar on stderr with the rate, on a terminal only."""
    if not on_terminal():
        yield (lambda: None), (lambda name: None)
        return
    from rich.console import Console
    from rich.progress import Progress

    from conclust._progress import rate_column

    columns = (*Progress.get_default_columns(), rate_column())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield (lambda: bar.advance(task)), (lambda name: bar.update(task, description=name))


def _write(folder: Path, job: Any, found: dict[str, Any], k: int, seed: int) -> list[str]:
    from conclust._files import write_rows
    from conclust.cli._cluster import run, write

    header = ["rank", "method", "score", "spread", "seconds", "note"]
    rows = [["" if r[h] is None else r[h] for h in header] for r in found["ranking"]]
    write_rows(folder / "compare.csv", header, rows)
    if found["best"] is None:
        return ["compare.csv"]
    result = run(job, k, found["best"], {}, seed, quiet=True)
    reasons = [
        f"{found['best']} keeps most of the held-out statements "
        f"({found['ranking'][0]['score']:.0%}, {found['n_folds']} folds).",
        *filter(None, [found["note"]]),
    ]
    record = write(folder, job, replace(result, reasons=reasons), seed, comparison=found["ranking"])
    return ["compare.csv", *record["files"]]


def _print(found: dict[str, Any]) -> None:
    for warning in found["warnings"]:
        say(f"Warning: {warning} Leave out --raw, or the column (--exclude).")
    for note in found["preparation"]:
        say(f"  {note}")
    say(
        f"Share of held-out statements kept, {found['n_folds']} folds over "
        f"{found['n_statements']} statements, {found['n_clusters']} clusters:\n"
    )
    rows = [
        [
            str(row["rank"] or "–"),
            row["method"],
            _number(row["score"], ".1%"),
            _number(row["spread"], ".1%"),
            _number(row["seconds"], ".2f"),
            row["note"] if row["rank"] else "failed, see below",
        ]
        for row in found["ranking"]
    ]
    say(printed_table(["", "method", "kept", "spread", "s per fold", ""], rows))
    for row in found["ranking"]:
        if not row["rank"]:
            say(f"\n{row['method']} failed: {row['note']}")
    if found["note"]:
        say(f"\n{found['note']}")
    for each in found["skipped"]:
        say(f"not compared: {each['method']}: {each['reason']}")
    if "files" in found:
        say(f"\nWritten: {', '.join(found['files'])}")


def _number(value: float, form: str) -> str:
    return format(value, form) if value == value else "–"
