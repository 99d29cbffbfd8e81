"""The cache folder: copies of what was fetched, written whole or not at all."""

import io
import os
from pathlib import Path

import numpy as np

from conclust._atomic import atomic_write
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
    with atomic_write(path, "wb") as file:
        file.write(buffer.getvalue())


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
