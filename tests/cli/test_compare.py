import json

import pytest

import conclust
from conclust._declare import methods
from tests.cli.conftest import assert_bad_input, read, run, write

FAST = ["--method", "pckmeans", "--method", "cop-kmeans", "--method", "kmeans"]


@pytest.fixture
def many(blobs):
    known = conclust.sample_constraints(blobs.y, 30, random_state=0)
    blobs.links = blobs.folder / "many.csv"
    known.write(blobs.links, ids=[f"r{i:02d}" for i in range(30)])
    return blobs


def compare(files, *options):
    return run("compare", files.data, "--constraints", files.links, "--id-col", "key", *options)


def test_every_method_is_ranked_by_held_out_statements(many):
    result = compare(many, "-k", 3, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    ranking = found["ranking"]
    wanted = {n for n, m in methods().items() if m.kinds and not m.takes.needs} | {"kmeans"}
    told = {row["method"] for row in ranking} | {row["method"] for row in found["skipped"]}
    assert wanted <= told
    scores = [row["score"] for row in ranking if row["score"] is not None]
    assert scores == sorted(scores, reverse=True)
    assert found["best"] == ranking[0]["method"]
    best = ranking[0]
    assert best["score"] == 1.0  # three far groups
    assert best["method"] != "kmeans"  # of equals, one that listens
    assert best["seconds"] > 0
    assert best["spread"] == 0.0


def test_the_table_and_the_report(many):
    out = many.folder / "o"
    result = compare(many, "-k", 3, *FAST, "-o", out)
    assert result.exit_code == 0, result.output
    assert "Share of held-out statements kept, 5 folds over 30 statements" in result.stdout
    assert "is told nothing" in result.stdout
    assert "these statements say little" in result.stdout  # three far groups need no telling
    assert [row["method"] for row in read(out / "compare.csv")][-1] == "kmeans"
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Comparison of methods" in page
    assert "cop-kmeans" in page


def test_a_method_that_fails_stands_last_with_its_reason(many):
    with many.links.open("a", newline="") as file:
        file.write("r00,r01,must-link,1\nr00,r01,cannot-link,1\n")
    result = compare(many, "-k", 3, *FAST, "--json")
    ranking = json.loads(result.stdout)["ranking"]
    # The two stand in one fold, so only the fits that see them fail.
    assert ranking[-1]["method"] == "cop-kmeans"
    assert ranking[-1]["score"] is None
    assert "r00 and r01" in ranking[-1]["note"]


def test_statements_that_hang_together_cannot_be_held_out(blobs):
    write(blobs.links, ["a", "b", "type"], [["r00", "r01", "ml"], ["r01", "r02", "ml"]])
    assert_bad_input(compare(blobs, "-k", 3), "hold some out")


def test_no_statements(blobs):
    write(blobs.links, ["a", "b", "type"], [])
    assert_bad_input(compare(blobs, "-k", 3), "no statements")


def test_more_clusters_than_rows(many):
    assert_bad_input(compare(many, "-k", 40), "-k 40")


def test_k_auto(many):
    result = compare(many, "--method", "pckmeans", "--json")
    assert json.loads(result.stdout)["n_clusters"] == 3


def test_relative_statements_alone(blobs, monkeypatch):
    pairs = {n: method for n, method in methods().items() if "relative" not in method.kinds}
    monkeypatch.setattr("conclust.cli._compare.methods", lambda: pairs)
    write(
        blobs.links,
        ["a", "b", "c", "type"],
        [["r00", "r01", "r10", "relative"], ["r10", "r11", "r20", "relative"]],
    )
    assert_bad_input(compare(blobs, "-k", 3), "No method suits")
