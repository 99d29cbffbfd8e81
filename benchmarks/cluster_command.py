"""``conclust cluster`` from file to report: a CSV in memory, or a Parquet file beyond it.

``python benchmarks/cluster_command.py million.csv --rows 1e6 -- --method ckm``
``python benchmarks/cluster_command.py big.parquet --rows 2.7e7 --limit 700 -- --method ckm``

Makes a table of rows × 16 around 20 centres with ids in `key` and true statements about it, in a
temporary folder (or in `--folder`, where it is found again), and runs the command with what follows
``--``. `--limit`: MB of data the process may hold (RLIMIT_DATA; pages of mapped files do not count,
and pyarrow is told to use the allocator of the system, since its own reserves a gigabyte at once).
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

N_FEATURES, N_CLUSTERS, BLOCK = 16, 20, 500_000


def blocks(n_rows):
    """The rows, some at a time, with their ids and clusters."""
    generator = np.random.RandomState(0)
    centers = 2.0 * generator.normal(size=(N_CLUSTERS, N_FEATURES))
    for start in range(0, n_rows, BLOCK):
        y = generator.randint(N_CLUSTERS, size=min(BLOCK, n_rows - start))
        X = centers[y] + generator.normal(size=(len(y), N_FEATURES))
        yield 7 * np.arange(start, start + len(y)) + 1_000_003, X, y.astype(np.int8)


def make(path, links, n_rows, n_statements):
    """Write the table and the statements."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet

    truth, writer = [], None
    for keys, X, y in blocks(n_rows):
        columns = {"key": keys, **{f"c{i}": X[:, i] for i in range(N_FEATURES)}}
        if path.suffix == ".csv":
            pd.DataFrame(columns).to_csv(path, mode="a", header=not truth, index=False)
        else:
            table = pa.table(columns)
            writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema, compression="none")
            writer.write_table(table)
        truth.append(y)
    if writer is not None:
        writer.close()
    y = np.concatenate(truth)
    pairs = np.random.RandomState(1).randint(n_rows, size=(n_statements, 2))
    with links.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["a", "b", "type"])
        for a, b in pairs[pairs[:, 0] != pairs[:, 1]].tolist():
            kind = "must-link" if y[a] == y[b] else "cannot-link"
            rows.writerow([7 * a + 1_000_003, 7 * b + 1_000_003, kind])


def limited(megabytes):
    if megabytes:
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("table", help="its name, which says the format")
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--statements", type=int, default=5000)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--folder", type=Path)
    args, more = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary)
        path, links = folder / args.table, folder / f"{args.table}.links.csv"
        if not links.exists():
            make(path, links, int(args.rows), args.statements)
        command = [sys.executable, "-m", "conclust", "cluster", path, "--constraints", links,
                   "--id-col", "key", "-k", N_CLUSTERS, "-o", folder / "out", *more]  # fmt: skip
        began = time.perf_counter()
        done = subprocess.run(
            [str(each) for each in command if each != "--"],
            preexec_fn=lambda: limited(args.limit),
            env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},
        )
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"exit code {done.returncode}; table {path.stat().st_size / 2**20:.0f} MB, limit "
            f"{args.limit or 'none'}; {time.perf_counter() - began:.0f} s, of the processor "
            f"{used.ru_utime + used.ru_stime:.0f} s"
        )


if __name__ == "__main__":
    main()
