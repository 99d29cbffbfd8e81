import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from conclust import ITML, Constraints, sample_constraints
from conclust._kernels.bregman import project_in_turn
from conclust.metric_learning._itml import (
    bound_divergence,
    learn_metric,
    squared_distance_percentiles,
)
from tests.oracles.metric_learning import itml_by_descent, itml_objective, itml_step

X, y = load_iris(return_X_y=True)


@st.composite
def problems(draw, max_statements=8):
    """Differences, signs, bounds and prices of a small problem."""
    d = draw(st.integers(1, 3))
    m = draw(st.integers(1, max_statements))
    entry = st.floats(-3, 3).map(lambda v: round(v, 2))
    differences = draw(arrays(float, (m, d), elements=entry))
    differences[~differences.any(axis=1), 0] = 1.0
    sign = draw(arrays(float, m, elements=st.sampled_from([-1.0, 1.0])))
    gamma = draw(arrays(float, m, elements=st.sampled_from([0.05, 0.5, 1.0, 10.0])))
    near, far = draw(st.sampled_from([(0.1, 4.0), (1.0, 2.0), (0.5, 0.6)]))
    return differences, sign, np.where(sign > 0, near, far), gamma


# --- equations


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.3, 1.0), (2.0, 0.7)])
def test_the_divergence_of_bounds_is_twice_a_relative_entropy(a, b):
    # Check against the integral of p ln(p/q) for Gaussians of inverse covariance b and a.
    p, q = norm(scale=b**-0.5), norm(scale=a**-0.5)
    entropy = quad(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), -30, 30)[0]
    assert bound_divergence(a, b) == pytest.approx(2 * entropy)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 7.0])
@pytest.mark.parametrize(("sign", "length", "bound"), [(1, 2.0, 0.5), (-1, 0.3, 5.0)])
def test_one_statement_by_hand(gamma, sign, length, bound):
    # 1 − 1/a + γ (v²/ξ₀ − 1/a) = 0, so a = (1 + γ) / (1 + γ v²/ξ₀), in one projection.
    one = [np.array(v, dtype=float) for v in ([[length]], [sign], [bound], [gamma])]
    found = learn_metric(*one, tol=1e-12)
    expected = (1 + gamma) / (1 + gamma * length**2 / bound)
    assert found.factor**2 == pytest.approx(expected)
    assert len(found.history) == 1
    assert found.converged


def test_two_statements_along_the_axes_by_hand():
    # Orthogonal statements do not meet: each axis is the problem above, the third stays as it is.
    differences = np.array([[2.0, 0, 0], [0, 0.5, 0]])
    found = learn_metric(differences, np.array([1.0, -1]), np.array([1.0, 9]), np.ones(2))
    expected = np.diag([2 / (1 + 4), 2 / (1 + 0.25 / 9), 1])
    np.testing.assert_allclose(found.factor.T @ found.factor, expected)


def test_statements_that_hold_change_nothing():
    differences = np.array([[0.1, 0], [0, 9.0]])
    found = learn_metric(differences, np.array([1.0, -1]), np.array([1.0, 9]), np.ones(2))
    np.testing.assert_array_equal(found.factor, np.eye(2))
    assert found.history[-1].objective == 0


@pytest.mark.parametrize("gamma", [0.5, 1.0, 3.0])
def test_the_step_without_its_factor_is_right_for_gamma_one_only(gamma):
    # α = δ/2 (1/p − γ/ξ) against the condition that defines the step: p' = ξ'.
    p, xi = 4.0, 1.0
    alpha = (1 / p - gamma / xi) / 2
    after, bound = p / (1 - alpha * p), gamma * xi / (gamma + alpha * xi)
    assert (after == pytest.approx(bound)) == (gamma == 1)


# --- the algorithm against oracles


