"""Time and memory of the ensembles, and how many wrong statements they find.

``python benchmarks/ensembles.py [table] [large] [million] [suspects] [cotraining]
[selection]``. Data sets are
read from the folder named by CONCLUST_DATA. Rivals alternate in one process.
"""

import re
import sys
import time

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from _measure import measure, print_table
from conclust import (
    BoostedConstrainedKMeans,
    ConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    CoTraining,
    TrustEnsemble,
    sample_constraints,
)
from conclust.datasets import load

PUBLISHED = {"iris": (0.05, 3.10), "glass": (0.06, 5.56), "wdbc": (0.18, 18.13)}


def seconds_of(model, X, known):
    began = time.perf_counter()
    model.fit(X, constraints=known)
    return time.perf_counter() - began


def table_2():
    """CKM and BCKM (T = 100) with 500 constraints, mean of ten fits each, taking turns."""
    rows = []
    for name, (paper_ckm, paper_bckm) in PUBLISHED.items():
        data = load(name)
        X, k = np.ascontiguousarray(data.data, dtype=float), len(set(data.target))
        ckm, bckm = ConstrainedKMeans(k, init="random"), BoostedConstrainedKMeans(k)
        times = np.empty((10, 2))
        for draw in range(-1, 10):  # the first one compiles
            known = sample_constraints(data.target, 500, random_state=draw + 1)
            ours = [
                np.mean([seconds_of(ckm.set_params(random_state=s), X, known) for s in range(10)]),
                seconds_of(bckm.set_params(random_state=draw + 1), X, known),
            ]
            if draw >= 0:
                times[draw] = ours
        one, boosted = np.median(times, axis=0)
        rows.append(
            (name, f"{one * 1e3:.1f} ms", f"{boosted:.3f} s", f"{boosted / one:.0f}",
             f"{paper_bckm / paper_ckm:.0f}", f"{paper_bckm} s")
        )  # fmt: skip
    print("\n500 constraints, T = 100 (Okabe & Yamada 2012a, Table II)\n")
    print_table(("data", "CKM", "BCKM", "ratio", "paper's ratio", "paper's BCKM"), rows)


def blobs(n, n_constraints):
    X, y = make_blobs(n, 16, centers=10, cluster_std=6.0, random_state=0)
    known = sample_constraints(y, n_constraints, random_state=0)
    small = sample_constraints(y[:2000], 50, random_state=0)
    BoostedConstrainedKMeans(10, n_estimators=2).fit(X[:2000], constraints=small)  # compile
    return X, known


def boosted(case):
    X, known = case
    return BoostedConstrainedKMeans(10, random_state=0).fit(X, constraints=known).n_iter_


def one_run(case):
    X, known = case
    model = ConstrainedKMeans(10, init="random", max_iter=30)
    return [model.set_params(random_state=s).fit(X, constraints=known).n_iter_ for s in range(5)]


def large(n, n_constraints):
    """BCKM with T = 100 beside T runs of its weak learner."""
    whole = measure(blobs, boosted, n, n_constraints, repeats=0)
    weak = measure(blobs, one_run, n, n_constraints, repeats=0)
    one = weak.first / 5
    print(f"\nn={n:,}, d=16, k=10, |S|={n_constraints:,}, T=100\n")
    print_table(
        ("one CKM s", "BCKM s", "BCKM / (T · CKM)", "peak MB above the data"),
        [(f"{one:.2f}", f"{whole.first:.1f}", f"{whole.first / one / 100:.2f}",
          f"{whole.megabytes:.0f}")],
    )  # fmt: skip


