"""Labels known of some rows: as statements, and as places to start from."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray, Matrix
from conclust._lloyd.start import fill_centers, means_of, sampled
from conclust._sklearn import StrOptions
from conclust.constraints import Constraints

# What the parameter `seeds` may be.
SEEDS: list[Any] = [StrOptions({"auto", "hard", "soft", "init"}), None]
# Weight of a label that binds where statements are only weighed.
BINDING = 20.0
N_NAMED = 5


class Known(NamedTuple):
    """The labels known."""

    number: IntArray  # (n_samples,) number of the row's class, that of its cluster; -1: not known
    classes: npt.NDArray[Any]  # (n_clusters,) class of each cluster, None where there is none
    how: str  # "hard", "soft" or "init"

    @property
    def rows(self) -> IntArray:
        """The rows whose label is known."""
        return np.flatnonzero(self.number >= 0)


def known_labels(
    y: Any, how: str, n_samples: int, n_clusters: int | None, *, keeps_all: bool, name: str
) -> Known | None:
    """Read `y`; None where it says nothing.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        A class for each row; -1, None or NaN where it is not known.
    how : {"auto", "hard", "soft", "init"}
        The parameter `seeds`.
    n_samples : int
    n_clusters : int or None
        None: as many as there are classes, at least.
    keeps_all : bool
        The estimator keeps every statement.
    name : str
        Of the estimator, for messages.
    """
    y = y if hasattr(y, "dtype") else _as_objects(y)
    if np.ndim(y) == 2 and np.shape(y)[1] == 1:  # a column
        y = np.asarray(y)[:, 0]
    codes, classes = _codes(y, n_samples)
    if not len(classes) or (how == "auto" and (codes >= 0).all()):
        # scikit-learn hands the true classes to clusterers that are only to be scored by them.
        return None
    if n_clusters is not None and len(classes) > n_clusters:
        shown = ", ".join(map(repr, classes[:N_NAMED])) + (", …" if len(classes) > N_NAMED else "")
        raise ValueError(
            f"y names {len(classes)} classes ({shown}), but there are only {n_clusters} clusters. "
            "Ask for at least as many, or mark the rows of some classes as unknown (-1)."
        )
    if how == "soft" and keeps_all:
        raise ValueError(
            f"seeds='soft': {name} keeps every statement it is given. Use seeds='hard' or 'init', "
            "or PCKMeans, which weighs statements."
        )
    if how == "auto":
        how = "hard" if keeps_all else "soft"
    number, names = _numbered(classes, max(len(classes), n_clusters or 0))
    return Known(np.where(codes >= 0, number[codes], -1), names, how)


def _codes(y: Any, n_samples: int) -> tuple[IntArray, list[Any]]:
    """The code of each row's class, -1 where it is not known, and the classes in order."""
    import pandas as pd

    if np.ndim(y) != 1 or len(y) != n_samples:
        raise ValueError(
            f"y has shape {np.shape(y)}, but X has {n_samples} rows; pass one class per row in one "
            "column, -1, None or NaN where it is not known."
        )
    column = pd.Series(y).reset_index(drop=True)
    unknown = column == -1
    if getattr(getattr(y, "dtype", None), "kind", "") == "U":
        # In an array of names numpy makes words of numbers: names[unknown] = -1.
        unknown |= column.isin(["-1", "nan"])
    codes, classes = pd.factorize(column.mask(unknown), use_na_sentinel=True)
    classes = list(classes)
    try:
        order = sorted(range(len(classes)), key=classes.__getitem__)
    except TypeError:  # classes that cannot be compared stay in the order of their first rows
        order = list(range(len(classes)))
    rank = np.append(np.argsort(order), -1).astype(np.int64)
    return rank[codes], [_plain(classes[i]) for i in order]


def _as_objects(y: Any) -> npt.NDArray[Any]:
    """A list as it is, None beside numbers included; what else can become an array as that."""
    return np.asarray(y, dtype=object if isinstance(y, list | tuple) else None)


def _plain(value: Any) -> Any:
    """1.0 as it comes from a column with gaps is the class 1."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _numbered(classes: list[Any], n_clusters: int) -> tuple[IntArray, npt.NDArray[Any]]:
    """The number of each class: itself where all are numbers of clusters, else its rank."""
    are_numbers = all(isinstance(c, int) and not isinstance(c, bool) for c in classes)
    are_numbers = are_numbers and min(classes) >= 0 and max(classes) < n_clusters
    number = np.array(classes if are_numbers else range(len(classes)), dtype=np.int64)
    names = np.full(n_clusters, None, dtype=object)
    names[number] = classes
    return number, names


def statements_of(known: Known, *, keeps_all: bool) -> Constraints:
    """What the labels say: the fewest links where all are kept, else some for every row.

    A chain that may be broken holds nobody: each labelled row is then tied to the next of its class
    and parted from one of another, so that what it costs to put it elsewhere does not depend on its
    place.
    """
    n_samples, rows = len(known.number), known.rows
    if known.how == "init":
        return Constraints(n_samples=n_samples)
    if keeps_all:
        return Constraints.from_labels(known.number)
    order = rows[np.argsort(known.number[rows], kind="stable")]
    number = known.number[order]
    ring = np.column_stack([order, _next_of_class(order, number)])
    others = _row_of_another_class(order, number)
    weight = BINDING if known.how == "hard" else 1.0
    return Constraints(
        ring[ring[:, 0] != ring[:, 1]],
        others,
        must_link_weight=weight,
        cannot_link_weight=weight,
        n_samples=n_samples,
    )


def _next_of_class(order: IntArray, number: IntArray) -> IntArray:
    """For each row the next of its class, the first after the last."""
    _, starts, sizes = np.unique(number, return_index=True, return_counts=True)
    following = np.append(order[1:], order[:1])
    following[starts + sizes - 1] = order[starts]
    return following


def _row_of_another_class(order: IntArray, number: IntArray) -> IntArray:
    """For each row of one class a row of another, all other classes in turn."""
    _, code, sizes = np.unique(number, return_inverse=True, return_counts=True)
    starts = np.cumsum(sizes) - sizes
    n_classes = len(sizes)
    if n_classes < 2:
        return np.empty((0, 2), dtype=np.int64)
    place = np.arange(len(order)) - starts[code]
    other = (code + 1 + place % (n_classes - 1)) % n_classes
    within = (place // (n_classes - 1)) % sizes[other]
    return np.column_stack([order, order[starts[other] + within]])


def start_at(known: Known) -> Callable[..., FloatArray]:
    """An `init`: the means of the classes, and rows far from them for further clusters."""

    def init(X: Matrix, n_clusters: int, random_state: np.random.RandomState) -> FloatArray:
        rows = known.rows
        number, code = np.unique(known.number[rows], return_inverse=True)
        mass = np.bincount(code).astype(np.float64)
        centers = np.empty((n_clusters, X.shape[1]), dtype=X.dtype)
        centers[: len(mass)] = means_of(X[rows], code, mass, np.ones(len(rows)))
        some = sampled(X, n_clusters, None)[0]
        fill_centers(some, np.ones(some.shape[0]), centers, len(mass), random_state)
        placed = np.empty_like(centers)
        placed[np.append(number, np.setdiff1d(np.arange(n_clusters), number))] = centers
        return placed

    init.names_rows = True  # type: ignore[attr-defined]
    return init
