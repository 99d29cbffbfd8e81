"""ReCon, and what statements say together: ``python benchmarks/recon.py [part ...]``.

Speed, against scipy's unconstrained centroid linkage: papers (Letters-IJLT and Digits-389), growth
and large (with n), blurred (classes that overlap), hard (triplets of a random binary tree that has
nothing to do with the data). Quality: accuracy (the six data sets of Liu, Zhang & Wang 2011),
taxonomy (kingdoms and families), pairs (must-links and cannot-links), repair (flipped triplets
found), wrong (flipped triplets obeyed). All but growth, large, blurred and taxonomy need
CONCLUST_DATA.
"""

import sys
import time

import numpy as np
from scipy.cluster.hierarchy import linkage
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from _measure import measure, print_table
from conclust import Constraints, ReCon, datasets, pairwise_f1, sample_constraints

SPEED = ("data", "n", "triplets", "seconds", "x scipy", "peak MB", "full tests")


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
    for m in (0, 700):  # load or compile the kernels; fewer samples would be interpreted
        recon(random_triplets(blobs, 700, m))
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
    yield from rows_of("blobs", [(random_triplets, blobs, 10_000, 10_000)], repeats=1)


def large():
    yield alone(blobs, 20_000)


def overlapping():
    yield from rows_of("blurred", [(random_triplets, blurred, 3000, m) for m in (1000, 3000, 9000)])
    yield alone(blurred, 10_000)


def alone(source, n):
    """ReCon only: at this size scipy takes long and much memory."""
    ours = measure(random_triplets, recon, source, n, n, repeats=0)
    took, peak = f"{ours.seconds:.2f}", f"{ours.megabytes:.0f}"
    return (source.__name__, n, f"random_triplets {n}", took, "", peak, ours.result)


def hard():
    cases = [(unrelated, table, "letters_ijlt", share) for share in (1.0, 0.5, 0.25, 0.1)]
    yield from rows_of("letters_ijlt", cases)


SETS = ("iris", "wine", "ionosphere", "transfusion", "digits389", "letters_ijlt")
DRAWS = range(10)


def accuracy():
    """Pairwise F-measure with n random triplets, the hierarchy cut in three ways."""
    for name in SETS:
        X, y = table(name)
        k = len(np.unique(y))

        def f(known, y=y, k=k, X=X):
            model = ReCon(n_clusters=None).fit(X, constraints=known)
            for by, size in (("constraints", "auto"), ("constraints", 1), ("order", "auto")):
                yield pairwise_f1(y, model.set_params(cut_by=by, min_branch_size=size).cut(k))

        draws = [
            list(f(sample_constraints(y, n_relative=len(y), random_state=draw))) for draw in DRAWS
        ]
        default, plain, order = (f"{value:.2f}" for value in np.mean(draws, axis=0))
        spread = f"{np.std(draws, axis=0)[0]:.2f}"
        none, full = (f"{next(f(known)):.2f}" for known in (None, Constraints.from_hierarchy(y)))
        yield (name, none, default, spread, plain, order, full)


def kingdoms(n_families, n_species, n_known, named=None):
    """Families in kingdoms, well apart, and what is known: some species of some kingdoms."""
    rng = np.random.RandomState(0)
    kingdom = np.repeat(np.arange(len(n_families)), n_families)
    centers = 30 * rng.normal(size=(len(n_families), 6))[kingdom]
    centers += 8 * rng.normal(size=centers.shape)
    family = np.repeat(np.arange(len(centers)), n_species)
    X = 1.5 * rng.normal(size=(len(family), 6)) + centers[family]
    tree = {}
    for f, k in enumerate(kingdom):
        if named is None or k in named:
            species = rng.permutation(np.flatnonzero(family == f))[:n_known]
            tree.setdefault(k, {})[f] = species.tolist()
    return X, kingdom[family], family, Constraints.from_hierarchy(tree)


