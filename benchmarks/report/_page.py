"""The page of what was measured, and the ratios that the next run is compared with."""

import json
import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

import numpy as np
from reproduction._runner import key_of

from benchmarks.report._cases import ENVIRONMENT, axes, cells, names, tasks
from conclust._atomic import atomic_write
from conclust._declare import estimators

RATIOS = Path(__file__).parents[1] / "ratios.json"
LAW = re.compile(r"O\((?:[^()]|\([^()]*\))*\)")
AXES = ("n", "d", "k", "statements", "members")


INTRODUCTION = (
    "# Measured: time, memory and growth of every method",
    "Made by `python -m benchmarks.report{option} --rivals --write`; nothing here is written by "
    "hand. What follows from it for tables of a given size: [How far does it go?](how_far.md)",
    "Machine: {machine}.",
    "Seconds are of one processor in one thread, the least of up to three turns (fewer where they "
    "are long); scikit-learn's `KMeans` (Lloyd, one start, ten iterations) takes turns in the same "
    "process on the same rows, and × KMeans is the ratio. Memory is the peak above what was there "
    "before `fit`. Rows are blobs in double precision, statements are true and about random pairs "
    "(triplets for `ReCon` and `RelativeMetric`); one start, ten iterations for the k-means "
    "family, else the defaults of the class. A case whose process needs more than 60 s of the "
    "processor (in the full version 1 800), for compiling, a fit whose memory is watched and the "
    "turns, says so instead.",
)
GROWTH = (
    "Slope of log seconds, per iteration where the method counts them (an ensemble: per member), "
    "against log of what grows: 1 is proportional, 2 is with the square. n "
    "over all its rows below; the others from one size to four times as much, at the middle n. "
    "Fits of a few milliseconds are mostly fixed costs."
)
CELLS = (
    "5 000 statements. The last column is rows × features × clusters × iterations per second: what "
    "one core sweeps, all else that a fit does included."
)
RIVALS = (
    "Each in an environment of its own, on the same rows. Seconds are of the processor: those of "
    "scikit-learn-intelex, which takes as many threads as it likes, count all of them. `broken` "
    "counts the statements that do not hold. faiss works in single precision."
)


def page_of(rows, missing, quick):
    """The whole page as Markdown."""
    option = " --quick" if quick else ""
    parts = [
        *(part.format(option=option, machine=machine()) for part in INTRODUCTION),
        "## Growth",
        GROWTH,
        growth_table(rows, quick),
        "## Rows",
        "16 features, 10 clusters, 1 000 statements, 10 members.",
        rows_table(rows, quick),
        "## ConstrainedKMeans against KMeans",
        CELLS,
        cells_table(rows, quick),
        "## Rivals",
        RIVALS,
        *rival_tables(rows, quick),
    ]
    if missing:
        parts += [
            "Not measured:",
            "\n".join(f"- {who}: {why}" for who, why in sorted(missing.items())),
        ]
    return "\n\n".join(parts) + "\n"


def machine():
    text = ""
    if Path("/proc/cpuinfo").exists():
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
        text = found[1].strip() if found else ""
    busy = f", {os.getloadavg()[0]:.1f} processes at work when the page was written"
    used = " ".join(f"{each} {version(each)}" for each in ("numpy", "scikit-learn", "numba"))
    return (
        f"{text or platform.machine()}, {os.cpu_count()} cores{busy}; "
        f"Python {platform.python_version()}, {used}"
    )


def growth_table(rows, quick):
    lines = []
    for name in names():
        slopes = [slope(rows, cases, axis) for axis, cases in padded(axes(name, quick)).items()]
        made = estimators()[name.split(",")[0]]
        laws = dict.fromkeys(" ".join(law.split()) for law in LAW.findall(made.__doc__ or ""))
        lines.append([name, *slopes, "; ".join(laws)])
    header = ["", "n", "features", "clusters", "statements", "members", "its docstring says"]
    return table(header, lines)


def padded(found):
    return {axis: found.get(axis, []) for axis in AXES}


def slope(rows, cases, axis):
    """Of the least-squares line through what was measured; of one point, why there are no more."""
    points = [(case[axis], each(row, axis)) for case, row in with_rows(rows, cases)]
    if len(points) < 2:
        failed = [rows.get(key_of(case), {}).get("failed") for case in cases]
        return next(filter(None, failed), "")
    x, y = np.log(np.array(points, float)).T
    return f"{np.polyfit(x, y, 1)[0]:.2f}"


