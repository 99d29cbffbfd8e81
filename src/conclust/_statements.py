"""Numbers per statement, and tables of statements with them."""

from typing import TYPE_CHECKING

import numpy as np

from conclust.constraints import Constraints

if TYPE_CHECKING:
    import pandas as pd


def most_doubted(constraints: Constraints, doubt: np.ndarray, n: int) -> "pd.DataFrame":
    """The n statements most doubted, as a table, worst first."""
    order = np.argsort(-doubt, kind="stable")[:n]
    return statements_with(constraints, order, doubt=doubt)


def statements_with(
    constraints: Constraints, order: np.ndarray, **columns: np.ndarray
) -> "pd.DataFrame":
    """Some statements as a table, with their numbers and further columns, one value each."""
    chosen = constraints[order]
    n_rows = np.ones(len(order), dtype=np.int64)
    # A group of mutually apart samples is written out pair by pair.
    n_rows[chosen.kinds == "apart"] = [len(g) * (len(g) - 1) // 2 for g in chosen.apart_groups]
    statement = np.repeat(order, n_rows)
    frame = chosen.to_frame()
    frame.insert(0, "statement", statement)
    for name, values in columns.items():
        frame[name] = values[statement]
    return frame


def by_statement(values: np.ndarray, statement: np.ndarray, n_statements: int) -> np.ndarray:
    """Mean over the pairs of each statement; 0 for statements without pairs."""
    total = np.bincount(statement, weights=values, minlength=n_statements)
    count = np.bincount(statement, minlength=n_statements)
    return total / np.maximum(count, 1)
