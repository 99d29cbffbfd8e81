import gzip
import json
import os
import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conclust import Constraints, _files, read_constraints
from conclust.constraints import summarize_file
from conclust.exceptions import (
    ConstraintsIgnoredWarning,
    InvalidConstraintsError,
    MissingExtraError,
)
from conclust.testing import consistent_constraints

SUFFIXES = [".csv", ".tsv", ".json", ".jsonl"]


def written(tmp_path, text, name="links.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(case=consistent_constraints(n_samples=9, max_relative=5, weighted=True))
def test_written_and_read_back(tmp_path_factory, suffix, case):
    known, _ = case
    path = tmp_path_factory.mktemp("files") / f"links{suffix}"
    known.write(path)
    assert read_constraints(path).on(9) == known
    ids = [f'id, "{i}"\t;\n|é{i}' for i in range(9)]
    known.write(path, ids=ids)
    again = read_constraints(path, ids=ids)
    assert again == known
    assert again.ids.tolist() == ids


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_order_provenance_and_skipped_rows_survive(tmp_path, suffix):
    source = written(
        tmp_path,
        "a,b,c,type,weight,who,note\n"
        "x,y,,different,2,ann,\n"
        'y,z,,SAME,,bob,"sure, yes"\n'
        "x,z,,skip,,ann,\n"
        "x,y,z,triplet,0.5,,late\n",
    )
    ids = ["x", "y", "z"]
    known = read_constraints(source, ids=ids)
    assert [s.kind for s in known] == ["cannot-link", "must-link", "relative"]
    assert known.weight.tolist() == [2.0, 1.0, 0.5]
    assert known.provenance["who"].tolist() == ["ann", "bob", None]
    assert known.provenance["note"].tolist() == [None, "sure, yes", "late"]
    assert len(known.skipped) == 1
    assert "1 skipped" in repr(known)
    out = tmp_path / f"out{suffix}"
    known.write(out)
    again = read_constraints(out, ids=ids)
    assert again == known
    assert again.provenance["who"].tolist() == ["ann", "bob", None]
    assert again.provenance["note"].tolist() == [None, "sure, yes", "late"]
    assert again.skipped[0]["type"] == "skip"


def test_groups_stay_compact_in_json_and_are_written_out_in_csv(tmp_path):
    known = Constraints.from_groups(apart=[0, 0, 0, 0, 1, 1])
    known.write(tmp_path / "a.json")
    assert read_constraints(tmp_path / "a.json").on(6) == known
    known.write(tmp_path / "a.csv")
    pairs = read_constraints(tmp_path / "a.csv").cannot_link.tolist()
    assert len(pairs) == 7


def test_aliases_case_spaces_and_bom(tmp_path):
    text = "﻿a , b,type\n0,1,ML\n0,2, Must \n0,3,same\n0,4,1\n1,2,cl\n1,3,Cannot\n1,4,DIFFERENT\n2,3,-1\n\n"
    known = read_constraints(written(tmp_path, text))
    assert len(known.must_link) == 4
    assert len(known.cannot_link) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "links.csv is empty"),
        ("a,b\n0,1\n", "links.csv has no column 'type'.*Found: a, b"),
        ("a,b,type,a\n", "has the column 'a' more than once"),
        ("a,b,type\n0,1,ml\n0,2,maybe\n", "line 3: type 'maybe' is none of must-link"),
        ("a,b,type\n0,1\n", "line 2: type \\(none\\)"),
        ("a,b,type\n0,1,ml,extra\n", "line 2 has 4 fields, but the header has 3"),
        ("a,b,type\n0,zed,ml\n", "line 2: b 'zed' is not a position .*ids="),
        ("a,b,type\n0,-1,ml\n", "line 2: b '-1' is not a position"),
        ("a,b,type\n0,1.0,ml\n", "line 2: b '1.0' is not a position"),
        ("a,b,type\n3,3,ml\n", "line 2: '3' is linked to itself"),
        ("a,b,type\n,3,ml\n", "line 2: a is missing"),
        ("a,b,c,type\n0,1,2,ml\n", "line 2: a must-link has no third sample c"),
        ("a,b,c,type\n0,1,,relative\n", "line 2: c is missing"),
        ("a,b,c,type\n0,1,1,relative\n", "line 2: c is the same sample as a or b"),
        ("a,b,c,type\n0,0,1,relative\n", "line 2: a and b are the same sample \\('0'\\)"),
        ("a,b,type,weight\n0,1,ml,-2\n", "line 2: weight '-2' is not a positive number"),
        ("a,b,type,weight\n0,1,ml,inf\n", "line 2: weight 'inf' is not a positive number"),
        ("a,b,type,weight\n0,1,ml,heavy\n", "line 2: weight 'heavy'"),
        (b"a,b,type\n0,1,ml\n\x81,1,ml\n", "is not CP1252 text \\(byte 16\\); save it .* UTF-8"),
        ('a,b,type\n"0,1,ml\n', "links.csv line 2: unexpected end of data"),
        ("a,b,type\n" + "0,x,ml\n" * 8, "line 6: .*; and 3 more"),
        ("a,b,type\n" + "9" * (1 << 21), "line 2 is longer than 1,048,576 characters"),
    ],
)  # fmt: skip
def test_bad_csv_names_the_line(tmp_path, text, message):
    with pytest.raises(InvalidConstraintsError, match=message):
        read_constraints(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "links.json is not JSON: .*line 1, column 2"),
        ("[]", 'not an object with "version": 1'),
        ("[[0, 1], [2, 3, 4]]", "may be links or a hierarchy"),
        ('{"must-link": [[0, 1]]}', 'not an object with "version": 1'),
        ('{"cats": [0, 1], "dogs": [1, 2]}', "links.json: .*stand at several: 1"),
        ('{"cats": [0, 1], "dogs": []}', "links.json: .*empty branch"),
        ('{"version": 2}', 'not an object with "version": 1'),
        ('{"version": 1, "must_link": 3}', "must_link must be a list of rows"),
        ('{"version": 1, "must_link": [[0, 1, 2]]}', r"must_link\[0\] must be a list of 2 samples"),
        ('{"version": 1, "must_link": [[0, 0]]}', r"must_link\[0\]: '0' is linked to itself"),
        ('{"version": 1, "must_link": [[0, 1]], "must_link_weight": [1, 2]}', "a list of 1 weights"),
        ('{"version": 1, "must_link": [[0, 1]], "order": [3]}', "order must list each of 0..0 once"),
        ('{"version": 1, "must_link": [[0, 1]], "provenance": {"who": []}}', "'who' must be a list of 1"),
        ('{"version": 1, "apart": [[1, 1]]}', r"apart\[0\]: a group needs two or more different"),
        ("[" * 100_000, "nested too deeply|not JSON"),
        (b'{"version": 1, "x": "\xe9"}', "not UTF-8"),
    ],
)  # fmt: skip
def test_bad_json_names_the_place(tmp_path, text, message):
    with pytest.raises(InvalidConstraintsError, match=message):
        read_constraints(written(tmp_path, text, "links.json"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 0, "b": 1, "type": "ml"}\n{"a"', "line 2 is not JSON"),
        ("[1]\n", "line 1 is not an object"),
        ('{"a": 0, "b": 1}\n', "no column 'type'"),
    ],
)
def test_bad_jsonl_names_the_line(tmp_path, text, message):
    with pytest.raises(InvalidConstraintsError, match=message):
        read_constraints(written(tmp_path, text, "links.jsonl"))


