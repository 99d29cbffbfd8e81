"""What doubting statements is worth, and whether their rates and the wrong ones are found.

    python benchmarks/doubt.py [--draws 5] [--covariance tied]

300 random statements on standardised data, a share of them wrong: normalised mutual information of
plain k-means, PCKMeans, the doubting mixture and AutoCluster; of the last two, how far the
estimated rates are off, and the share of wrong statements among as many suspects as there are
wrong ones.
"""

import argparse

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import normalized_mutual_info_score as nmi
from sklearn.preprocessing import scale

from conclust import AutoCluster, ConstrainedGaussianMixture, PCKMeans, sample_constraints

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
N_STATEMENTS = 300


def one(X, y, wrong, draw, covariance_type):
    """Figures of one draw: four qualities; then, of both that doubt, what `found_out` says."""
    k = len(set(y))
    told = sample_constraints(y, N_STATEMENTS, noise=wrong, random_state=draw)
    plain = KMeans(k, n_init=10, random_state=draw).fit(X)
    soft = PCKMeans(k, random_state=draw).fit(X, constraints=told)
    mixture = ConstrainedGaussianMixture(
        k, covariance_type=covariance_type, flip_rate="auto", random_state=draw
    ).fit(X, constraints=told)
    auto = AutoCluster(k, random_state=draw).fit(X, constraints=told)
    quality = [nmi(y, model.labels_) for model in (plain, soft, mixture, auto)]
    return (*quality, *found_out(mixture, told, y), *found_out(auto, told, y))


def found_out(model, told, y):
    """How far its two rates are off, and the share of wrong statements among its suspects."""
    flipped, must = ~told.satisfied(y), told.kinds == "must-link"
    n_wrong = int(flipped.sum())
    suspects = model.suspects(n_wrong)["statement"].to_numpy() if n_wrong else []
    return (
        abs(model.flip_rate_[0] - flipped[must].mean()),
        abs(model.flip_rate_[1] - flipped[~must].mean()),
        flipped[suspects].mean() if n_wrong else np.nan,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--covariance", default="tied")
    args = parser.parse_args()
    print(
        "| | wrong | k-means | PCKMeans | doubting mixture | rates off by | suspects wrong "
        "| AutoCluster | rates off by | suspects wrong |"
    )
    print("|---" * 10 + "|")
    for name, load in SETS.items():
        X, y = load(return_X_y=True)
        for wrong in (0.0, 0.1, 0.2):
            rows = [one(scale(X), y, wrong, draw, args.covariance) for draw in range(args.draws)]
            plain, soft, mixture, auto, *found = np.mean(rows, axis=0)
            cells = [
                f"{quality:.2f} | {must:.2f} / {cannot:.2f} | "
                + ("" if np.isnan(precision) else f"{precision:.2f}")
                for quality, (must, cannot, precision) in zip(
                    (mixture, auto), np.reshape(found, (2, 3)), strict=True
                )
            ]
            print(f"| {name} | {wrong:.0%} | {plain:.2f} | {soft:.2f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
