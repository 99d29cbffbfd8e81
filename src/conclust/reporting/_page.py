"""Facts to one HTML page. Whatever comes from the user goes through `text`."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from typing import Any

import numpy as np

from conclust.reporting._facts import Curve, Facts
from conclust.reporting._map import HEIGHT, WIDTH

MAX_SVG = 2_000  # points; a browser redraws more of them faster on a canvas
# Each at least 4.5 : 1 against white, and with another shape beside it for those who see no hue.
COLOURS = (
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
ID_BUDGET = 400_000  # bytes for the names of rows
MAX_NAME = 40
MAX_SHOWN_NAME = 80  # in tables
MAX_SENTENCE = 1_000
N_ROWS = 20  # of a long table; the rest is folded away
MANY_LINES = 100
N_LEGEND, N_PROFILES = 40, 200  # clusters, the largest, in the legend and in the table


def page(facts: Facts) -> str:
    """The whole page: style, script and data inside, nothing from elsewhere.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    str
    """
    style, script = _asset("page.css"), _asset("page.js")
    # Even if a name got through as markup, only this very script would run.
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    sections = [
        _map_section(facts),
        _cluster_section(facts),
        _statement_section(facts),
        _conflict_section(facts),
        _comparison_section(facts),
        *map(_curve_section, facts.curves),
        _details_section(facts),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="robots" content="noindex">\n'
        f"<title>{text(facts.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"{_header(facts)}<main>\n{''.join(sections)}</main>\n{_footer(facts)}"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


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
    return f"<bdi>{text(_cut(clean(value), length))}</bdi>"


def _cut(name: str, length: int) -> str:
    return name if len(name) <= length else name[: length - 1] + "…"


def _asset(name: str) -> str:
    return resources.files("conclust.reporting").joinpath(name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


# ---------------------------------------------------------------------- sections


def _header(facts: Facts) -> str:
    given, kept = _totals(facts)
    cards = [
        (f"{facts.n_samples:,}", "rows"),
        (f"{facts.n_clusters:,}", "clusters"),
        (f"{kept:,} of {given:,}", "statements kept") if given else ("no", "statements"),
        (facts.method or "given", "method"),
    ]
    listed = "".join(f"<li><b>{text(v)}</b><span>{text(what)}</span></li>" for v, what in cards)
    reasons = " ".join(map(text, facts.reasons))
    lead = f'<p class="lead">{reasons}</p>' if reasons else ""
    title = f"<h1>{text(facts.title)}</h1>"
    return f'<header>\n{title}\n{lead}<ul class="cards">{listed}</ul>\n</header>\n'


def _totals(facts: Facts) -> tuple[int, int]:
    return sum(g for _, g, _ in facts.counts), sum(k for _, _, k in facts.counts)


def _section(name: str, heading: str, body: str) -> str:
    return (
        f'<section aria-labelledby="{name}">\n<h2 id="{name}">{heading}</h2>\n{body}\n</section>\n'
    )


def _map_section(facts: Facts) -> str:
    drawing = facts.map
    summary = _map_words(facts)
    tags = _tags(facts)
    as_svg = len(drawing.rows) <= MAX_SVG
    picture = _svg(facts, summary, tags) if as_svg else _canvas(summary)
    legend = "".join(
        f'<li><button type="button" aria-pressed="false" data-cluster="{c}">{_swatch(c)}'
        f"cluster {c} ({size:,})</button></li>"
        for c, size in enumerate(facts.sizes)
        if c in _largest(facts, N_LEGEND)
    )
    lines, switches = "", ""
    if drawing.n_kept or drawing.n_broken:
        switches = "".join(
            f'<li><button type="button" aria-pressed="true" data-lines="{sort}">'
            f"lines of {sort} statements</button></li>"
            for sort, n in (("kept", drawing.n_kept), ("broken", drawing.n_broken))
            if n
        )
        lines = (
            f" Lines are statements: {drawing.n_kept:,} kept (solid grey), "
            f"{drawing.n_broken:,} broken (dashed red)"
        )
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
    return _section("map-heading", "Map", body)


def _map_words(facts: Facts) -> str:
    sizes = ", ".join(f"cluster {c}: {size:,}" for c, size in enumerate(facts.sizes[:20]))
    return (
        f"Map of {facts.n_samples:,} rows in {facts.n_clusters:,} clusters ({sizes}); "
        f"{facts.map.n_kept:,} statements kept and {facts.map.n_broken:,} broken. "
        "The tables below say the same in words."
    )


def _tags(facts: Facts) -> list[tuple[int, int, str]]:
    """Where the number of each cluster stands: the median of its rows."""
    labels = np.asarray(facts.labels)
    found = []
    for cluster in range(min(facts.n_clusters, 50)):
        inside = labels == cluster
        if inside.any():
            x, y = np.median(facts.map.x[inside]), np.median(facts.map.y[inside])
            found.append((int(x), int(y), str(cluster)))
    return found


def _svg(facts: Facts, summary: str, tags: list[tuple[int, int, str]]) -> str:
    drawing, labels = facts.map, np.asarray(facts.labels)
    paths = []
    for cluster in np.unique(labels).tolist():
        inside = labels == cluster
        shape = _shape(cluster, _radius(len(labels)))
        marks = "".join(
            f"M{x},{y}{shape}" for x, y in zip(drawing.x[inside], drawing.y[inside], strict=True)
        )
        paths.append(f'<path data-cluster="{cluster}" fill="{_colour(cluster)}" d="{marks}"/>')
    many = " many" if len(drawing.kept) + len(drawing.broken) > MANY_LINES else ""
    words = "".join(f'<text class="tag" x="{x}" y="{y}">{name}</text>' for x, y, name in tags)
    return (
        f'<svg id="map" class="map" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="map-words"><title id="map-words">{text(summary)}</title>'
        f'<path class="kept" d="{_segments(drawing.kept)}"/>'
        f'<g class="points">{"".join(paths)}</g>'
        f'<path class="broken{many}" d="{_segments(drawing.broken)}"/>{words}'
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


def _segments(lines: Any) -> str:
    return "".join(f"M{a},{b}L{c},{d}" for a, b, c, d in lines.tolist())


def _radius(n_points: int) -> float:
    return 9.0 if n_points <= 200 else 7.0 if n_points <= 600 else 5.0


def _colour(cluster: int) -> str:
    return COLOURS[cluster % len(COLOURS)] if cluster >= 0 else "#4a5568"


def _shape(cluster: int, radius: float) -> str:
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


def _swatch(cluster: int) -> str:
    return (
        '<svg viewBox="-8 -8 16 16" aria-hidden="true" focusable="false">'
        f'<path fill="{_colour(cluster)}" d="M0,0{_shape(cluster, 5)}"/></svg>'
    )


def _map_data(facts: Facts, tags: list[tuple[int, int, str]], as_svg: bool) -> str:
    drawing = facts.map
    data: dict[str, Any] = {
        "width": WIDTH,
        "height": HEIGHT,
        "x": drawing.x.tolist(),
        "y": drawing.y.tolist(),
        "labels": facts.labels,
        "ids": _short_names([clean(name) for name in facts.ids]),
    }
    if not as_svg:
        data |= {
            "kept": drawing.kept.tolist(),
            "broken": drawing.broken.tolist(),
            "tags": tags,
            "colours": COLOURS,
            "shapes": ["M0,0" + _shape(c, 4.0) for c in range(len(SHAPES))],
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
        names = [_cut(name, length) for name in ids]
        if len(_json(names)) <= ID_BUDGET:
            return names
    return [str(i) for i in range(len(ids))]


def _cluster_section(facts: Facts) -> str:
    largest = max(facts.sizes, default=1) or 1
    rows = []
    shown = _largest(facts, N_PROFILES)
    for cluster in sorted(shown):
        size, phrases = facts.sizes[cluster], facts.phrases[cluster]
        listed = "".join(f"<li>{text(p)}</li>" for p in phrases)
        what = f"<ul>{listed}</ul>" if phrases else '<span class="soft">nothing stands out</span>'
        bar = (
            f'<span class="bar" aria-hidden="true" style="width:{100 * size / largest:.0f}%;'
            f'background:{_colour(cluster)}"></span>'
        )
        sure = ""
        if facts.confidence:
            sure = f'<td class="n sure">{facts.confidence[cluster]:.2f}</td>'
        rows.append(
            f'<tr><th scope="row">{_swatch_inline(cluster)} cluster {cluster}</th>'
            f"<td>{size:,} rows ({size / facts.n_samples:.0%}){bar}</td>{sure}<td>{what}</td></tr>"
        )
    sure = '<th scope="col" class="n">confidence</th>' if facts.confidence else ""
    table = (
        '<table class="clusters"><caption>Size of each cluster, and what distinguishes it from all '
        f'rows</caption><thead><tr><th scope="col">cluster</th><th scope="col">size</th>{sure}'
        f'<th scope="col">what stands out</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )
    n_more = facts.n_clusters - len(shown)
    more = f"<p>… and {n_more:,} smaller clusters.</p>" if n_more else ""
    body = _wide(table, "Size and profile of each cluster") + more
    return _section("clusters", "Clusters", body)


def _largest(facts: Facts, n: int) -> set[int]:
    """The largest clusters."""
    order = sorted(range(facts.n_clusters), key=lambda c: (-facts.sizes[c], c))
    return set(order[:n])


def _swatch_inline(cluster: int) -> str:
    return _swatch(cluster).replace("<svg ", '<svg width="14" height="14" ', 1)


def _statement_section(facts: Facts) -> str:
    if not facts.counts:
        return _section("statements", "Statements", "<p>No statements were given.</p>")
    rows = [
        [_kind(kind), f"{given:,}", f"{kept:,}", f"{given - kept:,}", f"{kept / given:.0%}"]
        for kind, given, kept in facts.counts
    ]
    parts = [
        _table(
            "Statements by kind",
            ["kind", "given", "kept", "broken", "share kept"],
            rows,
            {1, 2, 3, 4},
        )
    ]
    if facts.violated:
        parts.append(_violated(facts))
    else:
        parts.append('<p class="good">Every statement is kept.</p>')
    if facts.priorities:
        rows = [
            [named(sentence, MAX_SENTENCE), f"{value:.3g}", _kept_word(kept)]
            for sentence, value, kept in facts.priorities
        ]
        parts.append(
            _table(facts.priority_title, ["statement", "value", "in the result"], rows, {1})
        )
    return _section("statements", "Statements", "\n".join(parts))


def _kind(kind: str) -> str:
    return f'<span class="kind">{text(kind)}</span>'


def _kept_word(kept: bool) -> str:
    return '<span class="good">kept</span>' if kept else '<span class="bad">broken</span>'


def _violated(facts: Facts) -> str:
    relative = any(row["type"] == "relative" for row in facts.violated)
    header = ["kind", "a", "b", *(["c"] if relative else []), "weight"]
    rows = []
    for row in facts.violated:
        cells = [_kind(row["type"])]
        for name in "abc" if relative else "ab":
            value, label = row.get(name), row.get(f"label_{name}")
            missing = value is None or value != value
            cells.append(
                ""
                if missing
                else f'{named(value)} <span class="soft">in {text(_whole(label))}</span>'
            )
        rows.append([*cells, f"{row['weight']:g}"])
    more = ""
    if len(facts.violated) < facts.n_violated:
        more = f"<p>… and {facts.n_violated - len(facts.violated):,} more, in run.json.</p>"
    caption = "Broken statements, and the clusters their rows are in: are these statements right?"
    shown = _table(caption, header, rows[:N_ROWS], {len(header) - 1})
    if len(rows) <= N_ROWS:
        return shown + more
    rest = _table("Further broken statements", header, rows[N_ROWS:], {len(header) - 1})
    return f"{shown}<details><summary>{len(rows) - N_ROWS} more</summary>{rest}{more}</details>"


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value == int(value) else value


def _conflict_section(facts: Facts) -> str:
    if not facts.conflicts:
        return ""
    shown = "".join(
        f"<li>{named(sentence, MAX_SENTENCE)}</li>" for sentence in facts.conflicts[:100]
    )
    more = ""
    if len(facts.conflicts) >= 100:  # looking for more of relative statements stops there
        hidden = len(facts.conflicts) - 100
        more = f"<p>… and {hidden:,} more.</p>" if hidden else "<p>There may be more.</p>"
    body = f"<p>These statements cannot all hold.</p><ul class='plain'>{shown}</ul>{more}"
    return _section("conflicts", "Conflicts", body)


def _comparison_section(facts: Facts) -> str:
    if not facts.comparison:
        return ""
    header = ["method", "held-out statements kept", "spread", "seconds per fit", ""]
    rows = [
        [
            text(row["method"]),
            _number(row.get("score"), ".1%"),
            _number(row.get("spread"), ".1%"),
            _number(row.get("seconds"), ".2f"),
            text(row.get("note", "")),
        ]
        for row in facts.comparison
    ]
    caption = "Each method was fitted without a part of the statements, which it then had to guess"
    return _section("comparison", "Comparison of methods", _table(caption, header, rows, {1, 2, 3}))


def _number(value: Any, form: str) -> str:
    return "–" if value is None or value != value else format(value, form)


def _details_section(facts: Facts) -> str:
    parts = []
    if facts.notes:
        parts.append(
            f'<ul class="plain">{"".join(f"<li>{text(n)}</li>" for n in facts.notes)}</ul>'
        )
    wanted = ("command", "seed", "parameters", "inputs", "versions")
    shown = {k: facts.details[k] for k in wanted if k in facts.details}
    if shown:
        content = json.dumps(shown, indent=1, ensure_ascii=False, default=str)
        lines = "\n".join(text(line) for line in content.split("\n"))
        parts.append(
            f"<details><summary>How to get the same again</summary><pre>{lines}</pre></details>"
        )
    if not parts:
        return ""
    return _section("details", "What was done", "\n".join(parts))


def _footer(facts: Facts) -> str:
    import conclust

    made = f"Made by conclust {text(conclust.__version__)}. This page works offline."
    return f"<footer><p>{made}</p></footer>\n"


# ---------------------------------------------------------------------- tables and curves


def _table(
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
    return _wide(table, caption)


def _n(i: int, numeric: set[int]) -> str:
    return ' class="n"' if i in numeric else ""


def _wide(table: str, label: str) -> str:
    """A table that scrolls by itself on a narrow screen, by keyboard too."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{text(label)}">{table}</div>'


