import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree
from scipy.cluster.hierarchy import linkage as scipy_linkage
from sklearn.metrics import adjusted_rand_score

from conclust import Constraints, ReCon, sample_constraints
from conclust._kernels import cut as kernel
from conclust.hierarchy._cut import Statements, _by_piece, auto_size, gains
from tests.hierarchy.test_linkage import random_tree_triplets
from tests.oracles import constraints as pair_oracle
from tests.oracles import hierarchy as oracle


def case(seed, n):
    rng = np.random.RandomState(seed)
    children = scipy_linkage(rng.normal(size=(n, 2)), "average")[:, :2].astype(np.int64)
    triplets = random_tree_triplets(rng, n, 1.0)
    return children, triplets, rng.uniform(0.5, 2, len(triplets))


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(4, 9), st.integers(2, 4))
def test_the_best_splits_by_trying_all(seed, n, k):
    children, triplets, weight = case(seed, n)
    said = Statements(triplets, weight, np.empty((0, 2), np.int64), np.empty(0))
    # Only triplets that the hierarchy satisfies count; a cut is asked for nothing else.
    holds = Constraints(relative=triplets).satisfied_by(children)
    said = Statements(triplets[holds], weight[holds], said.apart, said.apart_weight)
    gain = gains(children, said)
    np.testing.assert_allclose(
        gain,
        [
            oracle.gain(children, v, said.triplets.tolist(), said.triplet_weight)
            for v in range(n - 1)
        ],
    )
    for best_splits in (kernel.best_splits, kernel.best_splits.py_func):
        split = np.zeros(n - 1, bool)
        size = np.ones(2 * n - 1, np.int64)
        kernel.cluster_sizes(children, size)
        assert best_splits(children, size, gain, np.zeros(n - 1, bool), k, 1, split)
        found = (round(gain[split].sum(), 6), int(np.flatnonzero(split).sum()))
        assert found == oracle.best_cut_value(children, gain, k)


@pytest.mark.parametrize("cut_by", ["constraints", "order"])
@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    linkage=st.sampled_from(["centroid", "average"]),
    smallest=st.sampled_from(["auto", 1, 2, 5]),
)
def test_no_cut_breaks_a_triplet_or_a_must_link(cut_by, seed, linkage, smallest):
    rng = np.random.RandomState(seed)
    n = 24
    X = rng.normal(size=(n, 2))
    must = np.array([rng.permutation(n)[:2] for _ in range(seed % 4)]).reshape(-1, 2)
    known = Constraints(must, relative=random_tree_triplets(rng, n, 0.8)).repaired()
    model = ReCon(n_clusters=None, linkage=linkage, cut_by=cut_by, min_branch_size=smallest)
    model.fit(X, constraints=known)
    n_groups = n - model._tree.n_forced
    for k in range(1, n_groups + 1):
        labels = model.cut(k)
        assert len(np.unique(labels)) == k
        assert all(pair_oracle.holds(s, labels) for s in known)


@pytest.mark.parametrize("linkage", ["centroid", "ward", "average", "complete", "single"])
@pytest.mark.parametrize("cut_by", ["constraints", "order"])
def test_without_constraints_a_plain_cut_is_scipys(linkage, cut_by):
    X = np.random.RandomState(0).normal(size=(40, 3))
    model = ReCon(n_clusters=None, linkage=linkage, cut_by=cut_by, min_branch_size=1).fit(X)
    Z = scipy_linkage(X, linkage)
    for k in range(1, 41):
        labels = model.cut(k)
        assert labels.max() == k - 1
        if linkage != "centroid":  # cut_tree wants heights that rise
            assert adjusted_rand_score(labels, cut_tree(Z, k).ravel()) == 1
        else:
            members = oracle.members_of(Z[:, :2].astype(int))
            present = set(range(40 + len(Z) - k + 1)) - set(
                Z[: len(Z) - k + 1, :2].astype(int).ravel()
            )
            assert {frozenset(members[v]) for v in present} == {
                frozenset(np.flatnonzero(labels == c)) for c in range(k)
            }


def test_outliers_do_not_become_clusters():
    X = np.concatenate([np.linspace(0, 1, 20), np.linspace(5, 6, 20), [30.0]])[:, None]
    plain = ReCon(n_clusters=2, min_branch_size=1).fit_predict(X)
    assert np.bincount(plain).tolist() == [40, 1]
    labels = ReCon(n_clusters=2).fit_predict(X)  # auto: 2 samples
    assert np.bincount(labels).tolist() == [20, 21]
    assert labels[-1] == labels[-2]


