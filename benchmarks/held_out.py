"""What holding statements out is worth: the methods that choose or doubt by it, with true classes.

    python benchmarks/held_out.py [--draws 5] [--only price trust suspects]

Mean normalised mutual information and adjusted Rand index over nine sets (raw features, 300 random
statements of which a share is wrong) of PCKMeans, whose price is chosen by held-out statements, and
of TrustEnsemble, whose judges hear a part of them; then the share of wrong statements among the
first 10 % of `suspects` when 10 % are wrong (standardised features).
"""

import argparse
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

import conclust
from conclust.datasets import load

DATASETS = (
    "iris", "wine", "parkinsons", "sonar", "segmentation_210", "glass", "ionosphere", "wdbc",
    "balance",
)  # fmt: skip
WRONG = (0.0, 0.05, 0.2)
N_STATEMENTS = 300


def quality(make, draws):
    """Print mean figures by share wrong, over sets and draws, then the NMI set by set."""
    by_set = {}
    for wrong in WRONG:
        figures = []
        for name in DATASETS:
            bunch = load(name)
            X, y = np.ascontiguousarray(bunch.data, dtype=float), bunch.target
            scores = []
            for draw in range(draws):
                known = conclust.sample_constraints(y, N_STATEMENTS, noise=wrong, random_state=draw)
                labels = make(len(set(y)), draw).fit(X, constraints=known).labels_
                scores.append(
                    (normalized_mutual_info_score(y, labels), adjusted_rand_score(y, labels))
                )
            by_set.setdefault(name, []).append(np.mean(scores, axis=0)[0])
            figures += scores
        nmi, ari = np.mean(figures, axis=0)
        print(f"{make(2, 0).__class__.__name__:14} {wrong:4.0%}  {nmi:.3f}  {ari:.3f}", flush=True)
    for name, row in by_set.items():
        print(f"    {name:17}", "  ".join(f"{value:.3f}" for value in row), flush=True)


def suspects(draws):
    """Print the share of wrong statements among the first tenth of the suspects."""
    n_wrong = N_STATEMENTS // 10
    for name in ("iris", "wine", "wdbc"):
        bunch = load(name)
        X, y = StandardScaler().fit_transform(bunch.data), bunch.target
        found = {"BoostedConstrainedKMeans": [], "TrustEnsemble": []}
        for draw in range(draws):
            known = conclust.sample_constraints(y, N_STATEMENTS, noise=0.1, random_state=draw)
            for method, values in found.items():
                model = getattr(conclust, method)(len(set(y)), random_state=draw)
                model.fit(X, constraints=known)
                values.append(model.suspects(n_wrong)["flipped"].sum() / n_wrong)
        figures = "  ".join(f"{method} {np.mean(v):.2f}" for method, v in found.items())
        print(f"{name:5} {figures}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parts = ("price", "trust", "suspects")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("method         wrong  NMI    ARI")
    if "price" in arguments.only:
        quality(lambda k, seed: conclust.PCKMeans(k, random_state=seed), arguments.draws)
    if "trust" in arguments.only:
        quality(lambda k, seed: conclust.TrustEnsemble(k, random_state=seed), arguments.draws)
    if "suspects" in arguments.only:
        suspects(arguments.draws)


if __name__ == "__main__":
    main()
