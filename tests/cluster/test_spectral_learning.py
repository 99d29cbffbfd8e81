import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from conclust import Constraints, SpectralLearning, sample_constraints
from conclust.cluster._spectral_learning import (
    DENSE_ROWS,
    all_affinities,
    collapse,
    distinct_rows,
    edit,
    leading_vectors,
    neighbor_affinities,
    neighbors_of_nodes,
    normalize,
    unit_rows,
)
from conclust.testing import any_constraints
from tests.oracles import spectral_learning as oracle

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 100, random_state=0)


def rows(seed, n=10):
    return np.random.RandomState(seed).randn(n, 3)


def dense(A):
    return A.toarray() if sp.issparse(A) else A


@given(st.integers(0, 999), st.floats(0.1, 3))
def test_affinities_are_the_definition(seed, gamma):
    expected = oracle.affinity(rows(seed), gamma)
    np.testing.assert_allclose(all_affinities(rows(seed), gamma), expected, atol=1e-12)
    # With all rows as neighbours nothing is left out.
    found = neighbor_affinities(rows(seed), 9, gamma)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)


def test_neighbours_are_kept_both_ways():
    found = neighbor_affinities(rows(0, 30), 3, 1.0)
    assert (found != found.T).nnz == 0
    assert 90 <= found.nnz < 180
    full = all_affinities(rows(0, 30), 1.0)
    at = found.toarray() > 0
    np.testing.assert_allclose(found.toarray()[at], full[at])


def test_the_width_does_not_depend_on_the_route_or_on_units():
    # Check the default γ by the affinities it gives: half are above exp(−½) at the 7th neighbour.
    full, sparse = all_affinities(X, None), neighbor_affinities(X, 30, None).toarray()
    at = sparse > 0
    np.testing.assert_allclose(sparse[at], full[at])
    np.testing.assert_allclose(all_affinities(1000 * X, None), full, atol=1e-9)


@given(any_constraints(), st.integers(0, 999), st.booleans())
def test_edits_are_the_definition(constraints, seed, sparse):
    A = oracle.affinity(rows(seed), 1.0)
    pairs = constraints.pairs()
    found = edit(sp.csr_array(A) if sparse else A, pairs.pairs, pairs.sign, pairs.weight)
    np.testing.assert_allclose(dense(found), oracle.edited(A, constraints), atol=1e-12)
    np.testing.assert_array_equal(A, oracle.affinity(rows(seed), 1.0))


@given(st.integers(0, 999), st.booleans(), st.sampled_from([0.0, 0.01, 1.0]))
def test_normalisations_are_the_definition(seed, sparse, regularization):
    A = oracle.affinity(rows(seed), 1.0)
    added = A + regularization * A.sum() / 100
    for kind in ("additive", "symmetric"):
        found = normalize(sp.csr_array(A) if sparse else A, kind, regularization)
        expected = getattr(oracle, kind)(added)
        np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)
        v = np.arange(10.0)
        np.testing.assert_allclose(found.dot(v), expected @ v)
        np.testing.assert_allclose(expected @ found.first, found.first)


@pytest.mark.parametrize("normalization", ["additive", "symmetric"])
@pytest.mark.parametrize(("n_neighbors", "regularization"), [(3, 0.0), (20, 0.0), (20, 0.1)])
def test_sparse_and_dense_eigenvectors_agree(
    monkeypatch, normalization, n_neighbors, regularization
):
    # The graph of 20 neighbours has two components, that of 3 has more than are asked for.
    monkeypatch.setattr("conclust.cluster._spectral_learning.SMALL_N", 0)
    A = neighbor_affinities(X, n_neighbors, None)
    found, expected = (
        leading_vectors(
            matrix, 4, normalization, np.random.RandomState(0), regularization=regularization
        )
        for matrix in (A, A.toarray())
    )
    np.testing.assert_allclose(found.values, expected.values, atol=1e-4)
    V = found.vectors
    np.testing.assert_allclose(V.T @ V, np.eye(4), atol=1e-6)
    N = normalize(A, normalization, regularization).toarray()
    assert np.abs(N @ V - V * found.values[:4]).max() < 1e-3


def test_regularization_keeps_stray_rows_from_being_clusters():
    data, truth = make_blobs([100, 100], 2, centers=[[0, 0], [4, 0]], random_state=0)
    data = np.vstack([data, [[40, 0], [40, 1]]])
    labels = [
        SpectralLearning(2, n_neighbors=8, regularization=r, random_state=0).fit_predict(data)[:200]
        for r in (0.0, 0.05)
    ]
    assert adjusted_rand_score(truth, labels[0]) < 0.1
    assert adjusted_rand_score(truth, labels[1]) > 0.8


