"""The checks must be able to fail: each is shown a learner with that fault."""

import numpy as np
import pytest

from conclust import ITML
from conclust.testing import EstimatorCase, _transformer_checks


class Deaf(ITML):
    """Does not even look at constraints."""

    def fit(self, X, y=None, *, constraints=None):
        return super().fit(X)


class Restless(ITML):
    """Changes the metric without being told anything."""

    def fit(self, X, y=None, *, constraints=None):
        super().fit(X, constraints=constraints)
        self.components_ = 2 * self.components_
        return self


class Lopsided(ITML):
    def pairwise(self, X, Y=None):
        D = super().pairwise(X, Y)
        return D + np.arange(D.shape[1])


class Positional(ITML):
    """Looks at the row number."""

    def fit(self, X, y=None, *, constraints=None):
        super().fit(X, constraints=constraints)
        self.components_ = self.components_ * (2 + X[0, 0] ** 2)
        return self


class Doubling(ITML):
    """Turns float32 into float64."""

    def transform(self, X):
        return super().transform(X).astype(np.float64)


class Spiteful(ITML):
    """Keeps the feature that is noise alone."""

    def fit(self, X, y=None, *, constraints=None):
        super().fit(X, constraints=constraints)
        if constraints is not None:
            self.components_ = np.diag(np.arange(X.shape[1]) == X.shape[1] - 1).astype(float)
        return self


class Collapsing(ITML):
    """Makes all rows equal when statements clash."""

    def fit(self, X, y=None, *, constraints=None):
        super().fit(X, constraints=constraints)
        if constraints is not None and constraints.conflicts():
            self.components_ = 0 * self.components_
        return self


@pytest.mark.parametrize(
    ("learner", "check"),
    [
        (Deaf, "check_bad_constraints"),
        (Restless, "check_no_constraints_is_identity"),
        (Lopsided, "check_distances_are_distances"),
        (Positional, "check_permuted_samples_same_distances"),
        (Collapsing, "check_contradiction_is_survived"),
        (Doubling, "check_float32_stays"),
        (Positional, "check_no_constraints_is_identity"),
        (Deaf, "check_constraints_help_k_means"),
        (Spiteful, "check_constraints_help_k_means"),
    ],
)
def test_a_fault_is_found(learner, check):
    with pytest.raises(AssertionError):
        getattr(_transformer_checks, check)(EstimatorCase(learner()))
