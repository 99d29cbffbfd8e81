"""What rows are called, and what is shown of them."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust.constraints import Constraints
from conclust.exceptions import SessionError


def names_of(X: Any, given: Constraints | None) -> Any:
    """The index of a data frame, unless it merely counts; else the ids of the statements."""
    ids = None if given is None else given.ids
    index = getattr(X, "index", None)
    if index is None or callable(index) or not getattr(index, "is_unique", False):
        return ids
    names = np.asarray(index, dtype=object)
    if (names == np.arange(len(names))).all():
        return ids
    if ids is not None and list(map(str, ids)) != list(map(str, names)):
        raise SessionError(
            "The ids of constraints are not the index of X: positions would not mean the same "
            "rows. Read the constraints with `ids=X.index`."
        )
    return names if ids is None else ids


def content_of(content: Any, samples: tuple[int, ...]) -> Any:
    """What is shown of some rows."""
    rows = list(samples)
    if hasattr(content, "iloc"):
        return content.iloc[rows]
    if isinstance(content, np.ndarray) or sp.issparse(content):
        return content[rows]
    return [content[row] for row in rows]


def check_content(content: Any, n_rows: int) -> None:
    """One entry for each row."""
    found = content.shape[0] if hasattr(content, "shape") else len(content)
    if found != n_rows:
        raise SessionError(f"content has {found} entries, but X has {n_rows} rows.")
