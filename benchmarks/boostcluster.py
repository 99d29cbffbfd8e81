"""Speed and memory of BoostCluster and SpectralLearning, and what their defaults are worth.

``python benchmarks/boostcluster.py [rounds] [text] [spectral] [news] [defaults] [--small]``

rounds     time per round against one run of the base learner on the same data, taking turns
text       a 20 000 × 100 000 tf-idf-like sparse matrix with 1 000 constraints: time and memory
spectral   SpectralLearning with 10^5 rows
news       NMI on real tf-idf text, k-means on X and boosted; reads CONCLUST_DATA as the next
defaults   NMI of defaults and alternatives on data sets that took no part in choosing them; the
           data are read from the folder named by CONCLUST_DATA
"""

import sys
import time

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import make_blobs
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import normalize, scale

from _measure import _peak, _resident, measure, print_table
from conclust import (
    BoostCluster,
    SemiSupervisedKernelKMeans,
    SpectralLearning,
    sample_constraints,
)


def rounds(small):
    """The base learner alone takes turns with whole fits, whose time is divided by their rounds."""
    n = 10**4 if small else 10**5
    X, y = make_blobs(n, 50, centers=10, cluster_std=12.0, random_state=0)
    known = sample_constraints(y, 2_000, random_state=0)
    rows = []
    for base in (KMeans(10, n_init=1), MiniBatchKMeans(10, n_init=1)):
        alone, boosted, share = [], [], []
        for seed in range(2):
            began = time.perf_counter()
            clone(base).set_params(random_state=seed).fit(X)
            alone.append(time.perf_counter() - began)
            model = BoostCluster(base, n_clusters=10, n_estimators=6, random_state=seed)
            began = time.perf_counter()
            model.fit(X, constraints=known)
            boosted.append((time.perf_counter() - began) / model.n_iter_)
            share.append(np.median([r.seconds for r in model.history_]))
        scores = [adjusted_rand_score(y, m) for m in (model.labels_, clone(base).fit_predict(X))]
        rows.append(
            (type(base).__name__, n, 50, 2_000, f"{np.mean(alone):.2f}",
             f"{np.mean(share):.2f}", f"{np.mean(boosted):.2f}",
             f"{np.mean(boosted) / np.mean(alone):.2f}", f"{scores[0]:.2f} / {scores[1]:.2f}")
        )  # fmt: skip
    print("\nBoostCluster, seconds: one run of the base learner on X, and per round (means of 2)\n")
    print_table(
        ("base", "n", "d", "|S|", "base", "round", "fit / rounds", "ratio", "ARI boosted / base"),
        rows,
    )  # fmt: skip


