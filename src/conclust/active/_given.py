"""What was known before the first question."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from conclust.active._closure import LiveClosure
from conclust.constraints import Constraints


def closed(given: Constraints, n_samples: int) -> LiveClosure:
    """What follows from it."""
    closure = LiveClosure(n_samples)
    pairs = given.pairs()
    for (a, b), sign in zip(pairs.pairs.tolist(), pairs.sign.tolist(), strict=True):
        closure.add(a, b, sign)
    return closure


def skipped_pairs(given: Constraints) -> list[tuple[int, int]]:
    """Pairs that were answered "unsure" or "skip" beforehand: not asked again."""
    if not given.skipped:
        return []
    names = range(given.n_samples or 0) if given.ids is None else given.ids
    position = {str(name): i for i, name in enumerate(names)}
    pairs = [(r.get("a"), r.get("b")) for r in given.skipped if r.get("c") is None]
    found = [(position.get(str(a)), position.get(str(b))) for a, b in pairs]
    return [(a, b) for a, b in found if a is not None and b is not None and a != b]


def given_records(given: Constraints, skipped: Iterable[tuple[int, int]]) -> list[dict[str, Any]]:
    """What was known beforehand, row by row, by position."""
    rows = given.to_frame(ids=np.arange(given.n_samples or 0)).to_dict("records")
    rows = [{k: v for k, v in row.items() if v is not None and v == v} for row in rows]
    return rows + [{"a": a, "b": b, "type": "skip"} for a, b in skipped]


def given_from(records: list[dict[str, Any]], n_samples: int) -> Constraints:
    """What was known beforehand, from its rows."""
    import pandas as pd

    if not records:
        return Constraints(n_samples=n_samples)
    return Constraints.from_frame(pd.DataFrame(records, dtype=object)).on(n_samples)
