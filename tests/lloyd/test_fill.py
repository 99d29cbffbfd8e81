"""Empty clusters, and starts, where only distances are known."""

import numpy as np
import pytest

from conclust._lloyd.fill import fill_empty
from conclust._lloyd.start import plus_plus

POINTS = np.array([0.0, 1.0, 2.0, 10.0, 30.0])


def to_own(labels):
    means = np.array([POINTS[labels == c].mean() if (labels == c).any() else 0 for c in range(9)])
    return (POINTS - means[labels]) ** 2


def test_an_empty_cluster_takes_the_row_farthest_from_its_mean():
    # Check by hand: row 4 is farthest from the mean 8.6; then row 3 from the mean 3.25.
    labels = np.zeros(5, dtype=np.int64)
    fill_empty(labels, 3, to_own)
    assert labels.tolist() == [0, 0, 0, 2, 1]


def test_the_only_row_of_a_cluster_stays():
    labels = np.array([0, 0, 0, 0, 1])
    fill_empty(labels, 3, lambda labels: np.array([0.0, 1.0, 2.0, 3.0, 99.0]))
    assert labels.tolist() == [0, 0, 0, 2, 1]


def test_rows_that_are_all_alike_fill_clusters_too():
    labels = np.zeros(3, dtype=np.int64)
    fill_empty(labels, 3, lambda labels: np.zeros(3))
    assert sorted(labels) == [0, 1, 2]


def test_fewer_rows_than_clusters_are_left_alone():
    labels = np.zeros(2, dtype=np.int64)
    fill_empty(labels, 3, to_own)
    assert labels.tolist() == [0, 0]


@pytest.mark.parametrize("seed", range(5))
def test_drawn_rows_are_distinct_and_the_others_go_to_the_nearest(seed):
    drawn = []

    def to_row(row):
        drawn.append(row)
        return (POINTS - POINTS[row]) ** 2

    labels = plus_plus(np.ones(5), 3, to_row, np.random.RandomState(seed))
    assert len(set(drawn)) == 3
    nearest = np.abs(POINTS[:, None] - POINTS[drawn]).argmin(axis=1)
    assert labels.tolist() == nearest.tolist()


def test_draws_follow_weights_and_end_with_the_distinct_rows():
    rows = np.array([0.0, 0.0, 5.0])
    drawn = []

    def to_row(row):
        drawn.append(row)
        return (rows - rows[row]) ** 2

    labels = plus_plus(np.array([0.0, 1.0, 1.0]), 3, to_row, np.random.RandomState(0))
    assert sorted(drawn) == [1, 2]
    assert labels[0] == labels[1] != labels[2]
