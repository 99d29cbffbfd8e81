"""``conclust predict``: clusters of new rows under a model that `cluster` wrote."""

from pathlib import Path
from typing import Any

import click

from conclust.cli._errors import BadInput, about
from conclust.cli._options import (
    INPUT,
    PATH,
    TableOptions,
    common_options,
    encoding_option,
    say,
    show_json,
)


@click.command("predict")
@click.argument("model", type=PATH)
@click.argument("data", type=INPUT)
@click.option("--id-col", help="The column that names the rows; that of the fit by default.")
@click.option("--separator", help="Of a CSV file; read off its header by default.")
@encoding_option
@click.option(
    "-o", "--output", type=PATH, help="CSV, XLSX or Parquet to write; printed by default."
)
@common_options
def command(
    model: Path,
    data: Path,
    id_col: str | None,
    separator: str | None,
    encoding: str | None,
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
    from conclust._files import guarded, require_pyarrow, write_rows

    if output is not None and output.suffix.lower() == ".parquet":
        require_pyarrow(output)
    if not model.exists():
        raise BadInput(f"{model}: no such file.")
    pipeline = conclust.load(model)
    if not hasattr(pipeline, "predict"):
        raise BadInput(f"{model.name} holds a {type(pipeline).__name__}, which cannot label rows.")
    table = read_new(data, pipeline, TableOptions(id_col, separator=separator, encoding=encoding))
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


def read_new(data: Path, pipeline: Any, options: TableOptions) -> Any:
    """The new rows, read as those of the fit were: the same ids, words kept as written."""
    from dataclasses import replace

    from conclust.cli._table import read_table

    prepare = preparation_of(pipeline)
    if prepare is None:
        return read_table(data, options, min_rows=1)
    words = {*prepare.categories, *prepare.texts} - {*prepare.numbers}
    if options.id_col is None and prepare.id_col is not None:
        try:
            named = replace(options, id_col=prepare.id_col)
            return read_table(data, named, min_rows=1, words=words)
        except BadInput as error:
            if "(--id-col)" not in error.message:  # no such column: rows go by position
                raise
    return read_table(data, options, min_rows=1, words=words)


def preparation_of(pipeline: Any) -> Any:
    """What was done to the columns; None where the model takes numbers as they are."""
    prepare = getattr(pipeline, "named_steps", {}).get("prepare")
    return prepare if hasattr(prepare, "categories") else None


def rows_for(pipeline: Any, table: Any) -> Any:
    """The columns the model uses."""
    if table.frame is None:
        return table.matrix
    prepare = preparation_of(pipeline)
    if prepare is None:
        return table.frame.to_numpy()
    used = [str(name) for name in prepare.feature_names_in_]
    lacking = [name for name in used if name not in table.frame.columns]
    if lacking:
        shown = ", ".join(map(repr, lacking[:5])) + (", …" if len(lacking) > 5 else "")
        raise BadInput(f"{table.path.name} lacks columns the model uses: {shown}.")
    return table.frame[used]
