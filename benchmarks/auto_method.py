"""Does `choose_method` choose well? Adjusted Rand index of what it takes, beside both candidates.

    python benchmarks/auto_method.py [--draws 2]

Standardised data, 50 and 150 random statements, of which a share is wrong.
"""

import argparse
import collections
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import conclust
from conclust.datasets import load
from conclust.model_selection import choose_method


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2)
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore")
    print("data    wrong  keeping all  weighing  auto   chosen")
    for name in ("iris", "wine", "sonar", "glass"):
        bunch = load(name)
        X, y, k = StandardScaler().fit_transform(bunch.data), bunch.target, len(bunch.target_names)
        for wrong in (0.0, 0.05, 0.2):
            scores, chosen = collections.defaultdict(list), collections.Counter()
            for draw in range(draws):
                for n in (50, 150):
                    known = conclust.sample_constraints(y, n, noise=wrong, random_state=draw)
                    hard = conclust.COPKMeans(k, random_state=0, on_infeasible="relax")
                    soft = conclust.PCKMeans(k, random_state=0)
                    found = {
                        "COPKMeans": hard.fit(X, constraints=known).labels_,
                        "PCKMeans": soft.fit(X, constraints=known).labels_,
                    }
                    taken = type(choose_method(X, known, k, random_state=0).estimator).__name__
                    chosen[taken] += 1
                    for key, labels in (*found.items(), ("auto", found[taken])):
                        scores[key].append(adjusted_rand_score(y, labels))
            mean = [np.mean(scores[key]) for key in ("COPKMeans", "PCKMeans", "auto")]
            figures = f"{mean[0]:11.2f}  {mean[1]:8.2f}  {mean[2]:.2f}"
            print(f"{name:7} {wrong:5.0%}  {figures}   {dict(chosen)}", flush=True)


if __name__ == "__main__":
    main()
