"""How far each relative statement is to be doubted, by the other statements and the rows.

A model with k unknown clusters: ab|c is said with probability 1 - flip_rate where a and b share a
cluster and c does not, with flip_rate / 2 where a or b shares one with c only, and with 1/3 where
all three are together or all apart: clusters leave it open then. Those who ask may avoid such open
questions, which makes them `openness` times as frequent as they would be by chance. What the rows
say comes in as a log-probability of each cluster for each sample; what the statements say is
passed along them (belief propagation); the two take turns, and the flip rate and the openness are
learned (EM).
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches

from conclust._arrays import FloatArray, IntArray
from conclust._folds import FEW

N_ROUNDS = 20  # turns of rows and statements
N_STEPS = 10  # messages passed in each
DAMPING = 0.5  # share of the old message kept in a step
FIRST_GUESS = 0.1  # of the flip rate
LEAST, MOST = 0.002, 0.4  # what a learned flip rate can be
LEAST_OPEN, MOST_OPEN = 0.05, 1.0  # the same for the openness
SURE_AT_START = 0.7  # belief in the cluster that a sample starts in, the rest is shared
# A row may be odd: whatever it is like, it says exp(4) : 1 at most, so statements can outvote it.
MOST_SAID_BY_ROW = 4.0
# The second run begins with a tenth of what the rows say and hears all of it ten rounds later:
# where the rows form clusters that have nothing to do with the statements, the first run stays.
RISE = ((1.0, 0.0), (0.1, 0.1))
# A statement doubted more than this, and twice as much as the average one, is not obeyed: a wrong
# one that is obeyed costs more than a right one left out. Another answer about the same samples is
# obeyed instead if that is doubted by no more than this.
TOO_DOUBTFUL = 0.2

N_COMPONENTS = 50  # principal components that densities look at
SHRINKAGE = 0.3  # of the common covariance to the variances, in samples per feature
N_NEIGHBORS = 10
PRIOR_NEIGHBORS = 1.0  # neighbours like the average of all samples, added to the real ones
N_LEFT = 1e-3  # samples left in a cluster without one of them, at least
CELLS = 1 << 20  # numbers held at once for the densities without each sample

# What the rows say: (n_samples, k) shares of the samples in clusters -> log-probabilities
Rows = Callable[[FloatArray], FloatArray]


class Verdict(NamedTuple):
    """What is believed about the statements."""

    doubt: FloatArray  # (m,) probability that a statement ab|c is wrong
    instead: FloatArray  # (m, 2) probability that clusters say ac|b, and bc|a
    flip_rate: float
    log_likelihood: float  # mean of the statements, each predicted by the others and the rows


def judge(
    triplets: IntArray,
    weight: FloatArray,
    rows: Rows,
    start: npt.NDArray[np.integer[Any]],
    n_clusters: int,
    flip_rate: float | Literal["auto"],
) -> Verdict:
    """Doubt each statement by what the others and the rows make of it.

    Parameters
    ----------
    triplets : ndarray of shape (m, 3)
        ab|c.
    weight : ndarray of shape (m,)
        Only ratios count: a statement of twice the average weight is as if said twice.
    rows : callable
        See `Rows`.
    start : ndarray of shape (n_samples,)
        Clusters to begin with.
    n_clusters : int
    flip_rate : float or "auto"
        "auto" learns it, from `FEW` statements on; fewer are believed.

    Returns
    -------
    Verdict
        Of two runs the one that predicts statements better. Where neither does so better than
        chance, all are believed: doubt and learned flip rate are 0, or the doubt is `flip_rate`.
    """
    given = 0.0 if flip_rate == "auto" else float(flip_rate)
    m = len(triplets)
    believed = Verdict(np.full(m, given), np.zeros((m, 2)), given, np.log(1 / 3))
    if n_clusters < 2 or not m or (flip_rate == "auto" and m < FEW):
        return believed
    found = [
        _run(triplets, weight / weight.mean(), rows, start, n_clusters, flip_rate, rise)
        for rise in RISE
    ]
    best = max(found, key=lambda verdict: verdict.log_likelihood)
    # By chance a statement has 1/3. With a gain within its spread clusters cannot judge.
    gain = best.log_likelihood - believed.log_likelihood
    return best if gain * np.sqrt(m) > 1 else believed


def too_doubtful(verdict: Verdict) -> npt.NDArray[np.bool_]:
    """Which statements are better not obeyed."""
    return verdict.doubt > max(TOO_DOUBTFUL, 2 * verdict.flip_rate)


def turned(triplets: IntArray, verdict: Verdict) -> tuple[IntArray, IntArray]:
    """What to obey in the place of doubtful statements: ac|b or bc|a, where that is sure enough.

    Returns
    -------
    numbers : ndarray of int
        Of the statements that are turned.
    rows : ndarray of shape (len(numbers), 3)
    """
    numbers = np.flatnonzero(
        too_doubtful(verdict) & (verdict.instead.max(axis=1) >= 1 - TOO_DOUBTFUL)
    )
    order = np.array([(0, 2, 1), (1, 2, 0)])[verdict.instead[numbers].argmax(axis=1)]
    return numbers, np.take_along_axis(triplets[numbers], order, axis=1)


def _run(
    triplets: IntArray,
    weight: FloatArray,
    rows: Rows,
    start: npt.NDArray[np.integer[Any]],
    n_clusters: int,
    flip_rate: float | Literal["auto"],
    rise: tuple[float, float],
) -> Verdict:
    n, m = len(start), len(triplets)
    rate = FIRST_GUESS if flip_rate == "auto" else max(float(flip_rate), LEAST)
    belief = np.full((n, n_clusters), (1 - SURE_AT_START) / n_clusters)
    belief[np.arange(n), start] += SURE_AT_START
    # What the places (a, b and c of every statement) say is summed for each sample.
    place = np.arange(3 * m)
    gather = sp.csr_array((np.ones(3 * m), (triplets.ravel(), place)), shape=(n, 3 * m))
    message = np.zeros((m, 3, n_clusters))
    first, step = rise
    openness = MOST_OPEN
    for number in range(N_ROUNDS):
        share = min(1.0, first + step * number)
        said = rows(belief)
        said = share * np.maximum(said - said.max(axis=1, keepdims=True), -MOST_SAID_BY_ROW)
        for _ in range(N_STEPS):
            total = said + gather @ message.reshape(3 * m, -1)
            others = normalized(total[triplets] - message)
            new = np.log(messages(others, rate, openness)) * weight[:, None, None]
            new -= new.max(axis=2, keepdims=True)
            message = DAMPING * message + (1 - DAMPING) * new
        belief = normalized(said + gather @ message.reshape(3 * m, -1))
        said_by_clusters = evidence(others)
        weighed = said_by_clusters * [1 - rate, rate / 2, rate / 2, openness / 3]
        right, *instead, is_open = (weighed / weighed.sum(axis=1, keepdims=True)).T
        wrong = instead[0] + instead[1]
        doubt = wrong + rate * is_open
        by_chance = open_by_chance(belief.mean(axis=0))
        openness = new_openness(float(weight @ is_open / m), by_chance)
        if flip_rate == "auto":
            told = max(float(weight @ (right + wrong)), LEAST)
            rate = float(np.clip(weight @ wrong / told, LEAST, MOST))
    likelihood = said_by_clusters @ [1 - rate, rate / 2, rate / 2, 1 / 3]
    mean = float(weight @ np.log(likelihood) / m)
    return Verdict(np.clip(doubt, 0, 1), np.column_stack(instead), rate, mean)


def open_by_chance(share: FloatArray) -> float:
    """How probably three random samples are all in one cluster or in three, by cluster shares."""
    two, three = float((share**2).sum()), float((share**3).sum())
    return three + (1 - 3 * two + 2 * three)


def new_openness(share: float, by_chance: float) -> float:
    """How frequent open questions are, compared with chance; both as odds."""
    odds = share * (1 - by_chance) / max((1 - share) * by_chance, LEAST**2)
    return float(np.clip(odds, LEAST_OPEN, MOST_OPEN))


def normalized(log_values: FloatArray) -> FloatArray:
    """Probabilities along the last axis."""
    values = np.exp(log_values - log_values.max(axis=-1, keepdims=True))
    return values / values.sum(axis=-1, keepdims=True)


def evidence(others: FloatArray) -> FloatArray:
    """How probably clusters say ab|c, ac|b, bc|a, or leave it open.

    Parameters
    ----------
    others : ndarray of shape (m, 3, k)
        Clusters of a, b and c as all else has it.

    Returns
    -------
    ndarray of shape (m, 4)
        Two together without the third, for each of the three; all together or all apart.
    """
    a, b, c = others[:, 0], others[:, 1], others[:, 2]
    all_three = (a * b * c).sum(axis=1)
    found = np.column_stack([(x * y).sum(axis=1) - all_three for x, y in ((a, b), (a, c), (b, c))])
    found = np.clip(found, 0, 1)
    return np.column_stack([found, np.clip(1 - found.sum(axis=1), 0, 1)])


def messages(others: FloatArray, flip_rate: float, openness: float) -> FloatArray:
    """What each statement says about a, b and c: its likelihood for every cluster of each.

    Parameters
    ----------
    others : ndarray of shape (m, 3, k)
    flip_rate, openness : float

    Returns
    -------
    ndarray of shape (m, 3, k)
    """
    a, b, c = others[:, 0], others[:, 1], others[:, 2]
    left_open = openness / 3
    more, less = 1 - flip_rate - left_open, flip_rate / 2 - left_open
    ab, ac, bc = (_elsewhere(x * y) for x, y in ((a, b), (a, c), (b, c)))
    said = np.empty_like(others)
    said[:, 0] = more * b * (1 - c) + less * (c * (1 - b) + bc)
    said[:, 1] = more * a * (1 - c) + less * (c * (1 - a) + ac)
    said[:, 2] = more * ab + less * (a * (1 - b) + b * (1 - a))
    return np.maximum(left_open + said, np.finfo(np.float64).tiny)


def _elsewhere(together: FloatArray) -> FloatArray:
    """In any other cluster than each."""
    return np.maximum(together.sum(axis=1, keepdims=True) - together, 0)


def rows_by_density(X: FloatArray) -> Rows:
    """Gaussian clusters with one covariance, in at most 50 principal components."""
    X = np.asarray(X, dtype=np.float64)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if X.shape[1] > N_COMPONENTS:
        X = PCA(min(N_COMPONENTS, len(X)), random_state=0).fit_transform(X)
    return lambda belief: log_densities_without(X, belief, SHRINKAGE * X.shape[1])


def log_densities_without(X: FloatArray, share: FloatArray, shrinkage: float) -> FloatArray:
    """Log-density of each row in each cluster, the row itself left out, up to a constant per row.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        With a mean of 0.
    share : ndarray of shape (n, k)
        Of each row in each cluster; rows sum to 1.
    shrinkage : float
        So many more samples whose covariance is diagonal, that of X.

    Returns
    -------
    ndarray of shape (n, k)
        Log of the share of samples in the cluster, less half the squared Mahalanobis distance to
        its mean. Without row i the scatter is S - Σ_j c_ij r_ij r_ijᵀ with r_ij = x_i - mean_j and
        c_ij = share_ij N_j / (N_j - share_ij), which Woodbury's identity inverts by k equations.
    """
    (n, d), k = X.shape, share.shape[1]
    size = np.maximum(share.sum(axis=0), N_LEFT)
    means = share.T @ X / size[:, None]
    scatter = X.T @ X - (means.T * size) @ means
    scatter[np.diag_indices(d)] += shrinkage * np.maximum(X.var(axis=0), 1e-9)
    whiten = np.linalg.inv(np.linalg.cholesky(scatter)).T
    X, means = X @ whiten, means @ whiten
    found = np.empty((n, k))
    for rows in gen_batches(n, max(1, CELLS // (k * k))):
        cross = X[rows] @ means.T
        products = (X[rows] ** 2).sum(axis=1)[:, None, None] + means @ means.T
        products -= cross[:, :, None] + cross[:, None, :]  # r_ijᵀ S⁻¹ r_il
        left = np.maximum(size - share[rows], N_LEFT)
        root = np.sqrt(share[rows] * size / left)
        half = products * root[:, None, :]
        inner = np.eye(k) - root[:, :, None] * half
        solved = np.linalg.solve(inner, half.transpose(0, 2, 1))
        distance = np.einsum("njj->nj", products) + np.einsum("njl,nlj->nj", half, solved)
        distance *= (size / left) ** 2 * (n - 1 + shrinkage)
        found[rows] = np.log(left / n) - distance / 2
    return found


def rows_by_neighbors(X: FloatArray, metric: str | Callable[..., float]) -> Rows:
    """Ten nearest samples, by any metric or in a matrix of distances."""
    n_neighbors = min(N_NEIGHBORS, len(X) - 1)
    search = NearestNeighbors(n_neighbors=n_neighbors, metric=metric, algorithm="brute").fit(X)
    neighbors = search.kneighbors(return_distance=False)

    def rows(belief: FloatArray) -> FloatArray:
        near = belief[neighbors].sum(axis=1) + PRIOR_NEIGHBORS * belief.mean(axis=0)
        shares: FloatArray = np.log(near / (n_neighbors + PRIOR_NEIGHBORS))
        return shares

    return rows
