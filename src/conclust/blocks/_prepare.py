"""Rows as they are compared: in one type, of unit length or moved to the mean."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._validation import unit_rows

# Numbers in one loop of a subtraction; one for each row would cost as much as a sweep.
TILE = 1 << 10


class Preparation(NamedTuple):
    """What is done to the rows of a source before they are compared; travels with the work."""

    dtype: np.dtype[Any]
    unit: bool = False  # brought to unit length
    mean: npt.NDArray[Any] | None = None  # moved there

    def __call__(
        self, raw: npt.NDArray[Any], out: npt.NDArray[Any] | None = None
    ) -> npt.NDArray[Any]:
        """Rows prepared, C-contiguous, in `out` where given."""
        out = np.empty(raw.shape, dtype=self.dtype) if out is None else out
        if self.mean is not None:
            return minus(raw, self.mean, out)
        out[...] = unit_rows(raw.astype(self.dtype, copy=False)) if self.unit else raw
        return out


def minus(
    rows: npt.NDArray[Any], mean: npt.NDArray[Any], out: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """``rows - mean`` into `out`, many rows in one loop."""
    n_tiled = max(TILE // rows.shape[1], 1)
    n_whole = len(rows) - len(rows) % n_tiled if rows.flags.c_contiguous else 0
    if n_whole:
        shape = (-1, n_tiled * rows.shape[1])
        repeated = _repeated(mean.tobytes(), mean.dtype, n_tiled)
        np.subtract(rows[:n_whole].reshape(shape), repeated, out=out[:n_whole].reshape(shape))
    np.subtract(rows[n_whole:], mean, out=out[n_whole:])
    return out


@lru_cache(maxsize=16)
def _repeated(mean: bytes, dtype: np.dtype[Any], n_times: int) -> npt.NDArray[Any]:
    """The mean so often in a row; made once, as all pieces of a pass are moved by the same."""
    return np.tile(np.frombuffer(mean, dtype=dtype), n_times)
