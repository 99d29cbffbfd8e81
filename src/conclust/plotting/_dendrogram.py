"""A hierarchy with the relative statements it keeps and breaks."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conclust._tree_layout import Layout, lay_out, names_of, spread
from conclust.constraints import Constraints
from conclust.plotting._colors import color
from conclust.plotting._matplotlib import new_axes

KEPT, BROKEN, ABOVE = "#222222", "#d55e00", "#999999"

WIDTH_OF_NAME = 0.11  # inches, of a name of 7 points that stands on end


def plot_dendrogram(
    model: Any,
    constraints: Constraints | None = None,
    *,
    names: Any = None,
    n: int = 30,
    max_leaves: int = 500,
    ax: Any = None,
) -> Any:
    """Draw a hierarchy, and below it the statements ``ab|c`` as arcs from a to b with a dot at c.

    Parameters
    ----------
    model : ReCon
        Fitted.
    constraints : Constraints, default=None
        The relative statements to show; by default those of `fit`, what a repair dropped included.
    names : sequence, default=None
        One for each sample, written at the leaves; by default the ids that the statements know,
        else positions. Of more than fit every second is written, or every third, and so on.
    n : int, default=30
        How many statements at most: broken ones first, then one for each branching from the top
        down, so that they are spread over the hierarchy.
    max_leaves : int, default=500
        Of more samples branches are drawn as one leaf that says how many it holds.
    ax : matplotlib Axes, default=None
        A new figure by default.

    Returns
    -------
    matplotlib Axes
        Branches have the colour of their cluster. Solid arcs are statements that the hierarchy
        satisfies, dashed ones those it breaks. A branch whose distance is smaller than that of one
        of its parts, which centroids and statements bring about, is drawn as high as that part.

    See Also
    --------
    conclust.ReCon : Grows the tree.
    plot_constraints : Rows in the plane, and statements of all kinds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import ReCon, sample_constraints
    >>> from conclust.plotting import plot_dendrogram
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, n_relative=40, random_state=0)
    >>> ax = plot_dendrogram(ReCon(3).fit(X, constraints=known))  # doctest: +SKIP
    """
    check_is_fitted(model, "children_")
    if len(model.children_) == 0:
        raise ValueError("A hierarchy of one sample has nothing to draw; fit two or more.")
    names = names_of(model, names)
    ax = new_axes(ax, width=9.0, height=5.0)
    layout = lay_out(model.children_, model.distances_, getattr(model, "labels_", None), max_leaves)
    _draw_branches(ax, layout)
    if constraints is None:
        constraints = model.constraints_ + model.dropped_
    triplets = constraints.relative
    holds = constraints.satisfied_by(model.children_)
    chosen = spread(model.children_, triplets, np.flatnonzero(~holds), n)
    top = float(layout.height[-1]) or 1.0
    for r in chosen:
        a, b, c = layout.place[triplets[r]].tolist()
        _draw(ax, a, b, c, bool(holds[r]), top, float(len(layout.ends)))
    ax.axhline(0, color=ABOVE, lw=0.5)
    ax.set(
        ylabel="distance",
        xlim=(-1, len(layout.ends)),
        ylim=(-0.42 * top if len(chosen) else 0, 1.03 * top),
    )
    ax.set_yticks([t for t in ax.get_yticks() if 0 <= t <= top])
    _write_names(ax, layout, names)
    if len(chosen):
        ax.plot([], [], color=KEPT, label=f"satisfied ({int(holds.sum())})")
        ax.plot([], [], color=BROKEN, ls="--", label=f"broken ({int((~holds).sum())})")
        ax.legend(fontsize=8, loc="upper right")
    return ax


def _draw_branches(ax: Any, layout: Layout) -> None:
    """A bracket for each merge, in the colour of its cluster."""
    from matplotlib.collections import LineCollection

    x, height = layout.place, layout.height
    brackets = [
        [(x[a], height[a]), (x[a], height[node]), (x[b], height[node]), (x[b], height[b])]
        for node, (a, b) in zip(layout.merges, layout.parts, strict=True)
    ]
    clusters = layout.cluster[layout.merges]
    colors = [color(c) if c >= 0 else ABOVE for c in clusters]
    ax.add_collection(LineCollection(brackets, colors=colors, linewidths=1))


def _write_names(ax: Any, layout: Layout, names: list[Any]) -> None:
    """Write as many names as there is room for, and say so."""
    room = ax.get_window_extent().width / ax.figure.dpi / WIDTH_OF_NAME
    step = max(1, int(np.ceil(len(layout.ends) / max(room, 1))))
    shown = slice(None, None, step)
    texts = [
        str(names[end]) if end < len(names) else f"{size:,} rows"
        for end, size in zip(layout.ends[shown], layout.sizes[shown], strict=True)
    ]
    ax.set_xticks(
        layout.place[layout.ends[shown]], texts, rotation=90, fontsize=7, parse_math=False
    )
    said = []
    if len(layout.ends) < len(names):
        said.append(f"{len(names):,} rows in {len(layout.ends):,} branches")
    if step > 1:
        leaves = "names" if len(layout.ends) == len(names) else "of these named"
        said.append(f"{len(texts):,} of {len(layout.ends):,} {leaves}, one leaf in {step}")
    if said:
        ax.set_xlabel("; ".join(said), fontsize=8)


def _draw(ax: Any, a: float, b: float, c: float, holds: bool, top: float, width: float) -> None:
    """An arc from a to b below the leaves, and a thin line from its lowest point to c."""
    along = np.linspace(0, np.pi, 40)
    depth = top * (0.06 + 0.3 * abs(b - a) / width)
    style = {"color": KEPT if holds else BROKEN, "ls": "-" if holds else "--", "alpha": 0.8}
    ax.plot((a + b) / 2 - (b - a) / 2 * np.cos(along), -depth * np.sin(along), lw=1, **style)
    ax.plot([(a + b) / 2, c], [-depth, 0], lw=0.5, **{**style, "alpha": 0.4})
    ax.plot([c], [0], "o", ms=2.5, color=style["color"])
