"""Taxonomies as triplets: read a rooted tree in any of its shapes, say it in few statements."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import IntArray
from conclust.constraints._kinds import N_SHOWN, codes_of
from conclust.constraints._resolving import position_reader, text_of
from conclust.exceptions import InvalidConstraintsError

SHAPES = (
    "nested lists of samples, nested dicts, Newick text, a linkage matrix of shape (n - 1, 4) or "
    "a one-dimensional array of labels"
)


class Hierarchy(NamedTuple):
    """A rooted tree. Leaves are the nodes 0..l-1; no node has exactly one child."""

    parent: IntArray  # (v,), -1 at the root
    samples: IntArray  # (l,) the sample at each leaf
    n_samples: int | None

    def leaves(self, samples: IntArray) -> IntArray:
        """The leaf of each sample."""
        order = np.argsort(self.samples)
        at = np.searchsorted(self.samples, samples, sorter=order)
        found: IntArray = order[np.minimum(at, len(order) - 1)]
        missing = np.unique(np.asarray(samples)[self.samples[found] != samples])
        if len(missing):
            named = ", ".join(map(str, missing[:N_SHOWN]))
            raise InvalidConstraintsError(
                f"The hierarchy has no leaf for {len(missing)} samples that the statements name, "
                f"such as {named}."
            )
        return found


def as_hierarchy(tree: Any, ids: Any = None) -> Hierarchy:
    """Read a rooted tree; see :meth:`conclust.Constraints.from_hierarchy`."""
    names, position_of = position_reader(ids)
    n_samples = None if names is None else len(names)
    if not isinstance(tree, str | Mapping | list | tuple):
        if np.ndim(tree) == 2:
            return _linkage(np.asarray(tree))
        if np.ndim(tree) == 1 and hasattr(tree, "__len__"):
            return _classes(tree)
        raise InvalidConstraintsError(
            f"A hierarchy is given as {SHAPES}; got {type(tree).__name__}."
        )
    parent, is_leaf, labels = _walked(tree)
    samples, problems = [], []
    for label in labels:
        try:
            samples.append(position_of(label))
        except LookupError as error:
            problems.append(str(error))
    if problems:
        more = f" and {len(problems) - N_SHOWN} more" if len(problems) > N_SHOWN else ""
        raise InvalidConstraintsError(
            f"Leaves of the hierarchy: {'; '.join(problems[:N_SHOWN])}{more}."
        )
    return _numbered(parent, is_leaf, np.array(samples, dtype=np.int64), n_samples)


def statements_in(tree: Any) -> tuple[list[Any], IntArray]:
    """The leaves of nested lists, dicts or Newick text, and triplets of their numbers."""
    parent, is_leaf, labels = _walked(tree)
    twice = [name for name, n in Counter(map(text_of, labels)).items() if n > 1]
    _refuse_twice(twice)
    read = _numbered(parent, is_leaf, np.arange(len(labels)), None)
    return labels, informative_triplets(read)


def _refuse_twice(names: Sequence[Any]) -> None:
    if len(names):
        raise InvalidConstraintsError(
            "Each sample is one leaf of the hierarchy, but these stand at several: "
            f"{', '.join(map(str, names[:N_SHOWN]))}."
        )


def _walked(
    tree: str | Mapping[Any, Any] | list[Any] | tuple[Any, ...],
) -> tuple[IntArray, npt.NDArray[np.bool_], list[Any]]:
    """Parents of all nodes, which of them are leaves, and what stands at these."""
    ups, labels = zip(*(_newick(tree) if isinstance(tree, str) else _nested(tree)), strict=True)
    parent = np.array(ups, dtype=np.int64)
    is_leaf = np.ones(len(parent), dtype=np.bool_)
    is_leaf[parent[parent >= 0]] = False
    return parent, is_leaf, [labels[at] for at in np.flatnonzero(is_leaf)]


def _numbered(
    parent: IntArray, is_leaf: npt.NDArray[np.bool_], samples: IntArray, n_samples: int | None
) -> Hierarchy:
    """Number leaves first and leave out inner nodes with a single child."""
    named, counts = np.unique(samples, return_counts=True)
    _refuse_twice(named[counts > 1].tolist())
    n_children = np.bincount(parent[parent >= 0], minlength=len(parent))
    single = ~is_leaf & (n_children == 1)
    # A node goes under its nearest ancestor with several children; doubling finds it quickly.
    above = np.where(parent < 0, -1, parent)
    while True:
        skip = (above >= 0) & single[above]
        if not skip.any():
            break
        above[skip] = above[above[skip]]
    stays = ~single
    number = np.full(len(parent), -1, dtype=np.int64)
    number[is_leaf] = np.arange(is_leaf.sum())
    inner = stays & ~is_leaf
    number[inner] = is_leaf.sum() + np.arange(inner.sum())
    old = np.concatenate([np.flatnonzero(is_leaf), np.flatnonzero(inner)])
    up = above[old]
    return Hierarchy(np.where(up < 0, -1, number[up]), samples, n_samples)


def _nested(tree: Any) -> Iterator[tuple[int, Any]]:
    """Walk nested lists and dicts: (parent, label) of each node, parents first."""
    stack: list[tuple[int, Any]] = [(-1, tree)]
    n = 0
    while stack:
        parent, value = stack.pop()
        if isinstance(value, Mapping):
            value = list(value.values())
        elif isinstance(value, np.ndarray) and value.ndim:
            value = value.tolist()
        if isinstance(value, list | tuple):
            if not value:
                raise InvalidConstraintsError(
                    "The hierarchy holds an empty branch; leave it out or give it samples."
                )
            stack += [(n, below) for below in reversed(value)]
            yield parent, None
        else:
            yield parent, value
        n += 1


_TOKEN = re.compile(r"\s*(?:\[[^\]]*\]|('(?:[^']|'')*')|([(),;])|:\s*[-+0-9.eE]+|([^\s(),;:\[']+))")


def _newick(text: str) -> Iterator[tuple[int, Any]]:
    """Walk Newick text; names of inner nodes, lengths and comments are passed over."""
    ups = [-1]
    at, n, fresh = 0, 0, True  # fresh: a node is expected here
    text = text.strip()
    if not text.startswith("("):
        raise InvalidConstraintsError(
            f"Newick text starts with '(', such as '((0,1),(2,3));'; got {text[:20]!r}."
        )
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise InvalidConstraintsError(
                f"Newick text cannot be read at character {at}: {text[at : at + 20]!r}."
            )
        at = match.end()
        quoted, mark, plain = match.groups()
        if mark == "(" and fresh:
            yield ups[-1], None
            ups.append(n)
            n += 1
        elif mark == "," and not fresh and len(ups) > 1:
            fresh = True
        elif mark == ")" and not fresh and len(ups) > 1:
            ups.pop()
        elif mark == ";":
            break
        elif mark is not None:
            raise InvalidConstraintsError(
                f"Newick text has an unexpected {mark!r} at character {at - 1}."
            )
        elif (quoted is not None or plain is not None) and fresh:
            yield ups[-1], plain if quoted is None else quoted[1:-1].replace("''", "'")
            n += 1
            fresh = False
    if len(ups) > 1:
        raise InvalidConstraintsError(f"Newick text ends with {len(ups) - 1} open brackets.")


def _linkage(Z: npt.NDArray[Any]) -> Hierarchy:
    n = len(Z) + 1
    children = Z[:, :2].astype(np.int64)
    late = (children < 0) | (children >= n + np.arange(n - 1)[:, None])
    each_once = np.bincount(children[~late].ravel(), minlength=2 * n - 1)[: 2 * n - 2]
    if Z.shape[1] not in (2, 4) or late.any() or (each_once != 1).any():
        raise InvalidConstraintsError(
            "A linkage matrix has n - 1 rows of 4 numbers (or the 2 of `children_`), and its row i "
            f"joins two earlier clusters, each joined once; got shape {Z.shape}."
        )
    parent = np.full(2 * n - 1, -1, dtype=np.int64)
    parent[children] = n + np.arange(n - 1)[:, None]
    return Hierarchy(parent, np.arange(n), n)


def _classes(labels: Any) -> Hierarchy:
    codes, n_classes = codes_of(labels, "labels", -1)
    samples = np.flatnonzero(codes >= 0)
    l = len(samples)  # noqa: E741
    parent = np.concatenate([l + 1 + codes[samples], [-1], np.full(n_classes, l)])
    is_leaf = np.arange(len(parent)) < l
    return _numbered(parent, is_leaf, samples, len(codes))


def informative_triplets(tree: Hierarchy) -> IntArray:
    """Triplets that imply every triplet of the tree, as few as the tree's degrees allow.

    For each inner node u but the root, with children u₁, u₂, …: u₁ and each other child are
    closer to each other than to any sibling of u. One leaf stands for each node.
    """
    parent = tree.parent
    v = len(parent)
    if v <= 2:
        return np.empty((0, 3), dtype=np.int64)
    order = np.argsort(parent, kind="stable")[1:]  # children by parent, the root left out
    degree = np.bincount(parent[order], minlength=v)
    start = np.cumsum(degree) - degree
    position = np.empty(v, dtype=np.int64)  # of each node among its siblings
    position[order] = np.arange(v - 1) - start[parent[order]]
    leaf = np.arange(v)
    inner = np.flatnonzero(degree)
    leaf[inner] = order[start[inner]]
    while (degree[leaf] > 0).any():
        leaf = leaf[leaf]
    below = inner[parent[inner] >= 0]
    others = degree[parent[below]] - 1
    counts = (degree[below] - 1) * others
    u = np.repeat(below, counts)
    at = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    others = np.repeat(others, counts)
    child, sibling = 1 + at // others, at % others
    sibling += sibling >= position[u]
    ends = [order[start[u]], order[start[u] + child], order[start[parent[u]] + sibling]]
    return np.column_stack([tree.samples[leaf[end]] for end in ends]).reshape(-1, 3)
