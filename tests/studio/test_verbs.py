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


def merged_and_split(open_project, requests, **how):
    """The near groups are merged, the rows clustered, and the merged cluster split."""
    data, y = four_groups()
    project = open_project(data, n_clusters=4)
    first = project.recluster()
    near = [int(first.labels[y == group][0]) for group in (0, 1)]
    merged = project.say("ann", next(requests), "merge", clusters=near)
    labels = project.recluster().labels
    assert labels[y == 0][0] == labels[y == 1][0]
    told = project.say("bob", next(requests), "split", clusters=[int(labels[y == 0][0])], **how)
    return project, y, merged, told


@pytest.mark.parametrize("by_rows", [False, True])
def test_split_wins_over_an_earlier_merge(open_project, requests, by_rows):
    how = {"rows": np.flatnonzero(four_groups()[1] == 1).tolist()} if by_rows else {}
    project, y, merged, told = merged_and_split(open_project, requests, **how)
    assert told["taken_back"] == merged["numbers"]
    assert "5 older statements from the map taken back" in told["sentence"]
    assert told["conflict"] is None
    again = open_project(project.data, n_clusters=4)
    assert set(again.book.answers) == set(told["numbers"])
    assert again.n_clusters == 4
    assert adjusted_rand_score(y, again.recluster().labels) > 0.95


@pytest.mark.parametrize("way", ["undo", "retract"])
def test_undo_of_the_split_brings_the_merge_back(open_project, requests, way):
    project, _, merged, told = merged_and_split(open_project, requests)
    if way == "undo":
        project.undo("bob", next(requests))
    else:
        project.retract("bob", next(requests), told["numbers"])
    for again in (project, open_project(project.data, n_clusters=4)):
        assert list(again.book.answers) == merged["numbers"]
        assert again.n_clusters == 3
        assert again.book.contradicting == {}


def test_rows_set_apart_win_over_what_was_said_on_the_map(open_project, requests):
    # Check that only what contradicts is taken back, and no answer to a question.
    data, _ = four_groups()
    project = open_project(data, n_clusters=4)
    chain = project.say("ann", next(requests), "link", rows=[0, 1, 2, 3])["numbers"]
    told = project.say("ann", next(requests), "apart", rows=[1, 2])
    assert told["taken_back"] == [chain[1]]
    assert told["conflict"] is None
    question = project.pose("ann", [5, 6], "pair")["question"]
    project.answer("ann", next(requests), question["id"], "must-link")
    told = project.say("ann", next(requests), "apart", rows=[5, 6])
    assert told["taken_back"] == []
    assert told["conflict"] is not None


def test_merge_wins_over_an_earlier_split(open_project, requests):
    project, y, _, split = merged_and_split(open_project, requests)
    labels = project.recluster().labels
    near = [int(labels[y == group][0]) for group in (0, 1)]
    told = project.say("ann", next(requests), "merge", clusters=near)
    assert len(told["taken_back"]) == 3  # what keeps the halves apart
    assert set(told["taken_back"]) < set(split["numbers"])
    assert told["conflict"] is None


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
