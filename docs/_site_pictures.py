"""The pictures of the landing page and of the page on choosing a method.

    python -m docs._site_pictures    draws pictures/landing_*.png and pictures/which_method.png

The second is drawn from ``reproduction/leaderboard/results.csv``.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from reproduction.leaderboard import DATASETS
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from conclust import AutoCluster, Constraints, match_labels, sample_constraints

mpl.use("Agg")

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
RESULTS = HERE.parent / "reproduction" / "leaderboard" / "results.csv"
COLORS = np.array(["#0072b2", "#d55e00", "#009e73"])
MARKERS = ("o", "s", "^")
INK = "#222222"
NAMES = {
    "Auto": "AutoCluster",
    "BCKM": "BoostedConstrainedKMeans",
    "CKM": "ConstrainedKMeans",
    "COP": "COPKMeans",
    "DistBoost": "DistBoost, then k-means",
    "DistBoost, PCK": "DistBoost, then PCKMeans",
    "Doubt": "mixture that doubts",
    "Generalized": "GeneralizedKMeans",
    "ITML": "ITML, then k-means",
    "ITML, PCK": "ITML, then PCKMeans",
    "Mixture": "mixture, hard",
    "RCKM": "ConstrainedKMeansEnsemble",
    "SSKK": "kernel k-means",
    "SpectralLearn": "SpectralLearning",
    "Trust": "TrustEnsemble",
    "k-means": "k-means, told nothing",
}
AMOUNTS = {0.01: "one statement for 20 rows", 0.05: "one for 4 rows", 0.2: "one for each row"}
TOGETHER, APART = COLORS[0], "#b00020"


def stripes() -> tuple[np.ndarray, np.ndarray]:
    """Three long clusters side by side, which k-means cuts across."""
    random_state = np.random.RandomState(3)
    y = np.repeat([0, 1, 2], 70)
    along, across = random_state.normal(size=(2, len(y)))
    X = np.column_stack([2.6 * along, 1.9 * y + 0.38 * across])
    turn = np.array([[np.cos(0.5), np.sin(0.5)], [-np.sin(0.5), np.cos(0.5)]])
    return X @ turn, y


def show(axes: Any, X: np.ndarray, labels: np.ndarray, title: str) -> None:
    """Rows in the colour and shape of their cluster."""
    for number, (color, marker) in enumerate(zip(COLORS, MARKERS, strict=True)):
        axes.scatter(*X[labels == number].T, c=color, marker=marker, s=16, linewidths=0)
    finish(axes, title)


def finish(axes: Any, title: str) -> None:
    axes.set_title(title, fontsize=12, color=INK, loc="left")
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_color("#d0d4d8")


def show_statements(axes: Any, X: np.ndarray, known: Constraints) -> None:
    """Grey rows, the statements as lines."""
    axes.scatter(*X.T, c="#c4c8cc", s=12, linewidths=0)
    kinds = {
        "together": (known.must_link, TOGETHER, "-"),
        "apart": (known.cannot_link, APART, "--"),
    }
    for name, (pairs, color, line) in kinds.items():
        axes.plot([], [], line, color=color, label=name)
        for pair in pairs:
            axes.plot(*X[pair].T, line, color=color, linewidth=1.8)
            axes.scatter(*X[pair].T, c=color, s=18, zorder=3)
    finish(axes, f"{len(known)} statements")
    axes.legend(loc="lower right", frameon=False, fontsize=9, labelcolor=INK)


def landing() -> dict[str, Any]:
    """Rows told nothing, what was said, and what became of it."""
    X, y = stripes()
    known = sample_constraints(y, n_must_link=6, n_cannot_link=6, random_state=1)
    plain = match_labels(KMeans(3, n_init=10, random_state=0).fit_predict(X), y)
    model = AutoCluster(3, random_state=0).fit(X, constraints=known)
    told = match_labels(model.labels_, y)
    figures = {f"landing_{number}": panel() for number in (1, 2, 3)}
    axes = [figure.axes[0] for figure in figures.values()]
    show(axes[0], X, plain, f"told nothing: agreement {adjusted_rand_score(y, plain):.2f}")
    show_statements(axes[1], X, known)
    show(axes[2], X, told, f"told: agreement {adjusted_rand_score(y, told):.2f}")
    return figures


def panel() -> Any:
    return plt.subplots(figsize=(4.2, 3.4), layout="constrained")[0]


def leaderboard() -> pd.DataFrame:
    """Mean quality over the papers' data sets: a line for each method, the worst first."""
    rows = pd.read_csv(RESULTS)
    cells = rows[rows["dataset"].isin(DATASETS)].groupby(["method", "share", "noise", "dataset"])
    means = cells["nmi"].mean().groupby(["method", "share", "noise"]).mean()
    table = means.unstack(["share", "noise"])
    return table.loc[table.mean(axis=1).sort_values().index]


def which_method() -> dict[str, Any]:
    """Each method's quality with true statements and with a fifth of them wrong."""
    means = leaderboard()
    height = np.arange(len(means))
    how = {"sharex": True, "sharey": True, "layout": "constrained"}
    figure, axes = plt.subplots(1, 3, figsize=(11, 6.4), **how)
    for panel, (share, amount) in zip(axes, AMOUNTS.items(), strict=True):
        true, wrong = means[share, 0.0], means[share, 0.2]
        panel.axvline(true["k-means"], color="#9aa0a6", linewidth=1, linestyle=":")
        panel.hlines(height, wrong, true, color="#c4c8cc", linewidth=3)
        panel.scatter(true, height, c=COLORS[0], s=42, zorder=3, label="all true")
        hollow = {"facecolors": "white", "edgecolors": COLORS[1], "linewidths": 1.8}
        panel.scatter(wrong, height, marker="D", s=34, zorder=3, label="a fifth wrong", **hollow)
        panel.set_title(amount, fontsize=12, color=INK, loc="left")
        panel.set_yticks(height, [NAMES.get(name, name) for name in means.index], color=INK)
        panel.grid(axis="x", color="#eceff1")
        panel.spines[["top", "right", "left"]].set_visible(False)
        panel.tick_params(length=0)
    axes[1].set_xlabel("mean normalised mutual information with the classes, 21 data sets")
    axes[0].legend(loc="lower right", frameon=False, labelcolor=INK)
    return {"which_method": figure}


def main(folder: Path = HERE / "pictures") -> None:
    """Draw them all."""
    for name, figure in (landing() | which_method()).items():
        figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
