import numpy as np
import pytest
from numpy.testing import assert_allclose

from conclust.cluster import smooth_over_neighbors


def slowly(X, n_neighbors, share, n_steps):
    """Row by row, each neighbour looked up."""
    Z = X.copy()
    for _ in range(n_steps):
        new = np.empty_like(X)
        for i in range(len(X)):
            distance = ((X - X[i]) ** 2).sum(axis=1)
            distance[i] = np.inf
            near = np.argsort(distance)[:n_neighbors]
            new[i] = (1 - share) * X[i] + share * Z[near].mean(axis=0)
        Z = new
    for i in range(len(X)):
        Z[i] *= np.linalg.norm(X[i]) / np.linalg.norm(Z[i])
    return Z


@pytest.mark.parametrize(
    ("n_neighbors", "share", "n_steps"), [(1, 0.5, 1), (3, 0.7, 3), (9, 1.0, 2)]
)
def test_row_by_row(n_neighbors, share, n_steps):
    X = np.random.RandomState(0).normal(size=(10, 3))
    how = {"n_neighbors": n_neighbors, "share": share, "n_steps": n_steps}
    assert_allclose(smooth_over_neighbors(X, **how), slowly(X, **how))


def test_edges():
    X = np.random.RandomState(0).normal(size=(4, 3)).astype(np.float32)
    assert smooth_over_neighbors(X, n_neighbors=50).dtype == np.float32
    assert_allclose(smooth_over_neighbors(X, share=0), X, rtol=1e-6)
    assert_allclose(smooth_over_neighbors(X[:1]), X[:1])
    assert np.isfinite(smooth_over_neighbors(np.zeros((3, 2)))).all()
    with pytest.raises(ValueError, match="share=2"):
        smooth_over_neighbors(X, share=2)
