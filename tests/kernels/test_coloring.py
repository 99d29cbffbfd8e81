import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conclust._kernels import coloring
from conclust._kernels.coloring import FOUND, FREE, NONE, UNKNOWN
from tests.oracles import coloring as oracle

PLENTY = 1_000_000


def compiled(kernel):
    return kernel


def plain(kernel):
    return kernel.py_func


both_ways = pytest.mark.parametrize("way", [compiled, plain])


@st.composite
def graphs(draw, max_vertices=7):
    n = draw(st.integers(1, max_vertices))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    chosen = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return [pair for pair, take in zip(pairs, chosen, strict=True) if take], n


def everyone(n):
    return np.ones(n, dtype=np.bool_)


def complete(n):
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


@both_ways
@given(case=graphs(), k=st.integers(0, 4))
def test_core_is_the_largest_set_of_that_degree(case, k, way):
    edges, n = case
    alive = everyone(n)
    removed = way(coloring.core)(*oracle.csr(edges, n), k, alive)
    assert set(np.flatnonzero(alive)) == oracle.core(edges, n, k)
    # Each vertex removed knew fewer than k of those that were still there.
    linked = oracle.neighbors(edges, n)
    left = set(range(n))
    for v in removed:
        assert len(linked[v] & left) < k
        left.remove(v)
    assert left == set(np.flatnonzero(alive))


@both_ways
@given(case=graphs(max_vertices=8), size=st.integers(1, 5))
def test_clique_is_found_where_there_is_one(case, size, way):
    edges, n = case
    members = np.empty(size, dtype=np.int64)
    graph = oracle.csr(edges, n)
    found = way(coloring.find_clique)(*graph, everyone(n), size, PLENTY, members)
    assert found == (FOUND if oracle.has_clique(edges, n, size) else NONE)
    if found == FOUND:
        assert len(set(members)) == size
        assert oracle.is_clique(members, edges)


@both_ways
@given(case=graphs(), n_colors=st.integers(0, 4))
def test_colouring_is_found_where_there_is_one(case, n_colors, way):
    edges, n = case
    colors = np.empty(n, dtype=np.int64)
    graph = oracle.csr(edges, n)
    found = way(coloring.color)(*graph, everyone(n), n_colors, PLENTY, colors)
    assert found == (FOUND if oracle.has_coloring(edges, n, n_colors) else NONE)
    if found == FOUND:
        assert oracle.is_coloring(colors, edges)
        assert set(colors) <= set(range(n_colors))
    else:
        assert (colors == FREE).all()


@both_ways
@given(case=graphs(max_vertices=9))
def test_odd_cycle_is_a_shortest_one(case, way):
    edges, n = case
    cycle = np.empty(n, dtype=np.int64)
    length = way(coloring.odd_cycle)(*oracle.csr(edges, n), everyone(n), cycle)
    assert length == oracle.shortest_odd_cycle(edges, n)
    linked = oracle.neighbors(edges, n)
    assert len(set(cycle[:length])) == length
    for v, w in zip(cycle[:length], np.roll(cycle[:length], -1), strict=True):
        assert w in linked[v]


@both_ways
@given(case=graphs(max_vertices=9))
def test_two_colours_where_there_is_no_odd_cycle(case, way):
    edges, n = case
    component, side = np.empty((2, n), dtype=np.int64)
    odd = np.empty(n, dtype=np.bool_)
    n_components = way(coloring.two_color)(*oracle.csr(edges, n), component, side, odd)
    assert set(component) == set(range(n_components))
    assert all(component[i] == component[j] for i, j in edges)
    for c in range(n_components):
        inside = [(i, j) for i, j in edges if component[i] == c]
        assert odd[c] == (oracle.shortest_odd_cycle(inside, n) > 0)
        assert odd[c] or oracle.is_coloring(side, inside)
        # One component: its vertices cannot be split without cutting an edge.
        vertices = np.flatnonzero(component == c)
        assert len(inside) >= len(vertices) - 1


