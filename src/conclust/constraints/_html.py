"""Summaries for notebooks. Every name from the user is escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conclust.constraints._constraints import Constraints
    from conclust.constraints._report import ConstraintReport

N_ROWS = 10


def constraints_html(constraints: "Constraints") -> str:
    """A one-line summary and the first statements."""
    rows = [
        (
            statement.kind,
            ", ".join(map(constraints.name, statement.samples[:N_ROWS])),
            f"{statement.weight:g}",
        )
        for statement, _ in zip(constraints, range(N_ROWS), strict=False)
    ]
    return _page(repr(constraints), ("type", "samples", "weight"), rows, len(constraints))


def report_html(report: "ConstraintReport") -> str:
    """The counts per kind and the first broken statements."""
    counts = [
        (kind, count.given, count.kept, f"{count.share:.1%}")
        for kind, count in report.counts.items()
    ]
    html = _table(("type", "given", "kept", "share"), counts)
    if report.n_violated:
        frame = report.violated
        html += "<p>Broken:</p>" + _table(frame.columns, frame.head(N_ROWS).to_numpy().tolist())
        if len(frame) > N_ROWS:
            html += f"<p>… and {len(frame) - N_ROWS} more in <code>.violated</code></p>"
    return f"<p><b>{escape(repr(report))}</b></p>{html}"


def _page(title: str, header: Sequence[str], rows: list[Any], n_total: int) -> str:
    more = f"<p>… and {n_total - len(rows)} more</p>" if n_total > len(rows) else ""
    body = _table(header, rows) if rows else ""
    return f"<p><b>{escape(title)}</b></p>{body}{more}"


def _table(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    head = "".join(f"<th>{escape(str(h))}</th>" for h in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
