"""Decisions about rows and whole clusters, as few statements that make them so."""

import itertools
import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from conclust._arrays import IntArray
from conclust._pairs import connected
from conclust._typical import middle_to_edge
from conclust.constraints._components import check_group_pairs
from conclust.constraints._kinds import CANNOT_LINK, MUST_LINK
from conclust.exceptions import InvalidConstraintsError

if TYPE_CHECKING:
    from conclust.constraints._constraints import Constraints

N_NAMED = 5
NO_PAIRS = np.empty((0, 2), dtype=np.int64)
NO_ROWS = np.empty(0, dtype=np.int64)


class Decision(NamedTuple):
    """What is said, and which of the older statements it overrules."""

    overruled: npt.NDArray[np.bool_]  # (len(known),)
    must_link: IntArray = NO_PAIRS
    cannot_link: IntArray = NO_PAIRS
    apart: IntArray = NO_ROWS  # rows that are all apart from each other


# ---------------------------------------------------------------------- rows


def put_together(known: "Constraints", rows: IntArray) -> Decision:
    """Join the rows; overrule cannot-links between rows that are one unit then."""
    links = chain(rows)
    n = 1 + int(max(rows.max(initial=0), known.samples.max(initial=0)))
    unit, _ = connected(np.concatenate([known.must_link, links]), n)
    overruled = known.kinds == "cannot-link"
    first, second = unit[known.cannot_link].T
    overruled[overruled] = (first == second) & np.isin(first, unit[rows])
    return Decision(overruled, must_link=links)


def set_apart(known: "Constraints", rows: IntArray, others: IntArray | None) -> Decision:
    """Part the rows from each other, or from others; overrule must-links between them."""
    first, second = known.must_link.T
    overruled = known.kinds == "must-link"
    if others is None:
        overruled[overruled] = np.isin(first, rows) & np.isin(second, rows)
        return Decision(overruled, apart=rows)
    both = np.intersect1d(rows, others)
    if len(both):
        raise InvalidConstraintsError(
            f"rows and others both hold {', '.join(map(str, both[:N_NAMED].tolist()))}; no row can "
            "be apart from itself. Leave it out of one of them."
        )
    check_group_pairs(len(rows) * len(others))
    crossing = (np.isin(first, rows) & np.isin(second, others)) | (
        np.isin(first, others) & np.isin(second, rows)
    )
    overruled[overruled] = crossing
    return Decision(overruled, cannot_link=np.array(list(itertools.product(rows, others))))


# ---------------------------------------------------------------------- clusters


