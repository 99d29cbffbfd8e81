"""`conclust ask`: questions at the terminal, answers in a file."""

import json
import shlex

import pytest
from click.testing import CliRunner

from conclust import active
from conclust.cli import main
from conclust.cli._ask import STRATEGIES
from tests.cli.conftest import assert_bad_input, read


def asked(*args, typed=""):
    return CliRunner().invoke(main, ["ask", *map(str, args)], input=typed)


@pytest.fixture
def told(blobs):
    """Run the command on the blobs with a new file of answers."""
    answers = blobs.folder / "answers.csv"

    def run(typed, *more, links=answers):
        return asked(
            blobs.data, "--constraints", links, "--id-col", "key", "-k", 3, *more, typed=typed
        )

    run.answers = answers
    return run


def test_answers_are_written_with_names(told):
    result = told("y\nn\nu\nq\n", "--by", "ann")
    assert result.exit_code == 0, result.output
    assert "3 answers (1 must-link, 1 cannot-link, 1 unsure), kept in" in result.output
    rows = read(told.answers)
    assert [row["type"] for row in rows] == ["must-link", "cannot-link", "unsure"]
    assert all(row["a"].startswith("r") and row["who"] == "ann" for row in rows)


def test_the_file_is_whole_after_each_answer(told, monkeypatch):
    typed = iter("yny")
    seen = []

    def answering():
        seen.append(len(read(told.answers)))
        try:
            return next(typed)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("builtins.input", answering)
    result = told("")
    assert result.exit_code == 130
    assert seen == [0, 1, 2, 3]
    assert len(read(told.answers)) == 3


def test_undo_asks_once_more(told):
    result = told("undo\ny\nundo\nn\nq\n")
    assert "There is no answer of this run to take back." in result.output
    (row,) = read(told.answers)
    assert row["type"] == "cannot-link"
    assert result.output.count(f"{row['a']}") >= 2


def test_going_on_keeps_what_was_said_and_does_not_ask_it_again(tmp_path):
    (tmp_path / "t.csv").write_text("key,x\n" + "".join(f"r{i},{i}.5\n" for i in range(6)))
    answers = tmp_path / "answers.csv"
    command = (tmp_path / "t.csv", "--constraints", answers, "--id-col", "key", "-k", 6)
    asked(*command, typed="n\nu\nn\nq\n")
    before = read(answers)
    result = asked(*command, typed="n\n" * 20)
    after = read(answers)
    assert "Nothing is left to ask." in result.output
    assert [row for row in after if row["type"] == "unsure"] == before[-1:]  # written last
    assert len({frozenset((row["a"], row["b"])) for row in after}) == len(after) == 15


def test_the_budget(told):
    result = told("y\n" * 50, "--budget", 4)
    assert result.exit_code == 0
    assert len(read(told.answers)) == 4


def test_links_that_are_there_are_added_to(told, blobs):
    result = told("y\nq\n", links=blobs.links)
    assert result.exit_code == 0
    assert len(read(blobs.links)) == 5


def test_what_more_answers_would_change(told):
    result = told("n\n" * 12 + "q\n")
    assert "answers moved" in result.output


def test_contradictions_are_said(told, blobs):
    (blobs.folder / "bad.csv").write_text("a,b,type\nr00,r01,ml\nr00,r01,cl\n")
    result = told("q\n", links=blobs.folder / "bad.csv")
    assert "Some contradict each other; `conclust check --constraints" in result.output


def test_what_is_typed_wrongly_is_asked_again(told):
    result = told("perhaps\ny\nq\n")
    assert "'perhaps': type y, n, u (unsure) or q (enough)." in result.output
    assert len(read(told.answers)) == 1


def test_json(told):
    result = told("y\n", "--json", "--budget", 1)
    found = json.loads(result.stdout)
    assert found == {"ended": "budget", "n_answers": 1, "answers": {"must-link": 1}}


def test_without_names(tmp_path):
    (tmp_path / "t.csv").write_text("u,v\n" + "".join(f"{i % 3},{i}.5\n" for i in range(9)))
    result = asked(tmp_path / "t.csv", "--constraints", tmp_path / "l.json", typed="y\nq\n")
    assert result.exit_code == 0, result.output
    assert len(json.loads((tmp_path / "l.json").read_text())["must_link"]) == 1


def test_bad_input(told, blobs):
    assert_bad_input(told("q\n", links=blobs.folder / "no" / "l.csv"), "no such folder")
    assert_bad_input(told("q\n", links=blobs.folder / "l.xyz"), "suffix '.xyz'")
    assert_bad_input(asked("nope.csv", "--constraints", blobs.folder / "l.csv"), "no such file")
    assert_bad_input(told("q\n", "-k", 99), "-k 99", "30 rows")
    assert_bad_input(told("q\n", "--budget", 0), "budget")
    formulas = blobs.folder / "f.csv"
    formulas.write_text("key,x\n=1+1,2.5\nb,7\nc,4\n")
    result = asked(formulas, "--constraints", blobs.folder / "l.csv", "--id-col", "key")
    assert_bad_input(result, "formula", "l.json")


def test_the_command_named_as_next_works_as_it_stands(blobs):
    table = blobs.folder / "a table.csv"
    table.write_text(blobs.data.read_text().replace("key", "the key", 1))
    links = blobs.folder / "l.csv"
    more = ("--id-col", "the key", "--exclude", "x", "--raw")
    result = asked(table, "--constraints", links, "-k", 3, *more, typed="y\nq\n")
    assert result.exit_code == 0, result.output
    said = next(line for line in result.output.splitlines() if line.startswith("Next: "))
    program, *words = shlex.split(said.removeprefix("Next: "))
    assert program == "conclust"
    assert words[:2] == ["cluster", str(table)]
    assert all(word in words for word in more)
    done = CliRunner().invoke(main, [*words, "-k", "3", "-o", str(blobs.folder / "out")])
    assert done.exit_code == 0, done.output
    assert (blobs.folder / "out" / "labels.csv").exists()


def test_the_strategies_are_those_of_the_package():
    assert list(STRATEGIES) == list(active.STRATEGIES)


def test_piles_are_sorted_by_letters(told):
    result = told("aabbccaabb\nab\nu\nundo\nq\n", "--strategy", "piles")
    assert result.exit_code == 0, result.output
    assert "a letter for each row" in result.output
    assert "Which of these belong together?" in result.output
    assert "a label for each row (10 rows)" in result.output
    assert "1 answer (1 piles), kept in" in result.output
    rows = read(told.answers)
    assert [row["type"] for row in rows].count("must-link") == 7
    assert [row["type"] for row in rows].count("cannot-link") == 3


def test_piles_go_on_with_the_same_file(told):
    told("aabbccaabb\nq\n", "--strategy", "piles")
    before = read(told.answers)
    result = told("u\nq\n", "--strategy", "piles")
    assert result.exit_code == 0, result.output
    assert read(told.answers) == before  # a line has no room for ten rows that are unsure
