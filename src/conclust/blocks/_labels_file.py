"""Labels that live in a file: mapped while they are made, put in place when they are whole."""

import contextlib
import os
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import Labels
from conclust._atomic import with_plain_permissions


class LabelsFile:
    """Where the labels of one `fit` or `predict` shall be.

    Each start has a hidden neighbour of the file, gone with its array; the one kept becomes the
    file.

    Parameters
    ----------
    path : str or path
        Ends in ``.npy``; what it holds is replaced when new labels are whole.
    """

    def __init__(self, path: Any):
        self.path = Path(path)
        self._parts: dict[int, str] = {}  # the neighbour of each array that was handed out
        if self.path.suffix != ".npy":
            raise ValueError(f"labels_file={str(path)!r}: its name must end in .npy.")
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"labels_file={str(path)!r}: there is no such folder.")

    def new(self, n_rows: int, fill: int) -> Labels:
        """Labels of so many rows, all alike, in a neighbour of the file."""
        handle, part = tempfile.mkstemp(
            dir=self.path.parent, prefix=f".{self.path.name[:80]}.", suffix=".part"
        )
        os.close(handle)
        mapped = np.lib.format.open_memmap(part, "w+", np.int32, (n_rows,))
        labels: Labels = mapped.view(np.ndarray)  # compiled loops know no other class
        labels.fill(fill)
        self._parts[id(labels)] = part
        weakref.finalize(labels, _remove, self._parts, id(labels))
        return labels

    def keep(self, labels: npt.NDArray[Any]) -> None:
        """Put labels in place, wherever they are now."""
        if id(labels) not in self._parts:
            copy = self.new(len(labels), 0)
            copy[:] = labels
            labels = copy
        part = self._parts[id(labels)]
        with_plain_permissions(part)
        os.replace(part, self.path)


def _remove(parts: dict[int, str], number: int) -> None:
    with contextlib.suppress(OSError):  # it became the file
        os.unlink(parts.pop(number))
