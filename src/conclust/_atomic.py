"""Files that are either whole or not there."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def atomic_write(path: Path, mode: str = "w") -> Iterator[IO]:
    """Open a temporary neighbour of `path` and move it into place when the block succeeds."""
    text = "b" not in mode
    try:
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name[:80]}.", suffix=".part"
        )
    except OSError as error:
        error.filename = str(path)  # the file that was asked for, not its hidden neighbour
        raise
    try:
        with os.fdopen(
            handle, mode, encoding="utf-8" if text else None, newline="" if text else None
        ) as file:
            yield file
        with_plain_permissions(name)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def with_plain_permissions(name: str) -> None:
    """Give a file that mkstemp made, a private one, the permissions a plain open() would."""
    umask = os.umask(0)
    os.umask(umask)
    os.chmod(name, 0o666 & ~umask)
