"""What is known about some of the rows."""

from typing import Any

import numpy as np

from conclust._arrays import IntArray
from conclust.constraints import Constraints


def among(rows: IntArray, constraints: Constraints) -> Constraints:
    """The pairs and triplets about rows that are sorted, numbered by their place among these.

    Of more rows, groups of rows that are all apart are left out: they can be millions of pairs.
    """
    if len(rows) == constraints.n_samples:
        return constraints
    of_kind = {
        "must_link": (constraints.must_link, constraints.must_link_weight),
        "cannot_link": (constraints.cannot_link, constraints.cannot_link_weight),
        "relative": (constraints.relative, constraints.relative_weight),
    }
    kept: dict[str, Any] = {}
    for kind, (listed, weight) in of_kind.items():
        inside = np.isin(listed, rows).all(axis=1)
        kept[kind] = np.searchsorted(rows, listed[inside])
        kept[f"{kind}_weight"] = weight[inside]
    return Constraints(**kept, n_samples=len(rows))