@pytest.mark.parametrize("project", [project_in_turn, project_in_turn.py_func])
@given(problem=problems(max_statements=5))
def test_positive_definite_at_every_step(project, problem):
    # Check H against A written out, eigenvalues and ln det, after each single projection.
    differences, sign, bound, gamma = problem
    d = differences.shape[1]
    factor, A = np.eye(d), np.eye(d)
    current, multiplier = bound.copy(), np.zeros(len(sign))
    log_det = 0.0
    for _ in range(3):
        for c in range(len(sign)):
            one = slice(c, c + 1)
            A, xi, lam = itml_step(A, differences[c], sign[c], current[c], gamma[c], multiplier[c])
            log_det += project(
                differences[one], sign[one], gamma[one], factor, current[one], multiplier[one],
                np.empty(d), np.empty(d),
            )  # fmt: skip
            metric = factor.T @ factor
            # The square roots of the eigenvalues of A: those of HᵀH itself would lose digits.
            singular = np.linalg.svd(factor, compute_uv=False)
            assert singular.min() > 0
            np.testing.assert_allclose(metric, A, rtol=1e-5, atol=1e-7 * metric.max())
            assert current[c] == pytest.approx(xi, rel=1e-5)
            assert multiplier[c] == pytest.approx(lam, rel=1e-5, abs=1e-7 * (1 + multiplier.max()))
            assert log_det == pytest.approx(2 * np.log(singular).sum(), abs=1e-5)
            assert (multiplier >= 0).all()


@given(problem=problems())
def test_it_minimises_the_objective_of_the_paper(problem):
    # Check stationarity, complementary slackness and the objective against a written-out one.
    differences, sign, _, _ = problem
    found = learn_metric(*problem, tol=1e-9, max_iter=20_000)
    A = found.factor.T @ found.factor
    last = found.history[-1]
    assert last.objective == pytest.approx(itml_objective(A, *problem), rel=1e-6, abs=1e-9)
    assert last.gap >= -1e-7 * max(1, last.objective)
    if found.converged:
        pull = np.einsum("c,ci,cj->ij", sign * found.multiplier, differences, differences)
        np.testing.assert_allclose(np.linalg.inv(A), np.eye(len(A)) + pull, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_same_optimum_as_a_general_solver(seed):
    rng = np.random.RandomState(seed)
    differences = rng.standard_normal((12, 3))
    sign = rng.choice([-1.0, 1], 12)
    problem = differences, sign, np.where(sign > 0, 0.5, 4.0), rng.uniform(0.2, 3, 12)
    found = learn_metric(*problem, tol=1e-10, max_iter=50_000)
    A, value = itml_by_descent(*problem)
    assert found.history[-1].objective == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(found.factor.T @ found.factor, A, rtol=0.02, atol=0.02)


def test_the_gap_bounds_the_distance_to_the_optimum():
    rng = np.random.RandomState(3)
    differences, sign = rng.standard_normal((40, 4)), rng.choice([-1.0, 1], 40)
    problem = differences, sign, np.where(sign > 0, 0.5, 8.0), np.ones(40)
    best = learn_metric(*problem, tol=1e-10, max_iter=50_000).history[-1].objective
    for sweep in learn_metric(*problem, tol=1e-10, max_iter=50).history:
        assert -1e-9 <= sweep.objective - best <= sweep.gap + 1e-9


# --- the estimator


def test_weights_are_prices():
    # A statement of weight 2 is the statement said twice: the two give way equally.
    rows = np.array([[0.0, 0], [3, 0], [0, 1], [3, 1.5]])
    twice = Constraints([(0, 1)], [(0, 2)], must_link_weight=[2.0])
    heavy = ITML(bounds=(1, 3), tol=1e-10).fit(rows, constraints=twice)
    problem = np.array([[3.0, 0], [3, 0], [0, 1]]), np.array([1.0, 1, -1])
    said = learn_metric(*problem, np.array([1.0, 1, 9]), np.ones(3), tol=1e-10)
    np.testing.assert_allclose(
        heavy.mahalanobis_matrix_, said.factor.T @ said.factor, rtol=1e-4, atol=1e-6
    )


def test_units_do_not_matter():
    known = sample_constraints(y, 80, random_state=0)
    metric = ITML().fit(X, constraints=known).mahalanobis_matrix_
    for scale, shift in ((1e-6, 0), (1e6, 0), (1, 100)):
        moved = ITML().fit(X * scale + shift, constraints=known).mahalanobis_matrix_
        np.testing.assert_allclose(moved, metric, rtol=1e-4, atol=1e-5)


def test_covariance_prior_does_not_see_linear_maps():
    # Check that distances are the same whatever basis the features are in.
    known = sample_constraints(y, 80, random_state=0)
    T = np.random.RandomState(0).standard_normal((4, 4))
    here, there = (
        ITML(prior="covariance").fit(rows, constraints=known).pairwise(rows[:9])
        for rows in (X, X @ T)
    )
    np.testing.assert_allclose(here, there, rtol=1e-3)
    plain = ITML(prior="covariance").fit(X)
    np.testing.assert_allclose(
        plain.mahalanobis_matrix_, np.linalg.inv(np.cov(X.T, bias=True)), rtol=1e-5
    )
    constant = np.column_stack([X, np.ones(len(X))])
    assert np.isfinite(ITML(prior="covariance").fit(constant, constraints=known).components_).all()
    np.testing.assert_array_equal(
        ITML(prior="covariance").fit(np.ones((5, 2))).components_, np.eye(2)
    )


def test_prior_matrix():
    prior = np.diag([1.0, 2, 3, 4])
    known = sample_constraints(y, 40, random_state=0)
    np.testing.assert_allclose(ITML(prior=prior).fit(X).mahalanobis_matrix_, prior)
    here = ITML(prior=prior).fit(X, constraints=known)
    there = ITML().fit(X * np.sqrt([1, 2, 3, 4]), constraints=known)
    np.testing.assert_allclose(here.pairwise(X[:5]), there.pairwise(X[:5] * np.sqrt([1, 2, 3, 4])))


def test_percentiles_of_all_pairs_and_of_many():
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)[np.triu_indices(len(X), k=1)]
    rng = np.random.RandomState(0)
    np.testing.assert_allclose(
        squared_distance_percentiles(X, (5, 95), rng), np.percentile(squared, (5, 95))
    )
    many = np.tile(X, (20, 1))
    sampled = squared_distance_percentiles(many, (5, 95), rng)
    exact = np.percentile(np.append(np.repeat(squared, 2), np.zeros(len(X))), (5, 95))
    np.testing.assert_allclose(sampled, exact, rtol=0.1)
    np.testing.assert_allclose(
        squared_distance_percentiles(sp.csr_array(X), (5, 95), rng), np.percentile(squared, (5, 95))
    )