def _curve_section(curve: Curve) -> str:
    name = "curve-" + "".join(c for c in curve.x_label if c.isalpha())
    low = min(y - s for y, s in zip(curve.y, curve.spread or [0] * len(curve.y), strict=True))
    high = max(y + s for y, s in zip(curve.y, curve.spread or [0] * len(curve.y), strict=True))
    words = (
        f"{curve.y_label} from {curve.y[0]:.4g} at {curve.x_label} {curve.x[0]:g} "
        f"to {curve.y[-1]:.4g} at {curve.x[-1]:g}"
    )
    if curve.marked is not None:
        words += f"; chosen: {curve.marked:g}"
    rows = [
        [f"{x:g}", f"{y:.6g}", *([f"{s:.3g}"] if curve.spread else [])]
        for x, y, s in zip(curve.x, curve.y, curve.spread or [0.0] * len(curve.x), strict=True)
    ]
    header = [curve.x_label, curve.y_label, *(["spread"] if curve.spread else [])]
    svg = _curve_svg(curve, low, high, words)
    table = _table(f"The same as numbers: {curve.y_label}", header, rows[:300], {0, 1, 2})
    body = (
        f"<figure>{svg}<figcaption>{text(f'{curve.note} {words}.'.strip())}</figcaption></figure>"
        f"<details><summary>The same as a table</summary>{table}</details>"
    )
    return _section(name, text(curve.title), body)


