"""A hierarchy for other programs: Newick text, nested lists. Nothing is recursive."""

import re
from collections.abc import Sequence
from typing import Any

from conclust._arrays import FloatArray, IntArray

# Anything else is quoted; an underscore too, since unquoted it stands for a blank.
_PLAIN = re.compile(r"[A-Za-z0-9.+-]+")


def newick(children: IntArray, height: FloatArray, names: Sequence[Any]) -> str:
    """Write a hierarchy as Newick text with lengths of branches.

    Parameters
    ----------
    children : ndarray of shape (n - 1, 2)
    height : ndarray of shape (2n - 1,)
        No part is higher than the whole.
    names : sequence of length n

    Returns
    -------
    str
        One line that ends with a semicolon.
    """
    n = len(names)
    if n == 1:
        return f"({quoted(names[0])});"
    written: list[str] = []
    # What is still to be written, last first: nodes, or text.
    waiting: list[int | str] = [";", 2 * n - 2]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            written.append(item)
        elif item < n:
            written.append(quoted(names[item]))
        else:
            left, right = children[item - n].tolist()
            lengths = [f":{height[item] - height[part]:.6g}" for part in (left, right)]
            waiting += [")", lengths[1], right, ",", lengths[0], left, "("]
    return "".join(written)


def quoted(name: Any) -> str:
    """A name as Newick takes it."""
    text = str(name)
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "''") + "'"


def nested(children: IntArray, names: Sequence[Any]) -> list[Any]:
    """Write a hierarchy as lists of two parts."""
    if len(names) == 1:
        return [names[0]]
    nodes: list[Any] = [*names]
    for left, right in children.tolist():
        nodes.append([nodes[left], nodes[right]])
    whole: list[Any] = nodes[-1]
    return whole
