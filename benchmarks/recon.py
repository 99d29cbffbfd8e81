"""ReCon against scipy's unconstrained centroid linkage: ``python benchmarks/recon.py [part ...]``.

Parts: papers (Letters-IJLT and Digits-389), growth (with n), hard (triplets of a random binary tree
that has nothing to do with the data). Needs CONCLUST_DATA for the first and the last.
"""

import sys
import time

import numpy as np
from scipy.cluster.hierarchy import linkage
from sklearn.datasets import make_blobs

from _measure import measure, print_table
from conclust import Constraints, ReCon, datasets, sample_constraints

HEADER = ("data", "n", "triplets", "seconds", "x scipy", "peak MB", "full tests")


def table(name):
    bunch = datasets.load(name)
    return np.asarray(bunch.data, dtype=float), np.asarray(bunch.target)


def blobs(n):
    """Ten classes that hardly overlap."""
    return make_blobs(n, centers=10, n_features=16, cluster_std=4.0, random_state=0)


def blurred(n):
    """Ten classes that overlap so much that statements and distances disagree."""
    return make_blobs(n, centers=10, n_features=16, cluster_std=8.0, random_state=0)


def random_triplets(source, argument, m):
    X, y = source(argument)
    return X, sample_constraints(y, n_relative=m, random_state=0)


def informative(source, argument):
    X, y = source(argument)
    return X, Constraints.from_hierarchy(y)


def unrelated(source, argument, share):
    """A share of the n - 2 informative triplets of a random binary tree."""
    X, _ = source(argument)
    rng = np.random.RandomState(0)
    parts = list(range(len(X)))
    while len(parts) > 1:
        i, j = rng.choice(len(parts), 2, replace=False)
        parts[i] = (parts[i], parts[j])
        parts[j] = parts[-1]
        parts.pop()
    known = Constraints.from_hierarchy(parts[0])
    chosen = rng.permutation(len(known))[: int(share * len(known))]
    return X, Constraints(relative=known.relative[chosen])


def scipy_centroid(case):
    linkage(case[0], "centroid")


def recon(case):
    X, known = case
    return ReCon(n_clusters=None).fit(X, constraints=known).n_tests_


def alternate(runs, repeats):
    """Best seconds of each run, taking turns in this process so that all see the same noise."""
    best = [np.inf] * len(runs)
    for _ in range(repeats):
        for i, (run, case) in enumerate(runs):
            began = time.perf_counter()
            run(case)
            best[i] = min(best[i], time.perf_counter() - began)
    return best


def rows_of(label, cases, repeats=4):
    """One row per case; scipy runs on the data of the first."""
    prepared = [prepare(*args) for prepare, *args in cases]
    recon((prepared[0][0][:50], None))  # load or compile the kernels
    runs = [(scipy_centroid, prepared[0]), *((recon, case) for case in prepared)]
    seconds = alternate(runs, repeats)
    peak = measure(cases[0][0], scipy_centroid, *cases[0][1:], repeats=0).megabytes
    n = len(prepared[0][0])
    yield (label, n, "scipy", f"{seconds[0]:.2f}", "1.0", f"{peak:.0f}", "")
    for (prepare, *args), (_, known), took in zip(cases, prepared, seconds[1:], strict=True):
        ours = measure(prepare, recon, *args, repeats=0)
        yield (
            label,
            n,
            f"{prepare.__name__} {len(known)}",
            f"{took:.2f}",
            f"{took / seconds[0]:.1f}",
            f"{ours.megabytes:.0f}",
            ours.result,
        )


def papers():
    for name in ("letters_ijlt", "digits389"):
        cases = [(random_triplets, table, name, m) for m in (0, 1000, 3000, 10_000)]
        yield from rows_of(name, [*cases, (informative, table, name)])


def growth():
    yield from rows_of("blobs", [(random_triplets, blobs, 3000, m) for m in (0, 3000)])
    cases = [(random_triplets, blurred, 3000, m) for m in (1000, 3000)]
    yield from rows_of("blurred", cases, repeats=1)
    yield from rows_of("blobs", [(random_triplets, blobs, 10_000, 10_000)], repeats=1)
    n = 20_000
    ours = measure(random_triplets, recon, blobs, n, n, repeats=0)
    yield (
        "blobs",
        n,
        f"random_triplets {n}",
        f"{ours.seconds:.2f}",
        "",
        f"{ours.megabytes:.0f}",
        ours.result,
    )


def hard():
    cases = [(unrelated, table, "letters_ijlt", share) for share in (1.0, 0.5, 0.25, 0.1)]
    yield from rows_of("letters_ijlt", cases)


if __name__ == "__main__":
    parts = {"papers": papers, "growth": growth, "hard": hard}
    print_table(HEADER, [])
    for name in sys.argv[1:] or parts:
        for row in parts[name]():
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
