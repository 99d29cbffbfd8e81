"""The one place that imports matplotlib."""

from typing import Any


def new_axes(ax: Any = None, *, width: float = 6.0, height: float = 4.0) -> Any:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Figures need matplotlib; install it with `pip install conclust[plot]`."
        ) from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]
