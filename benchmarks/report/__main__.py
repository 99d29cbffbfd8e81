"""Read the command line: see the package's first lines."""

import argparse
import shutil
import sys
from pathlib import Path

import benchmarks.report
from benchmarks.report._cases import all_cases
from benchmarks.report._commands import OUTPUTS, TOP, commands, pages, rerun, show
from benchmarks.report._fill import fill, install_rivals
from benchmarks.report._page import page_of, worse, write_ratios
from conclust._atomic import atomic_write

MARGIN = 1.5  # one rerun of twelve cases on busy cores gave 0.93 to 1.14 times the ratios before


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.report",
        description=benchmarks.report.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="up to 10^5 rows, in half an hour")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="estimators or rivals, by name")
    parser.add_argument("--rivals", action="store_true", help="install those that are missing")
    parser.add_argument("--limit", type=float, default=0, help="seconds of a case; 60, full 1800")
    parser.add_argument("--fresh", action="store_true", help="measure all that is asked for anew")
    parser.add_argument("--write", action="store_true", help="to docs/benchmarks.md, ratios.json")
    parser.add_argument("--check", action="store_true", help="fail where ratios got worse")
    parser.add_argument("--margin", type=float, default=MARGIN, help=f"times, {MARGIN} by default")
    parser.add_argument("--pages", action="store_true", help="list the command of each figure")
    parser.add_argument("--page", nargs="+", metavar="PAGE", help="run the commands of pages")
    parser.add_argument("--match", default="", help="of these, only commands that contain it")
    asked = parser.parse_args()
    if asked.pages or asked.page:
        return figures(parser, asked)
    return measure(parser, asked)


def measure(parser, asked):
    known = {case["who"] for case in all_cases(asked.quick)}
    unknown = sorted(set(asked.only or []) - known)
    if unknown:
        parser.error(f"--only: there is no {unknown[0]!r}; choose from {', '.join(sorted(known))}")
    if asked.write and asked.only:
        parser.error("--write makes the whole page: leave out --only")
    if asked.rivals:
        install_rivals()
    checkpoint = TOP / "build" / "report" / ("quick.jsonl" if asked.quick else "full.jsonl")
    limit = asked.limit or (60.0 if asked.quick else 1800.0)
    cases = all_cases(asked.quick, asked.only or ())
    rows, missing = fill(cases, checkpoint, limit, asked.fresh)
    if asked.check:
        found = worse(rows, asked.margin)
        print(*found or ["no ratio got worse"], sep="\n")
        return 1 if found else 0
    path = TOP / ("docs" if asked.write else "build/report") / "benchmarks.md"
    with atomic_write(path) as file:
        file.write(page_of(rows, missing, asked.quick))
    if asked.write:
        write_ratios(rows)
    print(path)
    return 0


def figures(parser, asked):
    chosen = [each for each in commands() if asked.match in each.words]
    if not asked.page:
        show(chosen)
        return 0
    known = {Path(page).name for page in pages()}
    unknown = sorted(set(asked.page) - known)
    if unknown:
        parser.error(f"--page: there is no {unknown[0]!r}; choose from {', '.join(sorted(known))}")
    if asked.fresh:
        for page in asked.page:
            shutil.rmtree(OUTPUTS / page, ignore_errors=True)
    return min(1, rerun([each for each in chosen if Path(each.page).name in asked.page]))


if __name__ == "__main__":
    sys.exit(main())
