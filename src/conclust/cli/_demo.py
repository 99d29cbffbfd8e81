"""``conclust demo``: what a handful of constraints does."""

from pathlib import Path
from typing import Any

import click

from conclust._declare import methods
from conclust.cli._options import (
    PATH,
    TableOptions,
    common_options,
    output_folder,
    printed_table,
    say,
    seed_option,
    show_json,
)

SHOWN = ("auto", "pckmeans", "recon")
N_CONSTRAINTS = (100,)
FOLDER = Path("conclust-demo")


@click.command("demo")
@click.option(
    "-o", "--output", type=PATH, default=FOLDER, show_default=True, help="Folder to write."
)
@seed_option
@common_options
def command(output: Path, seed: int, as_json: bool) -> None:
    """Cluster embedded data with and without constraints and show the difference."""
    with output_folder(output) as folder:
        rows = run(seed)
        write(folder, seed)
    if as_json:
        show_json(rows)
        return
    say("Agreement with the true classes (adjusted Rand index, 1 = perfect), and how many")
    say("of the sampled constraints each result keeps:\n")
    table = [
        [
            row["data"],
            str(row["n_constraints"]),
            row["method"],
            f"{row['agreement']:.2f}",
            f"{row['kept']} of {row['n_constraints']}" if row["n_constraints"] else "",
        ]
        for row in rows
    ]
    say(printed_table(["data", "constraints", "method", "agreement", "kept"], table))
    say(f"\nWritten to {folder}: a table, statements about it, labels.csv and report.html.")
    say("Open the report in a browser, or do the same by hand:\n")
    say(f"    conclust cluster {folder}/wine.csv --constraints {folder}/links.csv --id-col id -k 3")
    say("\nThe same in Python:\n")
    say("    from conclust import AutoCluster, Constraints")
    say("    known = Constraints(must_link=[(0, 1)], cannot_link=[(0, 50)])")
    say("    labels = AutoCluster(n_clusters=3).fit(X, constraints=known).labels_")


def run(seed: int = 0) -> list[dict[str, Any]]:
    """Cluster iris and wine without constraints and with 100 random true ones."""
    from sklearn.cluster import KMeans
    from sklearn.datasets import load_iris, load_wine
    from sklearn.metrics import adjusted_rand_score
    from sklearn.preprocessing import StandardScaler

    from conclust import sample_constraints

    rows: list[dict[str, Any]] = []
    for name, load in (("iris", load_iris), ("wine", load_wine)):
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        labels = KMeans(3, n_init=10, random_state=seed).fit_predict(X)
        agreement = adjusted_rand_score(y, labels)
        rows.append(_row(name, 0, "k-means, no constraints", agreement, 0))
        for n_constraints in N_CONSTRAINTS:
            known = sample_constraints(y, n_constraints, random_state=seed)
            kept = int(known.satisfied(labels).sum())
            rows.append(_row(name, n_constraints, "k-means, not told", agreement, kept))
            for method, found, said in _fits(X, y, known, seed):
                kept = int(said.satisfied(found).sum())
                rows.append(_row(name, n_constraints, method, adjusted_rand_score(y, found), kept))
    return rows


def _fits(X: Any, y: Any, known: Any, seed: int) -> Any:
    """Labels of each method of this version, with the statements it was given."""
    from conclust import sample_constraints

    for name in SHOWN:
        method, said = methods()[name], known
        if name == "recon":
            said = sample_constraints(y, n_relative=len(known), random_state=seed)
        sort = " (relative)" if said is not known else ""
        estimator = method.make(3, seed).fit(X, constraints=said)
        yield f"{method.class_name}{sort}", estimator.labels_, said


def _row(data: str, n: int, method: str, agreement: float, kept: int) -> dict[str, Any]:
    return {
        "data": data,
        "n_constraints": n,
        "method": method,
        "agreement": float(agreement),
        "kept": kept,
    }


def write(folder: Path, seed: int = 0) -> None:
    """Write a table and statements about it, and what `conclust cluster` makes of them."""
    from sklearn.datasets import load_wine

    from conclust import sample_constraints
    from conclust._files import write_rows
    from conclust.cli._cluster import run as cluster
    from conclust.cli._cluster import write as write_results
    from conclust.cli._job import read_job

    wine = load_wine()
    ids = [f"wine {i:03d}" for i in range(len(wine.target))]
    rows = ([name, *values] for name, values in zip(ids, wine.data.tolist(), strict=True))
    write_rows(folder / "wine.csv", ["id", *wine.feature_names], rows)
    known = sample_constraints(wine.target, N_CONSTRAINTS[0], random_state=seed)
    known.write(folder / "links.csv", ids=ids)
    options = TableOptions(id_col="id")
    job = read_job(folder / "wine.csv", folder / "links.csv", options)
    found = cluster(job, 3, "auto", {}, seed, quiet=True)
    write_results(folder, job, found, seed, model=False)
