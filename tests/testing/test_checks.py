"""The checks must be able to fail: each is shown an estimator with that fault."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from sklearn.cluster import KMeans
from sklearn.utils import check_array

from conclust import ConstrainedKMeans, Constraints, COPKMeans, ReCon
from conclust.exceptions import InconsistentConstraintsError
from conclust.testing import (
    EstimatorCase,
    _checks,
    any_constraints,
    consistent_constraints,
    contradictory_constraints,
    estimator_checks,
)


class Deaf(ConstrainedKMeans):
    """Ignores constraints, and does not even look at them."""

    def fit(self, X, y=None, *, constraints=None):
        return super().fit(X)


class Unseeded(ConstrainedKMeans):
    def fit(self, X, y=None, *, constraints=None):
        super().fit(X, constraints=constraints)
        self.labels_ = np.random.randint(3, size=len(self.labels_))
        return self


class Doubling(ConstrainedKMeans):
    """Turns float32 into float64."""

    def fit(self, X, y=None, *, constraints=None):
        return super().fit(np.asarray(X, dtype=np.float64), constraints=constraints)


class Positional(ConstrainedKMeans):
    """Looks at the row number."""

    def fit(self, X, y=None, *, constraints=None):
        super().fit(X, constraints=constraints)
        self.labels_ = (np.arange(X.shape[0]) % 3).astype(np.int32)
        return self


class Spiteful(ConstrainedKMeans):
    """Worse when told more."""

    def fit(self, X, y=None, *, constraints=None):
        super().fit(X, constraints=constraints)
        if constraints is not None:
            self.labels_ = (np.arange(X.shape[0]) % 3).astype(np.int32)
        return self


@pytest.mark.parametrize(
    ("check", "estimator"),
    [
        (_checks.check_hard_constraints_hold, ConstrainedKMeans(3)),
        (_checks.check_hard_constraints_hold, Deaf(3)),
        (_checks.check_contradiction_raises, ConstrainedKMeans(3)),
        (_checks.check_bad_constraints, Deaf(3)),
        (_checks.check_same_seed_same_labels, Unseeded(3)),
        (_checks.check_permuted_samples, Positional(3)),
        (_checks.check_no_constraints_is_plain, Positional(3)),
        (_checks.check_float32_stays, Doubling(3)),
        (_checks.check_constraints_help, Spiteful(3)),
        (_checks.check_closure_changes_nothing, Unseeded(3)),
        (_checks.check_sparse_equals_dense, Unseeded(3)),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_each_check_finds_its_fault(check, estimator):
    with pytest.raises(AssertionError):
        check(EstimatorCase(estimator, hard=True, plain=KMeans()))


def test_a_raising_estimator_does_not_survive_contradiction():
    with pytest.raises(InconsistentConstraintsError):
        _checks.check_contradiction_is_survived(EstimatorCase(COPKMeans(3)))


def test_which_checks_apply():
    names = {check.__name__ for _, check in estimator_checks(EstimatorCase(COPKMeans(), hard=True))}
    assert "check_hard_constraints_hold" in names
    assert "check_no_constraints_is_plain" not in names
    soft = {check.__name__ for _, check in estimator_checks(EstimatorCase(ConstrainedKMeans()))}
    assert "check_contradiction_is_survived" in soft


def test_a_case_reads_what_the_class_declares():
    case = EstimatorCase(COPKMeans())
    assert (case.hard, case.relative) == (True, False)
    case = EstimatorCase(ReCon())
    assert (case.hard, case.relative) == (False, True)
    assert EstimatorCase(COPKMeans(on_infeasible="relax"), hard=False).hard is False
    undeclared = EstimatorCase(KMeans())
    assert (undeclared.hard, undeclared.relative) == (False, False)


def test_sparse_rows_are_taken_or_refused_as_the_tag_says():
    class Mute(ConstrainedKMeans):
        _takes = replace(ConstrainedKMeans._takes, sparse=False)

    class Boasting(COPKMeans):
        def fit(self, X, y=None, *, constraints=None):
            return super().fit(check_array(X), constraints=constraints)

    class Secretive(COPKMeans):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.sparse = False
            return tags

    _checks.check_sparse_equals_dense(EstimatorCase(Mute(3)))
    with pytest.raises(AssertionError, match="that it takes sparse rows"):
        _checks.check_sparse_equals_dense(EstimatorCase(Boasting(3)))
    with pytest.raises(AssertionError, match="that it refuses sparse rows"):
        _checks.check_sparse_equals_dense(EstimatorCase(Secretive(3)))


@given(consistent_constraints(max_relative=5))
def test_consistent_sets_are_true_under_their_labelling(case):
    known, truth = case
    assert known.satisfied(truth).all()
    assert known.conflicts() == []


@given(contradictory_constraints())
def test_contradictory_sets_clash(known):
    assert known.conflicts()


@given(any_constraints())
def test_any_sets_are_sets(known):
    assert isinstance(known, Constraints)
    assert known.n_samples == 10
