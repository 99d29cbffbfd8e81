"""Speed and memory of the constraint set: ``python benchmarks/constraints.py``."""

import numpy as np

from _measure import measure, print_table
from conclust import Constraints, pairwise_f1, sample_constraints


def chain(n):
    order = np.random.RandomState(0).permutation(n)
    return Constraints(np.column_stack([order[:-1], order[1:]]), n_samples=n)


def random_links(n_links):
    n = 2 * n_links
    y = np.random.RandomState(0).randint(100, size=n)
    return sample_constraints(y, n_links, random_state=0)


def planted(n_links, n_planted):
    """True links under 50 classes, and triangles of two must-links and a cannot-link."""
    n = 2 * n_links
    rng = np.random.RandomState(0)
    known = sample_constraints(rng.randint(50, size=n), n_links, random_state=0)
    fresh = rng.permutation(n)[: 3 * n_planted].reshape(-1, 3)
    return known + Constraints(
        np.concatenate([fresh[:, :2], fresh[:, 1:]]), fresh[:, ::2], n_samples=n
    )


def planted_cliques(n_links, n_planted, k):
    n = 3 * n_links
    rows = np.random.RandomState(0).permutation(n)
    pairs = rows[: 2 * n_links].reshape(-1, 2)
    cliques = rows[2 * n_links :][: n_planted * (k + 1)].reshape(-1, k + 1)
    i, j = np.triu_indices(k + 1, k=1)
    cannot = np.column_stack([cliques[:, i].ravel(), cliques[:, j].ravel()])
    return Constraints(cannot_link=np.concatenate([pairs, cannot]), n_samples=n)


def two_labelings(n):
    rng = np.random.RandomState(0)
    return rng.randint(20, size=n), rng.randint(20, size=n)


def labels(n):
    return np.random.RandomState(0).randint(10, size=n)


def pairs_of(n):
    rng = np.random.RandomState(0)
    return rng.randint(n, size=(n, 2)) + np.array([0, n])


def close(known):
    return known.closure().n_components


def conflicts(known):
    return len(known.conflicts(max_listed=None))


def conflicts_with_four_clusters(known):
    return len(known.conflicts(n_clusters=4, max_listed=None))


def repair(known):
    return len(known.repaired().dropped)


def f1(case):
    return round(pairwise_f1(*case), 4)


def sample(y):
    return len(sample_constraints(y, 1_000_000, random_state=0))


def sample_triplets(y):
    return len(sample_constraints(y, n_relative=1_000_000, random_state=0))


def construct(pairs):
    return len(Constraints(pairs))


CASES = [
    ("closure, a chain of 10^6 must-links", chain, close, (1_000_000,)),
    ("closure, 10^6 random links", random_links, close, (1_000_000,)),
    ("construction, 10^6 must-links", pairs_of, construct, (1_000_000,)),
    ("conflicts, 10^5 links, 1 000 planted", planted, conflicts, (100_000, 1_000)),
    ("conflicts(4), 10^5 links, 1 000 planted cliques", planted_cliques,
     conflicts_with_four_clusters, (100_000, 1_000, 4)),
    ("repaired, 10^5 links, 1 000 planted", planted, repair, (100_000, 1_000)),
    ("pairwise_f1, 10^7 samples", two_labelings, f1, (10_000_000,)),
    ("sample_constraints, 10^6 pairs of 10^6 samples", labels, sample, (1_000_000,)),
    ("sample_constraints, 10^6 triplets of 10^6 samples", labels, sample_triplets, (1_000_000,)),
]  # fmt: skip


def main():
    rows = []
    for name, prepare, run, args in CASES:
        m = measure(prepare, run, *args)
        rows.append((name, f"{m.seconds:.2f}", f"{m.first:.2f}", f"{m.megabytes:.0f}", m.result))
    print_table(("what", "seconds", "first call", "peak MB", "result"), rows)


if __name__ == "__main__":
    main()
