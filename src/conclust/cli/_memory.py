"""How much memory this process may use."""

import contextlib
import os
from pathlib import Path

# Files that hold the limit of a group of processes, such as a container.
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def allowed_memory() -> int | None:
    """Bytes, by the machine, the group of processes and the limits of this one; None: unknown."""
    return min([*_of_machine(), *_of_group(), *_of_process()], default=None)


def _of_machine() -> list[int]:
    try:
        return [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):  # not on every system
        return []


def _of_group() -> list[int]:
    found = []
    for name in LIMITS:
        with contextlib.suppress(OSError, ValueError):  # no such file, or "max"
            found.append(int(Path(name).read_text()))
    return found


def _of_process() -> list[int]:
    try:
        import resource
    except ImportError:  # Windows
        return []
    limits = [resource.getrlimit(each)[0] for each in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return [limit for limit in limits if limit != resource.RLIM_INFINITY]
