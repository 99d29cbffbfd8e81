"""Rows of a file read block by block against the same rows in memory: seconds and memory.

    python benchmarks/blocks.py [--rows N] [--features D] [--clusters K] [--statements S]

Both start from the same centres and make ten iterations. The file is mapped, and in the page cache
after it has been written. "private MB" is what the process may take beside what it has once loops
are compiled (`RLIMIT_DATA`; pages of the file do not count): the least of 16, 32, 64, … with which
`fit` succeeds, the array in memory included where there is one.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from _measure import _status, print_table
from conclust import ConstrainedKMeans, COPKMeans, PCKMeans, blocks, sample_constraints

MODELS = {
    "ConstrainedKMeans": lambda init: ConstrainedKMeans(len(init), init=init, max_iter=10),
    "COPKMeans": lambda init: COPKMeans(len(init), init=init, max_iter=10, tol=0),
    "PCKMeans": lambda init: PCKMeans(len(init), init=init, penalty=1.0, max_iter=10, tol=0),
}


def opened(path, source):
    return blocks.open(path) if source == "blocks" else np.load(path)


def warmed(path, name, source):
    """What a fit needs, its loops compiled."""
    known = sample_constraints(np.load(path.with_suffix(".labels.npy")), 10, random_state=1)
    rows = np.load(path, mmap_mode="r")[:3000]
    few = blocks.open(rows) if source == "blocks" else rows
    make = MODELS[name]
    init = np.load(path.with_suffix(".init.npy"))
    inside = np.flatnonzero((known.must_link < 3000).all(axis=1))
    make(init).fit(few, constraints=known[inside].on(3000) if len(inside) else None)
    return make(init)


def statements(path, n):
    return sample_constraints(np.load(path.with_suffix(".labels.npy")), n, random_state=0)


def timed(path, name, n, repeats):
    models = {source: warmed(path, name, source) for source in ("memory", "blocks")}
    known = statements(path, n)
    rows = {source: opened(path, source) for source in models}
    seconds = {source: [] for source in models}
    for _ in range(repeats):  # in turn, for cores that are shared
        for source, model in models.items():
            began = time.process_time(), time.perf_counter()
            model.fit(rows[source], constraints=known)
            ended = time.process_time(), time.perf_counter()
            seconds[source].append([b - a for a, b in zip(began, ended, strict=True)])
    same = bool((models["memory"].labels_ == models["blocks"].labels_).all())
    return {source: np.min(each, axis=0) for source, each in seconds.items()}, same


def fits_into(path, name, source, n, megabytes):
    model, known = warmed(path, name, source), statements(path, n)
    allowed = int((_status("VmData") + megabytes) * 2**20)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
    try:
        model.fit(opened(path, source), constraints=known)
    except MemoryError:
        return False
    return True


def least(path, name, source, n):
    context = multiprocessing.get_context("spawn")
    for megabytes in (16, 32, 64, 128, 256, 512, 1024, 2048):
        with context.Pool(1) as pool:
            if pool.apply(fits_into, (path, name, source, n, megabytes)):
                return megabytes
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--statements", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    args = parser.parse_args()
    generator = np.random.RandomState(0)
    truth = generator.randint(args.clusters, size=args.rows)
    centers = generator.normal(scale=2.0, size=(args.clusters, args.features))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        rows = np.lib.format.open_memmap(path, "w+", float, (args.rows, args.features))
        for start in range(0, args.rows, 1 << 16):
            here = truth[start : start + (1 << 16)]
            rows[start : start + len(here)] = centers[here] + generator.normal(
                size=(len(here), args.features)
            )
        np.save(path.with_suffix(".labels.npy"), truth)
        np.save(path.with_suffix(".init.npy"), rows[: args.clusters])
        size = path.stat().st_size / 2**20
        print(f"{args.rows:,} × {args.features}, {size:.0f} MB, {args.statements:,} statements")
        table = []
        for name in args.models:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, same = pool.apply(timed, (path, name, args.statements, args.repeats))
            ratio = seconds["blocks"] / seconds["memory"]
            memory = [least(path, name, source, args.statements) for source in seconds]
            (cpu, wall), (block_cpu, block_wall) = seconds["memory"], seconds["blocks"]
            table.append(
                (name, f"{cpu:.2f} ({wall:.2f})", f"{block_cpu:.2f} ({block_wall:.2f})",
                 f"{ratio[0]:.2f} ({ratio[1]:.2f})", *memory, same)
            )  # fmt: skip
        print_table(
            ("", "memory, s: cpu (wall)", "blocks, s", "ratio", "memory: private MB",
             "blocks: private MB", "same labels"), table,
        )  # fmt: skip


if __name__ == "__main__":
    main()
