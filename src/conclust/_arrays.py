"""Names for the arrays that travel between modules."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]
# A dense array or a CSR matrix, float32 or float64.
Matrix = Any


def is_source(X: Any) -> bool:
    """Whether X is a source of rows, read block by block, and no array; see `conclust.blocks`."""
    return hasattr(X, "open_rows")


def in_parts(X: Any) -> Iterator[tuple[int, Any]]:
    """All rows of X, ``start, rows``: block by block from a source, else in one part."""
    return X.parts() if is_source(X) else iter([(0, X)])


def empty_labels(X: Any) -> Labels:
    """Room for a label of each row of X: in memory, or where its source says."""
    n_rows = int(X.shape[0])
    return X.new_labels() if is_source(X) else np.empty(n_rows, dtype=np.int32)


def keep_labels(X: Any, labels: npt.NDArray[Any]) -> None:
    """Put the labels found for X where its source says, if it does."""
    if is_source(X):
        X.keep_labels(labels)
