"""The most memory a piece of work takes."""

import contextlib
import gc
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path


@contextlib.contextmanager
def peak_since() -> Iterator[Callable[[], float]]:
    """Yield a function that says how many MB were taken at most since the block began.

    Linux can forget the peak of a process; elsewhere an earlier, larger peak hides a later one.
    """
    gc.collect()
    gc.freeze()  # or the next one looks at all that is loaded again: 0.1 s with numba
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS") or _peak()
    yield lambda: max(_peak() - before, 0.0)


def _peak() -> float:
    # macOS counts bytes, the others KB.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _status(key: str) -> float:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1]) / 1024
    return 0.0
