"""Progress on stderr, fed by the records that also make up `history_`."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def progress(verbose: int | bool, what: str, total: int) -> Iterator[Callable[..., None]]:
    """Yield a function to call with the record of each round; it draws only when asked to.

    Parameters
    ----------
    verbose : int or bool
        0 draws nothing.
    what : str
        What is being fitted.
    total : int
        How many starts, rounds or members there will be at most.
    """
    if not verbose:
        yield lambda record=None, advance=0: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        rate_column(),
        TextColumn("{task.fields[record]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total, record="")

        def show(record: Any = None, advance: int = 0) -> None:
            bar.update(task, advance=advance)
            if record is not None:
                bar.update(task, record=_line(record))

        yield show
        bar.update(task, completed=total)


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
    return " · ".join(shown)
