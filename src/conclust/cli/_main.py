"""The group of commands. Nothing heavy is imported before a command runs."""

import importlib
import os
import sys
import traceback
from typing import Any

import click

import conclust

COMMANDS = {
    "demo": "_demo",
    "cluster": "_cluster",
    "check": "_check",
    "compare": "_compare",
    "ask": "_ask",
    "studio": "_studio",
    "predict": "_predict",
    "datasets": "_datasets",
    "reproduce": "_reproduce",
    "completion": "_completion",
}

INTERRUPTED = 130


class _Commands(click.Group):
    """Commands imported by name, so that ``conclust --help`` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"conclust.cli.{COMMANDS[cmd_name]}")
        command = module.command
        # Docstrings are raw, so click's mark for a paragraph that is not wrapped is two characters.
        command.help = command.help.replace("\\b", "\b")
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # Files are moved into place whole, so there is nothing to clear away.
            click.echo("Interrupted.", err=True)
            sys.exit(INTERRUPTED)
        except BrokenPipeError:  # the reader of a pipe has gone: `conclust … | head`
            # What is still buffered goes nowhere, instead of failing again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except Exception as error:
            # Bad input is a message and exit code 2; anything else is a bug and shows its trace.
            if not _is_about_input(error):
                raise
            if wants_trace(ctx):
                traceback.print_exc()
            click.echo(f"Error: {_message(error)}", err=True)
            sys.exit(2)


def wants_trace(ctx: click.Context) -> bool:
    """Whether --debug was given."""
    return bool((ctx.find_root().obj or {}).get("debug"))


def _is_about_input(error: Exception) -> bool:
    from conclust.cli._errors import BadInput
    from conclust.exceptions import ConclustError

    return isinstance(error, ConclustError | OSError | BadInput | UnicodeError)


def _message(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, UnicodeError):
        return f"A name in the files is not text that can be written: {error}."
    return str(error)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(conclust.__version__, prog_name="conclust")
@click.option("--debug", is_flag=True, help="Show the trace of an error.")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Clustering that listens to what people know.

    Exit codes: 0 done; 1 `check` found clashes; 2 bad input; 130 interrupted.
    """
    ctx.ensure_object(dict)
    ctx.obj["debug"] = debug
