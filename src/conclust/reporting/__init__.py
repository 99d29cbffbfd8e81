"""One page about one clustering: facts → page, self-contained and offline."""

from conclust.reporting._facts import About, gather
from conclust.reporting._map import check_projection, project
from conclust.reporting._page import page
from conclust.reporting._profiles import profiles
from conclust.reporting._tree import dendrogram_svg
from conclust.reporting._write import write_report

__all__ = [
    "About",
    "dendrogram_svg",
    "write_report",
]
