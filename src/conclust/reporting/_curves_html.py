"""Curves of the page: along rounds, or numbers of clusters."""

from conclust.reporting._facts import Curve
from conclust.reporting._html import COLORS, folded, html_table, section, text


def curve_section(curve: Curve) -> str:
    name = "curve-" + "".join(c for c in curve.x_label if c.isalpha())
    spread = curve.spread or [0.0] * len(curve.y)
    low = min([*(y - s for y, s in zip(curve.y, spread, strict=True)), *curve.other])
    high = max([*(y + s for y, s in zip(curve.y, spread, strict=True)), *curve.other])
    words = (
        f"{curve.y_label} from {curve.y[0]:.4g} at {curve.x_label} {curve.x[0]:g} "
        f"to {curve.y[-1]:.4g} at {curve.x[-1]:g}"
    )
    if curve.marked is not None:
        words += f"; chosen: {curve.marked:g}"
    if curve.other:
        words += (
            f"; dashed: {curve.other_label}, from {curve.other[0]:.4g} to {curve.other[-1]:.4g}"
        )
    columns = [[f"{x:g}" for x in curve.x], [f"{y:.6g}" for y in curve.y]]
    columns += [[f"{value:.3g}" for value in more] for more in (curve.spread, curve.other) if more]
    rows = [list(row) for row in zip(*columns, strict=True)]
    header = [curve.x_label, curve.y_label, *(["spread"] if curve.spread else [])]
    header += [curve.other_label] if curve.other else []
    svg = _curve_svg(curve, low, high, words)
    table = html_table(f"The same as numbers: {curve.y_label}", header, rows[:300], {0, 1, 2})
    body = (
        f"<figure>{svg}<figcaption>{text(f'{curve.note} {words}.'.strip())}</figcaption></figure>"
        f"{folded('The same as a table', table)}"
    )
    return body if curve.is_aside else section(name, text(curve.title), body)


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
    if curve.other:
        dashed = " ".join(
            "{},{}".format(*at(x, y)) for x, y in zip(curve.x, curve.other, strict=True)
        )
        bars += (
            f'<polyline points="{dashed}" fill="none" stroke="{COLORS[1]}" stroke-width="2.5" '
            'stroke-dasharray="7 5"/>'
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
