import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score

from conclust import BoostedConstrainedKMeans, Constraints, sample_constraints
from conclust.ensemble import CoAssociation, _judges
from conclust.ensemble._boosted import displacement, importance, ranks_of, reweigh, weighted_error
from conclust.exceptions import ConstraintsIgnoredWarning

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 200, random_state=0)


def fitted(**parameters):
    return BoostedConstrainedKMeans(3, **{"n_estimators": 20, "random_state": 0, **parameters}).fit(
        X, constraints=KNOWN
    )


@given(st.lists(st.tuples(st.floats(0.01, 9), st.booleans()), min_size=1, max_size=9))
def test_the_error_is_the_weighted_share_of_broken_statements(case):
    weights, kept = np.array([w for w, _ in case]), np.array([1.0 if k else -1.0 for _, k in case])
    share = sum(w for w, k in case if not k) / sum(w for w, _ in case)
    error = weighted_error(weights, kept)
    low = 1 / (2 * len(case))
    assert error == pytest.approx(min(max(share, low), 1 - low))
    assert np.isfinite(importance(error))


def test_importance_by_hand():
    assert importance(0.5) == 0.0
    assert importance(0.2) == pytest.approx(np.log(4))


@given(
    st.lists(st.tuples(st.floats(0.01, 9), st.booleans()), min_size=2, max_size=9),
    st.floats(0.1, 3), st.floats(0.5, 9), st.floats(-2, 2),
)  # fmt: skip
def test_reweighing_is_equation_3_up_to_a_common_factor(case, alpha, rho, xi):
    w, kept = np.array([w for w, _ in case]), np.array([1.0 if k else -1.0 for _, k in case])
    direct = w * np.exp(-alpha * (kept - xi) / rho)
    found = np.exp(reweigh(np.log(w), kept, alpha, rho))
    np.testing.assert_allclose(found / found.sum(), direct / direct.sum(), rtol=1e-9)
    assert found.max() == 1.0


def test_displacement_by_hand():
    falling, rising = ranks_of(np.array([3.0, 2, 1])), ranks_of(np.array([1.0, 2, 3]))
    assert falling.tolist() == [0, 1, 2]
    assert ranks_of(np.ones(3)).tolist() == [0, 1, 2]
    assert displacement(falling, falling) == 0
    assert displacement(falling, rising) == pytest.approx(4 / 9)