def test_unit_rows():
    np.testing.assert_allclose(unit_rows(np.array([[3.0, 4], [0, 0]])), [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("n_neighbors", [None, 10])
@pytest.mark.parametrize("normalization", ["additive", "symmetric"])
def test_moons(n_neighbors, normalization):
    data, truth = make_moons(300, noise=0.05, random_state=0)
    known = sample_constraints(truth, 60, random_state=0)
    labels = SpectralLearning(
        2, n_neighbors=n_neighbors, normalization=normalization, random_state=0
    ).fit_predict(data, constraints=known)
    assert adjusted_rand_score(truth, labels) > 0.95


@pytest.mark.parametrize(
    "base", [KMeans(n_init=1), AgglomerativeClustering(), GaussianMixture()], ids=lambda b: type(b).__name__
)  # fmt: skip
def test_any_clusterer_on_the_embedding(base):
    model = SpectralLearning(3, estimator=base, random_state=0).fit(X, constraints=KNOWN)
    assert len(np.unique(model.labels_)) == 3
    assert model.embedding_.shape == (150, 3)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1)
    assert len(model.eigenvalues_) == 4
    assert model.history_[0].n_edited == 100


def test_precomputed_equals_rbf():
    direct = SpectralLearning(3, gamma=1.0, random_state=0).fit(X, constraints=KNOWN)
    A = all_affinities(X, 1.0)
    for given_a in (A, sp.csr_array(A)):
        other = SpectralLearning(3, affinity="precomputed", random_state=0)
        other.fit(given_a, constraints=KNOWN)
        assert adjusted_rand_score(direct.labels_, other.labels_) > 0.95


def test_a_bridge_of_must_links_joins_two_blobs():
    # Two blobs far apart are one cluster when told so; the third is split off.
    data, truth = make_blobs([50, 50, 50], 2, centers=[[0, 0], [10, 0], [5, 10]], random_state=0)
    bridge = Constraints([(i, 50 + i) for i in range(25)], n_samples=150)
    labels = SpectralLearning(2, random_state=0).fit_predict(data, constraints=bridge)
    assert adjusted_rand_score(truth == 2, labels) == 1


def test_rows_without_neighbours_survive():
    A = np.zeros((6, 6))
    A[:2, :2] = A[2:4, 2:4] = 1
    np.fill_diagonal(A, 0)
    for normalization in ("additive", "symmetric"):
        labels = SpectralLearning(
            2, affinity="precomputed", normalization=normalization, random_state=0
        ).fit_predict(A, constraints=Constraints(cannot_link=[(0, 1)]))
        assert labels.shape == (6,)


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        (np.ones((3, 2)), "needs the square matrix"),
        (np.arange(9.0).reshape(3, 3), "not symmetric"),
        (-np.ones((3, 3)), "must not be negative"),
    ],
)
def test_bad_affinities(matrix, text):
    with pytest.raises(ValueError, match=text):
        SpectralLearning(2, affinity="precomputed").fit(matrix)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("affinity", "cosine"), ("n_neighbors", 0), ("normalization", "none"), ("estimator", 3)],
)
def test_bad_parameters(parameter, value):
    with pytest.raises(ValueError, match=parameter):
        SpectralLearning(**{parameter: value}).fit(X)


def repeated_moons():
    """Two moons whose rows repeat up to thirty times."""
    X, y = make_moons(150, noise=0.04, random_state=0)
    times = np.random.RandomState(0).zipf(1.5, size=150).clip(1, 30)
    return np.repeat(X, times, axis=0), np.repeat(y, times)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_repeated_rows_do_not_fill_the_lists_of_neighbours(make):
    X, y = repeated_moons()
    assert len(X) > DENSE_ROWS
    known = sample_constraints(y, 40, random_state=0)
    model = SpectralLearning(2, random_state=0).fit(make(X), constraints=known)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.embedding_.shape == (len(X), 2)


def test_equal_rows_said_to_be_apart_stay_two():
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]], 100, axis=0)
    nodes = collapse(X, np.array([(3, 7), (0, 399)]))
    assert nodes.content.tolist() == [0, 0, 0, 1, 2, 3]
    assert nodes.of_row[[0, 3, 7, 8, 100, 399]].tolist() == [0, 1, 2, 0, 3, 5]
    affinity = neighbors_of_nodes(X, nodes, 2, 1.0).toarray()
    assert affinity[0, 1] == affinity[1, 2] == 1.0
    assert (affinity.diagonal() == 0).all()
    assert affinity[0, 3] == affinity[2, 3] == pytest.approx(np.exp(-1.0))
    assert (affinity == affinity.T).all()


def test_rows_that_are_all_equal():
    with pytest.warns(ConvergenceWarning):
        model = SpectralLearning(2, random_state=0).fit(np.ones((300, 2)))
    assert set(model.labels_) == {0}


def test_distinct_rows():
    X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, -0.0], [0.0, 2.0], [3.0, 0.0]])
    for rows in (X, sp.csr_array(X), X.astype(np.float32)):
        content, first = distinct_rows(rows)
        assert content.tolist() == [0, 1, 0, 1, 2]
        assert first.tolist() == [0, 1, 4]
