"""Tables as people have them: what is read, what is left out, what is said."""

import gzip
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from conclust._files import UnreadableFileError, text_of_file, utf8_of_file
from conclust.cli import _prepare, _table, main
from conclust.cli._options import TableOptions
from conclust.cli._table import may_have_leading_zeros, read_table
from tests.cli.conftest import assert_bad_input, read, run, write


def cluster(path, *options, k=3):
    """Run the command without a model; return its record."""
    result = run(
        "cluster", path, "-k", k, "-o", path.parent / "o", "--no-model", "--json", *options
    )
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def ari(path, truth):
    labels = [int(row["label"]) for row in read(path.parent / "o" / "labels.csv")]
    return adjusted_rand_score(truth, labels)


@pytest.fixture(scope="module")
def customers():
    """Three segments in age, money and visits; postal codes, dates and answers that say nothing."""
    rng = np.random.RandomState(0)
    n = 300
    y = rng.randint(3, size=n)
    money = np.exp(rng.normal(np.array([4, 6, 8])[y], 0.4))
    return y, pd.DataFrame(
        {
            "Kunden-Nr": [f"K{i:04d}" for i in range(n)],
            "Alter": rng.normal(np.array([25, 45, 65])[y], 4).astype(int),
            "Umsatz €": [f"{m:,.2f}".translate(str.maketrans(",.", ".,")) for m in money],
            "Besuche": rng.poisson(np.array([20, 5, 10])[y]),
            "Kanal": np.array(["Laden", "Netz", "App"])[y],
            "PLZ": rng.choice(["01067", "10115", "80331"], n),
            "seit": pd.to_datetime("2015-01-01") + pd.to_timedelta(rng.randint(999, size=n), "D"),
            "Newsletter": rng.choice(["ja", "nein"], n),
            "Notiz": [f"Anruf {i} am Tag" for i in range(n)],
        }
    )


def test_customers_with_postal_codes_are_grouped_by_what_goes_together(tmp_path, customers):
    y, frame = customers
    path = tmp_path / "kunden.csv"
    frame.assign(seit=frame["seit"].dt.strftime("%d.%m.%Y")).to_csv(
        path, sep=";", index=False, encoding="utf-8-sig"
    )
    record = cluster(path, "--id-col", "Kunden-Nr")
    assert ari(path, y) > 0.95
    said = "\n".join(record["preparation"])
    assert "Umsatz €: decimal commas read as decimal points" in said
    assert "seit: dates read as years" in said
    assert "Notiz is left out: 300 different values" in said
    assert "PLZ" in record["columns"]["categories"]
    assert "no other column goes with them, so counted little" in said
    assert record["warnings"] == []


def test_numbers_as_they_are_say_which_column_decides_alone(tmp_path, customers):
    frame = customers[1]
    frame = frame.assign(euro=np.arange(len(frame)) % 7 * 100_000.5)
    path = tmp_path / "kunden.csv"
    frame.to_csv(path, index=False)
    result = run("cluster", path, "--raw", "--id-col", "Kunden-Nr", "-k", 3, "-o", tmp_path / "o")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Warning: euro varies ")
    assert "decides alone" in json.loads((tmp_path / "o" / "run.json").read_text())["warnings"][0]


def test_the_index_that_pandas_writes_is_left_out(tmp_path):
    # Check iris, shuffled, with its classes: neither they nor the counter are clustered by.
    iris = load_iris(as_frame=True)
    frame = iris.data.sample(frac=1, random_state=0).reset_index(drop=True)
    truth = iris.target.sample(frac=1, random_state=0)
    frame["Class"] = truth.to_numpy()
    path = tmp_path / "iris.csv"
    for table in (frame, frame.sample(frac=0.9, random_state=1)):
        table.to_csv(path)
        record = cluster(path)
        assert record["columns"]["left_out"] == ["column 1", "Class"]
        assert ari(path, table["Class"]) > 0.65
    assert "it counts or names the rows" in record["preparation"][0]
    assert "holds the answer; name it in --columns" in record["preparation"][1]
    record = cluster(path, "--columns", "Class,petal length (cm)")
    assert "Class" in record["columns"]["categories"]


