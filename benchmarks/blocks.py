"""Rows of a file read block by block against the same rows in memory: seconds and memory.

    python benchmarks/blocks.py [--rows N] [--features D] [--clusters K] [--statements S]
    python benchmarks/blocks.py --end-to-end

Both start from the same centres and make ten iterations. The file is mapped, and in the page cache
after it has been written. "private MB" is what the process may take beside what it has once loops
are compiled (`RLIMIT_DATA`; pages of the file do not count): the least of 16, 32, 64, … with which
`fit` succeeds, the array in memory included where there is one.

``--end-to-end`` fits 10^7 rows of a mapped file in single precision with 10^5 statements from a
start of its own until it stops, each model in its own process, labels in memory and in a file.
"peak MB" is the anonymous memory (`RssAnon`, looked at each hundredth of a second) beside what the
process had, statements made and loops compiled.
"""

import argparse
import multiprocessing
import resource
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from _measure import _status, print_table
from conclust import (
    ConstrainedGaussianMixture,
    ConstrainedKMeans,
    COPKMeans,
    MiniBatchConstrainedKMeans,
    PCKMeans,
    blocks,
    sample_constraints,
)

MODELS = {
    "ConstrainedKMeans": lambda init: ConstrainedKMeans(len(init), init=init, max_iter=10),
    "COPKMeans": lambda init: COPKMeans(len(init), init=init, max_iter=10, tol=0),
    "PCKMeans": lambda init: PCKMeans(len(init), init=init, penalty=1.0, max_iter=10, tol=0),
}
WHOLE = {
    "ConstrainedKMeans": lambda k: ConstrainedKMeans(k, tol=1e-4, random_state=0),
    "MiniBatchConstrainedKMeans": lambda k: MiniBatchConstrainedKMeans(k, random_state=0),
    "ConstrainedGaussianMixture": lambda k: ConstrainedGaussianMixture(
        k, covariance_type="tied", random_state=0
    ),
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
    except (MemoryError, RuntimeError):  # the latter: no room for the stack of a thread
        return False
    return True


def least(path, name, source, n):
    context = multiprocessing.get_context("spawn")
    for megabytes in (16, 32, 64, 128, 256, 512, 1024, 2048):
        with context.Pool(1) as pool:
            if pool.apply(fits_into, (path, name, source, n, megabytes)):
                return megabytes
    return None


class PeakMemory:
    """Anonymous memory at its highest, beside what there was."""

    def __enter__(self):
        self._before = self._peak = _status("RssAnon")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self):
        while not self._stop.wait(0.01):
            self._peak = max(self._peak, _status("RssAnon"))

    def __exit__(self, *exception):
        self._stop.set()
        self._thread.join()

    @property
    def megabytes(self):
        return self._peak - self._before


def whole(path, name, n_clusters, n, labels_file):
    truth = np.load(path.with_suffix(".labels.npy"), mmap_mode="r")
    few = blocks.open(np.load(path, mmap_mode="r")[:20_000])
    known = sample_constraints(np.array(truth[:20_000]), 1000, random_state=0)
    WHOLE[name](n_clusters).set_params(max_iter=3).fit(few, constraints=known)
    known, model = statements(path, n), WHOLE[name](n_clusters)
    began = time.process_time(), time.perf_counter()
    with PeakMemory() as peak:
        rows = blocks.open(path, labels_file=labels_file)
        model.fit(rows, constraints=known)
    ended = time.process_time(), time.perf_counter()
    cpu, wall = (b - a for a, b in zip(began, ended, strict=True))
    report, steps = model.report_, getattr(model, "n_steps_", model.n_iter_)
    value = model.inertia_ / len(truth) if hasattr(model, "inertia_") else model.lower_bound_
    return (
        name, "file" if labels_file else "memory", f"{cpu:.1f}", f"{wall:.1f}", steps,
        f"{peak.megabytes:.0f}", f"{value:.3f}", f"{report.kept.sum()} of {len(report.kept)}",
    )  # fmt: skip


def end_to_end(path, names, n_clusters, n):
    table = []
    for name in names:
        for labels_file in (None, path.with_name("labels_out.npy")):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                table.append(pool.apply(whole, (path, name, n_clusters, n, labels_file)))
                print(*table[-1], sep=" | ", flush=True)
    print_table(
        ("", "labels in", "cpu s", "wall s", "iterations or batches", "peak MB",
         "inertia per row (mixture: log-likelihood)", "statements kept"), table,
    )  # fmt: skip


def against_memory(path, models, n, repeats):
    table = []
    for name in models:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, same = pool.apply(timed, (path, name, n, repeats))
        ratio = seconds["blocks"] / seconds["memory"]
        memory = [least(path, name, source, n) for source in seconds]
        (cpu, wall), (block_cpu, block_wall) = seconds["memory"], seconds["blocks"]
        table.append(
            (name, f"{cpu:.2f} ({wall:.2f})", f"{block_cpu:.2f} ({block_wall:.2f})",
             f"{ratio[0]:.2f} ({ratio[1]:.2f})", *memory, same)
        )  # fmt: skip
    print_table(
        ("", "memory, s: cpu (wall)", "blocks, s", "ratio", "memory: private MB",
         "blocks: private MB", "same labels"), table,
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--end-to-end", action="store_true")
    parser.add_argument("--rows", type=int, help="10^6; end to end 10^7")
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--statements", type=int, help="10^4; end to end 10^5")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--models", nargs="+", choices=sorted({*MODELS, *WHOLE}))
    args = parser.parse_args()
    args.rows = args.rows or (10_000_000 if args.end_to_end else 1_000_000)
    args.statements = args.statements or (100_000 if args.end_to_end else 10_000)
    models = args.models or list(WHOLE if args.end_to_end else MODELS)
    dtype = np.float32 if args.end_to_end else np.float64
    generator = np.random.RandomState(0)
    truth = generator.randint(args.clusters, size=args.rows)
    centers = generator.normal(scale=2.0, size=(args.clusters, args.features))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        rows = np.lib.format.open_memmap(path, "w+", dtype, (args.rows, args.features))
        for start in range(0, args.rows, 1 << 16):
            here = truth[start : start + (1 << 16)]
            rows[start : start + len(here)] = centers[here] + generator.normal(
                size=(len(here), args.features)
            )
        np.save(path.with_suffix(".labels.npy"), truth)
        np.save(path.with_suffix(".init.npy"), rows[: args.clusters])
        size = path.stat().st_size / 2**20
        print(f"{args.rows:,} × {args.features}, {size:.0f} MB, {args.statements:,} statements")
        del rows
        if args.end_to_end:
            end_to_end(path, models, args.clusters, args.statements)
        else:
            against_memory(path, models, args.statements, args.repeats)


if __name__ == "__main__":
    main()
