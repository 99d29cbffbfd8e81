"""Which rows of a table the positions of a set mean, and who may not ask."""

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from conclust._arrays import IntArray
from conclust.constraints._resolving import text_of
from conclust.exceptions import InvalidConstraintsError


def index_of(table: Any) -> npt.NDArray[Any] | None:
    """The names of the rows of a data frame or series; None for what has none, such as arrays."""
    index = getattr(table, "index", None)
    if index is None or callable(index):  # lists have a method of that name
        return None
    if getattr(getattr(index, "dtype", None), "kind", "") in "iu":
        return np.asarray(index)
    names = np.empty(len(index), dtype=object)
    names[:] = list(index)
    return names


def n_rows(table: Any) -> int:
    """How many rows an array, a matrix, a frame, a list or whatever becomes an array has."""
    if hasattr(table, "shape"):
        return int(table.shape[0])
    return len(table if hasattr(table, "__len__") else np.asarray(table))


def texts_of(names: npt.NDArray[Any] | None) -> npt.NDArray[np.str_] | None:
    """The same as one array of texts, where that loses nothing; else None.

    Written object by object, 100 000 names take many seconds.
    """
    if names is None or names.dtype != object:
        return None
    if not all(issubclass(kind, str) for kind in set(map(type, names))):
        return None
    texts: npt.NDArray[np.str_] = names.astype(str)
    return texts if (texts == names).all() else None  # numpy drops zeros at the end


def is_counted(names: npt.NDArray[Any]) -> bool:
    """Whether rows are only counted 0, 1, 2, …: that names none of them."""
    return bool(np.array_equal(names, np.arange(len(names))))


def order_of_rows(
    rows: npt.NDArray[Any], ids: npt.NDArray[Any], index_of_ids: npt.NDArray[Any] | None
) -> IntArray | None:
    """Where each row stands among the ids; None if the order is the same, or rows have no names.

    Parameters
    ----------
    rows : ndarray of shape (n_samples,)
        The index of the table that is clustered.
    ids : ndarray of shape (n_samples,)
        The ids the statements were read with.
    index_of_ids : ndarray of shape (n_samples,) or None
        The index that came with the ids, where they were a column of a table.

    Returns
    -------
    ndarray of shape (n_samples,) or None
    """
    known = [ids] if index_of_ids is None else [ids, index_of_ids]
    if is_counted(rows) or any(np.array_equal(rows, names) for names in known):
        return None
    texts = [text_of(name) for name in rows]
    for names in known:
        # Rows counted anew and rows shuffled look the same here, so only names tell.
        place = {} if is_counted(names) else {text_of(name): i for i, name in enumerate(names)}
        if len(place) == len(set(texts)) and place.keys() >= set(texts):
            order = np.array([place[text] for text in texts], dtype=np.int64)
            return None if is_counted(order) else order
    i = next(i for i, text in enumerate(texts) if text != text_of(ids[i]))
    raise InvalidConstraintsError(
        f"Row {i} of X is called {rows[i]!r} in its index, but {ids[i]!r} in the ids the "
        "constraints were read with, and the two do not name the same rows. Read the constraints "
        "with ids=X.index, or with ids= a column of the same table; or pass X.to_numpy() if its "
        "rows stand in the order of the ids."
    )


class StatementCount(int):
    """How many statements there are, which scikit-learn may not compare with a number of rows.

    It does so to cut what is passed to `fit` along with the rows: positions would then name other
    rows in each fold, or statements would be taken for rows.
    """

    def __ne__(self, other: object) -> NoReturn:
        raise InvalidConstraintsError(
            "Rows are about to be cut into folds, but constraints name rows by position, so in "
            "each fold they would name other rows. Hold out statements instead: "
            "ConstraintSearchCV(estimator, param_grid).fit(X, constraints=...) or "
            "held_out_score(estimator, X, constraints), both in conclust.model_selection."
        )

    __eq__ = int.__eq__
    __hash__ = int.__hash__
