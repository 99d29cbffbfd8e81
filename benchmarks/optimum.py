"""How far from the best known objective COPKMeans and PCKMeans end, and what going on costs.

    CONCLUST_DATA=folder python benchmarks/optimum.py [cop] [pck] [--draws 3] [--long 100]
        [--sizes] [--swaps] [--only iris ...]

Standardised sets of 2 to 15 classes, true random pairs, defaults (PCKMeans: the price it chooses).
"starts" is the best of ten starts alone, "on" what single moves and swaps of centres make of them.
With `--sizes` clusters may be 5 % larger or smaller than even; then two units swap clusters, too.
With `--swaps` they do so without sizes, and the columns are going on without and with these swaps.
The best known value is the least of those and of `--long` starts that all go on.
"""

import argparse
import sys
import time
import warnings
from unittest import mock

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from conclust import COPKMeans, PCKMeans, sample_constraints
from conclust._lloyd import improve
from conclust._lloyd.exact_moves import ExactMoves
from conclust.datasets import load

# Name, rows drawn (None: all), classes kept (None: all).
SETS = (
    ("iris", None, None),
    ("wine", None, None),
    ("wdbc", None, None),
    ("glass", None, None),
    ("segmentation_210", None, None),
    ("digits", 500, None),
    ("pendigits", 600, None),
    ("vowel", None, None),
    ("letter", 600, 15),
)
IN_SCIKIT_LEARN = {
    "iris": load_iris,
    "wine": load_wine,
    "wdbc": load_breast_cancer,
    "digits": load_digits,
}


def rows_of(name, n, n_classes):
    """Standardised rows and their classes."""
    bunch = IN_SCIKIT_LEARN[name]() if name in IN_SCIKIT_LEARN else load(name)
    X, y = np.asarray(bunch.data, float), np.unique(bunch.target, return_inverse=True)[1]
    keep = np.flatnonzero(y < (n_classes or np.inf))
    keep = keep if n is None else np.random.RandomState(0).permutation(keep)[:n]
    return StandardScaler().fit_transform(X[keep]), y[keep]


def fitted(model, X, known, *, n_improved, share):
    """The objective, and seconds."""
    before = improve.N_IMPROVED, improve.SHARE
    improve.N_IMPROVED, improve.SHARE = n_improved, share
    began = time.perf_counter()
    try:
        model.fit(X, constraints=known)
    finally:
        improve.N_IMPROVED, improve.SHARE = before
    return getattr(model, "objective_", model.inertia_), time.perf_counter() - began


def even_sizes(n, k):
    return {"size_min": int(0.95 * n / k), "size_max": int(1.05 * n / k) + 1}


def swapping(k):
    """`ExactMoves` under sizes that bind nothing: units swap clusters all the same."""
    bounds = np.full(k, -np.inf), np.full(k, np.inf)
    return lambda *args, **how: ExactMoves(*args, **how | {"bounds": bounds})


def compare(kind, draws, long, sized, swaps, sets):
    usual = {"n_improved": improve.N_IMPROVED, "share": improve.SHARE}
    ways = (usual, usual) if swaps else ({"n_improved": 0, "share": 0.0}, usual)
    print(f"{kind.__name__}: mean gap to the best known in %, starts and on; time on / starts")
    home = sys.modules[kind.__module__]
    X, y = load_digits(return_X_y=True)  # enough work for kernels to be compiled
    fitted(kind(10, random_state=0), X, sample_constraints(y, 500, random_state=0), **usual)
    gaps, times = [], []
    for name, n, n_classes in sets:
        try:
            X, y = rows_of(name, n, n_classes)
        except Exception as error:  # the set is not there
            print(f"  {name}: {error}")
            continue
        k = y.max() + 1
        here, took = [], []
        for n_pairs in (50, len(X) // 2):
            for draw in range(draws):
                known = sample_constraints(y, n_pairs, random_state=draw)
                given = {"random_state": 0} | (even_sizes(len(X), k) if sized else {})
                if kind is PCKMeans:
                    given["penalty"] = PCKMeans(k, **given).fit(X, constraints=known).penalty_
                values = []
                for way, moves in zip(ways, (ExactMoves, swapping(k)), strict=True):
                    with mock.patch.object(home, "ExactMoves", moves if swaps else ExactMoves):
                        values.append(fitted(kind(k, **given), X, known, **way))
                given |= {"random_state": 1, "n_init": long}
                best, _ = fitted(kind(k, **given), X, known, n_improved=long, share=1.0)
                best = min(best, *(value for value, _ in values))
                here.append([value / best - 1 for value, _ in values])
                took.append([seconds for _, seconds in values])
        gap, sums = 100 * np.mean(here, axis=0), np.sum(took, axis=0)
        print(
            f"  {name:17} {k:3}  {gap[0]:.3f}  {gap[1]:.3f}   {sums[1] / sums[0]:.2f}", flush=True
        )
        gaps.append(gap)
        times.append(sums)
    gap, sums = np.mean(gaps, axis=0), np.sum(times, axis=0)
    show(f"{'mean':21}", gap, sums)


def show(what, gap, seconds):
    print(f"  {what}  {gap[0]:.3f}  {gap[1]:.3f}   {seconds[1] / seconds[0]:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("which", nargs="*", default=["cop", "pck"])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--long", type=int, default=100)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--swaps", action="store_true")
    parser.add_argument("--only", nargs="*", help="names of sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = [each for each in SETS if not options.only or each[0] in options.only]
    for which in options.which:
        kind = {"cop": COPKMeans, "pck": PCKMeans}[which]
        compare(kind, options.draws, options.long, options.sizes, options.swaps, sets)


if __name__ == "__main__":
    main()
