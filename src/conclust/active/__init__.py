"""Ask people, or programs, which rows belong together: which question next, and who answers."""

from conclust.active._ask import ask
from conclust.active._change import ExpectedChange, expected_change, moved
from conclust.active._closure import LiveClosure
from conclust.active._question import Proposal, Question
from conclust.active._session import Session
from conclust.active._state import State, error_rate
from conclust.active.oracles import (
    Answer,
    Budgeted,
    Cached,
    Enough,
    Labels,
    Noisy,
    Retried,
    Table,
    Threaded,
    Voted,
)
from conclust.active.strategies import (
    COBRAS,
    NPU,
    STRATEGIES,
    Boundary,
    Disagreement,
    ExploreConsolidate,
    LeastKnown,
    MinMax,
    Piles,
    RandomPairs,
    RelativeSplit,
    Strategy,
)
from conclust.active.terminal import Terminal

__all__ = [
    "COBRAS",
    "NPU",
    "STRATEGIES",
    "Answer",
    "Boundary",
    "Budgeted",
    "Cached",
    "Disagreement",
    "Enough",
    "ExpectedChange",
    "ExploreConsolidate",
    "Labels",
    "LeastKnown",
    "MinMax",
    "Noisy",
    "Piles",
    "Proposal",
    "Question",
    "RandomPairs",
    "RelativeSplit",
    "Retried",
    "Session",
    "State",
    "Strategy",
    "Table",
    "Terminal",
    "Threaded",
    "Voted",
    "ask",
]
