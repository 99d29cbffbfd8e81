import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from conclust import ConstrainedKMeansEnsemble, sample_constraints

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 200, noise=0.1, random_state=0)


@pytest.mark.parametrize("reorder", ["iteration", "run"])
def test_workers_and_backends_do_not_change_the_labels(reorder):
    def fit(n_jobs):
        model = ConstrainedKMeansEnsemble(
            3, n_estimators=8, reorder=reorder, n_jobs=n_jobs, random_state=0
        )
        return model.fit(X, constraints=KNOWN)

    one = fit(None)
    for n_jobs in (1, 2, -1):
        np.testing.assert_array_equal(fit(n_jobs).co_association_.codes, one.co_association_.codes)
    with parallel_config(backend="loky", n_jobs=2):
        np.testing.assert_array_equal(fit(None).labels_, one.labels_)


def test_orders_make_members_differ():
    for reorder in ("iteration", "run"):
        model = ConstrainedKMeansEnsemble(
            3, n_estimators=10, reorder=reorder, init=X[[0, 60, 120]], random_state=0
        )
        codes = model.fit(X, constraints=KNOWN).co_association_.codes
        assert len(np.unique(codes, axis=1).T) > 5


def test_the_vote_beats_its_members_when_statements_are_wrong():
    model = ConstrainedKMeansEnsemble(3, random_state=0).fit(X, constraints=KNOWN)
    members = [adjusted_rand_score(y, model.co_association_.codes[:, t]) for t in range(50)]
    assert adjusted_rand_score(y, model.labels_) > np.mean(members)
    assert len(model.history_) == model.n_iter_ == 50


def test_suspects_are_mostly_the_wrong_ones():
    # 30 of 300 statements are flipped: among the 10 most doubtful at least 8 are.
    known = sample_constraints(y, 300, noise=0.1, random_state=1)
    model = ConstrainedKMeansEnsemble(3, random_state=0).fit(X, constraints=known)
    assert model.suspects(10)["flipped"].sum() >= 8


def test_predict_new_rows():
    model = ConstrainedKMeansEnsemble(3, n_estimators=10, random_state=0).fit(
        X[::2], constraints=None
    )
    assert adjusted_rand_score(model.predict(X[1::2]), y[1::2]) > 0.6
    with pytest.raises(ValueError, match="4 features"):
        model.predict(X[:, :2])


def test_verbose_shows_members(capsys):
    ConstrainedKMeansEnsemble(3, n_estimators=3, verbose=1, random_state=0).fit(X)
    assert "share_satisfied" in capsys.readouterr().err
