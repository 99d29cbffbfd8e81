"""Spherical k-means with statements against scikit-learn's KMeans, seconds per iteration.

    python benchmarks/cosine.py [--rows 100000] [--features 768] [-k 300] [--statements 100000]
    CONCLUST_DATA=folder python benchmarks/cosine.py --text

Rows like text embeddings, float32, true random pairs. All start from the same rows and take turns
in one process, so that they see the same noise; scikit-learn gets the rows normalised by hand. Time
of one iteration: that of a run of some iterations less that of a run of one, so that looking at
the rows, statements and links once is not counted; "whole" counts everything.
Where other work is on the cores, ``OMP_NUM_THREADS=1`` and ``--cpu`` count processor time instead.

``--text``: adjusted Rand index of both metrics on the embedded texts in the folder, by seed.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from _measure import print_table
from conclust import ConstrainedKMeans, COPKMeans, PCKMeans, sample_constraints


def embeddings(n, d, k):
    """Rows about k directions, of all lengths."""
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    directions = normalize(rng.normal(size=(k, d))).astype(np.float32)
    X = rng.standard_normal((n, d), dtype=np.float32) * np.float32(1.2 / np.sqrt(d))
    X += directions[y]
    X *= rng.uniform(0.5, 2, (n, 1)).astype(np.float32)
    return X, y


def seconds(model, X, known, clock=time.perf_counter):
    began = clock()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = model.fit(X) if known is None else model.fit(X, constraints=known)
    return clock() - began, fitted.n_iter_


def text(seeds):
    folder = Path(os.environ["CONCLUST_DATA"])
    rows = []
    for name in ("tweet89", "massive18"):
        X = np.load(folder / f"{name}_embedding.npz")["X"].astype(np.float32)
        y = pd.factorize(pd.read_csv(folder / f"{name}.csv.gz")["label"])[0]
        row = [name, *X.shape, y.max() + 1]
        for metric in ("euclidean", "cosine"):
            model = PCKMeans(y.max() + 1, metric=metric, n_init=3)
            found = [
                adjusted_rand_score(y, model.set_params(random_state=seed).fit(X).labels_)
                for seed in range(seeds)
            ]
            row.append(f"{np.mean(found):.2f} ({min(found):.2f} to {max(found):.2f})")
        rows.append(row)
    print_table(["", "rows", "features", "k", "euclidean", "cosine"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=768)
    parser.add_argument("-k", type=int, default=300)
    parser.add_argument("--statements", type=int, default=100_000)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--text", action="store_true")
    asked = parser.parse_args()
    if asked.text:
        text(seeds=4)
        return
    X, y = embeddings(asked.rows, asked.features, asked.k)
    known = sample_constraints(y, asked.statements, random_state=0)
    init = X[np.random.RandomState(1).choice(len(X), asked.k, replace=False)]
    unit, unit_init = normalize(X), normalize(init)
    how = {"n_init": 1, "tol": 0}

    def rivals(n_iter):
        ours = {"init": init, "metric": "cosine", "max_iter": n_iter, **how}
        plain = {"init": unit_init, "max_iter": n_iter, "algorithm": "lloyd", **how}
        return {
            "KMeans on unit rows": (KMeans(asked.k, **plain), unit, None),
            "ConstrainedKMeans, no statements": (ConstrainedKMeans(asked.k, **ours), X, None),
            "ConstrainedKMeans": (ConstrainedKMeans(asked.k, **ours), X, known),
            "PCKMeans, penalty=0.1": (PCKMeans(asked.k, penalty=0.1, **ours), X, known),
            "COPKMeans": (COPKMeans(asked.k, **ours), X, known),
        }

    clock = time.process_time if asked.cpu else time.perf_counter
    few, many = rivals(1), rivals(1 + asked.iterations)
    best = dict.fromkeys(few, (np.inf, np.inf))
    for name in few:
        seconds(*few[name])  # compile
    for _ in range(asked.repeats):
        for name in few:
            short, _ = seconds(*few[name], clock)
            long, n_iter = seconds(*many[name], clock)
            each = (long - short) / max(n_iter - 1, 1)
            best[name] = min(best[name][0], each), min(best[name][1], long)
    plain = best["KMeans on unit rows"][0]
    print_table(
        ["", "s per iteration", "times KMeans", "whole, s"],
        [
            [name, f"{each:.2f}", f"{each / plain:.2f}", f"{whole:.1f}"]
            for name, (each, whole) in best.items()
        ],
    )


if __name__ == "__main__":
    main()
