"""The proof of an optimum, against every labelling of few rows."""

import numpy as np
import pytest
from benchmarks._proof import is_least, units_of

from conclust import sample_constraints
from tests.oracles.exact_moves import least_of_all


@pytest.mark.parametrize("seed", range(2))
def test_the_optimum_is_proved_and_nothing_below_it_is(seed):
    # Check that the least of all labellings is proved, and that a value above it never is.
    random = np.random.RandomState(seed)
    X, classes = random.normal(size=(8, 2)), random.randint(3, size=8)
    known = sample_constraints(classes, 5, random_state=seed)
    pairs, sign, *_ = known.pairs()
    least = least_of_all(X, np.ones(8), 3, pairs, sign, np.full(len(pairs), 1e6))
    units, inside = units_of(X, known)
    assert is_least(units, 3, least - inside, 1e-5 * least, 60)
    assert not is_least(units, 3, 1.01 * least - inside, 1e-5 * least, 12)
