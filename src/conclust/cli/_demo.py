"""``conclust demo``: what a handful of constraints does."""

import json
from typing import Any

import click


@click.command("demo")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@click.option("--seed", default=0, show_default=True, help="Seed of the constraints and starts.")
def command(as_json: bool, seed: int) -> None:
    """Cluster embedded data with and without constraints and show the difference."""
    rows = run(seed)
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    click.echo("Agreement with the true classes (adjusted Rand index, 1 = perfect), and how many")
    click.echo("of the sampled constraints each result keeps:\n")
    header = ("data", "constraints", "method", "agreement", "kept")
    table = [
        (r["data"], str(r["n_constraints"]), r["method"], f"{r['agreement']:.2f}",
         f"{r['kept']} of {r['n_constraints']}" if r["n_constraints"] else "")
        for r in rows
    ]  # fmt: skip
    widths = [max(len(row[i]) for row in [header, *table]) for i in range(len(header))]
    for row in [header, tuple("-" * w for w in widths), *table]:
        click.echo("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())
    click.echo("\nThe same in Python:\n")
    click.echo("    from conclust import COPKMeans, Constraints")
    click.echo("    known = Constraints(must_link=[(0, 1)], cannot_link=[(0, 50)])")
    click.echo("    labels = COPKMeans(n_clusters=3).fit(X, constraints=known).labels_")


def run(seed: int = 0) -> list[dict[str, Any]]:
    """Cluster iris and wine with 0, 50 and 150 random true constraints."""
    from sklearn.cluster import KMeans
    from sklearn.datasets import load_iris, load_wine
    from sklearn.metrics import adjusted_rand_score
    from sklearn.preprocessing import StandardScaler

    from conclust import ConstrainedKMeans, COPKMeans, PCKMeans, sample_constraints

    rows: list[dict[str, Any]] = []
    for name, load in (("iris", load_iris), ("wine", load_wine)):
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        labels = KMeans(3, n_init=10, random_state=seed).fit_predict(X)
        agreement = adjusted_rand_score(y, labels)
        rows.append(_row(name, 0, "k-means, no constraints", agreement, 0))
        for n_constraints in (50, 150):
            known = sample_constraints(y, n_constraints, random_state=seed)
            kept = int(known.satisfied(labels).sum())
            rows.append(_row(name, n_constraints, "k-means, not told", agreement, kept))
            for method, estimator in (
                ("ConstrainedKMeans", ConstrainedKMeans(3, n_init=10, random_state=seed)),
                ("PCKMeans (soft)", PCKMeans(3, random_state=seed)),
                ("COPKMeans (hard)", COPKMeans(3, random_state=seed)),
            ):
                found = estimator.fit(X, constraints=known).labels_
                rows.append(
                    _row(
                        name,
                        n_constraints,
                        method,
                        adjusted_rand_score(y, found),
                        int(known.satisfied(found).sum()),
                    )
                )
    return rows


def _row(data: str, n: int, method: str, agreement: float, kept: int) -> dict[str, Any]:
    return {
        "data": data,
        "n_constraints": n,
        "method": method,
        "agreement": float(agreement),
        "kept": kept,
    }
