"""Options that several commands share, and how they speak."""

import contextlib
import csv
import functools
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain
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
    "minibatch",
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
    """A positive number, or "auto"; where `ranged` also "auto:2-30", which tries 2 to 30."""

    name = "k"

    def __init__(self, *, ranged: bool = False):
        self.ranged = ranged

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        if value == "auto":
            return "auto"
        if self.ranged and str(value).startswith("auto:"):
            if range_of(value) is None:
                self.fail(f"{value!r} is no range; write it like auto:2-30.", param, ctx)
            return str(value)
        try:
            count = int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor 'auto'.", param, ctx)
        if count < 1:
            self.fail(f"there must be at least one cluster; got {count}.", param, ctx)
        return count


def range_of(n_clusters: int | str) -> tuple[int, int] | None:
    """The fewest and the most clusters of "auto:2-30"; None where there is no such range."""
    low, _, high = str(n_clusters).removeprefix("auto:").partition("-")
    if not low.isdecimal() or not high.isdecimal() or not 1 <= int(low) <= int(high):
        return None
    return int(low), int(high)


class InputPath(click.Path):
    """A file to read; "-" and pipes are kept in a temporary file, to be read as often as needed."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if str(path) != "-" and not path.is_fifo():
            return path
        if str(path) == "-":
            meta = ctx.meta if ctx is not None else {}
            if meta.setdefault(__name__, param.name) != param.name:
                self.fail("only one of the files can come from the standard input.", param, ctx)
            return _kept(sys.stdin.buffer.read(), "stdin", ctx)
        return _kept(path.read_bytes(), "pipe", ctx)


def _kept(content: bytes, name: str, ctx: Any) -> Path:
    """A file that goes when the command ends; its first bytes tell what it is."""
    import tempfile

    folder = tempfile.TemporaryDirectory(prefix="conclust-")
    if ctx is not None:
        ctx.call_on_close(folder.cleanup)
    path = Path(folder.name, name + _suffix_of(content))
    path.write_bytes(content)
    return path


def _suffix_of(content: bytes) -> str:
    starts = {
        b"\x1f\x8b": ".csv.gz",
        b"PK": ".npz" if b".npy" in content[30:100] else ".xlsx",  # the name of its first file
        b"PAR1": ".parquet",
        b"\x93NUMPY": ".npy",
    }
    for start, suffix in starts.items():
        if content.startswith(start):
            return suffix
    if content.lstrip()[:1] != b"{":
        return ".csv"
    return ".jsonl" if content.strip().count(b"\n{") else ".json"


INPUT = InputPath()


@dataclass(frozen=True)
class TableOptions:
    """How the table is read and prepared; names of columns as given, see `named`."""

    id_col: str | None = None
    columns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    text_col: tuple[str, ...] = ()
    raw: bool = False
    standardize: bool = False
    separator: str | None = None
    encoding: str | None = None
    embeddings: str | None = None

    def named(self, columns: list[str]) -> dict[str, list[str]]:
        """The names of columns per option: each value is one name, if there is such a column,
        else names separated by commas.
        """
        given = {
            "--columns": self.columns,
            "--exclude": self.exclude,
            "--category": self.category,
            "--text-col": self.text_col,
        }
        return {
            option: list(
                dict.fromkeys(chain(*([v] if v in columns else _split(v) for v in values)))
            )
            for option, values in given.items()
        }

    @property
    def words(self) -> list[str]:
        """The options that were given, as they are typed."""
        found: list[str] = []
        for field in fields(self):
            option, value = "--" + field.name.replace("_", "-"), getattr(self, field.name)
            if value is True:
                found.append(option)
            elif value:
                values = value if isinstance(value, tuple) else (value,)
                found += [word for each in values for word in (option, each)]
        return found

    @property
    def names_columns(self) -> bool:
        """Whether any option names a column."""
        return any((self.id_col, self.columns, self.exclude, self.category, self.text_col))


def _split(value: str) -> list[str]:
    """a,b,"c, d" as three names."""
    names = [name.strip() for name in next(csv.reader([value], skipinitialspace=True), [])]
    if not names or not all(names):
        raise BadInput(f"{value!r} holds an empty name of a column.")
    return names


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of `TableOptions`, given to the command as one value, `options`."""

    @functools.wraps(command)
    def with_options(**given: Any) -> Any:
        options = TableOptions(**{each.name: given.pop(each.name) for each in fields(TableOptions)})
        if options.raw and options.standardize:
            raise BadInput("--raw and --standardize exclude each other.")
        return command(options=options, **given)

    def names(option: str, text: str) -> Callable[..., Any]:
        return click.option(option, multiple=True, metavar="NAMES", help=text)

    gathered: Callable[..., Any] = with_options
    for option in reversed(
        [
            click.option("--id-col", help="The column that names the rows."),
            names("--columns", 'Columns to cluster by: a,b,"c, d"; may be repeated.'),
            names("--exclude", "Columns to leave out."),
            names("--category", "Columns whose numbers are codes."),
            names("--text-col", "Columns of running text."),
            click.option("--raw", is_flag=True, help="Take numbers as they are; do not scale."),
            click.option(
                "--standardize", is_flag=True, help="Scale .npy and .npz too; tables are scaled."
            ),
            click.option("--separator", help="Of a CSV file; read off its header by default."),
            encoding_option,
            click.option(
                "--embeddings",
                metavar="FILE",
                help="Cluster by these vectors: .npy, .npz, or a column of lists (Parquet).",
            ),
        ]
    ):
        gathered = option(gathered)
    return gathered


encoding_option = click.option("--encoding", help="Of text, if not UTF-8, UTF-16 or cp1252.")
skip_unknown_option = click.option(
    "--skip-unknown", is_flag=True, help="Leave out statements about ids the table does not have."
)


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


@contextlib.contextmanager
def passing(what: str, n_rows: int) -> Iterator[Callable[[int], object]]:
    """A bar with the time left, on a terminal only; call what it yields with rows done."""
    if not on_terminal():
        yield lambda n: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    text = TextColumn("{task.description}")
    console = Console(stderr=True)
    with Progress(text, BarColumn(), TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task(what, total=n_rows)
        yield lambda n: bar.advance(task, n)


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


# What a run may leave in its folder.
RESULTS = (
    "labels.csv",
    "labels.xlsx",
    "labels.parquet",
    "report.html",
    "run.json",
    "model.skops",
    "compare.csv",
    "tree.nwk",
)


@contextlib.contextmanager
def staged(folder: Path, keep: Sequence[str] = (), within: Path | None = None) -> Iterator[Path]:
    """A folder to write results into; they are moved to `folder` together, at the end.

    So a run that is stopped leaves those of the run before as they are. Results of an earlier run
    that this one does not write go, but for those named in `keep`. It is made in `within`, which
    must be on the same disk, else in `folder`.
    """
    import shutil
    import tempfile

    new = Path(tempfile.mkdtemp(dir=within or folder, prefix=".writing-"))
    try:
        yield new
        written = sorted(path.name for path in new.iterdir())
        if (folder / "run.json").exists():  # written by a run, and so are its neighbours
            for name in set(RESULTS) - {*written, *keep}:
                (folder / name).unlink(missing_ok=True)
        for name in written:
            os.replace(new / name, folder / name)
    finally:
        shutil.rmtree(new, ignore_errors=True)