class Typical:
    """The rows that stand for a cluster: from its middle to its edge, or drawn without X."""

    def __init__(self, X: Any, n_samples: int, n_rows: int | None, random_state: Any):
        if n_rows is not None and not (isinstance(n_rows, Integral) and n_rows > 0):
            raise InvalidConstraintsError(
                f"n_rows={n_rows!r} must be a whole number above 0, or None for twice the square "
                "root of the rows."
            )
        from sklearn.utils import check_random_state

        self.X = _as_numbers(X, n_samples)
        self.n_rows = n_rows
        self.draws = check_random_state(random_state)

    def __call__(self, rows: IntArray) -> IntArray:
        """Twice the square root of the rows, or `n_rows` of them."""
        n = self.n_rows if self.n_rows is not None else int(np.ceil(2 * np.sqrt(len(rows))))
        if n >= len(rows):
            return rows
        if self.X is None:
            drawn: IntArray = np.sort(self.draws.choice(rows, size=n, replace=False))
            return drawn
        return rows[middle_to_edge(self.X[rows], n)]

    def halves(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """The two parts of a cluster that lie farthest apart: two-means among its rows."""
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        two = KMeans(2, n_init=10, random_state=self.draws)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of rows all alike: an error
            second = two.fit(self.X[rows]).labels_.astype(bool)
        second ^= second[0]  # the first row stays
        return rows[~second], rows[second]


def merge_clusters(
    known: "Constraints", clusters: tuple[Any, Any], labels: npt.NDArray[Any], typical: Typical
) -> Decision:
    """Join typical rows of two clusters; overrule cannot-links between the clusters."""
    if clusters[0] == clusters[1]:
        raise InvalidConstraintsError(
            f"cluster_a and cluster_b are both {clusters[0]!r}; name two clusters to be merged."
        )
    first, second = (_rows_of(cluster, labels) for cluster in clusters)
    one = np.unique(labels, return_inverse=True)[1]
    one[second] = one[first[0]]
    return Decision(
        _turned_wrong(known, labels, one), must_link=chain_across(typical(first), typical(second))
    )


def split_cluster(
    known: "Constraints",
    cluster: Any,
    labels: npt.NDArray[Any],
    typical: Typical,
    leaving: IntArray | None,
) -> Decision:
    """Join typical rows of each part, part the two; overrule must-links between the parts."""
    rows = _rows_of(cluster, labels)
    if leaving is not None:
        stay, leave = np.setdiff1d(rows, leaving), np.intersect1d(rows, leaving)
    elif typical.X is not None and len(rows) > 1:
        stay, leave = typical.halves(rows)
    elif typical.X is not None:
        stay, leave = rows, NO_ROWS
    else:
        raise InvalidConstraintsError(
            f"To split cluster {cluster!r} its two parts must be known: pass X, the rows that were "
            "clustered, or `rows`, those that are to leave the cluster."
        )
    if not (len(stay) and len(leave)):
        raise InvalidConstraintsError(
            f"Cluster {cluster!r} has {len(rows)} rows, of which {len(leave)} would leave; each of "
            "the two parts needs one."
        )
    two = np.unique(labels, return_inverse=True)[1]
    two[leave] = two.max() + 1
    first, second = typical(stay), typical(leave)
    n = min(len(first), len(second))
    return Decision(
        _turned_wrong(known, labels, two),
        must_link=np.concatenate([chain(first), chain(second)]),
        cannot_link=np.column_stack([first[:n], second[:n]]),
    )


# ---------------------------------------------------------------------- few links


def chain(rows: IntArray) -> IntArray:
    """Pairs of neighbours: the fewest that join all rows."""
    return np.column_stack([rows[:-1], rows[1:]])


def chain_across(first: IntArray, second: IntArray) -> IntArray:
    """The fewest pairs that join all rows of two clusters, each from one to the other."""
    if len(first) > len(second):
        first, second = second, first
    n = len(first)
    rest = second[n:]
    zigzag = chain(np.column_stack([first, second[:n]]).ravel())
    return np.concatenate([zigzag, np.column_stack([first[np.arange(len(rest)) % n], rest])])


def pairs_of_piles(piles: Iterable[Sequence[int]]) -> tuple[list[Any], list[Any]]:
    """Must-links along each pile, and cannot-links between the first rows of each two."""
    filled = [list(pile) for pile in piles if len(pile)]
    together = [pair for pile in filled for pair in itertools.pairwise(pile)]
    return together, list(itertools.combinations([pile[0] for pile in filled], 2))


def _turned_wrong(
    known: "Constraints", before: npt.NDArray[Any], after: npt.NDArray[Any]
) -> npt.NDArray[np.bool_]:
    """The pairs that held before a decision and no longer do."""
    pair = np.isin(known._kind, (MUST_LINK, CANNOT_LINK))
    turned: npt.NDArray[np.bool_] = known.satisfied(before) & ~known.satisfied(after) & pair
    return turned


def _rows_of(cluster: Any, labels: npt.NDArray[Any]) -> IntArray:
    rows = np.flatnonzero(labels == cluster)
    if len(rows) and labels.dtype.kind in "if" and cluster == -1:
        raise InvalidConstraintsError(
            "-1 in labels marks rows in no cluster, which are not one; name rows with `together` "
            "or `apart`."
        )
    if len(rows):
        return rows
    there = np.unique(labels).tolist()
    more = f" and {len(there) - N_NAMED} more" if len(there) > N_NAMED else ""
    raise InvalidConstraintsError(
        f"Cluster {cluster!r} has no row in labels; the clusters there are "
        f"{', '.join(map(repr, there[:N_NAMED]))}{more}."
    )


def _as_numbers(X: Any, n_samples: int) -> Any:
    """X as a CSR matrix or an array of floats, one row per label; None stays None."""
    if X is None:
        return None
    X = X.tocsr() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[0] != n_samples:
        raise InvalidConstraintsError(
            f"X has shape {X.shape}, but labels has {n_samples} entries; pass the rows that were "
            "clustered, one for each label."
        )
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise InvalidConstraintsError(
            "X holds NaN or infinity; pass the rows as they were clustered, without gaps."
        )
    return X
