import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score, rand_score

from conclust import Constraints, COPKMeans, GeneralizedKMeans, sample_constraints
from conclust._placement.units import units_of
from conclust.cluster._generalized_kmeans import (
    BatchPass,
    OnlinePass,
    clusters_of,
    costs,
    generalized_kmeans,
    objective,
    shape_of,
)
from conclust.datasets import make_wedges
from conclust.exceptions import (
    DegenerateClusteringWarning,
    InconsistentConstraintsError,
    InfeasibleConstraintsError,
)
from conclust.testing import consistent_constraints
from tests.oracles import generalized as oracle

X, y = load_iris(return_X_y=True)
COVARIANCES = ("full", "diag", "identity")
UPDATES = ("batch", "online")


def rows_and_weights(seed, n=20, p=2):
    random = np.random.RandomState(seed)
    rows = random.normal(size=(n, p)) + 3 * random.randint(3, size=(n, 1))
    return rows, random.uniform(0.5, 2, n), np.arange(n) % 3


def as_oracle(shape, covariance):
    return covariance, shape.prior, shape.variance, shape.size_weight, shape.log_det


@given(st.integers(0, 99), st.sampled_from(COVARIANCES), st.booleans())
def test_costs_and_objective_equal_the_formula(seed, covariance, log_det):
    rows, weight, labels = rows_and_weights(seed)
    shape = shape_of(rows, weight, covariance, 2.0, log_det)
    clusters = clusters_of(rows, weight, labels, np.zeros((3, 2)), shape)
    expected = oracle.costs(rows, weight, labels, 3, *as_oracle(shape, covariance))
    np.testing.assert_allclose(costs(rows, clusters, shape), expected, atol=1e-9)
    own = weight @ expected[np.arange(len(rows)), labels]
    assert objective(clusters, shape) == pytest.approx(own)


def test_the_prior_is_three_rows_per_feature_of_the_overall_variance():
    rows, weight, _ = rows_and_weights(0, p=4)
    shape = shape_of(rows, weight, "full", 1.0, False)
    total = np.cov(rows.T, aweights=weight, bias=True)
    assert shape.prior == 12
    assert shape.variance == pytest.approx(np.trace(total) / 4)


@settings(max_examples=25)
@given(st.integers(0, 99), st.sampled_from(COVARIANCES), st.booleans())
def test_one_online_pass_equals_recomputing_after_every_move(seed, covariance, log_det):
    # Check must-linked units and free rows, visited in the same order.
    rows, weight, labels = rows_and_weights(seed)
    labels[[1, 5, 9]] = labels[0]
    units = units_of(Constraints([(0, 1), (1, 5), (0, 9)], n_samples=20).closure())
    shape = shape_of(rows, weight, covariance, 2.0, log_det)
    clusters = clusters_of(rows, weight, labels, np.zeros((3, 2)), shape)
    step = OnlinePass(rows, units, weight, shape, np.random.RandomState(seed))
    members = [step.rows[a:b] for a, b in zip(step.first, step.last, strict=True)]
    assert sorted(map(len, members)) == [1] * 16 + [4]
    expected = oracle.online_pass(
        rows, weight, members, step.order, labels, 3, *as_oracle(shape, covariance)
    )
    found, after = step(labels, clusters)
    np.testing.assert_array_equal(found, expected)
    fresh = clusters_of(rows, weight, found, np.zeros((3, 2)), shape)
    for a, b in zip(after, fresh, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


@given(st.integers(0, 99), st.sampled_from(COVARIANCES))
def test_one_batch_pass_takes_the_cheapest_cluster(seed, covariance):
    rows, weight, labels = rows_and_weights(seed)
    units = units_of(Constraints(n_samples=20).closure())
    shape = shape_of(rows, weight, covariance, 2.0, False)
    clusters = clusters_of(rows, weight, labels, np.zeros((3, 2)), shape)
    expected = oracle.costs(rows, weight, labels, 3, *as_oracle(shape, covariance)).argmin(axis=1)
    found, _ = BatchPass(rows, units, weight, shape, 1.0)(labels, clusters)
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=60)
@given(
    consistent_constraints(n_samples=16, n_classes=3, max_pairs=50),
    st.sampled_from(UPDATES),
    st.sampled_from(COVARIANCES),
    st.sampled_from([0.0, 1.0, 10.0]),
)
@pytest.mark.filterwarnings("ignore::conclust.exceptions.DegenerateClusteringWarning")
def test_statements_always_hold(case, update, covariance, size_weight):
    known, _ = case
    rows = np.random.RandomState(0).normal(size=(16, 2))
    model = GeneralizedKMeans(
        3, update=update, covariance=covariance, size_weight=size_weight, n_init=2, random_state=0
    ).fit(rows, constraints=known)
    assert known.satisfied(model.labels_).all()
    assert model.report_.n_violated == 0
    assert model.collapsed_ or len(np.unique(model.labels_)) == 3
    np.testing.assert_allclose(
        model.cluster_sizes_, np.bincount(model.labels_, minlength=3) / 16, atol=1e-12
    )


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("n_constraints", [0, 30, 150])
def test_without_sizes_and_shapes_it_is_cop_kmeans(update, n_constraints):
    known = sample_constraints(y, n_constraints, random_state=0)
    settings = {"n_clusters": 3, "n_init": 3, "random_state": 0}
    plain = COPKMeans(**settings, tol=0).fit(X, constraints=known)
    init = plain.cluster_centers_
    ours = GeneralizedKMeans(
        3, update=update, size_weight=0, covariance="identity", init=init, random_state=0
    ).fit(X, constraints=known)
    np.testing.assert_array_equal(ours.labels_, plain.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, plain.cluster_centers_)
    assert ours.objective_ == pytest.approx(plain.inertia_)
    drawn = GeneralizedKMeans(**settings, size_weight=0, covariance="identity")
    if update == "batch":
        # Its starts are those of COPKMeans, which goes on from them by single moves.
        reached = drawn.fit(X, constraints=known).objective_
        assert plain.inertia_ * (1 - 1e-9) <= reached <= plain.inertia_ * 1.01
    np.testing.assert_array_equal(ours.predict(X), plain.predict(X))


