import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import conclust
from conclust._declare import methods
from conclust.cli import main
from conclust.cli._main import COMMANDS
from tests.cli.conftest import assert_bad_input, read, run


@pytest.fixture
def model(blobs):
    pytest.importorskip("skops")
    run("cluster", blobs.data, "--constraints", blobs.links, "--id-col", "key", "-k", 3,
        "--standardize", "-o", blobs.folder / "o")  # fmt: skip
    return blobs.folder / "o" / "model.skops"


def test_predict_labels_the_rows_of_the_fit_alike(blobs, model):
    out = blobs.folder / "again.csv"
    result = run("predict", model, blobs.data, "--id-col", "key", "-o", out)
    assert result.exit_code == 0, result.output
    told = read(blobs.folder / "o" / "labels.csv")
    assert read(out) == [{"id": row["id"], "label": row["label"]} for row in told]
    printed = run("predict", model, blobs.data, "--id-col", "key")
    assert printed.stdout == out.read_text()
    as_json = json.loads(run("predict", model, blobs.data, "--id-col", "key", "--json").stdout)
    assert as_json["label"] == [int(row["label"]) for row in read(out)]


def test_predict_writes_parquet(blobs, model):
    # Check that a name that ends with .parquet gives such a file, not text under that name.
    pytest.importorskip("pyarrow")
    out = blobs.folder / "again.parquet"
    result = run("predict", model, blobs.data, "--id-col", "key", "-o", out)
    assert result.exit_code == 0, result.output
    told = read(blobs.folder / "o" / "labels.csv")
    expected = [{"id": row["id"], "label": int(row["label"])} for row in told]
    assert pd.read_parquet(out).to_dict("records") == expected


def test_a_model_works_in_python_on_frames(blobs, model):
    labels = [int(row["label"]) for row in read(blobs.folder / "o" / "labels.csv")]
    assert conclust.load(model).predict(pd.read_csv(blobs.data)).tolist() == labels


def test_predict_with_other_columns_missing_values_and_new_words(tmp_path):
    pytest.importorskip("skops")
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(
        {
            "x": np.repeat([0.0, 9.0], 15) + rng.normal(size=30),
            "colour": ["red"] * 15 + ["green"] * 10 + ["blue"] * 5,
            "body": ["cats dogs"] * 15 + ["stocks market"] * 15,
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = run("cluster", tmp_path / "t.csv", "--text-col", "body", "-k", 2, "-o", tmp_path / "o")
    assert result.exit_code == 0, result.output
    new = pd.DataFrame(
        {"body": [None, "market"], "more": [1, 2], "colour": ["pink", None], "x": [0.1, None]}
    )
    new.to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", tmp_path / "o" / "model.skops", tmp_path / "new.csv", "--json")
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout)["label"]) == 2
    assert "colour: 1 rows hold a value the model has not seen ('pink')" in result.stderr


def test_predict_bad_input(blobs, model):
    assert_bad_input(run("predict", blobs.folder / "none", blobs.data), "no such file")
    assert_bad_input(run("predict", blobs.data, blobs.data), "not a model")
    other = blobs.folder / "other.csv"
    other.write_text("key,x\na,1\n")
    assert_bad_input(run("predict", model, other, "--id-col", "key"), "lacks columns", "'y'")
    result = run("predict", model, blobs.data, "-o", blobs.folder / "no" / "where.csv")
    assert_bad_input(result, "no such folder")


def test_datasets_are_listed_and_written(tmp_path):
    rows = json.loads(run("datasets", "--json").stdout)
    assert [row["name"] for row in rows] == conclust.datasets.names()
    assert "iris" in run("datasets").stdout
    out = tmp_path / "balance.csv"
    result = run("datasets", "balance", "-o", out)
    assert result.exit_code == 0, result.output
    frame = pd.read_csv(out)
    assert frame.shape == (625, 6)
    assert frame.columns[[0, -1]].tolist() == ["id", "class"]
    assert_bad_input(
        run("datasets", "nonsense"), "Unknown data set 'nonsense'", "`conclust datasets`"
    )
    assert_bad_input(run("datasets", "-o", out), "NAME")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    result = run("completion", shell)
    assert result.exit_code == 0, result.output
    assert "_CONCLUST_COMPLETE" in result.stdout


def test_completion_names_the_commands():
    from click.shell_completion import ShellComplete

    complete = ShellComplete(main, {}, "conclust", "_CONCLUST_COMPLETE")
    assert {c.value for c in complete.get_completions([], "c")} == {
        "cluster",
        "check",
        "compare",
        "completion",
    }


def test_reproduce_needs_a_checkout_and_a_known_paper(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("reproduce")
    assert result.exit_code == 2
    assert "top folder of a checkout" in result.stderr
    monkeypatch.chdir(Path(__file__).parents[2])
    result = run("reproduce", "paper9")
    assert result.exit_code == 2
    assert "There is no 'paper9'; choose from active, leaderboard, paper000" in result.stderr


def test_reproduce_makes_pages_from_the_tables(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="figures need the extra `plot`")
    monkeypatch.chdir(Path(__file__).parents[2])
    (tmp_path / "paper002").mkdir()
    table = Path("reproduction/paper002/results.csv").read_text(encoding="utf-8")
    (tmp_path / "paper002" / "results.csv").write_text(table, encoding="utf-8")
    result = run("reproduce", "paper002", "--page-only", "-o", str(tmp_path))
    assert result.exit_code == 0, result.output
    page = (tmp_path / "paper002.md").read_text(encoding="utf-8")
    assert "| the paper says | here | numbers |" in page


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name):
    result = run(name, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage:")
    assert "\\b" not in result.stdout


def test_examples_in_help_keep_their_lines():
    # Check that click's mark for paragraphs that are not wrapped arrives as one character.
    lines = run("check", "--help").stdout.splitlines()
    assert "  conclust check --constraints links.csv" in lines


def test_help_lists_the_methods():
    listed = "|".join(methods())
    assert f"--method [{listed}]" in run("cluster", "--help").stdout
    assert f"--method [{listed}]" in run("compare", "--help").stdout


# Imported by `cluster` when the work begins.
AT_WORK = {"_big_table", "_cluster_in_blocks", "_resume"}


def test_modules_of_the_command_line_import_nothing_heavy():
    code = (
        "import sys, pkgutil, importlib, conclust.cli\n"
        "for m in pkgutil.iter_modules(conclust.cli.__path__):\n"
        f"    if m.name not in {AT_WORK!r}:\n"
        "        importlib.import_module('conclust.cli.' + m.name)\n"
        "print([m for m in ('numpy', 'sklearn', 'numba', 'pandas', 'rich') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m conclust datasets --json | head -1"
    out = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert out.stdout == "[\n"
    assert "Traceback" not in out.stderr
