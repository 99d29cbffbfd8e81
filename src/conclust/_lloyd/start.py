"""Where k-means starts: data moved to their mean, and the first centres."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_array
from sklearn.utils.extmath import row_norms

from conclust._arrays import Matrix, brought_here, is_source
from conclust._kernels._short import LITTLE, short
from conclust._kernels.disjoint_set import keep_consistent
from conclust._lloyd.scalable import scalable_plus_plus
from conclust._placement.links import Links, must_link_groups
from conclust._sklearn import scaled_tolerance as tolerance_in_memory
from conclust._sklearn import unchecked_distances
from conclust._validation import check_enough_rows

# Where centres may come from.
Init = str | np.ndarray | Callable[..., np.ndarray]


class Centered(NamedTuple):
    """Data moved to their mean, and that mean; sparse data and unit rows stay where they are."""

    X: Matrix
    mean: np.ndarray  # (n_features,)
    spherical: bool = False  # rows have unit length, and so shall centres


def centered(X: Matrix, *, copy: bool = True, metric: str = "euclidean") -> Centered:
    """Move dense data to their mean, where ‖x‖² + ‖c‖² − 2 x·c loses fewest digits.

    Distances do not change. Whoever calls adds ``mean`` to the centres found. Done once for all
    starts and rounds; ``copy=False`` overwrites X, for a caller who holds the only reference.
    With ``metric="cosine"`` the rows have come from the door with unit length, and stay.
    """
    if sp.issparse(X) or metric == "cosine":
        return Centered(X, np.zeros(X.shape[1], dtype=X.dtype), metric == "cosine")
    if is_source(X):
        return Centered(X.centered(), X.mean)
    mean = X.mean(axis=0)
    return Centered(np.subtract(X, mean, out=None if copy else X), mean)


def scaled_tolerance(X: Matrix, tol: float) -> float:
    """`tol` times the mean variance of the features of X, not yet centred."""
    return tol * float(X.variance.mean()) if is_source(X) else tolerance_in_memory(X, tol)


def sampled(X: Matrix, n_clusters: int, sample_weight: np.ndarray | None) -> tuple[Matrix, Any]:
    """Rows from which centres are drawn, and their weights: all but for a long source of rows."""
    if not is_source(X):
        return X, sample_weight
    rows, drawn = X.sample(n_clusters)
    return drawn, None if sample_weight is None else sample_weight[rows]


def init_centers(
    X: Matrix,
    n_clusters: int,
    init: Init,
    sample_weight: np.ndarray | None,
    random_state: np.random.RandomState,
    *,
    mean: np.ndarray | None = None,
) -> np.ndarray:
    """Choose the centres to start from, with the draws scikit-learn's ``KMeans`` would make.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), or source of rows
        Centred or not. From a source with many rows a sample is taken, the same for all starts,
        but for "k-means||", which passes over all rows.
    n_clusters : int
    init : {"k-means++", "k-means||", "random"}, array-like of shape (n_clusters, n_features) or \
            callable
        "random" takes distinct rows, with probabilities proportional to their weights. A callable
        receives ``(X, n_clusters, random_state=...)`` with X as it is given here; with an attribute
        ``names_rows``, which says that it asks for rows by number, the source itself.
    sample_weight : ndarray of shape (n_samples,) or None
        Not used by arrays and callables.
    random_state : RandomState
    mean : ndarray of shape (n_features,), default=None
        What `centered` took from X; an array ``init`` is moved likewise.

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        A new array, of the type of X.
    """
    check_enough_rows(X.shape[0], n_clusters)
    if isinstance(init, str) and init == "k-means||":
        centers = scalable_plus_plus(X, n_clusters, sample_weight, random_state)
        if centers is not None:
            return centers
        init = "k-means++"
    if isinstance(init, str) or (callable(init) and not getattr(init, "names_rows", False)):
        X, sample_weight = sampled(X, n_clusters, sample_weight)
    n_samples = X.shape[0]
    if isinstance(init, str) and init == "k-means++":
        return kmeans_plusplus(
            X, n_clusters, sample_weight=sample_weight, random_state=random_state
        )[0]
    if isinstance(init, str) and init == "random":
        weight = np.ones(n_samples) if sample_weight is None else sample_weight
        n_heavy = np.count_nonzero(weight)
        if n_heavy < n_clusters:
            raise ValueError(
                f'init="random" draws n_clusters={n_clusters} rows with positive weight, but '
                f"sample_weight has only {n_heavy}. Lower n_clusters or pass an array as init."
            )
        rows = random_state.choice(n_samples, n_clusters, replace=False, p=weight / weight.sum())
        return X[rows].toarray() if sp.issparse(X) else X[rows]
    if isinstance(init, str):
        raise ValueError(
            f"init={init!r} is unknown; use 'k-means++', 'k-means||', 'random', an array "
            "of shape (n_clusters, n_features) or a callable."
        )
    if callable(init):
        origin = "init(X, n_clusters, random_state=...) returned an array of"
        given = brought_here(init(X, n_clusters, random_state=random_state))
    else:
        origin = "init has"
        given = brought_here(init)
    centers = check_array(
        brought_here(given), dtype=X.dtype, order="C", copy=True, input_name="init"
    )
    if centers.shape != (n_clusters, X.shape[1]):
        raise ValueError(
            f"{origin} shape {centers.shape}, but n_clusters={n_clusters} and X has "
            f"{X.shape[1]} features: it must be {(n_clusters, X.shape[1])}."
        )
    if mean is not None and not callable(init):
        centers -= mean
    return centers


def start_centers(
    X: Matrix,
    links: Links,
    n_clusters: int,
    init: Init,
    sample_weight: np.ndarray,
    random_state: np.random.RandomState,
    number: int,
    mean: np.ndarray,
) -> np.ndarray:
    """Choose the centres of start `number`; the first one from neighbourhoods is not drawn."""
    if isinstance(init, str) and init == "neighborhoods":
        return seed_neighborhoods(
            X, links, n_clusters, sample_weight, random_state, farthest_first=number == 0
        )
    return init_centers(X, n_clusters, init, sample_weight, random_state, mean=mean)


def seed_neighborhoods(
    X: Matrix,
    links: Links,
    n_clusters: int,
    sample_weight: np.ndarray,
    random_state: np.random.RandomState,
    *,
    farthest_first: bool,
) -> np.ndarray:
    """Choose centres among the means of the must-link neighbourhoods, far from each other.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    links : Links
    n_clusters : int
    sample_weight : ndarray of shape (n_samples,)
    random_state : RandomState
    farthest_first : bool
        True: start at the heaviest neighbourhood, then always take the one with the largest weight
        times distance to those taken, as in [1]_. False: draw with probabilities proportional to
        weight times squared distance, so that starts differ.

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        Where there are fewer neighbourhoods than clusters, the rest are rows drawn as k-means++
        draws them.

    Notes
    -----
    A neighbourhood is a must-link component of two rows and more. Cannot-links are taken first,
    must-links one by one (by falling weight, or in a random order) and only as far as they
    contradict nothing taken before: a wrong must-link would otherwise melt two clusters into one
    seed between them.

    References
    ----------
    .. [1] S. Basu, A. Banerjee and R. J. Mooney, "Active Semi-Supervision for Pairwise Constrained
       Clustering". :doi:`10.1137/1.9781611972740.31`
    """
    if farthest_first:
        visits = np.argsort(-links.weight, kind="stable")
    else:
        visits = random_state.permutation(len(links))
    visits = visits[np.argsort(links.sign[visits], kind="stable")]
    kept = np.zeros(len(links), dtype=np.bool_)
    keep = short(keep_consistent, len(links.rows) + len(links), LITTLE)
    keep(links.pairs, links.sign, visits, len(links.rows), kept)
    starts, members = must_link_groups(links.pairs[kept & (links.sign > 0)], len(links.rows))
    rows = links.rows[members]
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    mass = np.bincount(group, weights=sample_weight[rows], minlength=len(starts) - 1)
    means = means_of(X[rows], group, mass, sample_weight[rows])
    means, mass = means[mass > 0], mass[mass > 0]
    centers = np.empty((n_clusters, X.shape[1]), dtype=X.dtype)
    n_seeds = min(n_clusters, len(means))
    centers[:n_seeds] = means[
        _spread(means, mass, n_seeds, random_state, farthest_first=farthest_first)
    ]
    fill_centers(X, sample_weight, centers, n_seeds, random_state)
    return centers


def _spread(
    points: np.ndarray,
    mass: np.ndarray,
    n_chosen: int,
    random_state: np.random.RandomState,
    *,
    farthest_first: bool,
) -> list[int]:
    """Choose points far from each other, heavy ones rather; each step costs one look at each."""
    chosen: list[int] = []
    score = mass.astype(np.float64)
    squared = np.full(len(points), np.inf)
    for _ in range(n_chosen):
        if chosen:
            distance = unchecked_distances(points, points[chosen[-1:]], squared=True).ravel()
            squared = np.minimum(squared, distance)
            score = mass * (np.sqrt(squared) if farthest_first else squared)
        score[chosen] = 0.0
        if score.sum() == 0.0:  # only copies of what is chosen are left
            score = np.ones(len(points))
            score[chosen] = 0.0
        if farthest_first:
            chosen.append(int(score.argmax()))
        else:
            chosen.append(int(random_state.choice(len(points), p=score / score.sum())))
    return chosen


def fill_centers(
    X: Matrix,
    sample_weight: np.ndarray,
    centers: np.ndarray,
    n_given: int,
    random_state: np.random.RandomState,
) -> None:
    """Complete centres by rows drawn with probability proportional to weight times distance²."""
    n_clusters = len(centers)
    if n_given == 0:
        centers[:] = init_centers(X, n_clusters, "k-means++", sample_weight, random_state)
        return
    X, weight = sampled(X, n_clusters, sample_weight)
    norms = row_norms(X, squared=True)[:, np.newaxis]
    nearest = np.full(X.shape[0], np.inf)
    for filled in range(n_clusters):
        if filled >= n_given:
            chance = weight * nearest
            chance = chance if chance.sum() > 0 else weight.astype(np.float64)
            row = random_state.choice(X.shape[0], p=chance / chance.sum())
            centers[filled] = X[[row]].toarray()[0] if sp.issparse(X) else X[row]
        last = centers[filled : filled + 1]
        distance = unchecked_distances(X, last, X_norm_squared=norms, squared=True).ravel()
        nearest = np.minimum(nearest, distance)


def plus_plus(
    mass: np.ndarray,
    n_clusters: int,
    distances_to_row: Callable[[int], np.ndarray],
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Labels of the nearest of k rows drawn by k-means++, where only distances are known.

    Parameters
    ----------
    mass : ndarray of shape (n_samples,)
        Weights of the rows.
    n_clusters : int
    distances_to_row : callable
        Squared distances of all rows to one; may be overwritten by the next call.
    random_state : RandomState

    Returns
    -------
    ndarray of shape (n_samples,), int64
        With fewer distinct rows than clusters, not all of these.
    """
    labels, nearest = np.zeros(len(mass), dtype=np.int64), np.full(len(mass), np.inf)
    for cluster in range(n_clusters):
        chance = mass if cluster == 0 else mass * nearest
        shares = chance.cumsum()
        if shares[-1] <= 0:
            break
        row = int(shares.searchsorted(random_state.random_sample() * shares[-1], side="right"))
        distances = distances_to_row(row)
        labels[distances < nearest] = cluster
        np.minimum(nearest, distances, out=nearest)
    return labels


def means_of(X: Matrix, labels: np.ndarray, mass: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted mean of the rows of each cluster; zeros where there is no mass."""
    members = sp.csr_array(
        (weight.astype(np.float64), (labels, np.arange(len(labels)))), (len(mass), len(labels))
    )
    sums = members @ X
    sums = sums.toarray() if sp.issparse(sums) else sums
    return (sums / np.where(mass > 0, mass, 1.0)[:, np.newaxis]).astype(X.dtype)
