"""How many answers are wrong, by what rows say of pairs that were drawn at random.

Questions are asked where rows mislead, so that true answers contradict them more often than answers
are wrong. Pairs drawn at random are not chosen by what is believed of them: where models know such
pairs well, the answers that contradict them are wrong ones; where models know nothing, nothing is
learned of the answers either.
"""

import warnings

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from conclust._arrays import FloatArray
from conclust._placement.belief import Rates
from conclust.constraints import Constraints
from conclust.model_selection import AutoCluster, believe

# Answers are taken to be wrong this often before anything is known; as much as so many answers say.
PRIOR_RATE, PRIOR_STRENGTH = 0.05, 10.0
HIGHEST_RATE, N_ROUNDS = 0.4, 10
# No cluster is impossible for a row: models are surer than they should be. The least probability
# of one, and of all that are not the likeliest.
FLOOR, LEAST = 0.02, 0.1
# The answers after which rates are estimated: so many, then each time twice as many.
FIRST = 12
# Rows that models are fitted to, where there are more.
MAX_ROWS = 1_000


def floor(n: int) -> float:
    """The least probability of each of n clusters."""
    return min(FLOOR, LEAST / n)


def open_minded(prior: FloatArray) -> FloatArray:
    """The same probabilities, none of them less than a floor."""
    prior = np.maximum(prior, floor(prior.shape[1]))
    return prior / prior.sum(axis=1, keepdims=True)


def milestones(n_answers: int) -> list[int]:
    """The numbers of answers, up to this one, after which rates are estimated."""
    found = [FIRST]
    while found[-1] <= n_answers:
        found.append(2 * found[-1])
    return found[:-1]


def rows_for(known: Constraints, n_samples: int, max_rows: int = MAX_ROWS) -> npt.NDArray[np.int64]:
    """Rows that models are fitted to, sorted: always the same, and all named ones."""
    drawn = np.random.RandomState(0).permutation(n_samples)[:max_rows]
    return np.union1d(drawn, known.samples)


def fitted_prior(
    X: FloatArray,
    n_clusters: int | None,
    known: Constraints,
    rate: float,
    n_checked: int,
    *,
    n_clusters_range: tuple[int, int] | None = None,
) -> FloatArray:
    """What models that were told `known` say of the rows, (n_rows, n_clusters)."""
    k = "auto" if n_clusters is None else min(n_clusters, len(X))
    model = AutoCluster(
        k, n_clusters_range=n_clusters_range, flip_rate=rate, n_checked=n_checked, random_state=0
    )
    with warnings.catch_warnings():
        # Fewer different rows than clusters: good enough for choosing a question.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, constraints=known).prior_


def estimated_rate(prior: FloatArray, drawn: Constraints, rate: float = PRIOR_RATE) -> float:
    """Share of wrong answers among those about pairs drawn at random; by EM from `rate`.

    Parameters
    ----------
    prior : ndarray of shape (n_rows, n_clusters)
        What models say of the rows.
    drawn : Constraints
        Pairwise.
    rate : float

    Returns
    -------
    float
    """
    prior = open_minded(prior)
    for _ in range(N_ROUNDS if len(drawn) else 0):
        doubt = believe(prior, drawn, Rates(rate, rate)).doubt
        wrong = float(doubt.sum()) + PRIOR_STRENGTH * PRIOR_RATE
        rate = min(wrong / (len(doubt) + PRIOR_STRENGTH), HIGHEST_RATE)
    return rate
