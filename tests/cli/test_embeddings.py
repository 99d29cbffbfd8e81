"""Vectors beside a table, or in it: what `--embeddings` takes and what it refuses."""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from conclust.cli._options import _suffix_of
from tests.cli.conftest import run


@pytest.fixture
def notes(tmp_path):
    """Forty notes about four things, and vectors whose directions tell them apart."""
    rng = np.random.RandomState(0)
    y = np.arange(40) % 4
    X = np.eye(6)[y] + 0.1 * rng.normal(size=(40, 6))
    X *= rng.uniform(0.2, 5, size=(40, 1))  # lengths say nothing
    table = tmp_path / "notes.csv"
    words = ["late parcel", "wrong bill", "lost key", "broken lamp"]
    pd.DataFrame({"key": [f"n{i}" for i in range(40)], "text": [words[c] for c in y]}).to_csv(
        table, index=False
    )
    np.save(tmp_path / "vectors.npy", X.astype(np.float16))
    return table, X, y


def labels_in(folder):
    with (folder / "labels.csv").open(encoding="utf-8") as file:
        return [int(row["label"]) for row in csv.DictReader(file)]


def test_vectors_beside_a_table_are_compared_by_direction(notes, tmp_path):
    table, _, y = notes
    result = run("cluster", table, "--embeddings", tmp_path / "vectors.npy", "--id-col", "key",
                 "--text-col", "text", "-k", 4, "-o", tmp_path / "o")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "40 vectors of 6 numbers, scaled to unit length" in result.stdout
    assert adjusted_rand_score(y, labels_in(tmp_path / "o")) == 1
    record = json.loads((tmp_path / "o" / "run.json").read_text(encoding="utf-8"))
    assert record["inputs"]["embeddings"]["path"].endswith("vectors.npy")
    assert "parcel" in (tmp_path / "o" / "report.html").read_text(encoding="utf-8")


def test_new_vectors_are_labelled_by_the_model(notes, tmp_path):
    pytest.importorskip("skops")
    table, X, _ = notes
    told = ("--embeddings", tmp_path / "vectors.npy", "-k", 4, "-o", tmp_path / "o")
    assert run("cluster", table, *told, "--model").exit_code == 0
    np.save(tmp_path / "new.npy", 7 * X)
    result = run("predict", tmp_path / "o" / "model.skops", tmp_path / "new.npy", "--json")
    assert json.loads(result.stdout)["label"] == labels_in(tmp_path / "o")


@pytest.mark.parametrize("kind", ["npz", "column"])
def test_other_places_of_vectors(notes, tmp_path, kind):
    table, X, y = notes
    if kind == "npz":
        np.savez(tmp_path / "v.npz", X=X, ids=[f"n{i}" for i in range(40)])
        given = (table, "--embeddings", tmp_path / "v.npz")
    else:
        pytest.importorskip("pyarrow")
        frame = pd.read_csv(table)
        frame["vector"] = list(X)
        frame.to_parquet(tmp_path / "notes.parquet")
        given = (tmp_path / "notes.parquet", "--embeddings", "vector")
    result = run("cluster", *given, "--id-col", "key", "-k", 4, "-o", tmp_path / "o")
    assert result.exit_code == 0, result.output
    assert adjusted_rand_score(y, labels_in(tmp_path / "o")) == 1


def test_a_column_of_lists_is_named_when_nobody_asks_for_it(notes, tmp_path):
    pytest.importorskip("pyarrow")
    table, X, _ = notes
    pd.DataFrame({"key": pd.read_csv(table)["key"], "vector": list(X)}).to_parquet(
        tmp_path / "t.parquet"
    )
    result = run("cluster", tmp_path / "t.parquet", "--id-col", "key", "-k", 2)
    assert result.exit_code == 2
    assert "--embeddings vector clusters by them" in result.stderr


