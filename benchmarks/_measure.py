"""Time and peak memory of one call, each in a process of its own."""

import contextlib
import ctypes
import gc
import multiprocessing
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Measured(NamedTuple):
    seconds: float  # best of the repeats
    first: float  # the first call, compilation included
    megabytes: float  # peak above what the inputs take
    result: Any


def measure(
    prepare: Callable[..., Any], run: Callable[[Any], Any], *args: Any, repeats: int = 3
) -> Measured:
    """Call ``run(prepare(*args))`` in fresh processes; `prepare` is not counted.

    One process gives the times; memory comes from the only call of a second one, whose kernels
    are compiled already.
    """
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        first, seconds, result = pool.apply(_timed, (prepare, run, args, repeats))
    with context.Pool(1) as pool:
        megabytes = pool.apply(peak_above, (prepare, run, args))
    return Measured(seconds, first, megabytes, result)


def _timed(prepare, run, args, repeats):
    case = prepare(*args)
    times = []
    for _ in range(1 + repeats):
        began = time.perf_counter()
        result = run(case)
        times.append(time.perf_counter() - began)
    return times[0], min(times[1:], default=times[0]), result


def peak_above(prepare, run, args):
    """Most memory in MB that ``run(prepare(*args))`` takes above what is there before."""
    case = prepare(*args)
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # give back what preparing has freed
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    with contextlib.suppress(OSError):  # elsewhere it is the peak of the whole process
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _resident()
    run(case)
    return max(_peak() - before, 0.0)


def _status(key):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) / 1024
    raise KeyError(key)


def _peak():
    try:
        return _status("VmHWM")
    except (OSError, KeyError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _resident():
    try:
        return _status("VmRSS")
    except (OSError, KeyError):
        return 0.0


def print_table(header, rows):
    cells = [tuple(map(str, row)) for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for number, row in enumerate(cells):
        print(
            "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |",
            flush=True,
        )
        if number == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|", flush=True)
