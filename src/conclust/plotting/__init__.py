"""Figures of what was said and found, drawn with matplotlib (extra: plot)."""

from conclust.plotting._confidence import plot_confidence
from conclust.plotting._dendrogram import plot_dendrogram
from conclust.plotting._doubt import plot_doubt
from conclust.plotting._history import plot_history
from conclust.plotting._map import plot_change, plot_constraints
from conclust.plotting._priorities import plot_priorities

__all__ = [
    "plot_change",
    "plot_confidence",
    "plot_constraints",
    "plot_dendrogram",
    "plot_doubt",
    "plot_history",
    "plot_priorities",
]
