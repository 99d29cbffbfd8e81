"""Bad input: exit code 2, one or two lines on stderr, no traceback."""

import os

import numpy as np
import pytest

from tests.cli.conftest import assert_bad_input, run, write


@pytest.fixture
def cluster(blobs):
    def call(data=None, *options, links=blobs.links):
        return run(
            "cluster", data or blobs.data, *(["--constraints", links] if links else []), *options,
            "-o", blobs.folder / "out",
        )  # fmt: skip

    call.folder, call.data, call.links = blobs.folder, blobs.data, blobs.links
    return call


def test_missing_table(cluster):
    assert_bad_input(cluster(cluster.folder / "none.csv", "-k", 3), "none.csv", "no such file")


def test_missing_statements(cluster):
    result = cluster(None, "--id-col", "key", "-k", 3, links=cluster.folder / "none.csv")
    assert_bad_input(result, "none.csv", "no such file")


def test_a_folder_instead_of_a_table(cluster):
    assert_bad_input(cluster(cluster.folder, "-k", 3), "is a folder")


def test_an_unknown_suffix(cluster):
    path = cluster.folder / "table.docx"
    path.write_text("x")
    assert_bad_input(cluster(path, "-k", 3), ".csv", ".docx")


def test_wrong_id_column_suggests(cluster):
    result = cluster(None, "--id-col", "kee", "-k", 3)
    assert_bad_input(result, "'kee'", "--id-col", "Did you mean 'key'?")


def test_wrong_columns(cluster):
    assert_bad_input(cluster(None, "--columns", "x,zz", "-k", 3), "'zz'", "--columns")


@pytest.mark.parametrize("content", ["", "\n\n", "key,x\n"])
def test_empty_files(cluster, content):
    path = cluster.folder / "empty.csv"
    path.write_text(content)
    assert_bad_input(cluster(path, "-k", 2, links=None), "empty.csv")


def test_one_row(cluster):
    path = cluster.folder / "one.csv"
    path.write_text("key,x\na,1\n")
    assert_bad_input(cluster(path, "-k", 1, links=None), "only one row")


def test_all_constant_columns(cluster):
    path = cluster.folder / "constant.csv"
    path.write_text("key,x,y\na,1,2\nb,1,2\nc,1,2\n")
    result = cluster(path, "--id-col", "key", "-k", 2, links=None)
    assert_bad_input(result, "x, y are left out", "same value in every row")


def test_a_million_columns(cluster):
    path = cluster.folder / "wide.csv"
    n = 1_000_000
    with path.open("w") as file:
        file.write(",".join(f"c{i}" for i in range(n)) + "\n")
        file.write(",".join("1" for _ in range(n)) + "\n")
    assert_bad_input(cluster(path, "-k", 2, links=None), "1,000,000 columns", "swapped")
    np.save(cluster.folder / "wide.npy", np.zeros((2, n), np.uint8))
    result = cluster(cluster.folder / "wide.npy", "-k", 2, links=None)
    assert_bad_input(result, "1,000,000 columns")


def test_unknown_ids_are_listed_with_lines(cluster):
    links = cluster.folder / "l.csv"
    write(links, ["a", "b", "type"], [["r00", "zebra", "ml"], ["yak", "r01", "cl"]])
    result = cluster(None, "--id-col", "key", "-k", 3, links=links)
    assert_bad_input(result, "line 2", "'zebra'", "line 3", "'yak'")


def test_ids_without_the_id_column(cluster):
    assert_bad_input(cluster(None, "--columns", "x,y", "-k", 3), "--id-col")


def test_ids_that_are_not_unique(cluster):
    path = cluster.folder / "twice.csv"
    path.write_text("key,x\na,1\na,2\nb,3\n")
    result = cluster(path, "--id-col", "key", "-k", 2, links=None)
    assert_bad_input(result, "unique", "'a' (2 times)")


