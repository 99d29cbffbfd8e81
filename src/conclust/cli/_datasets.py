"""``conclust datasets``: what the papers use, and how to get it as a table."""

from pathlib import Path
from typing import Any

import click

from conclust.cli._errors import BadInput, about
from conclust.cli._options import PATH, common_options, printed_table, say, show_json


@click.command("datasets")
@click.argument("name", required=False)
@click.option("-o", "--output", type=PATH, help="Write the data set NAME to this CSV file.")
@common_options
def command(name: str | None, output: Path | None, as_json: bool) -> None:
    r"""List the papers' data sets, describe one, or write it as a table.

    \b
    conclust datasets
    conclust datasets iris -o iris.csv
    """
    if name is None:
        if output is not None:
            raise BadInput("-o goes with the NAME of a data set.")
        _list(as_json)
        return
    from conclust.datasets import load

    try:
        with about("datasets"):
            bunch = load(name)
    except BadInput as error:
        # The library's way out is a call; here it is a command.
        told = error.message.replace("`conclust.datasets.names()`", "`conclust datasets`")
        raise BadInput(told) from error
    found: dict[str, Any] = {
        "name": bunch.name,
        "n_rows": len(bunch.target),
        "n_classes": len(bunch.target_names),
        "source": bunch.source,
        "papers": bunch.papers,
    }
    if output is not None:
        _write(bunch, output)
        found["file"] = str(output)
    if as_json:
        show_json(found)
        return
    say(bunch.DESCR)
    if output is not None:
        say(f"\nWritten to {output}: id, the features, class.")


def _list(as_json: bool) -> None:
    from conclust.datasets import table

    frame = table()
    papers = frame.groupby("name", sort=False)["paper"].agg(lambda s: ", ".join(filter(None, s)))
    frame = frame.drop_duplicates("name").set_index("name")
    rows = [
        {"name": n, "n": int(r.n), "d": r.d, "classes": int(r.classes), "papers": papers[n]}
        for n, r in frame.iterrows()
    ]
    if as_json:
        show_json(rows)
        return
    header = ["name", "n", "d", "classes", "papers"]
    say(printed_table(header, [[str(row[h]) for h in header] for row in rows]))


def _write(bunch: Any, path: Path) -> None:
    import numpy as np

    from conclust._files import write_rows

    if not isinstance(bunch.data, np.ndarray) or bunch.data.ndim != 2:
        raise BadInput(f"{bunch.name} is no single table of numbers; load it from Python.")
    if not path.parent.is_dir():
        raise BadInput(f"{path.parent}: no such folder.")
    names = bunch.feature_names or [f"x{i}" for i in range(bunch.data.shape[1])]
    classes = bunch.target_names[bunch.target].astype(str).tolist()
    rows = (
        [i, *values, label]
        for i, (values, label) in enumerate(zip(bunch.data.tolist(), classes, strict=True))
    )
    write_rows(path, ["id", *names, "class"], rows)
