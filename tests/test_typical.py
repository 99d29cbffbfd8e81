"""Typical rows, by hand."""

import numpy as np
import pytest
import scipy.sparse as sp

from conclust._typical import middle_to_edge, outwards


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_rows_go_from_the_middle_outwards(kind):
    assert outwards(kind([[0.0], [1.0], [5.0], [20.0]])).tolist() == [2, 1, 0, 3]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_rows_from_the_middle_to_the_edge(kind):
    X = kind([[0.0], [1.0], [3.0], [7.0], [15.0]])
    assert middle_to_edge(X, 3).tolist() == [3, 1, 4]
    assert middle_to_edge(X, 5).tolist() == [0, 1, 2, 3, 4]
