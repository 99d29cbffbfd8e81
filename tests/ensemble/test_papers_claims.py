"""Okabe & Yamada's claims (2012a) at a size that takes a minute; `reproduction/` has the whole of it."""

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from conclust import (
    BoostedConstrainedKMeans,
    ConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    sample_constraints,
)

N_DRAWS = 4


def mean_nmi(name, n_constraints):
    """NMI of BCKM, RCKM and CKM on raw features, mean over the draws."""
    from conclust.datasets import load

    data = load(name)
    X, y = np.ascontiguousarray(data.data, dtype=float), data.target
    k = len(set(y))
    scores = np.empty((N_DRAWS, 3))
    for draw in range(N_DRAWS):
        known = sample_constraints(y, n_constraints, random_state=draw)
        models = (
            BoostedConstrainedKMeans(k, random_state=draw),
            ConstrainedKMeansEnsemble(k, n_estimators=100, reorder="run", random_state=draw),
            ConstrainedKMeans(k, init="random", random_state=draw),
        )
        scores[draw] = [
            normalized_mutual_info_score(
                y, model.fit(X, constraints=known).labels_, average_method="geometric"
            )
            for model in models
        ]
    return scores.mean(axis=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "reached"),
    [("iris", 0.97), ("sonar", 0.8), ("parkinsons", 0.65), ("ionosphere", 0.4), ("glass", 0.45)],
)
def test_with_many_constraints_boosting_wins_by_far(name, reached, data_folder):
    boosted, random, single = mean_nmi(name, 500)
    assert boosted > reached
    assert boosted > random + 0.05
    assert boosted > single + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "sonar", "parkinsons", "ionosphere", "glass"])
def test_with_few_constraints_it_is_on_a_par(name, data_folder):
    scores = mean_nmi(name, 100)
    assert scores.max() - scores.min() < 0.15
