"""The tables of methods in README and guide, made from what the classes declare.

    python docs/_tables.py            say which table is not what the classes declare
    python docs/_tables.py --write    write them anew

A table stands between ``<!-- methods: … -->`` and ``<!-- end of methods -->``.
"""

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

from conclust._declare import Takes, estimators, methods, words_of

TOP = Path(__file__).parents[1]
HINT = "made by `python docs/_tables.py --write`"


def estimator_table() -> str:
    """Every estimator: what it uses, how binding that is, and when to use it."""
    rows = [
        [f"`{name}`", ", ".join(filter(None, used(e._takes))), e._takes.how, e._takes.when]
        for name, e in estimators().items()
    ]
    dense = [name for name, each in estimators().items() if not each._takes.sparse]
    square = [name for name, each in estimators().items() if each._takes.square]
    cosine = [name for name, each in estimators().items() if each._takes.cosine]
    blocks = [name for name, each in estimators().items() if each._takes.blocks]
    return (
        table(["", "kinds of statement", "hard or soft", "use it when"], rows)
        + f"\n\nSparse rows are taken by all but {listed(dense)}. An array of n × n is held by "
        f'{listed(square)}. Directions are clustered, with `metric="cosine"`, by {listed(cosine)}. '
        f"Files that memory does not hold are read by {listed(blocks)}."
    )


def used(takes: Takes) -> list[str]:
    return [*words_of(takes.kinds), takes.weights]


def method_table() -> str:
    """Every name that ``--method`` takes."""
    rows = []
    for method in methods().values():
        takes = method.takes
        uses = ["pairs"] if "must-link" in takes.kinds else []
        uses += ["relative"] if "relative" in takes.kinds else []
        notes = [method.about]
        notes += ["n × n"] if takes.square else []
        notes += [f"{takes.needs}: from Python only"] if takes.needs else []
        ours = method.class_name in estimators()
        rows.append(
            [
                f"`{method.name}`",
                f"`{method.class_name}`" if ours else f"scikit-learn's `{method.class_name}`",
                ", ".join(uses) or "nothing",
                "; ".join(notes),
            ]
        )
    return table(["method", "class", "uses", ""], rows)


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "|" + "|".join(line) + "|" if line[0] == "---" else row_of(line) for line in lines
    )


def row_of(cells: list[str]) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


def listed(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if quoted[1:] else quoted)


TABLES: dict[str, Callable[[], str]] = {
    "README.md": estimator_table,
    "docs/command_line.md": method_table,
}


def with_table(text: str, content: str) -> str:
    """The page with its table replaced."""
    pattern = r"<!-- methods: .*? -->\n.*?\n<!-- end of methods -->"
    new = f"<!-- methods: {HINT} -->\n{content}\n<!-- end of methods -->"
    found, n = re.subn(pattern, lambda _: new, text, flags=re.DOTALL)
    assert n == 1, "a page has one table of methods between its two marks"
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the tables anew")
    write = parser.parse_args().write
    stale = []
    for name, make in TABLES.items():
        path = TOP / name
        text = path.read_text(encoding="utf-8")
        wanted = with_table(text, make())
        if wanted != text:
            stale.append(name)
            if write:
                path.write_text(wanted, encoding="utf-8")
    for name in stale:
        print(f"{name}: {'written' if write else 'not what the classes declare'}")
    return 1 if stale and not write else 0


if __name__ == "__main__":
    sys.exit(main())
