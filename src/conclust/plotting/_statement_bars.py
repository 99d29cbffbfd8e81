"""Statements as bars, by one number of each."""

from typing import Any

from conclust.plotting._colors import APART, GREY, RELATIVE, TOGETHER
from conclust.plotting._matplotlib import new_axes

COLORS = {"must-link": TOGETHER, "cannot-link": APART, "relative": RELATIVE}
BROKEN = "////"


def draw_bars(table: Any, values: Any, kept: Any, ax: Any = None) -> Any:
    """A bar for each row of a table of statements, the first on top; broken ones are hatched.

    Parameters
    ----------
    table : DataFrame
        With `a`, `b`, `type` and maybe `c`, as `Constraints.to_frame` has them.
    values : array-like of shape (len(table),)
    kept : array-like of bool, shape (len(table),)
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib Axes
    """
    ax = new_axes(ax, height=1.2 + 0.24 * len(table))
    kinds = list(table["type"])
    bars = ax.barh(
        range(len(table)),
        values,
        color=[COLORS.get(kind, GREY) for kind in kinds],
        edgecolor="white",
    )
    for bar, holds in zip(bars, kept, strict=True):
        bar.set_hatch("" if holds else BROKEN)
    names = [_name(row) for row in table.to_dict("records")]
    ax.set_yticks(range(len(table)), names, fontsize=8, parse_math=False)
    ax.invert_yaxis()
    for kind in dict.fromkeys(kinds):
        ax.barh([0], [0], color=COLORS.get(kind, GREY), label=kind)
    if not all(kept):
        ax.barh([0], [0], color="#bbbbbb", hatch=BROKEN, label="broken", edgecolor="white")
    if kinds:
        ax.legend(fontsize=8, loc="lower right")
    return ax


def _name(row: dict[str, Any]) -> str:
    if row["type"] == "relative":
        return f"{row['a']}, {row['b']} | {row['c']}"
    return f"{row['a']} – {row['b']}"