def test_ids_are_checked(tmp_path):
    path = written(tmp_path, "a,b,type\nx,y,ml\nx,q,ml\n")
    with pytest.raises(InvalidConstraintsError, match="line 3: b 'q' is not among the 2 ids"):
        read_constraints(path, ids=["x", "y"])
    with pytest.raises(InvalidConstraintsError, match="ids, row 1: 'x' stands already at row 0"):
        read_constraints(path, ids=["x", "x"])
    with pytest.raises(InvalidConstraintsError, match="ids, row 1: the id is missing"):
        read_constraints(path, ids=["x", None])


def test_numbers_are_the_same_id_however_written(tmp_path):
    path = written(tmp_path, "a,b,type\n10,30,ml\n")
    for ids in (
        [10, 20, 30],
        np.array([10.0, 20.0, 30.0]),
        ["10", "20", "30"],
        pd.Index([10, 20, 30]),
    ):
        assert read_constraints(path, ids=ids).must_link.tolist() == [[0, 2]]


def test_unknown_suffix_and_missing_file(tmp_path):
    with pytest.raises(
        InvalidConstraintsError, match=re.escape("the suffix '.docx' is none of them")
    ):
        read_constraints(tmp_path / "a.docx")
    with pytest.raises(FileNotFoundError):
        read_constraints(tmp_path / "nothing.csv")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    # Check that a crash in the middle leaves neither a half-written nor a stray file.
    path = tmp_path / "links.csv"
    Constraints([(0, 1)]).write(path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        Constraints([(0, 2)]).write(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["links.csv"]


def test_frames(tmp_path):
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 2], "c": [np.nan, 3], "type": ["ml", "relative"]})
    known = Constraints.from_frame(frame)
    assert known.relative.tolist() == [[1, 2, 3]]
    again = Constraints.from_frame(known.to_frame())
    assert again == known
    with pytest.raises(TypeError, match="frame must be a pandas DataFrame; got list"):
        Constraints.from_frame([])
    with pytest.raises(InvalidConstraintsError, match="The frame has no column 'type'"):
        Constraints.from_frame(frame[["a", "b"]])
    with pytest.raises(InvalidConstraintsError, match="row 1: type 'huh'"):
        Constraints.from_frame(frame.assign(type=["ml", "huh"]))


