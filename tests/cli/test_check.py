import json

import conclust
from tests.cli.conftest import assert_bad_input, run, write


def links_of(folder, rows, name="links.csv"):
    path = folder / name
    write(path, ["a", "b", "type"], rows)
    return path


def test_statements_that_can_all_hold(blobs):
    result = run("check", "--constraints", blobs.links)
    assert result.exit_code == 0, result.output
    assert "2 must-link, 2 cannot-link, about 6 rows" in result.stdout
    assert "No conflicts" in result.stdout


def test_a_clash_is_a_sentence_with_the_ids_and_exit_code_1(tmp_path):
    rows = [["ann", "bob", "ml"], ["bob", "cid", "ml"], ["ann", "cid", "cl"]]
    result = run("check", "--constraints", links_of(tmp_path, rows))
    assert result.exit_code == 1
    assert "ann and cid may not share a cluster" in result.stdout
    assert "ann – bob – cid" in result.stdout
    assert result.stderr == ""


def test_json_has_the_same(tmp_path):
    rows = [["ann", "bob", "ml"], ["ann", "bob", "cl"], ["ann", "bob", "ml"], ["x", "y", "skip"]]
    result = run("check", "--constraints", links_of(tmp_path, rows), "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["statements"] == {"must-link": 1, "cannot-link": 1}
    assert found["n_repeated"] == 1
    assert found["n_skipped"] == 1
    assert found["n_rows_named"] == 2
    (conflict,) = found["conflicts"]
    assert conflict["reason"] == "ann and bob are both must-linked and cannot-linked."
    assert {row["type"] for row in conflict["statements"]} == {"must-link", "cannot-link"}


def test_too_few_clusters(tmp_path):
    rows = [["a", "b", "cl"], ["b", "c", "cl"], ["a", "c", "cl"]]
    path = links_of(tmp_path, rows)
    assert run("check", "--constraints", path).exit_code == 0
    assert run("check", "--constraints", path, "-k", 3).exit_code == 0
    result = run("check", "--constraints", path, "-k", 2)
    assert result.exit_code == 1
    assert "n_clusters=2: a, b, c" in result.stdout


def test_with_the_table_ids_are_checked_and_usefulness_is_told(blobs):
    result = run("check", "--constraints", blobs.links, "--data", blobs.data, "--id-col", "key")
    assert result.exit_code == 0, result.output
    assert "Informativeness" in result.stdout
    assert "Coherence" in result.stdout
    bad = links_of(blobs.folder, [["r00", "nobody", "ml"]], "bad.csv")
    result = run("check", "--constraints", bad, "--data", blobs.data, "--id-col", "key")
    assert_bad_input(result, "'nobody'", "line 2")


def test_repair_writes_what_can_hold_and_says_what_was_dropped(tmp_path):
    rows = [["ann", "bob", "ml"], ["bob", "cid", "ml"], ["ann", "cid", "cl"], ["dan", "ann", "cl"]]
    out = tmp_path / "mended.csv"
    result = run("check", "--constraints", links_of(tmp_path, rows), "--repair", out)
    assert result.exit_code == 1
    assert "3 statements written" in result.stdout
    assert run("check", "--constraints", out).exit_code == 0
    mended = conclust.read_constraints(out, ids=["ann", "bob", "cid", "dan"])
    assert len(mended) == 3
    result = run("check", "--constraints", tmp_path / "links.csv", "--repair", out, "--json")
    assert len(json.loads(result.stdout)["repair"]["dropped"]) == 1


def test_repair_refuses_ids_that_a_spreadsheet_would_run(tmp_path):
    path = links_of(tmp_path, [["=1+1", "bob", "ml"]])
    result = run("check", "--constraints", path, "--repair", tmp_path / "o.csv")
    assert_bad_input(result, "'=1+1'", "o.json")
    assert not (tmp_path / "o.csv").exists()
    assert run("check", "--constraints", path, "--repair", tmp_path / "o.json").exit_code == 0
    content = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert content["must_link"] == [["=1+1", "bob"]]


def test_bad_input(tmp_path):
    assert_bad_input(run("check", "--constraints", tmp_path / "none.csv"), "no such file")
    assert_bad_input(run("check"), "--constraints")
    path = tmp_path / "l.csv"
    path.write_text("a,b\n1,2\n")
    assert_bad_input(run("check", "--constraints", path), "no column 'type'")
    path.write_text("")
    assert_bad_input(run("check", "--constraints", path), "empty")
    path = links_of(tmp_path, [["a", "a", "ml"]])
    assert_bad_input(run("check", "--constraints", path), "linked to itself")
    path = links_of(tmp_path, [["a", "b", "perhaps"]])
    assert_bad_input(run("check", "--constraints", path), "'perhaps'", "must-link")
    path = links_of(tmp_path, [["a", "b", "ml"]])
    assert_bad_input(run("check", "--constraints", path, "--id-col", "key"), "--data")
    assert_bad_input(run("check", "--constraints", path, "-k", 0), "-k")


def test_names_that_are_no_text(tmp_path):
    path = tmp_path / "l.json"
    path.write_text(
        '{"version": 1, "must_link": [["a", "\\ud800"]], "cannot_link": [["a", "\\ud800"]]}'
    )
    assert_bad_input(run("check", "--constraints", path), "not text")


def test_relative_statements_and_json_files(tmp_path):
    path = tmp_path / "l.json"
    path.write_text('{"version": 1, "relative": [["a", "b", "c"]], "apart": [["a", "c", 7]]}')
    result = run("check", "--constraints", path)
    assert result.exit_code == 0, result.output
    assert "1 relative, 1 apart, about 4 rows" in result.stdout
