"""Names for the arrays that travel between modules."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]
# A dense array or a CSR matrix, float32 or float64.
Matrix = Any
# The engines whose collections can be X, by the library of their type: none is imported for it.
ENGINES = {"dask": "dask", "dask_expr": "dask", "ray": "Ray"}


def engine_of(X: Any) -> str | None:
    """The engine whose collection X is; None for anything else."""
    return ENGINES.get(type(X).__module__.partition(".")[0])


def is_source(X: Any) -> bool:
    """Whether X is a source of rows, read block by block, and no array; see `conclust.blocks`."""
    return hasattr(X, "open_rows")


def is_tensor(X: Any) -> bool:
    """Whether X is a tensor of torch, which is not imported for that."""
    return type(X).__module__.split(".")[0] == "torch" and hasattr(X, "layout")


def is_afar(X: Any) -> bool:
    """Whether X is a tensor that lies on another device."""
    return is_tensor(X) and X.device.type != "cpu"


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


def labels_of(X: Any, label: Callable[[Any], Labels], *, lazy: bool) -> Any:
    """``label(rows)`` of all rows of X, where they are; `lazy`: when its engine is asked to."""
    if not is_source(X):
        return label(X)
    if lazy:
        return X.lazy_labels(label)
    labels = X.labels(label)
    keep_labels(X, labels)
    return labels
