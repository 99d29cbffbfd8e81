"""A session on disk: JSON lines that are only ever added to."""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust._atomic import atomic_write
from conclust.active._answers import Told, checked
from conclust.active._question import Question
from conclust.exceptions import SessionError

VERSION = 1


def write_log(path: Path, events: Iterable[dict[str, Any]]) -> int:
    """Write a whole session, return its size; the file is either whole or not there."""
    with atomic_write(path) as file:
        file.writelines(_line(event) for event in events)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def append_event(path: Path, event: dict[str, Any], size: int) -> int:
    """Add a line to a file of this size, and return the new size when the line is on the disk.

    What was told is never lost. A line that cannot be written whole is taken away again, so that
    others can follow.
    """
    if not path.exists():
        raise SessionError(
            f"{path}, where this session was kept, is gone; nothing was told. "
            "`session.save(path)` writes it anew."
        )
    with path.open("ab") as file:
        if file.seek(0, os.SEEK_END) != size:
            raise SessionError(
                f"{path} was changed by somebody else; nothing was told. `Session.load(path, X)` "
                "goes on with what it holds, `session.save(path)` writes what this session knows."
            )
        try:
            file.write(_line(event).encode())
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            os.truncate(path, size)
            raise
        return file.tell()


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a session; a last line that was cut off while it was written does not count."""
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    events = [_event(path, i, line) for i, line in enumerate(whole.splitlines(), start=1)]
    if not events or events[0].get("event") != "session":
        raise SessionError(f"{path.name} holds no session; `session.save(path)` writes one.")
    if events[0].get("version") != VERSION:
        raise SessionError(
            f"{path.name} is a session of version {events[0].get('version')!r}; this release "
            f"reads version {VERSION}."
        )
    return events


def drop_torn_line(path: Path) -> int:
    """Take away a last line that was cut off while it was written; return the size that is left."""
    content = path.read_bytes()
    size = content.rfind(b"\n") + 1
    if size < len(content):
        os.truncate(path, size)
    return size


def told_event(told: Told) -> dict[str, Any]:
    """An answer as a line of the file."""
    question = told.question
    return {
        "event": "told",
        "number": told.number,
        "question": question.id,
        "kind": question.kind,
        "samples": list(question.samples),
        "answer": told.answer,
        "weight": told.weight,
        "by": told.by,
        "when": told.when,
        "seconds": told.seconds,
        "why": question.why,
        "worth": question.worth,
        "at_random": question.at_random,
    }


def told_from(event: dict[str, Any], names: Any) -> Told:
    """An answer from its line."""
    samples = tuple(int(row) for row in event["samples"])
    question = Question(
        samples,
        event["kind"],
        event["why"],
        event["worth"],
        event["question"],
        samples if names is None else tuple(names[list(samples)]),
        at_random=event.get("at_random", False),
    )
    answer = checked(question, event["answer"])
    rest = (event[name] for name in ("weight", "by", "when", "seconds"))
    return Told(event["number"], question, answer, *rest)


def fingerprint(X: Any) -> str:
    """A checksum of the rows, by which a file knows them again."""
    digest = hashlib.sha256(repr(X.shape).encode())
    for array in (X.indptr, X.indices, X.data) if sp.issparse(X) else (X,):
        wide = np.float64 if array.dtype.kind == "f" else np.int64
        digest.update(np.ascontiguousarray(array, dtype=wide).data)
    return digest.hexdigest()


def _event(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise SessionError(f"{path.name}, line {number} is not a line of a session.")
    return event


def _line(event: dict[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)
