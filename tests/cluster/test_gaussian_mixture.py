import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from conclust import ConstrainedGaussianMixture, Constraints, sample_constraints
from conclust._placement.units import units_of
from conclust.cluster._certain_mixture import (
    ExpectationStep,
    constrained_gaussian_mixture,
    m_step,
)
from conclust.datasets import make_wedges
from conclust.exceptions import InconsistentConstraintsError, InfeasibleConstraintsError
from conclust.testing import consistent_constraints
from tests.oracles import mixture as oracle

X, y = load_iris(return_X_y=True)
TYPES = ("full", "tied", "diag", "spherical")


def rows_and_start(seed, n=12, k=3, d=2):
    random = np.random.RandomState(seed)
    return random.normal(size=(n, d)) + 2 * random.randint(k, size=(n, 1)), random.dirichlet(
        np.ones(k), n
    )


def as_full(mixture, covariance_type, d):
    """Covariance matrices, whatever the type."""
    k = len(mixture.means)
    return {
        "full": lambda c: c,
        "tied": lambda c: np.repeat(c[None], k, axis=0),
        "diag": lambda c: np.array([np.diag(row) for row in c]),
        "spherical": lambda c: np.array([v * np.eye(d) for v in c]),
    }[covariance_type](mixture.covariances)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_equals_scikit_learn_without_statements(covariance_type):
    # Check parameters, path and predictions from the same random state.
    settings = {"covariance_type": covariance_type, "random_state": 0}
    theirs = GaussianMixture(3, **settings).fit(X)
    ours = ConstrainedGaussianMixture(3, **settings).fit(X)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.exact_
    np.testing.assert_allclose(ours.lower_bound_, theirs.lower_bound_, rtol=1e-9)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(ours.labels_, theirs.predict(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X))
    assert ours.score(X) == pytest.approx(theirs.score(X))


@pytest.mark.parametrize("covariance_type", TYPES)
def test_best_of_several_starts_equals_scikit_learn(covariance_type):
    # Check clusters only: equal ones under other names differ in likelihood by rounding.
    settings = {"covariance_type": covariance_type, "n_init": 3, "random_state": 0}
    theirs = GaussianMixture(3, **settings).fit(X)
    ours = ConstrainedGaussianMixture(3, **settings).fit(X)
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, rel=1e-9)
    assert adjusted_rand_score(ours.labels_, theirs.predict(X)) == 1.0


def test_random_start_equals_scikit_learn():
    theirs = GaussianMixture(3, init_params="random", random_state=0, max_iter=300).fit(X)
    ours = ConstrainedGaussianMixture(3, init="random", random_state=0, max_iter=300).fit(X)
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-6)


@settings(max_examples=40)
@given(
    consistent_constraints(n_samples=7, n_classes=3, max_pairs=8),
    st.sampled_from(TYPES),
    st.integers(0, 50),
    st.booleans(),
)
def test_e_step_equals_listing_every_labelling(case, covariance_type, seed, weighted):
    known, _ = case
    rows, start = rows_and_start(seed, n=7)
    weight = np.random.RandomState(seed).choice([0.0, 0.5, 1.0, 3.0], 7) if weighted else np.ones(7)
    weight[0] = 1.0
    units = units_of(known.closure())
    mixture = m_step(rows, start, np.ones(7), covariance_type, 0.1)
    found = ExpectationStep(rows, units, weight, 3, covariance_type)(mixture, None)
    joint = oracle.log_joint(
        rows, mixture.weights, mixture.means, as_full(mixture, covariance_type, 2)
    )
    expected, total = oracle.e_step(joint, known, weight)
    np.testing.assert_allclose(found.responsibilities, expected, atol=1e-9)
    assert found.log_likelihood == pytest.approx(total / weight.sum())


@pytest.mark.parametrize("covariance_type", TYPES)
def test_m_step_with_weights_equals_repeated_rows(covariance_type):
    rows, responsibilities = rows_and_start(0, n=20)
    weight = np.random.RandomState(0).randint(0, 4, 20).astype(float)
    again = np.repeat(np.arange(20), weight.astype(int))
    ours = m_step(rows, responsibilities, weight, covariance_type, 1e-6)
    theirs = m_step(
        rows[again], responsibilities[again], np.ones(len(again)), covariance_type, 1e-6
    )
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b)


@settings(max_examples=60)
@given(
    consistent_constraints(n_samples=24, n_classes=3, max_pairs=40),
    st.sampled_from(TYPES),
    st.integers(0, 50),
    st.booleans(),
    st.sampled_from([1, 100_000]),
)
def test_log_likelihood_never_falls(case, covariance_type, seed, weighted, max_states):
    # Check exact sums and pinned ones; reg_covar would blur the guarantee, so it is off and the
    # run ends before a component shrinks to a point.
    known, _ = case
    rows, start = rows_and_start(seed, n=24)
    weight = np.random.RandomState(seed).uniform(0.5, 3, 24) if weighted else np.ones(24)
    try:
        run = constrained_gaussian_mixture(
            rows,
            units_of(known.closure()),
            start,
            covariance_type=covariance_type,
            reg_covar=0.0,
            sample_weight=weight,
            max_iter=8,
            tol=0.0,
            max_states=max_states,
        )
    except ValueError as error:
        assert "ill-defined empirical covariance" in str(error)
        return
    path = [record.log_likelihood for record in run.history]
    assert all(b >= a - 1e-8 * (1 + abs(a)) for a, b in itertools.pairwise(path))
    assert known.satisfied(run.labels).all()


