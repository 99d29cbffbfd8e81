"""What some known labels are worth, and what very many cost.

    python benchmarks/known_labels.py [--draws 2] [--wrong 0] [--scale]

Adjusted Rand index with the true classes of the rows whose label was not given, 0 to 50 % given,
mean over draws; standardised features. Of `AutoCluster` also that of the rows whose label was given
(it may doubt them), and for comparison a classifier that sees nothing but the known rows, the
nearest one. `--wrong 0.1`: so many of the labels given are drawn anew. `--scale`: seconds and
statements for 10^5 rows with all but ten labels known.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import conclust
from conclust.datasets import load

SETS = ("iris", "wine", "wdbc", "segmentation_2310", "glass", "vowel")
SHARES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5)
METHODS = {
    "COPKMeans, init": lambda k, seed: conclust.COPKMeans(k, seeds="init", random_state=seed),
    "COPKMeans, hard": lambda k, seed: conclust.COPKMeans(k, random_state=seed),
    "PCKMeans, soft": lambda k, seed: conclust.PCKMeans(k, random_state=seed),
    "AutoCluster, soft": lambda k, seed: conclust.AutoCluster(k, random_state=seed),
}


def table(draws, wrong):
    """Print a row for each set and method."""
    for name in SETS:
        bunch = load(name)
        X = StandardScaler().fit_transform(np.asarray(bunch.data, dtype=float))
        y = np.unique(bunch.target, return_inverse=True)[1]
        for method in (*METHODS, "nearest known row"):
            given, others = np.transpose([scores(X, y, method, s, draws, wrong) for s in SHARES])
            print(f"{name:18} {method:18}", *(f"{s:.2f}" for s in others), flush=True)
            if method.startswith("Auto"):
                print(f"{name:18} {'  known rows':18}", *(f"{s:.2f}" for s in given), flush=True)


def scores(X, y, method, share, draws, wrong):
    """Adjusted Rand index of rows whose label was given and of the others, means over draws."""
    found = []
    for draw in range(draws):
        rng = np.random.RandomState(draw)
        is_given = rng.uniform(size=len(y)) < share
        said = np.where(rng.uniform(size=len(y)) < wrong, rng.permutation(y), y)
        if method in METHODS:
            model = METHODS[method](len(set(y)), draw).fit(X, np.where(is_given, said, -1))
            labels = model.labels_
        elif is_given.any():
            labels = KNeighborsClassifier(1).fit(X[is_given], said[is_given]).predict(X)
        else:
            labels = np.zeros(len(y))
        found.append([adjusted_rand_score(y[part], labels[part]) for part in (is_given, ~is_given)])
    return np.mean(found, axis=0)


def scale(n=100_000):
    """Print the seconds of fits with nearly all labels known."""
    X, y = make_blobs(n, centers=10, n_features=10, cluster_std=4.0, random_state=0)
    partly = np.where(np.arange(n) < 10, -1, y)
    for name, model in {
        "COPKMeans": conclust.COPKMeans(10, n_init=1, random_state=0),
        "PCKMeans": conclust.PCKMeans(10, n_init=1, penalty=10.0, random_state=0),
        "ConstrainedKMeans": conclust.ConstrainedKMeans(10, random_state=0),
        "AutoCluster": conclust.AutoCluster(10, random_state=0),
    }.items():
        model.fit(X[:2000], partly[:2000])  # compiled
        began = time.perf_counter()
        model.fit(X, partly)
        took = time.perf_counter() - began
        right = (model.labels_ == y).mean()
        print(f"{name:18} {took:5.1f} s  {len(model.constraints_):,} statements  {right:.3f} right")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--wrong", type=float, default=0.0)
    parser.add_argument("--scale", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    scale() if options.scale else table(options.draws, options.wrong)


if __name__ == "__main__":
    main()
