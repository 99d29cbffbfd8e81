import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

import conclust
from conclust.cli import _demo, main
from conclust.cli._main import COMMANDS


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Both outputs of the demo, which takes seconds: the table, and what it wrote."""
    folder = tmp_path_factory.mktemp("demo")
    return folder, CliRunner().invoke(main, ["demo", "-o", str(folder / "o")])


def test_demo_shows_that_constraints_help():
    rows = _demo.run(0)
    kept = [r["kept"] for r in rows if r["method"] == "ReCon (relative)"]
    assert kept == [100, 100]
    for data in ("iris", "wine"):
        score = {
            (r["method"], r["n_constraints"]): r["agreement"] for r in rows if r["data"] == data
        }
        assert score["AutoCluster", 100] > score["k-means, no constraints", 0]


def test_demo_prints_a_table_and_writes_a_report(demo):
    folder, result = demo
    assert result.exit_code == 0, result.output
    assert "agreement" in result.output
    assert "100 of 100" in result.output
    names = {path.name for path in (folder / "o").iterdir()}
    assert {"wine.csv", "links.csv", "labels.csv", "report.html", "run.json"} <= names


def test_what_the_demo_wrote_can_be_clustered_as_it_says(demo):
    folder, _ = demo
    result = CliRunner().invoke(
        main,
        ["cluster", str(folder / "o" / "wine.csv"), "--constraints", str(folder / "o" / "links.csv"),
         "--id-col", "id", "-k", "3", "--standardize", "-o", str(folder / "again"), "--json"],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["statements"]["share"] > 0.9


def test_version_and_help():
    assert conclust.__version__ in CliRunner().invoke(main, ["--version"]).output
    assert "demo" in CliRunner().invoke(main, ["-h"]).output


def test_unknown_command_is_a_message():
    result = CliRunner().invoke(main, ["nonsense"])
    assert result.exit_code == 2
    assert "No such command" in result.output


HEAVY = ("numpy", "scipy", "sklearn", "numba", "pandas", "matplotlib", "rich")
HELP = [["--version"], ["--help"], *([command, "--help"] for command in COMMANDS)]


@pytest.mark.parametrize("asked", HELP, ids=" ".join)
def test_help_is_quick_and_works_as_a_module(asked):
    code = (
        f"import sys; sys.argv = ['conclust', *{asked}]\n"
        "try:\n    import runpy; runpy.run_module('conclust', run_name='__main__')\n"
        "except SystemExit as e:\n    assert not e.code\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True
    )
    assert out.stdout.strip().endswith("[]")


@pytest.mark.parametrize("command", ["cluster", "compare"])
def test_completion_of_a_method_is_quick(command):
    words = f"conclust {command} table.csv --method re"
    code = (
        "import os, sys\n"
        f"os.environ |= dict(COMP_WORDS={words!r}, COMP_CWORD='4', _C='bash_complete')\n"
        "from conclust.cli import main\n"
        "try:\n    main(prog_name='conclust', complete_var='_C')\n"
        "except SystemExit:\n    pass\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines() == ["plain,recon", "[]"]
