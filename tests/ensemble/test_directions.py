import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conclust import Constraints
from conclust.ensemble._boost_cluster import inconsistency, links_of
from conclust.ensemble._directions import CenteredRows, Projector, discrepancy, factor_gram
from tests.oracles import boost_cluster as oracle

SOLVERS = ("features", "samples", "operator")


def some_rows(n=30, d=8, seed=0, density=0.6):
    rng = np.random.RandomState(seed)
    return np.where(rng.rand(n, d) < density, rng.randn(n, d) + 1, 0.0)


def some_links(n=30, n_pairs=20, seed=0):
    rng = np.random.RandomState(seed)
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(n_pairs)])
    return Constraints(
        pairs[: n_pairs // 2], pairs[n_pairs // 2 :],
        must_link_weight=rng.uniform(0.5, 2, n_pairs // 2), n_samples=n,
    )  # fmt: skip


def discrepancy_of(links, seed=0):
    rng = np.random.RandomState(seed)
    now = inconsistency(rng.rand(len(links.must)), rng.rand(len(links.cannot)), links)
    return discrepancy(links.must, links.cannot, now.p, now.q, len(links.rows))


def projected(X, T, rows, s, solver):
    projector = Projector(X, rows, s, solver=solver)
    return projector.project(projector.directions(T, np.random.RandomState(0)))


@given(st.integers(0, 10_000))
def test_discrepancy_is_the_definition(seed):
    constraints, rng = some_links(seed=seed), np.random.RandomState(seed)
    links = links_of(constraints)
    K = rng.rand(30, 30)
    K += K.T
    at = links.rows[links.must], links.rows[links.cannot]
    now = inconsistency(K[at[0][:, 0], at[0][:, 1]], K[at[1][:, 0], at[1][:, 1]], links)
    T = discrepancy(links.must, links.cannot, now.p, now.q, len(links.rows))
    expected = oracle.discrepancy(*oracle.pq(K, *oracle.link_matrices(constraints, 30)))
    np.testing.assert_allclose(T.toarray(), expected[np.ix_(links.rows, links.rows)], atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("sparse", [False, True])
def test_every_route_gives_the_printed_projection(solver, sparse):
    # Check distances, which the signs of eigenvectors do not change, against eqs (11) and (15).
    X, links = some_rows(), links_of(some_links())
    T = discrepancy_of(links)
    full = np.zeros((30, 30))
    full[np.ix_(links.rows, links.rows)] = T.toarray()
    expected = (X - X.mean(axis=0)) @ oracle.projection(X - X.mean(axis=0), full, 4)
    expected /= np.abs(expected).max()
    found = projected(sp.csr_array(X) if sparse else X, T, links.rows, 4, solver)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-8)


@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(1, 12), st.integers(2, 25))
def test_the_routes_agree(seed, d, s, n_pairs):
    X, links = some_rows(d=d, seed=seed), links_of(some_links(n_pairs=n_pairs, seed=seed))
    T = discrepancy_of(links, seed)
    values = {}
    for solver in SOLVERS:
        for data in (X, sp.csr_array(X)):
            projector = Projector(data, links.rows, s, solver=solver)
            found = projector.directions(T, np.random.RandomState(seed))
            values[solver, sp.issparse(data)] = found.values
            V = found.vectors
            np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-7)
    first = values["features", False]
    for value in values.values():
        np.testing.assert_allclose(value, first, rtol=1e-6, atol=1e-8 * first.max(initial=1))


def test_a_singular_gram_matrix():
    # Check eq. (17) with fewer dimensions than constrained rows, repeated and centred rows.
    X = np.repeat(some_rows(15, 5), 2, axis=0)
    links = links_of(some_links())
    rows = CenteredRows(X[links.rows] - X.mean(axis=0), None)
    split = factor_gram(rows.gram())
    assert split.factor.shape[1] == 5 < len(links.rows)
    np.testing.assert_allclose(split.factor @ split.factor.T, rows.gram(), atol=1e-10)
    T = discrepancy_of(links)
    direct, other = (projected(X, T, links.rows, 3, solver) for solver in ("features", "samples"))
    np.testing.assert_allclose(np.abs(direct), np.abs(other), atol=1e-8)


def test_no_direction_when_only_cannot_links_speak_for_a_line():
    # X T Xᵀ = −x xᵀ-like for one cannot-link on the same side: nothing positive is left.
    X = np.array([[1.0], [2.0], [-3.0]])
    links = links_of(Constraints(cannot_link=[(0, 1)], n_samples=3))
    T = discrepancy(links.must, links.cannot, np.empty(0), np.ones(1), 2)
    for solver in SOLVERS:
        found = Projector(X, links.rows, 1, solver=solver).directions(T, np.random.RandomState(0))
        assert len(found.values) == 0


def test_constant_data_have_no_direction():
    links = links_of(some_links())
    for solver in SOLVERS:
        for X in (np.ones((30, 4)), sp.csr_array(np.ones((30, 4)))):
            found = Projector(X, links.rows, 2, solver=solver).directions(
                discrepancy_of(links), np.random.RandomState(0)
            )
            assert len(found.values) == 0, (solver, found)


def test_moving_the_data_changes_nothing():
    X, links = some_rows(), links_of(some_links())
    T = discrepancy_of(links)
    here, there = (projected(x, T, links.rows, 4, "features") for x in (X, X + 1e6))
    np.testing.assert_allclose(here, there, atol=1e-6)


def test_the_route_follows_the_shape():
    links = links_of(some_links())
    assert Projector(some_rows(), links.rows, 3).solver == "features"
    wide = sp.csr_array(sp.random(3000, 5000, density=0.001, random_state=0))
    assert Projector(wide, links.rows, 3).solver == "samples"
    assert Projector(wide, np.arange(2000), 3).solver == "operator"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_projection_keeps_the_type_and_has_unit_maximum(dtype):
    X, links = some_rows().astype(dtype), links_of(some_links())
    for data in (X, sp.csr_array(X)):
        found = projected(data, discrepancy_of(links), links.rows, 3, "features")
        assert found.dtype == dtype
        assert np.abs(found).max() == pytest.approx(1)