@both_ways
def test_only_living_vertices_count(way):
    # Check that a graph of four mutual neighbours becomes a triangle when one is masked.
    indptr, indices = oracle.csr(complete(4), 4)
    alive = np.array([True, False, True, True])
    members = np.empty(4, dtype=np.int64)
    assert way(coloring.find_clique)(indptr, indices, alive, 4, PLENTY, members) == NONE
    assert way(coloring.find_clique)(indptr, indices, alive, 3, PLENTY, members) == FOUND
    assert sorted(members[:3]) == [0, 2, 3]
    colors = np.empty(4, dtype=np.int64)
    assert way(coloring.color)(indptr, indices, alive, 3, PLENTY, colors) == FOUND
    assert colors[1] == FREE
    assert sorted(colors[[0, 2, 3]]) == [0, 1, 2]
    cycle = np.empty(4, dtype=np.int64)
    assert way(coloring.odd_cycle)(indptr, indices, alive, cycle) == 3
    assert sorted(cycle[:3]) == [0, 2, 3]
    assert list(way(coloring.core)(indptr, indices, 3, alive)) == [0, 2, 3]
    assert not alive.any()


def test_no_triangle_yet_four_colours():
    # Check the smallest graph whose clique number does not explain its colours.
    edges, n = oracle.groetzsch()
    graph = oracle.csr(edges, n)
    assert (n, len(edges)) == (11, 20)
    members, colors = np.empty(4, dtype=np.int64), np.empty(n, dtype=np.int64)
    assert coloring.find_clique(*graph, everyone(n), 3, PLENTY, members) == NONE
    assert coloring.color(*graph, everyone(n), 3, PLENTY, colors) == NONE
    assert coloring.color(*graph, everyone(n), 4, PLENTY, colors) == FOUND
    assert oracle.is_coloring(colors, edges)


def test_a_spent_budget_is_said():
    edges, n = oracle.groetzsch()
    graph = oracle.csr(edges, n)
    colors = np.empty(n, dtype=np.int64)
    assert coloring.color(*graph, everyone(n), 3, 5, colors) == UNKNOWN
    assert (colors == FREE).all()
    # Four groups of three, no links inside: no five are mutually linked, but it takes a search.
    edges = [(i, j) for i, j in complete(12) if i % 4 != j % 4]
    members = np.empty(5, dtype=np.int64)
    assert coloring.find_clique(*oracle.csr(edges, 12), everyone(12), 4, PLENTY, members) == FOUND
    assert coloring.find_clique(*oracle.csr(edges, 12), everyone(12), 4, 2, members) == UNKNOWN


def test_a_hidden_clique_is_met_at_once():
    # Check that 8 mutual neighbours in a sparse graph of 2 000 vertices cost hardly any search.
    rng = np.random.RandomState(0)
    clique = rng.choice(2_000, 8, replace=False)
    noise = rng.randint(2_000, size=(10_000, 2))
    pairs = np.concatenate([noise[noise[:, 0] != noise[:, 1]], clique[complete(8)]])
    members = np.empty(8, dtype=np.int64)
    graph = oracle.csr(pairs, 2_000)
    assert coloring.find_clique(*graph, everyone(2_000), 8, 50, members) == FOUND
    assert set(members) == set(clique)


def test_planted_colouring_at_the_hard_density():
    # Check a 3-colouring of 60 vertices of mean degree 4.7, where most are just colourable.
    rng = np.random.RandomState(1)
    truth = rng.randint(3, size=60)
    pairs = [(i, j) for i, j in complete(60) if truth[i] != truth[j]]
    edges = [pairs[p] for p in rng.permutation(len(pairs))[:141]]
    colors = np.empty(60, dtype=np.int64)
    assert coloring.color(*oracle.csr(edges, 60), everyone(60), 3, PLENTY, colors) == FOUND
    assert oracle.is_coloring(colors, edges)


def test_the_empty_graph():
    indptr, indices = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64)
    nobody, nothing = np.empty(0, dtype=np.bool_), np.empty(0, dtype=np.int64)
    assert len(coloring.core(indptr, indices, 1, nobody)) == 0
    assert coloring.color(indptr, indices, nobody, 0, 1, nothing) == FOUND
    assert coloring.odd_cycle(indptr, indices, nobody, nothing) == 0
    assert coloring.find_clique(indptr, indices, nobody, 1, 1, np.empty(1, np.int64)) == NONE
    assert coloring.two_color(indptr, indices, nothing, nothing, nobody) == 0
