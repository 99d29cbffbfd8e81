"""``conclust studio``: answer in a browser, watch the clusters follow."""

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conclust.cli._errors import BadInput, about
from conclust.cli._options import (
    INPUT,
    PATH,
    ClusterCount,
    TableOptions,
    common_options,
    say,
    seed_option,
    show_json,
    skip_unknown_option,
    table_options,
)

if TYPE_CHECKING:
    from conclust.cli._job import Job


@click.command("studio")
@click.argument("data", type=PATH)
@click.option("--constraints", "links", type=INPUT, help="What is known beforehand.")
@skip_unknown_option
@click.option("-k", "--n-clusters", type=ClusterCount(), default="auto", help="If it is known.")
@click.option(
    "--project", type=PATH, help="The file of answers, or its folder; DATA.studio by default."
)
@click.option("--images", type=PATH, help="The folder of images that cells name.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), help="As the last time, or any free one.")
@click.option("--no-browser", is_flag=True, help="Print the address, and open nothing.")
@click.option("--export", "output", type=PATH, help="Write the results into a folder, and end.")
@table_options
@seed_option
@common_options
def command(
    data: Path,
    links: Path | None,
    skip_unknown: bool,
    n_clusters: int | str,
    project: Path | None,
    images: Path | None,
    host: str,
    port: int | None,
    no_browser: bool,
    output: Path | None,
    options: TableOptions,
    seed: int,
    as_json: bool,
) -> None:
    r"""Answer in a browser which rows of DATA belong together, alone or with others.

    The page is on this computer only. Each answer is in DATA.studio before the next question is
    shown: stop with Ctrl-C whenever you like, and go on with the same command.

    \b
    conclust studio table.csv --id-col key
    conclust studio table.csv --id-col key --export out
    """
    path = project_path(data, project)
    if output is not None and not path.exists():
        raise BadInput(f"--export: there is no {path} yet; open the studio without --export first.")
    if output is None:
        from conclust.studio import require_web

        require_web()
    opened = _opened(data, links, skip_unknown, n_clusters, path, images, options, seed)
    try:
        if output is not None:
            _export(opened, output, as_json)
        else:
            _serve(opened, host, port, not no_browser, as_json)
    finally:
        is_quiet = opened.close(wait=False)
    if not is_quiet:
        _leave()


def _opened(
    data: Path,
    links: Path | None,
    skip_unknown: bool,
    n_clusters: int | str,
    path: Path,
    images: Path | None,
    options: TableOptions,
    seed: int,
) -> Any:
    from conclust.cli._job import check_n_clusters, read_job
    from conclust.studio import open_project

    if images is not None and not images.is_dir():
        raise BadInput(f"--images {images}: no such folder.")
    job = read_job(data, links, options, skip_unknown)
    if not isinstance(n_clusters, str):
        check_n_clusters(n_clusters, len(job.table))
    for note in [*job.warnings, *job.notes]:
        click.echo(f"- {note}", err=True)
    with about(data.name):
        return open_project(
            shown(job, options, images),
            path,
            n_clusters=None if isinstance(n_clusters, str) else n_clusters,
            constraints=job.constraints,
            seed=seed,
        )


def project_path(table: Path, given: Path | None) -> Path:
    """Where a project is kept: beside its table, unless told; in a folder, by the table's name."""
    default = table.with_name(table.name + ".studio")
    if given is None:
        return default
    return given / default.name if given.is_dir() else given


def shown(job: "Job", options: TableOptions, images: Path | None) -> Any:
    """The table as numbers, and with all its cells as people see them."""
    from conclust.studio import Data

    return Data(
        name=job.table.path.name,
        X=job.X,
        frame=_cells(job, options),
        ids=job.table.ids,
        id_column=options.id_col,
        notes=job.notes,
        warnings=job.warnings,
        used=job.table.frame,
        numbers=job.prepared.numbers,
        categories=job.prepared.categories,
        texts=job.prepared.texts,
        features=_features(job),
        transformer=job.prepared.transformer,
        images=images,
    )


def _features(job: "Job") -> list[str]:
    transformer = job.prepared.transformer
    if not hasattr(transformer, "get_feature_names_out"):
        return []
    return [str(name) for name in transformer.get_feature_names_out()]


def _cells(job: "Job", options: TableOptions) -> Any:
    """All columns, those that are not clustered by too, as they are written in the file."""
    from conclust.cli._table import read_table

    if job.table.is_array or job.table.frame is None:
        return job.table.frame
    everything = TableOptions(separator=options.separator, encoding=options.encoding)
    words = [*map(str, job.table.frame.columns), *([options.id_col] if options.id_col else [])]
    found: Any = read_table(job.table.path, everything, words=words).frame
    if set(found.columns) <= set(words):
        return found
    # Some are not clustered by: their names are known only now.
    return read_table(job.table.path, everything, words=list(found.columns)).frame


def _serve(project: Any, host: str, port: int | None, browser: bool, as_json: bool) -> None:
    from conclust.studio import serve

    def ready(url: str) -> None:
        if as_json:
            show_json({"url": url, "project": str(project.store.path)})
        else:
            say(f"The studio of {project.data.name} is open, until Ctrl-C: {url}")
            say(f"Answers are kept in {project.store.path}.")
        if browser:
            import webbrowser

            webbrowser.open(url)

    if host not in ("127.0.0.1", "localhost", "::1"):
        click.echo(
            f"Warning: everybody who reaches {host} and knows the token can see the table; "
            "nothing is encrypted.",
            err=True,
        )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stops as Ctrl-C does
    serve(project, host=host, port=port, on_ready=ready)
    click.echo(f"Stopped. All answers are in {project.store.path}.", err=True)


def _leave() -> None:
    """End at once: compiled code of a fit cannot be interrupted, and Python would abort over it."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)


def _export(project: Any, output: Path, as_json: bool) -> None:
    from conclust.cli._options import output_folder, working
    from conclust.studio import write_all

    with output_folder(output), working("Clustering …"):
        told = write_all(project, output)
    if as_json:
        show_json({"folder": str(output), "files": told})
    else:
        for line in told:
            say(line)
