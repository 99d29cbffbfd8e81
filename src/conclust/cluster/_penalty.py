"""What a broken statement costs: by the regret of moving a row, by held-out statements."""

from collections.abc import Callable

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from conclust._arrays import Matrix, in_parts
from conclust._folds import AS_GOOD, FEW, N_FOLDS, deal, left_open
from conclust.cluster._constrained_kmeans import constrained_kmeans
from conclust.constraints import Constraints

# `penalty="auto"` in median regrets: below 1, the row in the middle gives way to two statements,
# not to one. Right for statements of which many are wrong; below 0.4 true ones are overruled.
LOWEST_PRICE = 0.6
# What held-out statements choose from, as multiples of it: the last is all but hard.
MULTIPLES = (1.0, 4.0, 16.0)
# Starts of each clustering by which a price is judged.
N_SPLIT_STARTS = 2
# Iterations of plain k-means after which regrets are taken; they settle long before the labels.
AUTO_ITERATIONS = 10
# Numbers in one block of distances: 8 MB.
BLOCK = 1 << 20
NO_PAIRS = (np.empty((0, 2), np.int64), np.empty(0, np.int8), None)


def price_by_regret(
    X: Matrix, centers_init: np.ndarray, sample_weight: np.ndarray, *, spherical: bool = False
) -> float:
    """Price a broken statement by what moving a row costs.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    centers_init : ndarray of shape (n_clusters, n_features)
        Where the centres start.
    sample_weight : ndarray of shape (n_samples,)
        Weight of each row; None for 1 each.
    spherical : bool, default=False
        Rows have unit length, and so shall centres.

    Returns
    -------
    float
        `LOWEST_PRICE` times the median over rows of the regret, how much farther the second nearest
        centre is than the nearest, in weighted squared distances, after some iterations of plain
        k-means.
    """
    if len(centers_init) == 1:
        return 1.0
    centers = constrained_kmeans(
        X,
        *NO_PAIRS,
        centers_init,
        sample_weight=sample_weight,
        max_iter=AUTO_ITERATIONS,
        spherical=spherical,
    ).centers
    regrets = np.empty(X.shape[0])
    step = max(BLOCK // len(centers), 1)
    for first, rows in in_parts(X):
        for at in range(0, rows.shape[0], step):
            squared = euclidean_distances(rows[at : at + step], centers, squared=True)
            two = np.partition(squared, 1, axis=1)
            regrets[first + at : first + at + len(two)] = two[:, 1] - two[:, 0]
    regrets = (regrets * sample_weight)[sample_weight > 0]
    # Rows that are all alike cost nothing anywhere: any price then makes statements count.
    typical = float(np.median(regrets)) or float(regrets.mean()) or 1.0
    return LOWEST_PRICE * typical


def choose_price(
    lowest: float,
    constraints: Constraints,
    cluster: Callable[[Constraints, float, int, int], np.ndarray],
    random_state: np.random.RandomState,
) -> float:
    """Choose among `MULTIPLES` of a price by how many held-out statements are then kept.

    Counted are those that the other statements leave open: one that follows from them is kept at
    any price that makes them hold. With few of these the middle price is taken.

    Parameters
    ----------
    lowest : float
    constraints : Constraints
        Pairwise statements.
    cluster : callable
        ``cluster(constraints, price, n_init, seed)`` returns labels.
    random_state : RandomState

    Returns
    -------
    float
        The lowest price that keeps as much held-out weight as the best one, give or take
        `AS_GOOD`: obeying a wrong statement does more harm than doubting a right one.
    """
    prices = [lowest * multiple for multiple in MULTIPLES]
    fold = deal(np.arange(len(constraints)), N_FOLDS, random_state)
    asked = [left_open(constraints, fold != k) for k in range(N_FOLDS)]
    if np.sum(asked) < FEW:
        return prices[len(prices) // 2]
    kept = np.zeros(len(prices))
    for k in range(N_FOLDS):
        seed = random_state.randint(2**31 - 1)
        told, test = constraints[fold != k], constraints[asked[k]]
        for i, price in enumerate(prices):
            labels = cluster(told, price, N_SPLIT_STARTS, seed)
            kept[i] += test.weight[test.satisfied(labels)].sum()
    return prices[int(np.argmax(kept >= kept.max() * (1 - AS_GOOD)))]
