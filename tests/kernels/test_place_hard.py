import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conclust._kernels import coloring, place_hard
from conclust._kernels.place_hard import FREE
from tests.oracles import placement as oracle
from tests.oracles.coloring import csr

PLENTY = 1_000_000


def compiled(kernel):
    return kernel


def plain(kernel):
    return kernel.py_func


both_ways = pytest.mark.parametrize("way", [compiled, plain])


@st.composite
def problems(draw, max_units=6, max_clusters=4, density=None):
    """Costs without ties, links, and their weights."""
    n_units = draw(st.integers(1, max_units))
    n_clusters = draw(st.integers(2, max_clusters))
    rng = np.random.RandomState(draw(st.integers(0, 2**31 - 1)))
    share = rng.uniform(0.1, 0.9) if density is None else density
    pairs = [(i, j) for i in range(n_units) for j in range(i + 1, n_units)]
    apart = [pair for pair in pairs if rng.uniform() < share]
    weight = rng.randint(1, 5, size=len(apart)).astype(float)
    return rng.uniform(0, 10, size=(n_units, n_clusters)), apart, weight


def with_weights(apart, weight, n_units):
    """CSR of the links and the weights along its indices."""
    indptr, indices = csr(apart, n_units)
    of_pair = {frozenset(pair): w for pair, w in zip(apart, weight, strict=True)}
    rows = np.repeat(np.arange(n_units), np.diff(indptr))
    along = [of_pair[frozenset(map(int, pair))] for pair in zip(rows, indices, strict=True)]
    return indptr, indices, np.array(along, dtype=float)


def value(labels, cost, apart, weight):
    return oracle.violated_weight(labels, apart, weight), oracle.total_cost(labels, cost)


@st.composite
def forests(draw):
    n_units = draw(st.integers(1, 6))
    apart = []
    for v in range(1, n_units):
        above = draw(st.integers(-1, v - 1))
        if above >= 0:
            apart.append((above, v))
    rng = np.random.RandomState(draw(st.integers(0, 2**31 - 1)))
    return rng.uniform(0, 10, size=(n_units, draw(st.integers(2, 4)))), apart


@both_ways
@given(case=forests())
def test_forests_are_placed_at_least_cost(case, way):
    cost, apart = case
    indptr, indices = csr(apart, len(cost))
    alive = np.ones(len(cost), dtype=np.bool_)
    peeled = coloring.core(indptr, indices, 2, alive)
    parent, labels = np.empty((2, len(cost)), dtype=np.int64)
    way(place_hard.find_parents)(indptr, indices, peeled, parent)
    folded = cost.copy()
    way(place_hard.fold_leaves)(peeled, parent, folded)
    way(place_hard.unfold_leaves)(peeled, parent, folded, labels)
    expected = oracle.cheapest(cost, apart, np.ones(len(apart)))
    assert value(labels, cost, apart, np.ones(len(apart))) == pytest.approx(expected)
    # The last unit of each tree has gathered the cost of the whole tree.
    assert folded[peeled[parent == FREE]].min(axis=1).sum() == pytest.approx(expected[1])


@both_ways
@given(case=problems(max_units=9))
def test_greedy_takes_the_most_constrained_first(case, way):
    cost, apart, weight = case
    labels = np.empty(len(cost), dtype=np.int64)
    n_stuck = way(place_hard.place_greedily)(cost, *with_weights(apart, weight, len(cost)), labels)
    expected = oracle.place_greedily(cost, apart)
    if expected is None:
        assert n_stuck > 0
        assert set(labels) <= set(range(cost.shape[1]))
    else:
        assert n_stuck == 0
        assert labels.tolist() == expected


@both_ways
@given(case=problems(), seed=st.integers(0, 1000))
def test_improving_never_worsens_and_leaves_no_single_move(case, seed, way):
    cost, apart, weight = case
    n_units, n_clusters = cost.shape
    start = np.random.RandomState(seed).randint(n_clusters, size=n_units)
    labels = start.copy()
    links = with_weights(apart, weight, n_units)
    way(place_hard.improve)(cost, *links, np.arange(n_units), 8, PLENTY, labels)
    reached = value(labels, cost, apart, weight)
    assert reached <= value(start, cost, apart, weight)
    for u in range(n_units):
        for c in range(n_clusters):
            moved = labels.copy()
            moved[u] = c
            assert value(moved, cost, apart, weight) >= reached


def links_of(apart, n_units):
    return with_weights(apart, np.ones(len(apart)), n_units)


@both_ways
def test_a_linked_pair_is_swapped(way):
    # Check that two units in each other's cheap cluster change places, which no move can do.
    cost = np.array([[9.0, 1.0], [1.0, 9.0]])
    labels = np.array([0, 1])
    way(place_hard.improve)(cost, *links_of([(0, 1)], 2), np.arange(2), 2, PLENTY, labels)
    assert labels.tolist() == [1, 0]


