"""The runner: same seeds, same table; a killed run goes on where it was."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from reproduction._page import page_text
from reproduction._protocol import Claim, Protocol, Verdict, grid, mean_table, seed_of
from reproduction._runner import finished, run

import reproduction

HERE = Path(reproduction.__file__).parent
calls = []


def evaluate(case):
    calls.append(case)
    return {"score": case["draw"] * 10 + len(case["method"]), "seconds": 0.5}


PROTOCOL = Protocol(
    paper="paper999",
    title="A test",
    cases=lambda quick: grid(method=["a", "bb"], draw=range(1 if quick else 3)),
    evaluate=evaluate,
    claims=[Claim("it works", lambda table: Verdict.of((table.score > 0).mean(), "all"))],
    figures={},
)


@pytest.fixture(autouse=True)
def _forget():
    calls.clear()


def test_a_table_with_a_row_per_case(tmp_path):
    table = run(PROTOCOL, tmp_path / "rows.jsonl")
    assert list(table.columns) == ["method", "draw", "seconds", "score", "peak_mb", "versions"]
    assert table.score.tolist() == [1, 11, 21, 2, 12, 22]
    assert (table.seconds == 0.5).all()  # a score of that name replaces the runner's own clock


def test_what_is_finished_is_not_computed_again(tmp_path):
    checkpoint = tmp_path / "rows.jsonl"
    run(PROTOCOL, checkpoint, quick=True)
    assert len(calls) == 2
    table = run(PROTOCOL, checkpoint)
    assert len(calls) == 6
    assert table.draw.tolist() == [0, 1, 2, 0, 1, 2]  # in the order of the protocol


def test_a_line_cut_short_is_computed_again(tmp_path):
    checkpoint = tmp_path / "rows.jsonl"
    whole = run(PROTOCOL, checkpoint)
    text = checkpoint.read_text()
    checkpoint.write_text(text[:-20])
    assert len(finished(checkpoint)) == 5
    again = run(PROTOCOL, checkpoint)
    assert len(calls) == 7
    pd.testing.assert_frame_equal(again.drop(columns="peak_mb"), whole.drop(columns="peak_mb"))
    assert all(json.loads(line) for line in checkpoint.read_text().splitlines())


def test_a_run_that_is_stopped_goes_on(tmp_path):
    checkpoint = tmp_path / "rows.jsonl"

    def fails_later(case):
        if len(calls) == 3:
            raise KeyboardInterrupt
        return evaluate(case)

    with pytest.raises(KeyboardInterrupt):
        run(PROTOCOL._replace(evaluate=fails_later), checkpoint)
    assert len(finished(checkpoint)) == 3
    run(PROTOCOL, checkpoint)
    assert len(calls) == 6


def test_processes_give_the_same_table(tmp_path):
    one = run(PROTOCOL, tmp_path / "one.jsonl")
    two = run(PROTOCOL, tmp_path / "two.jsonl", n_jobs=2)
    pd.testing.assert_frame_equal(one.drop(columns="peak_mb"), two.drop(columns="peak_mb"))


def test_a_dask_client_gives_the_same_table(tmp_path):
    distributed = pytest.importorskip("distributed")
    one = run(PROTOCOL, tmp_path / "one.jsonl")
    with (
        distributed.Client(n_workers=1, threads_per_worker=1, dashboard_address=None),
        parallel_config(backend="dask"),
    ):
        two = run(PROTOCOL, tmp_path / "two.jsonl", n_jobs=2)
    pd.testing.assert_frame_equal(one.drop(columns="peak_mb"), two.drop(columns="peak_mb"))


def test_memory_is_that_of_the_case_alone(tmp_path):
    def takes(case):
        return {"sum": float(np.ones(case["n"] * 2**17).sum())}

    protocol = PROTOCOL._replace(cases=lambda quick: grid(n=[100, 10]), evaluate=takes)
    table = run(protocol, tmp_path / "rows.jsonl")
    assert 90 < table.peak_mb[0] < 150  # 100 MB
    if sys.platform == "linux":
        assert table.peak_mb[1] < 50


def test_rows_of_other_code_are_kept_and_said(tmp_path, capsys):
    checkpoint = tmp_path / "rows.jsonl"
    run(PROTOCOL, checkpoint)
    run(PROTOCOL, checkpoint)
    assert capsys.readouterr().err == ""
    stored = [json.loads(line) for line in checkpoint.read_text().splitlines()]
    stored[0]["result"]["code"] = "another"
    checkpoint.write_text("".join(json.dumps(row) + "\n" for row in stored))
    run(PROTOCOL, checkpoint)
    assert "1 of 6 rows were computed by other code; --fresh" in capsys.readouterr().err


def test_small_parts():
    assert grid(a=[1, 2], b="xy")[1] == {"a": 1, "b": "y"}
    assert seed_of("iris", 3) == seed_of("iris", 3) != seed_of("iris", 4)
    assert Verdict.of(1.0, "").holds == "holds"
    assert Verdict.of(0.5, "").holds == "partly"
    assert Verdict.of(0.4, "").holds == "does not"
    assert Verdict.of(float("nan"), "").holds == "not tested"
    table = pd.DataFrame({"d": ["x", "x"], "m": ["p", "p"], "s": [1.0, 3.0]})
    assert mean_table(table, "s", ["d"], "m").loc["x", "p"] == 2


PAPERS = sorted(path.parent.name for path in HERE.glob("*/results.csv"))


@pytest.mark.parametrize("paper", PAPERS)
def test_a_cell_of_the_committed_table_comes_out_again(paper, data_folder):
    """The cheapest row of each paper's table, recomputed: the same scores."""
    protocol = importlib.import_module(f"reproduction.{paper}").PROTOCOL
    table = pd.read_csv(HERE / paper / "results.csv")
    cases = protocol.cases(False)
    assert len(table) == len(cases)
    axes = list(cases[0])
    row = table.loc[table.seconds.idxmin()]
    case = next(one for one in cases if all(str(one[axis]) == str(row[axis]) for axis in axes))
    for name, value in protocol.evaluate(case).items():
        if name != "seconds":
            assert value == pytest.approx(row[name], rel=1e-3, nan_ok=True), name


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_can_be_checked_on_the_committed_table(paper):
    protocol = importlib.import_module(f"reproduction.{paper}").PROTOCOL
    table = pd.read_csv(HERE / paper / "results.csv")
    for claim in protocol.claims:
        verdict = claim.check(table)
        assert verdict.holds != "not tested", claim.text
        assert verdict.numbers


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_is_that_of_the_committed_table(paper):
    """``python -m reproduction <paper> --page-only`` writes it anew."""
    protocol = importlib.import_module(f"reproduction.{paper}").PROTOCOL
    text = page_text(protocol, pd.read_csv(HERE / paper / "results.csv"))
    page = HERE.parent / "docs" / "reproduction" / f"{paper}.md"
    assert page.read_text(encoding="utf-8") == text
