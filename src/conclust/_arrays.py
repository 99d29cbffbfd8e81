"""Names for the arrays that travel between modules."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
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


def in_parts(X: Any) -> Iterator[tuple[int, Any]]:
    """All rows of X, ``start, rows``: block by block from a source, else in one part."""
    return X.parts() if is_source(X) else iter([(0, X)])


def labels_of(X: Any, label: Callable[[Any], npt.NDArray[np.int32]], *, lazy: bool) -> Any:
    """``label(rows)`` of all rows of X, where they are; `lazy`: when its engine is asked to."""
    if not is_source(X):
        return label(X)
    return X.lazy_labels(label) if lazy else X.labels(label)
