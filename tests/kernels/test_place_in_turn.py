"""Units placed in turn, compiled and plain, against the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust._kernels.place_in_turn import FREE, place_in_turn
from conclust._pairs import SignedPairs, graph_of
from conclust._placement.in_turn import Turns
from conclust.testing import any_constraints
from tests.oracles import mini_batch as oracle

KERNELS = [place_in_turn, place_in_turn.py_func]


@pytest.mark.parametrize("kernel", KERNELS, ids=["compiled", "plain"])
def test_who_loses_more_chooses_first_and_nobody_fails(kernel):
    cost = np.array([[0.0, 1.0], [0.0, 9.0], [0.0, 5.0], [3.0, 2.0]])
    links = np.array([[0, 1], [1, 2], [0, 2]])
    graph = graph_of(links, 5)
    labels = np.full(5, FREE, dtype=np.int32)
    slot = np.array([0, 1, 2, 3, FREE])
    kernel(cost, slot, links, graph.indptr, graph.neighbor, labels)
    # Unit 2 finds both clusters held and takes the cheaper; 4 is not there.
    assert labels.tolist() == [1, 0, 0, 1, FREE]


@settings(max_examples=50, deadline=None)
@given(any_constraints(n_samples=10), st.integers(0, 10_000))
def test_parts_are_placed_without_each_other(known, seed):
    generator = np.random.RandomState(seed)
    rows, centers = generator.normal(size=(10, 2)), generator.normal(size=(3, 2))
    is_there = generator.uniform(size=10) < 0.8
    pairs: SignedPairs = known.pairs()
    if not len(pairs.pairs):
        return
    turns = Turns(pairs)
    seen = {i: rows[i].tolist() for i in range(10) if is_there[i]}
    told = pairs.pairs.tolist(), pairs.sign.tolist(), pairs.weight.tolist()
    expected = oracle.place(seen, dict.fromkeys(seen, 1.0), centers.tolist(), *told)
    for position in range(len(turns.rows)):
        tied = np.concatenate(list(turns.tied_to(np.array([position]))))
        assert position in tied
        tied = tied[is_there[turns.rows[tied]]]
        if not len(tied):
            continue
        here = rows[turns.rows[tied]]
        distances = ((here[:, np.newaxis] - centers) ** 2).sum(axis=2)
        labels = turns.place(tied, distances, np.ones(len(tied)))
        assert labels.tolist() == [expected[row] for row in turns.rows[tied].tolist()]
