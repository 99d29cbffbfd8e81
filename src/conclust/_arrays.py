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
# Labels that are looked at at a time.
CHUNK = 1 << 20
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
    """A tensor, or what an engine holds, as an array in memory; anything else as it is."""
    if is_tensor(values):
        return values.detach().cpu().numpy()
    engine = engine_of(values)
    if engine == "dask":
        return values.compute()
    return values.to_pandas().to_numpy().squeeze(axis=1) if engine == "Ray" else values


def in_parts(X: Any) -> Iterator[tuple[int, Any]]:
    """All rows of X, ``start, rows``: block by block from a source, else in one part."""
    return X.parts() if is_source(X) else iter([(0, X)])


def empty_labels(X: Any) -> Labels:
    """Room for a label of each row of X: in memory, or where its source says."""
    n_rows = int(X.shape[0])
    return X.new_labels() if is_source(X) else np.empty(n_rows, dtype=np.int32)


def labels_of(X: Any, label: Callable[[Any], Labels]) -> Any:
    """``label(rows)`` of all rows of X, where they are; of a collection, when it is asked for."""
    return X.labels(label) if is_source(X) else label(X)


def count_labels(labels: npt.NDArray[Any], n_clusters: int) -> IntArray:
    """(n_clusters + 1,) rows of each cluster, then of those set aside."""
    sizes = np.zeros(n_clusters + 1, dtype=np.int64)
    for start in range(0, len(labels), CHUNK):  # labels may be in a file
        sizes += np.bincount(labels[start : start + CHUNK] + 1, minlength=len(sizes))
    return np.roll(sizes, -1)  # -1 was first
