"""The cheapest assignment within sizes, by looking at every assignment there is."""

from itertools import product

import numpy as np


def cheapest(cost, mass, lower, upper, pairs, sign, price):
    """Least cost, prices of broken pairs included (infinity forbids); infinite if there is none."""
    n, k = cost.shape
    least = np.inf
    for labels in product(range(k), repeat=n):
        load = [sum(m for m, c in zip(mass, labels, strict=True) if c == each) for each in range(k)]
        if any(
            not low - 1e-9 <= x <= high + 1e-9
            for low, x, high in zip(lower, load, upper, strict=True)
        ):
            continue
        least = min(least, total(cost, labels, pairs, sign, price))
    return least


def total(cost, labels, pairs, sign, price):
    """Costs and prices of broken pairs."""
    broken = sum(
        p
        for (i, j), s, p in zip(pairs, sign, price, strict=True)
        if (labels[i] == labels[j]) != (s > 0)
    )
    return sum(cost[i][c] for i, c in enumerate(labels)) + broken
