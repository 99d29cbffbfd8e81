"""Clusters of bounded sizes against k-means-constrained: inertia and seconds.

    python benchmarks/sizes.py [inertia] [large]

"inertia": sets of scikit-learn, standardised, sizes as even as can be, ten starts each, mean over
seeds; both libraries with their defaults. "large": 132 034 rows of 10 features into 25 clusters of
5 281 or 5 282 rows, once with 20 000 true statements, all from the same k-means++ start.

The peer, k-means-constrained (with OR-tools), is measured when it can be imported, and on "large"
only with ``--peer``, in a process that is ended after ``--patience`` seconds.
"""

import argparse
import multiprocessing
import time

import numpy as np
from sklearn.cluster import kmeans_plusplus
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from _measure import print_table
from conclust import COPKMeans, sample_constraints

try:
    from k_means_constrained import KMeansConstrained
except ImportError:
    KMeansConstrained = None

SETS = {
    "iris": (load_iris, 3),
    "wine": (load_wine, 3),
    "wdbc": (load_breast_cancer, 2),
    "digits, 600 rows": (load_digits, 10),
    "iris, k = 8": (load_iris, 8),
    "wdbc, k = 12": (load_breast_cancer, 12),
}


def timed(model, X, **how):
    began = time.perf_counter()
    return model.fit(X, **how), time.perf_counter() - began


def inertia(seeds):
    rows = []
    for name, (load, k) in SETS.items():
        X = StandardScaler().fit_transform(load(return_X_y=True)[0][:600])
        sizes = {"size_min": len(X) // k, "size_max": -(-len(X) // k)}
        ours, theirs = [], []
        for seed in range(seeds):
            model, seconds = timed(COPKMeans(k, **sizes, random_state=seed), X)
            ours.append((model.inertia_, seconds))
            if KMeansConstrained is not None:
                peer = KMeansConstrained(k, **sizes, random_state=seed)
                theirs.append((timed(peer, X)[0].inertia_, timed(peer, X)[1]))
        mean = np.mean(ours, axis=0)
        row = [name, f"{mean[0]:.2f}", f"{mean[1]:.2f}"]
        if theirs:
            other = np.mean(theirs, axis=0)
            row += [
                f"{other[0]:.2f}",
                f"{other[1]:.2f}",
                f"{100 * (mean[0] / other[0] - 1):+.2f} %",
            ]
        rows.append(row)
    print_table(["", "inertia", "s", "its inertia", "its s", "difference"][: len(rows[0])], rows)


def large(peer, patience):
    X, y = make_blobs(132_034, 10, centers=40, cluster_std=3.0, random_state=0)
    k = 25
    sizes = {"size_min": len(X) // k, "size_max": -(-len(X) // k)}
    known = sample_constraints(y, 20_000, random_state=0)
    COPKMeans(k, size_max=200, n_init=1).fit(X[:4000])  # compile
    rows = []
    init = kmeans_plusplus(X, k, random_state=0)[0]
    cases = {"no statements": None, "20 000 statements": known}
    for name, constraints in cases.items():
        model = COPKMeans(k, **sizes, init=init, random_state=0)
        model, seconds = timed(model, X, constraints=constraints)
        counts = np.bincount(model.labels_)
        kept = "" if constraints is None else str(model.report_)
        rows.append(
            [f"COPKMeans, {name}", f"{seconds:.0f}", f"{model.inertia_:.6g}", model.n_iter_]
        )
        rows[-1] += [f"{counts.min()} to {counts.max()}", kept]
    if peer:
        rows.append(["k-means-constrained", *peer_on(X, init, sizes, patience)])
    print_table(["132 034 rows, 25 clusters", "s", "inertia", "iterations", "sizes", ""], rows)


def peer_on(X, init, sizes, patience):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        answer = pool.apply_async(_peer, (X, init, sizes))
        try:
            model, seconds = answer.get(patience)
        except multiprocessing.TimeoutError:
            pool.terminate()
            return [f"> {patience}", "", "", "", ""]
    counts = np.bincount(model.labels_)
    found = [f"{seconds:.0f}", f"{model.inertia_:.6g}", model.n_iter_]
    return [*found, f"{counts.min()} to {counts.max()}", ""]


def _peer(X, init, sizes):
    return timed(KMeansConstrained(len(init), **sizes, init=init, n_init=1, random_state=0), X)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", nargs="*", help="inertia, large; both by default")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--patience", type=float, default=600)
    asked = parser.parse_args()
    if not asked.what or "inertia" in asked.what:
        inertia(asked.seeds)
    if not asked.what or "large" in asked.what:
        large(asked.peer, asked.patience)


if __name__ == "__main__":
    main()
