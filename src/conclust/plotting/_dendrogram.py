"""A hierarchy with the relative statements it keeps and breaks."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conclust.constraints import Constraints
from conclust.plotting._matplotlib import new_axes

KEPT, BROKEN, ABOVE = "#0072b2", "#d55e00", "#999999"
CLUSTERS = ["#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#5254a3", "#bd9e39", "#ad494a"]


def plot_dendrogram(
    model: Any, constraints: Constraints | None = None, *, n: int = 30, ax: Any = None
) -> Any:
    """Draw a hierarchy, and below it the statements ``ab|c`` as arcs from a to b with a dot at c.

    Parameters
    ----------
    model : ReCon
        Fitted.
    constraints : Constraints, default=None
        The relative statements to show; by default those of `fit`, what a repair dropped included.
    n : int, default=30
        How many at most; broken ones first.
    ax : matplotlib Axes, default=None
        A new figure by default.

    Returns
    -------
    matplotlib Axes
        Branches have the colour of their cluster. Solid arcs are statements that the hierarchy
        satisfies, dashed ones those it breaks.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import ReCon, sample_constraints
    >>> from conclust.plotting import plot_dendrogram
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, n_relative=40, random_state=0)
    >>> ax = plot_dendrogram(ReCon(3).fit(X, constraints=known))  # doctest: +SKIP
    """
    from scipy.cluster.hierarchy import dendrogram

    check_is_fitted(model, "children_")
    Z = model.linkage_matrix()
    if len(Z) == 0:
        raise ValueError("A hierarchy of one sample has nothing to draw; fit two or more.")
    ax = new_axes(ax, width=9.0, height=5.0)
    colors = _colors(model)
    drawn = dendrogram(Z, ax=ax, no_labels=len(Z) > 60, link_color_func=lambda v: colors[v])
    if constraints is None:
        constraints = model.constraints_ + model.dropped_
    triplets = constraints.relative
    holds = constraints.satisfied_by(Z)
    order = np.argsort(holds, kind="stable")[:n]
    x = np.empty(len(Z) + 1)
    x[drawn["leaves"]] = 5.0 + 10.0 * np.arange(len(x))
    top = float(Z[:, 2].max()) or 1.0
    for r in order:
        a, b, c = x[triplets[r]].tolist()
        _draw(ax, a, b, c, bool(holds[r]), top, 10.0 * len(x))
    ax.axhline(0, color=ABOVE, lw=0.5)
    ax.set(ylabel="distance", ylim=(-0.42 * top if len(order) else 0, 1.03 * top))
    ticks = [t for t in ax.get_yticks() if 0 <= t <= top]
    ax.set_yticks(ticks)
    if len(order):
        ax.plot([], [], color=KEPT, label=f"satisfied ({int(holds.sum())})")
        ax.plot([], [], color=BROKEN, ls="--", label=f"broken ({int((~holds).sum())})")
        ax.legend(fontsize=8, loc="upper right")
    return ax


def _colors(model: Any) -> list[str]:
    """The colour of each merge: that of the cluster all its samples are in, or grey."""
    n = len(model.children_) + 1
    cluster = np.full(2 * n - 1, -1)
    if hasattr(model, "labels_"):
        cluster[:n] = model.labels_
    for v, (a, b) in enumerate(model.children_):
        cluster[n + v] = cluster[a] if cluster[a] == cluster[b] else -1
    return [CLUSTERS[c % len(CLUSTERS)] if c >= 0 else ABOVE for c in cluster]


def _draw(ax: Any, a: float, b: float, c: float, holds: bool, top: float, width: float) -> None:
    """An arc from a to b below the leaves, and a thin line from its lowest point to c."""
    along = np.linspace(0, np.pi, 40)
    depth = top * (0.06 + 0.3 * abs(b - a) / width)
    style = {"color": KEPT if holds else BROKEN, "ls": "-" if holds else "--", "alpha": 0.8}
    ax.plot((a + b) / 2 - (b - a) / 2 * np.cos(along), -depth * np.sin(along), lw=1, **style)
    ax.plot([(a + b) / 2, c], [-depth, 0], lw=0.5, **{**style, "alpha": 0.4})
    ax.plot([c], [0], "o", ms=2.5, color=style["color"])
