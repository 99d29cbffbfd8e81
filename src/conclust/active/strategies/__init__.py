"""Which question next: strategies without a state of their own."""

from conclust.active.strategies._boundary import Boundary
from conclust.active.strategies._cobras import COBRAS
from conclust.active.strategies._disagreement import Disagreement
from conclust.active.strategies._explore import ExploreConsolidate, MinMax
from conclust.active.strategies._least_known import LeastKnown
from conclust.active.strategies._npu import NPU
from conclust.active.strategies._piles import Piles
from conclust.active.strategies._random import RandomPairs
from conclust.active.strategies._relative import RelativeSplit
from conclust.active.strategies._strategy import Strategy

STRATEGIES: dict[str, type[Strategy]] = {
    "auto": LeastKnown,
    "random": RandomPairs,
    "explore": ExploreConsolidate,
    "minmax": MinMax,
    "npu": NPU,
    "cobras": COBRAS,
    "boundary": Boundary,
    "disagreement": Disagreement,
    "relative": RelativeSplit,
    "piles": Piles,
}

__all__ = [
    "COBRAS",
    "NPU",
    "STRATEGIES",
    "Boundary",
    "Disagreement",
    "ExploreConsolidate",
    "LeastKnown",
    "MinMax",
    "Piles",
    "RandomPairs",
    "RelativeSplit",
    "Strategy",
]