def test_auto_size():
    assert auto_size(1000, 2) == 50
    assert auto_size(100, 25) == 2
    assert auto_size(10, 2) == 1


def test_a_branch_set_aside_joins_what_keeps_the_triplets():
    # The outlier 40 is nearest to the right cluster, but 0 and it are closer than 39.
    X = np.concatenate([np.linspace(0, 1, 20), np.linspace(5, 6, 20), [30.0]])[:, None]
    known = Constraints(relative=[(0, 40, 39)])
    labels = ReCon(n_clusters=2).fit(X, constraints=known).labels_
    assert labels[40] == labels[0] != labels[39]


@pytest.mark.parametrize("compiled", [True, False])
def test_settle_ends_with_no_broken_triplet(compiled):
    settle = kernel.settle if compiled else kernel.settle.py_func
    if not compiled:
        kernel_change = kernel.change
        assert kernel_change.py_func is not None
    rng = np.random.RandomState(0)
    truth = rng.randint(3, size=30)
    rows = np.array(
        [
            r
            for r in rng.randint(30, size=(400, 3))
            if len(set(r)) == 3 and truth[r[0]] == truth[r[1]] != truth[r[2]]
        ]
    )
    labels = truth.copy()
    labels[:4] = (labels[:4] + 1) % 3
    entry = np.argsort(rows.ravel(), kind="stable")
    starts = np.searchsorted(rows.ravel()[entry], np.arange(31))
    assert settle(rows, starts, entry // 3, labels, 3, 500) == 0
    a, b, c = labels[rows].T
    assert (((c != a) & (c != b)) | ((c == a) & (c == b))).all()


def test_a_small_class_is_found_when_statements_ask_for_it():
    # A class of 20 out of 840 samples is smaller than what counts as an outlier otherwise.
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(5), [400, 300, 80, 40, 20])
    X = rng.normal(size=(840, 2)) + rng.normal(size=(5, 2))[y]
    labels = ReCon(n_clusters=5).fit(X, constraints=Constraints.from_hierarchy(y)).labels_
    assert adjusted_rand_score(labels, y) == 1


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), n_must=st.integers(0, 4), n_relative=st.integers(0, 20))
def test_no_branch_can_move_to_break_fewer_cannot_links(seed, n_must, n_relative):
    rng = np.random.RandomState(seed)
    n = 30
    y = rng.permutation(np.arange(n) % 3)
    X = rng.normal(size=(n, 2))
    known = sample_constraints(
        y, 2 * n, n_must_link=n_must, n_relative=n_relative, random_state=seed
    )
    model = ReCon(n_clusters=3).fit(X, constraints=known)
    labels, top = model.labels_, int(np.argmax(model._tree.broken > 0))
    if n - top <= 3:
        return
    hard = [s for s in known if s.kind != "cannot-link"]
    soft = [s for s in known if s.kind == "cannot-link"]

    def broken(labels):
        return sum(not pair_oracle.holds(s, labels) for s in soft)

    assert all(pair_oracle.holds(s, labels) for s in hard)
    for branch in oracle.members_of(model.children_)[: n + top]:
        for label in range(3):
            other = labels.copy()
            other[list(branch)] = label
            fine = len(set(labels[list(branch)])) == 1 and len(np.unique(other)) == 3
            if fine and all(pair_oracle.holds(s, other) for s in hard):
                assert broken(other) >= broken(labels)


def test_branches_move_the_same_without_compilation():
    rng = np.random.RandomState(0)
    n = 40
    children = scipy_linkage(rng.normal(size=(n, 2)), "average")[:, :2].astype(np.int64)
    links = np.array([rng.permutation(n)[:2] for _ in range(60)])
    rows = random_tree_triplets(rng, n, 0.3)
    lists = [_by_piece(links, n), _by_piece(rows, n)]
    far = rng.uniform(size=(3, 3))
    found = []
    for move_branches in (kernel.move_branches, kernel.move_branches.py_func):
        labels = np.random.RandomState(1).randint(3, size=n)
        move_branches(children, 3, 5, links, np.ones(60), *lists[0], rows, *lists[1], far, labels)
        found.append(labels)
    np.testing.assert_array_equal(*found)
