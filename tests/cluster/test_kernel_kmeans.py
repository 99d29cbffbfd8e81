import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from conclust import Constraints, SemiSupervisedKernelKMeans, sample_constraints
from conclust._kernels.kernel_moves import move_single_rows
from conclust.cluster._kernel_kmeans import (
    _least_of_dense,
    _objective,
    draw_start,
    kernel_kmeans,
    least_eigenvalue,
    link_matrix,
    sums_after,
    sums_of,
)
from conclust.testing import any_constraints
from tests.oracles import kernel_kmeans as oracle

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 100, random_state=0)


def kernel_objective(K, labels, k):
    return _objective(np.diag(K), sums_of(K, labels, k))


def kernel(seed, n=10, definite=True):
    rows = np.random.RandomState(seed).randn(n, 3)
    K = rows @ rows.T
    return K if definite else K - 2.0 * np.random.RandomState(seed).rand() * np.eye(n) - K.mean()


@given(any_constraints(), st.integers(0, 999), st.integers(1, 4))
def test_the_objective_is_distances_less_rewards_plus_penalties(constraints, seed, k):
    K, pairs = kernel(seed), constraints.pairs()
    labels = np.random.RandomState(seed).randint(k, size=10)
    W = link_matrix(pairs.pairs, pairs.sign, pairs.weight, 10)
    prices = [(i, j, s * w) for (i, j), s, w in zip(*pairs[:3], strict=True)]
    found = kernel_objective(K + W.toarray(), labels, k)
    assert found == pytest.approx(oracle.objective(K, labels, prices), abs=1e-8)


@given(any_constraints(), st.integers(0, 999), st.integers(1, 4), st.booleans(), st.booleans())
def test_the_objective_never_rises(constraints, seed, k, moves, definite):
    pairs, rng = constraints.pairs(), np.random.RandomState(seed)
    links = link_matrix(pairs.pairs, pairs.sign, 3 * pairs.weight, 10)
    K = kernel(seed) + links.toarray()
    shift = max(-least_eigenvalue(links), 0) if definite else 0.0
    start = draw_start(K, k, shift, rng)
    run = kernel_kmeans(K, start, k, shift=shift, moves=moves)
    values = [record.objective for record in run.history]
    if len(np.unique(start)) == k:
        values.insert(0, kernel_objective(K, start, k))
    assert (np.diff(values) <= 1e-9 * (1 + np.abs(K).sum())).all()
    assert run.objective == pytest.approx(kernel_objective(K, run.labels, k))
    assert len(np.unique(run.labels)) == k
    assert run.converged


@given(st.integers(0, 999), st.integers(1, 4), st.booleans())
def test_no_single_move_helps_at_the_end(seed, k, definite):
    # Moves need no definite kernel: none is given here half of the time.
    K = kernel(seed, definite=definite)
    run = kernel_kmeans(K, draw_start(K, k, 0.0, np.random.RandomState(seed)), k)
    value = oracle.objective(K, run.labels)
    assert oracle.best_single_move(K, run.labels, k) == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("function", [move_single_rows, move_single_rows.py_func])
def test_moves_keep_their_sums(function):
    K = kernel(0, 30)
    labels = np.arange(30) % 3
    towards, within, sizes = sums_of(K, labels, 3)
    before = kernel_objective(K, labels, 3)
    assert function(K, labels, towards, within, sizes, 0.0) > 0
    for found, expected in zip((towards, within, sizes), sums_of(K, labels, 3), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)
    assert kernel_objective(K, labels, 3) < before


@pytest.mark.parametrize("n_changed", [0, 1, 7, 30])
def test_sums_follow_the_labels(n_changed):
    K = kernel(1, 30)
    labels = np.arange(30) % 3
    new = labels.copy()
    new[:n_changed] = (new[:n_changed] + 1) % 3
    found = sums_after(K, sums_of(K, labels, 3), labels, new)
    for part, expected in zip(found, sums_of(K, new, 3), strict=True):
        np.testing.assert_allclose(part, expected, atol=1e-9)


@pytest.mark.parametrize("limit", [1000, 0])
def test_least_eigenvalues_are_bounds(monkeypatch, limit):
    monkeypatch.setattr("conclust.cluster._kernel_kmeans.SMALL_N", limit)
    A = np.random.RandomState(0).randn(60, 60)
    A = A + A.T
    exact = np.linalg.eigvalsh(A)[0]
    for found in (least_eigenvalue(sp.csr_array(A)), _least_of_dense(A)):
        assert exact * 1.05 <= found <= exact + 1e-9
    assert least_eigenvalue(sp.csr_array((5, 5))) == 0