def test_bom_and_semicolons_are_read(cluster):
    # Spreadsheets write these; both are read, and the semicolons and commas are said.
    path = cluster.folder / "excel.csv"
    rows = "".join(f"r{i:02d};{i // 10 * 6},{i % 10};{i % 3}\n" for i in range(30))
    path.write_bytes(("\ufeffkey;x;y\n" + rows).encode("utf-8"))
    result = cluster(path, "--id-col", "key", "-k", 3)
    assert result.exit_code == 0, result.output
    assert "semicolons" in result.stdout
    assert "x: decimal commas" in result.stdout


def test_a_header_with_two_separators(cluster):
    path = cluster.folder / "two.csv"
    path.write_text("a,b;c\n1,2;3\n4,5;6\n")
    assert_bad_input(cluster(path, "-k", 2, links=None), "--separator")
    assert cluster(path, "-k", 2, "--separator", ";", links=None).exit_code == 0
    for bad in (";;", "§"):
        said = cluster(path, "-k", 2, "--separator", bad, links=None)
        assert_bad_input(
            said, f"--separator must be one character, and none beyond ASCII; got {bad!r}"
        )


def test_no_header(cluster):
    path = cluster.folder / "bare.csv"
    path.write_text("1,2\n3,4\n5,6\n")
    assert_bad_input(cluster(path, "-k", 2, links=None), "header")


def test_rows_longer_than_the_header(cluster):
    path = cluster.folder / "ragged.csv"
    path.write_text("x,y\n1,2\n3,4,5\n6,7\n")
    assert_bad_input(cluster(path, "-k", 2, links=None), "ragged.csv")
    path.write_text("x,y\n1,2,9\n3,4,9\n6,7,9\n")
    assert_bad_input(cluster(path, "-k", 2, links=None), "ragged.csv")


def test_a_column_twice(cluster):
    path = cluster.folder / "twice.csv"
    path.write_text("x,x\n1,2\n3,4\n")
    assert_bad_input(cluster(path, "-k", 2, links=None), "'x' more than once")


def test_not_text_in_any_usual_encoding(cluster):
    path = cluster.folder / "odd.csv"
    path.write_bytes(b"key,x\nM\x81ller,1\nb,2\n")
    result = cluster(path, "--id-col", "key", "-k", 2, links=None)
    assert_bad_input(result, "byte 7", "UTF-8", "--encoding")
    result = cluster(path, "--id-col", "key", "-k", 2, "--encoding", "nonsense", links=None)
    assert_bad_input(result, "there is no encoding 'nonsense'")


def test_binary_files(cluster):
    path = cluster.folder / "zip.csv"
    path.write_bytes(b"PK\x03\x04\0\0\0\0\n")
    assert_bad_input(cluster(path, "-k", 2, links=None), "not a text file")
    for name in ("bad.npy", "bad.npz", "bad.parquet"):
        if name.endswith("parquet"):
            pytest.importorskip("pyarrow")
        (cluster.folder / name).write_bytes(b"nonsense")
        assert_bad_input(cluster(cluster.folder / name, "-k", 2, links=None), name)


def test_pickles_are_refused(cluster):
    path = cluster.folder / "objects.npy"
    np.save(path, np.array([{"a": 1}, {"b": 2}], dtype=object), allow_pickle=True)
    assert_bad_input(cluster(path, "-k", 2, links=None), "objects.npy")


def test_infinite_values_name_row_and_column(cluster):
    path = cluster.folder / "inf.csv"
    path.write_text("key,x\na,1\nb,inf\nc,2\n")
    result = cluster(path, "--id-col", "key", "-k", 2, links=None)
    assert_bad_input(result, "x is infinite", "'b'")


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("column", ["0.5 inf 2.5 4 1", "101 inf 307 101 inf"])
def test_infinite_values_are_refused_without_a_warning_of_numpy(cluster, column):
    path = cluster.folder / "inf.csv"
    rows = zip("abcde", column.split(), "31524", strict=True)
    path.write_text("key,x,y\n" + "".join(f"{','.join(row)}\n" for row in 5 * list(rows)))
    result = cluster(path, "-k", 2, links=None)
    assert_bad_input(result, "x is infinite")


