"""Ask people, or programs, which rows belong together: which question next, and who answers."""

from conclust.active._question import Proposal, Question
from conclust.active._session import Session
from conclust.active._state import State
from conclust.active.strategies import STRATEGIES, RandomPairs, Strategy

__all__ = [
    "STRATEGIES",
    "Proposal",
    "Question",
    "RandomPairs",
    "Session",
    "State",
    "Strategy",
]
