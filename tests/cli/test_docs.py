"""The guide names every command, option and method there is."""

from pathlib import Path

import click
import pytest

from conclust.cli import main
from conclust.cli._main import COMMANDS
from conclust.cli._methods import METHODS

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


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda m: m.name)
def test_methods_are_documented(method, guide):
    assert f"`{method.name}`" in guide
    assert f"`{method.class_name}`" in guide
