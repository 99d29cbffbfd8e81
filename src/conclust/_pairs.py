"""Pairs of things as arrays: drawn, numbered, merged, and looked at from their rows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust._kernels._short import LITTLE, short
from conclust._kernels.disjoint_set import components

# Rows for each one that pairs name from which a mark for every row costs more than a sort.
SCARCE = 32


class SignedPairs(NamedTuple):
    """All pairwise statements in the order given: what the pairwise methods work on."""

    pairs: IntArray  # (m, 2) samples
    sign: npt.NDArray[np.int8]  # (m,) +1 must-link, -1 cannot-link
    weight: FloatArray  # (m,)
    statement: IntArray  # (m,) the statement each pair comes from

    def named(self) -> tuple[IntArray, IntArray]:
        """The rows that pairs name, ascending, and the pairs as positions among them."""
        return named_rows(self.pairs)

    def violated(self, labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """(m,) which pairs these labels break."""
        return violated(labels, self.pairs, self.sign)


class Graph(NamedTuple):
    """Links as CSR: ``neighbor[indptr[u]:indptr[u + 1]]`` are the rows linked to u, by `link`."""

    indptr: IntArray
    neighbor: IntArray
    link: IntArray


def graph_of(pairs: IntArray, n_vertices: int, *, sort: bool = False) -> Graph:
    """Both directions of `pairs` as CSR; neighbours in the order of the pairs, or ascending."""
    source, target = pairs.T.ravel(), pairs[:, ::-1].T.ravel()
    order = np.lexsort((target, source)) if sort else np.argsort(source, kind="stable")
    indptr = np.zeros(n_vertices + 1, dtype=np.int64)
    np.cumsum(np.bincount(source, minlength=n_vertices), out=indptr[1:])
    return Graph(indptr, target[order], order % max(len(pairs), 1))


def named_rows(pairs: IntArray, dtype: Any = np.int64) -> tuple[IntArray, IntArray]:
    """The rows that occur in pairs, ascending, and the pairs as positions among them."""
    n_samples = int(pairs.max(initial=-1)) + 1
    if pairs.size * SCARCE < n_samples:
        found, inside = np.unique(pairs, return_inverse=True)
        return found.astype(np.int64), inside.reshape(pairs.shape).astype(dtype)
    # Marks instead of a sort: this runs once per round of an ensemble.
    position = np.zeros(n_samples, dtype=dtype)
    position[pairs] = 1
    rows = np.flatnonzero(position)
    position[rows] = np.arange(len(rows), dtype=dtype)
    return rows, position[pairs]


def violated(
    labels: npt.NDArray[Any], pairs: IntArray, sign: npt.NDArray[Any]
) -> npt.NDArray[np.bool_]:
    """(m,) which pairs the labels break: must-links (sign > 0) apart, cannot-links together.

    Rows labelled -1 are in no cluster: two of them share none, and are not torn apart.
    """
    first, second = labels[pairs[:, 0]], labels[pairs[:, 1]]
    return np.where(sign > 0, first != second, (first == second) & (first != -1))


def connected(pairs: IntArray, n: int) -> tuple[IntArray, int]:
    """Number the connected components of a graph of n vertices in the order of their first one.

    Returns the component of each vertex, (n,), and how many there are.
    """
    component = np.empty(n, dtype=np.int64)
    count = short(components, n + len(pairs), LITTLE)
    # A copy, since statements are read-only: kernels would be compiled once more for those.
    return component, int(count(np.array(pairs, order="C"), n, component))


def merge_pairs(pairs: IntArray, weight: FloatArray, n: int) -> tuple[IntArray, FloatArray]:
    """Sort pairs (first < second), keep each once and add up its weights."""
    key = np.minimum(pairs[:, 0], pairs[:, 1]) * n + np.maximum(pairs[:, 0], pairs[:, 1])
    unique, inverse = np.unique(key, return_inverse=True)
    merged = np.column_stack([unique // max(n, 1), unique % max(n, 1)])
    total = np.zeros(len(unique))
    np.add.at(total, inverse.ravel(), weight)
    return merged, total


def pair_of(index: IntArray, size: IntArray | int) -> IntArray:
    """Number the pairs of `size` things by their cyclic distance: exact in integers."""
    i = index % size
    return np.column_stack([i, (i + index // size + 1) % size])


def distinct_numbers(supply: int, size: int, random_state: Any) -> IntArray:
    """Draw `size` different numbers below `supply`, in random order."""
    if supply <= 2 * size:
        return random_state.permutation(supply)[:size].astype(np.int64)
    return until_distinct(
        lambda n: random_state.randint(0, supply, size=(n, 1), dtype=np.int64), size
    ).ravel()


def until_distinct(draw: Callable[[int], IntArray], size: int) -> IntArray:
    """Draw rows until `size` different ones are found, in the order of their first drawing."""
    rows = draw(size)
    while True:
        first = _first_of_each(rows)
        if len(first) >= size:
            return rows[first[:size]]
        rows = np.concatenate([rows[first], draw(size - len(first) + 16)])


def _first_of_each(rows: IntArray) -> IntArray:
    """Where each distinct row stands first, ascending; np.unique(axis=0) is ten times slower."""
    order = np.lexsort(rows.T)
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    return np.sort(order[new])
