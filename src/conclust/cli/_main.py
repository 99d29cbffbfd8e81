"""The group of commands. Nothing heavy is imported before a command runs."""

import importlib
import sys
from typing import Any

import click

import conclust

COMMANDS = {"demo": "_demo"}


class _Commands(click.Group):
    """Commands imported by name, so that ``conclust --help`` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"conclust.cli.{COMMANDS[cmd_name]}")
        return module.command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (ValueError, TypeError, OSError, ImportError) as error:
            # Bad input is a message and exit code 2; anything else is a bug and shows its trace.
            if not _is_about_input(error):
                raise
            click.echo(f"Error: {_message(error)}", err=True)
            sys.exit(2)


def _is_about_input(error: Exception) -> bool:
    from conclust.exceptions import ConclustError

    return isinstance(error, ConclustError | OSError)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(conclust.__version__, prog_name="conclust")
def main() -> None:
    """Clustering that listens to what people know."""
