"""Rows to look at: typical ones of each cluster, and those of statements in question."""

from collections.abc import Sequence

from conclust.reporting._cases import Case
from conclust.reporting._facts import Facts
from conclust.reporting._html import cluster_name, folded, named, section, swatch, text, wide
from conclust.reporting._rows import Cell, Row

N_CASES = 10  # the rest is folded away
N_TYPICAL_SEEN = 12  # clusters
MAX_SENTENCE = 1_000
MAX_HEAD = 40  # characters of the name of a row above its values
LONG = 60  # characters: running text


def cases(facts: Facts, shown: Sequence[Case], question: str) -> str:
    """Cards, each with a statement, how it came out, and its rows side by side."""
    cards = [_card(facts, case, question) for case in shown]
    body = f'<div class="cases">{"".join(cards[:N_CASES])}</div>'
    if len(cards) > N_CASES:
        rest = f'<div class="cases">{"".join(cards[N_CASES:])}</div>'
        body += folded(f"{len(cards) - N_CASES} more", rest)
    return body


def _card(facts: Facts, case: Case, question: str) -> str:
    note = f' <span class="soft">({text(case.note)})</span>' if case.note else ""
    found = ""
    if case.found:
        found = f' <span class="{"good" if case.kept else "bad"}">{named(case.found, 300)}</span>'
    sentence = case.said if case.said.endswith(".") else f"{case.said}."
    said = f"<b>{named(sentence, MAX_SENTENCE)}</b>{found}{note} {text(question)}"
    if not case.rows:
        return f'<div class="case"><p>{said}</p></div>'
    heads = "".join(
        f'<th scope="col">{named(row.name, MAX_HEAD)}<span class="in">{swatch(row.cluster)} '
        f"{cluster_name(facts, row.cluster)}</span></th>"
        for row in case.rows
    )
    body = "".join(
        f'<tr><th scope="row">{named(column, MAX_HEAD)}</th>'
        + "".join(f"<td>{_cell(row.cells[i])}</td>" for row in case.rows)
        + "</tr>"
        for i, column in enumerate(facts.columns)
    )
    table = (
        f"<table><caption>{said}</caption><thead><tr><td></td>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
    return f'<div class="case">{table}</div>'


def _cell(cell: Cell) -> str:
    if not cell.text:
        return '<span class="soft">–</span>'
    return f"<mark>{named(cell.text, 300)}</mark>" if cell.differs else named(cell.text, 300)


def typical_section(facts: Facts) -> str:
    """The rows nearest to the middle of each cluster."""
    if not any(facts.typical.values()):
        return ""
    clusters = sorted(facts.typical)
    seen = set(list(facts.typical)[:N_TYPICAL_SEEN])  # the largest come first
    body = _typical_table(facts, [c for c in clusters if c in seen])
    rest = [c for c in clusters if c not in seen]
    if rest:
        body += folded(f"{len(rest)} smaller clusters", _typical_table(facts, rest))
    return section("typical", "Typical rows", body)


def _typical_table(facts: Facts, clusters: Sequence[int]) -> str:
    head = "".join(f'<th scope="col">{named(column, MAX_HEAD)}</th>' for column in facts.columns)
    groups = "".join(
        f'<tbody><tr><th scope="rowgroup" colspan="{len(facts.columns) + 1}">{swatch(cluster)} '
        f"{cluster_name(facts, cluster)}</th></tr>"
        + "".join(map(_typical_row, facts.typical[cluster]))
        + "</tbody>"
        for cluster in clusters
    )
    caption = "The rows nearest to the middle of each cluster"
    table = (
        f'<table class="typical"><caption>{caption}</caption>'
        f'<thead><tr><th scope="col">row</th>{head}</tr></thead>{groups}</table>'
    )
    return wide(table, caption)


def _typical_row(row: Row) -> str:
    cells = "".join(
        f"<td{_long(cell)}>{_cell(cell._replace(differs=False))}</td>" for cell in row.cells
    )
    return f'<tr><th scope="row">{named(row.name, MAX_HEAD)}</th>{cells}</tr>'


def _long(cell: Cell) -> str:
    return ' class="long"' if len(cell.text) > LONG else ""
