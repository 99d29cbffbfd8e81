"""Rows that vote for the clusters of rows near them."""

import numpy as np
import pytest
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score as ari

from conclust import sample_constraints
from conclust.model_selection import _votes
from conclust.model_selection._votes import View, Votes, count_votes, elect, log_share, voting

X, y = make_circles(160, factor=0.4, noise=0.05, random_state=0)
ONES = np.ones(2)
KNOWN = np.eye(2)[y]


@pytest.fixture(scope="module")
def view():
    return View(X, ONES, 0)


def kernel(view):
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    return np.exp(-squared / view.landmarks.width)


def test_no_row_votes_for_itself(view):
    """The closed form is ridge regression fitted again without each row."""
    penalty = 0.1
    K = kernel(view)
    others = view.say(KNOWN, np.array([5.0, penalty]))[0][1]
    for i in (0, 17, 80):
        rest = np.delete(np.arange(len(X)), i)
        weights = np.linalg.solve(K[np.ix_(rest, rest)] + penalty * np.eye(len(rest)), KNOWN[rest])
        np.testing.assert_allclose(others[i], K[i, rest] @ weights, atol=1e-6)


def test_new_rows_are_told_what_ridge_regression_says(view):
    penalty = 0.1
    by_direction = view.say(KNOWN, np.array([penalty]))[1][0]
    K = kernel(view)
    weights = np.linalg.solve(K + penalty * np.eye(len(X)), KNOWN)
    found = view.landmarks.closeness(X[:20]) @ view.by_landmark(by_direction)
    np.testing.assert_allclose(found, K[:20] @ weights, atol=1e-6)


def test_shapes_are_learned(view):
    believed = np.where(np.arange(160)[:, None] % 2 == 0, KNOWN, 0.5)
    assert (elect([view], believed).log_prior.argmax(axis=1) == y).mean() > 0.95


def test_the_better_view_is_taken():
    noise = np.random.RandomState(0).normal(scale=50, size=(160, 1))
    rows = np.hstack([X, noise])
    drowned, even = View(rows, np.ones(3), 0), View(rows, rows.std(axis=0), 0)
    assert elect([drowned, even], KNOWN).view is even


def test_votes_and_statements():
    told = sample_constraints(y, 160, noise=0.1, random_state=0)
    start = np.where(told.pairs().pairs.size, KNOWN * 0.4 + 0.3, 0)
    found = voting([View(X, ONES, 0)], told.pairs(), start)
    assert ari(y, found.responsibilities.argmax(axis=1)) > 0.9
    flipped = told.to_frame()["flipped"].to_numpy()
    assert found.doubt[flipped].mean() > 0.6 > 0.2 > found.doubt[~flipped].mean()
    new = Votes(found.election).log_prior(X)
    assert (new.argmax(axis=1) == y).mean() > 0.95


def test_landmarks_stand_for_all(monkeypatch):
    monkeypatch.setattr(_votes, "MAX_LANDMARKS", 60)
    few = View(X, ONES, 0)
    assert few.basis.shape[1] <= 60
    np.testing.assert_allclose(few.basis.T @ few.basis, np.eye(few.basis.shape[1]), atol=1e-8)
    assert (elect([few], KNOWN).log_prior.argmax(axis=1) == y).mean() > 0.95


def test_several_are_counted_in_one_look(view, monkeypatch):
    monkeypatch.setattr(_votes, "BLOCK_MANY", 50)
    other = View(X, np.array([1.0, 3.0]), 1)
    believed = np.where(np.arange(160)[:, None] % 2 == 0, KNOWN, 0.5)
    elections = [elect([view], KNOWN), elect([other], KNOWN), elect([view], believed)]
    votes = [Votes(election) for election in elections]
    looks = []
    closeness = _votes.Landmarks.closeness
    monkeypatch.setattr(
        _votes.Landmarks, "closeness", lambda *a: (looks.append(len(a[1])), closeness(*a))[1]
    )
    counted = count_votes(votes, X)
    assert sum(looks) == 2 * len(X)  # two views, three elections
    for one in votes:
        np.testing.assert_allclose(counted[one], one.log_prior(X), atol=1e-5)
    assert count_votes([], X) == {}


def test_shares():
    found = np.exp(log_share(np.array([[0.5, 0.5], [2.0, -1.0]])))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found[0], 0.5)
    assert found[1, 1] > 0


@pytest.mark.parametrize("rows", [X[:1], X[:2], np.ones((7, 2))])
def test_few_or_equal_rows(rows):
    found = elect([View(rows, ONES, 0)], np.full((len(rows), 2), 0.5))
    assert np.isfinite(found.log_prior).all()
