import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_iris

from conclust import Constraints, constraint_quality, sample_constraints
from conclust.constraints._quality import projected_overlap
from tests.oracles import constraints as oracle

COORDINATES = st.floats(-10, 10, allow_subnormal=False)


@given(arrays(np.float64, (4, 3), elements=COORDINATES))
def test_overlap_against_sampling_the_line(points):
    # Check the closed form against counting grid points on the line.
    if np.linalg.norm(points[3] - points[2]) < 1e-3:
        return
    found = projected_overlap(points, np.array([[0, 1]]), np.array([[2, 3]]))[0]
    assert found == pytest.approx(oracle.overlap(*points), abs=2e-3)


def test_parallel_links_contradict_and_crossed_ones_do_not():
    # Must-link along x from 0 to 2: a cannot-link beside it clashes, one across or beyond does not.
    X = np.array([[0, 0], [2, 0], [1, 1], [3, 1], [5, 1], [8, 1], [5, 0], [5, 3]], dtype=float)
    for cannot, coherence in (((2, 3), 0.0), ((4, 5), 1.0), ((6, 7), 1.0)):
        known = Constraints([(0, 1)], [cannot])
        assert constraint_quality(X, known, n_clusters=2).coherence == coherence


def test_informativeness_is_the_share_broken_without_constraints():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    known = Constraints([(0, 1), (0, 2)], [(0, 3), (2, 3)])
    quality = constraint_quality(X, known, n_clusters=2)
    assert quality.informativeness == 0.5
    by_tree = constraint_quality(X, known, estimator=AgglomerativeClustering(), n_clusters=2)
    assert by_tree.informativeness == 0.5


def test_edge_cases():
    X, y = load_iris(return_X_y=True)
    assert np.isnan(constraint_quality(X, Constraints())).all()
    assert np.isnan(constraint_quality(X, Constraints([(0, 1)])).coherence)
    known = sample_constraints(y, 300, random_state=0)
    exact = constraint_quality(X, known, n_clusters=3)
    sampled = constraint_quality(X, known, n_clusters=3, max_pairs=5000)
    assert sampled.coherence == pytest.approx(exact.coherence, abs=0.03)
    assert constraint_quality(X, known) == constraint_quality(X, known)
    with pytest.raises(ValueError, match="NaN"):
        constraint_quality([[np.nan], [1]], Constraints([(0, 1)]))
