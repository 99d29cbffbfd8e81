"""Labels known of some rows: votes of rows near each other."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import adjusted_rand_score

from conclust import AutoCluster, Constraints
from conclust.model_selection._classes import heed, label_scores
from conclust.model_selection._stack import RATES


def rings(n=300, seed=0):
    """Three rings around each other: no ellipsoid shows them."""
    rng = np.random.RandomState(seed)
    y = rng.randint(3, size=n)
    angle, radius = rng.uniform(0, 2 * np.pi, n), 1 + y + rng.normal(0, 0.1, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def checkers(n=900, seed=0):
    """Three classes on the squares of a board: no clustering shows them."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(0, 6, size=(n, 2))
    return X, (np.floor(X[:, 0]) + 2 * np.floor(X[:, 1])).astype(int) % 3


def partly(y, share, seed=0):
    given = np.random.RandomState(seed).uniform(size=len(y)) < share
    return np.where(given, y, -1), given


def test_classes_of_any_shape_are_known_from_labels(monkeypatch):
    X, y = checkers()
    labels, given = partly(y, 0.5)
    model = AutoCluster(3, random_state=0).fit(X, labels)
    assert adjusted_rand_score(y[~given], model.labels_[~given]) > 0.6
    assert (model.labels_[given] == y[given]).mean() > 0.95  # numbers are those of the classes
    assert model.by_class_.weight > 0.9
    assert any("vote on those near them" in reason for reason in model.reasons_)
    monkeypatch.setattr(AutoCluster, "_heed", lambda *given: None)
    pairs_alone = AutoCluster(3, random_state=0).fit(X, labels)
    assert adjusted_rand_score(y[~given], pairs_alone.labels_[~given]) < 0.3


def test_new_rows_are_known_likewise():
    X, y = rings()
    new, truth = rings(200, seed=1)
    model = AutoCluster(3, random_state=0).fit(X, partly(y, 0.4)[0])
    assert (model.predict(new) == truth).mean() > 0.9
    updated = model.update(X_new=new)
    assert (updated.labels_[len(X) :] == truth).mean() > 0.9


def test_wrong_labels_are_doubted():
    X, y = rings(400)
    labels, given = partly(y, 0.6)
    wrong = given & (np.random.RandomState(1).uniform(size=len(y)) < 0.1)
    labels[wrong] = (labels[wrong] + 1) % 3
    model = AutoCluster(3, random_state=0).fit(X, labels)
    assert (model.labels_[wrong] == y[wrong]).mean() > 0.7
    assert (model.labels_[given & ~wrong] == y[given & ~wrong]).mean() > 0.95
    suspects = model.suspects(30)
    assert (wrong[suspects["a"]] | wrong[suspects["b"]]).mean() > 0.9
    bound = AutoCluster(3, seeds="hard", random_state=0).fit(X, labels)
    np.testing.assert_array_equal(bound.labels_[given], labels[given])


def test_an_update_leaves_rows_alone_that_it_is_not_about():
    X, y = checkers()
    labels, given = partly(y[:800], 0.6)
    wrong = given & (np.random.RandomState(1).uniform(size=800) < 0.1)
    labels[wrong] = (labels[wrong] + 1) % 3
    before = AutoCluster(3, random_state=0).fit(X[:800], labels).labels_.copy()
    model = AutoCluster(3, random_state=0).fit(X[:800], labels)
    a, b = np.flatnonzero(before == 0)[:2]
    new = Constraints([(a, row) for row in np.flatnonzero(before == 1)[:6]], [(a, b)])
    model.update(X_new=X[800:], constraints_new=new)
    assert model.labels_[a] == 1
    assert (model.labels_[:800] == before).mean() > 0.99
    assert (model.labels_[800:] == y[800:]).mean() > 0.7


def test_statements_beside_labels_count():
    X, y = load_iris(return_X_y=True)
    labels, given = partly(y, 0.3)
    a, b = np.flatnonzero(~given & (y == 0))[:2]
    other = np.flatnonzero(~given & (y == 1))[:6]
    plain = AutoCluster(3, random_state=0).fit(X, labels)
    assert plain.labels_[a] == plain.labels_[b] == 0
    moved = Constraints([(a, row) for row in other], [(a, b)])
    model = AutoCluster(3, random_state=0).fit(X, labels, constraints=moved)
    assert model.labels_[a] == 1
    assert len(model.doubt_) == len(model.constraints_) == len(plain.constraints_) + 7


def test_clusters_that_are_right_are_left_alone():
    X, y = load_iris(return_X_y=True)
    labels, given = partly(y, 0.2)
    model = AutoCluster(3, random_state=0).fit(X, labels)
    assert model.by_class_.weight < 0.5
    assert adjusted_rand_score(y[~given], model.labels_[~given]) > 0.85


@pytest.mark.parametrize(
    ("share", "n_clusters"), [(0.03, 3), (0.4, 4)], ids=["few labels", "a class to be found"]
)
def test_nobody_votes_where_classes_are_hardly_known(share, n_clusters):
    X, y = rings()
    model = AutoCluster(n_clusters, random_state=0).fit(X, partly(y, share)[0])
    assert model.by_class_ is None


def test_a_row_does_not_vote_for_itself():
    # Labels that mean nothing are not known from the others, however close a row is to itself.
    rng = np.random.RandomState(0)
    X, number = rng.normal(size=(120, 3)), rng.randint(2, size=120)
    prior = np.full((120, 2), 0.5)
    heeded = heed(X, prior, number, 0)
    said = heeded.prior[np.arange(120), number]
    assert said.mean() < 0.6
    assert np.allclose(heeded.prior.sum(axis=1), 1)


def test_more_rows_than_may_vote(monkeypatch):
    monkeypatch.setattr("conclust.model_selection._classes.MAX_VOTING", 100)
    X, y = make_moons(600, noise=0.05, random_state=0)
    heeded = heed(X, np.full((600, 2), 0.5), np.where(np.arange(600) < 400, y, -1), 0)
    assert (heeded.prior.argmax(axis=1) == y).mean() > 0.95


def test_clusters_may_be_renumbered():
    X, y = rings(150)
    heeded = heed(X, np.full((150, 3), 1 / 3), y, 0)
    number = np.array([2, 0, 1])
    prior = heeded.by_class.mixed(np.full((150, 3), 1 / 3), X)
    renamed = heeded.by_class.renumbered(number).mixed(np.full((150, 3), 1 / 3), X)
    np.testing.assert_allclose(renamed[:, number], prior)


def test_score_of_labels_is_the_likelihood_at_the_best_rate():
    rng = np.random.RandomState(0)
    probability = rng.dirichlet([1, 1, 1, 1], size=30)
    number = rng.randint(4, size=30)
    best = -np.inf
    for rate in RATES:
        total = np.log(rate) + 9 * np.log(1 - rate)
        for row, c in zip(probability, number, strict=True):
            total += np.log((1 - rate) * row[c] + rate * (1 - row[c]) / 3)
        best = max(best, total / 30)
    assert label_scores(probability, number).max() == pytest.approx(best)
