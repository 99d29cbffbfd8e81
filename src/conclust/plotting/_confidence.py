"""How sure a clustering is of each two rows, as a square."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conclust._arrays import IntArray, brought_here
from conclust.plotting._colors import APART, TOGETHER
from conclust.plotting._matplotlib import new_axes


def plot_confidence(model: Any, *, n: int = 200, random_state: int = 0, ax: Any = None) -> Any:
    """Draw how sure a model is that two rows belong together, cluster by cluster.

    Parameters
    ----------
    model : estimator
        Fitted, with `labels_` and ``confidence(pairs)``: :class:`~conclust.AutoCluster` and the
        ensembles.
    n : int, default=200
        How many rows at most; of more, so many at random from each cluster as is its share.
    random_state : int, default=0
        Of the rows drawn, where not all are.
    ax : matplotlib Axes, default=None
        A new figure by default.

    Returns
    -------
    matplotlib Axes
        Rows in the order of their clusters, within each the surest first. Blue: together, orange:
        apart, white: nobody knows. Whole blue squares along the diagonal in an orange field are
        clusters without doubt. The title says how many rows are drawn.

    See Also
    --------
    plot_doubt : The same question about statements.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import ConstrainedKMeansEnsemble, sample_constraints
    >>> from conclust.plotting import plot_confidence
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 60, random_state=0)
    >>> model = ConstrainedKMeansEnsemble(3, n_estimators=20, random_state=0)
    >>> ax = plot_confidence(model.fit(X, constraints=known))  # doctest: +SKIP
    """
    check_is_fitted(model)
    if not hasattr(model, "confidence"):
        raise TypeError(
            f"{type(model).__name__} does not say how sure it is of pairs; pass a fitted "
            "AutoCluster, or an ensemble such as ConstrainedKMeansEnsemble."
        )
    labels = np.asarray(brought_here(model.labels_))
    rows = _some_of_each(labels, n, np.random.RandomState(random_state))
    pairs = np.stack(np.meshgrid(rows, rows, indexing="ij"), axis=-1).reshape(-1, 2)
    square = np.asarray(model.confidence(pairs)).reshape(len(rows), len(rows))
    order = _surest_first(square, labels[rows])
    ax = new_axes(ax, width=5.6, height=4.8)
    _draw_square(ax, square[np.ix_(order, order)], labels[rows[order]])
    drawn = f"{len(rows):,}" if len(rows) == len(labels) else f"{len(rows):,} of {len(labels):,}"
    ax.set_title(f"How sure is each pair of {drawn} rows?", fontsize=10)
    return ax


def _some_of_each(labels: IntArray, n: int, rng: np.random.RandomState) -> IntArray:
    """At most n rows, of each cluster its share but one at least."""
    if len(labels) <= n:
        return np.arange(len(labels))
    chosen = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        size = max(1, int(n * len(members) / len(labels)))
        chosen.append(rng.choice(members, size, replace=False))
    return np.sort(np.concatenate(chosen))


def _surest_first(square: Any, labels: IntArray) -> IntArray:
    """Cluster by cluster; within each, rows that are surely with the others of it first."""
    same = labels[:, None] == labels[None, :]
    mean = np.where(same, square, 0).sum(axis=1) / same.sum(axis=1)
    return np.lexsort((-mean, labels))


def _draw_square(ax: Any, square: Any, labels: IntArray) -> None:
    """The square, white lines between clusters, their numbers along two sides."""
    from matplotlib.colors import LinearSegmentedColormap

    colors = LinearSegmentedColormap.from_list("sure", [APART, "#ffffff", TOGETHER])
    image = ax.imshow(square, cmap=colors, vmin=-1, vmax=1, interpolation="nearest")
    names, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    for edge in first[1:] - 0.5:
        ax.axhline(edge, color="#222222", lw=0.8)
        ax.axvline(edge, color="#222222", lw=0.8)
    middle = first + (sizes - 1) / 2
    said = ["none" if name == -1 else str(name) for name in names]
    ax.set_xticks(middle, said)
    ax.set_yticks(middle, said)
    ax.set(xlabel="cluster", ylabel="cluster")
    bar = ax.figure.colorbar(image, ax=ax, ticks=[-1, 0, 1], shrink=0.8)
    bar.ax.set_yticklabels(["apart", "unsure", "together"])