def test_it_helps_k_means_on_iris():
    scores = []
    for seed in range(5):
        rows = ITML().fit(X, constraints=sample_constraints(y, 100, random_state=seed)).transform(X)
        scores.append(adjusted_rand_score(y, KMeans(3, n_init=5, random_state=0).fit_predict(rows)))
    assert np.mean(scores) > 0.85  # 0.73 without statements


def test_equal_rows_and_groups_apart():
    rows = np.array([[0.0, 0], [0, 0], [1, 0], [0, 1], [5, 5]])
    known = Constraints([(2, 3)], [(0, 1)]) + Constraints.from_groups(apart=[-1, -1, 0, 0, 0])
    model = ITML().fit(rows, constraints=known)
    assert model.multipliers_.shape == (3,)
    assert model.multipliers_[1] == 0
    all_equal = ITML().fit(np.ones((4, 2)), constraints=Constraints([(0, 1)], [(2, 3)]))
    np.testing.assert_array_equal(all_equal.components_, np.eye(2))


def test_feature_names_and_progress(capsys):
    model = ITML(verbose=1).fit(X, constraints=sample_constraints(y, 20, random_state=0))
    assert model.get_feature_names_out().tolist() == ["itml0", "itml1", "itml2", "itml3"]
    assert "objective" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bounds": (2, 1)}, "0 < near < far"),
        ({"bounds": (1,)}, "must be two numbers"),
        ({"percentiles": (95, 5)}, "0 <= low < high"),
        ({"percentiles": ("a", "b")}, "must be two numbers"),
        ({"prior": np.eye(3)}, "X has 4 features"),
        ({"prior": np.diag([1.0, 1, 1, -1])}, "not positive definite"),
        ({"prior": np.triu(np.ones((4, 4)))}, "not symmetric"),
        ({"gamma": 0}, "'gamma' parameter"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ITML(**parameters).fit(X, constraints=Constraints([(0, 1)]))


def test_too_few_rounds_are_announced():
    known = sample_constraints(y, 200, random_state=0)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter or tol"):
        model = ITML(max_iter=2).fit(X, constraints=known)
    assert not model.converged_
    assert model.n_iter_ == 2
