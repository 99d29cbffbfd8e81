"""Pairs as arrays: the rows they name, which are broken, and their graph."""

import numpy as np
import pytest

from conclust import Constraints
from conclust._pairs import graph_of, named_rows


def test_rows_that_pairs_name_and_the_pairs_among_them():
    rows, among = Constraints([(7, 2)], [(9, 7)]).pairs().named()
    assert rows.tolist() == [2, 7, 9]
    assert among.tolist() == [[1, 0], [2, 1]]


def test_few_pairs_among_many_rows_need_no_mark_for_each():
    few = np.array([[10**12, 3], [7, 10**12]])
    rows, among = named_rows(few, np.uint32)
    assert rows.tolist() == [3, 7, 10**12]
    assert among.tolist() == [[2, 0], [1, 2]]
    assert (rows.dtype, among.dtype) == (np.int64, np.uint32)


def test_no_pairs_name_no_rows():
    rows, among = named_rows(np.empty((0, 2), np.int64), np.uint32)
    assert len(rows) == 0
    assert among.shape == (0, 2)
    assert among.dtype == np.uint32


def test_must_links_break_apart_and_cannot_links_together():
    pairs = Constraints([(0, 1), (1, 2)], [(0, 1), (1, 2)]).pairs()
    assert pairs.violated(np.array([0, 0, 1])).tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("sort", "of_1", "links"), [(False, [3, 0], [0, 2]), (True, [0, 3], [2, 0])]
)
def test_neighbors_in_the_order_of_pairs_or_ascending(sort, of_1, links):
    graph = graph_of(np.array([(1, 3), (2, 3), (1, 0)]), 5, sort=sort)
    assert graph.indptr.tolist() == [0, 1, 3, 4, 6, 6]
    assert graph.neighbor[1:3].tolist() == of_1
    assert graph.link[1:3].tolist() == links
    assert graph.neighbor[4:6].tolist() == [1, 2]
