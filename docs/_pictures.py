"""The pictures of the pages on directions, sizes and outliers.

python docs/_pictures.py    draws cosine.png, sizes.png and outliers.png beside this file
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.datasets import make_blobs

from conclust import Constraints, COPKMeans, PCKMeans

mpl.use("Agg")

import matplotlib.pyplot as plt

COLORS = np.array(["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#999999"])
HERE = Path(__file__).parent


def scatter(axes: Any, X: np.ndarray, labels: np.ndarray, title: str) -> None:
    """Rows in the colour of their cluster; those in none as grey crosses."""
    inside = labels >= 0
    axes.scatter(*X[inside].T, c=COLORS[labels[inside]], s=9, linewidths=0)
    axes.scatter(*X[~inside].T, c=COLORS[-1], s=14, marker="x", linewidths=0.8)
    axes.set_title(title, fontsize=9)
    axes.set_xticks([])
    axes.set_yticks([])


def cosine(left: Any, right: Any) -> None:
    """Three directions, rows of all lengths."""
    rng = np.random.RandomState(0)
    angle = rng.choice([0.3, 0.9, 1.4], 240) + rng.normal(scale=0.07, size=240)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.gamma(2.0, 1.0, (240, 1))
    for axes, metric in ((left, "euclidean"), (right, "cosine")):
        model = PCKMeans(3, metric=metric, random_state=0).fit(X)
        scatter(axes, X, model.labels_, f'metric="{metric}"')


def sizes(left: Any, right: Any) -> None:
    """Unequal clusters, and what equal sizes make of them, with a cannot-link drawn in."""
    X, _ = make_blobs([170, 40, 30], centers=[(0, 0), (4, 2), (4, -2)], random_state=0)
    known = Constraints(cannot_link=[(0, 1)])
    scatter(left, X, COPKMeans(3, random_state=0).fit(X, constraints=known).labels_, "no sizes")
    even = COPKMeans(3, size_min=75, size_max=85, random_state=0).fit(X, constraints=known)
    scatter(right, X, even.labels_, "size_min=75, size_max=85")
    for axes in (left, right):
        axes.plot(*X[[0, 1]].T, "k:", linewidth=1)


def outliers(left: Any, right: Any) -> None:
    """Three clusters and rows from everywhere."""
    X, _ = make_blobs(240, centers=[(-5, -4), (5, -4), (0, 5)], random_state=0)
    X = np.vstack([X, np.random.RandomState(0).uniform(-14, 14, (24, 2))])
    X = np.vstack([X, [[30, 26], [31, 27], [29, 27]]])
    for axes, share in ((left, None), (right, "auto")):
        model = PCKMeans(3, outliers=share, random_state=0).fit(X)
        scatter(axes, X, model.labels_, f"outliers={share!r}")


PICTURES: dict[str, Callable[[Any, Any], None]] = {
    "cosine": cosine,
    "sizes": sizes,
    "outliers": outliers,
}


def main() -> None:
    """Draw them all."""
    for name, draw in PICTURES.items():
        figure, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
        draw(*axes)
        figure.savefig(HERE / f"{name}.png", dpi=110, metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
