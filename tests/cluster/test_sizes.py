"""Sizes of clusters in COPKMeans and PCKMeans: what always holds, and what is said when it cannot."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from conclust import Constraints, COPKMeans, PCKMeans, sample_constraints
from conclust.exceptions import ConstraintsViolatedWarning, InfeasibleSizesError
from conclust.testing import consistent_constraints

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 60, random_state=0)
N, K = 14, 3
BOTH = pytest.mark.parametrize("model", [COPKMeans, PCKMeans])


def objective(model):
    return [getattr(record, "objective", record.inertia) for record in model.history_]


@pytest.mark.filterwarnings("ignore::conclust.exceptions.DegenerateClusteringWarning")
@settings(max_examples=40)
@given(
    consistent_constraints(n_samples=N, n_classes=K, max_pairs=10),
    st.integers(0, 10_000),
    st.booleans(),
    st.booleans(),
)
def test_sizes_and_statements_hold(case, seed, hard, weighted):
    # Check with sizes that the classes themselves have, give or take one.
    known, truth = case
    random = np.random.RandomState(seed)
    rows = random.normal(size=(N, 2))
    weight = random.choice([0.5, 1.0, 2.0], N) if weighted else None
    load = np.bincount(truth, weight, K)
    lower, upper = np.maximum(load - 1, 0), load + 1
    how = {"size_min": lower, "size_max": upper, "n_init": 2, "random_state": 0}
    model = COPKMeans(K, **how) if hard else PCKMeans(K, penalty=0.5, **how)
    fitted = model.fit(rows, constraints=known, sample_weight=weight)
    sizes = np.bincount(fitted.labels_, weight, K)
    assert (sizes >= lower - 1e-9).all()
    assert (sizes <= upper + 1e-9).all()
    assert fitted.report_.n_violated == 0 or not hard
    values = objective(fitted)
    assert (np.diff(values) <= 1e-9 * (1 + abs(values[0]))).all()


@BOTH
@pytest.mark.parametrize("known", [None, KNOWN], ids=["no statements", "statements"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sizes_hold_on_iris_and_the_objective_falls(model, known, metric):
    how = {"size_min": 45, "size_max": 52, "metric": metric, "random_state": 0}
    fitted = model(3, **how).fit(X, constraints=known)
    sizes = np.bincount(fitted.labels_)
    assert sizes.min() >= 45
    assert sizes.max() <= 52
    assert (np.diff(objective(fitted)) <= 1e-9).all()
    sparse = model(3, **how).fit(sp.csr_matrix(X), constraints=known)
    assert sparse.inertia_ == pytest.approx(fitted.inertia_, rel=1e-6)


@BOTH
def test_sizes_that_bind_nothing_change_nothing(model):
    # Check without statements: with them, plain runs go on by single moves.
    init = X[[0, 60, 120]]
    plain = model(3, init=init, tol=0).fit(X)
    sized = model(3, init=init, tol=0, size_min=1, size_max=149).fit(X)
    assert_array_equal(sized.labels_, plain.labels_)
    assert sized.inertia_ == pytest.approx(plain.inertia_)


@BOTH
def test_the_order_of_rows_does_not_matter(model):
    random = np.random.RandomState(0)
    rows = X + random.normal(scale=1e-3, size=X.shape)
    order = random.permutation(len(X))
    place = np.argsort(order)
    pairs = Constraints(place[KNOWN.must_link], place[KNOWN.cannot_link])
    how = {"size_min": 48, "size_max": 51, "init": rows[[0, 60, 120]]}
    how |= {"penalty": 1.0} if model is PCKMeans else {}
    first = model(3, **how).fit(rows, constraints=KNOWN)
    second = model(3, **how).fit(rows[order], constraints=pairs)
    assert adjusted_rand_score(first.labels_[order], second.labels_) == 1
    assert first.inertia_ == pytest.approx(second.inertia_)


@BOTH
def test_each_cluster_may_have_sizes_of_its_own(model):
    fitted = model(3, size_min=[20, 40, 80], size_max=[25, 50, 90], random_state=0).fit(X)
    assert ((np.bincount(fitted.labels_) - [20, 40, 80]) >= 0).all()
    assert ((np.bincount(fitted.labels_) - [25, 50, 90]) <= 0).all()
    # The setosas are the fifty that are easily told apart.
    assert adjusted_rand_score(fitted.labels_ == 1, y == 0) > 0.7


@BOTH
def test_weights_count_where_given(model):
    weight = np.random.RandomState(0).uniform(0.5, 2, len(X))
    even = weight.sum() / 3
    how = {"size_min": even - 0.1, "size_max": even + 0.1, "random_state": 0}
    fitted = model(3, **how).fit(X, constraints=KNOWN, sample_weight=weight)
    assert np.abs(np.bincount(fitted.labels_, weight) - even).max() < 0.1 + 1e-9
    ones = model(3, size_max=50, random_state=0).fit(X, sample_weight=np.ones(len(X)))
    assert np.bincount(ones.labels_).tolist() == [50, 50, 50]


def test_predict_stays_the_nearest_center():
    fitted = COPKMeans(3, size_max=50, random_state=0).fit(X)
    assert_array_equal(fitted.predict(X), fitted.transform(X).argmin(axis=1))
    assert np.bincount(fitted.predict(X)).max() > 50


def test_broken_statements_may_be_relaxed_sizes_not():
    apart = Constraints.from_groups(apart=np.repeat([0, -1], [4, 146]))
    with pytest.warns(ConstraintsViolatedWarning):
        fitted = COPKMeans(3, size_max=50, on_infeasible="relax", random_state=0).fit(
            X, constraints=apart
        )
    assert np.bincount(fitted.labels_).tolist() == [50, 50, 50]


@BOTH
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"size_min": 60}, r"180 rows over 3 clusters, 30 more than the 150 .* \(to 50 at most"),
        ({"size_max": 40}, r"120 rows over 3 clusters, 30 fewer than the 150 .* \(to 50 at least"),
        ({"size_min": [60, 0, 0], "size_max": 50}, r"size_min=60 of cluster 0 .* size_max=50"),
    ],
)
def test_impossible_sizes_say_by_how_much(model, given, words):
    with pytest.raises(InfeasibleSizesError, match=words):
        model(3, **given).fit(X)


def test_a_group_larger_than_every_cluster_is_named():
    chain = Constraints(must_link=[(i, i + 1) for i in range(60)])
    with pytest.raises(
        InfeasibleSizesError,
        match=r"size_max=50 is too small: rows 0, 1, 2, 3, 4, …, .* 61 rows, 11 more",
    ):
        COPKMeans(3, size_max=50).fit(X, constraints=chain)
    # Soft must-links may be broken.
    assert np.bincount(PCKMeans(3, size_max=50).fit(X, constraints=chain).labels_).max() == 50


def test_a_row_heavier_than_every_cluster_is_named():
    weight = np.ones(len(X))
    weight[7] = 100
    with pytest.raises(InfeasibleSizesError, match=r"row 7 weighs 100, 10 more"):
        PCKMeans(3, size_max=90).fit(X, sample_weight=weight)


def test_groups_that_fit_no_way_are_explained():
    # Check with three groups of four and clusters of six: two clusters for three groups is proved
    # impossible, and no group may be split.
    together = np.repeat([0, 1, 2], 4)
    known = Constraints.from_groups(together=together)
    with pytest.raises(
        InfeasibleSizesError,
        match=r"No assignment has the sizes and keeps the statements: .* cluster \d has 8 rows, "
        r"2 more than its size_max=6\. The largest must-linked group has 4 rows",
    ):
        COPKMeans(2, size_max=6).fit(X[:12], constraints=known)


def test_cannot_links_that_leave_a_cluster_too_small_are_explained():
    # Check with rows that are all apart in pairs of clusters: no cluster can have five of eight.
    pairs = [(i, i + 1) for i in range(0, 8, 2)]
    with pytest.raises(
        InfeasibleSizesError, match=r"cluster 0 has 4 rows, 1 fewer than its size_min=5"
    ):
        COPKMeans(2, size_min=[5, 0]).fit(X[:8], constraints=Constraints(cannot_link=pairs))
