"""The picture of the page on the number of clusters.

python docs/_number_of_clusters.py    draws number_of_clusters.png beside this file
"""

from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_digits

from conclust import sample_constraints
from conclust.model_selection import choose_n_clusters

mpl.use("Agg")

import matplotlib.pyplot as plt


def main() -> None:
    """Draw the share of statements broken against the number of clusters."""
    X, y = load_digits(return_X_y=True)
    told = sample_constraints(y, 300, random_state=0)
    curve = choose_n_clusters(X, told, n_clusters_range=(2, 30), random_state=0)
    tried = curve.frame().dropna(subset=["kept"])
    figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for name, style, color, label in (
        ("must_apart", "-o", "#0072b2", "must-links broken"),
        ("cannot_together", "--s", "#d55e00", "cannot-links broken"),
    ):
        axes.plot(tried["n_clusters"], 100 * tried[name], style, ms=4, color=color, label=label)
    axes.axvline(curve.chosen, color="#999999", lw=2, label=f"chosen: {curve.chosen}")
    axes.set_xlabel("number of clusters")
    axes.set_ylabel("% of the statements")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(Path(__file__).with_name("number_of_clusters.png"), dpi=110)


if __name__ == "__main__":
    main()
