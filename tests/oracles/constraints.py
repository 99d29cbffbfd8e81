"""Slow, obvious answers about sets of constraints, straight from the definitions."""

from itertools import combinations, product

import numpy as np


def closure(must_link, cannot_link, n):
    """All implied pairs by repeating the two rules until nothing is new."""
    together = {frozenset(p) for p in map(tuple, must_link)}
    apart = {frozenset(p) for p in map(tuple, cannot_link)}
    while True:
        new_together = {
            frozenset((a, c))
            for a, b, c in product(range(n), repeat=3)
            if a != c and frozenset((a, b)) in together and frozenset((b, c)) in together
        }
        new_apart = {
            frozenset((a, c))
            for a, b, c in product(range(n), repeat=3)
            if a != c and frozenset((a, b)) in together and frozenset((b, c)) in apart
        }
        if new_together <= together and new_apart <= apart:
            return together, apart
        together |= new_together
        apart |= new_apart


def labelings(n, k):
    """Every way to put n samples into at most k clusters."""
    return (np.array(labels) for labels in product(range(k), repeat=n))


def holds(statement, labels):
    kind, samples, _ = statement
    values = [labels[s] for s in samples]
    if kind == "must-link":
        return values[0] == values[1]
    if kind == "cannot-link":
        return values[0] != values[1]
    if kind == "apart":
        return len(set(values)) == len(values)
    a, b, c = values
    return a == b == c if c in (a, b) else True


def feasible(statements, n, k):
    """Whether some labelling with k clusters keeps all statements."""
    statements = list(statements)
    return any(all(holds(s, labels) for s in statements) for labels in labelings(n, k))


def shortest_path_length(must_link, a, b):
    """Number of must-links on a shortest path, by growing the reached set level by level."""
    reached, steps = {a}, 0
    while b not in reached:
        reached |= {y for x, y in must_link if x in reached} | {
            x for x, y in must_link if y in reached
        }
        steps += 1
    return steps


def heaviest_consistent(constraints, n):
    """The weight of the heaviest subset of pairwise statements that some labelling keeps."""
    statements = list(constraints)
    return max(sum(s.weight for s in statements if holds(s, labels)) for labels in labelings(n, n))


def pairwise_f1(true, pred):
    """F-measure over all pairs, by listing them."""
    pairs = list(combinations(range(len(true)), 2))
    in_true = {p for p in pairs if true[p[0]] == true[p[1]]}
    in_pred = {p for p in pairs if pred[p[0]] == pred[p[1]]}
    if not in_true and not in_pred:
        return 1.0
    both = len(in_true & in_pred)
    if both == 0:
        return 0.0
    precision, recall = both / len(in_pred), both / len(in_true)
    return 2 * precision * recall / (precision + recall)


def overlap(x1, x2, y1, y2):
    """Length of the projection of segment x onto the line of y that falls on y, by sampling."""
    along = (y2 - y1) / np.linalg.norm(y2 - y1)
    length = np.linalg.norm(y2 - y1)
    low, high = sorted([(x1 - y1) @ along, (x2 - y1) @ along])
    grid = np.linspace(min(low, 0), max(high, length), 200_001)
    step = grid[1] - grid[0]
    return ((grid >= low) & (grid <= high) & (grid >= 0) & (grid <= length)).sum() * step
