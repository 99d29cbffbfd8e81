"""What doubting statements is worth, and whether their rates and the wrong ones are found.

    python benchmarks/doubt.py [--draws 5] [--covariance tied]

300 random statements on standardised data, a share of them wrong: normalised mutual information of
plain k-means, PCKMeans and the doubting mixture; how far the estimated rates are off; and the share
of wrong statements among as many suspects as there are wrong ones.
"""

import argparse

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import normalized_mutual_info_score as nmi
from sklearn.preprocessing import scale

from conclust import ConstrainedGaussianMixture, PCKMeans, sample_constraints

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
N_STATEMENTS = 300


def one(X, y, wrong, draw, covariance_type):
    """Figures of one draw: three qualities, two errors of rates, precision of suspects."""
    k = len(set(y))
    told = sample_constraints(y, N_STATEMENTS, noise=wrong, random_state=draw)
    flipped = ~told.satisfied(y)
    must = told.kinds == "must-link"
    plain = KMeans(k, n_init=10, random_state=draw).fit(X)
    soft = PCKMeans(k, random_state=draw).fit(X, constraints=told)
    model = ConstrainedGaussianMixture(
        k, covariance_type=covariance_type, flip_rate="auto", random_state=draw
    ).fit(X, constraints=told)
    n_wrong = int(flipped.sum())
    suspects = model.suspects(n_wrong)["statement"].to_numpy() if n_wrong else []
    return (
        *(nmi(y, m.labels_) for m in (plain, soft, model)),
        abs(model.flip_rate_[0] - flipped[must].mean()),
        abs(model.flip_rate_[1] - flipped[~must].mean()),
        flipped[suspects].mean() if n_wrong else np.nan,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--covariance", default="tied")
    args = parser.parse_args()
    print("| | wrong | k-means | PCKMeans | doubting mixture | rates off by | suspects wrong |")
    print("|---|---|---|---|---|---|---|")
    for name, load in SETS.items():
        X, y = load(return_X_y=True)
        for wrong in (0.0, 0.1, 0.2):
            rows = [one(scale(X), y, wrong, draw, args.covariance) for draw in range(args.draws)]
            a, b, c, must, cannot, found = np.mean(rows, axis=0)
            precision = "" if np.isnan(found) else f"{found:.2f}"
            print(
                f"| {name} | {wrong:.0%} | {a:.2f} | {b:.2f} | {c:.2f} "
                f"| {must:.2f} / {cannot:.2f} | {precision} |"
            )


if __name__ == "__main__":
    main()
