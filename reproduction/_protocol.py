"""What a paper's folder says about itself: cases, how one is computed, claims."""

import zlib
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

# One cell of an experiment: names and numbers, e.g. {"dataset": "iris", "method": "BCKM",
# "n_constraints": 100, "draw": 3}. Its values are the first columns of the table.
Case = dict[str, Any]


class Verdict(NamedTuple):
    """Whether a claim of the paper is seen here, and the numbers that say so."""

    holds: str  # "holds", "partly", "does not", or "not tested" by a small run
    numbers: str

    @classmethod
    def of(cls, share: float, numbers: str) -> "Verdict":
        """Every instance: holds; at least half: partly; fewer: does not; NaN: not tested."""
        if share != share:
            return cls("not tested", numbers)
        word = "holds" if share >= 1 else "partly" if share >= 0.5 else "does not"
        return cls(word, numbers)


class Claim(NamedTuple):
    """A sentence of the paper, and how the table answers it."""

    text: str
    check: Callable[[pd.DataFrame], Verdict]


class Protocol(NamedTuple):
    """An experiment as data; each paper's package exports one as ``PROTOCOL``."""

    paper: str  # the folder: "paper000"
    title: str
    cases: Callable[[bool], list[Case]]  # cases(quick)
    evaluate: Callable[[Case], dict[str, float]]  # scores of one case; seeds come from the case
    claims: list[Claim]
    figures: dict[str, Callable[[pd.DataFrame], Any]]  # file name -> matplotlib figure
    tables: tuple[tuple[str, Callable[[pd.DataFrame], pd.DataFrame]], ...] = ()  # title, texts
    notes: str = ""  # Markdown for the page: readings, what was reduced and why


def grid(**axes: Iterable[Any]) -> list[Case]:
    """Every combination: ``grid(dataset=["iris", "wine"], draw=range(2))``."""
    return [dict(zip(axes, values, strict=True)) for values in product(*map(tuple, axes.values()))]


def seed_of(*parts: Any) -> int:
    """Return a seed that depends only on the names and numbers given.

    Draws of constraints leave the method out, so that all methods see the same statements.
    """
    return zlib.crc32(repr(parts).encode())


def mean_table(table: pd.DataFrame, score: str, rows: list[str], columns: str) -> pd.DataFrame:
    """Mean of a score over everything but `rows` and `columns`."""
    return table.pivot_table(index=rows, columns=columns, values=score, aggfunc="mean")
