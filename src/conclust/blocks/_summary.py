"""Mean, variance and largest magnitude of rows, in one pass; those of parts make up the whole's."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray
from conclust.blocks._prepare import minus


class Summary(NamedTuple):
    """What is to be known of rows before k-means."""

    n_rows: int
    mean: FloatArray  # (n_features,)
    variance: FloatArray  # (n_features,)
    largest: float  # magnitude


def summary_of(blocks: Iterable[tuple[int, npt.NDArray[Any]]]) -> Summary:
    """Summarise ``start, rows`` of a pass; the rows are overwritten."""
    pivot: npt.NDArray[Any] | None = None
    n_rows, largest = 0, 0.0
    sums: Any = 0.0
    squares: Any = 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # refused by whoever asks
        for _, block in blocks:
            largest = max(largest, float(block.max()), -float(block.min()))
            # Moved by any row near the mean, squares lose no digits; products with ones are
            # sums down the columns, fast ones.
            pivot = block.mean(axis=0) if pivot is None else pivot
            moved = minus(block, pivot, block).astype(np.float64, copy=False)
            ones = np.ones(len(moved))
            sums = sums + ones @ moved
            squares = squares + ones @ np.multiply(moved, moved, out=moved)
            n_rows += len(moved)
        step = sums / n_rows
        variance = np.maximum(squares / n_rows - step**2, 0.0)
        return Summary(n_rows, pivot + step, variance, largest)


def together(parts: Sequence[Summary]) -> Summary:
    """Summary of all rows from those of their parts."""
    n_rows = sum(part.n_rows for part in parts)
    share = np.array([part.n_rows / n_rows for part in parts])
    means, variances = (np.array([part[field] for part in parts]) for field in (1, 2))
    with np.errstate(over="ignore", invalid="ignore"):
        mean = share @ means
        # Variance within the parts, and between them.
        variance = share @ variances + share @ (means - mean) ** 2
    return Summary(n_rows, mean, variance, max(part.largest for part in parts))
