import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from conclust import Constraints, RelativeMetric, sample_constraints
from conclust.exceptions import ConclustWarning, ConstraintsIgnoredWarning
from conclust.metric_learning._relative_metric import (
    comparisons,
    dual,
    learn_weights,
    primal,
    typical_squared_deviation,
)
from tests.oracles.metric_learning import (
    comparisons_one_by_one,
    svm_metric_by_quadratic_programme,
    svm_metric_objective,
)

X, y = load_iris(return_X_y=True)


@st.composite
def problems(draw):
    d, m = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    entry = st.floats(-3, 3).map(lambda v: round(v, 2))
    Z = draw(arrays(float, (m, d), elements=entry))
    scale = draw(arrays(float, d, elements=st.sampled_from([0.01, 1.0, 100.0])))
    return Z * scale, draw(arrays(float, m, elements=st.sampled_from([0.1, 1.0, 5.0])))


def test_comparisons():
    known = sample_constraints(y, n_relative=20, random_state=0)
    expected = comparisons_one_by_one(X, known.relative)
    np.testing.assert_allclose(comparisons(X, known.relative), expected)
    sparse = comparisons(sp.csr_array(X), known.relative)
    assert sp.issparse(sparse)
    np.testing.assert_allclose(sparse.toarray(), expected)


