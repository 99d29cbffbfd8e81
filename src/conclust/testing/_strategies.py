"""Hypothesis strategies for sets of constraints."""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from conclust.constraints import Constraints

Case = tuple[Constraints, npt.NDArray[np.int64]]


def _pairs(n_samples: int, max_size: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    sample = st.integers(0, n_samples - 1)
    pair = st.tuples(sample, sample).filter(lambda ab: ab[0] != ab[1])
    return st.lists(pair, max_size=max_size)


@st.composite
def consistent_constraints(
    draw: Any,
    n_samples: int = 12,
    n_classes: int = 3,
    max_pairs: int = 20,
    max_relative: int = 0,
    weighted: bool = False,
) -> Case:
    """Constraints that are all true under some labelling, and that labelling.

    Parameters
    ----------
    n_samples, n_classes, max_pairs, max_relative : int
    weighted : bool, default=False
        Draw weights between 0.1 and 10 instead of 1.
    """
    truth = np.array(
        draw(st.lists(st.integers(0, n_classes - 1), min_size=n_samples, max_size=n_samples))
    )
    pairs = draw(_pairs(n_samples, max_pairs))
    must = [(a, b) for a, b in pairs if truth[a] == truth[b]]
    cannot = [(a, b) for a, b in pairs if truth[a] != truth[b]]
    sample = st.integers(0, n_samples - 1)
    triplets = draw(st.lists(st.tuples(sample, sample, sample), max_size=max_relative))
    relative = [(a, b, c) for a, b, c in triplets if a != b and truth[a] == truth[b] != truth[c]]
    weights = {}
    if weighted:
        for name, rows in (("must_link", must), ("cannot_link", cannot), ("relative", relative)):
            weights[f"{name}_weight"] = draw(
                st.lists(st.floats(0.1, 10), min_size=len(rows), max_size=len(rows))
            )
    return Constraints(must, cannot, relative, **weights, n_samples=n_samples), truth


@st.composite
def any_constraints(draw: Any, n_samples: int = 10, max_pairs: int = 20) -> Constraints:
    """Pairs drawn without a truth behind them: consistent or not."""
    weights = st.floats(0.1, 10)
    must = draw(_pairs(n_samples, max_pairs))
    cannot = draw(_pairs(n_samples, max_pairs))
    return Constraints(
        must,
        cannot,
        must_link_weight=[draw(weights) for _ in must],
        cannot_link_weight=[draw(weights) for _ in cannot],
        n_samples=n_samples,
    )


@st.composite
def contradictory_constraints(draw: Any, n_samples: int = 10, max_pairs: int = 20) -> Constraints:
    """A chain of must-links with a cannot-link between its ends, among other pairs."""
    length = draw(st.integers(2, n_samples))
    chain = draw(st.permutations(range(n_samples)))[:length]
    planted = Constraints(
        list(itertools.pairwise(chain)), [(chain[0], chain[-1])], n_samples=n_samples
    )
    return draw(any_constraints(n_samples, max_pairs)) + planted
