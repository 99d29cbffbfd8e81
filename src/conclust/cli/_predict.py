"""``conclust predict``: clusters of new rows under a model that `cluster` wrote."""

from pathlib import Path
from typing import Any

import click

from conclust.cli._errors import BadInput, about
from conclust.cli._options import PATH, common_options, say, show_json


@click.command("predict")
@click.argument("model", type=PATH)
@click.argument("data", type=PATH)
@click.option("--id-col", help="The column that names the rows.")
@click.option("--separator", help="Of a CSV file; read off its header by default.")
@click.option("-o", "--output", type=PATH, help="CSV file to write; printed by default.")
@common_options
def command(
    model: Path,
    data: Path,
    id_col: str | None,
    separator: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    r"""Label the rows of DATA with MODEL; statements are not applied again.

    \b
    conclust predict table-clusters/model.skops new.csv --id-col key -o new-labels.csv
    """
    import csv
    import sys
    import warnings

    import conclust
    from conclust.cli._table import guarded, read_table, write_rows

    if not model.exists():
        raise BadInput(f"{model}: no such file.")
    pipeline = conclust.load(model)
    if not hasattr(pipeline, "predict"):
        raise BadInput(f"{model.name} holds a {type(pipeline).__name__}, which cannot label rows.")
    table = read_table(data, id_col, separator=separator, min_rows=1)
    with about(data.name), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = pipeline.predict(rows_for(pipeline, table))
    for text in dict.fromkeys(str(w.message).split("\n")[0] for w in caught):
        click.echo(f"Note: {text}", err=True)
    names = table.names
    if as_json:
        show_json({"id": names, "label": labels})
        return
    rows = list(zip(names, labels.tolist(), strict=True))
    if output is None:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(["id", "label"])
        writer.writerows([guarded(cell) for cell in row] for row in rows)
        return
    if not output.parent.is_dir():
        raise BadInput(f"{output.parent}: no such folder.")
    n_guarded = write_rows(output, ["id", "label"], rows)
    say(f"{len(rows):,} rows labelled in {output}.")
    if n_guarded:
        say(f"{n_guarded} ids begin like a formula and are written with an apostrophe in front.")


def rows_for(pipeline: Any, table: Any) -> Any:
    """The columns the model was fitted on."""
    from conclust.cli._prepare import fill_texts

    if table.frame is None:
        return table.matrix
    steps = getattr(pipeline, "named_steps", {})
    prepare = steps.get("prepare")
    if prepare is None or not hasattr(prepare, "transformers_"):
        return table.frame.to_numpy()
    missing = [str(c) for c in prepare.feature_names_in_ if c not in table.frame.columns]
    used = [c for c in missing if c in _used(prepare)]
    if used:
        shown = ", ".join(map(repr, used[:5])) + (", …" if len(used) > 5 else "")
        raise BadInput(f"{table.path.name} lacks columns the model uses: {shown}.")
    frame = table.frame.reindex(columns=list(prepare.feature_names_in_))
    return fill_texts(frame, _texts(prepare))


def _used(prepare: Any) -> set[str]:
    return {
        name
        for _, _, columns in prepare.transformers_
        for name in ([columns] if isinstance(columns, str) else columns)
        if isinstance(name, str)
    }


def _texts(prepare: Any) -> list[str]:
    return [columns for _, _, columns in prepare.transformers_ if isinstance(columns, str)]
