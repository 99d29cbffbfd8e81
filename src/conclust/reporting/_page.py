"""Facts to one HTML page."""

import base64
import hashlib
import json
from importlib import resources
from typing import Any

from conclust.reporting._facts import Curve, Facts
from conclust.reporting._html import (
    COLORS,
    cluster_name,
    color,
    html_table,
    largest_clusters,
    named,
    section,
    swatch,
    text,
    wide,
)
from conclust.reporting._map_html import map_section

MAX_SENTENCE = 1_000
N_ROWS = 20  # of a long table; the rest is folded away
N_PROFILES = 200  # clusters, the largest, in the table


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
        map_section(facts),
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
        *([(f"{facts.n_set_aside:,}", "rows in no cluster")] if facts.n_set_aside else []),
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


def _cluster_section(facts: Facts) -> str:
    largest = max(facts.sizes, default=1) or 1
    rows = []
    shown = largest_clusters(facts, N_PROFILES)
    for cluster in sorted(shown):
        size, phrases = facts.sizes[cluster], facts.phrases[cluster]
        listed = "".join(f"<li>{text(p)}</li>" for p in phrases)
        what = f"<ul>{listed}</ul>" if phrases else '<span class="soft">nothing stands out</span>'
        bar = (
            f'<span class="bar" aria-hidden="true" style="width:{100 * size / largest:.0f}%;'
            f'background:{color(cluster)}"></span>'
        )
        sure = ""
        if facts.confidence:
            sure = f'<td class="n sure">{facts.confidence[cluster]:.2f}</td>'
        rows.append(
            f'<tr><th scope="row">{_swatch_inline(cluster)} '
            f"cluster {cluster_name(facts, cluster)}</th>"
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
    body = wide(table, "Size and profile of each cluster") + more
    return section("clusters", "Clusters", body)


def _swatch_inline(cluster: int) -> str:
    return swatch(cluster).replace("<svg ", '<svg width="14" height="14" ', 1)


def _statement_section(facts: Facts) -> str:
    if not facts.counts:
        return section("statements", "Statements", "<p>No statements were given.</p>")
    rows = [
        [_kind(kind), f"{given:,}", f"{kept:,}", f"{given - kept:,}", f"{kept / given:.0%}"]
        for kind, given, kept in facts.counts
    ]
    parts = [
        html_table(
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
            html_table(facts.priority_title, ["statement", "value", "in the result"], rows, {1})
        )
    return section("statements", "Statements", "\n".join(parts))


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
    shown = html_table(caption, header, rows[:N_ROWS], {len(header) - 1})
    if len(rows) <= N_ROWS:
        return shown + more
    rest = html_table("Further broken statements", header, rows[N_ROWS:], {len(header) - 1})
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
    return section("conflicts", "Conflicts", body)


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
    return section(
        "comparison", "Comparison of methods", html_table(caption, header, rows, {1, 2, 3})
    )


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
    return section("details", "What was done", "\n".join(parts))


def _footer(facts: Facts) -> str:
    import conclust

    made = f"Made by conclust {text(conclust.__version__)}. This page works offline."
    return f"<footer><p>{made}</p></footer>\n"


# ---------------------------------------------------------------------- tables and curves


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
    table = html_table(f"The same as numbers: {curve.y_label}", header, rows[:300], {0, 1, 2})
    body = (
        f"<figure>{svg}<figcaption>{text(f'{curve.note} {words}.'.strip())}</figcaption></figure>"
        f"<details><summary>The same as a table</summary>{table}</details>"
    )
    return section(name, text(curve.title), body)


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
        f'<path stroke="{COLORS[0]}" stroke-opacity=".45" stroke-width="2" '
        f'd="M{at(x, y - s)[0]},{at(x, y - s)[1]}V{at(x, y + s)[1]}"/>'
        for x, y, s in zip(curve.x, curve.y, curve.spread, strict=False)
    )
    dots = "".join(
        f'<circle cx="{x}" cy="{y}" r="4" fill="{COLORS[0]}"/>' for x, y in points[:40]
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
        f'{bars}<polyline points="{line}" fill="none" stroke="{COLORS[0]}" stroke-width="2.5"/>'
        f"{dots}{mark}</svg>"
    )
