"""k-means‖: the draws of the oracle, whatever the rows come from, and centres that are rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from conclust import (
    BoostedConstrainedKMeans,
    ConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    COPKMeans,
    PCKMeans,
    TrustEnsemble,
    blocks,
    sample_constraints,
)
from conclust._lloyd.scalable import scalable_plus_plus
from conclust._lloyd.start import init_centers
from tests.oracles import scalable as oracle

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 30, random_state=0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_draws_are_those_of_the_oracle(weighted, seed):
    generator = np.random.RandomState(seed)
    rows = generator.normal(size=(60, 3))
    weight = generator.randint(0, 3, size=60).astype(float) if weighted else np.ones(60)
    expected = oracle.scalable_plus_plus(rows, weight, 4, np.random.RandomState(seed))
    given_weight = weight if weighted else None
    for data in (rows, sp.csr_array(rows), blocks.open(rows, block_rows=7).checked()):
        found = scalable_plus_plus(data, 4, given_weight, np.random.RandomState(seed))
        assert_allclose(found, expected)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(6, 40), st.integers(0, 1000))
def test_centers_are_rows_and_distinct_where_rows_are(n_clusters, n, seed):
    generator = np.random.RandomState(seed)
    rows = generator.randint(0, 4, size=(n, 2)).astype(float)  # many are the same
    centers = init_centers(rows, n_clusters, "k-means||", None, np.random.RandomState(seed))
    assert centers.shape == (n_clusters, 2)
    assert {tuple(c) for c in centers} <= {tuple(x) for x in rows}
    n_distinct = len(np.unique(rows, axis=0))
    assert len(np.unique(centers, axis=0)) == min(n_clusters, n_distinct)


def test_few_rows_far_away_are_found():
    # Nine clumps of ten rows beside one of 20 000: small samples miss them.
    generator = np.random.RandomState(0)
    rows = generator.normal(size=(20_000, 2))
    rows[:90] += 1000.0 * (1 + np.arange(90) // 10)[:, np.newaxis]
    centers = init_centers(rows, 10, "k-means||", None, generator)
    assert len(np.unique(np.round(centers[:, 0] / 1000))) == 10


@pytest.mark.parametrize(
    "model",
    [
        ConstrainedKMeans(3, random_state=0),
        COPKMeans(3, n_init=2, random_state=0),
        PCKMeans(3, n_init=2, penalty=1.0, random_state=0),
        ConstrainedKMeansEnsemble(3, n_estimators=3, random_state=0),
        BoostedConstrainedKMeans(3, n_estimators=3, random_state=0),
        TrustEnsemble(3, n_estimators=2, n_judges=2, max_iter=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_estimators_start_so_with_the_same_answers_in_blocks(model):
    model.set_params(init="k-means||")
    labels = model.fit(X, constraints=KNOWN).labels_
    assert_array_equal(model.fit(blocks.open(X, block_rows=31), constraints=KNOWN).labels_, labels)
