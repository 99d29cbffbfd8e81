"""Options that several commands share, and how they speak."""

import contextlib
import functools
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from conclust.cli._errors import BadInput

PATH = click.Path(path_type=Path)

# The names that the classes declare, as a test checks: help and completion load no class.
METHODS = (
    "auto",
    "cop-kmeans",
    "ckm",
    "pckmeans",
    "mpckmeans",
    "gmm",
    "doubt",
    "gkmeans",
    "bckm",
    "ensemble",
    "rckm",
    "trust",
    "cotraining",
    "boostcluster",
    "spectral",
    "sskk",
    "recon",
    "kmeans",
)


class ClusterCount(click.ParamType):
    """A positive number, or "auto"."""

    name = "k"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        if value == "auto":
            return "auto"
        try:
            count = int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor 'auto'.", param, ctx)
        if count < 1:
            self.fail(f"there must be at least one cluster; got {count}.", param, ctx)
        return count


class Names(click.ParamType):
    """Names of columns, separated by commas."""

    name = "names"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[str]:
        names = [name.strip() for name in value.split(",")] if isinstance(value, str) else value
        if not all(names):
            self.fail(f"{value!r} holds an empty name.", param, ctx)
        return list(dict.fromkeys(names))


@dataclass(frozen=True)
class TableOptions:
    """How the table is read."""

    id_col: str | None = None
    columns: list[str] | None = None
    text_col: list[str] | None = None
    standardize: bool = False
    separator: str | None = None


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of `TableOptions`, given to the command as one value, `options`."""

    @functools.wraps(command)
    def with_options(**given: Any) -> Any:
        options = TableOptions(**{each.name: given.pop(each.name) for each in fields(TableOptions)})
        return command(options=options, **given)

    gathered: Callable[..., Any] = with_options
    for option in reversed(
        [
            click.option("--id-col", help="The column that names the rows."),
            click.option("--columns", type=Names(), help="Columns to cluster by: a,b,c."),
            click.option("--text-col", type=Names(), help="Columns of running text."),
            click.option("--standardize", is_flag=True, help="Scale columns of numbers."),
            click.option("--separator", help="Of a CSV file; read off its header by default."),
        ]
    ):
        gathered = option(gathered)
    return gathered


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What every command that prints has."""
    command = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(
        command
    )
    return click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=_set_debug,
        help="Show the trace of an error.",
    )(command)


def _set_debug(ctx: click.Context, param: Any, value: bool) -> None:
    if value:
        ctx.find_root().ensure_object(dict)["debug"] = True


seed_option = click.option("--seed", default=0, show_default=True, help="Of every random choice.")


# Parameters with an option of their own.
OPTIONS_OF = {"n_clusters": "-k", "n_components": "-k", "random_state": "--seed"}


def settings_of(given: tuple[str, ...]) -> dict[str, Any]:
    """``--set n_estimators=20`` as a dict; values are read as JSON, else as text."""
    settings: dict[str, Any] = {}
    for item in given:
        name, separator, value = item.partition("=")
        if not separator or not name:
            raise BadInput(f"--set takes NAME=VALUE; got {item!r}.")
        if name in OPTIONS_OF:
            raise BadInput(f"--set {name}: use {OPTIONS_OF[name]} instead.")
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            settings[name] = value
    return settings


def show_json(value: Any) -> None:
    """Print strict JSON: numbers that are not finite become null."""
    click.echo(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """Only what JSON has."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not (value == value and abs(value) != float("inf")):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def on_terminal() -> bool:
    """Whether progress would be seen."""
    return sys.stderr.isatty()


def working(what: str) -> contextlib.AbstractContextManager[Any]:
    """A sign of life on stderr, on a terminal only."""
    if not on_terminal():
        return contextlib.nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


def say(text: str = "", *, quiet: bool = False) -> None:
    """Print for people; nothing where JSON is asked for."""
    if not quiet:
        click.echo(text)


def printed_table(header: list[str], rows: list[list[str]]) -> str:
    """Columns padded to the same width."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [header, ["-" * w for w in widths], *rows]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


@contextlib.contextmanager
def output_folder(path: Path) -> Iterator[Path]:
    """Make the output folder, or say why not, before any work is done.

    A folder made here goes again if the work fails before anything is written.
    """
    is_new = not path.exists()
    _make_writable(path)
    try:
        yield path
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):  # not empty: what is there is whole
                path.rmdir()
        raise


def _make_writable(path: Path) -> None:
    import tempfile

    if path.exists() and not path.is_dir():
        raise BadInput(f"{path} is a file; name a folder to write into with -o.")
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written to ({error.strerror}); name another folder with -o."
        ) from error