def test_joined_duplicates_keep_who_said_it():
    frame = pd.DataFrame(
        {"a": [0, 1, 0], "b": [1, 0, 1], "type": ["ml"] * 3, "who": ["ann", "bob", "ann"]}
    )
    known = Constraints.from_frame(frame)
    assert known.provenance["who"].tolist() == ["ann; bob"]
    assert known.weight.tolist() == [3.0]


def test_writing_needs_enough_ids(tmp_path):
    with pytest.raises(InvalidConstraintsError, match="ids has 1 entries.*3 samples"):
        Constraints([(0, 2)]).write(tmp_path / "a.csv", ids=["x"])
    assert os.listdir(tmp_path) == []


@given(st.text(max_size=200))
def test_no_text_gives_anything_but_our_error(tmp_path_factory, text):
    # Check that arbitrary content is refused with a message or read, never a stack trace.
    folder = tmp_path_factory.mktemp("any")
    for suffix in SUFFIXES:
        path = folder / f"links{suffix}"
        path.write_bytes(("a,b,type\n" + text).encode("utf-8", "surrogatepass"))
        try:
            read_constraints(path)
        except InvalidConstraintsError as error:
            assert len(str(error)) < 2000


def test_json_is_the_documented_form(tmp_path):
    Constraints([(0, 1)], [(1, 2)]).write(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == {
        "version": 1, "must_link": [[0, 1]], "cannot_link": [[1, 2]], "relative": [],
    }  # fmt: skip


def test_groups_beside_provenance(tmp_path):
    # Check that a group, which has no provenance in the file, can be taken, joined and written.
    text = '{"version": 1, "must_link": [[0, 1]], "apart": [[2, 3, 4]], "provenance": {"who": ["ann"]}}'
    known = read_constraints(written(tmp_path, text, "links.json"))
    assert known.provenance["who"].tolist() == ["ann", None]
    assert known[[1]].provenance["who"].tolist() == [None]
    assert known.to_frame()["who"].tolist()[0] == "ann"
    known.write(tmp_path / "again.json")
    assert read_constraints(tmp_path / "again.json") == known


TAXONOMY = {"cats": ["ann", "bob"], "dogs": {"big": ["cid", "dan"], "small": ["eve"]}}
NAMES = ["ann", "bob", "cid", "dan", "eve", "fay"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (json.dumps(TAXONOMY), "tree.json"),
        (json.dumps({"hierarchy": [["ann", "bob"], [["cid", "dan"], "eve"]]}), "tree.json"),
        ("((ann,bob)cats,((cid,dan)big:2,eve:1.5)dogs);", "tree.nwk"),
        ("((ann,'bob'),\n((cid,dan),eve)) ;\n", "tree.newick"),
    ],
)
def test_a_taxonomy_is_read_as_relative_statements(tmp_path, text, name):
    path = written(tmp_path, text, name)
    known = read_constraints(path, ids=NAMES)
    expected = Constraints.from_hierarchy([[0, 1], [[2, 3], 4]])
    assert {*map(tuple, known.relative)} == {*map(tuple, expected.relative)}
    assert known.n_samples == 6
    found = summarize_file(path)
    assert (sorted(found.names), found.n_statements) == (NAMES[:5], len(expected))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("((ann,bob),(cid,dan)", "tree.nwk: Newick text ends with 1 open brackets"),
        ("ann,bob", r"tree.nwk: Newick text starts with"),
        ("((ann,bob),(cid,gus));", "tree.nwk, statement 2 .*: b 'gus' is not among the 6 ids"),
        ("((ann,bob),(cid,ann));", "tree.nwk: .*stand at several: ann"),
    ],
)
def test_bad_newick_files(tmp_path, text, message):
    with pytest.raises(InvalidConstraintsError, match=message):
        read_constraints(written(tmp_path, text, "tree.nwk"), ids=NAMES)


