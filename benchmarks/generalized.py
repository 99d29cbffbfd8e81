"""Speed of GeneralizedKMeans and ConstrainedGaussianMixture, and what they find.

``python benchmarks/generalized.py [passes] [fits] [mixture] [quality] [--small]``. Rivals alternate
in one process, best of the repeats; kernels are compiled before.
"""

import sys
import time

import numpy as np
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from _measure import print_table
from conclust import (
    ConstrainedGaussianMixture,
    COPKMeans,
    GeneralizedKMeans,
    sample_constraints,
)
from conclust._placement.units import units_of
from conclust.cluster._generalized_kmeans import BatchPass, OnlinePass, clusters_of, shape_of

K = 5


def case(n, d, n_constraints=0):
    X, y = make_blobs(n, d, centers=K, cluster_std=8.0, random_state=0)
    return X - X.mean(axis=0), y, sample_constraints(y, n_constraints, random_state=0).on(n)


def best_of(runs, repeats):
    """Seconds of each run, taking turns."""
    best = [np.inf] * len(runs)
    for _ in range(repeats):
        for i, run in enumerate(runs):
            began = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - began)
    return best


def passes(n):
    """One pass from the same clusters: after the first moves, and when few rows move."""
    rows = []
    for d in (8, 32):
        for n_constraints in (0, 5_000):
            X, y, known = case(n, d, n_constraints)
            units = units_of(known.closure())
            weight = np.ones(n)
            shape = shape_of(X, weight, "full", 1.0, False)
            batch = BatchPass(X, units, weight, shape, 10.0)
            online = OnlinePass(X, units, weight, shape, np.random.RandomState(0))
            # A fifth of the unlinked rows in wrong clusters: many moves. Then a settled state.
            wrong = y.astype(np.int32)
            free = np.setdiff1d(np.arange(n), units.rows)
            wrong[free[::5]] = (wrong[free[::5]] + 1) % K
            states = [("many", wrong, clusters_of(X, weight, wrong, np.zeros((K, d)), shape))]
            labels, clusters = states[0][1:]
            for _ in range(15):
                labels, clusters = online(labels, clusters)
            states.append(("few", labels, clusters))
            for name, labels, clusters in states:
                n_moved = np.count_nonzero(online(labels, clusters)[0] != labels)
                a, b = best_of(
                    [lambda: batch(labels, clusters), lambda: online(labels, clusters)],  # noqa: B023
                    5,
                )
                rows.append(
                    (n, d, n_constraints, f"{name} ({n_moved})", f"{a * 1e3:.0f}", f"{b * 1e3:.0f}",
                     f"{b / a:.2f}")
                )  # fmt: skip
                print(rows[-1], file=sys.stderr, flush=True)
    print(f"\nOne pass, {K} clusters, full covariances: milliseconds\n")
    print_table(("n", "d", "constraints", "rows that move", "batch", "on-line", "ratio"), rows)


def fits(n):
    rows = []
    for d in (8, 32):
        X, _, known = case(n, d, 1_000)
        for update in ("batch", "online"):
            model = GeneralizedKMeans(K, update=update, n_init=1, random_state=0)
            model.fit(X[:500])  # compile
            began = time.perf_counter()
            model.fit(X, constraints=known)
            seconds = time.perf_counter() - began
            rows.append((n, d, update, f"{seconds:.2f}", model.n_iter_, model.report_.n_violated))
    print("\nGeneralizedKMeans, 1 000 true constraints, one start, k-means before included\n")
    print_table(("n", "d", "update", "seconds", "passes", "broken"), rows)


def mixture(n):
    rows = []
    for d in (8, 32):
        for n_constraints in (0, 1_000, 20_000):
            X, _, known = case(n, d, n_constraints)
            settings = {"max_iter": 10, "tol": 0.0, "random_state": 0}
            models = [GaussianMixture(K, **settings), ConstrainedGaussianMixture(K, **settings)]
            models[1].fit(X[:500])  # compile
            a, b = best_of(
                [lambda: models[0].fit(X), lambda: models[1].fit(X, constraints=known)],  # noqa: B023
                2,
            )
            rows.append(
                (n, d, n_constraints, f"{a:.2f}", f"{b:.2f}", f"{b / a:.2f}", models[1].exact_)
            )
            print(rows[-1], file=sys.stderr, flush=True)
    print("\nTen EM iterations, start by k-means included: seconds\n")
    print_table(("n", "d", "constraints", "GaussianMixture", "ours", "ratio", "exact"), rows)


def quality(_):
    """Adjusted Rand index on standardised iris and wine, random true pairs, 20 draws."""
    methods = {
        "COPKMeans": COPKMeans(3),
        "mixture": ConstrainedGaussianMixture(3),
        "mixture, pinned": ConstrainedGaussianMixture(3, max_states=1),
        "batch": GeneralizedKMeans(3),
        "on-line": GeneralizedKMeans(3, update="online"),
        "batch, log_det": GeneralizedKMeans(3, log_det=True),
    }
    rows = []
    for name, load in (("iris", load_iris), ("wine", load_wine)):
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        for n_constraints in (0, 50, 100, 200):
            found = {method: [] for method in methods}
            for draw in range(20):
                known = sample_constraints(y, n_constraints, random_state=draw)
                for method, model in methods.items():
                    model.set_params(random_state=draw).fit(X, constraints=known)
                    found[method].append(adjusted_rand_score(y, model.labels_))
            means = [f"{np.mean(values):.2f}" for values in found.values()]
            rows.append((name, n_constraints, *means))
    print("\nMean adjusted Rand index over 20 draws, defaults\n")
    print_table(("data", "constraints", *methods), rows)


def main():
    import warnings

    warnings.filterwarnings("ignore", message=".*did not converge|EM stopped")
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")] or [
        "passes",
        "fits",
        "mixture",
        "quality",
    ]
    n = 10**4 if "--small" in sys.argv else 10**5
    for name in chosen:
        {"passes": passes, "fits": fits, "mixture": mixture, "quality": quality}[name](n)


if __name__ == "__main__":
    main()