def each(row, axis):
    """Seconds per iteration where they are counted; those of an ensemble are its members."""
    n_iter = None if axis == "members" else row.get("iterations")
    return row["seconds"] / (n_iter or 1)


def with_rows(rows, cases):
    found = [(case, rows.get(key_of(case), {})) for case in cases]
    return [(case, row) for case, row in found if "seconds" in row]


def rows_table(rows, quick):
    lines = []
    for name in names():
        for case in axes(name, quick)["n"]:
            row = rows.get(key_of(case), {"failed": "not measured yet"})
            lines.append([name, count(case["n"]), *cells_of(row)])
    return table(["", "n", "s", "× KMeans", "MB"], lines)


def cells_of(row):
    if "failed" in row:
        return [row["failed"], "", ""]
    ratio = f"{row['ratio']:.3g}" if "ratio" in row else ""
    return [number(row["seconds"]), ratio, f"{row['megabytes']:.0f}"]


def cells_table(rows, quick):
    lines = []
    for case, row in with_rows(rows, cells(quick)):
        swept = case["n"] * case["d"] * case["k"] * row["iterations"] / row["seconds"]
        sizes = [count(case[axis]) for axis in ("n", "d", "k")]
        made = f"{row['iterations']}, {row['their_iterations']}"
        lines.append([*sizes, made, *cells_of(row), f"{swept:.2g}"])
    header = ["n", "features", "clusters", "iterations: ours, KMeans", "s", "× KMeans", "MB"]
    return table([*header, "per second"], lines)


def rival_tables(rows, quick):
    for task, sizes in tasks(quick).items():
        lines = []
        for same in sizes:
            for case in same:
                row = rows.get(key_of(case))
                if row is None:
                    continue
                broken = str(row.get("broken", "")) if case["statements"] and told(task) else ""
                # Comparable only between clusterings of as many clusters by the same objective.
                has_inertia = "inertia" in row and "ten iterations" in task
                inertia = f"{row['inertia']:.4g}" if has_inertia else ""
                told_of = [count(case[axis]) for axis in ("n", "d", "k", "statements")]
                seconds, _, memory = cells_of(row)
                lines.append([case["who"], *told_of, seconds, memory, broken, inertia])
        header = ["", "n", "features", "clusters", "statements", "s", "MB", "broken", "inertia"]
        yield f"**{task}.**\n\n" + table(header, lines)


def told(task):
    """Whether the statements are told, or only the questions counted."""
    return task.startswith("Statements")


def table(header, lines):
    every = [header, ["---"] * len(header), *lines]
    cells = [[cell.replace("|", r"\|") for cell in line] for line in every]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def count(value):
    return f"{value:,}".replace(",", " ")


def number(seconds):
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.1f}"


# ---------------------------------------------------------------- ratios


def ratios_of(rows):
    """Ratios to scikit-learn of all cases of ours, by the words that name the case."""
    found = {}
    for key, row in rows.items():
        case = json.loads(key)
        if "ratio" in row and case["who"] not in ENVIRONMENT and case["who"] not in PLAIN:
            found[name_of(case)] = round(row["ratio"], 3)
    return dict(sorted(found.items()))


PLAIN = {"scikit-learn KMeans", "scipy linkage"}


def name_of(case):
    sizes = " ".join(f"{axis}={case[axis]}" for axis in AXES)
    return f"{case['who']} {sizes}"


def write_ratios(rows):
    stored = {"machine": machine(), "ratios": committed() | ratios_of(rows)}
    with atomic_write(RATIOS) as file:
        file.write(json.dumps(stored, indent=1) + "\n")


def committed():
    return json.loads(RATIOS.read_text())["ratios"] if RATIOS.exists() else {}


def worse(rows, margin, before=None):
    """Sentences about cases that are more than `margin` times the committed ratio, or fail now."""
    before = committed() if before is None else before
    slower = [
        f"{name}: {ratio:.3g} times scikit-learn's time, committed {before[name]:.3g} "
        f"(allowed up to {margin * before[name]:.3g})"
        for name, ratio in ratios_of(rows).items()
        if name in before and ratio > margin * before[name]
    ]
    failed = {
        name_of(json.loads(key)): row["failed"] for key, row in rows.items() if "failed" in row
    }
    return slower + [f"{name}: {why}" for name, why in failed.items() if name in before]
