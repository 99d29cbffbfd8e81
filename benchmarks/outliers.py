"""How many rows that belong nowhere are found, and how many are set aside that belong.

    python benchmarks/outliers.py [--seeds 5]

Four clusters of 600 rows and a share of rows drawn evenly from a box around them; in the plane some
of these fall into a cluster, where nobody could find them. Adjusted Rand index of the clustered
rows' nearest centres, against k-means without `outliers`. Then sets of scikit-learn as they are.
"""

import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from _measure import print_table
from conclust import PCKMeans


def noisy(n_noise, n_features, seed):
    X, y = make_blobs(600, n_features, centers=4, random_state=seed)
    noise = np.random.RandomState(seed).uniform(-15, 15, (n_noise, n_features))
    return np.vstack([X, noise]), np.append(y, np.full(n_noise, -1))


def score(X, y, outliers):
    """Share set aside, precision, recall, and the index of the rows that belong."""
    model = PCKMeans(4, outliers=outliers, random_state=0).fit(X)
    aside, is_noise = model.labels_ < 0, y < 0
    hits = (aside & is_noise).sum()
    return (
        aside.mean(),
        hits / max(aside.sum(), 1) if is_noise.any() else np.nan,
        hits / is_noise.sum() if is_noise.any() else np.nan,
        adjusted_rand_score(y[~is_noise], model.predict(X)[~is_noise]),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    rows = []
    for n_features in (2, 10, 40):
        for n_noise in (0, 30, 60):
            cases = [noisy(n_noise, n_features, seed) for seed in range(asked.seeds)]
            share = n_noise / (600 + n_noise)
            plain = np.mean([score(X, y, None)[3] for X, y in cases])
            for name, outliers in (("auto", "auto"), ("true share", share or None)):
                if outliers is None:
                    continue
                found = np.mean([score(X, y, outliers) for X, y in cases], axis=0)
                shown = ["" if np.isnan(v) else f"{v:.2f}" for v in found[1:3]]
                index = f"{plain:.2f} → {found[3]:.2f}"
                rows.append([n_features, f"{share:.1%}", name, f"{found[0]:.1%}", *shown, index])
    print_table(
        ["features", "noise", "outliers=", "set aside", "precision", "recall", "index"], rows
    )
    print()
    real = []
    for load in (load_iris, load_wine, load_breast_cancer, load_digits):
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        model = PCKMeans(len(set(y)), outliers="auto", random_state=0).fit(X)
        real.append([load.__name__.removeprefix("load_"), len(X), f"{model.outlier_share_:.1%}"])
    print_table(["", "rows", 'set aside by "auto"'], real)


if __name__ == "__main__":
    main()
