"""What every part of the page is built of. Whatever comes from the user goes through `text`."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from conclust.reporting._facts import Facts

# Each at least 4.5 : 1 against white, and with another shape beside it for those who see no hue.
COLORS = (
    "#0b5a9d", "#a34a00", "#1d6b34", "#7b2d9b", "#a8206a", "#006d77", "#6b4423", "#3d4756",
)  # fmt: skip
# Around the origin, for a radius of 5; the second of the numbers beside is scaled with the first.
SHAPES = (
    "m-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z",
    "m-4.5,-4.5l9,0l0,9l-9,0z",
    "m0,-6l5.5,10l-11,0z",
    "m0,-6.5l5.5,6.5l-5.5,6.5l-5.5,-6.5z",
    "m0,6l5.5,-10l-11,0z",
)
MAX_SHOWN_NAME = 80  # in tables


def text(value: Any) -> str:
    """Text of the user, safe as content and in attributes, on one reading direction."""
    return escape(clean(value), quote=True)


# Control characters, and marks that would turn the reading direction of what follows.
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(value: Any) -> str:
    """Text that can be written and does not disturb its neighbours."""
    whole = str(value).encode("utf-8", "replace").decode("utf-8")
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", whole)


def named(value: Any, length: int = MAX_SHOWN_NAME) -> str:
    """A name of the user: its reading direction stays inside."""
    return f"<bdi>{text(cut(clean(value), length))}</bdi>"


def cut(name: str, length: int) -> str:
    """The name, or its beginning."""
    return name if len(name) <= length else name[: length - 1] + "…"


def section(name: str, heading: str, body: str) -> str:
    """A part of the page under its heading; heading and body are HTML already."""
    return (
        f'<section aria-labelledby="{name}">\n<h2 id="{name}">{heading}</h2>\n{body}\n</section>\n'
    )


def html_table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], numeric: set[int]
) -> str:
    """Cells are HTML already."""
    head = "".join(
        f'<th scope="col"{_n(i, numeric)}>{text(h)}</th>' if h else "<td></td>"
        for i, h in enumerate(header)
    )
    body = "".join(
        "<tr>" + "".join(f"<td{_n(i, numeric)}>{cell}</td>" for i, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    table = (
        f"<table><caption>{text(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
    return wide(table, caption)


def _n(i: int, numeric: set[int]) -> str:
    return ' class="n"' if i in numeric else ""


def wide(table: str, label: str) -> str:
    """A table that scrolls by itself on a narrow screen, by keyboard too."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{text(label)}">{table}</div>'


def folded(summary: str, body: str) -> str:
    """What few readers want; body is HTML already."""
    return f"<details><summary>{text(summary)}</summary>{body}</details>"


def color(cluster: int) -> str:
    """The colour of a cluster; rows in none are grey."""
    return COLORS[cluster % len(COLORS)] if cluster >= 0 else "#4a5568"


def marker(cluster: int, radius: float) -> str:
    """The marker of a cluster, scaled: arcs, lines and moves are all relative."""
    return scaled(SHAPES[max(cluster, 0) % len(SHAPES)], radius / 5)


def scaled(shape: str, factor: float) -> str:
    """Scale a path of relative m, l and a (with flags, which stay)."""
    if factor == 1:
        return shape
    if "a" in shape:  # the circle: "m-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z"
        r, d = f"{5 * factor:g}", f"{10 * factor:g}"
        return f"m-{r},0a{r},{r} 0 1,0 {d},0a{r},{r} 0 1,0 -{d},0z"
    parts = shape[1:-1].split("l")
    points = (tuple(f"{float(v) * factor:g}" for v in p.split(",")) for p in parts)
    return "m" + "l".join(",".join(p) for p in points) + "z"


def swatch(cluster: int) -> str:
    """The marker of a cluster in its colour, for legends."""
    return (
        '<svg width="14" height="14" viewBox="-8 -8 16 16" aria-hidden="true" focusable="false">'
        f'<path fill="{color(cluster)}" d="M0,0{marker(cluster, 5)}"/></svg>'
    )


def cluster_name(facts: Facts, cluster: int) -> str:
    """The label of a cluster and what it is called, such as ``0 · Loyal``."""
    if cluster < 0:
        return "no cluster"
    label, title = facts.names[cluster], facts.titles[cluster]
    shown = label if label.isdecimal() else named(label)
    return f"{shown} · {named(title)}" if title else shown


def largest_clusters(facts: Facts, n: int) -> set[int]:
    """The largest clusters."""
    order = sorted(range(facts.n_clusters), key=lambda c: (-facts.sizes[c], c))
    return set(order[:n])
