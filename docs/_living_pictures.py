"""The pictures of the pages on verbs, known labels, living clusterings and the bridge.

python docs/_living_pictures.py      # writes docs/pictures/*.png; needs the extra `plot`
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conclust import (
    AutoCluster,
    Constraints,
    COPKMeans,
    Guided,
    match_labels,
    sample_constraints,
)
from conclust.datasets import load

FOLDER = Path(__file__).parent / "pictures"
COLORS = np.array(["#3b6fb6", "#d9822b", "#4a9c5d", "#a65aa0", "#8a6d3b", "#777777"])


def panel(axes, X, labels, title, known=None):
    """Rows in the colours of their clusters, statements as lines."""
    axes.scatter(*X.T, c=COLORS[labels], s=10, linewidths=0, alpha=0.8)
    for pairs, color in (
        ()
        if known is None
        else (
            (known.must_link, "black"),
            (known.cannot_link, "#cc2222"),
        )
    ):
        for a, b in pairs:
            axes.plot(*X[[a, b]].T, color=color, lw=0.7, alpha=0.7)
    axes.set_title(title, fontsize=9, loc="left")
    axes.set_xticks([])
    axes.set_yticks([])


def save(figure, name):
    """Write a picture."""
    FOLDER.mkdir(exist_ok=True)
    figure.tight_layout()
    figure.savefig(FOLDER / f"{name}.png", dpi=110, metadata={"Software": None})
    plt.close(figure)


def verbs():
    """Merge two clusters, split one, cluster again."""
    centers = [[0, 0], [4.5, 0], [0, 9], [9, 9]]
    X, _ = make_blobs([90, 90, 90, 90], centers=centers, cluster_std=1.1, random_state=0)
    first = COPKMeans(4, random_state=0).fit(X).labels_
    low = [first[((X - c) ** 2).sum(axis=1).argmin()] for c in centers[:2]]
    merged = Constraints().merge(*low, first, X)
    three = match_labels(COPKMeans(3, random_state=0).fit(X, constraints=merged).labels_, first)
    figure, axes = plt.subplots(1, 4, figsize=(11, 2.9))
    panel(axes[0], X, first, "four clusters; merge the lower two", merged)
    panel(axes[1], X, three, f"again, k = 3, {len(merged)} must-links")
    top = three[((X - centers[2]) ** 2).sum(axis=1).argmin()]
    split = merged.split(top, three, X)
    four = match_labels(COPKMeans(4, random_state=0).fit(X, constraints=split).labels_, three)
    panel(axes[2], X, three, "split the upper left", split[len(merged) :])
    panel(axes[3], X, four, "again, k = 4: both hold")
    save(figure, "verbs")


def known_labels():
    """Long clusters, without and with a few labels."""
    random_state = np.random.RandomState(0)
    X = np.vstack([random_state.normal(size=(150, 2)) * [5, 0.7] + [0, 2.2 * i] for i in range(3)])
    y = np.repeat([0, 1, 2], 150)
    partly = np.where(random_state.uniform(size=450) < 0.1, y, -1)
    partly[y == 2] = -1
    given = np.flatnonzero(partly >= 0)
    figure, axes = plt.subplots(1, 3, figsize=(10, 3))
    panel(axes[0], X, AutoCluster(3, random_state=0).fit(X).labels_, "AutoCluster(3).fit(X)")
    panel(axes[1], X, np.where(partly < 0, 5, partly), f"{len(given)} labels of two classes")
    axes[1].scatter(*X[given].T, c=COLORS[partly[given]], s=40, edgecolors="black")
    found = AutoCluster(3, random_state=0).fit(X, partly).labels_
    panel(axes[2], X, found, "fit(X, y): the third class appears")
    save(figure, "known_labels")


def living():
    """New rows and a statement, what changes."""
    centers = [[0, 0], [6, 0], [3, 6]]
    X, _ = make_blobs(300, centers=centers, cluster_std=1.3, random_state=3)
    new, _ = make_blobs(60, centers=[[8, 6]], cluster_std=0.8, random_state=4)
    model = COPKMeans(3, random_state=0).fit(X)
    figure, axes = plt.subplots(1, 3, figsize=(10, 3))
    panel(axes[0], X, model.labels_, "fit(X)")
    model.update(new)
    both = np.vstack([X, new])
    panel(axes[1], both, model.labels_, "update(X_new): old rows stay")
    label = model.labels_[-1]
    split = Constraints().split(label, model.labels_, both, rows=np.arange(300, 360))
    model.update(constraints_new=split, n_clusters=4)
    panel(axes[2], both, model.labels_, "update(constraints_new=split)")
    rows = model.changes_["row"].to_numpy()
    axes[2].scatter(*both[rows].T, s=28, facecolors="none", edgecolors="black", linewidths=0.4)
    save(figure, "living")


def bridge():
    """A pipeline that knows nothing of statements, without and with them."""
    bunch = load("iris")
    X, y = np.asarray(bunch.data, float), np.unique(bunch.target, return_inverse=True)[1]
    known = sample_constraints(y, 60, random_state=0)
    figure, axes = plt.subplots(1, 2, figsize=(7, 3))
    points = make_pipeline(StandardScaler(), PCA(2)).fit_transform(X)
    for axis, step, title in (
        (axes[0], AutoCluster(3, random_state=0), "AutoCluster(3)"),
        (axes[1], Guided(AutoCluster(3, random_state=0), known), "Guided(AutoCluster(3), known)"),
    ):
        labels = make_pipeline(StandardScaler(), PCA(2), step).fit(X, y)[-1].labels_
        kept = known.satisfied(labels).sum()
        panel(axis, points, labels, f"{title}: {kept} of {len(known)} kept")
    save(figure, "bridge")


if __name__ == "__main__":
    for draw in (verbs, known_labels, living, bridge):
        draw()
