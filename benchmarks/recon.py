"""ReCon against scipy's unconstrained centroid linkage: ``python benchmarks/recon.py [part ...]``.

Parts: papers (Letters-IJLT and Digits-389), growth (with n), hard (triplets of a random binary tree
that has nothing to do with the data). Needs CONCLUST_DATA for the first and the last.
"""

import sys

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


def rows_of(label, cases, repeats=2):
    """One row per case; scipy runs on the data of the first."""
    first = cases[0]
    scipy = measure(first[0], scipy_centroid, *first[1:], repeats=repeats)
    n = len(first[0](*first[1:])[0])
    yield (label, n, "scipy", f"{scipy.seconds:.2f}", "1.0", f"{scipy.megabytes:.0f}", "")
    for prepare, *args in cases:
        known = prepare(*args)[1]
        ours = measure(prepare, recon, *args, repeats=repeats)
        ratio = f"{ours.seconds / scipy.seconds:.1f}"
        yield (
            label,
            n,
            f"{prepare.__name__} {len(known)}",
            f"{ours.seconds:.2f}",
            ratio,
            f"{ours.megabytes:.0f}",
            ours.result,
        )


def papers():
    for name in ("letters_ijlt", "digits389"):
        cases = [(random_triplets, table, name, m) for m in (0, 1000, 3000, 10_000)]
        yield from rows_of(name, [*cases, (informative, table, name)])


def growth():
    yield from rows_of("blobs", [(random_triplets, blobs, 3000, m) for m in (0, 3000)], repeats=1)
    cases = [(random_triplets, blurred, 3000, m) for m in (1000, 3000)]
    yield from rows_of("blurred", cases, repeats=0)
    yield from rows_of("blobs", [(random_triplets, blobs, 10_000, 10_000)], repeats=0)
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
    yield from rows_of("letters_ijlt", cases, repeats=1)


if __name__ == "__main__":
    parts = {"papers": papers, "growth": growth, "hard": hard}
    print_table(HEADER, [])
    for name in sys.argv[1:] or parts:
        for row in parts[name]():
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
