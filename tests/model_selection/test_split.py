import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conclust import Constraints, sample_constraints
from conclust._folds import units
from conclust.constraints._components import must_link_components
from conclust.model_selection import ConstraintKFold
from conclust.testing import any_constraints, consistent_constraints


@given(consistent_constraints(n_samples=12, max_pairs=25), st.integers(2, 4))
def test_no_held_out_pair_follows_from_the_rest(case, n_splits):
    known, _ = case
    assume(len(known) and len(np.unique(units(known))) >= n_splits)
    seen = np.zeros(len(known), dtype=int)
    for train, test in ConstraintKFold(n_splits, random_state=0).split(known):
        implied = known[train].closure(12).implied(known[test].pairs().pairs)
        assert (implied == 0).all()
        seen[test] += 1
        assert sorted([*train, *test]) == list(range(len(known)))
        assert len(test)
    assert (seen == 1).all()


@given(any_constraints(n_samples=8))
def test_contradictory_statements_stay_together(known):
    component, _ = must_link_components(known)
    unit = units(known)
    for i, statement in enumerate(known):
        a, b = statement.samples
        for j, other in enumerate(known):
            if (
                other.kind == "must-link"
                and component[a] == component[b] == component[other.samples[0]]
            ):
                assert unit[i] == unit[j]


def test_groups_do_not_leak():
    known = Constraints.from_groups(apart=[0, 0, 0, 1, 1, 1]) + Constraints(
        cannot_link=[(0, 1), (0, 5)], must_link=[(2, 4)]
    )
    unit = units(known)
    kinds = known.kinds.tolist()
    assert kinds == ["apart", "apart", "must-link", "cannot-link", "cannot-link"]
    assert unit[0] == unit[3]  # (0, 1) is repeated by the first group
    assert len(set(unit)) == 4


def test_triplets_about_the_same_samples_stay_together():
    known = Constraints(relative=[(0, 1, 2), (0, 2, 1), (3, 4, 5)])
    assert units(known).tolist() == [0, 0, 1]


def test_folds_are_about_equal_and_seeded():
    y = np.arange(300) % 5
    known = sample_constraints(y, 100, random_state=0)
    folds = [test for _, test in ConstraintKFold(5, random_state=1).split(known)]
    assert max(map(len, folds)) - min(map(len, folds)) <= 25
    again = [test for _, test in ConstraintKFold(5, random_state=1).split(known)]
    for one, two in zip(folds, again, strict=True):
        np.testing.assert_array_equal(one, two)


def test_bad_arguments():
    with pytest.raises(ValueError, match="n_splits must be an integer of at least 2; got 1"):
        ConstraintKFold(1)
    chain = Constraints([(0, 1), (1, 2), (2, 3)])
    with pytest.raises(ValueError, match="n_splits=2, but the 3 statements form only 1 units"):
        list(ConstraintKFold(2).split(chain))
    with pytest.raises(TypeError, match="splits statements, not rows"):
        list(ConstraintKFold(2).split(np.zeros((5, 2))))
