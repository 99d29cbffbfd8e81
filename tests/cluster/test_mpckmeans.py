"""MPCKMeans against its objective written out, a numerical optimum, and cases one can read."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from conclust import Constraints, sample_constraints
from conclust._placement.links import link_rows
from conclust.cluster._mpckmeans import MPCKMeans
from conclust.cluster._mpckmeans._mpckmeans import mpckmeans
from conclust.cluster._mpckmeans.metrics import Diagonal, Full
from conclust.cluster._mpckmeans.problem import differences_of_far_rows, pose, standardized
from conclust.cluster._mpckmeans.step import (
    Terms,
    first_matrices,
    step,
    terms_of,
    total_value,
    value,
)
from conclust.testing import any_constraints, contradictory_constraints
from tests.oracles.pckmeans import mpckmeans_objective

KINDS = pytest.mark.parametrize(
    ("metric", "shared"),
    [("diagonal", True), ("diagonal", False), ("full", True), ("full", False)],
)


def blobs(n_samples=40, seed=0):
    X, y = make_blobs(n_samples, centers=3, n_features=2, cluster_std=3.0, random_state=seed)
    return X, y, sample_constraints(y, 30, noise=0.2, random_state=seed)


def as_matrices(metrics):
    return np.array([np.diag(m) if m.ndim == 1 else m for m in metrics])


def written_out(X, model, known, sample_weight=None):
    """The objective of a fitted model, by the oracle, in standardised features."""
    weight = np.ones(len(X)) if sample_weight is None else sample_weight
    unit = weight.sum() / np.count_nonzero(weight)
    mean = np.average(X, axis=0, weights=weight)
    variance = np.average((X - mean) ** 2, axis=0, weights=weight)
    scale = np.sqrt(np.where(variance > 0, variance, 1.0))
    return mpckmeans_objective(
        (X - mean) / scale,
        model.labels_,
        (model.cluster_centers_ - mean) / scale,
        as_matrices(model.metrics_) * np.outer(scale, scale),
        known,
        model.penalty * unit,
        differences_of_far_rows((X - mean) / scale, weight),
        model.regularization * unit,
        weight,
        model.shared,
    )


# --- against slow routes -----------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("weighted", [False, True])
def test_objective_is_what_it_says(metric, shared, weighted):
    X, _, known = blobs()
    weight = np.random.RandomState(1).uniform(0.1, 3, size=len(X)) if weighted else None
    model = MPCKMeans(3, metric=metric, shared=shared, penalty=0.3, n_init=2, random_state=0)
    model.fit(X, constraints=known, sample_weight=weight)
    assert model.report_.n_violated > 0  # else the prices are not tested
    assert model.objective_ == pytest.approx(written_out(X, model, known, weight))
    own = as_matrices(model.metrics_)[model.labels_]
    away = X - model.cluster_centers_[model.labels_]
    squared = np.einsum("ni,nij,nj->n", away, own, away)
    assert model.inertia_ == pytest.approx(squared.sum() if weight is None else weight @ squared)


@KINDS
def test_new_rows_go_where_distance_minus_log_determinant_is_least(metric, shared):
    X, _, known = blobs()
    model = MPCKMeans(3, metric=metric, shared=shared, n_init=2, random_state=0)
    model.fit(X, constraints=known)
    matrices = as_matrices(model.metrics_)
    rows = np.random.RandomState(0).normal(scale=5, size=(20, 2))
    away = rows[:, np.newaxis] - model.cluster_centers_
    squared = np.einsum("nhi,hij,nhj->nh", away, matrices, away)
    cost = squared - np.log(np.linalg.det(matrices))
    np.testing.assert_allclose(model.transform(rows), np.sqrt(squared))
    np.testing.assert_array_equal(model.predict(rows), cost.argmin(axis=1))
    weight = np.arange(20.0)
    assert model.score(rows, sample_weight=weight) == pytest.approx(-weight @ cost.min(axis=1))


@pytest.mark.parametrize("kind", [Diagonal, Full])
def test_squared_distances_of_each_kind(kind):
    # One metric for all centres or one for each: the same numbers where they are equal.
    random = np.random.RandomState(0)
    X, centers = random.normal(size=(7, 3)), random.normal(size=(2, 3))
    spread = random.uniform(1, 2, size=3)
    matrix = spread if kind is Diagonal else np.diag(spread) + 0.5
    full = np.diag(spread) if kind is Diagonal else matrix
    away = X[:, np.newaxis] - centers
    expected = np.einsum("nhi,ij,nhj->nh", away, full, away)
    for n_metrics in (1, 2):
        metrics = kind(np.array([matrix] * n_metrics))
        np.testing.assert_allclose(metrics.squared(X, centers), expected)
        np.testing.assert_allclose(metrics.log_det, np.log(np.linalg.det(full)))
        lengths = np.einsum("ni,ij,nj->n", X, full, X)
        np.testing.assert_allclose(metrics.lengths(X), np.tile(lengths, (n_metrics, 1)).T)
    weight = random.uniform(size=7)
    scatter = np.einsum("n,ni,nj->ij", weight, X, X)
    expected_scatter = np.diag(scatter) if kind is Diagonal else scatter
    np.testing.assert_allclose(kind.scatter(X, weight), expected_scatter)


def posed(X, known, metric="diagonal", shared=True, penalty=1.0, n_clusters=2):
    return pose(
        X,
        link_rows(known),
        np.ones(X.shape[0]),
        n_clusters=n_clusters,
        metric=metric,
        shared=shared,
        penalty=penalty,
        regularization=1.0,
    )


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_the_metric_is_the_optimum_while_no_cannot_link_is_broken(metric):
    # Compare with a numerical minimum of the same function.
    X, _, _ = blobs(20)
    known = Constraints(must_link=[(0, 1), (2, 3), (4, 5)])
    problem = posed(X, known, metric)
    labels = (np.arange(20) % 2).astype(np.int32)
    centers = np.array([X[labels == h].mean(axis=0) for h in (0, 1)])
    (terms,) = terms_of(problem, labels, centers)
    found = step(problem, terms, problem.kind.plain(1, 2)[0])

    def objective(entries):
        factor = np.zeros((2, 2))
        factor[np.tril_indices(2)] = entries
        full = factor @ factor.T
        return value(problem, terms, full if metric == "full" else np.exp(entries[:2]))

    best = minimize(objective, [1.0, 0.1, 1.0], tol=1e-12)
    assert value(problem, terms, found) == pytest.approx(best.fun)


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_broken_cannot_links_that_would_turn_the_metric_inside_out(metric):
    # The pair is as far apart along feature 0 as rows get, so its scatter exceeds what is there:
    # the metric stays positive definite, and the objective falls all the same.
    X = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 6.0], [5.0, -6.0], [5.0, 0.0]])
    known = Constraints(cannot_link=[(0, 1)])
    problem = posed(X, known, metric, penalty=1e3, n_clusters=1)
    labels = np.zeros(5, dtype=np.int32)
    (terms,) = terms_of(problem, labels, X.mean(axis=0, keepdims=True))
    matrix = problem.kind.plain(1, 2)[0]
    found = step(problem, terms, matrix)
    assert value(problem, terms, found) < value(problem, terms, matrix)
    full = np.diag(found) if metric == "diagonal" else found
    assert np.linalg.eigvalsh(full).min() > 0


def test_a_step_that_would_raise_the_objective_is_given_up():
    # With the metric at its optimum every other one is worse.
    X, _, _ = blobs(20)
    problem = posed(X, Constraints(must_link=[(0, 1)]))
    terms = Terms(np.array([2.0, 8.0]), 4.0, X[:0], np.empty(0))
    best = step(problem, terms, np.ones(2))
    np.testing.assert_allclose(best, [2.0, 0.5])
    np.testing.assert_allclose(step(problem, terms, best), best)


def test_far_rows_are_far():
    # The corners of a square around a crowd.
    crowd = np.random.RandomState(0).normal(size=(50, 2))
    corners = np.array([[-9.0, -9.0], [-9.0, 9.0], [9.0, -9.0], [9.0, 9.0]])
    X = np.concatenate([crowd, corners])
    weight = np.ones(54)
    for data in (X, sp.csr_array(X)):
        far = differences_of_far_rows(data, weight)
        far = far.toarray() if sp.issparse(far) else far
        assert far.shape == (120, 2)
        assert np.abs(far).max(axis=0).tolist() == [18.0, 18.0]
    weight[50:] = 0
    assert np.abs(differences_of_far_rows(X, weight)).max() < 9
    np.testing.assert_array_equal(differences_of_far_rows(X[:1], np.ones(1)), np.zeros((1, 2)))


def test_standardised():
    X = np.array([[1e6, 1.0, 7.0], [1e6 + 2, 1.0, 0.0], [1e6 + 4, 1.0, 0.0]])
    weight = np.array([1.0, 0.0, 1.0])
    data = standardized(X, weight)
    np.testing.assert_allclose(data.scale, [2.0, 1.0, 3.5])
    np.testing.assert_allclose(data.X[:, 0], [-1.0, 0.0, 1.0])
    np.testing.assert_allclose(data.X * data.scale + data.mean, X)
    sparse = standardized(sp.csr_array(X - [1e6, 0, 0]), weight)
    np.testing.assert_allclose(sparse.scale, data.scale)
    np.testing.assert_allclose(sparse.X.toarray()[:, 0], [0.0, 1.0, 2.0])


def test_every_other_start_begins_with_what_must_links_suggest():
    # Must-linked rows differ along feature 1 only, by 2: S = I + 2²/2 there, mass 2.
    X = np.array([[0.0, 0.0], [0.0, 2.0], [1.0, 0.0], [1.0, 1.0]])
    problem = posed(X, Constraints(must_link=[(0, 1)]), metric="full", shared=False)
    np.testing.assert_array_equal(first_matrices(problem, 0), [np.eye(2), np.eye(2)])
    expected = np.diag([2.0, 2 / 3])
    np.testing.assert_allclose(first_matrices(problem, 1), [expected, expected])
    problem = posed(X, Constraints(cannot_link=[(0, 1)]), metric="diagonal")
    np.testing.assert_array_equal(first_matrices(problem, 1), np.ones((1, 2)))


# --- properties --------------------------------------------------------------------------------


@KINDS
@pytest.mark.filterwarnings("ignore::conclust.exceptions.DegenerateClusteringWarning")
@given(
    known=st.one_of(any_constraints(), contradictory_constraints()),
    seed=st.integers(0, 1000),
    digits=st.sampled_from([0, 1, 8]),
    n_clusters=st.integers(1, 4),
    penalty=st.sampled_from([0.0, 0.05, 1.0, 30.0]),
)
def test_no_step_raises_the_objective(metric, shared, known, seed, digits, n_clusters, penalty):
    # Contradictory or not, with rows that lie on each other or not.
    X = np.round(np.random.RandomState(seed).normal(size=(10, 2)), digits)
    X[:, 1] *= 3
    model = MPCKMeans(
        n_clusters, metric=metric, shared=shared, penalty=penalty, n_init=1, tol=0, random_state=0
    ).fit(X, constraints=known)
    fell = [
        step
        for record in model.history_
        for step in (record.after_assignment, record.after_centers, record.objective)
    ]
    fell.append(model.objective_)
    scale = np.abs(fell).max() + X.size
    assert (np.diff(fell) <= 1e-9 * scale).all()
    assert model.objective_ == pytest.approx(written_out(X, model, known), abs=1e-7 * scale)


@KINDS
def test_units_do_not_matter(metric, shared):
    # Neither those of the rows' weights nor those of each feature.
    X, _, known = blobs()
    model = MPCKMeans(3, metric=metric, shared=shared, init=X[:3])
    plain = clone(model).fit(X, constraints=known)
    weighted = clone(model).fit(X, constraints=known, sample_weight=np.full(len(X), 4.0))
    np.testing.assert_array_equal(weighted.labels_, plain.labels_)
    np.testing.assert_allclose(weighted.metrics_, plain.metrics_)
    units = np.array([4.0, 0.125])
    scaled = clone(model).set_params(init=units * X[:3]).fit(units * X, constraints=known)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)
    assert scaled.objective_ == pytest.approx(plain.objective_)
    np.testing.assert_allclose(scaled.transform(units * X), plain.transform(X))


def test_a_row_without_weight_is_not_there():
    X, _, _ = blobs()
    known = Constraints([(0, 1), (2, 3)], [(4, 5), (0, 2)])
    weight = np.ones(len(X))
    weight[30:] = 0
    model = MPCKMeans(3, init=X[:3])
    all_rows = clone(model).fit(X, constraints=known, sample_weight=weight)
    fewer = clone(model).fit(X[:30], constraints=known)
    np.testing.assert_array_equal(all_rows.labels_[:30], fewer.labels_)
    np.testing.assert_allclose(all_rows.metrics_, fewer.metrics_)


def test_strong_regularization_means_plain_distances():
    X, _, known = blobs()
    model = MPCKMeans(3, regularization=1e9, shared=False, random_state=0)
    metrics = model.fit(X, constraints=known).metrics_
    np.testing.assert_allclose(metrics, np.tile(1 / X.var(axis=0), (3, 1)), rtol=1e-3)


# --- cases one can read ------------------------------------------------------------------------


def test_a_feature_that_is_noise_counts_little():
    # Feature 0 tells the clusters apart, feature 1 is ten times as wide and tells nothing.
    random = np.random.RandomState(0)
    y = np.repeat([0, 1], 30)
    X = np.column_stack([y + random.normal(scale=0.2, size=60), random.normal(scale=3, size=60)])
    known = sample_constraints(y, 30, random_state=0)
    for metric in ("diagonal", "full"):
        model = MPCKMeans(2, metric=metric, random_state=0).fit(X, constraints=known)
        matrix = as_matrices(model.metrics_)[0]
        assert adjusted_rand_score(y, model.labels_) > 0.9
        assert matrix[0, 0] > 20 * matrix[1, 1]


def test_only_full_metrics_see_features_that_hang_together():
    # Two thin clouds along the diagonal, side by side.
    random = np.random.RandomState(0)
    along, across = random.normal(scale=5, size=80), random.normal(scale=0.15, size=80)
    y = np.repeat([0, 1], 40)
    X = np.column_stack([along + across + y, along - across - y])
    known = sample_constraints(y, 40, random_state=0)
    found = {
        metric: MPCKMeans(2, metric=metric, random_state=0).fit(X, constraints=known)
        for metric in ("diagonal", "full")
    }
    scores = {m: adjusted_rand_score(y, model.labels_) for m, model in found.items()}
    assert scores["full"] > 0.9 > 0.7 > scores["diagonal"]


def test_clusters_may_differ_in_size():
    # A tight cloud inside a wide one: only metrics of their own and the determinant tell.
    random = np.random.RandomState(0)
    y = np.repeat([0, 1], 100)
    X = random.normal(size=(200, 2)) * np.where(y == 0, 0.1, 4.0)[:, np.newaxis]
    known = sample_constraints(y, 60, random_state=0)
    own = MPCKMeans(2, shared=False, random_state=0).fit(X, constraints=known)
    assert adjusted_rand_score(y, own.labels_) > 0.9
    assert adjusted_rand_score(y, own.predict(X)) > 0.9
    shared = MPCKMeans(2, random_state=0).fit(X, constraints=known)
    assert adjusted_rand_score(y, shared.labels_) < 0.8


def test_an_empty_cluster_is_filled():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [9.0, 9.0]])
    init = np.array([[0.0, 0.0], [1e3, 1e3]])
    for known in (None, Constraints(must_link=[(0, 1)])):
        model = MPCKMeans(2, init=init).fit(X, constraints=known)
        assert model.labels_.tolist() == [0, 0, 0, 1]


# --- the estimator -----------------------------------------------------------------------------


def test_wrong_statements_degrade_the_result():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for noise, target in ((0.0, 0.93), (0.05, 0.9), (0.1, 0.87), (0.2, 0.78)):
        found = [
            adjusted_rand_score(
                y, MPCKMeans(3, random_state=seed).fit_predict(X, constraints=known)
            )
            for seed in range(5)
            for known in [sample_constraints(y, 200, noise=noise, random_state=seed)]
        ]
        assert np.mean(found) > target


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_sparse_ends_where_dense_ends(container, shared):
    X, _, known = blobs(100)
    X = np.where(np.abs(X) < 2, 0.0, X)
    model = MPCKMeans(3, shared=shared, init=X[:3])
    dense = clone(model).fit(X, constraints=known)
    sparse = clone(model).fit(container(X), constraints=known)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    np.testing.assert_allclose(sparse.metrics_, dense.metrics_)
    assert sparse.objective_ == pytest.approx(dense.objective_)
    np.testing.assert_array_equal(sparse.predict(container(X)), dense.predict(X))
    np.testing.assert_allclose(sparse.transform(container(X)), dense.transform(X))


def test_sparse_data_are_not_written_out():
    # A million features: written out, 2000 rows would take 16 GB.
    random = np.random.RandomState(0)
    entries = (random.randint(2000, size=20_000), random.randint(1_000_000, size=20_000))
    X = sp.csr_matrix((random.uniform(size=20_000), entries), (2000, 1_000_000))
    known = Constraints([(0, 1), (2, 3)], [(0, 2), (4, 5)])
    model = MPCKMeans(2, n_init=1, max_iter=2, random_state=0).fit(X, constraints=known)
    assert model.metrics_.shape == (2, 1_000_000)


def test_float32_comes_back():
    X, _, known = blobs(100)
    model = MPCKMeans(3, init=X[:3])
    double = clone(model).fit(X, constraints=known)
    single = clone(model).fit(X.astype(np.float32), constraints=known)
    np.testing.assert_array_equal(single.labels_, double.labels_)
    assert single.cluster_centers_.dtype == single.metrics_.dtype == np.float32
    assert single.transform(X).dtype == np.float32


def test_blocks_change_nothing(monkeypatch):
    X, _, known = blobs()
    model = MPCKMeans(3, metric="full", shared=False, init=X[:3])
    whole = clone(model).fit(X, constraints=known)
    monkeypatch.setattr("conclust.cluster._mpckmeans.metrics.BLOCK", 20)
    parts = clone(model).fit(X, constraints=known)
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    assert parts.objective_ == pytest.approx(whole.objective_)


def test_max_iter_stops():
    X, _, known = blobs(100)
    model = MPCKMeans(4, max_iter=1, n_init=1, random_state=0).fit(X, constraints=known)
    assert model.n_iter_ == len(model.history_) == 1
    assert not model.converged_
    assert model.objective_ == pytest.approx(written_out(X, model, known))


def test_the_function_alone_calls_back():
    X, _, known = blobs()
    problem = posed(X, known, n_clusters=3)
    seen = []
    run = mpckmeans(problem, X[:3], problem.kind.plain(1, 2), on_round=seen.append)
    assert seen == run.history
    terms = terms_of(problem, run.labels, run.centers)
    metrics = problem.kind(run.metrics)
    assert total_value(problem, terms, metrics) == pytest.approx(run.objective)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"metric": "cosine"}, "'metric' parameter"),
        ({"penalty": -1.0}, "'penalty' parameter"),
        ({"regularization": 0.0}, "'regularization' parameter"),
        ({"n_clusters": 41}, "n_samples=40 should be >= n_clusters=41"),
    ],
)
def test_wrong_parameters(parameters, message):
    X, _, _ = blobs()
    with pytest.raises(ValueError, match=message):
        MPCKMeans(2).set_params(**parameters).fit(X)


def test_full_metrics_of_sparse_data_are_refused():
    X, _, _ = blobs()
    with pytest.raises(TypeError, match='For sparse X use metric="diagonal"'):
        MPCKMeans(2, metric="full").fit(sp.csr_array(X))