def test_linked_rows_change_sides_together():
    # Check a chain that no single move can turn: 0-1-2-3 alternate on the wrong sides.
    rows = np.append([0.0, 10, 0, 10], np.repeat([0.5, 9.5], 10))[:, None]
    labels = np.append([1, 0, 1, 0], np.repeat([0, 1], 10))
    known = Constraints(cannot_link=[(0, 1), (1, 2), (2, 3)], n_samples=24)
    shape = shape_of(rows, np.ones(24), "identity", 0.0, False)
    run = generalized_kmeans(
        rows, units_of(known.closure()), labels, np.zeros((2, 1)), shape, update="online"
    )
    np.testing.assert_array_equal(run.labels, np.append([0, 1, 0, 1], np.repeat([0, 1], 10)))
    assert run.converged


@pytest.mark.parametrize("update", UPDATES)
def test_collapse_is_told(update):
    # Check the paper's λ without a cannot-link: only one big cluster is left to gain by.
    rows, _ = make_wedges(random_state=0)
    model = GeneralizedKMeans(2, update=update, size_weight=10, n_init=2, random_state=0)
    with pytest.warns(DegenerateClusteringWarning, match=r"size_weight=10 emptied.*1 or less"):
        model.fit(rows)
    assert model.collapsed_
    assert model.cluster_sizes_.max() > 0.99
    assert set(model.predict(rows)) == {model.cluster_sizes_.argmax()}
    model.set_params(size_weight=1).fit(rows)
    assert not model.collapsed_


