"""Linked rows placed pair after pair, by priority."""

import numpy as np

from conclust._kernels.place_in_order import Plan, plan_pairs


def plan_of(pairs: np.ndarray, sign: np.ndarray, order: np.ndarray, n_rows: int) -> Plan:
    """The pairs that place rows when visited in this order; see `plan_pairs`."""
    full = Plan(*(np.empty_like(given) for given in (pairs, sign, pairs, sign)))
    if not len(order):
        return full
    is_placed = np.zeros(n_rows, dtype=bool)
    n_openings, n_extensions = plan_pairs(pairs, sign, order, is_placed, full)
    lengths = (n_openings, n_openings, n_extensions, n_extensions)
    return Plan(*(table[:length].copy() for table, length in zip(full, lengths, strict=True)))


def descending(priority: np.ndarray | None, n_pairs: int) -> np.ndarray:
    if priority is None:
        return np.arange(n_pairs, dtype=np.uint32)
    return np.argsort(-np.asarray(priority), kind="stable").astype(np.uint32)
