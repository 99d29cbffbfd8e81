import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from conclust import Constraints, COPKMeans, sample_constraints
from conclust._kernels.place_hard import sum_costs
from conclust._placement.units import units_of
from conclust.exceptions import (
    ConstraintsIgnoredWarning,
    ConstraintsViolatedWarning,
    InconsistentConstraintsError,
    InfeasibleConstraintsError,
)
from conclust.testing import any_constraints, consistent_constraints
from tests.oracles import constraints as oracle
from tests.oracles.pccc import pccc

X, y = load_iris(return_X_y=True)


@pytest.mark.filterwarnings("ignore::conclust.exceptions.DegenerateClusteringWarning")
@settings(max_examples=150)
@given(st.integers(2, 5), st.data())
def test_any_labelling_returned_keeps_every_statement(k, data):
    # Check over random feasible sets, from none to all pairs of 14 rows.
    known, _ = data.draw(consistent_constraints(n_samples=14, n_classes=k, max_pairs=60))
    rows = np.random.RandomState(data.draw(st.integers(0, 9))).normal(size=(14, 2))
    model = COPKMeans(k, n_init=1, random_state=0).fit(rows, constraints=known)
    assert known.satisfied(model.labels_).all()
    assert model.report_.n_violated == 0


@pytest.mark.filterwarnings("ignore::conclust.exceptions.DegenerateClusteringWarning")
@settings(max_examples=80)
@given(any_constraints(n_samples=6, max_pairs=8), st.integers(1, 3))
def test_feasible_means_solved_and_infeasible_means_told(known, k):
    # Check against trying all labellings.
    rows = np.random.RandomState(0).normal(size=(6, 2))
    model = COPKMeans(k, n_init=1, random_state=0)
    if oracle.feasible(known, 6, k):
        assert known.satisfied(model.fit(rows, constraints=known).labels_).all()
        return
    with pytest.raises(InfeasibleConstraintsError) as info:
        model.fit(rows, constraints=known)
    assert info.value.conflicts
    for conflict in info.value.conflicts:
        assert not oracle.feasible(conflict.statements, 6, k)


@pytest.mark.filterwarnings("ignore::conclust.exceptions.DegenerateClusteringWarning")
@settings(max_examples=200)
@given(any_constraints(n_samples=6, max_pairs=8), st.integers(2, 3))
def test_relaxed_never_fails_and_breaks_little(known, k):
    rows = np.random.RandomState(0).normal(size=(6, 2))
    model = COPKMeans(k, n_init=1, on_infeasible="relax", random_state=0)
    feasible = oracle.feasible(known, 6, k)
    if feasible:
        model.fit(rows, constraints=known)
    else:
        with pytest.warns(ConstraintsViolatedWarning, match="broke"):
            model.fit(rows, constraints=known)
    kept = known.satisfied(model.labels_)
    lost = known.weight[~kept].sum()
    best = min(known.weight[~known.satisfied(labels)].sum() for labels in oracle.labelings(6, k))
    assert (lost == 0) == feasible
    assert lost <= 3 * best + 1e-9


@settings(max_examples=40)
@given(consistent_constraints(n_samples=20, n_classes=3, max_pairs=40))
def test_the_objective_never_rises(case):
    known, _ = case
    rows = np.random.RandomState(1).normal(size=(20, 2))
    model = COPKMeans(3, n_init=1, tol=0, random_state=0).fit(rows, constraints=known)
    inertia = [record.inertia for record in model.history_]
    assert all(b <= a * (1 + 1e-9) for a, b in itertools.pairwise(inertia))
    assert model.inertia_ <= inertia[-1] * (1 + 1e-9)