@settings(max_examples=40)
@given(consistent_constraints(n_samples=14, n_classes=4, max_pairs=60), st.integers(0, 9))
def test_statements_always_hold(case, seed):
    known, _ = case
    rows = np.random.RandomState(seed).normal(size=(14, 2))
    model = ConstrainedGaussianMixture(4, reg_covar=0.01, tol=0.1, random_state=0)
    model.fit(rows, constraints=known)
    assert known.satisfied(model.labels_).all()
    assert model.report_.n_violated == 0
    np.testing.assert_allclose(model.responsibilities_.sum(axis=1), 1)
    for i, j in known.must_link:
        np.testing.assert_array_equal(model.responsibilities_[i], model.responsibilities_[j])


def test_links_move_components_and_with_them_free_rows():
    # Check that eight statements turn a left-right split into the two long clusters.
    rows, truth = make_wedges((60, 200), random_state=3)
    known = sample_constraints(truth, n_cannot_link=8, random_state=0)
    model = ConstrainedGaussianMixture(2, random_state=0).fit(rows, constraints=known)
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    assert adjusted_rand_score(truth, model.predict(rows)) > 0.95


@pytest.mark.parametrize("covariance_type", TYPES)
def test_weights_are_repetitions_of_free_rows(covariance_type):
    weight = np.random.RandomState(0).randint(1, 4, len(X))
    again = np.repeat(np.arange(len(X)), weight)
    init = np.array([X[y == c].mean(axis=0) for c in range(3)])
    ours = ConstrainedGaussianMixture(3, covariance_type=covariance_type, init=init)
    a = ours.fit(X, sample_weight=weight).means_
    b = ours.fit(X[again]).means_
    np.testing.assert_allclose(a, b, rtol=1e-6)


def test_rows_without_weight_only_follow():
    # Check that a wild row of weight 0 moves nothing, linked or not.
    rows, _ = make_blobs(60, centers=2, cluster_std=0.5, random_state=0)
    wild = np.concatenate([rows, [[1e3, 1e3]]])
    weight = np.append(np.ones(60), 0.0)
    known = Constraints(must_link=[(0, 60)], n_samples=61)
    plain = ConstrainedGaussianMixture(2, random_state=0).fit(rows)
    for given_ in (None, known):
        init = plain.means_
        model = ConstrainedGaussianMixture(2, init=init).fit(
            wild, constraints=given_, sample_weight=weight
        )
        np.testing.assert_allclose(model.means_, plain.means_, rtol=1e-6)
    assert model.labels_[60] == model.labels_[0]


def test_entangled_links_are_bounded_and_kept():
    # Check a component too wide to sweep: 300 links among 60 rows in four clusters.
    rows, truth = make_blobs(60, centers=4, cluster_std=3.0, random_state=1)
    known = sample_constraints(truth, n_cannot_link=300, random_state=0)
    model = ConstrainedGaussianMixture(4, random_state=0, max_states=1000, reg_covar=1e-3, tol=1e-6)
    model.fit(rows, constraints=known)
    assert not model.exact_
    assert model.report_.n_violated == 0
    path = [record.log_likelihood for record in model.history_]
    assert all(b >= a - 1e-3 for a, b in itertools.pairwise(path))


def test_unfinished_runs_say_so():
    with pytest.warns(ConvergenceWarning, match="max_iter=2 iterations.*Raise max_iter"):
        ConstrainedGaussianMixture(3, max_iter=2, random_state=0).fit(X)


def test_data_far_from_the_origin():
    near = ConstrainedGaussianMixture(3, random_state=0).fit(X)
    far = ConstrainedGaussianMixture(3, random_state=0).fit(X + 1e6)
    np.testing.assert_array_equal(near.labels_, far.labels_)
    np.testing.assert_array_equal(near.predict(X), far.predict(X + 1e6))
    np.testing.assert_allclose(near.covariances_, far.covariances_, rtol=1e-3, atol=1e-6)


def test_float32_stays():
    model = ConstrainedGaussianMixture(3, random_state=0).fit(X.astype(np.float32))
    assert model.means_.dtype == np.float32
    assert model.predict_proba(X.astype(np.float32)).dtype == np.float32


def test_bad_input_is_named():
    with pytest.raises(
        InfeasibleConstraintsError, match=r"n_components=2 cannot keep all 3.*PCKMeans"
    ):
        ConstrainedGaussianMixture(2).fit(
            X, constraints=Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)])
        )
    with pytest.raises(InfeasibleConstraintsError, match="n_components=1"):
        ConstrainedGaussianMixture(1).fit(X, constraints=Constraints(cannot_link=[(0, 1)]))
    with pytest.raises(InconsistentConstraintsError, match="contradict"):
        ConstrainedGaussianMixture(2).fit(X, constraints=Constraints([(0, 1)], [(0, 1)]))
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_components=3"):
        ConstrainedGaussianMixture(3).fit(X[:2])
    with pytest.raises(ValueError, match="at least one non-zero"):
        ConstrainedGaussianMixture(3).fit(X, sample_weight=np.zeros(len(X)))
    with pytest.raises(TypeError, match="[Ss]parse"):
        ConstrainedGaussianMixture(3).fit(sp.csr_array(X))
