"""`conclust studio`, as far as it goes without a browser."""

import sys

import pytest

from conclust.studio import Store
from tests.cli.conftest import run, write


def test_export_of_a_project(blobs):
    Store(blobs.folder / "table.csv.studio").close()
    out = blobs.folder / "out"
    result = run("studio", str(blobs.data), "--id-col", "key", "-k", "3", "--constraints",
                 str(blobs.links), "--export", str(out))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert (out / "labels.csv").read_text().startswith("id,label,cluster_name,confidence\nr00,")
    links = (out / "constraints.csv").read_text().splitlines()
    assert links[1].startswith("r00,r05,,must-link,1.0")
    assert len(links) == 5
    # The number of clusters and the statements are in the project now.
    again = run("studio", str(blobs.data), "--id-col", "key", "--export", str(out), "--json")
    assert again.exit_code == 0
    assert len((out / "constraints.csv").read_text().splitlines()) == 5


def test_export_of_nothing(blobs):
    result = run(
        "studio", str(blobs.data), "--id-col", "key", "--export", str(blobs.folder / "out")
    )
    assert result.exit_code == 2
    assert "there is no" in result.stderr
    assert "open the studio without --export first" in result.stderr
    assert not (blobs.folder / "table.csv.studio").exists()


def test_a_changed_table_is_refused(blobs):
    Store(blobs.folder / "table.csv.studio").close()
    arguments = ["studio", str(blobs.data), "--id-col", "key", "--export", str(blobs.folder / "o")]
    assert run(*arguments).exit_code == 0
    lines = blobs.data.read_text().splitlines()
    blobs.data.write_text("\n".join(lines[:-1]) + "\n")
    result = run(*arguments)
    assert result.exit_code == 2
    assert "had 30 rows then and has 29 now" in result.stderr


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "is empty"),
        ("x,y\n", "has no rows"),
        ("x,y\n1,2\n", "has only one row"),
    ],
)
def test_tables_that_are_none(tmp_path, content, match):
    (tmp_path / "t.csv").write_text(content)
    result = run("studio", str(tmp_path / "t.csv"), "--no-browser")
    assert result.exit_code == 2
    assert match in result.stderr
    assert not (tmp_path / "t.csv.studio").exists()


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_without_the_extra(blobs, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    result = run("studio", str(blobs.data), "--no-browser")
    assert result.exit_code == 2
    assert 'pip install "conclust[studio]"' in result.stderr


def test_options_that_name_nothing(blobs):
    arguments = ["studio", str(blobs.data), "--no-browser"]
    assert "no such folder" in run(*arguments, "--images", "/nowhere").stderr
    assert "no such folder" in run(*arguments, "--project", "/nowhere/a.studio").stderr
    assert "at most 30 clusters" in run(*arguments, "-k", "31").stderr


def test_clusters_are_described_by_numbers_and_rows_shown_as_written(tmp_path):
    # Check a file of decimal commas: 1,5 on the page, 1.5 in the description.
    lines = [f"r{i};{i % 2 * 9},{i + 10};{i}" for i in range(20)]
    (tmp_path / "t.csv").write_text("key;size;other\n" + "\n".join(lines) + "\n")
    Store(tmp_path / "t.csv.studio").close()
    result = run("studio", str(tmp_path / "t.csv"), "--id-col", "key", "-k", "2", "--columns", "size",
                 "--export", str(tmp_path / "out"))  # fmt: skip
    assert result.exit_code == 0, result.output
    labels = (tmp_path / "out" / "labels.csv").read_text()
    assert "high size" in labels
    assert "low size" in labels


def test_cells_of_a_megabyte_and_all_columns_are_shown(tmp_path):
    from conclust.cli._job import read_job
    from conclust.cli._options import TableOptions
    from conclust.cli._studio import shown

    rows = [
        [i, i % 3, "<b>" * 350_000 if i == 3 else f"\u202ecell {i}", "00" + str(i)]
        for i in range(9)
    ]
    write(tmp_path / "t.csv", ["key", "x", "note", "code"], rows)
    options = TableOptions(id_col="key", exclude=("note",))
    data = shown(read_job(tmp_path / "t.csv", None, options), options, None)
    assert list(data.kinds) == ["key", "x", "note", "code"]
    fields = data.fields(3)
    assert (len(fields[2]["value"]), fields[2]["cut"]) == (10_000, True)
    assert fields[3]["value"] == "003"
    assert data.fields(4)[2]["value"] == "\u202ecell 4"


def test_columns_that_are_not_clustered_by_are_shown_as_written(tmp_path):
    # Dates and codes with zeros in front were read as numbers when another column was chosen.
    from conclust.cli._job import read_job
    from conclust.cli._options import TableOptions
    from conclust.cli._studio import shown

    rows = [[i, i % 3, f"2024-01-{i + 1:02d}", f"00{i}"] for i in range(9)]
    write(tmp_path / "t.csv", ["key", "x", "seen", "code"], rows)
    options = TableOptions(id_col="key", columns=("x",))
    data = shown(read_job(tmp_path / "t.csv", None, options), options, None)
    cells = {field["column"]: (field["type"], field["value"]) for field in data.fields(4)}
    assert cells["seen"] == ("date", "2024-01-05")
    assert cells["code"][1] == "004"
