"""The hierarchy of a clustering as a drawing for the page."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conclust._tree_layout import Layout, lay_out, names_of, spread
from conclust.constraints import Constraints
from conclust.reporting._html import clean, color, cut, text

WIDTH, ROW, MARGIN = 1000, 16, 14  # units of the drawing; a row for each leaf
TREE, NAMES, STATEMENTS = 480, 492, 730  # where the tree ends, names and statements begin
NAME = 36  # characters of a name
KEPT, BROKEN = "#4a5568", "#b3001b"


def dendrogram_svg(
    model: Any,
    *,
    names: Any = None,
    constraints: Constraints | None = None,
    max_leaves: int = 200,
    max_statements: int = 30,
) -> str:
    """Draw a fitted hierarchy with its clusters' colours, names and some statements.

    Parameters
    ----------
    model : ReCon
        Fitted on two samples or more.
    names : sequence, default=None
        One for each sample; by default the ids that the statements know, else positions.
    constraints : Constraints, default=None
        Whose relative statements are drawn; by default those of `fit`.
    max_leaves : int, default=200
        Of more samples branches are drawn as one leaf that says how many it holds.
    max_statements : int, default=30
        Broken ones first, then spread over the hierarchy.

    Returns
    -------
    str
        An ``<svg>`` element, escaped and self-contained.

    See Also
    --------
    conclust.plotting.plot_dendrogram : The same with matplotlib.

    Examples
    --------
    >>> from conclust import Constraints, ReCon
    >>> from conclust.reporting import dendrogram_svg
    >>> known = Constraints(relative=[(0, 1, 2)])
    >>> model = ReCon(2).fit([[0.0], [1.0], [5.0]], constraints=known)
    >>> dendrogram_svg(model, names=["ant", "bee", "cat"])
    '<svg class="tree"...>bee<...</svg>'
    """
    check_is_fitted(model, "children_")
    names = names_of(model, names)
    if constraints is None:
        constraints = model.constraints_ + model.dropped_
    labels = getattr(model, "labels_", None)
    layout = lay_out(model.children_, model.distances_, labels, max_leaves)
    statements, n_drawn = _statements(model, layout, names, constraints, max_statements)
    height = 2 * MARGIN + ROW * len(layout.ends)
    said = _said(layout, len(names), len(constraints.relative), n_drawn)
    return (
        f'<svg class="tree" viewBox="0 0 {WIDTH} {height}" role="img" font-size="11" '
        f'font-family="sans-serif" fill="none"><title>The hierarchy</title>'
        f"<desc>{text(said)}</desc>{_branches(layout)}{_leaves(layout, names)}{statements}</svg>"
    )


def _said(layout: Layout, n: int, n_relative: int, n_drawn: int) -> str:
    said = f"{n:,} samples"
    if len(layout.ends) < n:
        said += f", drawn as {len(layout.ends):,} branches"
    if n_relative:
        said += (
            f"; {n_drawn:,} of {n_relative:,} relative statements are drawn, a column each: "
            "dots at the two that are closer, a ring at the third"
        )
    return f"{said}. A branch is drawn no lower than its parts."


def _x(layout: Layout, node: int) -> float:
    top = float(layout.height[-1]) or 1.0
    return MARGIN + (TREE - MARGIN) * (1 - float(layout.height[node]) / top)


def _y(layout: Layout, node: int) -> float:
    return MARGIN + ROW * (float(layout.place[node]) + 0.5)


def _branches(layout: Layout) -> str:
    """A bracket for each merge, a line from each end to its name; one path for each colour."""
    paths: dict[int, list[str]] = {}
    for node, (a, b) in zip(layout.merges.tolist(), layout.parts.tolist(), strict=True):
        line = (
            f"M{_x(layout, a):.1f},{_y(layout, a):.1f}H{_x(layout, node):.1f}"
            f"V{_y(layout, b):.1f}H{_x(layout, b):.1f}"
        )
        paths.setdefault(int(layout.cluster[node]), []).append(line)
    folded = layout.ends[layout.sizes > 1]
    for node in folded.tolist():
        x, y = _x(layout, node), _y(layout, node)
        wedge = f"M{x:.1f},{y:.1f}L{TREE},{y - ROW / 3:.1f}V{y + ROW / 3:.1f}Z"
        paths.setdefault(int(layout.cluster[node]), []).append(wedge)
    return "".join(
        f'<path stroke="{color(cluster)}" d="{"".join(lines)}"/>'
        for cluster, lines in sorted(paths.items())
    )


def _leaves(layout: Layout, names: list[Any]) -> str:
    """The name at each end, in the colour of its cluster."""
    written = []
    for node, size in zip(layout.ends.tolist(), layout.sizes.tolist(), strict=True):
        more = f" and {size - 1:,} more" if size > 1 else ""
        name = text(cut(clean(names[layout.one[node]]), NAME - len(more)) + more)
        fill, y = color(int(layout.cluster[node])), _y(layout, node) + 4
        written.append(f'<text x="{NAMES}" y="{y:.1f}" fill="{fill}">{name}</text>')
    return "".join(written)


def _statements(
    model: Any, layout: Layout, names: list[Any], constraints: Constraints, n: int
) -> tuple[str, int]:
    """A column for each of some statements: dots at a and b, joined, and a ring at c."""
    triplets = constraints.relative
    holds = constraints.satisfied_by(model.children_)
    y = MARGIN + ROW * (layout.place[triplets] + 0.5)
    # Inside one branch that is drawn as a leaf there is nothing to see.
    seen = np.flatnonzero(y.min(axis=1) < y.max(axis=1))
    broken = np.flatnonzero(~holds[seen])
    chosen = seen[spread(model.children_, triplets[seen], broken, n)]
    written = []
    for x, r in zip(
        np.linspace(STATEMENTS, WIDTH - MARGIN, max(n, 2)), chosen.tolist(), strict=False
    ):
        a, b, c = y[r].tolist()
        near = min(a, b, key=lambda end: abs(end - c))
        stroke, dash = (KEPT, "") if holds[r] else (BROKEN, ' stroke-dasharray="4 3"')
        told = " and ".join(str(names[i]) for i in triplets[r, :2])
        told += f" are closer than {names[triplets[r, 2]]}: {'kept' if holds[r] else 'broken'}"
        dots = "".join(f'<circle cx="{x:.1f}" cy="{end:.1f}" r="2"/>' for end in (a, b))
        written.append(
            f'<g stroke="{stroke}"{dash}><title>{text(told)}</title>'
            f'<path stroke-width="2" d="M{x:.1f},{a:.1f}V{b:.1f}"/><g fill="{stroke}">{dots}</g>'
            f'<path stroke-opacity=".4" d="M{x:.1f},{near:.1f}V{c:.1f}"/>'
            f'<circle cx="{x:.1f}" cy="{c:.1f}" r="2.5" fill="#fff"/></g>'
        )
    return "".join(written), len(chosen)