def suspects():
    """Share of flipped statements among the first 10 % of `suspects`, ten draws."""
    rows = []
    for name in ("iris", "wine", "wdbc"):
        data = load(name)
        k = len(set(data.target))
        for scale in ("raw", "standardised"):
            X = np.ascontiguousarray(data.data, dtype=float)
            X = StandardScaler().fit_transform(X) if scale == "standardised" else X
            for n in (300, 500):
                cells = []
                for model in (
                    BoostedConstrainedKMeans(k),
                    ConstrainedKMeansEnsemble(k),
                    TrustEnsemble(k),
                ):
                    found = []
                    for seed in range(10):
                        known = sample_constraints(data.target, n, noise=0.1, random_state=seed)
                        model.set_params(random_state=seed).fit(X, constraints=known)
                        found.append(model.suspects(n // 10)["flipped"].mean())
                    cells.append(f"{np.mean(found):.2f}")
                rows.append((name, scale, n, *cells))
                print(rows[-1], file=sys.stderr, flush=True)
    print("\n10 % of the statements flipped: share of flipped ones among the first suspects\n")
    print_table(("data", "features", "statements", "BCKM", "random orders", "Trust"), rows)


def webkb():
    """Two tf-idf views of the WebKB pages."""
    pages = load("webkb_course")
    words = TfidfVectorizer(
        preprocessor=lambda page: re.sub(r"<[^>]*>|[^a-zA-Z]", " ", page).lower(),
        stop_words="english",
        min_df=2,
    )
    return [words.fit_transform(texts).tocsr() for texts in pages.data], pages.target


def co_training():
    """One co-training of WebKB (1051 rows, 2 views, T = 50, 10 rounds) beside single ensembles."""
    views, y = webkb()
    rows = []
    for draw in range(5):
        known = sample_constraints(y, 10, random_state=draw)
        ensemble = ConstrainedKMeansEnsemble(2, n_estimators=50)
        model = CoTraining(2, estimator=ensemble, n_rounds=10, random_state=draw)

        def eleven(start, known=known, ensemble=ensemble):
            """Seconds of 11 ensembles of each view, as many as one co-training has."""
            return sum(
                seconds_of(ensemble.set_params(random_state=seed), view, known)
                for seed in range(start, start + 11)
                for view in views
            )

        # As many fits before as after: the machine is not equally fast all the time.
        one = eleven(0), seconds_of(model, views, known), eleven(11)
        single = (one[0] + one[2]) / 44
        rows.append((draw, f"{single:.3f}", f"{one[1]:.1f}", f"{one[1] / single:.1f}"))
    print("\nWebKB, 10 true constraints, T = 50, 10 rounds: 22 ensemble fits\n")
    print_table(("draw", "one ensemble s", "co-training s", "ratio"), rows)


def members(n, spread):
    """Label codes of 50 runs of k-means on n rows of ten classes."""
    X, _ = make_blobs(n, centers=10, n_features=16, cluster_std=spread, random_state=0)
    return ConstrainedKMeansEnsemble(10, n_estimators=50, random_state=0).fit(X).co_association_


def surest_pairs(together):
    rng = np.random.RandomState(0)
    together.most_confident(5, random_state=rng)
    together.least_confident(5, random_state=rng)
    return together.codes


def selection():
    """The five surest pairs of each kind among 5·10⁹."""
    rows = []
    for name, spread in (("clear classes", 2.0), ("overlapping classes", 8.0)):
        done = measure(members, surest_pairs, 10**5, spread, repeats=1)
        n_distinct = len(np.unique(done.result, axis=0))
        rows.append((name, n_distinct, f"{done.seconds:.2f}", f"{done.megabytes:.0f}"))
    print("\nSelection of pairs, n = 10^5, T = 50, k = 10\n")
    print_table(("data", "distinct code rows", "seconds", "peak MB"), rows)


def main():
    chosen = sys.argv[1:] or ["table", "large", "suspects"]
    if "cotraining" in chosen:
        co_training()
    if "selection" in chosen:
        selection()
    if "table" in chosen:
        table_2()
    if "suspects" in chosen:
        suspects()
    if "large" in chosen:
        large(10**5, 5_000)
    if "million" in chosen:
        large(10**6, 5_000)


if __name__ == "__main__":
    main()