def spreadsheet(path, rows):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("a;b;type\nann;bob;ml\n", "l.csv"),
        ("\ufeffA;B;Type\r\nann;bob;True\r\n", "l.csv"),
        ("A\tB\tTYPE\nann\tbob\tsame\n", "l.csv"),
        ("a,b,type\nann,bob,ml\n", "l.tsv"),
        ("a,b,type\nann,bob,ml\n".encode("utf-16"), "l.csv"),
        ("a\tb\ttype\nann\tbob\tml\n".encode("utf-16-le"), "l.txt"),
        (gzip.compress(b"a,b,type\nann,bob,ml\n", mtime=0), "l.csv.gz"),
        ("a,b,type,note\nann,bob,ml,größer\n".encode("cp1252"), "l.csv"),
        (gzip.compress(b'{"version": 1, "must_link": [["ann", "bob"]]}', mtime=0), "l.json.gz"),
    ],
)
def test_what_spreadsheets_and_pipes_write_is_read(tmp_path, content, name):
    # Check separators, capitals, marks, encodings and packed files.
    known = read_constraints(written(tmp_path, content, name), ids=["bob", "ann"])
    assert known.must_link.tolist() == [[1, 0]]


def test_a_workbook_is_read(tmp_path):
    rows = [["A", "b", "Type", "weight"], ["ann", 7, "cannot-link", 2], [None] * 4, [7, "bob", 1]]
    spreadsheet(tmp_path / "l.xlsx", rows)
    known = read_constraints(tmp_path / "l.xlsx", ids=["ann", "bob", "7"])
    assert known.cannot_link.tolist() == [[0, 2]]
    assert known.cannot_link_weight.tolist() == [2]
    assert known.must_link.tolist() == [[2, 1]]
    with pytest.raises(InvalidConstraintsError, match="row 2: b '7' is not among the 2 ids"):
        read_constraints(tmp_path / "l.xlsx", ids=["ann", "bob"])
    (tmp_path / "bad.xlsx").write_bytes(b"a,b,type")
    with pytest.raises(InvalidConstraintsError, match="bad.xlsx is not an Excel workbook"):
        read_constraints(tmp_path / "bad.xlsx")


