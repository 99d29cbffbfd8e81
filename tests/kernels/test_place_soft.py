"""Moves of linked rows against totals written out, compiled and plain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conclust import Constraints
from conclust._kernels import place_soft
from conclust._placement.links import link_rows
from conclust._placement.soft import place_rows
from conclust.testing import any_constraints
from tests.oracles.pckmeans import least_total, total_price

BOTH = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
N_ROWS = 6


def kernel(name, compiled):
    function = getattr(place_soft, name)
    return function if compiled else function.py_func


@st.composite
def problems(draw, n_clusters=3):
    """Costs, links, prices (one column or one per cluster) and a labelling to start from."""
    links = link_rows(draw(any_constraints(n_samples=N_ROWS, max_pairs=8)))
    random = np.random.RandomState(draw(st.integers(0, 10_000)))
    cost = random.uniform(-2, 4, size=(len(links.rows), n_clusters))
    n_columns = draw(st.sampled_from([1, n_clusters]))
    price = links.weight[:, np.newaxis] * random.uniform(0, 2, size=(len(links), n_columns))
    labels = random.randint(n_clusters, size=len(links.rows)).astype(np.int32)
    return cost, links, price, labels


def graph(links, price):
    return *links.graph, links.sign, price


def links_of(must_link=(), cannot_link=()):
    return link_rows(Constraints(must_link, cannot_link))


@BOTH
@given(problem=problems())
def test_moving_rows_ends_where_no_row_wants_to_move(compiled, problem):
    # Check each single move by the total written out: none may better the labelling found.
    cost, links, price, labels = problem
    order = np.arange(len(labels))
    before = total_price(cost, links.pairs, links.sign, price, labels)
    move_rows = kernel("move_rows", compiled)
    while move_rows(cost, *graph(links, price), cost.min(axis=1), order, labels):
        after = total_price(cost, links.pairs, links.sign, price, labels)
        assert after < before
        before = after
    for row in order:
        for cluster in range(cost.shape[1]):
            moved = labels.copy()
            moved[row] = cluster
            assert total_price(cost, links.pairs, links.sign, price, moved) > before - 1e-9


@BOTH
@pytest.mark.parametrize("name", ["move_groups", "move_chains"])
@given(problem=problems())
def test_a_move_counts_if_and_only_if_the_total_falls(compiled, name, problem):
    cost, links, price, labels = problem
    last = {
        "move_groups": links.groups,
        "move_chains": (cost.min(axis=1), np.arange(len(labels)), 5, 1_000_000),
    }[name]
    start = labels.copy()
    before = total_price(cost, links.pairs, links.sign, price, start)
    n_moves = kernel(name, compiled)(cost, *graph(links, price), *last, labels)
    after = total_price(cost, links.pairs, links.sign, price, labels)
    assert after < before if n_moves else (labels == start).all()


@given(problem=problems())
def test_compiled_and_plain_agree(problem):
    cost, links, price, labels = problem
    order = np.arange(len(labels))
    results, least = [], cost.min(axis=1)
    for compiled in (True, False):
        found = labels.copy()
        kernel("move_rows", compiled)(cost, *graph(links, price), least, order, found)
        kernel("move_groups", compiled)(cost, *graph(links, price), *links.groups, found)
        kernel("move_chains", compiled)(
            cost, *graph(links, price), least, order, 5, 1_000_000, found
        )
        results.append(found)
    np.testing.assert_array_equal(*results)


def test_placing_mostly_finds_the_optimum():
    # Compare with every labelling of eight rows: never below the least total, mostly at it.
    n_found = {"rows": 0, "all": 0}
    for seed in range(40):
        random = np.random.RandomState(seed)
        pairs = np.array([random.choice(8, 2, replace=False) for _ in range(12)])
        links = links_of(pairs[:6], pairs[6:])
        cost = random.uniform(0, 2, size=(len(links.rows), 2))
        price = np.ones((len(links), 1))
        best = least_total(cost, links.pairs, links.sign, price)
        labels = cost.argmin(axis=1).astype(np.int32)
        every = np.arange(len(labels))
        while place_soft.move_rows(cost, *graph(links, price), cost.min(axis=1), every, labels):
            pass
        swept = total_price(cost, links.pairs, links.sign, price, labels)
        place_rows(cost, links, price, labels)
        placed = total_price(cost, links.pairs, links.sign, price, labels)
        assert best - 1e-9 <= placed <= swept
        n_found["rows"] += swept < best + 1e-9
        n_found["all"] += placed < best + 1e-9
    assert n_found["all"] >= 32 > 24 >= n_found["rows"]


@BOTH
@given(problem=problems())
def test_prices_of_broken_links(compiled, problem):
    # Check the prices against the total, and the count against the statements.
    cost, links, price, labels = problem
    paid = np.empty(len(links))
    n_broken = kernel("violated_price", compiled)(links.pairs, links.sign, price, labels, paid)
    expected = total_price(np.zeros_like(cost), links.pairs, links.sign, price, labels)
    assert paid.sum() == pytest.approx(expected)
    same = labels[links.pairs[:, 0]] == labels[links.pairs[:, 1]]
    assert n_broken == np.count_nonzero(same != (links.sign > 0))


@BOTH
def test_two_rows_that_may_not_meet_change_places(compiled):
    # Each row would be better off where the other is, and neither can go first.
    links = links_of(cannot_link=[(0, 1)])
    cost = np.array([[3.0, 0.0], [0.0, 3.0]])
    price = np.array([[10.0]])
    labels = np.array([0, 1], dtype=np.int32)
    least, order = cost.min(axis=1), np.arange(2)
    assert kernel("move_rows", compiled)(cost, *graph(links, price), least, order, labels) == 0
    chains = kernel("move_chains", compiled)
    assert chains(cost, *graph(links, price), least, order, 2, 1_000_000, labels) == 1
    assert labels.tolist() == [1, 0]


@BOTH
def test_a_chain_needs_length_and_budget(compiled):
    links = links_of(cannot_link=[(0, 1)])
    cost = np.array([[3.0, 0.0], [0.0, 3.0]])
    price = np.array([[10.0]])
    chains = kernel("move_chains", compiled)
    for longest, budget in ((1, 1_000_000), (2, 0)):
        labels = np.array([0, 1], dtype=np.int32)
        assert (
            chains(cost, *graph(links, price), np.zeros(2), np.arange(2), longest, budget, labels)
            == 0
        )
        assert labels.tolist() == [0, 1]


@BOTH
def test_a_group_moves_as_one(compiled):
    # A triangle of must-links: two hold back the third, whoever it is.
    links = links_of(must_link=[(0, 1), (1, 2), (0, 2)])
    cost = np.array([[1.0, 0.0]] * 3)
    price = np.ones((3, 1))
    labels = np.zeros(3, dtype=np.int32)
    assert (
        kernel("move_rows", compiled)(cost, *graph(links, price), np.zeros(3), np.arange(3), labels)
        == 0
    )
    groups = kernel("move_groups", compiled)
    assert groups(cost, *graph(links, price), *links.groups, labels) == 1
    assert labels.tolist() == [1, 1, 1]


def test_a_heavy_link_does_not_swallow_the_costs():
    # The cheapest of the clusters that keep the link must still be found.
    links = links_of(must_link=[(0, 1)])
    cost = np.array([[1.0, 0.999, 5.0], [1.0, 0.999, 5.0]])
    for heavy in (1e3, 1e9):
        labels = np.full(2, 2, dtype=np.int32)
        place_rows(cost, links, np.array([[heavy]]), labels)
        assert labels.tolist() == [1, 1]
