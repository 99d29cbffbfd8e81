"""Do decisions survive a second run? Merge and split clusters of k-means and cluster again.

    python benchmarks/verbs.py [--sets iris wine ...] [--rows 1 2 4]

K-means finds one cluster more than there are classes. The two clusters whose rows are most of one
class are merged, and the rows clustered again into one cluster less: the share of rows of both that
are in one cluster then, and of the others that are not in it. Then that cluster is split again by
two-means, and clustered into one more: the share of its rows on the right side. Standardised
features; `--rows m` names m √n rows of a cluster of n (0: all) instead of 2 √n.
"""

import argparse
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from conclust import AutoCluster, Constraints, COPKMeans, PCKMeans
from conclust.datasets import load

SETS = ("iris", "wine", "wdbc", "pendigits3689")
METHODS = {
    "none": lambda k: KMeans(k, n_init=10, random_state=1),
    "COPKMeans": lambda k: COPKMeans(k, random_state=1),
    "PCKMeans": lambda k: PCKMeans(k, random_state=1),
    "AutoCluster": lambda k: AutoCluster(k, random_state=1),
}


def pair_of_one_class(labels, y):
    """The two clusters whose rows, taken together, are most of one class."""
    counts = np.array(
        [np.bincount(y[labels == c], minlength=y.max() + 1) for c in np.unique(labels)]
    )
    together = counts[:, np.newaxis] + counts
    share = together.max(axis=2) / together.sum(axis=2)
    np.fill_diagonal(share, 0)
    return np.unravel_index(share.argmax(), share.shape)


def rerun(make, k, X, known):
    """Labels with the statements, or of plain k-means."""
    if make is METHODS["none"]:
        return make(k).fit(X).labels_
    return make(k).fit(X, constraints=known).labels_


def merged(found, both):
    """The share of both clusters' rows in one cluster, and of others outside it."""
    counts = np.bincount(found[both])
    main = counts.argmax()
    return counts[main] / both.sum(), float((found[~both] != main).mean())


def parted(found, first, second):
    """The share of rows in the better of the two ways to name the two parts' clusters."""
    counts = np.array(
        [np.bincount(found[part], minlength=found.max() + 1) for part in (first, second)]
    )
    best = max(
        counts[0, a] + counts[1, b]
        for a in range(counts.shape[1])
        for b in range(counts.shape[1])
        if a != b
    )
    return best / counts.sum()


def n_rows_of(m, n):
    """How many rows stand for a cluster."""
    return None if m is None else n if m == 0 else int(np.ceil(m * np.sqrt(n)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--rows", nargs="+", type=float, default=[None])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.sets:
        bunch = load(name)
        X = StandardScaler().fit_transform(np.asarray(bunch.data, dtype=float))
        y = np.unique(bunch.target, return_inverse=True)[1]
        k = len(set(y))
        labels = KMeans(k + 1, n_init=10, random_state=0).fit(X).labels_
        a, b = pair_of_one_class(labels, y)
        both = np.isin(labels, (a, b))
        one = np.where(labels == b, a, labels)
        first = both & (
            KMeans(2, n_init=10, random_state=0).fit(X[both]).labels_[np.cumsum(both) - 1] == 0
        )
        for m in options.rows:
            n_rows = n_rows_of(m, both.sum())
            to_merge = Constraints().merge(a, b, labels, X, n_rows=n_rows)
            to_split = Constraints().split(a, one, X, rows=np.flatnonzero(first), n_rows=n_rows)
            for method, make in METHODS.items():
                together, others = merged(rerun(make, k, X, to_merge), both)
                right = parted(rerun(make, k + 1, X, to_split), first, both & ~first)
                print(
                    f"{name:18} {both.sum():5} rows  {len(to_merge):4} {len(to_split):4} said  "
                    f"{method:12} merged {together:.2f} others {others:.2f}  split {right:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