def test_xi_cancels():
    # Check that labels and rounds do not depend on the paper's margin, not even by rounding: here
    # they did.
    known = sample_constraints(y, 300, random_state=1)
    results = [
        BoostedConstrainedKMeans(3, n_estimators=30, xi=xi, random_state=1).fit(
            X, constraints=known
        )
        for xi in (0.0, 0.5, 5.0)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(other.labels_, results[0].labels_)
        np.testing.assert_array_equal(other.estimator_weights_, results[0].estimator_weights_)


def test_the_record_of_each_round():
    model = fitted()
    assert model.n_iter_ == len(model.history_) == len(model.estimator_weights_) == 20
    for t, record in enumerate(model.history_):
        assert record.error == model.estimator_errors_[t]
        assert record.alpha == pytest.approx(np.log((1 - record.error) / record.error))
        assert 0 <= record.order_change <= 0.5
        assert 0.5 < record.share_satisfied <= 1
    assert model.constraint_weights_.sum() == pytest.approx(1)
    assert model.stop_reason_ == "all 20 rounds done"


def test_learned_priorities_are_the_paper_s_weights():
    # Check the weights against running equations (1)-(3) on the members' labels.
    model = fitted()
    pairs = KNOWN.pairs()
    w = np.ones(len(pairs.sign))
    for t in range(model.n_iter_):
        labels = model.co_association_.codes[:, t]
        kept = np.where(
            (labels[pairs.pairs[:, 0]] == labels[pairs.pairs[:, 1]]) == (pairs.sign > 0), 1, -1
        )
        error = np.clip((w * (kept < 0)).sum() / w.sum(), 1 / 400, 1 - 1 / 400)
        assert model.estimator_errors_[t] == pytest.approx(error)
        alpha = np.log((1 - error) / error)
        w = w * np.exp(-alpha * (kept - 0.5) / 5.0)
    np.testing.assert_allclose(model.constraint_weights_, w / w.sum(), rtol=1e-6)


def test_adding_rounds_later_is_one_long_fit():
    long = fitted(n_estimators=30)
    model = BoostedConstrainedKMeans(3, n_estimators=12, warm_start=True, random_state=0)
    model.fit(X, constraints=KNOWN)
    model.set_params(n_estimators=30).fit(X, constraints=KNOWN)
    np.testing.assert_array_equal(model.labels_, long.labels_)
    np.testing.assert_allclose(model.estimator_weights_, long.estimator_weights_)
    with pytest.raises(ValueError, match="same rows and constraints"):
        model.fit(X, constraints=KNOWN[:10])


def test_staged_labels_end_in_the_labels():
    model = fitted()
    stages = list(model.staged_labels())
    assert len(stages) == 20
    np.testing.assert_array_equal(stages[-1], model.labels_)
    early, late = adjusted_rand_score(y, stages[0]), adjusted_rand_score(y, stages[-1])
    assert late >= early - 0.1


def test_the_final_labels_are_the_consensus_of_the_members():
    model = fitted()
    again = CoAssociation(model.co_association_.codes, model.estimator_weights_)
    expected = again.cluster(3, n_init=10, random_state=model._final_seed).labels
    np.testing.assert_array_equal(model.labels_, expected)
    confidence = model.confidence([(0, 1), (0, 149)])
    assert confidence[0] > 0.5 > -0.5 > confidence[1]


def test_predict_on_the_clusters_own_rows():
    rows, labels = make_blobs(150, centers=3, cluster_std=0.5, random_state=0)
    known = sample_constraints(labels, 30, random_state=0)
    model = BoostedConstrainedKMeans(3, n_estimators=10, random_state=0).fit(
        rows, constraints=known
    )
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    assert model.predict(rows[:1]).shape == (1,)


def test_rounds_no_better_than_chance_get_no_weight():
    # Each pair is stated both ways: every round breaks exactly half.
    clash = Constraints([(0, 1), (2, 3)], [(0, 1), (2, 3)])
    model = BoostedConstrainedKMeans(2, n_estimators=50, random_state=0).fit(X, constraints=clash)
    assert (model.estimator_weights_ == 0).all()
    assert model.stop_reason_ == "20 rounds in a row no better than chance"
    assert model.n_iter_ == 20
    assert len(np.unique(model.labels_)) == 2


def test_the_same_start_every_round_stops_when_nothing_changes():
    easy = Constraints([(0, 1)], [(0, 100)])
    model = BoostedConstrainedKMeans(3, reinit=False, random_state=0).fit(X, constraints=easy)
    assert "no longer change" in model.stop_reason_
    assert model.n_iter_ < 100


def test_no_constraints_is_an_ensemble_of_kmeans():
    model = BoostedConstrainedKMeans(3, n_estimators=10, random_state=0).fit(X)
    plain = KMeans(3, n_init=10, random_state=0).fit(X).labels_
    assert adjusted_rand_score(model.labels_, plain) > 0.9
    assert len(model.suspects()) == 0


def test_many_constraints_find_the_classes():
    known = sample_constraints(y, 500, random_state=1)
    labels = BoostedConstrainedKMeans(3, random_state=0).fit_predict(X, constraints=known)
    assert adjusted_rand_score(y, labels) > 0.95


def test_suspects_come_as_a_table():
    rows, labels = load_wine(return_X_y=True)
    known = sample_constraints(labels, 150, noise=0.1, random_state=0)
    model = BoostedConstrainedKMeans(3, n_estimators=30, random_state=0).fit(
        rows, constraints=known
    )
    table = model.suspects(5)
    assert len(table) == 5
    assert {"a", "b", "type", "weight", "doubt", "statement", "flipped"} <= set(table.columns)
    assert table["doubt"].is_monotonic_decreasing
    assert known[int(table["statement"].iloc[0])].samples == (
        table["a"].iloc[0],
        table["b"].iloc[0],
    )


@pytest.mark.parametrize(
    ("parameter", "value"), [("rho", 0), ("n_estimators", 0), ("reinit", "maybe"), ("xi", "a")]
)
def test_bad_parameters(parameter, value):
    with pytest.raises(ValueError, match=parameter):
        BoostedConstrainedKMeans(**{parameter: value}).fit(X)


def test_doubt_is_asked_for_not_looked_at(monkeypatch):
    # Check that no attribute runs clusterings behind the reader's back, and a method does once.
    calls = []
    judge = _judges.pckmeans
    monkeypatch.setattr(_judges, "pckmeans", lambda *a, **k: calls.append(1) or judge(*a, **k))
    model = fitted()
    for name in dir(model):
        getattr(model, name, None)
    assert not calls
    doubt = model.doubt()
    assert len(calls) == _judges.N_JUDGES
    assert doubt.shape == (len(KNOWN),)
    assert model.suspects(3)["doubt"].iloc[0] == doubt.max()
    assert len(calls) == _judges.N_JUDGES


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_only_statements_that_are_ignored():
    known = Constraints(relative=[(0, 1, 2), (3, 4, 5)])
    X = np.random.RandomState(0).randn(20, 2)
    with pytest.warns(ConstraintsIgnoredWarning):
        model = BoostedConstrainedKMeans(2, n_estimators=2, random_state=0).fit(
            X, constraints=known
        )
    assert model.constraint_weights_.tolist() == [0.0, 0.0]
