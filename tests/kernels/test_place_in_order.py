"""Placing linked rows pair by pair: every branch of Algorithm 2, by hand and by its oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conclust._kernels.place_in_order import Plan, count_violated, place_pairs, plan_pairs
from tests.oracles import kmeans as oracle

MUST, CANNOT = 1, -1
FREE = -1

compiled_and_plain = pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])


def place(distances, statements, order=None, plain=False):
    """Labels of the rows of a table of distances after visiting ``(i, j, sign)`` in order."""
    plan, place = (kernel.py_func if plain else kernel for kernel in (plan_pairs, place_pairs))
    distances = np.asarray(distances, dtype=np.float64)
    n_rows, n_clusters = distances.shape
    ranks = np.argsort(distances, axis=1, kind="stable").astype(np.int32)
    nearest, second = ranks[:, 0].copy(), ranks[:, min(1, n_clusters - 1)].copy()
    labels = np.full(n_rows, FREE, dtype=np.int32)
    table = np.asarray(statements).reshape(-1, 3)
    pairs, sign = table[:, :2].astype(np.uint32), table[:, 2].astype(np.int8)
    order = np.asarray(range(len(pairs)) if order is None else order, dtype=np.uint32)
    full = Plan(pairs.copy(), sign.copy(), pairs.copy(), sign.copy())
    is_placed = np.zeros(n_rows, dtype=bool)
    a, b = plan(pairs, sign, order, is_placed, full)
    cut = Plan(*(table[:n] for table, n in zip(full, (a, a, b, b), strict=True)))
    place(nearest, second, distances.min(axis=1), cut, labels)
    return labels.tolist()


# Rows: a and b are nearest to cluster 0, a more so; c and d to 1, c more so.
A, B, C, D = range(4)
TABLE = [
    [1.0, 5.0, 9.0],
    [2.0, 7.0, 6.0],
    [8.0, 1.5, 4.0],
    [9.0, 3.0, 4.0],
]


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        pytest.param([(A, C, MUST)], {A: 0, C: 0}, id="10 both free, must-link, i nearer"),
        pytest.param([(D, A, MUST)], {A: 0, D: 0}, id="12 both free, must-link, j nearer"),
        pytest.param([(B, C, CANNOT)], {B: 0, C: 1}, id="16 both free, cannot-link, no clash"),
        pytest.param([(A, B, CANNOT)], {A: 0, B: 2}, id="19 clash, i nearer: j second"),
        pytest.param([(B, A, CANNOT)], {A: 0, B: 2}, id="21 clash, j nearer: i second"),
        pytest.param([(A, B, MUST), (A, C, MUST)], {A: 0, B: 0, C: 0}, id="28 i placed, must-link"),
        pytest.param(
            [(A, B, CANNOT), (B, D, CANNOT)], {A: 0, B: 2, D: 1}, id="30 i placed, j free to go"
        ),
        pytest.param(
            [(A, C, CANNOT), (C, D, CANNOT)],
            {A: 0, C: 1, D: 2},
            id="30 i placed where j is nearest",
        ),
        pytest.param([(A, B, MUST), (C, A, MUST)], {A: 0, B: 0, C: 0}, id="35 j placed, must-link"),
        pytest.param(
            [(A, B, CANNOT), (D, B, CANNOT)], {A: 0, B: 2, D: 1}, id="37 j placed, i free to go"
        ),
        pytest.param(
            [(A, C, CANNOT), (D, C, CANNOT)],
            {A: 0, C: 1, D: 2},
            id="37 j placed where i is nearest",
        ),
        pytest.param(
            [(A, C, MUST), (A, C, CANNOT)], {A: 0, C: 0}, id="both placed: passed over, broken"
        ),
    ],
)
def test_every_branch(statements, expected):
    # Check each line of Algorithm 2 that assigns, by hand; the numbers are its lines.
    labels = place(TABLE, statements)
    assert labels == [expected.get(row, FREE) for row in range(len(TABLE))]


def test_x_j_decides_between_equally_near_rows():
    # Check the strict comparison of lines 9 and 18.
    table = [[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]
    assert place(table, [(0, 1, MUST)]) == [1, 1, FREE]
    assert place(table, [(1, 0, MUST)]) == [0, 0, FREE]
    assert place(table, [(0, 2, CANNOT)]) == [1, FREE, 0]
    assert place(table, [(2, 0, CANNOT)]) == [0, FREE, 1]


def test_equal_distances_mean_the_lowest_cluster():
    table = [[3.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    assert place(table, [(0, 1, CANNOT)]) == [1, 0]
    assert place(table, [(0, 1, MUST)]) == [1, 1]
    assert place([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [(0, 1, CANNOT)]) == [1, 0]


def test_one_cluster_takes_all():
    assert place([[1.0], [2.0], [3.0]], [(0, 1, CANNOT), (2, 1, CANNOT)]) == [0, 0, 0]


def test_order_decides_which_statement_is_kept():
    # Check that the visiting order is the one given, not the order of the table.
    statements = [(A, B, MUST), (A, B, CANNOT)]
    assert place(TABLE, statements, order=[0, 1])[:2] == [0, 0]
    assert place(TABLE, statements, order=[1, 0])[:2] == [0, 2]


@st.composite
def cases(draw):
    n_rows, n_clusters = draw(st.integers(2, 7)), draw(st.integers(1, 4))
    # Few values, so that ties are common.
    row = st.lists(st.integers(0, 4).map(float), min_size=n_clusters, max_size=n_clusters)
    distances = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    pair = st.tuples(*[st.integers(0, n_rows - 1)] * 2).filter(lambda p: p[0] != p[1])
    statement = st.tuples(pair, st.sampled_from([MUST, CANNOT])).map(lambda s: (*s[0], s[1]))
    return distances, draw(st.lists(statement, max_size=12))


@compiled_and_plain
def test_agrees_with_the_paper(plain):
    # Check against Algorithm 2 written out line by line.
    @given(cases(), st.randoms(use_true_random=False))
    def check(case, random):
        distances, statements = case
        pairs, sign = [s[:2] for s in statements], [s[2] for s in statements]
        order = list(range(len(pairs)))
        random.shuffle(order)
        expected = oracle.place_pairs(distances, pairs, sign, order)
        expected = [FREE if label is None else label for label in expected]
        assert place(distances, statements, order, plain) == expected

    check()


@pytest.mark.parametrize(
    "count", [count_violated, count_violated.py_func], ids=["compiled", "plain"]
)
def test_broken_pairs_are_counted(count):
    pairs = np.array([(0, 1), (0, 2), (0, 1), (1, 2)])
    sign = np.array([MUST, MUST, CANNOT, CANNOT], dtype=np.int8)
    assert count(pairs, sign, np.array([5, 5, 7])) == 2
    assert count(pairs[:0], sign[:0], np.array([5, 5, 7])) == 0
