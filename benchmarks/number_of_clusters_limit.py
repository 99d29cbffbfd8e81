"""How well can the number of clusters be known from answers about random pairs? Many draws.

    CONCLUST_DATA=folder python benchmarks/number_of_clusters_limit.py [massive18 ...] [--draws 400]

Clusters told nothing are made once for each of `--seeds` (4), then answers about a tenth of the
rows (300 at least) are drawn again and again. Share of draws within a tenth of the truth where the
number is found by

* the balance of c and b, which is what `choose_n_clusters` does,
* the share of "same" among the answers: clusters that have as many of all pairs together,
* that share corrected by regression (GREG): less its slope on "together", times by how much more
  often the pairs answered are together than all pairs are.

The last two need the share of all pairs that are together, and pairs drawn at random. All three
take what the rows speak for if it is within two standard errors, else the fewest within half of
one. Also R², the part of the variance of "same" that "together" explains at the true number.
"""

import argparse
import warnings

import numpy as np

from conclust.cluster import few_features
from conclust.constraints import Constraints
from conclust.model_selection import _n_clusters as own
from conclust.model_selection._choose import fewer_rows
from number_of_clusters import TEXTS, rows_of

TABLES = ("digits", "semeion", "vowel", "mfeat_kar", "pendigits", "usps", "letter")
N_PAIRS = 300_000


class Made:
    """Clusters told nothing, and random pairs that are together in them or not."""

    def __init__(self, X, y, seed):
        directions, n = own.are_directions(X), len(X)
        rows, most = few_features(X, seed), min(own._most(n), n - 1)
        if directions:
            none = Constraints(n_samples=n)
            some = fewer_rows(rows, none, seed, max_rows=own.MAX_ROWS_TOLD)[0]
            spoken = {k: own.information(some, k, seed) for k in own._numbers(2, most)}
            parts = list(own.tree_partitions(rows, 2, most, seed))
        else:
            spoken = {k: own.stability(rows, k, seed)[0] for k in range(2, own.MAX_CLUSTERS + 1)}
            most = min(most, 4 * (int(y.max()) + 1))
            parts = [
                own.Partition(k, own.kmeans_labels(rows, k, seed)[np.newaxis])
                for k in own._numbers(2, most)
            ]
        self.favorite = own._favorite(spoken, stable=not directions)
        self.numbers = [part.n_clusters for part in parts]
        i, j = np.random.RandomState(seed).randint(n, size=(2, N_PAIRS))
        i, j = i[i != j], j[i != j]
        self.same = (y[i] == y[j]).astype(float)
        self.together = np.stack(
            [(p.labels[:, i] == p.labels[:, j]).mean(axis=0) for p in parts], axis=1
        ).astype(np.float32)
        self.share = self.together.mean(axis=0, dtype=np.float64)

    def explained(self, k):
        """R² at about k clusters."""
        at = int(np.abs(np.array(self.numbers) - k).argmin())
        return float(np.corrcoef(self.together[:, at], self.same)[0, 1] ** 2)

    def estimates(self, drawn):
        """The number by each of the three."""
        same, together = self.same[drawn], self.together[drawn].astype(np.float64)
        n, p, mean = len(drawn), same.mean(), together.mean(axis=0)
        apart = (same[:, None] * (1 - together)).sum(axis=0)
        wrong = ((1 - same)[:, None] * together).sum(axis=0)
        spread = together.var(axis=0) + 1e-12
        joint = (same[:, None] * together).mean(axis=0) - p * mean
        slope = np.clip(joint / spread, 0, 1)
        left = p * (1 - p) - 2 * slope * joint + slope**2 * spread
        yield self._decided((apart - wrong) / n, np.sqrt(np.maximum(apart + wrong, 1)) / n, n)
        yield self._decided(p - self.share, np.sqrt(max(p * (1 - p), 1 / n) / n), n)
        more = p - slope * (mean - self.share) - self.share
        yield self._decided(more, np.sqrt(np.maximum(left, 1 / n) / n), n)

    def _decided(self, more, error, n):
        off = np.maximum(np.abs(more) - 1 / n, 0) / error
        best = {}
        for k, each, sign in zip(self.numbers, off, np.sign(more), strict=True):
            best[k] = min(best.get(k, np.inf), each)
            if sign * each > own.FAR_TOO_MANY:
                break
        best = dict(sorted(best.items()))
        if self.favorite is not None:
            near = min(best, key=lambda k: abs(np.log(k / self.favorite)))
            if best[near] <= own.RULED_OUT:
                return self.favorite
        least = min(best, key=best.__getitem__)
        return next((k for k in best if best[k] <= own.BALANCED), least)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sets", nargs="*", default=[*TEXTS, *TABLES])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.sets:
        X, y = rows_of(name)
        k, near, explained = int(y.max()) + 1, [], []
        n_answers = len(X) // 10 if name in TEXTS else max(len(X) // 10, 300)
        for seed in range(options.seeds):
            made, rng = Made(X, y, seed), np.random.RandomState(seed)
            explained.append(made.explained(k))
            for _ in range(options.draws):
                drawn = rng.randint(len(made.same), size=n_answers)
                found = np.array(list(made.estimates(drawn)))
                near.append(np.abs(found - k) <= 0.1 * k + 0.2)
        balance, plain, greg = np.mean(near, axis=0)
        print(
            f"{name:18} k={k:<3} {n_answers:5} answers, within a tenth: balance {balance:.2f}, "
            f"share {plain:.2f}, regression {greg:.2f}; R² {np.mean(explained):.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
