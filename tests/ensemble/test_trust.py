import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from conclust import (
    BoostedConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    Constraints,
    COPKMeans,
    TrustEnsemble,
    sample_constraints,
)
from conclust.ensemble._trust import choose
from conclust.exceptions import ConstraintsIgnoredWarning, ConstraintsViolatedWarning

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 200, noise=0.1, random_state=0)
SMALL = {"n_estimators": 5, "n_judges": 4, "random_state": 0}


def test_workers_and_backends_do_not_change_the_labels():
    def fit(n_jobs):
        return TrustEnsemble(3, n_jobs=n_jobs, **SMALL).fit(X, constraints=KNOWN)

    one = fit(None)
    for n_jobs in (1, 2):
        np.testing.assert_array_equal(fit(n_jobs).co_association_.codes, one.co_association_.codes)
    with parallel_config(backend="loky", n_jobs=2):
        np.testing.assert_array_equal(fit(None).labels_, one.labels_)


def test_the_lowest_price_that_is_as_good_is_chosen():
    heard = np.array([[True, False, False, False], [False, True, False, False]])
    none, some = np.zeros((2, 4), dtype=bool), np.zeros((2, 4), dtype=bool)
    some[:, 2:] = True
    weight = np.ones(4)
    assert choose([none, some, some], ~heard, weight) == 1
    assert choose([some, some, some], ~heard, weight) == 0
    # What a judge was told does not count for it.
    assert choose([some, heard | some], ~heard, weight) == 0
    # Weights do: one heavy statement outweighs the two light ones.
    only_first = np.zeros((2, 4), dtype=bool)
    only_first[:, 0] = True
    assert choose([some, only_first], ~heard, np.array([9.0, 1.0, 1.0, 1.0])) == 1


def test_clean_statements_are_obeyed_and_wrong_ones_are_outvoted():
    clean = sample_constraints(y, 300, random_state=3)
    model = TrustEnsemble(3, random_state=0).fit(X, constraints=clean)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    noisy = sample_constraints(y, 300, noise=0.2, random_state=3)
    with pytest.warns(ConstraintsViolatedWarning):
        trusting = COPKMeans(3, on_infeasible="relax", random_state=0).fit(X, constraints=noisy)
    model = TrustEnsemble(3, random_state=0).fit(X, constraints=noisy)
    better = adjusted_rand_score(y, model.labels_)
    assert better > 0.75
    assert better > adjusted_rand_score(y, trusting.labels_) + 0.2
    wrong = noisy.provenance["flipped"].astype(bool)
    assert model.trust_[~wrong].mean() > model.trust_[wrong].mean() + 0.4


def test_history_tells_judges_from_members():
    model = TrustEnsemble(3, **SMALL).fit(X, constraints=KNOWN)
    assert len(model.history_) == 3 * 4 + 5
    prices = [record.price for record in model.history_]
    assert np.allclose(np.array(prices[:12]) / prices[0], np.repeat([1, 4, 16], 4))
    assert set(prices[12:]) == {model.penalty_}
    assert model.n_iter_ == model.co_association_.codes.shape[1] == 5


def test_relative_statements_are_neither_trusted_nor_doubted():
    known = Constraints([(0, 1)], [(0, 100)], relative=[(0, 1, 2)])
    with pytest.warns(ConstraintsIgnoredWarning):
        model = TrustEnsemble(3, **SMALL).fit(X, constraints=known)
    assert model.doubt_[2] == 0
    assert model.trust_[2] == 1


def test_sparse_rows_and_one_cluster():
    model = TrustEnsemble(3, **SMALL).fit(sp.csr_matrix(X), constraints=KNOWN)
    dense = TrustEnsemble(3, **SMALL).fit(X, constraints=KNOWN)
    assert adjusted_rand_score(model.labels_, dense.labels_) > 0.8
    assert (TrustEnsemble(1, **SMALL).fit(X, constraints=KNOWN).labels_ == 0).all()


@pytest.mark.parametrize(
    "model",
    [
        BoostedConstrainedKMeans(3, n_estimators=20, random_state=0),
        ConstrainedKMeansEnsemble(3, n_estimators=10, random_state=0),
        TrustEnsemble(3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_of_the_suspects_most_are_wrong(model):
    """10 % of 300 statements flipped, standardised: above 0.7 on iris and 0.8 on wine."""
    for load, least in ((load_iris, 0.7), (load_wine, 0.8)):
        rows, labels = load(return_X_y=True)
        rows = StandardScaler().fit_transform(rows)
        found = []
        for seed in range(3):
            known = sample_constraints(labels, 300, noise=0.1, random_state=seed)
            found.append(model.fit(rows, constraints=known).suspects(30)["flipped"].mean())
        assert np.mean(found) > least
