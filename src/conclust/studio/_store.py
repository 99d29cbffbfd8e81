"""One SQLite file: what happened, in order, and what was replied. Nothing else knows SQL."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from conclust.exceptions import SessionError

VERSION = 1
APPLICATION = 0x434C5354  # "CLST", by which the file is known again
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events (number INTEGER PRIMARY KEY, content TEXT NOT NULL);
CREATE TABLE requests (request TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID;
"""


class Store:
    """What happened in a project; whatever `append` has returned for survives any end.

    Parameters
    ----------
    path : Path
        Made if it is not there, readable by its owner only.
    """

    def __init__(self, path: Path):
        self.path = path
        if path.is_dir():
            raise SessionError(f"{path} is a folder; name the file of the project in it.")
        is_new = not path.exists()
        if is_new:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        # Requests are served by several threads; the project lets in one at a time.
        self._file = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)
        try:
            self._begin(is_new or path.stat().st_size == 0)
        except sqlite3.OperationalError as error:
            self._file.close()
            if "locked" not in str(error):
                raise SessionError(f"{path}: {error}.") from error
            raise SessionError(
                f"{path.name} is open in another studio; use its page, or stop it first."
            ) from error
        except sqlite3.DatabaseError as error:
            self._file.close()
            raise SessionError(
                f"{path} is no project of the studio ({error}); name another with --project."
            ) from error

    def _begin(self, is_new: bool) -> None:
        run = self._file.execute
        # One server at a time: two would hand out the same numbers.
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        if is_new:
            with self._transaction():
                for statement in SCHEMA.strip().split(";\n"):
                    run(statement)
                run(f"PRAGMA application_id = {APPLICATION}")
                run(f"PRAGMA user_version = {VERSION}")
        with self._transaction():  # takes the lock now
            run("SELECT 1 FROM sqlite_master").fetchall()
            found, version = (
                run(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
            )
        if found != APPLICATION:
            raise sqlite3.DatabaseError("another program wrote it")
        if version != VERSION:
            raise sqlite3.DatabaseError(f"version {version}; this release reads {VERSION}")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._file.execute("ROLLBACK")
            raise
        self._file.execute("COMMIT")

    def append(
        self,
        events: Sequence[tuple[int, dict[str, Any]]],
        request: str | None = None,
        reply: Any = None,
    ) -> None:
        """Keep events and the reply to the request that they came with, all or none."""
        with self._transaction():
            self._file.executemany(
                "INSERT INTO events VALUES (?, ?)",
                [(number, json.dumps(content)) for number, content in events],
            )
            if request is not None:
                self._file.execute(
                    "INSERT INTO requests VALUES (?, ?)", (request, json.dumps(reply))
                )

    def events(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """All that happened, in order."""
        for number, content in self._file.execute("SELECT * FROM events ORDER BY number"):
            yield number, json.loads(content)

    def reply(self, request: str) -> Any:
        """What was replied to a request, or None."""
        found = self._file.execute(
            "SELECT reply FROM requests WHERE request = ?", (request,)
        ).fetchone()
        return None if found is None else json.loads(found[0])

    def fact(self, name: str) -> Any:
        """Something about the project itself, or None."""
        found = self._file.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if found is None else json.loads(found[0])

    def set_facts(self, **facts: Any) -> None:
        """Keep things about the project itself."""
        with self._transaction():
            self._file.executemany(
                "INSERT OR REPLACE INTO facts VALUES (?, ?)",
                [(name, json.dumps(value)) for name, value in facts.items()],
            )

    def close(self) -> None:
        """Leave one whole file."""
        self._file.close()
