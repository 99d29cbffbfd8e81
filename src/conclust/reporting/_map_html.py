"""The map of the page: points, lines and the tools beside them."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from conclust.reporting._facts import Facts
from conclust.reporting._html import (
    COLORS,
    SHAPES,
    clean,
    cluster_name,
    color,
    cut,
    largest_clusters,
    marker,
    section,
    swatch,
    text,
)
from conclust.reporting._map import HEIGHT, WIDTH

MAX_SVG = 2_000  # points; a browser redraws more of them faster on a canvas
ID_BUDGET = 400_000  # bytes for the names of rows
MAX_NAME = 40
MAX_TAG = 16
N_TAGS = 50  # clusters, the largest
N_NAMED_TAGS = 12  # with more of them there is room for numbers only
TAG_WIDTH, TAG_HEIGHT, TAG_GAP = 18, 38, 6  # of a letter, as large as on a narrow screen
TAG_STEP = 20  # how finely a free place is looked for
MANY_LINES = 100
N_LEGEND = 40  # clusters, the largest


def map_section(facts: Facts) -> str:
    drawing = facts.map
    summary = _map_words(facts)
    tags = _tags(facts)
    as_svg = len(drawing.rows) <= MAX_SVG
    picture = _svg(facts, summary, tags) if as_svg else _canvas(summary)
    shown = sorted(largest_clusters(facts, N_LEGEND))
    sizes = [(c, facts.sizes[c]) for c in shown]
    sizes += [(-1, facts.n_set_aside)] if facts.n_set_aside else []
    legend = "".join(
        f'<li><button type="button" aria-pressed="false" data-cluster="{c}">{swatch(c)}'
        f"<span>{cluster_name(facts, c)} ({size:,})</span></button></li>"
        for c, size in sizes
    )
    lines, switches = "", ""
    if drawing.n_kept or drawing.n_broken:
        switches = "".join(
            f'<li><button type="button" aria-pressed="true" data-lines="{sort}">'
            f"lines of {sort} statements</button></li>"
            for sort, n in (("kept", drawing.n_kept), ("broken", drawing.n_broken))
            if n
        )
        sorts = [(drawing.n_kept, "kept (solid black)"), (drawing.n_broken, "broken (dashed red)")]
        lines = f" Lines are statements: {', '.join(f'{n:,} {what}' for n, what in sorts if n)}"
        n_drawn = len(drawing.kept) + len(drawing.broken)
        if n_drawn < drawing.n_kept + drawing.n_broken:
            lines += f", {n_drawn:,} of them drawn"
        lines += "."
    if switches:
        switches = f'<ul class="legend" aria-label="Show statements">{switches}</ul>'
    tools = (
        '<div id="tools" hidden><ul class="legend" aria-label="Show one cluster">'
        f'{legend}</ul>{switches}<div class="find"><label for="find">Find a row:</label>'
        '<input id="find" type="search" autocomplete="off" spellcheck="false">'
        '<output id="told" for="find"></output></div></div>'
    )
    body = (
        f"<figure>\n{picture}\n<figcaption>{text(drawing.caption)}{lines}</figcaption>\n</figure>\n"
        f'{tools}\n<script id="map-data" type="application/json">{_map_data(facts, tags, as_svg)}'
        "</script>"
    )
    return section("map-heading", "Map", body)


def _map_words(facts: Facts) -> str:
    sizes = ", ".join(
        f"cluster {name}: {size:,}"
        for name, size in zip(facts.names[:20], facts.sizes, strict=False)
    )
    return (
        f"Map of {facts.n_samples:,} rows in {facts.n_clusters:,} clusters ({sizes}); "
        f"{facts.map.n_kept:,} statements kept and {facts.map.n_broken:,} broken. "
        "The tables below say the same in words."
    )


def _tags(facts: Facts) -> list[tuple[int, int, str]]:
    """Where each cluster is named: at the median of its rows, moved so that none hides another."""
    labels = np.asarray(facts.labels)
    words, places = [], []
    for cluster in sorted(largest_clusters(facts, N_TAGS)):
        inside = labels == cluster
        if inside.any():
            places.append([np.median(facts.map.x[inside]), np.median(facts.map.y[inside])])
            words.append(_tag(facts, cluster))
    if not words:
        return []
    halves = np.array([[len(word) * TAG_WIDTH / 2 + TAG_GAP, TAG_HEIGHT / 2] for word in words])
    placed = np.rint(moved_apart(np.array(places), halves)).astype(int)
    return [(x, y, word) for (x, y), word in zip(placed.tolist(), words, strict=True)]


def _tag(facts: Facts, cluster: int) -> str:
    is_shown = facts.is_named[cluster] and facts.n_clusters <= N_NAMED_TAGS
    return cut(clean(facts.titles[cluster] if is_shown else facts.names[cluster]), MAX_TAG)


def moved_apart(centers: Any, halves: Any) -> Any:
    """Put each box where it wants to be, or at the nearest place where it hides none before it."""
    steps = np.arange(-WIDTH, WIDTH + 1, TAG_STEP)
    offsets = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    offsets = offsets[np.argsort((offsets**2).sum(axis=1), kind="stable")]
    at = centers.astype(float)
    for i, (center, half) in enumerate(zip(centers, halves, strict=True)):
        places = np.clip(center + offsets, half, np.array([WIDTH, HEIGHT]) - half)
        hides = np.zeros(len(places), dtype=bool)
        for j in range(i):
            hides |= (np.abs(places - at[j]) < half + halves[j]).all(axis=1)
        at[i] = places[np.argmin(hides)]  # the first free one; the first of all if none is
    return at


def _svg(facts: Facts, summary: str, tags: list[tuple[int, int, str]]) -> str:
    drawing, labels = facts.map, np.asarray(facts.labels)
    paths = []
    for cluster in np.unique(labels).tolist():
        inside = labels == cluster
        shape = marker(cluster, _radius(len(labels)))
        marks = "".join(
            f"M{x},{y}{shape}" for x, y in zip(drawing.x[inside], drawing.y[inside], strict=True)
        )
        paths.append(f'<path data-cluster="{cluster}" fill="{color(cluster)}" d="{marks}"/>')
    many = " many" if len(drawing.kept) + len(drawing.broken) > MANY_LINES else ""
    words = "".join(f'<text class="tag" x="{x}" y="{y}">{text(name)}</text>' for x, y, name in tags)
    return (
        f'<svg id="map" class="map" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="map-words"><title id="map-words">{text(summary)}</title>'
        f'<g class="points">{"".join(paths)}</g>'
        f"{_lines('kept', drawing.kept, many)}{_lines('broken', drawing.broken, many)}{words}"
        '<circle id="ring" r="14" fill="none" stroke="#000" stroke-width="3" visibility="hidden"/>'
        "</svg>"
    )


def _canvas(summary: str) -> str:
    return (
        f'<canvas id="map" class="map" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{text(summary)}">{text(summary)}</canvas>'
        "<noscript><p>The map of so many rows is drawn by a script, which is switched off."
        "</p></noscript>"
    )


def _lines(sort: str, segments: Any, many: str) -> str:
    """Lines over the points, each with a halo to be seen on any colour."""
    d = _segments(segments)
    return f'<g class="{sort}{many}"><path class="halo" d="{d}"/><path d="{d}"/></g>'


def _segments(lines: Any) -> str:
    return "".join(f"M{a},{b}L{c},{d}" for a, b, c, d in lines.tolist())


def _radius(n_points: int) -> float:
    return 9.0 if n_points <= 200 else 7.0 if n_points <= 600 else 5.0


def _map_data(facts: Facts, tags: list[tuple[int, int, str]], as_svg: bool) -> str:
    drawing = facts.map
    data: dict[str, Any] = {
        "width": WIDTH,
        "height": HEIGHT,
        "x": drawing.x.tolist(),
        "y": drawing.y.tolist(),
        "labels": facts.labels,
        "names": [
            cut(clean(f"{name} · {title}" if title else name), MAX_NAME)
            for name, title in zip(facts.names, facts.titles, strict=True)
        ],
        "ids": _short_names([clean(name) for name in facts.ids]),
    }
    if not as_svg:
        data |= {
            "kept": drawing.kept.tolist(),
            "broken": drawing.broken.tolist(),
            "tags": tags,
            "many": len(drawing.kept) + len(drawing.broken) > MANY_LINES,
            "colours": COLORS,
            "shapes": ["M0,0" + marker(c, 4.0) for c in range(len(SHAPES))],
        }
    return _json(data)


def _json(data: Any) -> str:
    """JSON that cannot end the element it stands in."""
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    content = content.encode("utf-8", "replace").decode("utf-8")
    for character in "<>&\u2028\u2029":
        content = content.replace(character, f"\\u{ord(character):04x}")
    return content


def _short_names(ids: Sequence[str]) -> list[str]:
    """Names cut so that all together stay within the budget."""
    for length in (MAX_NAME, 24, 12, 8):
        names = [cut(name, length) for name in ids]
        if len(_json(names)) <= ID_BUDGET:
            return names
    return [str(i) for i in range(len(ids))]