def ragged(X):
    return [*X[:-1].tolist(), [1.0]]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda X: X[:-1], "holds 39 rows and notes.csv 40"),
        (lambda X: np.where(np.arange(40)[:, None] == 3, np.nan, X), "missing or infinite.*'n3'"),
        (lambda X: X.astype(object), "holds Python objects"),
        (lambda X: X[:, 0], "takes numbers of shape"),
        (lambda X: X[:, :0], "has no columns"),
    ],
)
@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_vectors_that_do_not_fit_are_refused(notes, tmp_path, make, says, suffix):
    table, X, _ = notes
    path = tmp_path / f"wrong.{suffix}"
    if suffix == "npy":
        np.save(path, make(X), allow_pickle=True)
    else:
        np.savez(path, X=make(X))
        says = says.replace("takes numbers of shape", "must hold one two-dimensional array")
    result = run("cluster", table, "--id-col", "key", "--embeddings", path, "-k", 3)
    assert result.exit_code == 2
    assert "allow_pickle" not in result.stderr
    assert re.search(says, result.stderr.replace("\n", " ")), result.stderr


def test_rows_in_another_order_and_files_that_are_none_are_refused(notes, tmp_path):
    table, X, _ = notes
    np.savez(tmp_path / "v.npz", X=X, ids=[f"n{i}" for i in range(40)][::-1])
    for given, says in (
        ("v.npz", "row 0 is 'n39' there and 'n0'"),
        ("none.npy", "no such file"),
        ("text", "takes a .npy or .npz file, or a column"),
    ):
        source = given if given == "text" else tmp_path / given
        result = run("cluster", table, "--id-col", "key", "--embeddings", source, "-k", 3)
        assert result.exit_code == 2
        assert says in result.stderr


def test_lists_of_different_length_are_refused(notes, tmp_path):
    pytest.importorskip("pyarrow")
    table, X, _ = notes
    frame = pd.read_csv(table)
    frame["vector"] = ragged(X)
    frame.to_parquet(tmp_path / "t.parquet")
    result = run("cluster", tmp_path / "t.parquet", "--id-col", "key", "--embeddings", "vector",
                 "-k", 3)  # fmt: skip
    assert result.exit_code == 2
    assert "row 'n39' has 1 numbers, others 6" in result.stderr


def test_labels_as_a_workbook_where_asked_for(notes, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    table, _, _ = notes
    result = run("cluster", table, "--embeddings", tmp_path / "vectors.npy", "-k", 4, "--xlsx",
                 "-o", tmp_path / "o")  # fmt: skip
    assert result.exit_code == 0, result.output
    cells = list(openpyxl.load_workbook(tmp_path / "o" / "labels.xlsx").active.values)
    assert [row[1] for row in cells[1:]] == labels_in(tmp_path / "o")


def test_utf16_is_said(notes, tmp_path):
    _, X, _ = notes
    path = tmp_path / "wide.csv"
    pd.DataFrame(X[:, :2], columns=["größe", "maß"]).to_csv(path, index=False, encoding="utf-16")
    result = run("cluster", path, "-k", 2, "-o", tmp_path / "o")
    assert "read as UTF-16" in result.stdout
    assert result.exit_code == 0


def test_range_of_clusters(notes, tmp_path):
    table, _, _ = notes
    told = ("--embeddings", tmp_path / "vectors.npy", "-o", tmp_path / "o")
    result = run("cluster", table, *told, "-k", "auto:3-6")
    assert result.exit_code == 0, result.output
    assert "4 *" in result.stdout
    tried = json.loads((tmp_path / "o" / "run.json").read_text())["n_clusters_tried"]
    assert [p["n_clusters"] for p in tried] == [3, 4, 5, 6]
    result = run("cluster", table, *told, "-k", "auto:6-3")
    assert result.exit_code == 2
    assert "write it like auto:2-30" in result.stderr


def test_npz_from_a_pipe_is_not_taken_for_a_workbook(notes, tmp_path):
    _, X, _ = notes
    np.savez(tmp_path / "x.npz", X=X)
    assert _suffix_of((tmp_path / "x.npz").read_bytes()) == ".npz"
