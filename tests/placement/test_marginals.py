import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conclust._kernels import marginals as kernels
from conclust._placement.apart_graph import ApartGraph
from conclust._placement.marginals import ApartMarginals
from tests.oracles import mixture as oracle


def graph_of(links, n_units):
    links = np.unique(np.sort(np.array(links, np.int64).reshape(-1, 2), axis=1), axis=0)
    return ApartGraph(links, np.ones(len(links)), n_units)


@st.composite
def graphs(draw, n_units=6, max_links=10):
    unit = st.integers(0, n_units - 1)
    links = draw(st.lists(st.tuples(unit, unit).filter(lambda e: e[0] != e[1]), max_size=max_links))
    return graph_of(links, n_units)


def scores(seed, n_units, k, scale=3.0):
    return np.random.RandomState(seed).normal(scale=scale, size=(n_units, k))


def log_z_of(found):
    return found.log_z.sum()


@given(graphs(), st.integers(1, 4), st.integers(0, 99), st.sampled_from([0.1, 3.0, 900.0]))
def test_equal_to_listing_every_labelling(graph, k, seed, scale):
    # Check trees, cycles and what hangs on them; scores so far apart that exp would underflow, too.
    score = scores(seed, graph.n_units, k, scale)
    expected, log_z = oracle.marginals(score, graph.apart)
    if log_z == -np.inf:
        if k > 1:
            assert log_z_of(ApartMarginals(graph, k)(score)) == -np.inf
        return
    before = score.copy()
    solver = ApartMarginals(graph, k)
    found = solver(score)
    assert solver.exact.all()
    np.testing.assert_array_equal(score, before)
    np.testing.assert_allclose(found.probability, expected, atol=1e-9)
    np.testing.assert_allclose(log_z_of(found), log_z, rtol=1e-12, atol=1e-9)


@given(graphs(), st.integers(0, 99))
def test_pinned_sums_are_lower_bounds_that_never_fall(graph, seed):
    # Check with a budget that nothing but a forest fits: links hold, the bound stays below.
    k = 4
    solver = ApartMarginals(graph, k, max_states=1)
    assert solver.exact.all() == (len(graph.core_units) == 0)
    score = scores(seed, graph.n_units, k)
    _, log_z = oracle.marginals(score, graph.apart)
    if log_z == -np.inf:
        return
    found = solver(score)
    assert log_z_of(found) <= log_z + 1e-9
    np.testing.assert_allclose(found.probability.sum(axis=1), 1)
    certain = found.probability == 1
    for u, v in graph.apart:
        assert not (certain[u] & certain[v]).any()
    # Other scores, old pins: at least what the old pins give.
    other = scores(seed + 1, graph.n_units, k)
    old = solver._given(other, found.labels)[1]
    assert (solver(other, found.labels).log_z >= old - 1e-9).all()


def test_a_long_cycle_and_many_triangles_are_exact():
    # Check against powers of the transfer matrix: colourings of a cycle are (k-1)^n + (-1)^n (k-1).
    n, k = 40, 3
    ring = graph_of([(i, (i + 1) % n) for i in range(n)], n)
    found = ApartMarginals(ring, k)(np.zeros((n, k)))
    assert np.exp(log_z_of(found)) == pytest.approx((k - 1) ** n + k - 1)
    np.testing.assert_allclose(found.probability, 1 / k)
    triangles = graph_of(
        [(3 * t + a, 3 * t + b) for t in range(200) for a, b in ((0, 1), (0, 2), (1, 2))], 600
    )
    found = ApartMarginals(triangles, k)(np.zeros((600, k)))
    np.testing.assert_allclose(found.log_z, np.log(6))


def test_two_clusters_are_exact_whatever_the_size():
    # Check a dense bipartite graph, whose two labellings are all there are.
    left, right = np.meshgrid(np.arange(30), np.arange(30, 60))
    graph = graph_of(np.column_stack([left.ravel(), right.ravel()]), 60)
    score = scores(0, 60, 2, 0.1)
    found = ApartMarginals(graph, 2, max_states=1)(score)
    first = score[:30, 0].sum() + score[30:, 1].sum()
    second = score[:30, 1].sum() + score[30:, 0].sum()
    np.testing.assert_allclose(log_z_of(found), np.logaddexp(first, second))
    np.testing.assert_allclose(found.probability[0, 0], 1 / (1 + np.exp(second - first)))


def test_kernels_equal_their_python_form():
    # Check the compiled sweep and folding against the plain functions.
    graph = graph_of([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)], 5)
    score = scores(1, 5, 3)
    message, folded = np.empty((len(graph.peeled), 3)), score.copy()
    kernels.fold_sums(graph.peeled, graph.parent, folded, message)
    plain_message, plain_folded = np.empty_like(message), score.copy()
    kernels.fold_sums.py_func(graph.peeled, graph.parent, plain_folded, plain_message)
    np.testing.assert_allclose(folded, plain_folded)
    np.testing.assert_allclose(message, plain_message)
