"""Names for the arrays that travel between modules."""

from collections.abc import Iterator
from importlib import import_module
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


def is_tensor(X: Any) -> bool:
    """Whether X is a tensor of torch, which is not imported for that."""
    return type(X).__module__.split(".")[0] == "torch" and hasattr(X, "layout")


def opened(X: Any) -> Any:
    """A tensor on another device as a source of rows; what lies in memory, or is one, as it is."""
    if is_tensor(X) and X.device.type != "cpu":
        # By name: the door, which asks, lies below the rooms it leads to.
        return import_module("conclust.blocks").open(X)
    return X


def brought_here(values: Any) -> Any:
    """A tensor as an array in memory, anything else as it is."""
    return values.detach().cpu().numpy() if is_tensor(values) else values


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
