"""Every table of figures in README and docs has a command beside it, and the command exists."""

import json

import pytest
from benchmarks.report import _cases, _commands, _fill, _page

PAGES = _commands.pages()


@pytest.mark.parametrize("page", PAGES)
def test_tables_of_figures_have_a_command(page):
    # Check that no section has a table of figures that nothing rebuilds.
    bare = [
        section.title
        for section in _commands.sections(PAGES[page])
        if _commands.has_table_of_figures(section.text) and not _commands.says_where_from(section)
    ]
    assert not bare, f"{page}: name the command beside the figures, or take them out, in {bare}"


@pytest.mark.parametrize("command", _commands.commands(), ids=lambda each: each.words)
def test_commands_of_pages_exist(command):
    # Check that files, options and parts that a page names are there.
    assert not _commands.what_is_missing(command.words), command.page


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("python benchmarks/cosine.py --text", ""),
        ("python benchmarks/nothing.py", "no benchmarks/nothing.py"),
        ("python benchmarks/cosine.py --rowz 3", "no --rowz in it"),
        ("python -m reproduction paper000 --quick", ""),
        ("python -m reproduction nowhere", "no nowhere in it"),
        ("pytest -m slow tests/nothing.py", "no tests/nothing.py"),
        ("python -m docs._site_pictures", ""),
        ("python -m docs._nothing", "no -m docs._nothing"),
        (".ci/nothing", "no .ci/nothing"),
    ],
)
def test_what_is_missing_is_named(words, missing):
    # Check the check itself on commands right and wrong.
    assert _commands.what_is_missing(words) == missing


def test_figures_are_told_from_words():
    # Check which tables count as figures.
    assert _commands.has_table_of_figures("| a | b |\n|---|---|\n| iris | 0.84 |\n")
    assert not _commands.has_table_of_figures("| a | b |\n|---|---|\n| iris | flowers |\n")


def test_pages_say_nothing_of_unrepeatable_measurements():
    # Check that no page excuses a figure by saying that nothing redoes it.
    for page, text in PAGES.items():
        for excuse in ("measured once", "no script", "not by a script"):
            assert excuse not in " ".join(text.split()), page


def test_every_estimator_is_measured():
    # Check that a new estimator gets its cases without being listed anywhere.
    measured = {case["who"] for case in _cases.all_cases(quick=True)}
    assert set(_cases.estimators()) <= measured


def test_one_case_in_a_process_of_its_own():
    # Check a real case: times, memory, and a ratio to scikit-learn in the same process.
    row = _fill.measured(_cases.case_of("ConstrainedKMeans", 300, 4, 3, 20), limit=120)
    assert row["seconds"] > 0
    assert row["ratio"] > 0
    assert row["iterations"] <= 10


def test_a_case_that_takes_too_long_is_named():
    # Check that a case over its limit is a row that says so, and stops nothing.
    row = _fill.measured(_cases.case_of("ConstrainedKMeans", 300, 4, 3, 20), limit=0.01)
    assert row["failed"] == "more than 0.01 s"


def test_worse_ratios_are_found():
    # Check the margin: 1.4 times the committed ratio passes, 1.6 times does not.
    case = _cases.case_of("COPKMeans", 1000)
    rows = {json.dumps(case, sort_keys=True): {"seconds": 1.0, "ratio": 1.5}}
    name = _page.name_of(case)
    assert not _page.worse(rows, 1.5, {name: 1.5 / 1.4})
    assert name in _page.worse(rows, 1.5, {name: 1.5 / 1.6})[0]


def test_a_case_that_fails_now_is_found():
    # Check that a committed case that gives no ratio any more does not pass for good.
    case = _cases.case_of("COPKMeans", 1000)
    rows = {json.dumps(case, sort_keys=True): {"failed": "more than 60 s"}}
    assert _page.worse(rows, 1.5, {_page.name_of(case): 1.0}) == [
        f"{_page.name_of(case)}: more than 60 s"
    ]


def test_a_stopped_run_goes_on(tmp_path):
    # Check that a finished case is taken as it is and one of other code is computed again.
    kept, old = _cases.case_of("COPKMeans", 1000), _cases.case_of("COPKMeans", 300)
    checkpoint = tmp_path / "quick.jsonl"
    lines = [
        {"case": kept, "result": {"seconds": 7.0, "code": _fill.code()}},
        {"case": old, "result": {"seconds": 7.0, "code": "other"}},
    ]
    checkpoint.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"case": {"wh')
    rows, _ = _fill.fill([kept, old], checkpoint, limit=0.01)
    assert [row.get("seconds") for row in rows.values()] == [7.0, None]


def test_a_rival_that_is_not_there_is_named(tmp_path, monkeypatch):
    # Check that it is missing with the reason, pip's own where there is one, and stops nothing.
    monkeypatch.setattr(_fill, "FOLDER", tmp_path)
    case = _cases.case_of("faiss Kmeans", 300)
    assert "--rivals" in _fill.fill([case], tmp_path / "q.jsonl", 1)[1]["faiss Kmeans"]
    (tmp_path / "faiss-cpu.log").write_text("ERROR: No matching distribution found\n")
    assert "No matching" in _fill.fill([case], tmp_path / "q.jsonl", 1)[1]["faiss Kmeans"]


def test_slope_is_that_of_the_logarithms():
    # Check that seconds that grow with the square have slope 2.
    cases = [_cases.case_of("ReCon", n) for n in (100, 300, 1000)]
    rows = {json.dumps(case, sort_keys=True): {"seconds": case["n"] ** 2 / 1e6} for case in cases}
    assert _page.slope(rows, cases, "n") == "2.00"
    for key in list(rows)[1:]:
        rows[key] = {"failed": "more than 60 s"}
    assert _page.slope(rows, cases, "n") == "more than 60 s"
