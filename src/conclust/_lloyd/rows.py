"""The seam between k-means and its data: loops see rows only through these verbs.

Another source of rows (blocks of a file, parts on other machines) is one more class with them, and
no loop changes.
"""

from collections.abc import Iterator
from typing import Any, Protocol, Self

import numpy as np

from conclust._kernels.nearest import Totals
from conclust._lloyd.sweep import Assigned, NearestCenters


class Rows(Protocol):
    """Rows and their nearest centres, again and again; see `NearestCenters` for what each is.

    A context manager. One iteration is `sweep`, `add` for the rows the caller places, `means`; what
    it did is what the first two answer, together.
    """

    labels: np.ndarray  # (n_samples,) int32, after `add`; linked rows at their nearest before it
    nearest: np.ndarray  # (n_linked,) int32: nearest centre of each row the caller places
    second: np.ndarray  # (n_linked,) int32: nearest but that one
    nearest_distance: np.ndarray  # (n_linked,): squared distance to the nearest
    distances: np.ndarray  # (n_linked, n_clusters): to every centre, where asked for

    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def forget(self) -> None: ...
    def fingerprint(self) -> int: ...
    def sweep(self, centers: np.ndarray) -> Assigned: ...
    def add(self, placed: np.ndarray, centers: np.ndarray) -> Assigned: ...
    def move(self, i: int, cluster: int) -> None: ...
    def drop(self, rows: np.ndarray) -> None: ...
    def means(self, centers: np.ndarray, *, refill: bool = True) -> np.ndarray: ...
    def inertia(self, centers: np.ndarray) -> float: ...
    def distances_to_own(self, centers: np.ndarray) -> np.ndarray: ...
    def sums(self, rows: np.ndarray | None, part: np.ndarray, n_parts: int) -> np.ndarray: ...
    def squared_distances(self, points: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]: ...
    def row(self, i: int) -> np.ndarray: ...
    @property
    def total_norm(self) -> float: ...
    @property
    def totals(self) -> Totals: ...
    @property
    def n_free_changed(self) -> int: ...
    @property
    def all_filled(self) -> bool: ...
    @property
    def is_small(self) -> bool: ...
    def iterate(self, *arguments: Any) -> Any: ...


def open_rows(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: np.ndarray | None = None,
    linked: np.ndarray | None = None,
    all_distances: bool = False,
    spherical: bool = False,
    n_threads: int | None = None,
) -> Rows:
    """Make the rows of X ready for k-means.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), or source of rows
        A source has `shape`, `dtype` and a method ``open_rows`` that takes the other arguments.
    n_clusters : int
    sample_weight, linked, all_distances, spherical, n_threads
        As in `NearestCenters`.

    Returns
    -------
    Rows
    """
    how: dict[str, Any] = {
        "sample_weight": sample_weight,
        "linked": linked,
        "all_distances": all_distances,
        "spherical": spherical,
        "n_threads": n_threads,
    }
    if hasattr(X, "open_rows"):
        return X.open_rows(int(n_clusters), **how)
    return NearestCenters(X, int(n_clusters), **how)
