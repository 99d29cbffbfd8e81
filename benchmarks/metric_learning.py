"""Seconds of the metric learners beside those of constrained k-means (Okabe & Yamada 2012a).

``python benchmarks/metric_learning.py [table2] [itml] [relative] [clusters]``. The data sets are
read from the folder named by CONCLUST_DATA. Methods take turns in one process, so that all see the
same noise; the best of the turns counts, and kernels are loaded before. "clusters" is quality:
pairwise F of k-means after RelativeMetric.
"""

import sys
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from _measure import print_table
from conclust import (
    ITML,
    BoostedConstrainedKMeans,
    ConstrainedKMeans,
    DistBoost,
    RelativeMetric,
    pairwise_f1,
    sample_constraints,
)

# Seconds printed in the paper, on its machine.
PRINTED = {
    "CKM": (0.05, 0.06, 0.18),
    "BCKM": (3.10, 5.56, 18.13),
    "DBOOST": (17.29, 14.96, 131.34),
    "ITML": (7.56, 17.01, 184.34),
}


def ckm(X, known, k):
    ConstrainedKMeans(k, init="random", random_state=0).fit(X, constraints=known)


def bckm(X, known, k):
    BoostedConstrainedKMeans(k, n_estimators=100, random_state=0).fit(X, constraints=known)


def dist_boost(X, known, k):
    learned = DistBoost(100, n_components=k, random_state=0).fit(X, constraints=known)
    KMeans(k, n_init=10, random_state=0).fit(learned.transform(X))


def itml(X, known, k):
    learned = ITML(random_state=0).fit(X, constraints=known)
    KMeans(k, n_init=10, random_state=0).fit(learned.transform(X))


METHODS = {"CKM": ckm, "BCKM": bckm, "DBOOST": dist_boost, "ITML": itml}


def take_turns(calls, turns):
    """Best seconds of each call."""
    best = [np.inf] * len(calls)
    for _ in range(turns):
        for i, call in enumerate(calls):
            began = time.perf_counter()
            call()
            best[i] = min(best[i], time.perf_counter() - began)
    return best


def table2():
    from conclust.datasets import load

    names = ("iris", "glass", "wdbc")
    seconds = {}
    for name in names:
        data = load(name)
        k = len(np.unique(data.target))
        known = sample_constraints(data.target, 500, random_state=0)
        few = known[:20]
        for method in METHODS.values():
            method(data.data, few, k)  # load or compile the kernels
        calls = [lambda m=m: m(data.data, known, k) for m in METHODS.values()]  # noqa: B023
        for method, best in zip(METHODS, take_turns(calls, 3), strict=True):
            seconds[method, name] = best
    print("\nTable II of Okabe & Yamada 2012a: seconds with 500 constraints, ours (printed)\n")
    rows = [
        (method, *(f"{seconds[method, n]:.3f} ({p})" for n, p in zip(names, printed, strict=True)))
        for method, printed in PRINTED.items()
    ]
    print_table(("method", *names), rows)


def itml_growth():
    rng = np.random.RandomState(0)
    rows = []
    for d in (10, 50, 200):
        for m in (100, 1000):
            y = rng.randint(4, size=1000)
            X = rng.standard_normal((1000, d)) + 2 * rng.standard_normal((4, d))[y]
            known = sample_constraints(y, m, random_state=0)
            ITML(max_iter=1).fit(X, constraints=known[:5])
            began = time.perf_counter()
            model = ITML(random_state=0).fit(X, constraints=known)
            total = time.perf_counter() - began
            each = total / (model.n_iter_ * m)
            rows.append(
                (d, m, f"{total:.2f}", model.n_iter_, f"{each * 1e6:.1f}", model.converged_)
            )
    print("\nITML: seconds, rounds over all statements, microseconds per projection\n")
    print_table(("d", "statements", "seconds", "rounds", "µs each", "converged"), rows)


def relative_growth():
    rng = np.random.RandomState(0)
    rows = []
    for d in (16, 256):
        for m in (300, 3000, 10_000):
            y = rng.randint(4, size=3000)
            X = rng.standard_normal((3000, d)) + rng.standard_normal((4, d))[y]
            known = sample_constraints(y, n_relative=m, random_state=0)
            began = time.perf_counter()
            model = RelativeMetric().fit(X, constraints=known)
            rows.append((d, m, f"{time.perf_counter() - began:.2f}", model.n_iter_))
    print("\nRelativeMetric: seconds and iterations to a gap of 1e-6\n")
    print_table(("d", "statements", "seconds", "iterations"), rows)


DRAWS = 3


def relative_clusters():
    """Pairwise F of k-means after RelativeMetric; wine is standardised."""
    from conclust.datasets import load

    rows = []
    names = ("iris", "wine", "ionosphere", "transfusion", "Digits-389", "Letters-IJLT")
    for name in names:
        data = load(name)
        X, y = data.data, data.target
        X = StandardScaler().fit_transform(X) if name == "wine" else X
        row = []
        for m in (0, 20, 100, min(len(y), 1000)):
            scores = []
            for seed in range(DRAWS):
                known = sample_constraints(y, n_relative=m, random_state=seed)
                Xt = RelativeMetric().fit(X, constraints=known).transform(X)
                model = KMeans(len(np.unique(y)), n_init=10, random_state=seed).fit(Xt)
                scores.append(pairwise_f1(y, model.labels_))
            row.append(f"{np.mean(scores):.2f}")
        rows.append((name, *row))
    print(f"\nK-means after RelativeMetric: pairwise F, {DRAWS} draws, by statements\n")
    print_table(("", "none", 20, 100, "n, at most 1000"), rows)


def main():
    chosen = sys.argv[1:] or ["table2", "itml", "relative"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if "table2" in chosen:
            table2()
        if "itml" in chosen:
            itml_growth()
        if "relative" in chosen:
            relative_growth()
        if "clusters" in chosen:
            relative_clusters()


if __name__ == "__main__":
    main()
