import numpy as np
import pytest
from hypothesis import given

from conclust import Constraints
from conclust._kernels import disjoint_set
from conclust.exceptions import InconsistentConstraintsError, InvalidConstraintsError
from conclust.testing import any_constraints, consistent_constraints
from tests.oracles import constraints as oracle


@given(consistent_constraints(n_samples=7, n_classes=3, max_pairs=8))
def test_closure_implies_what_the_two_rules_imply(case):
    known, _ = case
    together, apart = oracle.closure(known.must_link, known.cannot_link, 7)
    closure = known.closure()
    pairs = [(a, b) for a in range(7) for b in range(7) if a != b]
    expected = [
        1 if frozenset(p) in together else -1 if frozenset(p) in apart else 0 for p in pairs
    ]
    assert closure.implied(pairs).tolist() == expected


@given(consistent_constraints(n_samples=10))
def test_spanning_says_the_same(case):
    known, _ = case
    closure = known.closure()
    must, cannot = closure.spanning()
    again = Constraints(must, cannot, n_samples=10).closure()
    np.testing.assert_array_equal(again.component, closure.component)
    np.testing.assert_array_equal(again.apart, closure.apart)
    assert len(must) == 10 - closure.n_components
    assert closure.sizes.sum() == 10


def test_weights_of_links_between_the_same_components_add_up():
    known = Constraints([(0, 1)], [(0, 2), (1, 2)], cannot_link_weight=[1, 3])
    assert known.closure().apart_weight.tolist() == [4.0]


def test_groups_are_closed_too():
    known = Constraints.from_groups(together=[0, -1, -1, 0], apart=[1, 1, 1, -1])
    closure = known.closure()
    assert closure.implied([(3, 1), (3, 0), (1, 2)]).tolist() == [-1, 1, -1]
    assert len(closure.all_apart()[0]) == 3


def test_contradiction_is_named():
    known = Constraints([(0, 1), (1, 2)], [(0, 2), (1, 2)])
    with pytest.raises(
        InconsistentConstraintsError, match="0 – 1 – 2. 1 more such conflict"
    ) as info:
        known.closure()
    assert len(info.value.conflicts) == 2


def test_a_chain_of_a_million_links():
    # Check that depth is no problem: the peers recurse and crash.
    n = 1_000_000
    order = np.random.RandomState(0).permutation(n)
    known = Constraints(np.column_stack([order[:-1], order[1:]]), n_samples=n)
    assert known.closure().n_components == 1


def test_an_id_taken_for_a_position():
    with pytest.raises(InvalidConstraintsError, match="an id taken for a position"):
        Constraints([(0, 10**15)]).closure()


@pytest.mark.parametrize("compiled", [True, False])
@given(known=any_constraints(n_samples=8))
def test_components_kernel(compiled, known):
    kernel = disjoint_set.components if compiled else disjoint_set.components.py_func
    component = np.empty(8, dtype=np.int64)
    n = kernel(np.ascontiguousarray(known.must_link), 8, component)
    together, _ = oracle.closure(known.must_link, [], 8)
    for a in range(8):
        for b in range(8):
            assert (component[a] == component[b]) == (a == b or frozenset((a, b)) in together)
    assert sorted(set(component)) == list(range(n))
    firsts = [component.tolist().index(c) for c in range(n)]
    assert firsts == sorted(firsts)


def test_closure_of_nothing():
    assert Constraints().closure().n_components == 0
    assert Constraints(n_samples=3).closure().component.tolist() == [0, 1, 2]
    assert Constraints(n_samples=3).closure().implied(np.empty((0, 2))).tolist() == []
