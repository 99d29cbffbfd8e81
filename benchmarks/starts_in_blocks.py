"""Starts of rows in blocks: k-means++ on a sample of 65 536 against k-means‖ over all rows.

    python benchmarks/starts_in_blocks.py [--rows N] [--seeds S]

Inertia at the start and after ten iterations, as a multiple of the best that any start reached, the
median and the worst over the seeds; processor time of the start and of the ten iterations.
"""

import argparse
import time

import numpy as np

from _measure import print_table
from conclust import ConstrainedKMeans, blocks
from conclust._lloyd.start import init_centers

FEATURES = 16


def even(n, generator):
    """20 clusters of the same size."""
    return generator.randint(20, size=n)


def rare(n, generator):
    """20 clusters of the same size and 10 of 30 rows each, which a sample rarely has."""
    truth = generator.randint(20, size=n)
    truth[generator.permutation(n)[:300]] = 20 + np.arange(300) // 30
    return truth


def falling(n, generator):
    """50 clusters, each four fifths of the one before."""
    share = 0.8 ** np.arange(50)
    return generator.choice(50, size=n, p=share / share.sum())


def rows_of(truth, generator):
    centers = generator.normal(scale=5.0, size=(truth.max() + 1, FEATURES))
    # The rare ones lie far away: who misses them pays for it.
    centers[20:30] *= 3.0
    return centers[truth] + generator.normal(size=(len(truth), FEATURES))


def run(rows, n_clusters, init, seed):
    began = time.process_time()
    centers = init_centers(rows, n_clusters, init, None, np.random.RandomState(seed))
    started = time.process_time()
    how = {"init": centers + rows.preparation.mean, "max_iter": 10, "tol": 0.0}
    model = ConstrainedKMeans(n_clusters, **how).fit(blocks.open(rows.source._array))
    ended = time.process_time()
    return model.history_[0].inertia, model.inertia_, started - began, ended - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    table = []
    for make in (even, rare, falling):
        generator = np.random.RandomState(0)
        truth = make(args.rows, generator)
        rows = blocks.open(rows_of(truth, generator)).checked().centered()
        n_clusters = int(truth.max()) + 1
        rows.sample(n_clusters)  # taken once for all starts
        found = {
            init: np.array([run(rows, n_clusters, init, seed) for seed in range(args.seeds)])
            for init in ("k-means++", "k-means||")
        }
        best = min(each[:, 1].min() for each in found.values())
        for init, each in found.items():
            first, last = each[:, 0] / best, each[:, 1] / best
            times = np.median(each[:, 2:], axis=0)
            table.append(
                (make.__name__, n_clusters, init, f"{np.median(first):.2f}",
                 f"{np.median(last):.3f}", f"{last.max():.3f}", *(f"{t:.2f}" for t in times))
            )  # fmt: skip
    print_table(
        ("clusters", "k", "init", "at the start", "after ten", "worst", "start, s", "ten, s"), table
    )


if __name__ == "__main__":
    main()