@pytest.mark.parametrize("update", UPDATES)
def test_log_det_helps_elongated_clusters(update):
    rows, truth = make_wedges(random_state=0)
    known = sample_constraints(truth, n_must_link=60, random_state=0)
    scores = [
        rand_score(
            truth,
            GeneralizedKMeans(2, update=update, log_det=log_det, random_state=0)
            .fit(rows, constraints=known)
            .labels_,
        )
        for log_det in (False, True)
    ]
    assert scores[1] > 0.95
    assert scores[1] >= scores[0]


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.filterwarnings("ignore::conclust.exceptions.DegenerateClusteringWarning")
def test_singular_and_tiny_clusters_do_not_crash(update, covariance):
    random = np.random.RandomState(0)
    for rows, k in (
        (np.zeros((6, 2)), 3),  # all rows alike
        (np.repeat(random.normal(size=(2, 3)), 5, axis=0), 4),  # fewer distinct rows than clusters
        (random.normal(size=(5, 20)), 5),  # more features than rows, one row per cluster
        (np.column_stack([random.normal(size=12), np.ones(12)]), 3),  # a constant feature
        (random.normal(size=(30, 2)) * [1e-8, 1e8], 3),
        (random.normal(size=(30, 2)) + 1e7, 3),
    ):
        model = GeneralizedKMeans(k, update=update, covariance=covariance, n_init=2, random_state=0)
        model.fit(rows)
        assert np.isfinite(model.precisions_).all()
        assert np.isfinite(model.objective_)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_weights_are_repetitions(covariance):
    weight = np.random.RandomState(0).randint(1, 4, len(X))
    again = np.repeat(np.arange(len(X)), weight)
    init = np.array([X[y == c].mean(axis=0) for c in range(3)])
    model = GeneralizedKMeans(3, covariance=covariance, init=init)
    one = model.fit(X, sample_weight=weight).cluster_centers_
    np.testing.assert_allclose(one, model.fit(X[again]).cluster_centers_)


@pytest.mark.parametrize("update", UPDATES)
def test_attributes_fit_together(update):
    model = GeneralizedKMeans(3, update=update, random_state=0).fit(X)
    assert model.converged_
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(
        model.covariances_ @ model.precisions_, np.tile(np.eye(4), (3, 1, 1)), atol=1e-8
    )
    assert model.cluster_sizes_.sum() == pytest.approx(1)
    assert model.history_[-1].objective == pytest.approx(model.objective_)
    assert adjusted_rand_score(y, model.labels_) > 0.7


def test_updates_agree_far_from_the_origin():
    # Check what second moments about the origin would lose.
    near = GeneralizedKMeans(3, update="online", random_state=0).fit(X)
    far = GeneralizedKMeans(3, update="online", random_state=0).fit(X + 1e6)
    assert adjusted_rand_score(near.labels_, far.labels_) == 1.0
    np.testing.assert_allclose(near.covariances_, far.covariances_, atol=1e-6)


def test_a_labelling_that_comes_back_ends_the_run():
    # Check seven rows that go to and fro for ever: the better of the two labellings is returned.
    rows = np.array([0.0, 0, 0, 3, 1, 1, 2])[:, None] - 1
    units = units_of(Constraints(cannot_link=[(5, 6)], n_samples=7).closure())
    shape = shape_of(rows, np.ones(7), "full", 0.0, False)
    centers = np.zeros((3, 1))
    runs = [
        generalized_kmeans(rows, units, np.arange(7) % 3, centers, shape, max_iter=max_iter)
        for max_iter in (1, 2, 3, 300)
    ]
    assert not runs[-1].converged
    assert len(runs[-1].history) == 3
    assert runs[-1].criterion == min(run.criterion for run in runs[1:])


def test_bad_input_is_named():
    with pytest.raises(
        InfeasibleConstraintsError, match=r"n_clusters=2 cannot keep all 3.*PCKMeans"
    ):
        GeneralizedKMeans(2).fit(X, constraints=Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)]))
    with pytest.raises(InconsistentConstraintsError, match="contradict"):
        GeneralizedKMeans(2).fit(X, constraints=Constraints([(0, 1)], [(0, 1)]))
    with pytest.raises(ValueError, match="size_weight"):
        GeneralizedKMeans(2, size_weight=-1).fit(X)
    with pytest.raises(TypeError, match="[Ss]parse"):
        GeneralizedKMeans(2).fit(sp.csr_array(X))


@pytest.mark.parametrize(
    ("X", "known"),
    [
        (np.ones((10, 2)), Constraints()),
        (np.random.RandomState(0).randn(10, 2), Constraints([(i, i + 1) for i in range(9)])),
    ],
)
def test_too_few_different_rows_are_not_blamed_on_size_weight(X, known):
    with pytest.warns(DegenerateClusteringWarning, match="Only 1 of n_clusters=3.*distinct rows"):
        GeneralizedKMeans(3, random_state=0).fit(X, constraints=known)
