"""Colours that colour-blind eyes tell apart (Okabe and Ito, and Tol), and shapes besides."""

MUST, CANNOT, RELATIVE = "#222222", "#d55e00", "#7b3294"
CLUSTERS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c6d31", "#999933", "#5254a3"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "p"]
GREY = "#777777"
TOGETHER, APART = "#0072b2", "#d55e00"


def color(cluster: int) -> str:
    """The colour of a cluster; after eight they begin again."""
    return CLUSTERS[cluster % len(CLUSTERS)]


def marker(cluster: int) -> str:
    """The shape of a cluster; in another order for each eight, so that 64 can be told apart."""
    return MARKERS[(cluster + cluster // len(CLUSTERS)) % len(MARKERS)]
