"""Several starts: which one is kept, how many are made, and what is said of empty clusters."""

import numpy as np
import pytest

from conclust import (
    BoostedConstrainedKMeans,
    ConstrainedGaussianMixture,
    ConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    COPKMeans,
    GeneralizedKMeans,
    MPCKMeans,
    PCKMeans,
)
from conclust._lloyd.best import best_of_starts, is_better, n_starts
from conclust.exceptions import DegenerateClusteringWarning


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ((1.0,), (2.0,), True),
        ((2.0,), (1.0,), False),
        ((1.0,), (1.0,), False),
        # The same clusters under other names differ by rounding.
        ((1e6 * (1 - 1e-12),), (1e6,), False),
        ((1e6 * (1 - 1e-9),), (1e6,), True),
        # The first number decides, but not by rounding.
        ((0.0, 9.0), (1.0, 1.0), True),
        ((1.0, 1.0), (0.0, 9.0), False),
        ((3.0 - 1e-14, 9.0), (3.0, 1.0), False),
        ((3.0 + 1e-14, 1.0), (3.0, 9.0), True),
        # Negative values, and those that are no number.
        ((-2.0,), (-1.0,), True),
        ((-1.0 - 1e-13,), (-1.0,), False),
        ((1.0,), (np.inf,), True),
        ((np.inf,), (1.0,), False),
        ((np.nan,), (1.0,), False),
    ],
)
def test_what_is_better(new, old, expected):
    assert is_better(new, old) is expected


def test_the_first_of_equals_is_kept():
    values = [3.0, 1.0 + 1e-13, 1.0, 2.0]
    numbers = []

    def start(number, on_round):
        numbers.append(number)
        return number

    assert best_of_starts(start, 4, lambda run: (values[run],)) == 1
    assert numbers == [0, 1, 2, 3]


def test_a_single_start_is_not_weighed():
    # Check that nothing is spent on comparing what has no rival.
    def key(run):
        raise AssertionError

    assert best_of_starts(lambda number, on_round: "only", 1, key) == "only"


def test_progress_counts_the_starts(capsys):
    best_of_starts(lambda number, show: number, 3, lambda run: (run,), what="Test", verbose=1)
    assert "3/3" in capsys.readouterr().err


def centers(X, n_clusters, random_state):
    return X[:n_clusters]


@pytest.mark.parametrize("given", [[[0.0], [1.0]], ((0.0,), (1.0,)), np.array([[0.0], [1.0]])])
def test_given_centres_are_started_from_once(given):
    assert n_starts(given, 10) == 1


@pytest.mark.parametrize("drawn", ["k-means++", "random", centers])
def test_drawn_centres_are_drawn_as_often_as_asked(drawn):
    assert n_starts(drawn, 10) == 10


@pytest.mark.parametrize(
    "model",
    [
        COPKMeans(2, n_init=10),
        ConstrainedKMeans(2, n_init=10),
        PCKMeans(2, n_init=10),
        MPCKMeans(2, n_init=10),
        GeneralizedKMeans(2, n_init=10),
        ConstrainedGaussianMixture(2, n_init=10),
    ],
    ids=lambda model: type(model).__name__,
)
def test_estimators_start_once_from_a_tuple_of_tuples(model, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # room for the count
    X = np.array([[0.0], [0.5], [1.0], [8.0], [9.0], [9.5]])
    model.set_params(init=((0.5,), (9.0,)), verbose=1).fit(X)
    assert "1/1" in capsys.readouterr().err
    assert len(set(model.labels_[:3])) == len(set(model.labels_[3:])) == 1


@pytest.mark.parametrize(
    "model",
    [
        COPKMeans(3),
        ConstrainedKMeans(3),
        PCKMeans(3),
        BoostedConstrainedKMeans(3, n_estimators=3),
        ConstrainedKMeansEnsemble(3, n_estimators=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_fewer_clusters_than_asked_for_are_told(model):
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    with pytest.warns(DegenerateClusteringWarning, match=r"Only 2 of n_clusters=3.*Lower n_clust"):
        model.set_params(random_state=0).fit(X)
