"""Spaces that members of an average live in."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score as ari

from conclust.model_selection import _spaces
from conclust.model_selection._spaces import Linear, NeighborMap, local_affinities

X, y = make_moons(200, noise=0.05, random_state=0)


def test_shapes_that_wind_become_compact():
    leading = NeighborMap(X, 2, 0).transform(X)[:, :2]
    assert ari(y, KMeans(2, n_init=5, random_state=0).fit_predict(leading)) > 0.95


def test_affinities_by_hand():
    found = local_affinities(X).toarray()
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    order = np.argsort(distances, axis=1)[:, 1:]
    unit = distances[np.arange(200), order[:, 6]]
    for i, j in [(0, order[0, 0]), (5, order[5, 9]), (7, order[7, 3])]:
        expected = np.exp(-(distances[i, j] ** 2) / (unit[i] * unit[j]))
        assert found[i, j] == pytest.approx(expected)
    far = order[0, -1]
    assert found[0, far] == 0
    np.testing.assert_allclose(found, found.T)


def test_coordinates_are_those_of_the_walk():
    """D⁻¹A v = λ v, with the constant that joins all rows."""
    coordinates = NeighborMap(X, 2, 0).coordinates
    A = local_affinities(np.unique(X, axis=0)).toarray()
    A = A + 0.01 * A.sum() / len(A) / len(A)
    walk = A / A.sum(axis=1, keepdims=True)
    moved = walk @ coordinates
    for column, before in zip(moved.T, coordinates.T, strict=True):
        value = (column @ before) / (before @ before)
        np.testing.assert_allclose(column, value * before, atol=1e-8 * np.abs(before).max() + 1e-8)


def test_repeated_rows_are_one_place():
    often = np.repeat(X, 12, axis=0)
    found = NeighborMap(often, 2, 0)
    assert len(found.rows) == len(np.unique(X, axis=0))
    np.testing.assert_allclose(found.transform(often)[::12], NeighborMap(X, 2, 0).transform(X))


def test_new_rows_stand_between_old_ones(monkeypatch):
    monkeypatch.setattr(_spaces, "MAX_ROWS_MAP", 100)
    found = NeighborMap(X, 2, 0)
    assert len(found.rows) == 100
    np.testing.assert_allclose(found.transform(found.rows), found.coordinates)
    placed = found.transform(X)
    assert placed.shape == (200, found.coordinates.shape[1])
    assert (placed.max(axis=0) <= found.coordinates.max(axis=0) + 1e-12).all()


@pytest.mark.parametrize("rows", [X[:1], X[:2], X[:3], np.ones((9, 2)), np.eye(5)])
def test_few_rows(rows):
    assert np.isfinite(NeighborMap(rows, 3, 0).transform(rows)).all()


def test_linear():
    factor = np.array([[1.0, 2.0]])
    np.testing.assert_allclose(Linear(factor).transform(X), X @ factor.T)


def test_new_rows_stand_between_the_nearest():
    # Check by hand: coordinates of the five nearest, by the inverse of squared distances.
    found = NeighborMap(X, 2, 0)
    new = X[:3] + 0.01
    distances = np.sqrt(((new[:, None] - found.rows) ** 2).sum(axis=2))
    near = np.argsort(distances, axis=1)[:, : _spaces.BETWEEN]
    weight = 1 / np.take_along_axis(distances, near, axis=1) ** 2
    weight /= weight.sum(axis=1, keepdims=True)
    expected = (weight[:, :, None] * found.coordinates[near]).sum(axis=1)
    np.testing.assert_allclose(found.transform(new), expected)