def test_codes_ids_and_repeated_columns(tmp_path):
    rng = np.random.RandomState(0)
    n = 200
    x = np.repeat([0.0, 5.0], n // 2) + rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "order no": rng.permutation(5000)[:n],
            "branch": rng.choice([1103, 1207, 1555], n),
            "Zip Code": rng.choice([7, 12, 90], n),
            "x": x,
            "x in cm": 100 * x + 3,
            "rating": rng.choice([1, 2, 3, 4, 5], n),
            "land": rng.choice(["a", "b"], n),
        }
    )
    frame["country"] = frame["land"].map({"a": "Austria", "b": "Belgium"})
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    record = cluster(path, k=2)
    assert record["columns"]["categories"] == ["branch", "Zip Code", "rating", "land"]
    assert record["columns"]["numbers"] == ["x", "rating"]
    said = "\n".join(record["preparation"])
    assert "x in cm is left out: it says the same as x" in said
    assert "country is left out: it says the same as land" in said
    assert "order no is left out" in said
    assert "rating: few whole numbers, half as amounts and half as codes" in said
    assert ari(path, np.repeat([0, 1], n // 2)) > 0.9


def test_columns_named_in_options(tmp_path):
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.rand(40, 3), columns=["a, b", "c", 'd "e"']).assign(code=[1, 2] * 20)
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)

    def used(*options):
        return cluster(path, *options)["columns"]

    assert used("--columns", "a, b", "--columns", "c")["numbers"] == ["a, b", "c"]
    assert used("--columns", '"a, b",c')["numbers"] == ["a, b", "c"]
    assert used("--columns", 'd "e"')["numbers"] == ['d "e"']
    assert used("--exclude", "code,c")["numbers"] == ["a, b", 'd "e"']
    assert used("--category", "c")["categories"] == ["c", "code"]
    assert_bad_input(run("cluster", path, "--exclude", "cc"), "'cc'", "--exclude", "'c'")
    assert_bad_input(run("cluster", path, "--category", "cod"), "--category", "'code'")
    result = run("cluster", path, "--exclude", '"a, b",c,code', "--exclude", 'd "e"')
    assert_bad_input(result, "no column to cluster by")


@pytest.mark.parametrize("name", ["t.csv.gz", "t.xlsx", "utf16.csv", "cp1252.csv", "t.txt"])
def test_every_way_to_write_a_table_gives_the_same(blobs, name):
    frame = pd.read_csv(blobs.data).assign(größe=["ä", "b"] * 15)
    path = blobs.folder / name
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif name.endswith("gz"):
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    else:
        encoding = {"utf16.csv": "utf-16", "cp1252.csv": "cp1252"}.get(name, "utf-8")
        frame.to_csv(path, sep="\t", index=False, encoding=encoding)
    record = cluster(path, "--id-col", "key", "--constraints", blobs.links)
    assert ari(path, blobs.y) == 1.0
    assert record["columns"]["categories"] == ["größe"]
    assert record["statements"]["n_violated"] == 0


def test_a_workbook_gives_a_workbook_too(blobs):
    openpyxl = pytest.importorskip("openpyxl")
    frame = pd.read_csv(blobs.data)
    frame.loc[3, "key"] = "=1+1"
    frame["when"] = pd.Timestamp("2020-05-01") + pd.to_timedelta(range(30), "D")
    frame["plz"] = ["01067", "80331", "10115"] * 10
    frame.to_excel(blobs.folder / "t.xlsx", index=False)
    book = openpyxl.load_workbook(blobs.folder / "t.xlsx")
    for row in book.active.iter_rows(max_col=1):  # a formula has no value before Excel has run
        row[0].data_type = "s"
    book.save(blobs.folder / "t.xlsx")
    record = cluster(blobs.folder / "t.xlsx", "--id-col", "key")
    assert record["files"][:2] == ["labels.csv", "labels.xlsx"]
    assert "plz" in record["columns"]["categories"]
    assert "when" in record["columns"]["numbers"] + record["columns"]["left_out"]
    cells = openpyxl.load_workbook(blobs.folder / "o" / "labels.xlsx").active
    assert [cell.value for cell in cells[1]][:2] == ["id", "label"]
    assert (cells["A5"].value, cells["A5"].data_type) == ("=1+1", "s")