def documents(n, d, n_topics, words, seed=0):
    """Rows of Zipf-like word counts, a third of them from the row's topic, weighted by idf."""
    rng = np.random.RandomState(seed)
    topic = rng.randint(n_topics, size=n)
    columns = (d * rng.beta(0.3, 2.0, size=(n, words))).astype(np.int32)
    own = rng.rand(n, words) < 0.33
    columns = np.where(own, (columns + (topic[:, None] + 1) * (d // (n_topics + 2))) % d, columns)
    indptr = np.arange(0, n * words + 1, words, dtype=np.int32)
    counts = sp.csr_array(
        (np.ones(n * words), columns.ravel().astype(np.int32), indptr), shape=(n, d)
    )
    counts.sum_duplicates()
    seen = np.bincount(counts.indices, minlength=d)
    counts.data *= np.log((1 + n) / (1 + seen))[counts.indices] + 1
    return normalize(counts), topic


def prepare_text(n, d):
    X, topic = documents(n, d, 10, 120)
    return X, topic, sample_constraints(topic, 1_000, random_state=0)


def fit_text(case):
    X, topic, known = case
    model = BoostCluster(KMeans(n_init=1), n_clusters=10, random_state=0).fit(X, constraints=known)
    return (
        model.n_iter_,
        model.selected_,
        adjusted_rand_score(topic, model.labels_),
        _peak(),
    )


def base_on_text(case):
    X, topic, _ = case
    labels = KMeans(10, n_init=1, random_state=0).fit_predict(X)
    return 1, "X", adjusted_rand_score(topic, labels), _peak()


def text(small):
    n, d = (2_000, 10_000) if small else (20_000, 100_000)
    rows = []
    for name, run in (("KMeans on X", base_on_text), ("BoostCluster(KMeans)", fit_text)):
        found = measure(prepare_text, run, n, d, repeats=0)
        n_rounds, selected, score, peak = found.result
        rows.append(
            (name, f"{n} x {d}", f"{found.first:.1f}", n_rounds, selected, f"{score:.2f}",
             f"{found.megabytes:.0f}", f"{peak:.0f}")
        )  # fmt: skip
    print("\nSparse text, 1 000 constraints\n")
    print_table(
        ("who", "X", "seconds", "rounds", "labels from", "ARI", "MB above the input", "MB in all"),
        rows,
    )


def prepare_blobs(n, d):
    X, y = make_blobs(n, d, centers=10, cluster_std=4.0, random_state=0)
    return X, y, sample_constraints(y, 2_000, random_state=0)


def fit_spectral(case):
    X, y, known = case
    return adjusted_rand_score(
        y, SpectralLearning(10, random_state=0).fit(X, constraints=known).labels_
    )


def spectral(small):
    n = 10**4 if small else 10**5
    found = measure(prepare_blobs, fit_spectral, n, 10, repeats=0)
    print("\nSpectralLearning, 10 neighbours, 2 000 constraints\n")
    print_table(
        ("n", "d", "seconds", "MB above the input", "ARI"),
        [(n, 10, f"{found.first:.1f}", f"{found.megabytes:.0f}", f"{found.result:.2f}")],
    )


def news(small):
    from conclust.datasets import load

    rows = []
    for name in ("bbcsport",) if small else ("bbcsport", "3sources", "webkb_course_tfidf"):
        data = load(name)
        X, y, k = sp.csr_matrix(data.data[0], dtype=float), data.target, len(data.target_names)
        if not name.endswith("tfidf"):
            X = TfidfTransformer().fit_transform(X)
        base = KMeans(k, n_init=1)
        plain = [
            normalized_mutual_info_score(y, clone(base).set_params(random_state=s).fit_predict(X))
            for s in range(3)
        ]
        cells = [name, f"{X.shape[0]} x {X.shape[1]}", f"{np.mean(plain):.2f}"]
        for m, noise in ((50, 0.0), (200, 0.0), (800, 0.0), (800, 0.2)):
            found = []
            for s in range(3):
                known = sample_constraints(
                    y, n_must_link=m // 2, n_cannot_link=m // 2, noise=noise, random_state=s
                )
                model = BoostCluster(base, k, random_state=s).fit(X, constraints=known)
                found.append(normalized_mutual_info_score(y, model.labels_))
            cells.append(f"{np.mean(found):.2f}")
        rows.append(cells)
    print("\nNMI on real text: k-means on X, then boosted, mean of 3\n")
    print_table(("", "X", "k-means", "50", "200", "800", "800, 20% wrong"), rows)


HELD_OUT = (
    "glass", "ionosphere", "sonar", "parkinsons", "digits389", "letters_ijlt", "mfeat_fou",
    "semeion",
)  # fmt: skip


def alternatives(k, n_rows, n_constraints):
    price = n_rows / (k * max(n_constraints, 1))
    published = {"n_neighbors": None, "normalization": "additive", "regularization": 0.0}
    return {
        "SpectralLearning": SpectralLearning(k),
        "  regularization=0": SpectralLearning(k, regularization=0.0),
        "  n_neighbors=20": SpectralLearning(k, n_neighbors=20),
        "  n_neighbors=None": SpectralLearning(k, n_neighbors=None),
        "  as published (additive)": SpectralLearning(k, **published),
        "SemiSupervisedKernelKMeans": SemiSupervisedKernelKMeans(k, n_init=5),
        "  moves=False": SemiSupervisedKernelKMeans(k, n_init=5, moves=False),
        "  as published (low price)": SemiSupervisedKernelKMeans(
            k, n_init=5, moves=False, penalty=price
        ),
        "BoostCluster": BoostCluster(None, k),
        '  selection="paper"': BoostCluster(None, k, selection="paper"),
        "  KMeans(n_init=10)": BoostCluster(KMeans(n_init=10), k),
    }


def defaults(small):
    from conclust.datasets import load

    settings = [(0, 0.0), (200, 0.0), (400, 0.0), (200, 0.2), (400, 0.2)]
    scores = {}
    for name in HELD_OUT[:2] if small else HELD_OUT:
        data = load(name)
        rows = np.random.RandomState(0).permutation(len(data.target))[:400]
        X, y = np.asarray(data.data, dtype=float)[rows], data.target[rows]
        X, k = scale(X[:, X.std(axis=0) > 0]), len(set(y))
        for m, noise in settings:
            for draw in range(3 if m else 1):
                known = sample_constraints(
                    y, n_must_link=m // 2, n_cannot_link=m // 2, noise=noise, random_state=draw
                )
                for method, model in alternatives(k, len(X), m).items():
                    labels = model.set_params(random_state=0).fit(X, constraints=known).labels_
                    found = normalized_mutual_info_score(y, labels)
                    scores.setdefault((method, m, noise, name), []).append(found)
    rows = []
    for method in alternatives(2, 1, 0):
        means = [
            np.mean([np.mean(v) for key, v in scores.items() if key[:3] == (method, m, noise)])
            for m, noise in settings
        ]
        rows.append((method, *(f"{value:.2f}" for value in means)))
    print("\nMean NMI on data sets that took no part in choosing the defaults\n")
    print_table(("", *(f"{m}, {noise:.0%} wrong" if m else "none" for m, noise in settings)), rows)


if __name__ == "__main__":
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")] or ["rounds", "text", "spectral"]
    parts = {
        "rounds": rounds, "text": text, "spectral": spectral, "news": news, "defaults": defaults,
    }  # fmt: skip
    for name in chosen:
        parts[name]("--small" in sys.argv)
    print(f"\n{_resident():.0f} MB resident at the end", file=sys.stderr)