def test_the_way_out_for_ids_is_said_once(cluster):
    result = cluster(None, "--columns", "x,y", "-k", 3)
    assert_bad_input(result, "--id-col")
    assert result.stderr.count("--id-col") == 1


def test_hidden_files_are_not_named(cluster):
    result = run(
        "check", "--constraints", cluster.links, "--repair", cluster.folder / "no" / "o.csv"
    )
    assert_bad_input(result, "o.csv: No such file or directory")
    assert ".part" not in result.stderr


def test_options_that_exclude_each_other(cluster):
    assert_bad_input(cluster(None, "--raw", "--standardize"), "--raw", "--standardize")
    assert_bad_input(cluster(None, "--columns", "x,,y"), "'x,,y'", "empty name")
    result = run("cluster", "-", "--constraints", "-", "-k", 2)
    assert_bad_input(result, "standard input")


def test_other_spreadsheets_say_how_to_save_them(cluster):
    path = cluster.folder / "old.xls"
    path.write_bytes(b"x")
    assert_bad_input(cluster(path, "-k", 2, links=None), "Save it as .xlsx or .csv")


def test_more_clusters_than_rows(cluster):
    result = cluster(None, "--id-col", "key", "-k", 31)
    assert_bad_input(result, "-k 31", "30 rows")


@pytest.mark.parametrize("k", ["0", "-2", "many"])
def test_k_that_is_no_count(cluster, k):
    assert_bad_input(cluster(None, "--id-col", "key", "-k", k), "-k")


def test_output_that_is_a_file(cluster):
    (cluster.folder / "out").write_text("")
    assert_bad_input(cluster(None, "--id-col", "key", "-k", 3), "is a file", "-o")


def test_output_below_a_file(cluster):
    (cluster.folder / "plain").write_text("")
    result = run("cluster", cluster.data, "-k", 2, "--columns", "x,y",
                 "-o", cluster.folder / "plain" / "below")  # fmt: skip
    assert_bad_input(result, "cannot be written", "-o")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_output_without_permission(cluster):
    locked = cluster.folder / "locked"
    locked.mkdir(mode=0o500)
    result = run("cluster", cluster.data, "-k", 2, "--columns", "x,y", "-o", locked / "o")
    assert_bad_input(result, "cannot be written", "-o")


def test_a_bad_parameter(cluster):
    options = ("--id-col", "key", "-k", 3, "--method", "bckm")
    assert_bad_input(cluster(None, *options, "--set", "rho=-1"), "rho")
    assert_bad_input(cluster(None, *options, "--set", "nonsense=1"), "nonsense")
    assert_bad_input(cluster(None, *options, "--set", "novalue"), "NAME=VALUE")
    assert_bad_input(cluster(None, *options, "--set", "n_clusters=4"), "use -k")


def test_a_method_that_is_not_there_or_does_not_fit(cluster):
    options = ("--id-col", "key", "-k", 3, "--method", "cotraining")
    assert_bad_input(cluster(None, *options), "needs two tables", "pckmeans")
    assert_bad_input(cluster(None, "--method", "nonsense"), "'nonsense'", "'pckmeans'")
    links = cluster.folder / "relative.csv"
    write(links, ["a", "b", "c", "type"], [["r00", "r01", "r10", "relative"]])
    result = cluster(None, "--id-col", "key", "-k", 3, "--method", "ckm", links=links)
    assert_bad_input(result, "no relative statements")


def test_debug_shows_the_trace(cluster):
    for arguments in (["--debug", "cluster"], ["cluster", "--debug"]):
        result = run(*arguments, cluster.folder / "none.csv")
        assert result.exit_code == 2
        assert "Traceback" in result.stderr
