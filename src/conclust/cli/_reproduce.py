"""``conclust reproduce``: the papers' figures and tables, from a checkout of the repository."""

import importlib
import sys
from pathlib import Path

import click

from conclust.cli._errors import BadInput
from conclust.cli._options import PATH


@click.command("reproduce")
@click.argument("papers", nargs=-1)
@click.option("--quick", is_flag=True, help="The small version of each, in minutes.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@click.option("--page-only", is_flag=True, help="Pages from the tables there are; no computing.")
@click.option("--fresh", is_flag=True, help="Forget what an earlier run has computed.")
@click.option("-o", "--output", type=PATH, help="Where tables, figures and pages go.")
def command(
    papers: tuple[str, ...],
    quick: bool,
    jobs: int,
    page_only: bool,
    fresh: bool,
    output: Path | None,
) -> None:
    r"""Redo the papers' figures and tables; PAPERS: paper000 … paper004, leaderboard, active.

    A run that is stopped goes on where it was. Data sets are read from the folder named by
    CONCLUST_DATA.

    \b
    conclust reproduce paper000 --quick
    conclust reproduce --jobs 2
    """
    if not Path("reproduction/__main__.py").is_file():
        raise BadInput(
            "The experiments are not part of the installed package: run this in the top folder of "
            "a checkout, where `reproduction/` is."
        )
    sys.path.insert(0, str(Path.cwd()))
    runner = importlib.import_module("reproduction.__main__")
    unknown = [paper for paper in papers if paper not in runner.PAPERS]
    if unknown:
        raise BadInput(f"There is no {unknown[0]!r}; choose from {', '.join(runner.PAPERS)}.")
    runner.reproduce(
        papers or runner.PAPERS,
        quick=quick,
        jobs=jobs,
        page_only=page_only,
        fresh=fresh,
        out=output,
    )
