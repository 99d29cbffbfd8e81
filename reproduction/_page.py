"""The page of a paper: figures, claims and verdicts, all computed from its table."""

from pathlib import Path

import pandas as pd

from reproduction._protocol import Protocol


def write_page(protocol: Protocol, table: pd.DataFrame, folder: Path) -> Path:
    """Write ``<paper>.md`` and its figures into a folder; return the page."""
    folder.mkdir(parents=True, exist_ok=True)
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
    for name, draw in protocol.figures.items():
        figure = draw(table)
        file = f"{protocol.paper}-{name}.png"
        figure.savefig(folder / file, dpi=110, bbox_inches="tight", metadata={"Software": None})
        lines += [f"![{name}]({file})", ""]
    if protocol.notes:
        lines += ["## Notes", "", protocol.notes.strip(), ""]
    page = folder / f"{protocol.paper}.md"
    page.write_text("\n".join(lines), encoding="utf-8")
    return page
