"""The page of a paper: figures, claims and verdicts, all computed from its table."""

from pathlib import Path

import pandas as pd

from conclust._atomic import atomic_write
from reproduction._protocol import Protocol


def write_page(protocol: Protocol, table: pd.DataFrame, folder: Path) -> Path:
    """Write ``<paper>.md`` and its figures into a folder; return the page."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in protocol.figures.items():
        draw(table).savefig(
            folder / file_of(protocol, name),
            dpi=110,
            bbox_inches="tight",
            metadata={"Software": None},
        )
    page = folder / f"{protocol.paper}.md"
    with atomic_write(page) as file:
        file.write(page_text(protocol, table))
    return page


def page_text(protocol: Protocol, table: pd.DataFrame) -> str:
    """Return the page as Markdown."""
    is_paper = protocol.paper.startswith("paper")
    lines = [
        f"# {protocol.title}",
        "",
        f"Made by `python -m reproduction {protocol.paper}` from {len(table)} rows "
        f"(`reproduction/{protocol.paper}/results.csv`); nothing here is written by hand but the "
        "notes.",
        "",
        "## Claims" if is_paper else "## Who is first",
        "",
        f"| {'the paper says' if is_paper else 'where'} | here | numbers |",
        "|---|---|---|",
    ]
    for claim in protocol.claims:
        verdict = claim.check(table)
        lines.append(f"| {claim.text} | {verdict.holds} | {verdict.numbers} |")
    lines += ["", "## Figures", ""]
    for name in protocol.figures:
        lines += [f"![{name}]({file_of(protocol, name)})", ""]
    for title, make in protocol.tables:
        cells = make(table)
        lines += [f"## {title}", "", f"| | {' | '.join(cells.columns)} |"]
        lines += ["|" + "---|" * (1 + cells.shape[1])]
        lines += [f"| {name} | {' | '.join(cells.loc[name])} |" for name in cells.index]
        lines += [""]
    if protocol.notes:
        lines += ["## Notes", "", protocol.notes.strip(), ""]
    return "\n".join(lines)


def file_of(protocol: Protocol, figure: str) -> str:
    """Name of a figure's file."""
    return f"{protocol.paper}-{figure}.png"
