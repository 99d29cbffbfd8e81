"""What may be held out, and what may then be asked."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from conclust import Constraints
from conclust._folds import deal, left_open
from conclust.testing import any_constraints
from tests.oracles import constraints as oracle


def test_what_follows_from_what_is_told_is_not_asked():
    known = Constraints([(0, 1), (1, 2), (0, 2)], [(2, 3), (0, 3), (1, 4), (0, 2)])
    told = np.array([True, True, False, True, False, False, False])
    # 0-2 is implied, 0|3 is implied, 1|4 is open, 0|2 is contradicted.
    assert left_open(known, told).tolist() == [False] * 5 + [True, False]


@given(known=any_constraints(n_samples=8), seed=st.integers(0, 9))
def test_open_ones_are_those_the_closure_does_not_decide(known, seed):
    # Check against the closure of what is told, written out pair by pair.
    known = known.pairwise
    told = np.random.RandomState(seed).uniform(size=len(known)) < 0.6
    said = known[told].pairs()
    together, apart = oracle.closure(
        said.pairs[said.sign > 0].tolist(), said.pairs[said.sign < 0].tolist(), 8
    )
    pairs = known.pairs()
    expected = np.zeros(len(known), bool)
    for pair, statement in zip(pairs.pairs.tolist(), pairs.statement, strict=True):
        decided = frozenset(pair) in together or frozenset(pair) in apart
        expected[statement] |= not told[statement] and not decided
    assert left_open(known, told).tolist() == expected.tolist()


def test_folds_of_single_statements_are_even():
    fold = deal(np.arange(10), 4, np.random.RandomState(0))
    assert sorted(np.bincount(fold)) == [2, 2, 3, 3]
    assert deal(np.arange(4), 2).tolist() == [0, 1, 0, 1]


def test_a_unit_stays_in_one_fold_and_large_ones_come_first():
    assert deal(np.array([0, 1, 1, 1, 2, 2, 3]), 2).tolist() == [1, 0, 0, 0, 1, 1, 0]