@settings(max_examples=30)
@given(consistent_constraints(n_samples=10, n_classes=2, max_pairs=12))
def test_with_two_clusters_no_single_assignment_is_cheaper(case):
    # Check that, under the final centres, no labelling that keeps everything costs less.
    known, _ = case
    rows = np.random.RandomState(2).normal(size=(10, 2))
    model = COPKMeans(2, n_init=1, tol=0, random_state=0).fit(rows, constraints=known)
    distances = ((rows[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    best = min(
        distances[np.arange(10), labels].sum()
        for labels in oracle.labelings(10, 2)
        if known.satisfied(labels).all()
    )
    assert model.inertia_ == pytest.approx(best)


def test_without_constraints_it_is_kmeans():
    init = X[[0, 60, 120]]
    for rows in (X, sp.csr_array(X), X.astype(np.float32)):
        ours = COPKMeans(3, init=init).fit(rows)
        theirs = KMeans(3, init=init, n_init=1).fit(rows)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-5)


def test_everything_known_is_the_truth():
    known = Constraints.from_labels(y)
    labels = COPKMeans(3, random_state=0).fit(X, constraints=known).labels_
    assert adjusted_rand_score(y, labels) == 1.0


def test_groups_kept_apart():
    # 30 photos of 5 people each: nobody twice on a photo.
    rng = np.random.RandomState(0)
    people = rng.normal(size=(5, 8)) * 3
    rows = (people[None] + rng.normal(size=(30, 5, 8)) * 4).reshape(-1, 8)
    photos = np.repeat(np.arange(30), 5)
    known = Constraints.from_groups(apart=photos)
    labels = COPKMeans(5, random_state=0).fit(rows, constraints=known).labels_
    assert known.satisfied(labels).all()
    truth = np.tile(np.arange(5), 30)
    alone = KMeans(5, n_init=10, random_state=0).fit_predict(rows)
    assert adjusted_rand_score(truth, labels) > adjusted_rand_score(truth, alone)
    with pytest.raises(
        InfeasibleConstraintsError, match="5 samples of one group must all be apart"
    ):
        COPKMeans(4).fit(rows, constraints=known)


def test_errors_name_the_conflict():
    with pytest.raises(InconsistentConstraintsError, match="0 – 1 – 2"):
        COPKMeans(2).fit(X, constraints=Constraints([(0, 1), (1, 2)], [(0, 2)]))
    triangle = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)])
    with pytest.raises(
        InfeasibleConstraintsError, match="n_clusters=2 cannot keep all 3.*0, 1, 2.*relax"
    ):
        COPKMeans(2).fit(X, constraints=triangle)
    with pytest.raises(InfeasibleConstraintsError, match="n_clusters=1"):
        COPKMeans(1).fit(X, constraints=triangle)
    ring = Constraints(cannot_link=[(i, (i + 1) % 7) for i in range(7)])
    with pytest.raises(InfeasibleConstraintsError, match="ring of 7"):
        COPKMeans(2).fit(X, constraints=ring)


def test_relaxing_breaks_the_lightest():
    triangle = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)], cannot_link_weight=[5, 0.5, 5])
    with pytest.warns(ConstraintsViolatedWarning, match="broke 1 of 3 statements"):
        model = COPKMeans(2, on_infeasible="relax", random_state=0).fit(X, constraints=triangle)
    assert model.report_.violated[["a", "b"]].to_numpy().tolist() == [[1, 2]]
    # A must-link that closes an odd ring of heavier cannot-links goes first.
    weak = Constraints([(0, 3)], [(0, 1), (1, 2), (2, 3)], cannot_link_weight=[4, 4, 4])
    with pytest.warns(ConstraintsViolatedWarning):
        model = COPKMeans(2, on_infeasible="relax", random_state=0).fit(X, constraints=weak)
    assert model.report_.violated["type"].tolist() == ["must-link"]
    clash = Constraints([(0, 1)], [(0, 1)], must_link_weight=[3])
    with pytest.warns(ConstraintsViolatedWarning):
        model = COPKMeans(2, on_infeasible="relax", random_state=0).fit(X, constraints=clash)
    assert model.labels_[0] == model.labels_[1]


def test_a_long_chain_and_many_links():
    # Check what crashes peers: one must-link chain through half of the rows.
    rows = np.random.RandomState(0).normal(size=(4000, 3))
    chain = np.column_stack([np.arange(1999), np.arange(1, 2000)])
    known = Constraints(chain, [(0, 3000), (5, 3001)])
    labels = COPKMeans(3, n_init=1, random_state=0).fit(rows, constraints=known).labels_
    assert known.satisfied(labels).all()


def test_weights_equal_repetition():
    init = X[[0, 60, 120]]
    known = sample_constraints(y, 40, random_state=0)
    weight = np.where(np.arange(150) % 3 == 0, 2, 1)
    weighted = COPKMeans(3, init=init, tol=0).fit(X, constraints=known, sample_weight=weight)
    first = np.cumsum(weight) - weight
    twins = np.flatnonzero(weight == 2)
    repeated = COPKMeans(3, init=init, tol=0).fit(
        np.repeat(X, weight, axis=0),
        constraints=Constraints(
            np.concatenate(
                [first[known.must_link], np.column_stack([first[twins], first[twins] + 1])]
            ),
            first[known.cannot_link],
        ),
    )
    np.testing.assert_allclose(weighted.inertia_, repeated.inertia_)
    np.testing.assert_array_equal(weighted.labels_, repeated.labels_[first])


def test_units_by_hand():
    units = units_of(Constraints([(1, 2)], [(2, 4)], n_samples=6).closure())
    assert units.rows.tolist() == [1, 2, 4]
    assert units.unit.tolist() == [0, 0, 1]
    assert units.graph.apart.tolist() == [[0, 1]]