def test_of_several_sheets_the_first_is_said_to_be_read(blobs):
    pytest.importorskip("openpyxl")
    frame = pd.read_csv(blobs.data)
    with pd.ExcelWriter(blobs.folder / "two.xlsx") as book:
        frame.to_excel(book, sheet_name="rows", index=False)
        frame.head().to_excel(book, sheet_name="few", index=False)
    result = run("cluster", blobs.folder / "two.xlsx", "-k", 3, "-o", blobs.folder / "o")
    assert "Read from 'rows', the first of 2 sheets." in " ".join(result.output.split())


def test_the_table_from_the_standard_input(blobs):
    out = blobs.folder / "o"
    result = CliRunner().invoke(
        main,
        ["cluster", "-", "--constraints", str(blobs.links), "--id-col", "key", "-k", "3", "-o", str(out)],
        input=blobs.data.read_bytes(),
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("stdin.csv: 30 rows")
    labels = [int(row["label"]) for row in read(out / "labels.csv")]
    assert adjusted_rand_score(blobs.y, labels) == 1.0
    result = CliRunner().invoke(
        main, ["check", "--constraints", "-"], input=blobs.links.read_bytes()
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("stdin.csv: 2 must-link")


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no pipes with names here")
def test_pipes(blobs):
    command = (
        f"{sys.executable} -m conclust cluster <(gzip -c {blobs.data}) --constraints "
        f"<(cat {blobs.links}) --id-col key -k 3 -o {blobs.folder / 'o'}"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "pipe.csv.gz: 30 rows" in done.stdout
    assert "4 of 4" in done.stdout


def test_decimal_commas_anywhere_tell_of_dots_everywhere(tmp_path):
    # Check a file without a plain number, where 1.140 could be little more than one.
    (tmp_path / "t.csv").write_text(
        "price;area\n1.140 €;32,5 m²\n1.512 €;61,0 m²\n9.000 €;140,1 m²\n"
    )
    table = read_table(tmp_path / "t.csv")
    assert table.frame["price"].tolist() == [1140, 1512, 9000]
    assert table.frame["area"].tolist() == [32.5, 61, 140.1]


def test_rows_may_be_called_na(tmp_path):
    names = ["NA", "null", "None", "nan", "a", "b"]
    write(tmp_path / "t.csv", ["id", "x"], [[name, i * i] for i, name in enumerate(names)])
    write(tmp_path / "l.csv", ["a", "b", "type"], [["NA", "nan", "cl"]])
    cluster(tmp_path / "t.csv", "--id-col", "id", "--constraints", tmp_path / "l.csv", k=2)
    assert [row["id"] for row in read(tmp_path / "o" / "labels.csv")] == names
    pytest.importorskip("openpyxl")
    pd.DataFrame({"id": names, "x": [1, 9, None, 4, 5, 7]}).to_excel(
        tmp_path / "t.xlsx", index=False
    )
    cluster(tmp_path / "t.xlsx", "--id-col", "id", k=2)
    assert [row["id"] for row in read(tmp_path / "o" / "labels.csv")] == names
    write(tmp_path / "t.csv", ["id", "x"], [["a", 1], ["", 2], ["c", 4]])
    result = run("cluster", tmp_path / "t.csv", "--id-col", "id", "-k", 2)
    assert_bad_input(result, "1 rows have no id", "row 1")


def test_unknown_ids_are_explained_or_left_out(blobs):
    write(blobs.links, ["a", "b", "type"], [["R00", "r05", "ml"], ["r00", "r10", "cl"]])
    options = ["--constraints", blobs.links, "--id-col", "key", "-k", 3, "-o", blobs.folder / "o"]
    result = run("cluster", blobs.data, *options)
    assert_bad_input(
        result, "'R00' is not among the 30 ids (did you mean 'r00'?)", "--skip-unknown"
    )
    result = run("cluster", blobs.data, *options, "--skip-unknown")
    assert result.exit_code == 0, result.output
    assert "1 statements name an id that no row has and are left out" in result.stdout
    assert "1 of 1" in result.stdout
    result = run("check", "--data", blobs.data, *options[:4], "--skip-unknown")
    assert "1 statements name an id that no row has" in result.stdout
    assert_bad_input(run("check", *options[:2], "--skip-unknown"), "--data")


def test_arrays_are_taken_as_they_are_unless_told(tmp_path):
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.normal(size=60) * 1000, np.repeat([0, 1], 30) + rng.rand(60) / 9])
    np.save(tmp_path / "x.npy", X)
    cluster(tmp_path / "x.npy", k=2)
    assert ari(tmp_path / "x.npy", np.repeat([0, 1], 30)) < 0.5
    cluster(tmp_path / "x.npy", "--standardize", k=2)
    assert ari(tmp_path / "x.npy", np.repeat([0, 1], 30)) > 0.9


# ---------------------------------------------------------------------- a second run, a stopped run


def test_a_second_run_leaves_nothing_of_the_first(blobs):
    out = blobs.folder / "o"
    options = [blobs.data, "--id-col", "key", "-k", 3, "-o", out]
    assert run("cluster", *options).exit_code == 0
    (out / "compare.csv").write_text("of an earlier comparison")
    (out / "mine.txt").write_text("not ours")
    result = run("cluster", *options, "--no-model")
    assert result.exit_code == 0
    assert "The results of an earlier run in this folder are replaced." in result.stdout
    assert sorted(path.name for path in out.iterdir()) == [
        "labels.csv", "mine.txt", "report.html", "run.json",
    ]  # fmt: skip


def test_a_run_that_is_stopped_leaves_the_results_of_the_first(blobs, monkeypatch):
    import conclust.reporting

    out = blobs.folder / "o"
    options = [blobs.data, "--id-col", "key", "-o", out]
    assert run("cluster", *options, "-k", 3).exit_code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(conclust.reporting, "write_report", interrupted)
    assert run("cluster", *options, "-k", 2).exit_code == 130
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


# ---------------------------------------------------------------------- predict


@pytest.fixture
def fitted(tmp_path, customers):
    pytest.importorskip("skops")
    frame = customers[1]
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = run(
        "cluster", tmp_path / "t.csv", "--id-col", "Kunden-Nr", "-k", 3, "-o", tmp_path / "o"
    )
    assert result.exit_code == 0, result.output
    return tmp_path, frame


def predict(folder, frame, *options):
    new = folder / "new.csv"
    frame.to_csv(new, index=False)
    return run("predict", folder / "o" / "model.skops", new, *options)


def test_predict_needs_only_the_columns_of_the_model_and_knows_the_ids(fitted):
    folder, frame = fitted
    told = [(row["id"], row["label"]) for row in read(folder / "o" / "labels.csv")]
    result = predict(folder, frame.drop(columns="Notiz"))
    assert result.exit_code == 0, result.output
    rows = [line.split(",") for line in result.stdout.splitlines()[1:]]
    assert [tuple(row) for row in rows] == told
    result = predict(folder, frame.drop(columns=["Notiz", "Kunden-Nr"]))  # then by position
    assert result.stdout.splitlines()[1].startswith("0,")
    result = predict(folder, frame[frame["PLZ"] != "01067"].head(5))  # no zero in front left
    assert "has not seen" not in result.stderr
    result = predict(folder, frame.drop(columns=["Alter", "Notiz"]))
    assert_bad_input(result, "lacks columns the model uses: 'Alter'.")


def test_predict_names_the_column_that_is_wrong(fitted):
    folder, frame = fitted
    result = predict(folder, frame.assign(Besuche="viele"))
    assert_bad_input(result, "the column 'Besuche' must hold numbers; it holds 'viele'")
    result = predict(folder, frame.assign(Kanal="Brief"))
    assert result.exit_code == 0
    assert "Kanal: 300 rows hold a value the model has not seen ('Brief')" in result.stderr
    assert "count as the average row" in result.stderr


def test_predict_writes_a_workbook(fitted):
    folder, frame = fitted
    pytest.importorskip("openpyxl")
    assert predict(folder, frame, "-o", folder / "new.xlsx").exit_code == 0
    assert pd.read_excel(io.BytesIO((folder / "new.xlsx").read_bytes())).shape == (300, 2)


def test_compare_says_what_seconds_are_and_why_a_method_failed(blobs):
    import conclust

    known = conclust.sample_constraints(blobs.y, 30, random_state=0)
    known.write(blobs.links, ids=[f"r{i:02d}" for i in range(30)])
    with blobs.links.open("a", newline="") as file:
        file.write("r00,r01,must-link,1\nr00,r01,cannot-link,1\n")
    result = run("compare", blobs.data, "--constraints", blobs.links, "--id-col", "key", "-k", 3,
                 "--method", "pckmeans", "--method", "cop-kmeans")  # fmt: skip
    assert "s per fold" in result.stdout
    reason = result.stdout.split("cop-kmeans failed: ")[1].splitlines()[0]
    assert "r00 and r01" in reason


@pytest.mark.parametrize("chunk", [5, 1 << 20])
def test_leading_zeros_are_looked_for_as_by_a_regular_expression(chunk, monkeypatch):
    # Check random texts, cut anywhere: what the expression finds is found, and hardly more.
    monkeypatch.setattr(_table, "CHUNK", chunk)
    expression = re.compile(rb"""(?:^|[\s,;"'])[+-]?0\d""")
    rng = np.random.RandomState(0)
    letters = np.frombuffer(b"0123456789.,,;e+- \n\"'", np.uint8)
    answers = []
    for size in rng.randint(1, 40, size=500):
        content = b"a,b\n" + rng.choice(letters, size).tobytes()
        answers.append((bool(expression.search(content)), may_have_leading_zeros(content)))
    assert (True, False) not in answers
    assert answers.count((False, True)) < 0.1 * answers.count((False, False))
    assert not may_have_leading_zeros(b"a,b\n0.5,1e-05\n-0.25,2020-01-05\n0,10\n")


@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_text_as_bytes_is_the_text(tmp_path, encoding):
    # Check against the text, whatever the file was written in.
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n" if encoding == "ascii" else "a,größe\n1,2\n", encoding=encoding)
    content, note = utf8_of_file(path)
    assert content.decode() == text_of_file(path).text
    assert note == text_of_file(path).note
    path.write_bytes(b"a,b\n1,\0\n")
    with pytest.raises(UnreadableFileError, match="not a text file"):
        utf8_of_file(path)


def test_measured_numbers_are_counted_in_the_first_rows_only():
    # Check that what decides about a column is the same: few values, many, and whole numbers.
    rng = np.random.RandomState(0)
    measured, codes = pd.Series(rng.normal(size=3000)), pd.Series(rng.permutation(3000))
    assert _prepare.MAX_LEVELS < _prepare._n_levels(measured) <= _prepare.N_FIRST
    assert _prepare._n_levels(codes) == 3000
    late = pd.Series(np.append(np.full(2000, 0.5), rng.normal(size=100)))
    assert _prepare._n_levels(late) == 101


@pytest.mark.parametrize("separator", [",", "\t", "|", ":"])
def test_codes_with_leading_zeros_are_none_of_the_numbers(tmp_path, separator):
    lines = [["x", "zip"], *(["1", "01067"], ["2", "10115"], ["9", "80331"]) * 4]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(separator.join(line) for line in lines), encoding="utf-8")
    table = read_table(path, TableOptions(separator=separator))
    assert table.frame["zip"].tolist()[:2] == ["01067", "10115"]