def test_without_openpyxl_the_message_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"conclust\[excel\].*save the sheet as CSV"):
        read_constraints(written(tmp_path, "", "l.xlsx"))


def test_a_packed_file_that_is_broken_or_too_large(tmp_path, monkeypatch):
    packed = gzip.compress(b"a,b,type\n0,1,ml\n" * 1000, mtime=0)
    with pytest.raises(InvalidConstraintsError, match="not a whole gzip file"):
        read_constraints(written(tmp_path, packed[:-9], "l.csv.gz"))
    monkeypatch.setattr(_files, "MAX_UNPACKED", 1000)
    with pytest.raises(InvalidConstraintsError, match="holds more than 1,000 bytes"):
        read_constraints(written(tmp_path, packed, "l.csv.gz"))


@pytest.mark.parametrize(
    ("said", "ids", "meant"),
    [("1", ["00001", "00002"], "00001"), ("ann ", ["Ann", "bob"], "Ann"), ("bop", ["xxx", "bob"], None),
     ("customer-118", ["customer-117", "x"], "customer-117"), ("7.0", ["7", "8"], "7")],
)  # fmt: skip
def test_an_unknown_id_names_one_that_resembles_it(tmp_path, said, ids, meant):
    path = written(tmp_path, f"a,b,type\n{said},{ids[1]},ml\n")
    hint = re.escape(f" (did you mean {meant!r}?)") if meant else r"\."
    with pytest.raises(InvalidConstraintsError, match=rf"is not among the 2 ids{hint}"):
        read_constraints(path, ids=ids)


def test_ways_to_write_a_letter_are_equal(tmp_path):
    # Check é as one character and as e with an accent, unless the table tells the two apart.
    composed, decomposed = "Ren\u00e9", "Rene\u0301"
    path = written(tmp_path, f"a,b,type\n{decomposed},bob,ml\n")
    assert read_constraints(path, ids=["bob", composed]).must_link.tolist() == [[1, 0]]
    assert read_constraints(path, ids=["bob", composed, decomposed]).must_link.tolist() == [[2, 0]]


def test_statements_about_unknown_ids_can_be_left_out(tmp_path):
    path = written(tmp_path, "a,b,type\nann,zed,ml\nann,bob,cl\nyak,zed,cl\n")
    with pytest.warns(ConstraintsIgnoredWarning, match="links.csv: 2 statements name an id"):
        known = read_constraints(path, ids=["ann", "bob"], skip_unknown=True)
    assert known.cannot_link.tolist() == [[0, 1]]
    assert len(known) == 1
    path = written(
        tmp_path, '{"version": 1, "apart": [["ann", "bob", "zed"], ["ann", "yak"]]}', "l.json"
    )
    with pytest.warns(ConstraintsIgnoredWarning, match="2 groups lack members"):
        known = read_constraints(path, ids=["ann", "bob"], skip_unknown=True)
    assert [group.tolist() for group in known.apart_groups] == [[0, 1]]
    path = written(tmp_path, "a,b,type\n,bob,ml\n")
    with pytest.raises(InvalidConstraintsError, match="a is missing"):
        read_constraints(path, ids=["ann", "bob"], skip_unknown=True)


def test_the_way_out_is_said_once(tmp_path):
    path = written(tmp_path, "a,b,type\n" + "x,y,ml\n" * 4)
    with pytest.raises(InvalidConstraintsError) as caught:
        read_constraints(path)
    assert str(caught.value).count("pass `ids=`") == 1
