"""How useful a set of constraints is, before any constrained clustering."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust.constraints._constraints import Constraints


class ConstraintQuality(NamedTuple):
    """Informativeness and coherence of a set of constraints, both between 0 and 1.

    Attributes
    ----------
    informativeness : float
        Share of the statements that the clustering without them breaks.
    coherence : float
        Share of (must-link, cannot-link) combinations that do not contradict each other
        geometrically; NaN when one kind is missing.
    """

    informativeness: float
    coherence: float


def constraint_quality(
    X: Any,
    constraints: Constraints,
    *,
    n_clusters: int | None = None,
    estimator: Any = None,
    max_pairs: int = 1_000_000,
    random_state: Any = 0,
) -> ConstraintQuality:
    """Measure how informative and how coherent constraints are.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows that the statements are about.
    constraints : Constraints
        The statements to judge.
    n_clusters : int, default=None
        For the clustering without constraints. By default the smallest number that the
        statements allow at a glance: two, or as many as the largest set of mutually apart
        samples found greedily.
    estimator : clusterer, default=None
        What clusters without constraints; ``KMeans(n_clusters, n_init=10)`` by default.
    max_pairs : int, default=1_000_000
        Coherence looks at each must-link with each cannot-link; above so many combinations, at a
        random sample of that size.
    random_state : int, RandomState or None, default=0
        Seed or generator of the random numbers; an int gives the same result each time.

    Returns
    -------
    ConstraintQuality
        `informativeness`: the share of constraints that the clustering without constraints
        breaks: how much they say that the algorithm does not find by itself. `coherence`: the
        share of (must-link, cannot-link) combinations that do not contradict each other
        geometrically, NaN when one kind is missing. A must-link and a cannot-link contradict
        each other when, drawn as segments, the projection of one onto the line of the other
        overlaps it: the one says that this direction does not matter, the other that it does.

    See Also
    --------
    Constraints.conflicts : Which statements cannot all hold.

    References
    ----------
    I. Davidson, K. L. Wagstaff and S. Basu (2006). Measuring constraint-set utility for
    partitional clustering algorithms. PKDD, 115-126. doi:10.1007/11871637_15

    Examples
    --------
    >>> from conclust import Constraints, constraint_quality
    >>> X = [[0, 0], [0, 1], [9, 0], [9, 1]]
    >>> constraint_quality(X, Constraints([(0, 1)], [(0, 2)]), n_clusters=2)
    ConstraintQuality(informativeness=0.0, coherence=1.0)
    """
    constraints = constraints.on_rows_of(X)
    from sklearn.base import clone  # here, not above: statements alone need no scikit-learn
    from sklearn.cluster import KMeans
    from sklearn.utils import check_array, check_random_state

    X = check_array(X, dtype=np.float64)
    random_state = check_random_state(random_state)
    if not constraints:
        return ConstraintQuality(np.nan, np.nan)
    if estimator is None:
        estimator = KMeans(n_init=10)
    estimator = clone(estimator)
    parameters = estimator.get_params()
    if "n_clusters" in parameters:
        estimator.set_params(n_clusters=n_clusters or _clusters_at_least(constraints, len(X)))
    if "random_state" in parameters:
        estimator.set_params(random_state=random_state.randint(2**31 - 1))
    labels = estimator.fit_predict(X)
    informativeness = float(1 - constraints.satisfied(labels).mean())
    return ConstraintQuality(informativeness, _coherence(X, constraints, max_pairs, random_state))


def _clusters_at_least(constraints: Constraints, n_samples: int) -> int:
    """The size of a greedily found set of mutually apart samples, at least 2."""
    said = constraints[constraints.kinds == "cannot-link"].pairs()
    largest = max((len(group) for group in constraints.apart_groups), default=0)
    neighbors: dict[int, set[int]] = {}
    for a, b in said.pairs.tolist():
        neighbors.setdefault(a, set()).add(b)
        neighbors.setdefault(b, set()).add(a)
    clique: list[int] = []
    for v in sorted(neighbors, key=lambda v: -len(neighbors[v])):
        if all(v in neighbors[u] for u in clique):
            clique.append(v)
    return min(max(2, largest, len(clique)), n_samples)


def _coherence(X: FloatArray, constraints: Constraints, max_pairs: int, random_state: Any) -> float:
    pairs = constraints.pairs()
    must, cannot = pairs.pairs[pairs.sign > 0], pairs.pairs[pairs.sign < 0]
    n_combinations = len(must) * len(cannot)
    if not n_combinations:
        return float("nan")
    if n_combinations > max_pairs:
        i = random_state.randint(len(must), size=max_pairs)
        j = random_state.randint(len(cannot), size=max_pairs)
    else:
        i, j = (at.ravel() for at in np.indices((len(must), len(cannot))))
    agree = [
        _agree(X, must[i[at : at + _BLOCK]], cannot[j[at : at + _BLOCK]])
        for at in range(0, len(i), _BLOCK)
    ]
    return float(np.concatenate(agree).mean())


_BLOCK = 4096  # combinations at a time: a few blocks of (4096, n_features) in memory


def _agree(X: FloatArray, must: IntArray, cannot: IntArray) -> npt.NDArray[np.bool_]:
    """Whether neither segment's projection onto the other's line overlaps it."""
    return (projected_overlap(X, must, cannot) == 0) & (projected_overlap(X, cannot, must) == 0)


def projected_overlap(X: FloatArray, moved: IntArray, fixed: IntArray) -> FloatArray:
    """Project segments onto the lines of others; how much of each other they cover, as length.

    With the fixed segment from 0 to its length L along its line, the projection of the moved one
    is an interval [s, t], and the overlap is the length of [s, t] ∩ [0, L].
    """
    origin = X[fixed[:, 0]]
    along = X[fixed[:, 1]] - origin
    length = np.linalg.norm(along, axis=1)
    unit = along / np.where(length > 0, length, 1)[:, None]
    s = np.einsum("ij,ij->i", X[moved[:, 0]] - origin, unit)
    t = np.einsum("ij,ij->i", X[moved[:, 1]] - origin, unit)
    return np.maximum(np.minimum(np.maximum(s, t), length) - np.maximum(np.minimum(s, t), 0), 0)
