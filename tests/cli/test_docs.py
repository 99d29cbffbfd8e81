"""The guide names every command and option there is."""

from pathlib import Path

import click
import pytest

from conclust.cli import main
from conclust.cli._main import COMMANDS

GUIDE = Path(__file__).parents[2] / "docs" / "command_line.md"


@pytest.fixture(scope="module")
def guide():
    return GUIDE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_and_options_are_documented(name, guide):
    assert f"conclust {name}" in guide
    command = main.get_command(click.Context(main), name)
    for parameter in command.params:
        if isinstance(parameter, click.Option) and name != "demo":
            assert any(option in guide for option in parameter.opts), parameter.opts
