"""Several starts, and the one to keep."""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from conclust._arrays import count_labels
from conclust._lloyd.bookmark import Bookmark
from conclust._progress import progress
from conclust.exceptions import DegenerateClusteringWarning

# Values closer than this, relatively, are the same.
SAME = 1e-10
RunT = TypeVar("RunT")


def n_starts(init: Any, n_init: int) -> int:
    """How many starts to make: centres given (array, list or tuple) leave nothing to draw."""
    return n_init if isinstance(init, str) or callable(init) else 1


def best_of_starts(
    start: Callable[[int, Callable[..., None]], RunT],
    n_starts: int,
    key: Callable[[RunT], tuple[float, ...]],
    *,
    what: str = "",
    verbose: int | bool = 0,
    bookmark: Bookmark | None = None,
) -> RunT:
    """Make several starts and return the best one.

    Parameters
    ----------
    start : callable
        Called as ``start(number, on_round)``; it draws what it needs itself, in this order.
    n_starts : int
    key : callable
        What is to be low in a run, the most important number first.
    what : str
        What is being fitted, for the progress bar.
    verbose : int or bool, default=0
    bookmark : Bookmark, default=None
        Says from which start to go on; gets the best run while there are starts to come.

    Returns
    -------
    Run
        The first one on ties; see `is_better`.
    """
    first, best = (0, None) if bookmark is None else (bookmark.number, bookmark.best())
    with progress(verbose, what, n_starts) as show:
        show(advance=first)
        lowest = () if best is None else key(best)
        for number in range(first, n_starts):
            run = start(number, show)
            show(advance=1)
            value = key(run) if n_starts > 1 else ()
            if best is None or is_better(value, lowest):
                best, lowest = run, value
                if bookmark is not None and number + 1 < n_starts:
                    bookmark.keep(best)
    assert best is not None
    return best


def is_better(value: tuple[float, ...], lowest: tuple[float, ...]) -> bool:
    """Whether the first numbers that differ fall, and not by rounding.

    The same clusters under other names differ by rounding, and are not better.
    """
    for new, old in zip(value, lowest, strict=True):
        if abs(new - old) > SAME * min(abs(new), abs(old)):
            return new < old
    return False


def warn_if_degenerate(
    labels: np.ndarray, n_clusters: int, way_out: str = "Lower n_clusters."
) -> None:
    """Say so when clusters were left empty; to be called by `fit` itself."""
    *inside, n_aside = count_labels(labels, n_clusters).tolist()
    n_found = np.count_nonzero(inside)
    if n_found < n_clusters:
        why = f"X has too few distinct rows, or must-links join too many of them. {way_out}"
        if n_aside:
            why = f"{n_aside} of {len(labels)} rows are set aside. Lower outliers or n_clusters."
        warnings.warn(
            f"Only {n_found} of n_clusters={n_clusters} clusters have rows: {why}",
            DegenerateClusteringWarning,
            stacklevel=4,
        )