def test_shift_makes_the_kernel_definite():
    model = SemiSupervisedKernelKMeans(3, penalty=5.0, random_state=0).fit(X, constraints=KNOWN)
    assert model.shift_ > 0
    pairs = KNOWN.pairs()
    gamma = 1 / (4 * X.var())
    K = rbf_kernel(X, gamma=gamma) + link_matrix(pairs.pairs, pairs.sign, 5.0, 150).toarray()
    assert np.linalg.eigvalsh(K + model.shift_ * np.eye(150))[0] > -1e-9
    assert model.objective_ == pytest.approx(kernel_objective(K, model.labels_, 3))


def test_linear_kernel_without_constraints_is_kmeans():
    model = SemiSupervisedKernelKMeans(3, kernel="linear", random_state=0).fit(X)
    plain = KMeans(3, n_init=10, random_state=0).fit(X)
    assert model.objective_ <= plain.inertia_ * (1 + 1e-6)
    assert adjusted_rand_score(model.labels_, plain.labels_) > 0.95


def test_circles_need_the_kernel():
    rows, truth = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    known = sample_constraints(truth, 100, random_state=0)
    scores = [
        adjusted_rand_score(
            truth,
            SemiSupervisedKernelKMeans(2, kernel=kernel, gamma=gamma, random_state=0).fit_predict(
                rows, constraints=known
            ),
        )
        for kernel, gamma in (("rbf", 5.0), ("linear", None))
    ]
    assert scores[0] > 0.95 > 0.5 > scores[1]


@pytest.mark.parametrize("kind", ["rbf", "linear", "poly", "sigmoid", "laplacian", "cosine"])
def test_kernels_by_name(kind):
    model = SemiSupervisedKernelKMeans(3, kernel=kind, n_init=2, random_state=0)
    assert len(np.unique(model.fit_predict(X, constraints=KNOWN))) == 3


def test_kernels_precomputed_callable_and_sparse_agree():
    def parts(**parameters):
        return SemiSupervisedKernelKMeans(3, n_init=3, random_state=0, **parameters)

    K = polynomial_kernel(X, gamma=0.1, degree=2, coef0=1)
    named = parts(kernel="poly", gamma=0.1, degree=2).fit(X, constraints=KNOWN)
    given_k = parts(kernel="precomputed").fit(K, constraints=KNOWN)
    called = parts(
        kernel=lambda a, b, power: (0.1 * a @ b + 1) ** power, kernel_params={"power": 2}
    ).fit(X, constraints=KNOWN)
    sparse = parts(kernel="poly", gamma=0.1, degree=2).fit(sp.csr_array(X), constraints=KNOWN)
    for other in (given_k, called, sparse):
        assert adjusted_rand_score(named.labels_, other.labels_) == 1
    np.testing.assert_allclose(K, polynomial_kernel(X, gamma=0.1, degree=2, coef0=1))


def test_a_price_keeps_statements():
    shares = [
        SemiSupervisedKernelKMeans(3, penalty=price, random_state=0)
        .fit(X, constraints=KNOWN)
        .report_.share
        for price in (0.0, 100.0)
    ]
    assert shares[0] + 0.05 < shares[1]


def test_fewer_distinct_rows_than_clusters():
    same = np.ones((6, 2))
    labels = SemiSupervisedKernelKMeans(3, random_state=0).fit_predict(
        same, constraints=Constraints([(0, 1)])
    )
    assert np.isin(labels, range(3)).all()


def test_too_many_rows():
    with pytest.raises(ValueError, match="150 rows, more than max_samples=100.*GB.*PCKMeans"):
        SemiSupervisedKernelKMeans(3, max_samples=100).fit(X)


def test_bad_kernels():
    with pytest.raises(ValueError, match="needs the square matrix"):
        SemiSupervisedKernelKMeans(3, kernel="precomputed").fit(X)
    with pytest.raises(ValueError, match="not symmetric"):
        SemiSupervisedKernelKMeans(3, kernel="precomputed").fit(np.arange(16.0).reshape(4, 4))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("kernel", "nonsense"), ("penalty", -1), ("shift", "some"), ("gamma", 0)],
)
def test_bad_parameters(parameter, value):
    with pytest.raises(ValueError, match=parameter):
        SemiSupervisedKernelKMeans(**{parameter: value}).fit(X)
