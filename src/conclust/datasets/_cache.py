"""The cache folder: copies of what was fetched, written whole or not at all."""

import io
import os
import secrets
from pathlib import Path

import numpy as np

from conclust.datasets._content import Content
from conclust.datasets._registry import Dataset


class DamagedCopyError(Exception):
    """A copy in the cache that cannot be read; whoever meets it fetches anew."""


def cache_folder() -> Path:
    """``CONCLUST_CACHE``, else the folder ``conclust`` in scikit-learn's data home."""
    own = os.environ.get("CONCLUST_CACHE")
    if own:
        return Path(own).expanduser()
    # Not sklearn.datasets.get_data_home(): that creates the folder, and we may only be looking.
    shared = os.environ.get("SCIKIT_LEARN_DATA") or "~/scikit_learn_data"
    return Path(shared).expanduser() / "conclust"


def copy_path(dataset: Dataset) -> Path:
    """Where the copy of what OpenML gave is kept."""
    return cache_folder() / f"{dataset.name}_openml{dataset.openml}.npz"


def write_copy(content: Content, path: Path) -> None:
    """Keep what was fetched, as arrays without pickles."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        data=content.data,
        labels=content.labels.astype(str),
        feature_names=np.array(content.feature_names, dtype=str),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, buffer.getvalue())


def read_copy(path: Path) -> Content:
    """The copy at ``path``; DamagedCopyError where it is none."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            data, labels, names = (arrays[key] for key in ("data", "labels", "feature_names"))
        if data.ndim != 2 or data.dtype.kind not in "fiu" or len(labels) != len(data):
            raise ValueError("it holds no table of numbers with labels")
        return Content(data, labels, names.tolist())
    except Exception as error:  # whatever is wrong with a copy, the way out is the same
        raise DamagedCopyError(f"{path} cannot be read ({error})") from error


def write_atomically(path: Path, blob: bytes) -> None:
    """Write a file so that nobody ever sees half of it."""
    # Not tempfile: its files are private to the user, and a cache may be shared.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        draft.write_bytes(blob)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
