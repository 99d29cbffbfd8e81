"""The page about the data sets is in step with the code.

``python tests/datasets/test_docs.py`` writes the table anew.
"""

import doctest
from pathlib import Path

import pandas as pd

from conclust.datasets import names, table

PAGE = Path(__file__).parents[2] / "docs" / "datasets.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"


def as_markdown(frame):
    rows = [frame.columns, ["---"] * frame.shape[1], *frame.itertuples(index=False)]
    return "".join("| " + " | ".join(map(as_cell, row)) + " |\n" for row in rows)


def as_cell(value):
    if value is pd.NA:
        return ""
    return {"True": "yes", "False": "**no**"}.get(str(value), str(value))


def rewritten(text):
    before, rest = text.split(BEGIN)
    return before + BEGIN + as_markdown(table()) + END + rest.split(END)[1]


def test_table_on_the_page_is_that_of_the_code():
    # Check that the page shows what table() gives; run this file to write it anew.
    text = PAGE.read_text(encoding="utf-8")
    assert text == rewritten(text)


def test_examples_on_the_page_run(bare_machine):
    # Check the page's examples on a machine without any data.
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags)
    assert tried > 0
    assert failed == 0


def test_table_has_every_set():
    # Check that no set is left out and that every disagreement is explained.
    frame = table()
    assert frame["name"].drop_duplicates().tolist() == names()
    differing = frame[frame["agrees"].eq(False).fillna(False)]
    assert set(differing["name"]) == {
        "parkinsons",
        "glass",
        "usps",
        "usps_roweis",
        "semeion",
        "pendigits3689",
        "transfusion",
    }
    assert (differing["remark"] != "").all()


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
