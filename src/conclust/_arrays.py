"""Names for the arrays that travel between modules."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
# A dense array or a CSR matrix, float32 or float64.
Matrix = Any


def is_source(X: Any) -> bool:
    """Whether X is a source of rows, read block by block, and no array; see `conclust.blocks`."""
    return hasattr(X, "open_rows")


def in_parts(X: Any) -> Iterator[tuple[int, Any]]:
    """All rows of X, ``start, rows``: block by block from a source, else in one part."""
    return X.parts() if is_source(X) else iter([(0, X)])
