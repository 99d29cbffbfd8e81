"""``python -m reproduction paper000 [--quick] [--jobs 2]``: table, figures and page of a paper."""

import argparse
import importlib
from pathlib import Path

import pandas as pd

from reproduction._page import write_page
from reproduction._runner import run

HERE = Path(__file__).parent
PAPERS = sorted(p.parent.name for p in HERE.glob("paper*/__init__.py"))


def main() -> None:
    """Run the papers named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    parser.add_argument("papers", nargs="*", default=PAPERS, help=f"of {', '.join(PAPERS)}")
    parser.add_argument("--quick", action="store_true", help="the small version, in minutes")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--out",
        type=Path,
        help="where table, figures and page go; by default the paper's own folder and docs/, "
        "or build/reproduction with --quick",
    )
    parser.add_argument(
        "--page-only", action="store_true", help="from the committed table, computing nothing"
    )
    given = parser.parse_args()
    for paper in given.papers:
        if paper not in PAPERS:
            parser.error(f"there is no {paper!r}; choose from {', '.join(PAPERS)}")
        protocol = importlib.import_module(f"reproduction.{paper}").PROTOCOL
        out = given.out or (Path("build/reproduction") if given.quick else None)
        folder = out / paper if out else HERE / paper
        pages = out if out else HERE.parent / "docs" / "reproduction"
        table_file = folder / "results.csv"
        if given.page_only:
            table = pd.read_csv(table_file)
        else:
            name = "quick.jsonl" if given.quick else "full.jsonl"
            checkpoint = Path("build/reproduction/checkpoints") / paper / name
            table = run(protocol, checkpoint, quick=given.quick, n_jobs=given.jobs)
            folder.mkdir(parents=True, exist_ok=True)
            table.to_csv(table_file, index=False, float_format="%.4g")
        print(write_page(protocol, table, pages))


if __name__ == "__main__":
    main()
