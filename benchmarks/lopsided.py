"""PCKMeans told lopsided wrong answers about short texts, against k-means told nothing.

    CONCLUST_DATA=folder python benchmarks/lopsided.py [tweet89 massive18] [--draws 3] [--quick]

35 % of the must-links are wrong (7 % of those between the nearest rows, 63 % of those between the
farthest), 0.5 % of the cannot-links. Accuracy under the best matching of clusters and classes, and
normalised mutual information, of k-means and PCKMeans in the given space and in that of
`smooth_over_neighbors`. `--quick` gives PCKMeans one price instead of letting it choose.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors

from conclust import Constraints, PCKMeans
from conclust.cluster import smooth_over_neighbors

N_LEVELS = 5
N_NEAREST = 200


def texts(name):
    """Embeddings and classes."""
    folder = Path(os.environ["CONCLUST_DATA"])
    X = np.load(folder / f"{name}_embedding.npz")["X"].astype(np.float32)
    labels = pd.read_csv(folder / f"{name}.csv.gz")["label"]
    return X, np.unique(labels, return_inverse=True)[1]


def lopsided(X, y, n_must_link, n_cannot_link, seed, *, wrong=0.35, wrong_apart=0.005):
    """Answers of which must-links are often wrong, the farther apart the rows the more often.

    Must-links join a row and one of its 200 nearest, ranks drawn evenly on a logarithmic scale, and
    are dealt into five levels of distance; the share of wrong ones rises evenly from level to
    level. Cannot-links are random pairs.
    """
    rng, n = np.random.RandomState(seed), len(X)
    near = NearestNeighbors(n_neighbors=N_NEAREST).fit(X).kneighbors(return_distance=False)
    i = rng.randint(n, size=20 * n_must_link)
    rank = np.exp(rng.uniform(0, np.log(N_NEAREST), size=len(i))).astype(int) - 1
    pairs = np.unique(np.sort(np.column_stack([i, near[i, rank]]), axis=1), axis=0)
    pairs = pairs[rng.permutation(len(pairs))]
    distance = ((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2).sum(axis=1)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    cuts = np.quantile(distance, np.arange(1, N_LEVELS) / N_LEVELS)
    level = np.searchsorted(cuts, distance)
    chosen, size = [], n_must_link // N_LEVELS
    for here in range(N_LEVELS):
        n_wrong = round(size * wrong * (2 * here + 1) / N_LEVELS)
        chosen.append(np.flatnonzero((level == here) & same)[: size - n_wrong])
        chosen.append(np.flatnonzero((level == here) & ~same)[:n_wrong])
    others = rng.randint(n, size=(8 * n_cannot_link + 1000, 2))
    others = others[others[:, 0] != others[:, 1]]
    same = y[others[:, 0]] == y[others[:, 1]]
    n_wrong = round(wrong_apart * n_cannot_link)
    return Constraints(
        must_link=pairs[np.concatenate(chosen)],
        cannot_link=np.vstack([others[~same][: n_cannot_link - n_wrong], others[same][:n_wrong]]),
        n_samples=n,
    )


def accuracy(y, labels):
    """Share of rows in the class of their cluster, under the best matching."""
    table = np.zeros((y.max() + 1, labels.max() + 1))
    np.add.at(table, (y, labels), 1)
    return table[linear_sum_assignment(-table)].sum() / len(y)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sets", nargs="*", default=["tweet89", "massive18"])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    price = {"penalty": 0.15} if options.quick else {}
    for name in options.sets:
        X, y = texts(name)
        k, smooth = len(set(y)), smooth_over_neighbors(X)
        scores = {}
        for draw in range(options.draws):
            known = lopsided(X, y, int(0.6 * len(X)), len(X) // 2, draw)
            for where, rows in (("", X), (", smoothed", smooth)):
                plain = KMeans(k, n_init=10, random_state=draw)
                told = PCKMeans(k, random_state=draw, **price)
                for what, model in (("k-means", plain), ("PCKMeans", told)):
                    about = {} if model is plain else {"constraints": known}
                    began = time.perf_counter()
                    labels = model.fit(rows, **about).labels_
                    took = time.perf_counter() - began
                    nmi = normalized_mutual_info_score(y, labels)
                    scores.setdefault(what + where, []).append((accuracy(y, labels), nmi, took))
        print(f"{name}: {options.draws} draws; accuracy, NMI, seconds; accuracies")
        for what, row in scores.items():
            each = " ".join(f"{value[0]:.3f}" for value in row)
            print(f"  {what:20}", "  ".join(f"{v:.3f}" for v in np.mean(row, axis=0)), f"  {each}")


if __name__ == "__main__":
    main()
