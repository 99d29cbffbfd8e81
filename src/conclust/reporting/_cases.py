"""Statements to look at again, with the rows they are about: is this right?"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from conclust._words import claim
from conclust.constraints import Constraints
from conclust.reporting._rows import Row, Window

N_BROKEN = 100  # broken statements shown
N_SUSPECTS = 15
N_CONFLICTS = 100
N_CONFLICTS_SEEN = 20  # conflicts shown with their rows
N_BESIDE = 4  # rows shown of one statement or conflict
STANDS_OUT = 1.05  # times the median
LIKELY_WRONG = 0.5  # doubt
DOUBTED = 0.2  # doubt of statements to look at again though they are kept


class Case(NamedTuple):
    """One statement or conflict, in words and rows."""

    said: str
    found: str  # how it came out, to follow `said`
    note: str  # a value of the method, or a weight
    kept: bool
    rows: list[Row]


def broken_cases(constraints: Constraints, kept: Any, doubt: Any, window: Window) -> list[Case]:
    """The broken statements, those that look wrong first."""
    broken = np.flatnonzero(~kept)
    if doubt is not None:
        broken = broken[np.argsort(-doubt[broken], kind="stable")]
    return [_case(constraints, i, False, doubt, "doubt", window) for i in broken[:N_BROKEN]]


def hardest_cases(
    constraints: Constraints, kept: Any, priorities: Any, window: Window
) -> list[Case]:
    """The statements of the highest priority; most share one, and only those above it count."""
    stands_out = np.flatnonzero(priorities > STANDS_OUT * np.median(priorities))
    order = stands_out[np.argsort(-priorities[stands_out], kind="stable")][:N_SUSPECTS]
    return [_case(constraints, i, bool(kept[i]), priorities, "priority", window) for i in order]


def little_believed(constraints: Constraints, kept: Any, doubt: Any, window: Window) -> list[Case]:
    """The statements that are kept though the method doubts them."""
    doubted = np.flatnonzero(kept & (doubt > DOUBTED))
    order = doubted[np.argsort(-doubt[doubted], kind="stable")][:N_SUSPECTS]
    return [_case(constraints, i, True, doubt, "doubt", window) for i in order]


def conflict_cases(conflicts: Iterable[object], window: Window) -> list[Case]:
    """Sets of statements that cannot all hold, in their own words."""
    cases = []
    for i, conflict in enumerate(conflicts):
        if i == N_CONFLICTS:
            break
        rows = _rows_of(conflict, window) if i < N_CONFLICTS_SEEN else []
        cases.append(Case(_plainly(conflict), "", "", False, rows))
    return cases


def _case(
    constraints: Constraints, i: Any, kept: bool, values: Any, word: str, window: Window
) -> Case:
    statement = constraints[int(i)]
    samples = [int(sample) for sample in statement.samples]
    names = [window.name(sample) for sample in samples]
    clusters = [window.cluster(sample) for sample in samples]
    if statement.kind == "apart" and not kept:  # of a large group, those that clash
        samples = [s for s, c in zip(samples, clusters, strict=True) if clusters.count(c) > 1]
    notes = [] if statement.weight == 1 else [f"weight {statement.weight:g}"]
    if values is not None:
        notes.append(f"{word} {values[i]:.2f}")
    return Case(
        claim(statement.kind, names),
        _outcome(statement.kind, kept, names, clusters),
        ", ".join(notes),
        kept,
        window.beside(samples[:N_BESIDE]),
    )


def _outcome(kind: str, kept: bool, names: Sequence[str], clusters: Sequence[int]) -> str:
    if kept:
        return "It is so."
    if kind == "must-link":
        return "They are in different clusters."
    if kind == "cannot-link":
        return "They share a cluster."
    if kind == "apart":
        return "Some of them share a cluster."
    near, far = names[:2] if clusters[0] == clusters[2] else names[1::-1]
    return f"{names[2]} shares a cluster with {near}, not with {far}."


def _rows_of(conflict: object, window: Window) -> list[Row]:
    statements = getattr(conflict, "statements", ())
    samples = dict.fromkeys(int(s) for statement in statements for s in statement.samples)
    return window.beside(list(samples)[:N_BESIDE]) if samples else []


def _plainly(conflict: object) -> str:
    """The sentence, without the name of a parameter."""
    n_clusters = getattr(conflict, "n_clusters", None)
    sentence = str(conflict)
    for name, word in (
        (f"n_clusters={n_clusters} clusters", f"{n_clusters} clusters"),
        (f"but n_clusters={n_clusters}", f"but there are {n_clusters} clusters"),
        (f"n_clusters={n_clusters}", f"{n_clusters} clusters"),
    ):
        sentence = sentence.replace(name, word)
    return sentence
