"""What was read, wherever it came from: numbers, labels as text, names."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Content:
    """A data set before its labels become integers."""

    data: Any  # (n, d) array; a list with one entry per view for multi-view sets
    labels: np.ndarray  # (n,) text
    feature_names: list[Any]  # d names; one list per view, None where the words are not known
    ids: np.ndarray | None = None  # (n,) text


def sorted_labels(labels: np.ndarray) -> list[str]:
    """The distinct labels: numbers in the order of numbers, anything else as text.

    >>> sorted_labels(np.array(["10", "9", "0", "9"]))
    ['0', '9', '10']
    >>> sorted_labels(np.array(["sky", "path", "sky"]))
    ['path', 'sky']
    """
    distinct = [str(label) for label in np.unique(labels)]
    return sorted(distinct, key=int) if all(map(str.isdecimal, distinct)) else distinct


def encoded(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integers 0..c-1 and the label behind each of them."""
    names = np.array(sorted_labels(labels))
    alphabetical, positions = np.unique(labels, return_inverse=True)
    rank = {name: position for position, name in enumerate(names)}
    target = np.array([rank[label] for label in alphabetical], dtype=np.int64)[positions]
    return target, names
