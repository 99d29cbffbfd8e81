"""How often COPKMeans ends in the optimum, on instances whose optimum is proved.

    CONCLUST_DATA=folder python benchmarks/proved.py [--each 30] [--patience 80] [--only glass]

Standardised sets, whole or rows drawn from them, and blobs, with true random pairs. The best of
`--long` starts that all go on is proved to be the optimum, to a part in 10^5, by `_proof`; draws
that take more than `--patience` rounds of the proof are left out, and counted. "starts" is the best
of ten starts alone, "on" what single moves and swaps of centres make of them (the defaults).
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from _proof import is_least, units_of
from conclust import COPKMeans, sample_constraints
from conclust._lloyd import improve
from optimum import fitted, rows_of

# Name, rows drawn (None: all), pairs.
SETTINGS = (
    ("iris", None, 200),
    ("wine", None, 250),
    ("wine", 40, 15),
    ("glass", 40, 20),
    ("segmentation_210", 40, 20),
    ("vowel", 44, 20),
    ("blobs", 60, 30),
)
SAME = 1e-5
STARTS_ALONE = {"n_improved": 0, "share": 0.0}


def instance(name, n, n_pairs, draw):
    """Rows, number of clusters and statements."""
    random = np.random.RandomState(draw)
    if name == "blobs":
        X, y = make_blobs(n, 3, centers=8, cluster_std=2.0, random_state=random)
        X = StandardScaler().fit_transform(X)
    else:
        X, y = rows_of(name, None, None)
        drawn = random.permutation(len(X))[:n]
        X, y = X[drawn], np.unique(y[drawn], return_inverse=True)[1]
    return X, y.max() + 1, sample_constraints(y, n_pairs, random_state=random)


def gaps(X, k, known, long, patience):
    """Gaps of the starts and of what follows, seconds of both; None: no optimum was proved."""
    usual = {"n_improved": improve.N_IMPROVED, "share": improve.SHARE}
    ways = (STARTS_ALONE, usual)
    found = [fitted(COPKMeans(k, random_state=0), X, known, **way) for way in ways]
    model = COPKMeans(k, random_state=1, n_init=long)
    best, _ = fitted(model, X, known, n_improved=long, share=1.0)
    best = min(best, *(value for value, _ in found))
    units, inside = units_of(X, known)
    if not is_least(units, k, best - inside, SAME * best, patience):
        return None
    return [value / best - 1 for value, _ in found], [seconds for _, seconds in found]


def measure(setting, each, long, patience):
    name, n, n_pairs = setting
    rows, draw = [], 0
    began = time.perf_counter()
    while len(rows) < each and draw < 2 * each:
        answer = gaps(*instance(name, n, n_pairs, draw), long, patience)
        draw += 1
        if answer is not None:
            rows.append(answer)
    gap, seconds = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    left_out = f"{draw - len(rows)} of {draw} left out"
    show(f"{name}, {n or 'all'} rows, {n_pairs} pairs", gap, seconds)
    print(f"    {left_out}, {time.perf_counter() - began:.0f} s", flush=True)
    return gap, seconds


def show(what, gap, seconds):
    solved = (gap < 2 * SAME).sum(axis=0)
    worst, mean = 100 * gap.max(axis=0), 100 * gap.mean(axis=0)
    ratio = seconds[:, 1].sum() / seconds[:, 0].sum()
    both = (
        f"{solved[i]} of {len(gap)} solved, worst {worst[i]:.2f} %, mean {mean[i]:.3f} %"
        for i in (0, 1)
    )
    print(f"  {what}: starts {next(both)}; on {next(both)}; time {ratio:.2f}x", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--each", type=int, default=30)
    parser.add_argument("--long", type=int, default=100)
    parser.add_argument("--patience", type=int, default=80)
    parser.add_argument("--only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    how = (options.each, options.long, options.patience)
    gaps(*instance("wine", None, 100, 0), 20, 0)  # kernels are compiled
    chosen = [each for each in SETTINGS if options.only in (None, each[0])]
    measured = [measure(each, *how) for each in chosen]
    show("all", *(np.concatenate(part) for part in zip(*measured, strict=True)))


if __name__ == "__main__":
    main()
