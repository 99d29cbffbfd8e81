"""Going on from a clustering against clustering again: what stays, and what it costs.

    python benchmarks/living.py [--draws 2] [--sets iris ...]

Fitted to 70 % of the rows with n/10 true statements; then come the other rows and 20 true
statements about all of them. `update` against a new `fit`, its clusters numbered by `match_labels`:
the share of old rows with the label they had, of those that no new statement names or joins to one
it names; new statements kept; adjusted Rand index with the true classes; seconds. Standardised
features, mean over draws.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import conclust
from conclust.datasets import load

SETS = ("iris", "wine", "wdbc", "segmentation_2310", "semeion")
METHODS = {
    "COPKMeans": lambda k, seed: conclust.COPKMeans(k, random_state=seed),
    "PCKMeans": lambda k, seed: conclust.PCKMeans(k, random_state=seed),
    "GaussianMixture": lambda k, seed: conclust.ConstrainedGaussianMixture(
        k, flip_rate=0.02, covariance_type="tied", random_state=seed
    ),
    "AutoCluster": lambda k, seed: conclust.AutoCluster(k, random_state=seed),
}


def case(X, y, make, draw):
    """Figures of going on and of fitting again, from one draw."""
    order = np.random.RandomState(draw).permutation(len(y))
    X, y, n_old = X[order], y[order], int(0.7 * len(y))
    k = len(set(y))
    told = conclust.sample_constraints(y[:n_old], n_old // 10, random_state=draw)
    said = conclust.sample_constraints(y, 20, random_state=draw + 100)
    model = make(k, draw).fit(X[:n_old], constraints=told)
    before = model.labels_.copy()
    began = time.perf_counter()
    model.update(X[n_old:], said)
    went_on = time.perf_counter() - began
    began = time.perf_counter()
    again = make(k, draw).fit(X, constraints=model.constraints_)
    took = time.perf_counter() - began
    links = model.constraints_[model.constraints_.kinds == "must-link"]
    unit = links.closure(len(y)).component
    free = ~np.isin(unit, unit[said.samples])[:n_old]
    figures = []
    for labels, seconds in (
        (model.labels_, went_on),
        (conclust.match_labels(again.labels_, before), took),
    ):
        same = (labels[:n_old] == before)[free].mean()
        figures.append(
            (same, said.satisfied(labels).mean(), adjusted_rand_score(y, labels), seconds)
        )
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--sets", nargs="+", default=SETS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'':36}same label, statements kept, ARI, seconds: update | fit + match_labels")
    for name in options.sets:
        bunch = load(name)
        X = StandardScaler().fit_transform(np.asarray(bunch.data, dtype=float))
        y = np.unique(bunch.target, return_inverse=True)[1]
        for method, make in METHODS.items():
            found = np.mean([case(X, y, make, draw) for draw in range(options.draws)], axis=0)
            both = ["{:.3f} {:.2f} {:.2f} {:6.2f}".format(*figures) for figures in found]
            print(f"{name:18} {method:16}", " | ".join(both), flush=True)


if __name__ == "__main__":
    main()
