"""``python -m reproduction``: the whole way from a protocol to a page, on the smallest one."""

import pandas as pd
from reproduction.__main__ import reproduce


def test_quick_run_fills_a_table_and_writes_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # checkpoints go to build/ there
    reproduce(["paper004"], quick=True, out=tmp_path / "out")
    table = pd.read_csv(tmp_path / "out" / "paper004" / "results.csv")
    assert set(table.dataset) == {"iris"}
    assert {"seconds", "peak_mb", "versions", "f"} <= set(table)
    page = (tmp_path / "out" / "paper004.md").read_text(encoding="utf-8")
    assert "| the paper says | here | numbers |" in page
    for line in page.splitlines():
        if line.startswith("!["):
            assert (tmp_path / "out" / line.split("(")[1].rstrip(")")).stat().st_size > 1000

    # Once more: nothing is computed, the table is the same.
    reproduce(["paper004"], quick=True, out=tmp_path / "again")
    again = pd.read_csv(tmp_path / "again" / "paper004" / "results.csv")
    pd.testing.assert_frame_equal(again, table)

    # From the table alone.
    (tmp_path / "out" / "paper004.md").unlink()
    reproduce(["paper004"], page_only=True, out=tmp_path / "out")
    assert (tmp_path / "out" / "paper004.md").read_text(encoding="utf-8") == page
