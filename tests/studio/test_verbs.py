"""What is said on the map: few statements, which the next clustering follows."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from conclust.exceptions import SessionError
from conclust.studio import Data, _verbs


def test_typical_rows_are_nearest_to_the_mean():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [100.0]])
    assert _verbs.typical(X, [0, 1, 2, 3], 2) == [1, 2]


def test_apart_without_others_is_each_from_each():
    assert _verbs.apart(np.eye(3), [0, 1, 2], []) == [(0, 1, -1), (0, 2, -1), (1, 2, -1)]


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda X, y: _verbs.link([1]), "link: choose 2 rows or more; got 1"),
        (lambda X, y: _verbs.apart(X, list(range(11)), []), "11 rows are too many"),
        (lambda X, y: _verbs.apart(X, [1, 2], [2, 3]), "a row is in both groups"),
        (lambda X, y: _verbs.merge(X, y, [0]), "merge: choose two clusters"),
        (lambda X, y: _verbs.merge(X, y, [0, 9]), "There is no cluster 9 any more"),
        (lambda X, y: _verbs.split(X, y, 0, np.flatnonzero(y == 0)), "all rows of the cluster"),
        (lambda X, y: _verbs.split(X, y, 0, np.flatnonzero(y == 1)), "none of the rows"),
        (lambda X, y: _verbs.split(np.zeros_like(X), y, 0), "are all the same"),
    ],
)
def test_what_cannot_be_said(call, match, blobs):
    with pytest.raises(SessionError, match=match):
        call(*blobs)


def four_groups():
    X, y = make_blobs(
        200, centers=[[0, 0], [4, 0], [0, 12], [12, 12]], cluster_std=0.7, random_state=0
    )
    return Data("four.csv", X), y


def test_merge_survives_a_new_clustering(open_project, requests):
    # Check that two near groups, merged, are one cluster in the next fit, and after a restart.
    data, y = four_groups()
    project = open_project(data, n_clusters=4)
    first = project.recluster()
    near = [int(first.labels[y == group][0]) for group in (0, 1)]
    told = project.say("ann", next(requests), "merge", clusters=near)
    assert len(told["numbers"]) == 5
    assert told["conflict"] is None
    assert project.n_clusters == 3
    truth = np.where(y == 1, 0, y)
    for again in (project, open_project(data, n_clusters=4)):
        assert adjusted_rand_score(truth, again.recluster().labels) > 0.95


def test_merge_is_taken_back_by_one_undo(open_project, requests):
    data, _ = four_groups()
    project = open_project(data, n_clusters=4)
    project.recluster()
    project.say("ann", next(requests), "merge", clusters=[0, 1])
    project.undo("ann", next(requests))
    assert project.n_clusters == 4
    assert project.book.answers == {}


def test_split_survives_a_new_clustering(open_project, requests):
    data, y = four_groups()
    project = open_project(data, n_clusters=3)
    first = project.recluster()
    assert first.labels[y == 0][0] == first.labels[y == 1][0]
    told = project.say("ann", next(requests), "split", clusters=[int(first.labels[y == 0][0])])
    assert len(told["numbers"]) == 7
    assert adjusted_rand_score(y, project.recluster().labels) > 0.95


def test_split_by_the_rows_chosen(open_project, requests):
    data, y = four_groups()
    project = open_project(data, n_clusters=3)
    project.recluster()
    rows = np.flatnonzero(y == 1)[:30].tolist()
    told = project.say("ann", next(requests), "split", rows=rows)
    assert "is two clusters" in told["sentence"]
    assert adjusted_rand_score(y, project.recluster().labels) > 0.95


def test_together_writes_few(open_project, requests):
    data, y = four_groups()
    project = open_project(data, n_clusters=4)
    told = project.say("ann", next(requests), "together", rows=np.flatnonzero(y < 2).tolist())
    assert len(told["numbers"]) == _verbs.N_SPREAD - 1
