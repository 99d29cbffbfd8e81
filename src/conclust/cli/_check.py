"""``conclust check``: can these statements all hold, and are they worth something?"""

import sys
from pathlib import Path
from typing import Any

import click

from conclust._words import count_conflicts, note_of_row
from conclust.cli._errors import BadInput
from conclust.cli._options import (
    INPUT,
    PATH,
    TableOptions,
    common_options,
    say,
    seed_option,
    show_json,
    skip_unknown_option,
    table_options,
)

MAX_DENSE = 100_000_000  # numbers; a larger sparse matrix is not written out for these figures
N_SHOWN = 50  # conflicts printed; all that were looked for are in the JSON


@click.command("check")
@click.option(
    "--constraints",
    "links",
    type=INPUT,
    required=True,
    help="CSV, XLSX, JSON, JSONL or .nwk.",
)
@skip_unknown_option
@click.option("--data", type=INPUT, help="The table; its ids, and how useful the statements are.")
@click.option("-k", "--n-clusters", type=click.IntRange(min=1), help="Feasible with so many?")
@click.option("--repair", type=PATH, help="Write the statements that can all hold to this file.")
@table_options
@seed_option
@common_options
def command(
    links: Path,
    skip_unknown: bool,
    data: Path | None,
    n_clusters: int | None,
    repair: Path | None,
    options: TableOptions,
    seed: int,
    as_json: bool,
) -> None:
    r"""Find statements that cannot all hold, and say why.

    Exit code 0: they can; 1: they clash; 2: bad input.

    \b
    conclust check --constraints links.csv
    conclust check --constraints links.csv --data table.csv --id-col key -k 6
    """
    from conclust.cli._job import read_job

    job = None
    if data is not None:
        job = read_job(data, links, options, skip_unknown)
        constraints = job.constraints
        for note in job.about_links:
            say(note, quiet=as_json)
    else:
        alone = TableOptions(separator=options.separator, encoding=options.encoding)
        if options != alone or skip_unknown:
            raise BadInput("--id-col and other options about the table go with --data.")
        constraints = read_alone(links, options.encoding)
    found = examine(links, constraints, n_clusters, options.encoding)
    if job is not None and constraints:
        found |= usefulness(job.X, constraints, n_clusters, seed)
    if repair is not None:
        found["repair"] = mend(constraints, repair)
    if as_json:
        show_json(found)
    else:
        _print(links, found, n_clusters)
    sys.exit(1 if found["conflicts"] else 0)


def read_alone(path: Path, encoding: str | None = None) -> Any:
    """Statements without their table: the names in the file are all the rows there are."""
    from conclust import read_constraints
    from conclust.constraints import summarize_file

    if not path.exists():
        raise BadInput(f"{path}: no such file.")
    names = summarize_file(path, encoding).names
    return read_constraints(path, ids=names, encoding=encoding)


def examine(
    links: Path, constraints: Any, n_clusters: int | None, encoding: str | None = None
) -> dict[str, Any]:
    """What is in the set and what clashes."""
    from conclust.constraints import summarize_file

    kinds = constraints.kinds
    conflicts = constraints.conflicts(n_clusters)
    counts = {kind: int((kinds == kind).sum()) for kind in dict.fromkeys(kinds.tolist())}
    return {
        "statements": counts,
        "n_statements": len(constraints),
        "n_rows_named": len(constraints.samples),
        "n_skipped": len(constraints.skipped),
        "n_repeated": max(0, summarize_file(links, encoding).n_statements - len(constraints)),
        "n_clusters": n_clusters,
        "conflicts": [
            {
                "kind": conflict.kind,
                "reason": str(conflict),
                "statements": conflict.statements.to_frame().to_dict("records"),
            }
            for conflict in conflicts
        ],
    }


def usefulness(X: Any, constraints: Any, n_clusters: int | None, seed: int) -> dict[str, Any]:
    """Informativeness and coherence."""
    from conclust import constraint_quality

    if hasattr(X, "toarray"):
        if X.shape[0] * X.shape[1] > MAX_DENSE:
            return {}
        X = X.toarray()
    quality = constraint_quality(X, constraints, n_clusters=n_clusters, random_state=seed)
    return {"informativeness": quality.informativeness, "coherence": quality.coherence}


def mend(constraints: Any, path: Path) -> dict[str, Any]:
    """Write what can all hold; return what was dropped."""
    from conclust._files import is_formula

    repaired = constraints.repaired()
    if path.suffix.lower() in (".csv", ".tsv"):
        risky = [n for n in map(constraints.name, constraints.samples) if is_formula(n)]
        if risky:
            # A mark in front would make it another id, and the file is to be read again.
            raise BadInput(
                f"The id {risky[0][:60]!r} would be run as a formula by a spreadsheet; "
                f"write to a JSON file instead: --repair {path.with_suffix('.json')}"
            )
    repaired.write(path)
    return {
        "path": str(path),
        "n_kept": len(repaired),
        "dropped": repaired.dropped.to_frame(ids=constraints.ids).to_dict("records"),
    }


def _print(links: Path, found: dict[str, Any], n_clusters: int | None) -> None:
    from conclust.constraints import MAX_LISTED

    counts = ", ".join(f"{n} {kind}" for kind, n in found["statements"].items()) or "no statements"
    say(f"{links.name}: {counts}, about {found['n_rows_named']} rows.")
    if found["n_skipped"]:
        say(f"{found['n_skipped']} rows answered skip or unsure are not counted.")
    if found["n_repeated"]:
        say(f"{found['n_repeated']} statements repeat another; such weights are added.")
    if "informativeness" in found:
        say(
            f"Informativeness {found['informativeness']:.2f}: the share that k-means breaks when "
            "it is not told."
        )
        if found["coherence"] == found["coherence"]:
            say(
                f"Coherence {found['coherence']:.2f}: the share of must-link and cannot-link pairs "
                "that do not pull against each other."
            )
    conflicts = found["conflicts"]
    if not conflicts:
        with_k = f" with {n_clusters} clusters" if n_clusters else ""
        say(f"No conflicts found: the statements can all hold{with_k}.")
    else:
        say(f"\n{count_conflicts(len(conflicts), MAX_LISTED)}:")
        for conflict in conflicts[:N_SHOWN]:
            say(f"  - {conflict['reason']}")
        if len(conflicts) > N_SHOWN:
            say(f"  … and {len(conflicts) - N_SHOWN} more, which --json lists.")
    if "repair" in found:
        repaired = found["repair"]
        say(f"\n{repaired['n_kept']} statements written to {repaired['path']}; dropped:")
        for row in repaired["dropped"][:N_SHOWN] or [None]:
            say(f"  - {note_of_row(row)} (weight {row['weight']:g})" if row else "  nothing")
        if len(repaired["dropped"]) > N_SHOWN:
            say(f"  … and {len(repaired['dropped']) - N_SHOWN} more; --json lists all.")