def taxonomy():
    """Adjusted Rand index of k clusters with kingdoms, and with families."""
    for n_families in ((8, 8, 8, 8, 8), (2, 3, 5, 8, 14)):
        for n_known in (2, 5, 20, 50):
            row = ["-".join(map(str, n_families)), n_known]
            for named, by in ((None, "constraints"), (None, "order"), ((0, 1, 3), "constraints")):
                X, kingdom, family, known = kingdoms(n_families, 50, n_known, named)
                model = ReCon(n_clusters=None, cut_by=by).fit(X, constraints=known)
                row += [
                    f"{adjusted_rand_score(y, model.cut(len(np.unique(y)))):.2f}"
                    for y in (kingdom, family)
                ]
            yield (*row[:2], len(kingdoms(n_families, 50, n_known)[3]), *row[2:])


def pairs():
    """Cannot-links kept, and F, with n random pairs, without and with n/2 triplets."""
    for name in SETS[:3]:
        X, y = table(name)
        row = [name]
        for n_relative in (0, len(y) // 2):
            found = []
            for draw in DRAWS:
                known = sample_constraints(y, len(y), n_relative=n_relative, random_state=draw)
                labels = ReCon(n_clusters=len(np.unique(y))).fit(X, constraints=known).labels_
                kept = known.satisfied(labels)[known.kinds == "cannot-link"].mean()
                found.append((kept, pairwise_f1(y, labels)))
            kept, f = np.mean(found, axis=0)
            row += [f"{kept:.1%}", f"{f:.2f}"]
        yield tuple(row)


def repair():
    """How many of the triplets that `repaired` drops are flipped ones."""
    for name, cases in (
        ("transfusion", ((2, 0.05), (5, 0.05), (5, 0.2))),
        ("digits389", ((2, 0.05), (5, 0.05), (5, 0.2))),
    ):
        _, y = table(name)
        for share, noise in cases:
            known = sample_constraints(y, n_relative=share * len(y), noise=noise, random_state=0)
            began = time.perf_counter()
            dropped = known.repaired().dropped
            took = time.perf_counter() - began
            flipped = (int(c.provenance["flipped"].sum()) for c in (known, dropped))
            yield (name, len(known), next(flipped), len(dropped), next(flipped), f"{took:.1f}")


def wrong():
    """What flipped triplets do when there are too few statements for them to contradict any."""
    for name in SETS[:4]:
        X, y = table(name)
        row = [name]
        for noise in (0.0, 0.05, 0.2):
            found = []
            for draw in DRAWS:
                known = sample_constraints(y, n_relative=len(y), noise=noise, random_state=draw)
                model = ReCon(n_clusters=len(np.unique(y)), on_conflict="repair")
                model.fit(X, constraints=known)
                found.append((pairwise_f1(y, model.labels_), len(model.dropped_)))
            row += [f"{np.mean(found, axis=0)[0]:.2f}", f"{np.mean(found, axis=0)[1]:.1f}"]
        yield tuple(row)


PARTS = {
    "papers": (papers, SPEED),
    "growth": (growth, SPEED),
    "large": (large, SPEED),
    "blurred": (overlapping, SPEED),
    "hard": (hard, SPEED),
    "accuracy": (
        accuracy,
        ("data", "none", "n random", "spread", "plain cut", "order", "informative"),
    ),
    "taxonomy": (
        taxonomy,
        (
            "families",
            "known",
            "triplets",
            "k",
            "f",
            "order: k",
            "f",
            "three kingdoms known: k",
            "f",
        ),
    ),
    "pairs": (pairs, ("data", "kept", "F", "with triplets: kept", "F")),
    "repair": (repair, ("data", "triplets", "flipped", "dropped", "of these flipped", "seconds")),
    "wrong": (
        wrong,
        ("data", "F", "dropped", "5 % flipped: F", "dropped", "20 %: F", "dropped"),
    ),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        part, header = PARTS[name]
        print_table(header, [])
        for row in part():
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
