"""The one place that makes figures."""

from typing import Any

from conclust.exceptions import MissingExtraError


def new_axes(ax: Any = None, *, width: float = 6.0, height: float = 4.0) -> Any:
    """Return the axes given, or those of a new figure."""
    return ax if ax is not None else _subplots(1, width, height)


def new_pair_of_axes(axes: Any = None, *, width: float = 10.0, height: float = 4.6) -> Any:
    """Return the two axes given, or those of a new figure, side by side."""
    if axes is None:
        return _subplots(2, width, height)
    if len(axes) != 2:
        raise ValueError(f"axes has {len(axes)} entries; pass two, or none for a new figure.")
    return axes


def _subplots(n: int, width: float, height: float) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError(
            "Figures need matplotlib; install it with `pip install conclust[plot]`."
        ) from error
    return plt.subplots(1, n, figsize=(width, height), layout="constrained")[1]
