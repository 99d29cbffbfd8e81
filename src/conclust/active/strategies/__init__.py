"""Which question next: strategies without a state of their own."""

from conclust.active.strategies._random import RandomPairs
from conclust.active.strategies._strategy import Strategy

STRATEGIES: dict[str, type[Strategy]] = {
    "auto": RandomPairs,
    "random": RandomPairs,
}

__all__ = ["STRATEGIES", "RandomPairs", "Strategy"]
