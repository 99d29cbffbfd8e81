import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conclust import Constraints
from conclust.metrics import ConstraintReport, _pairwise, pairwise_f1, violations
from tests.oracles import constraints as oracle

TWO_LABELINGS = st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3)), min_size=1, max_size=12)


@given(TWO_LABELINGS, st.booleans())
def test_f1_is_the_definition(labels, dense):
    true, pred = zip(*labels, strict=True)
    limit = _pairwise.MAX_DENSE_CELLS
    try:
        _pairwise.MAX_DENSE_CELLS = limit if dense else 0
        assert pairwise_f1(true, pred) == pytest.approx(oracle.pairwise_f1(true, pred))
    finally:
        _pairwise.MAX_DENSE_CELLS = limit


@given(TWO_LABELINGS)
def test_f1_does_not_see_names(labels):
    true, pred = (np.array(x) for x in zip(*labels, strict=True))
    value = pairwise_f1(true, pred)
    assert pairwise_f1(pred, true) == value
    assert pairwise_f1(true * 10**12, [f"c{p}" for p in pred]) == value


def test_f1_edge_cases():
    assert pairwise_f1([0, 1, 2], [0, 1, 2]) == 1.0
    assert pairwise_f1([0, 1], [0, 0]) == 0.0
    assert pairwise_f1([0], [3]) == 1.0
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        pairwise_f1([0, 1], [0])
    with pytest.raises(ValueError, match="1d array"):
        pairwise_f1([[0, 1], [1, 0]], [0, 1])


def test_violations_is_the_report():
    known = Constraints([(0, 1)], [(0, 2)])
    labels = [0, 1, 0]
    assert violations(known, labels).equals(known.report(labels).violated)
    assert isinstance(known.report(labels), ConstraintReport)
