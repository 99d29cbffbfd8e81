"""Parts of the summaries that notebooks show: one file's worth of HTML, every text escaped."""

from collections.abc import Iterable
from html import escape
from numbers import Integral, Real
from typing import Any

# Colours are those of the page around it, so that it can be read on light and on dark ones.
STYLE = """<style>
.conclust{font:13px/1.45 system-ui,sans-serif;color:inherit;max-width:60em}
.conclust p{margin:.4em 0}
.conclust ul{margin:.2em 0;padding-left:1.4em}
.conclust details{margin:.4em 0}
.conclust summary{cursor:pointer}
.conclust table{border-collapse:collapse;margin:.4em 0;font-size:inherit;color:inherit}
.conclust th,.conclust td{padding:.15em .8em .15em 0;text-align:left;vertical-align:top;
border:0;border-bottom:1px solid #8886;background:none}
.conclust .number{text-align:right;font-variant-numeric:tabular-nums}
.conclust .bar{display:inline-block;width:10em;height:.75em;background:#8883}
.conclust .bar i{display:block;height:100%;background:#0072b2}
.conclust .bar.part{background:#d55e00}
</style>"""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def html(text: Any) -> Html:
    """The text as HTML: escaped, unless it is HTML already."""
    return text if isinstance(text, Html) else Html(escape(str(text)))


def summary(title: Any, *parts: Html) -> str:
    """A summary as notebooks show it: the title in bold, and what follows."""
    return f'{STYLE}<div class="conclust"><p><b>{html(title)}</b></p>{"".join(parts)}</div>'


def paragraph(text: Any) -> Html:
    """One paragraph."""
    return Html(f"<p>{html(text)}</p>")


def sentences(texts: Iterable[Any]) -> Html:
    """A list, a sentence each."""
    return Html("<ul>" + "".join(f"<li>{html(text)}</li>" for text in texts) + "</ul>")


def folded(title: Any, body: Html) -> Html:
    """A part that is opened by a click."""
    return Html(f"<details><summary>{html(title)}</summary>{body}</details>")


def bar(share: float, *, of_two: bool = False) -> Html:
    """A share of 0 to 1 as a bar; `of_two` paints the rest as well."""
    width = f"{100 * share:.1f}%"
    name = "bar part" if of_two else "bar"
    return Html(f'<span class="{name}"><i style="width:{width}"></i></span>')


def table(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> Html:
    """A table; whole numbers are written with commas, and all numbers to the right."""
    head = "".join(map(_head, header))
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return Html(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def _head(name: Any) -> str:
    # A head without words would be read out as a nameless column; a plain cell is not.
    return "<td></td>" if name == "" else f'<th scope="col">{html(name)}</th>'


def _cell(value: Any) -> str:
    if isinstance(value, Real) and not isinstance(value, bool):
        text = f"{value:,}" if isinstance(value, Integral) else f"{value:.4g}"
        return f'<td class="number">{text}</td>'
    return f"<td>{html(value)}</td>"