@pytest.mark.parametrize("compiled", [True, False])
def test_sum_costs_kernel(compiled):
    kernel = sum_costs if compiled else sum_costs.py_func
    distances = np.arange(6.0).reshape(3, 2)
    cost = np.full((2, 2), np.nan)
    kernel(distances, np.array([1, 0, 1]), np.array([1.0, 2.0, 3.0]), cost)
    assert cost.tolist() == [[4.0, 6.0], [12.0, 16.0]]
    cost = np.full((2, 2), np.nan)
    kernel(distances, np.array([1, 0, 1]), np.empty(0), cost)
    assert cost.tolist() == [[2.0, 3.0], [4.0, 6.0]]


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_true_constraints_are_always_kept(load):
    # A small part of the papers' protocol; the whole of it is marked slow.
    rows, labels = load(return_X_y=True)
    for n_constraints in (50, 200, 500):
        for seed in range(3):
            known = sample_constraints(labels, n_constraints, random_state=seed)
            model = COPKMeans(len(set(labels)), n_init=1, random_state=seed)
            assert model.fit(rows, constraints=known).report_.n_violated == 0


def test_quality_on_standardised_iris_and_wine():
    # Mean adjusted Rand index over 10 draws of half must-links, half cannot-links.
    for load, floors in ((load_iris, (0.71, 0.81, 0.93)), (load_wine, (0.93, 0.96, 0.98))):
        rows, labels = load(return_X_y=True)
        rows = StandardScaler().fit_transform(rows)
        for n, floor in zip((50, 100, 200), floors, strict=True):
            scores = [
                adjusted_rand_score(
                    labels,
                    COPKMeans(3, random_state=seed).fit_predict(
                        rows,
                        constraints=sample_constraints(
                            labels, n_must_link=n // 2, n_cannot_link=n // 2, random_state=seed
                        ),
                    ),
                )
                for seed in range(10)
            ]
            assert np.mean(scores) > floor, (load.__name__, n, np.mean(scores))


def test_ignored_triplets_are_not_called_broken():
    # The triplet 01|2 does not hold in the labels; only the clash of pairs is reported.
    rows = np.array([[0.0], [5.0], [0.1], [5.1]])
    known = Constraints([(0, 1)], [(0, 1)], relative=[(0, 1, 2)])
    model = COPKMeans(2, on_infeasible="relax", random_state=0)
    with (
        pytest.warns(ConstraintsViolatedWarning, match="broke 1 of 2 statements"),
        pytest.warns(ConstraintsIgnoredWarning),
    ):
        model.fit(rows, constraints=known)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "wine", "glass", "sonar", "wdbc", "balance"])
def test_the_papers_protocol(name, data_folder):
    """0 failures and 0 violations: 50 to 500 random true constraints, 50 seeds each."""
    from conclust.datasets import load

    data = load(name)
    k = len(data.target_names)
    for n_constraints in range(50, 501, 50):
        for seed in range(50):
            known = sample_constraints(data.target, n_constraints, random_state=seed)
            model = COPKMeans(k, n_init=1, random_state=seed).fit(data.data, constraints=known)
            assert model.report_.n_violated == 0, (n_constraints, seed)


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("n_constraints", [50, 100, 200])
def test_as_good_as_an_exact_assignment(load, n_constraints):
    """On the same draws: inertia at most that of PCCC, adjusted Rand index no lower on average."""
    rows, labels = load(return_X_y=True)
    rows = StandardScaler().fit_transform(rows)
    ours, theirs, lower = [], [], 0
    for seed in range(10):
        known = sample_constraints(labels, n_constraints, random_state=seed)
        exact, inertia = pccc(rows, 3, known, seed)
        model = COPKMeans(3, random_state=seed).fit(rows, constraints=known)
        lower += model.inertia_ <= inertia * (1 + 1e-9)
        ours.append(adjusted_rand_score(labels, model.labels_))
        theirs.append(adjusted_rand_score(labels, exact))
    assert lower >= 9
    assert np.mean(ours) > np.mean(theirs) - 0.01


def test_contradictory_triplets_are_ignored_like_all_triplets():
    X = np.array([[0.0], [20], [21], [22], [23], [1]])
    known = Constraints([(0, 5)], [(0, 1)], [(2, 3, 4), (2, 4, 3)])
    for way in ("raise", "relax"):
        with pytest.warns(ConstraintsIgnoredWarning):
            labels = COPKMeans(2, on_infeasible=way, random_state=0).fit_predict(
                X, constraints=known
            )
        assert labels[0] == labels[5] != labels[1]
