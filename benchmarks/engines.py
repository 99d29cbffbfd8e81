"""Two local workers against one, per engine: seconds of a fit, and where the processor was used.

    python benchmarks/engines.py [--rows N] [--engines dask ray] [--repeats R]

Needs `pip install "conclust[dask,ray]" distributed`. Every worker has one thread. The rows are made
on the workers and kept there; `fit` starts from given centres and makes ten iterations over all of
them, the check before, the inertia and what `labels_` needs after included. "here" is processor
time of the process that calls `fit`, which no second worker shortens (dask's scheduler runs in it);
"workers" that of all others together, "busiest" of the one with most. Where cores are shared with
other work, the ratio of the seconds suffers; "by processor" is the ratio of here + busiest, what
cores that are free would give.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time

import numpy as np

from _measure import print_table
from conclust import ConstrainedKMeans, sample_constraints

PART = 250_000  # rows, 32 MB
FEATURES, CLUSTERS = 16, 20


def truth_of(start, stop):
    return np.arange(start, stop) * 7919 % CLUSTERS


def centers():
    return np.random.RandomState(0).normal(scale=1.5, size=(CLUSTERS, FEATURES))


def part(start, stop):
    noise = np.random.RandomState(start).normal(size=(stop - start, FEATURES))
    return centers()[truth_of(start, stop)] + noise


def ranges(n):
    return [(start, min(start + PART, n)) for start in range(0, n, PART)]


@contextlib.contextmanager
def on_dask(n_workers):
    import dask
    import dask.array as da
    import distributed

    def rows(n):
        made = [
            da.from_delayed(dask.delayed(part)(*each), (each[1] - each[0], FEATURES), float)
            for each in ranges(n)
        ]
        kept = da.concatenate(made).persist()
        distributed.wait(kept)
        return kept

    how = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster):
        yield rows


@contextlib.contextmanager
def on_ray(n_workers):
    import ray

    def rows(n):
        made = [ray.remote(part).remote(*each) for each in ranges(n)]
        return ray.data.from_numpy_refs(made).materialize()

    environment = {
        "env_vars": {name: os.environ.get(name, "") for name in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    }
    how = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error"}
    ray.init(num_cpus=n_workers, runtime_env=environment, **how)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield rows
    ray.shutdown()


ENGINES = {"dask": on_dask, "ray": on_ray}


def processor_seconds():
    """Of this process, and of each that descends from it."""
    import psutil

    me = psutil.Process()
    used = {}
    for each in [me, *me.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):
            used[each.pid] = sum(each.cpu_times()[:2])
    here = used.pop(me.pid)
    return here, used


def measured(engine, n_workers, n, n_statements, repeats):
    known = sample_constraints(truth_of(0, n), n_statements, random_state=0)
    model = ConstrainedKMeans(CLUSTERS, init=centers() + 0.5, max_iter=10)
    best = None
    with ENGINES[engine](n_workers) as rows:
        few = rows(4 * n_workers * 1000)
        model.fit(few, constraints=sample_constraints(truth_of(0, len_of(few)), 20, random_state=0))
        many = rows(n)
        # Every worker has compiled what it needs when it has swept once.
        model.set_params(max_iter=1).fit(many, constraints=known).set_params(max_iter=10)
        for _ in range(repeats):
            (here, others), began = processor_seconds(), time.perf_counter()
            model.fit(many, constraints=known)
            seconds = time.perf_counter() - began
            here_after, others_after = processor_seconds()
            used = [after - others.get(pid, 0.0) for pid, after in others_after.items()]
            found = seconds, here_after - here, sum(used), max(used)
            best = found if best is None else min(best, found)
        return (*best, checksum(model.labels_))


def checksum(labels):
    is_dask = hasattr(labels, "compute")
    labels = labels.compute() if is_dask else labels.to_pandas()["label"].to_numpy()
    return int(labels[:100_000].astype(np.int64) @ np.arange(1, 100_001))


def len_of(rows):
    return rows.shape[0] if hasattr(rows, "shape") else rows.count()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--statements", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        engine, *numbers = args.one
        print(json.dumps(measured(engine, *map(int, numbers))))
        return
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    print(f"{args.rows:,} × {FEATURES}, k = {CLUSTERS}, {args.statements:,} statements")
    table = []
    for engine in args.engines:
        found = {}
        for n_workers in (1, 2):
            given = (engine, n_workers, args.rows, args.statements, args.repeats)
            found[n_workers] = in_process(*given)
        one, two = found[1], found[2]
        for n_workers, (seconds, here, workers, busiest, _) in found.items():
            table.append(
                (engine, n_workers, *(f"{v:.2f}" for v in (seconds, here, workers, busiest)),
                 *(("", "", "") if n_workers == 1 else
                   (f"{one[0] / two[0]:.2f}",
                    f"{(one[1] + one[3]) / (two[1] + two[3]):.2f}", one[4] == two[4])))
            )  # fmt: skip
    print_table(
        ("engine", "workers", "seconds", "here", "workers, s", "busiest", "ratio", "by processor",
         "same labels"), table,
    )  # fmt: skip


def in_process(*given):
    """`measured` in a process of its own, whose children are the workers and nothing else."""
    command = [sys.executable, __file__, "--one", *map(str, given)]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=3600)
    return json.loads(found.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
