"""Clusters with names, and beside the table's own cells."""

import csv

import pytest

from tests.cli.conftest import assert_bad_input, read, run, write


def cluster(files, *more):
    out = files.folder / "out"
    result = run("cluster", files.data, "--constraints", files.links, "--id-col", "key", "-k", 3,
                 "--method", "cop-kmeans", "--no-model", "-o", out, *more)  # fmt: skip
    return result, out


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".csv", "cluster,name\n0,Loyal\n1,\"New, young\"\n"),
        (".csv", "0,Loyal\n1,\"New, young\"\n"),
        (".csv", "\ufeffcluster;name\n0;Loyal\n1;New, young\n"),
        (".json", '{"0": "Loyal", "1": "New, young"}'),
        ("", "0=Loyal,1=New, young"),
        ("", " 0 = Loyal , 1 = New, young "),
    ],
)  # fmt: skip
def test_names_are_in_the_labels_and_on_the_page(blobs, suffix, content):
    given = content
    if suffix:
        given = blobs.folder / f"names{suffix}"
        given.write_text(content, encoding="utf-8")
    result, out = cluster(blobs, "--names", given)
    assert result.exit_code == 0, result.output
    rows = read(out / "labels.csv")
    assert list(rows[0]) == ["id", "label", "cluster_name"]
    called = {row["label"]: row["cluster_name"] for row in rows}
    assert called == {"0": "Loyal", "1": "New, young", "2": ""}
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "0 · <bdi>Loyal</bdi>" in page
    assert "1 · <bdi>New, young</bdi>" in page


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("Loyal", ["--names Loyal", "a column of table.csv", "0=Loyal"]),
        ("x=Loyal", ["'x' = 'Loyal'", "does not name a cluster"]),
        ("0=", ["'0' = ''"]),
        ("3=Late", ["no cluster 3", "0 to 2"]),
    ],
)
def test_names_that_do_not_fit(blobs, given, words):
    result, out = cluster(blobs, "--names", given)
    assert_bad_input(result, *words)
    assert not out.exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("n.json", "[1]"),
        ("n.json", "{"),
        ("n.csv", "cluster\n0\n"),
        ("n.csv", ""),
        ("n.csv", b"\xff\xfe\x00"),
    ],
)
def test_files_of_names_that_are_none(blobs, name, content):
    path = blobs.folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert_bad_input(cluster(blobs, "--names", path)[0], "--names")


def test_names_of_clusters_that_were_not_found_are_left_out(blobs):
    result = run("cluster", blobs.data, "--id-col", "key", "-k", "auto", "--names", "0=A,40=B",
                 "--no-model", "-o", blobs.folder / "o")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "there is no cluster 40" in result.stdout


def test_a_column_of_known_classes_names_clusters(tmp_path):
    data, out = tmp_path / "table.csv", tmp_path / "out"
    rows = [["a", 0, "old"], ["b", 1, ""], ["c", 8, ""], ["d", 9, "new"]]
    write(data, ["key", "x", "what it is"], rows)
    result = run("cluster", data, "--id-col", "key", "--columns", "x", "-k", 2, "--no-model",
                 "--names", "what it is", "--method", "kmeans", "-o", out)  # fmt: skip
    assert result.exit_code == 0, result.output
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "· <bdi>old</bdi>" in page
    assert "· <bdi>new</bdi>" in page
    assert list(read(out / "labels.csv")[0]) == ["id", "label"]


CELLS = [
    ["key", "x", " y ", "zip", "note", "date"],
    ["r0", "1.50", "2", "01067", "=1+1", "01.02.2020"],
    ["r1", "1.5e0", "", "01067", "a, \"b\"", ""],
    ["r2", "9.00", "8", "NA", "line\nbreak", "03.02.2020"],
    ["r3", "9", "9.0", "", " spaces ", "-5"],
]  # fmt: skip


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_joined_cells_are_those_of_the_table(tmp_path, separator):
    # Text in, text out: order, zeros, empty cells and spaces stay; formulas get an apostrophe.
    data, out = tmp_path / "table.csv", tmp_path / "out"
    with data.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=separator).writerows(CELLS)
    result = run("cluster", data, "--id-col", "key", "--columns", "x,y", "-k", 2, "--join",
                 "--method", "kmeans", "--no-model", "-o", out)  # fmt: skip
    assert result.exit_code == 0, result.output
    with (out / "labels.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == [*CELLS[0], "cluster"]
    expected = [list(row) for row in CELLS[1:]]
    expected[0][4] = "'=1+1"
    assert [row[:-1] for row in rows] == expected
    assert rows[0][-1] != rows[2][-1]
    assert "1 cells begin like a formula" in result.stdout


def test_a_table_that_has_a_column_of_that_name_keeps_it(tmp_path):
    data, out = tmp_path / "table.csv", tmp_path / "out"
    write(data, ["key", "x", "cluster"], [["a", 0, "u"], ["b", 1, "u"], ["c", 9, "v"]])
    result = run("cluster", data, "--id-col", "key", "--columns", "x", "-k", 2, "--join",
                 "--method", "kmeans", "--no-model", "-o", out)  # fmt: skip
    assert result.exit_code == 0, result.output
    assert list(read(out / "labels.csv")[0]) == ["key", "x", "cluster", "cluster_2"]


def test_parquet_is_joined_and_arrays_are_not(tmp_path):
    np, pd = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    np.save(tmp_path / "x.npy", np.arange(8.0).reshape(4, 2))
    result = run("cluster", tmp_path / "x.npy", "-k", 2, "--join", "-o", tmp_path / "o")
    assert_bad_input(result, "--join", "x.npy")
    assert not (tmp_path / "o").exists()
    pytest.importorskip("pyarrow")
    pd.DataFrame({"k": list("abcd"), "x": [0.0, 1, 8, 9]}).to_parquet(tmp_path / "t.parquet")
    result = run("cluster", tmp_path / "t.parquet", "--id-col", "k", "-k", 2, "--join",
                 "--method", "kmeans", "--no-model", "-o", tmp_path / "o")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert list(read(tmp_path / "o/labels.csv")[0]) == ["k", "x", "cluster"]


def test_the_page_names_table_labels_and_what_was_found(blobs):
    _, out = cluster(blobs)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "30 rows of table.csv fall into 3 groups (clusters) of 10 rows each." in page
    assert "The cluster of each row is in labels.csv, beside this page." in page
    assert page.index("30 rows of table.csv") < page.index("COPKMeans")


def test_the_page_of_a_tree_shows_it(tmp_path):
    rows = [[f"r{i}", 10.0 * (i // 4) + 3 * (i // 2 % 2) + 0.1 * i] for i in range(12)]
    write(tmp_path / "t.csv", ["key", "x"], rows)
    write(tmp_path / "l.csv", ["a", "b", "c", "type"], [["r0", "r1", "r8", "relative"]])
    result = run("cluster", tmp_path / "t.csv", "--constraints", tmp_path / "l.csv", "--id-col",
                 "key", "-k", 3, "--method", "recon", "-o", tmp_path / "o")  # fmt: skip
    assert result.exit_code == 0, result.output
    page = (tmp_path / "o/report.html").read_text(encoding="utf-8")
    assert '<svg class="tree"' in page
    assert "the clusters <b>show</b> it" in page
