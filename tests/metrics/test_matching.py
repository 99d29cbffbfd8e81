"""Clusters get the numbers they had."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conclust import match_labels
from conclust._matching import renumbering

some_labels = st.lists(st.integers(-1, 3), min_size=1, max_size=12)


def n_kept(labels, reference):
    reference = np.asarray(reference)
    return int(((labels[: len(reference)] == reference) & (reference >= 0)).sum())


@given(some_labels, some_labels)
def test_no_other_numbers_keep_more_rows(labels, reference):
    # Check against every way to number the clusters.
    labels, reference = np.array(labels), np.array(reference[: len(labels)])
    matched = match_labels(labels, reference)
    clusters = [c for c in np.unique(labels) if c >= 0]
    best = 0
    for numbers in itertools.permutations([*range(4), 11, 12, 13, 14], len(clusters)):
        tried = np.full(len(labels), -1)
        for cluster, number in zip(clusters, numbers, strict=True):
            tried[labels == cluster] = number
        best = max(best, n_kept(tried, reference))
        if best == (reference >= 0).sum():
            break
    assert n_kept(matched, reference) == best
    assert ((matched == -1) == (labels == -1)).all()
    assert len(set(zip(labels, matched, strict=True))) == len(set(labels)) == len(set(matched))


@given(some_labels, some_labels)
def test_a_renumbering_is_a_permutation(labels, reference):
    n = min(len(labels), len(reference))
    labels, reference = np.array(labels[:n]), np.array(reference[:n])
    number = renumbering(labels, reference, 4)
    assert sorted(number) == [0, 1, 2, 3]
    assert renumbering(labels, labels, 4).tolist() == [0, 1, 2, 3]


def test_more_clusters_and_fewer():
    assert match_labels([0, 0, 1, 1, 2], [5, 5, 9, 9, 9]).tolist() == [5, 5, 9, 9, 10]
    assert match_labels([1, 1, 1, 0], [0, 0, 3, 4]).tolist() == [0, 0, 0, 4]
    assert match_labels([3, 3], []).tolist() == [0, 0]
    assert match_labels([], []).tolist() == []


def test_numbers_do_not_collide_with_those_gone():
    # Check that a cluster without a partner gets no number that the reference has used.
    assert match_labels([0, 0, 1], [2, 2]).tolist() == [2, 2, 3]


@pytest.mark.parametrize(
    ("labels", "reference", "message"),
    [
        ([0, 1], [0, 1, 1], "reference has 3 entries and labels 2"),
        ([[0], [1]], [0], r"labels must be one whole number per row.* shape \(2, 1\)"),
        ([0, 1], [0.5, 1], "reference must be one whole number per row"),
    ],
)
def test_bad_labels(labels, reference, message):
    with pytest.raises(ValueError, match=message):
        match_labels(labels, reference)
