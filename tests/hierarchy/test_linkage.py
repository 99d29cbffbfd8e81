import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist, squareform

from conclust import Constraints, ReCon, sample_constraints
from conclust.hierarchy._linkage import LINKAGES, constrained_linkage, implied_apart
from tests.oracles import hierarchy as oracle
from tests.oracles.hierarchy import merges_of, random_tree_triplets


@pytest.mark.parametrize("linkage", LINKAGES)
def test_without_constraints_it_is_scipys(linkage):
    for seed, shape in enumerate([(2, 1), (60, 3), (150, 8)]):
        X = np.random.RandomState(seed).normal(size=shape) + 100
        model = ReCon(n_clusters=None, linkage=linkage).fit(X)
        expected = scipy_linkage(X, linkage)
        np.testing.assert_allclose(model.linkage_matrix(), expected, atol=1e-8)
        D = squareform(pdist(X))
        model = ReCon(n_clusters=None, linkage=linkage, metric="precomputed").fit(D)
        np.testing.assert_allclose(model.linkage_matrix(), expected, atol=1e-6)


@pytest.mark.parametrize("metric", ["cityblock", "cosine", lambda a, b: np.abs(a - b).max()])
def test_other_metrics(metric):
    X = np.random.RandomState(0).normal(size=(30, 3))
    ours = ReCon(n_clusters=None, linkage="average", metric=metric).fit(X).linkage_matrix()
    np.testing.assert_allclose(ours, scipy_linkage(X, "average", metric=metric), atol=1e-9)


@pytest.mark.parametrize("linkage", LINKAGES)
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 12), share=st.sampled_from([0.3, 0.6, 1, 2, 4]))
def test_the_merges_are_those_of_the_paper(linkage, seed, n, share):
    # Check against trying all pairs by distance, each with a recursive OneTree.
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 2))
    triplets = random_tree_triplets(rng, n, share)
    model = ReCon(n_clusters=None, linkage=linkage).fit(
        X, constraints=Constraints(relative=triplets)
    )
    distance = oracle.cluster_distance(linkage, squareform(pdist(X)), X)
    expected = oracle.recon(distance, n, triplets)
    assert merges_of(model.children_) == [sorted([a, b]) for a, b, _ in expected]
    np.testing.assert_allclose(model.distances_, [d for _, _, d in expected], atol=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_the_merges_with_triplets_of_classes(seed):
    # Check the same with classes that overlap; many pairs are refused one by one (seed 79 of an
    # earlier version forgot some of them and never ended).
    rng = np.random.RandomState(seed if seed else 79)
    n, k = rng.randint(12, 18), rng.randint(2, 6)
    y = rng.permutation(np.arange(n) % k)
    X = rng.normal(size=(n, 2)) + rng.choice([0, 0.5, 1.5]) * y[:, None]
    known = sample_constraints(
        y, n_relative=int(rng.choice([0.3, 0.7, 1, 2]) * n), random_state=seed
    )
    model = ReCon(n_clusters=None).fit(X, constraints=known)
    expected = oracle.recon(oracle.cluster_distance("centroid", X=X), n, known.relative)
    assert merges_of(model.children_) == [sorted([a, b]) for a, b, _ in expected]


@pytest.mark.parametrize("seed", range(6))
def test_the_merges_when_few_samples_are_named(seed):
    # Check that what is remembered about nodes and about clusters is kept apart: there are many
    # more clusters than nodes here.
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(48, 3))
    named = rng.permutation(48)[:14]
    triplets = named[random_tree_triplets(rng, 14, 0.7)]
    model = ReCon(n_clusters=None).fit(X, constraints=Constraints(relative=triplets))
    expected = oracle.recon(oracle.cluster_distance("centroid", X=X), 48, triplets)
    assert merges_of(model.children_) == [sorted([a, b]) for a, b, _ in expected]


@pytest.mark.parametrize("seed", range(6))
def test_the_merges_when_classes_overlap(seed):
    # Check deep trees with many refusals, which are inherited as clusters grow.
    rng = np.random.RandomState(seed)
    y = rng.permutation(np.arange(30) % 5)
    X = rng.normal(size=(30, 3))
    known = sample_constraints(y, n_relative=30, random_state=seed)
    model = ReCon(n_clusters=None).fit(X, constraints=known)
    expected = oracle.recon(oracle.cluster_distance("centroid", X=X), 30, known.relative)
    assert merges_of(model.children_) == [sorted([a, b]) for a, b, _ in expected]


