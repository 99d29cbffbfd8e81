"""What a run leaves in its folder until it ends, for ``--resume``: numbers only, no pickle."""

import contextlib
import json
import shutil
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import click
import numpy as np

from conclust._atomic import atomic_write
from conclust.cli._errors import BadInput
from conclust.cli._options import plain
from conclust.exceptions import ConclustError

FOLDER = ".resume"
ABOUT = "run.json"
SECONDS = 5.0  # between two notes of where the fit stands


class State:
    """A folder with what was asked for, prepared rows, and where the fit stands.

    Each file is whole or not there. As `Memory` it is given to the fit.

    Parameters
    ----------
    folder : Path
        That the run writes to.
    asked : mapping
        By what a run is known: only the same one can go on.
    resume : bool
        Go on with what is there, else begin anew.
    """

    def __init__(self, folder: Path, asked: Mapping[str, Any], *, resume: bool):
        self.folder = folder / FOLDER
        self._pending: dict[str, Mapping[str, np.ndarray]] = {}
        self._written = time.monotonic()
        if resume:
            self._check(plain(dict(asked)))
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        with atomic_write(self.folder / ABOUT) as file:
            json.dump(plain(dict(asked)), file, indent=2)

    def _check(self, asked: dict[str, Any]) -> None:
        path = self.folder / ABOUT
        if not path.exists():
            raise BadInput(
                f"--resume: {self.folder.parent} holds no run that was stopped. Is it the folder "
                "that -o named then? To begin, leave out --resume."
            )
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            differ = [name for name in {**known, **asked} if known.get(name) != asked.get(name)]
        except (ValueError, TypeError) as error:
            self._refuse(path, error)
        if differ:
            raise BadInput(
                f"--resume: the run in {self.folder.parent} was another one: "
                f"{'; '.join(_difference(name, known, asked) for name in differ[:3])}. Give the "
                "command of that run, or leave out --resume to begin anew."
            )

    def _refuse(self, path: Path, error: Exception) -> NoReturn:
        raise BadInput(
            f"--resume: {path} cannot be read ({str(error) or type(error).__name__}). Leave out "
            "--resume to begin anew."
        ) from error

    @property
    def rows(self) -> Path:
        """The file of prepared rows."""
        return self.folder / "rows.npy"

    def found(self, name: str) -> dict[str, np.ndarray] | None:
        """Arrays left under a name."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as content:
                return dict(content)
        except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
            self._refuse(path, error)

    def leave(self, name: str, arrays: Mapping[str, np.ndarray], *, now: bool) -> None:
        """Keep arrays under a name, on disk at once or every few seconds."""
        self._pending[name] = arrays
        if now or time.monotonic() - self._written > SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is not written yet."""
        for name, arrays in list(self._pending.items()):
            with atomic_write(self.folder / f"{name}.npz", "wb") as file:
                np.savez(file, **dict(arrays))  # type: ignore[arg-type]
            self._pending.pop(name, None)
        self._written = time.monotonic()

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Around the work: stopped, it says how to go on; done, or begun in vain, all goes."""
        try:
            yield
        except KeyboardInterrupt:
            self.flush()
            click.echo(
                f"\nStopped{self._where()}. The same command with --resume goes on.", err=True
            )
            raise
        except (BadInput, ConclustError):
            if self.found("place") is None:
                self.remove()
            raise
        self.remove()

    def _where(self) -> str:
        place = self.found("place")
        if place is None:
            return ""
        done = f", after iteration {len(place['history'])}" if "history" in place else ""
        return f" in start {int(place['number']) + 1}{done}"

    def remove(self) -> None:
        """Leave nothing."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _difference(name: str, known: dict[str, Any], asked: dict[str, Any]) -> str:
    """What is not as it was, in words."""
    if name == "table":
        return "the table has changed, or is another one"
    if name == "statements":
        return "the statements have changed, or are others"
    return f"{name} was {known.get(name)!r} and is {asked.get(name)!r}"
