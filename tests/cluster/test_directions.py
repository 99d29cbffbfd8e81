"""Trees of directions, and where a k-means of them starts."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.cluster.hierarchy import cut_tree, linkage
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from conclust.cluster import average_linkage_cuts, average_linkage_start


def test_average_linkage_is_scipys(directions):
    X, _ = directions
    cuts = [2, 5, 12, 40]
    expected = cut_tree(linkage(X, "average", metric="sqeuclidean"), n_clusters=cuts)
    found = average_linkage_cuts(X, np.arange(len(X)), cuts)
    for labels, theirs in zip(found, expected.T, strict=True):
        assert len(set(zip(labels, theirs, strict=True))) == labels.max() + 1 == theirs.max() + 1


def test_average_linkage_of_leaves_is_that_of_their_rows(directions):
    # Check that leaves which the tree of rows joins first do not change what it joins later.
    X, _ = directions
    rows = np.arange(len(X))
    last, leaf = average_linkage_cuts(X, rows, [8, 60])
    (found,) = average_linkage_cuts(X, leaf, [8])
    assert len(set(zip(found[leaf], last, strict=True))) == 8


def test_start_finds_classes_of_very_different_sizes():
    # Check that k-means from there keeps 400, 20, 5 and 3 rows apart, dense and sparse.
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(4), [400, 20, 5, 3])
    X = np.maximum(np.eye(8)[y] + 0.05 * rng.normal(size=(len(y), 8)), 0)
    for rows in (X, sp.csr_array(X)):
        start = average_linkage_start(rows, 4, random_state=0)
        found = KMeans(4, init=start, n_init=1).fit(rows).labels_
        assert adjusted_rand_score(y, found) == 1


def test_start_of_many_rows_begins_with_small_clusters(directions, monkeypatch):
    monkeypatch.setattr("conclust.cluster._directions.MAX_LEAVES", 100)
    monkeypatch.setattr("conclust.cluster._directions.N_LEAVES", 60)
    X, y = directions
    start = average_linkage_start(X, 12, random_state=0)
    assert adjusted_rand_score(y, (X @ start.T).argmax(axis=1)) > 0.95
    with pytest.raises(ValueError, match="n_clusters=61|61"):
        average_linkage_start(X, 61, random_state=0)