def _curve_svg(curve: Curve, low: float, high: float, words: str) -> str:
    left, right, top, bottom = 90, 620, 15, 250
    spread_x = (curve.x[-1] - curve.x[0]) or 1.0
    spread_y = (high - low) or 1.0

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            round(left + (x - curve.x[0]) / spread_x * (right - left), 1),
            round(bottom - (y - low) / spread_y * (bottom - top), 1),
        )

    points = [at(x, y) for x, y in zip(curve.x, curve.y, strict=True)]
    line = " ".join(f"{x},{y}" for x, y in points)
    bars = "".join(
        f'<path stroke="{COLOURS[0]}" stroke-opacity=".45" stroke-width="2" '
        f'd="M{at(x, y - s)[0]},{at(x, y - s)[1]}V{at(x, y + s)[1]}"/>'
        for x, y, s in zip(curve.x, curve.y, curve.spread, strict=False)
    )
    dots = "".join(
        f'<circle cx="{x}" cy="{y}" r="4" fill="{COLOURS[0]}"/>' for x, y in points[:40]
    ) if len(points) <= 40 else ""  # fmt: skip
    mark = ""
    if curve.marked is not None and curve.marked in curve.x:
        x, y = points[curve.x.index(curve.marked)]
        mark = f'<circle cx="{x}" cy="{y}" r="9" fill="none" stroke="#b3001b" stroke-width="3"/>'
    ticks = "".join(
        f'<text x="{left - 8}" y="{at(curve.x[0], v)[1] + 5}" text-anchor="end">{v:.3g}</text>'
        for v in (low, (low + high) / 2, high)
    )
    ticks += "".join(
        f'<text x="{at(v, low)[0]}" y="{bottom + 22}" text-anchor="middle">{v:g}</text>'
        for v in dict.fromkeys([curve.x[0], curve.x[len(curve.x) // 2], curve.x[-1]])
    )
    return (
        f'<svg class="curve" viewBox="0 0 640 305" role="img" aria-label="{text(words)}">'
        f'<path d="M{left},{top}V{bottom}H{right}" fill="none" stroke="#7b8794"/>{ticks}'
        f'<text x="{(left + right) / 2}" y="298" text-anchor="middle">{text(curve.x_label)}</text>'
        f'{bars}<polyline points="{line}" fill="none" stroke="{COLOURS[0]}" stroke-width="2.5"/>'
        f"{dots}{mark}</svg>"
    )
