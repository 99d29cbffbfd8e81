"""``python -m reproduction paper000 [--quick] [--jobs 2]``: table, figures and page of a paper."""

import argparse
import importlib
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from conclust._atomic import atomic_write
from reproduction._page import write_page
from reproduction._runner import run

HERE = Path(__file__).parent
PAPERS = sorted(path.parent.name for path in HERE.glob("*/__init__.py"))


def reproduce(
    papers: Iterable[str],
    *,
    quick: bool = False,
    jobs: int = 1,
    page_only: bool = False,
    fresh: bool = False,
    out: Path | None = None,
) -> None:
    """Fill the tables of papers and write their pages.

    Tables go to the papers' own folders and pages to docs/, or both to `out`; by default a quick
    run goes to build/reproduction. `fresh` forgets what an earlier run has computed.
    """
    if out is None and quick:
        out = Path("build/reproduction")
    for paper in papers:
        protocol = importlib.import_module(f"reproduction.{paper}").PROTOCOL
        folder = out / paper if out else HERE / paper
        if page_only and not (folder / "results.csv").exists():
            print(f"{paper}: no table yet; `python -m reproduction {paper}` computes it.")
            continue
        if page_only:
            table = pd.read_csv(folder / "results.csv")
        else:
            name = "quick.jsonl" if quick else "full.jsonl"
            checkpoint = Path("build/reproduction/checkpoints") / paper / name
            if fresh:
                checkpoint.unlink(missing_ok=True)
            table = run(protocol, checkpoint, quick=quick, n_jobs=jobs)
            folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(folder / "results.csv") as file:
                table.to_csv(file, index=False, float_format="%.4g")
        print(write_page(protocol, table, out if out else HERE.parent / "docs" / "reproduction"))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    parser.add_argument("papers", nargs="*", default=PAPERS, help=f"of {', '.join(PAPERS)}")
    parser.add_argument("--quick", action="store_true", help="the small version, in minutes")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, help="where tables, figures and pages go")
    parser.add_argument(
        "--page-only", action="store_true", help="from the committed table, computing nothing"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="forget what an earlier run has computed"
    )
    given = parser.parse_args()
    unknown = [paper for paper in given.papers if paper not in PAPERS]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; choose from {', '.join(PAPERS)}")
    reproduce(
        given.papers,
        quick=given.quick,
        jobs=given.jobs,
        page_only=given.page_only,
        fresh=given.fresh,
        out=given.out,
    )


if __name__ == "__main__":
    main()
