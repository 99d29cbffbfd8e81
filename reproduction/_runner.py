"""Fill the table of a protocol: in parallel, and from where it stopped."""

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed, parallel_config
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

import conclust
from reproduction._protocol import Case, Protocol


def run(
    protocol: Protocol, checkpoint: Path, *, quick: bool = False, n_jobs: int = 1
) -> pd.DataFrame:
    """Compute every case that the checkpoint does not hold yet, and return the table.

    Parameters
    ----------
    protocol : Protocol
    checkpoint : Path
        A file with one JSON object per finished case. Each is on the disk before the next is
        taken, so a killed run goes on where it was; a line cut short is computed again.
    quick : bool, default=False
        The protocol's small version.
    n_jobs : int, default=1
        Processes of joblib, one thread each; ``parallel_config(backend="dask")`` around the call
        uses a Dask client instead.

    Returns
    -------
    DataFrame
        One row per case, in the order of the protocol: the case, ``seconds``, its scores,
        ``peak_mb`` (of the process so far) and the ``version`` of conclust. A score named
        ``seconds`` replaces the time of the whole case.
    """
    cases = protocol.cases(quick)
    done = finished(checkpoint)
    todo = [case for case in cases if key_of(case) not in done]
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    with checkpoint.open("a", encoding="utf-8") as file:
        work = _results(protocol.evaluate, todo, n_jobs)
        for case, result in _progress(work, protocol.paper, len(todo)):
            done[key_of(case)] = result
            file.write(json.dumps({"case": case, "result": result}) + "\n")
            file.flush()
            os.fsync(file.fileno())
    return pd.DataFrame([case | done[key_of(case)] for case in cases])


def compute(
    evaluate: Callable[[Case], dict[str, float]], case: Case
) -> tuple[Case, dict[str, Any]]:
    """Return a case and the rest of its row."""
    began = time.perf_counter()
    scores = evaluate(case)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return case, {
        "seconds": round(seconds, 4),
        **scores,
        "peak_mb": round(peak),
        "version": conclust.__version__,
    }


def key_of(case: Case) -> str:
    """Name a case by its values."""
    return json.dumps(case, sort_keys=True)


def finished(checkpoint: Path) -> dict[str, dict[str, Any]]:
    """Rows of an earlier run by case; whatever is not a whole line is ignored."""
    rows: dict[str, dict[str, Any]] = {}
    if not checkpoint.exists():
        return rows
    text = checkpoint.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):  # cut short: the next line must not join it
        text = text[: text.rfind("\n") + 1]
        checkpoint.write_text(text, encoding="utf-8")
    for line in text.splitlines():
        stored = json.loads(line)
        rows[key_of(stored["case"])] = stored["result"]
    return rows


def _results(evaluate: Any, todo: list[Case], n_jobs: int) -> Iterable[tuple[Case, Any]]:
    if n_jobs == 1:
        return (compute(evaluate, case) for case in todo)
    with parallel_config(inner_max_num_threads=1):
        return Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(compute)(evaluate, case) for case in todo
        )


def _progress(results: Iterable[Any], what: str, total: int) -> Iterable[Any]:
    if not (total and sys.stderr.isatty()):
        yield from results
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total)
        for result in results:
            yield result
            bar.advance(task)
