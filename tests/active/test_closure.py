"""What follows from answers, kept up to date, against the closure of the whole set."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from conclust import Constraints
from conclust.active._closure import LiveClosure

N = 12
PAIRS = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda p: p[0] != p[1])


def grown(pairs, signs):
    closure = LiveClosure(N)
    for (a, b), sign in zip(pairs, signs, strict=True):
        closure.add(a, b, sign)
    return closure


def all_pairs():
    return np.array([(a, b) for a in range(N) for b in range(N) if a != b])


@given(st.lists(PAIRS, max_size=30), st.lists(st.integers(0, 3), min_size=N, max_size=N))
def test_it_is_the_closure_of_the_set(pairs, labels):
    # Check that, told the truth pair by pair, it implies what the closure of all pairs implies.
    signs = [1 if labels[a] == labels[b] else -1 for a, b in pairs]
    whole = Constraints(
        [p for p, s in zip(pairs, signs, strict=True) if s > 0],
        [p for p, s in zip(pairs, signs, strict=True) if s < 0],
    ).closure(N)
    live = grown(pairs, signs)
    asked = all_pairs()
    assert live.implied(*asked.T).tolist() == whole.implied(asked).tolist()
    groups = {frozenset(g.tolist()) for g in live.groups}
    named = set(whole.apart.ravel().tolist()) | set(np.flatnonzero(whole.sizes > 1).tolist())
    assert groups == {frozenset(np.flatnonzero(whole.component == c).tolist()) for c in named}


@given(st.lists(st.tuples(PAIRS, st.sampled_from([1, -1])), max_size=40))
def test_contradictions_never_raise_and_leave_it_whole(told):
    # Check that with any answers it is the closure of those that fit those before them.
    kept, live = [], LiveClosure(N)
    for (a, b), sign in told:
        known = int(live.implied(a, b))
        if known in (0, sign):
            kept.append(((a, b), sign))
        live.add(a, b, sign)
    consistent = Constraints(
        [p for p, s in kept if s > 0], [p for p, s in kept if s < 0], n_samples=N
    )
    assert (
        live.implied(*all_pairs().T).tolist() == consistent.closure().implied(all_pairs()).tolist()
    )
    n_new = (live.group != np.arange(N)).sum() + len(live._ends)
    assert live.n_agreed + live.n_contradicted == len(told) - n_new


def test_a_copy_goes_its_own_way():
    first = grown([(0, 1), (1, 2)], [1, -1])
    second = first.copy()
    second.add(2, 3, 1)
    assert int(first.implied(0, 3)) == 0
    assert int(second.implied(0, 3)) == -1


def test_answers_that_say_it_again_are_counted():
    closure = grown([(0, 1), (1, 2), (0, 2), (0, 2)], [1, 1, 1, -1])
    assert (closure.n_agreed, closure.n_contradicted) == (1, 1)