@both_ways
def test_a_chain_is_swapped_as_a_whole(way):
    # Check a path of five units in alternating clusters: only swapping all of them pays.
    cost = np.array([[9.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    path = [(0, 1), (1, 2), (2, 3), (3, 4)]
    labels = np.array([0, 1, 0, 1, 0])
    way(place_hard.improve)(cost, *links_of(path, 5), np.arange(5), 4, PLENTY, labels)
    assert labels.tolist() == [0, 1, 0, 1, 0], "longer than allowed"
    way(place_hard.improve)(cost, *links_of(path, 5), np.arange(5), 5, PLENTY, labels)
    assert labels.tolist() == [1, 0, 1, 0, 1]


@both_ways
def test_a_unit_in_the_way_is_sent_elsewhere(way):
    # Check that unit 0 gets cluster 1, and unit 1, kept out of 0 by unit 2, goes to cluster 2.
    cost = np.array([[9.0, 0.0, 9.0], [9.0, 1.0, 2.0], [0.0, 9.0, 9.0]])
    labels = np.array([0, 1, 0])
    links = links_of([(0, 1), (1, 2)], 3)
    way(place_hard.improve)(cost, *links, np.arange(3), 2, PLENTY, labels)
    assert labels.tolist() == [1, 2, 0]


def test_a_broken_link_is_mended_whatever_the_cost():
    cost = np.array([[0.0, 100.0], [0.0, 200.0]])
    labels = np.array([0, 0])
    place_hard.improve(cost, *links_of([(0, 1)], 2), np.arange(2), 2, PLENTY, labels)
    assert labels.tolist() == [1, 0]


def test_no_budget_no_change():
    cost = np.array([[9.0, 1.0]])
    labels = np.array([0])
    place_hard.improve(cost, *links_of([], 1), np.arange(1), 1, 0, labels)
    assert labels.tolist() == [0]


@both_ways
@given(case=problems())
def test_soft_start_without_clashes_is_the_cheapest(case, way):
    cost, apart, weight = case
    labels = cost.argmin(axis=1)
    cheapest = labels.copy()
    order = np.arange(len(cost))
    way(place_hard.place_softly)(
        cost, *with_weights(apart, weight, len(cost)), order, 0.1, 1.5, 30, labels
    )
    if oracle.violated_weight(cheapest, apart, weight) == 0:
        assert labels.tolist() == cheapest.tolist()
    assert oracle.violated_weight(labels, apart, weight) <= oracle.violated_weight(
        cheapest, apart, weight
    )


@both_ways
@given(
    case=problems(max_units=5, max_clusters=3),
    n_drawn=st.sampled_from([8, 100]),
    seed=st.integers(1, 1000),
)
def test_repair_breaks_the_least_weight(case, n_drawn, seed, way):
    cost, apart, weight = case
    labels = np.zeros(len(cost), dtype=np.int64)
    links = with_weights(apart, weight, len(cost))
    broken = way(place_hard.repair)(cost, *links, n_drawn, 3_000, seed, labels)
    assert broken == oracle.violated_weight(labels, apart, weight)
    assert broken == oracle.cheapest(cost, apart, weight)[0]


def test_repair_leaves_what_is_whole():
    labels = np.array([1, 0])
    links = links_of([(0, 1)], 2)
    assert place_hard.repair(np.ones((2, 2)), *links, 8, PLENTY, 1, labels) == 0.0
    assert labels.tolist() == [1, 0]


@both_ways
def test_extending_follows_the_order(way):
    # Check that the second in order finds the first one's cluster taken, and the third is stuck.
    cost = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    labels = np.full(3, FREE)
    indptr, indices = csr([(0, 1), (0, 2), (1, 2)], 3)
    assert way(place_hard.extend)(cost, indptr, indices, np.array([1, 0]), labels) == FREE
    assert labels.tolist() == [1, 0, FREE]
    assert way(place_hard.extend)(cost, indptr, indices, np.array([2]), labels) == 2


@both_ways
@given(case=problems())
def test_broken_weight_by_component(case, way):
    cost, apart, weight = case
    labels = cost.argmin(axis=1)
    together = np.zeros(len(cost), dtype=np.int64)
    broken = np.empty(1)
    links = with_weights(apart, weight, len(cost))
    way(place_hard.violated_weight)(*links, together, labels, broken)
    assert broken[0] == oracle.violated_weight(labels, apart, weight)


@given(case=problems(max_units=14, max_clusters=5), seed=st.integers(1, 2**31 - 2))
def test_compiled_and_plain_agree(case, seed):
    # Check that both give the same labels, tabu's random part included.
    cost, apart, weight = case
    links = with_weights(apart, weight, len(cost))
    order = np.argsort(cost.min(axis=1), kind="stable")
    answers = []
    for way in (compiled, plain):
        greedy, soft = np.empty(len(cost), dtype=np.int64), cost.argmin(axis=1)
        way(place_hard.place_greedily)(cost, *links, greedy)
        way(place_hard.place_softly)(cost, *links, order, 0.5, 1.5, 5, soft)
        mended, improved = soft.copy(), soft.copy()
        way(place_hard.repair)(cost, *links, 3, 2_000, seed, mended)
        way(place_hard.improve)(cost, *links, order, 4, PLENTY, improved)
        answers.append(np.concatenate([greedy, soft, mended, improved]).tolist())
    assert answers[0] == answers[1]
