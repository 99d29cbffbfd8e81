"""Figures of what was learned, drawn with matplotlib (extra: plot)."""

from conclust.plotting._dendrogram import plot_dendrogram
from conclust.plotting._priorities import plot_priorities

__all__ = ["plot_dendrogram", "plot_priorities"]
