"""The records of a fit: what `history_` holds, what a report draws, what progress shows."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

RecordT = TypeVar("RecordT")


class Rounds(Generic[RecordT]):
    """The history of a fit: times each round, keeps its record and hands it on.

    Parameters
    ----------
    record : type
        A NamedTuple. Its first field is the number to watch, which a report draws as the curve of
        the fit; a last field `seconds` is filled in here.
    on_round : callable, default=None
        Called with each record.
    history : list of records, default=()
        Rounds to go on from.

    Attributes
    ----------
    history : list of records
    """

    def __init__(
        self,
        record: Callable[..., RecordT],
        on_round: Callable[[RecordT], object] | None = None,
        history: Sequence[RecordT] = (),
    ):
        self.history = list(history)
        self._record, self._on_round = record, on_round
        self._is_timed = "seconds" in record._fields  # type: ignore[attr-defined]
        self._began = time.perf_counter()

    def note(self, *values: Any) -> RecordT:
        """Keep the record of the round that ends now; it began when the last one had ended."""
        self.note_all([values])
        return self.history[-1]

    def note_all(self, rounds: Sequence[Sequence[Any]]) -> None:
        """Keep the records of rounds that were run in one go and share the time it took."""
        took = (time.perf_counter() - self._began) / max(len(rounds), 1)
        last = (took,) if self._is_timed else ()
        records = [self._record(*values, *last) for values in rounds]
        self.history += records
        if self._on_round is not None:
            for record in records:
                self._on_round(record)
        self._began = time.perf_counter()


def curve_of(record: Any) -> str:
    """Name of the field that a report draws: the first."""
    return record._fields[0]


@contextlib.contextmanager
def progress(verbose: int | bool, what: str, total: int) -> Iterator[Callable[..., None]]:
    """Yield a function to call with the record of each round; it draws only when asked to.

    Parameters
    ----------
    verbose : int or bool
        0 draws nothing; else a bar on a terminal or in a notebook, or one line at the end.
    what : str
        What is being fitted.
    total : int
        How many starts, rounds or members there will be at most.
    """
    if not verbose:
        yield lambda record=None, advance=0: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        yield from _plain_progress(what, total)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        rate_column(),
        TextColumn("{task.fields[record]}"),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(what, total=total, record="")

        def show(record: Any = None, advance: int = 0) -> None:
            bar.update(task, advance=advance)
            if record is not None:
                bar.update(task, record=_line(record))

        yield show
        bar.update(task, completed=total)


def _plain_progress(what: str, total: int) -> Iterator[Callable[..., None]]:
    """One line at the end, for logs: a bar would be cut to the width of no terminal."""
    began, done, last = time.perf_counter(), 0, ""

    def show(record: Any = None, advance: int = 0) -> None:
        nonlocal done, last
        done += advance
        last = last if record is None else f", {_line(record)}"

    yield show
    seconds = time.perf_counter() - began
    print(f"{what}: {done}/{total}{last}, {seconds:.1f} s", file=sys.stderr)


def rate_column() -> Any:
    """How many steps are done per second, as a column of a progress bar."""
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:.3g}/s")

    return Rate()


def _line(record: Any) -> str:
    """Round(inertia=431.8, n_violated=7) -> 'inertia 431.8 · n_violated 7'."""
    values = record._asdict() if hasattr(record, "_asdict") else {}
    shown = [
        f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in values.items()
        if name != "seconds" and isinstance(value, int | float)
    ]
    said = [value for value in values.values() if isinstance(value, str)]
    return " · ".join(said + shown)
