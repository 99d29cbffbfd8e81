"""Data sets that follow from a rule: balance-scale and MONK exactly, wedges at random."""

from collections.abc import Callable
from itertools import product
from typing import Literal

import numpy as np

# One wedge each: tip, middle of the broad end, half the breadth there.
_UPPER = ((9.0, 2.2), (2.0, 2.2), 0.5)
_LOWER = ((0.0, 0.0), (10.0, 0.0), 1.0)

_MONK_VALUES = (3, 3, 2, 3, 4, 2)


def make_balance_scale() -> tuple[np.ndarray, np.ndarray]:
    """Make the balance-scale data of UCI, which is a rule and not a sample.

    Every combination of two weights and two distances from 1 to 5; the scale tips to the side where
    weight times distance is larger.

    Returns
    -------
    X : ndarray of shape (625, 4), float64
        Left weight, left distance, right weight, right distance; rows in UCI's order.
    y : ndarray of shape (625,), int64
        0 balanced (UCI's ``B``), 1 tips to the left (``L``), 2 tips to the right (``R``).

    See Also
    --------
    load : ``load("balance")`` is the same with names.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.datasets import make_balance_scale
    >>> X, y = make_balance_scale()
    >>> X.shape, np.bincount(y).tolist()
    ((625, 4), [49, 288, 288])
    """
    X = _combinations((5, 5, 5, 5))
    moment = X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]
    y = np.select([moment > 0, moment < 0], [1, 2], default=0)
    return X, y.astype(np.int64)


def make_monks(
    problem: int = 1, *, subset: Literal["full"] = "full"
) -> tuple[np.ndarray, np.ndarray]:
    """Make one of the three MONK problems of UCI.

    Parameters
    ----------
    problem : {1, 2, 3}, default=1
        1: a1 = a2 or a5 = 1. 2: exactly two of the six attributes have value 1.
        3: (a5 = 3 and a4 = 1) or (a5 ≠ 4 and a2 ≠ 3).
    subset : {"full"}, default="full"
        All 432 combinations, which is UCI's test file. UCI's training files are samples, the third
        with noise, and follow from no rule: ``load("monks1_train")``.

    Returns
    -------
    X : ndarray of shape (432, 6), float64
        Attributes a1 to a6, coded from 1; rows in UCI's order.
    y : ndarray of shape (432,), int64
        1 where the concept holds.

    See Also
    --------
    load : The same by name, and UCI's training files.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.datasets import make_monks
    >>> X, y = make_monks(2)
    >>> X.shape, np.bincount(y).tolist()
    ((432, 6), [290, 142])
    """
    if problem not in _CONCEPTS:
        raise ValueError(f"problem={problem!r} is none of the three MONK problems: 1, 2 or 3.")
    if subset != "full":
        raise ValueError(
            f"subset={subset!r} cannot be made: only 'full' follows from the rule. "
            f"UCI's training file is `load('monks{problem}_train')`."
        )
    X = _combinations(_MONK_VALUES)
    return X, _CONCEPTS[problem](*X.T).astype(np.int64)


def make_wedges(
    n_samples: tuple[int, int] = (60, 200),
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Make two wedges, a small one above a large one, that k-means cuts across.

    In the spirit of Figure 1 of [1]_: two groups on the plane that look like wedges and, at the
    same time, like two lines; the true clusters are the small upper and the larger lower one. The
    points of the figure are not published; sizes and shape here are ours.

    Parameters
    ----------
    n_samples : (int, int), default=(60, 200)
        Points of the upper and of the lower wedge.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the random numbers; an int gives the same result each time.

    Returns
    -------
    X : ndarray of shape (sum(n_samples), 2), float64
        The upper wedge, then the lower one.
    y : ndarray of shape (sum(n_samples),), int64
        0 for the upper wedge, 1 for the lower.

    See Also
    --------
    conclust.GeneralizedKMeans : Finds them.

    Notes
    -----
    Each wedge is filled evenly: the share of points nearer to the tip than a fraction :math:`t` of
    the length is :math:`t^2`. The long side of both lies along the first axis, so that two compact
    clusters are a left and a right half; covariances or constraints tell the wedges apart.

    References
    ----------
    .. [1] S. Miyamoto and H. Kondoh, Generalizations of K-Means Algorithms for Constrained
       Clustering, IJCSIA 4(1), 2014.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.metrics import rand_score
    >>> from sklearn.mixture import GaussianMixture
    >>> from conclust.datasets import make_wedges
    >>> X, y = make_wedges(random_state=0)
    >>> X.shape
    (260, 2)
    >>> bool(rand_score(y, KMeans(2, n_init=5, random_state=0).fit_predict(X)) < 0.7)
    True
    >>> float(rand_score(y, GaussianMixture(2, n_init=3, random_state=0).fit_predict(X)))
    1.0
    """
    from sklearn.utils import check_random_state  # here, not above: it brings in pandas

    n_upper, n_lower = _two_sizes(n_samples)
    generator = check_random_state(random_state)
    upper = _wedge(n_upper, *_UPPER, generator)
    lower = _wedge(n_lower, *_LOWER, generator)
    y = np.repeat(np.array([0, 1], dtype=np.int64), [n_upper, n_lower])
    return np.concatenate([upper, lower]), y


def _combinations(n_values: tuple[int, ...]) -> np.ndarray:
    # The last attribute runs fastest, as in UCI's files.
    return np.array(list(product(*(range(1, n + 1) for n in n_values))), dtype=np.float64)


def _first_monk(*attributes: np.ndarray) -> np.ndarray:
    a1, a2, _, _, a5, _ = attributes
    return (a1 == a2) | (a5 == 1)


def _second_monk(*attributes: np.ndarray) -> np.ndarray:
    return np.sum([attribute == 1 for attribute in attributes], axis=0) == 2


def _third_monk(*attributes: np.ndarray) -> np.ndarray:
    _, a2, _, a4, a5, _ = attributes
    return ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3))


_CONCEPTS: dict[int, Callable[..., np.ndarray]] = {1: _first_monk, 2: _second_monk, 3: _third_monk}


def _two_sizes(n_samples: tuple[int, int]) -> tuple[int, int]:
    try:
        n_upper, n_lower = (int(n) for n in n_samples)
    except (TypeError, ValueError):
        n_upper = n_lower = 0
    if min(n_upper, n_lower) < 1:
        raise ValueError(
            f"n_samples={n_samples!r} must be two positive numbers, the points of the upper and of "
            "the lower wedge, such as (60, 200)."
        )
    return n_upper, n_lower


def _wedge(
    n_samples: int,
    tip: tuple[float, float],
    end: tuple[float, float],
    half_breadth: float,
    random_state: np.random.RandomState,
) -> np.ndarray:
    axis = np.subtract(end, tip)
    across = np.array([-axis[1], axis[0]]) / np.hypot(*axis)
    # Even filling: breadth grows with the way along, hence the square root.
    along = np.sqrt(random_state.uniform(size=(n_samples, 1)))
    aside = half_breadth * along * random_state.uniform(-1.0, 1.0, size=(n_samples, 1))
    return tip + along * axis + aside * across