def test_what_was_refused_is_allowed_once_the_reason_is_gone():
    # 2 is refused to 4 because of 0. Then 0 joins 4, no statement names the two any more, and 1
    # joins them: now 2 may follow (it did not, and the merging got stuck).
    X = [[-1.0], [-1.8], [0.9], [100.0], [0.0]]
    known = Constraints(relative=[(0, 4, 2), (0, 4, 1), (1, 2, 3)])
    model = ReCon(n_clusters=None).fit(X, constraints=known)
    assert model.children_.tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]]


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 10))
def test_cannot_links_come_last(seed, n):
    # Check against the oracle that sorts pairs by broken weight, implied cannot-links included.
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 2))
    triplets = random_tree_triplets(rng, n, 0.7)
    pairs = np.array([rng.permutation(n)[:2] for _ in range(n)])
    known = Constraints(
        cannot_link=pairs, cannot_link_weight=rng.randint(1, 4, n), relative=triplets
    )
    apart, weight = implied_apart(known.cannot_link, known.cannot_link_weight, known.relative, n)
    price = np.zeros((n, n))
    for (a, b), w in zip(apart, weight, strict=True):
        price[a, b] = price[b, a] = w
    expected = oracle.recon(
        oracle.cluster_distance("centroid", X=X),
        n,
        known.relative,
        lambda A, B: round(price[np.ix_(A, B)].sum(), 9),
    )
    tree = constrained_linkage(X, None, known)
    assert merges_of(tree.children) == [sorted([a, b]) for a, b, _ in expected]
    paid = [price[np.ix_(a, b)].sum() for a, b, _ in expected]
    np.testing.assert_allclose(tree.broken, paid, atol=1e-6)


def test_implied_cannot_links():
    # 0 and 1 apart and 01|2 keep 2 from both; then 02|3 keeps 3 from 0 and 2.
    apart, weight = implied_apart(
        np.array([[1, 0]]), np.array([2.0]), np.array([[0, 1, 2], [2, 0, 3], [4, 5, 0]]), 6
    )
    assert {tuple(p) for p in apart} == {(0, 1), (0, 2), (1, 2), (0, 3), (2, 3)}
    assert (weight == 2).all()


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), linkage=st.sampled_from(sorted(LINKAGES)))
def test_must_link_groups_are_branches_and_triplets_hold(seed, linkage):
    rng = np.random.RandomState(seed)
    n = 14
    X = rng.normal(size=(n, 2))
    must = np.array([rng.permutation(n)[:2] for _ in range(4)])
    known = Constraints(must, relative=random_tree_triplets(rng, n, 0.5)).repaired()
    model = ReCon(n_clusters=None, linkage=linkage).fit(X, constraints=known)
    clades = [frozenset(m) for m in oracle.members_of(model.children_)]
    for group in oracle.must_link_groups(known.must_link, known.relative.tolist(), range(n)):
        assert group in clades
    assert known.satisfied_by(model.linkage_matrix()).all()


@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_many_triplets_unrelated_to_the_data(share):
    # Every merge is tested here; the hierarchy is complete and keeps all of them.
    rng = np.random.RandomState(0)
    X = rng.normal(size=(300, 4))
    known = Constraints.from_hierarchy(scipy_linkage(rng.normal(size=(300, 2)), "average"))
    known = known[rng.permutation(len(known))[: int(share * len(known))]]
    for linkage in LINKAGES:
        model = ReCon(n_clusters=None, linkage=linkage).fit(X, constraints=known)
        assert known.satisfied_by(model.linkage_matrix()).all()


def test_triplets_of_classes():
    rng = np.random.RandomState(0)
    y = rng.randint(5, size=400)
    X = rng.normal(size=(400, 3)) + y[:, None]
    for m in (50, 400, 2000):
        known = sample_constraints(y, n_relative=m, random_state=m)
        model = ReCon(n_clusters=5).fit(X, constraints=known)
        assert known.satisfied_by(model.linkage_matrix()).all()
        assert model.report_.n_violated == 0
