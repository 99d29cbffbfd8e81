"""Fill the table of a protocol: in parallel, and from where it stopped."""

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
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
from reproduction._memory import peak_since
from reproduction._protocol import Case, Protocol

VERSIONS = f"conclust {conclust.__version__} " + " ".join(
    f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "numba")
)


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
        Rows that another state of the code has computed are kept, and their number is said.
    quick : bool, default=False
        The protocol's small version.
    n_jobs : int, default=1
        Processes of joblib, which share the cores among themselves;
        ``parallel_config(backend="dask")`` around the call uses a Dask client instead.

    Returns
    -------
    DataFrame
        One row per case, in the order of the protocol: the case, ``seconds``, its scores,
        ``peak_mb`` (the most memory it took above what was there before) and ``versions``. A
        score named ``seconds`` replaces the time of the whole case.
    """
    cases = protocol.cases(quick)
    code = fingerprint(protocol.paper)
    done = finished(checkpoint)
    n_old = sum(done.get(key_of(case), {}).get("code", code) != code for case in cases)
    if n_old:
        print(
            f"{protocol.paper}: {n_old} of {len(cases)} rows were computed by other code; "
            f"--fresh computes them again.",
            file=sys.stderr,
        )
    todo = [case for case in cases if key_of(case) not in done]
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    with checkpoint.open("a", encoding="utf-8") as file:
        work = _results(protocol.evaluate, todo, n_jobs)
        for case, result in _progress(work, protocol.paper, len(todo)):
            result["code"] = code
            done[key_of(case)] = result
            file.write(json.dumps({"case": case, "result": result}) + "\n")
            file.flush()
            os.fsync(file.fileno())
    table = pd.DataFrame([case | done[key_of(case)] for case in cases])
    return table.drop(columns="code", errors="ignore")


def compute(
    evaluate: Callable[[Case], dict[str, float]], case: Case
) -> tuple[Case, dict[str, Any]]:
    """Return a case and the rest of its row."""
    with peak_since() as peak:
        began = time.perf_counter()
        scores = evaluate(case)
        seconds = time.perf_counter() - began
    return case, {
        "seconds": round(seconds, 4),
        **scores,
        "peak_mb": round(peak(), 1),
        "versions": VERSIONS,
    }


@cache
def fingerprint(paper: str) -> str:
    """Name the state of the code that rows depend on: conclust and the paper's folder."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for folder in (Path(conclust.__file__).parent, here / paper):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


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