@pytest.mark.parametrize("z", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("price", [0.5, 1.0, 20.0])
def test_one_feature_by_hand(z, price):
    # min ½w² + C max(0, 1 − wz): w = Cz until the margin is met at 1/z.
    found = learn_weights(np.array([[z]]), np.array([price]), tol=1e-10)
    assert found.weights == pytest.approx(min(price * z, 1 / z), rel=1e-4)


def test_two_features_by_hand():
    # One comparison, dear enough to be met: the shortest w ≥ 0 with w·z = 1, along the positive
    # part of z.
    found = learn_weights(np.array([[2.0, 1.0, -3.0]]), np.array([100.0]), tol=1e-10)
    np.testing.assert_allclose(found.weights, [0.4, 0.2, 0.0], atol=1e-5)
    assert found.weights[2] == 0


@given(problem=problems())
def test_it_minimises_the_objective(problem):
    # The gap proves the optimum, whatever the scale of the features; no weight is negative.
    Z, price = problem
    found = learn_weights(Z, price)
    assert found.converged
    assert (found.weights >= 0).all()
    value = svm_metric_objective(found.weights, Z, price)
    assert value == pytest.approx(found.history[-1].objective)
    assert ((found.multiplier >= 0) & (found.multiplier <= price)).all()
    for step in found.history:
        assert step.gap >= -1e-9 * step.objective
        assert step.objective >= value - 1e-9
    # Weak duality, for arbitrary points.
    rng = np.random.RandomState(0)
    for _ in range(5):
        w, alpha = rng.exponential(size=Z.shape[1]), rng.uniform(size=len(price)) * price
        assert primal(w, Z @ w, price) >= dual(Z, alpha) - 1e-9


@pytest.mark.parametrize(("m", "d"), [(30, 4), (6, 15)])
@pytest.mark.parametrize("seed", range(3))
def test_same_weights_as_a_general_solver(m, d, seed):
    # More comparisons than features, and fewer: the two ways to solve for a step.
    rng = np.random.RandomState(seed)
    Z, price = rng.standard_normal((m, d)) + 0.3, rng.uniform(0.2, 2, m)
    expected = svm_metric_by_quadratic_programme(Z, price)
    found = learn_weights(Z, price, tol=1e-10)
    np.testing.assert_allclose(found.weights, expected, atol=1e-4)
    sparse = learn_weights(sp.csr_array(Z), price, tol=1e-10)
    np.testing.assert_allclose(sparse.weights, found.weights, atol=1e-6)


def test_wild_scales_give_an_answer():
    # Features up to 10^8 apart in scale, prices up to 10^6: never an error, never worse than w = 0.
    for seed in range(40):
        rng = np.random.RandomState(seed)
        Z = rng.standard_normal((20, 15)) * 10 ** rng.uniform(-8, 8, 15)
        price = 10 ** rng.uniform(-3, 3, 20)
        found = learn_weights(Z, price)
        assert np.isfinite(found.weights).all()
        assert svm_metric_objective(found.weights, Z, price) <= price.sum() * (1 + 1e-9)


def test_weights_of_statements_are_prices():
    rows = np.random.RandomState(0).standard_normal((12, 3))
    known = sample_constraints([0, 1] * 6, n_relative=15, random_state=0)
    heavy = Constraints(relative=known.relative, relative_weight=np.full(15, 3.0))
    np.testing.assert_allclose(
        RelativeMetric().fit(rows, constraints=heavy).feature_weights_,
        RelativeMetric(C=3.0).fit(rows, constraints=known).feature_weights_,
    )


def test_units_do_not_matter():
    # Check that C means the same when all features are measured in another unit.
    known = sample_constraints(y, n_relative=50, random_state=0)
    weights = RelativeMetric().fit(X, constraints=known).feature_weights_
    for scale in (1e-4, 1e4):
        moved = RelativeMetric().fit(X * scale + 3 * scale, constraints=known).feature_weights_
        np.testing.assert_allclose(moved * scale**2, weights, rtol=1e-3, atol=1e-5)


def test_scale():
    rows = np.array([[0.0, 0], [2, 0], [0, 2], [2, 2]])
    assert typical_squared_deviation(rows) == 1
    assert typical_squared_deviation(sp.csr_array(rows)) == pytest.approx(1)
    assert typical_squared_deviation(np.ones((3, 2))) == 1


def test_columns_are_the_features_scaled():
    known = sample_constraints(y, n_relative=50, random_state=0)
    model = RelativeMetric().fit(X, constraints=known)
    np.testing.assert_allclose(model.transform(X), X * np.sqrt(model.feature_weights_))
    np.testing.assert_allclose(model.transform(X), X @ model.components_.T)
    np.testing.assert_allclose(model.mahalanobis_matrix_, np.diag(model.feature_weights_))
    assert model.get_feature_names_out(["a", "b", "c", "d"]).tolist() == ["a", "b", "c", "d"]
    assert sp.issparse(model.transform(sp.csr_array(X)))
    assert model.multipliers_.shape == (50,)


def test_noise_features_get_no_weight_and_k_means_gains():
    # Wine, standardised, beside ten features of noise.
    rows, classes = load_wine(return_X_y=True)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    rows = np.hstack([rows, 2 * np.random.RandomState(0).standard_normal((len(rows), 10))])
    known = sample_constraints(classes, n_relative=100, random_state=0)
    pipeline = make_pipeline(RelativeMetric(), KMeans(3, n_init=5, random_state=0))
    labels = pipeline.fit(rows, relativemetric__constraints=known)[-1].labels_
    weights = pipeline[0].feature_weights_
    assert weights[13:].sum() < 0.1 * weights.sum()
    plain = KMeans(3, n_init=5, random_state=0).fit_predict(rows)
    assert adjusted_rand_score(classes, labels) > adjusted_rand_score(classes, plain) + 0.2


def test_statements_no_weighting_can_keep():
    # c is nearer than b in every feature.
    rows = np.array([[0.0, 0], [5, 5], [1, 1], [4, 4]])
    wrong = Constraints(relative=[(0, 1, 2), (0, 1, 3)])
    with pytest.warns(ConclustWarning, match="Check the order of the columns"):
        model = RelativeMetric().fit(rows, constraints=wrong)
    np.testing.assert_array_equal(model.feature_weights_, [1, 1])


def test_pairs_are_ignored():
    known = sample_constraints(y, 5, n_relative=20, random_state=0)
    with pytest.warns(
        ConstraintsIgnoredWarning, match="the 5 must-link and cannot-link statements are ignored"
    ):
        model = RelativeMetric().fit(X, constraints=known)
    assert model.multipliers_.shape == (25,)
    assert (model.multipliers_[known.kinds != "relative"] == 0).all()


def test_too_few_iterations_are_announced():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter=2"):
        model = RelativeMetric(max_iter=2).fit(
            X, constraints=sample_constraints(y, n_relative=50, random_state=0)
        )
    assert not model.converged_


def test_bad_parameters():
    with pytest.raises(ValueError, match="'C' parameter"):
        RelativeMetric(C=-1).fit(X)


def test_progress(capsys):
    known = sample_constraints(y, n_relative=20, random_state=0)
    RelativeMetric(verbose=1).fit(X, constraints=known)
    assert "gap" in capsys.readouterr().err
