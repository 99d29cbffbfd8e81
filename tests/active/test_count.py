"""How many clusters, by the groups that answers made."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from conclust import Constraints
from conclust.active import Labels, Session, ask
from conclust.active._closure import LiveClosure
from conclust.active._count import counted, counted_by_answers


def settled(y):
    """What follows where each row was compared with the first of each class before it."""
    closure, first = LiveClosure(len(y)), {}
    for row, label in enumerate(y):
        for other, member in first.items():
            closure.add(row, member, 1 if other == label else -1)
        first.setdefault(label, row)
    return closure


def test_by_hand():
    none = np.empty(0)
    assert counted(np.array([20, 20]), none) == (2, 2)
    assert counted(np.array([3, 3]), none) is None  # 2 > 0.1 · 6
    assert counted(np.array([40]), none) is None  # nothing was ever apart
    # 10 alone of 410 rows: 10 + 2 √11 < 41, and 50 / (1 - 10 / 410) = 51.25
    assert counted(np.array([10] * 40 + [1] * 10), none) == (50, 51)
    # Groups of two rows make it less sure: 4 + 2 √5 < 10.4, but 4 + 2 √25 > 12.4.
    assert counted(np.array([10] * 10 + [1] * 4), none) == (14, 15)
    assert counted(np.array([10] * 10 + [1] * 4 + [2] * 10), none) is None


def test_rows_on_their_way_count_by_the_groups_that_turned_them_away():
    sizes = np.array([20, 20])
    assert counted(sizes, np.full(10, 0.5)) is None  # 5 + 2 √6 > 4.5
    assert counted(np.array([100, 100]), np.full(10, 0.5)) == (2, 2)
    many = np.full(20, 30)
    assert counted(many, np.full(30, 0.9)) == (20, 21)  # 27 of 627 alone


@given(st.integers(0, 2**16), st.integers(2, 40))
def test_counted_is_near_the_truth(seed, n_classes):
    # Check that, of rows drawn at random, nothing is said while a good part may be of classes not
    # met; by two standard errors, so that a little more than a tenth is possible.
    rng = np.random.RandomState(seed)
    share = rng.dirichlet(np.full(n_classes, 2.0))
    y = rng.choice(n_classes, size=rng.randint(10, 800), p=share)
    sizes = np.bincount(y)
    found = counted(sizes[sizes > 0], np.empty(0))
    if found is not None:
        low, high = found
        assert low <= n_classes
        assert low <= high <= np.ceil(low / 0.9)
        assert share[np.bincount(y, minlength=n_classes) == 0].sum() <= 0.2


@given(st.lists(st.integers(0, 4), min_size=2, max_size=60))
def test_answers_are_counted_by_their_closure(y):
    y = np.array(y)
    found = counted_by_answers(settled(y), np.arange(len(y)))
    assert found == counted(np.unique(y, return_counts=True)[1], np.empty(0))


def test_only_rows_asked_about_are_counted():
    # Check that rows known beforehand, perhaps of some classes only, do not make it sure.
    closure = settled(np.repeat([0, 1], 30))
    assert counted_by_answers(closure, np.arange(60)) == (2, 2)
    assert counted_by_answers(closure, np.array([0, 30])) is None


@given(
    st.lists(
        st.tuples(st.integers(0, 11), st.integers(0, 11), st.sampled_from([1, -1])), max_size=60
    )
)
def test_groups_all_apart_are_apart_and_cannot_be_more(told):
    closure = LiveClosure(12)
    for a, b, sign in told:
        if a != b:
            closure.add(a, b, sign)
    apart = closure.all_apart
    first = np.array([rows[0] for rows in apart], dtype=int)
    assert all((closure.implied(row, first[first != row]) == -1).all() for row in first)
    inside = set(np.concatenate([*apart, []]).tolist())
    others = [rows[0] for rows in closure.groups if rows[0] not in inside]
    assert not any((closure.implied(row, first) == -1).all() for row in others)


def test_a_known_number_is_not_counted(directions):
    X, y = directions
    for k, found in ((None, (12, 12)), (12, None)):
        session = Session(X, k, constraints=Constraints(), random_state=0)
        first = {label: int(np.flatnonzero(y == label)[0]) for label in range(12)}
        for row, label in enumerate(y):
            for other, member in first.items():
                if row > member or (row not in first.values() and other == label):
                    question = session.pose((row, member))
                    session.tell(question, "must-link" if other == label else "cannot-link")
        assert session._state.n_clusters_range == found


def test_answers_asked_for_tell_the_number(directions):
    # Check that classes of four groups each are counted where rows speak for twelve clusters.
    X, y = directions
    session = ask(X, Labels(y // 4), 120, batch=10, random_state=0)
    assert session.model_.n_clusters_ == 3
    assert session._state.n_clusters_range == (3, 3)
    assert len(np.unique(session.labels_)) == 3
