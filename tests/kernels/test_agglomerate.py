"""Merges and heights against trying all pairs in order of distance, each with BUILD."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from conclust._kernels import agglomerate as kernel
from conclust._kernels._short import plain
from conclust._kernels.live_lists import linked_lists, new_tree
from tests.oracles import hierarchy as oracle

LINKAGES = ["centroid", "ward", "average", "complete", "single"]
NONE = np.empty((0, 2), dtype=np.int64)
BUDGET = 20  # distances that the kernel looks at before it comes back: here, several times a merge


def merged(agglomerate, X, linkage, triplets, *, by_centers, apart=None, forced=NONE, n_more=3):
    """All merges, a few at a time, with tables that are too small at first."""
    n = len(X)
    code = LINKAGES.index(linkage)
    points = square = tree = links = None
    if by_centers:
        points = np.ascontiguousarray(X.T)
    else:
        square = squareform(pdist(X)) ** (2 if linkage in ("centroid", "ward") else 1)
    named, rows = np.unique(triplets, return_inverse=True)
    leaf_of = np.full(n, -1)
    leaf_of[named] = np.arange(len(named))
    if len(named):
        tree = new_tree(rows.reshape(-1, 3), len(named))
        tree = tree._replace(refused=np.full((8, 2), -1))
    if apart is not None:
        pairs, weight = apart
        links = kernel.Links(pairs, *linked_lists(pairs, n), weight * 1e6)
    clusters = kernel.new_clusters(leaf_of)
    clusters = clusters._replace(no=np.empty((2, 3), dtype=np.int64))
    children = np.empty((n - 1, 2), dtype=np.int64)
    heights, broken = np.empty(n - 1), np.zeros(n - 1)
    stop = len(forced)
    while True:
        clusters.tally[kernel.N_LEFT] = BUDGET
        agglomerate(
            points,
            square,
            code,
            forced,
            clusters,
            tree,
            named,
            links,
            children,
            heights,
            broken,
            stop,
        )
        done, wanted = clusters.tally[kernel.N_DONE], clusters.tally[kernel.N_WANTED]
        if wanted:
            clusters, tree = kernel.with_room(clusters, tree, int(wanted))
            continue
        if done < stop and clusters.tally[kernel.N_LEFT] <= 0:
            continue
        assert done == stop, "nothing may merge"
        if stop == len(forced):
            clusters.lowest[:-1][clusters.table[:-1, kernel.ALIVE] == 1] = -1.0
        if stop == n - 1:
            return children, heights, broken / 1e6
        stop = min(stop + n_more, n - 1)


def compare(agglomerate, seed, n, linkage, share, *, by_centers, priced, n_forced):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 2))
    triplets = oracle.random_tree_triplets(rng, n, share)
    # Forced merges are among samples that no triplet names, but for the one that lives on.
    others = np.setdiff1d(np.arange(n), triplets)
    before = others[others < n - 1][:n_forced]
    forced = np.column_stack([before, np.full_like(before, n - 1)])
    apart, price = None, np.zeros((n, n))
    if priced:
        pairs = np.unique(np.sort([rng.permutation(n)[:2] for _ in range(n)], axis=1), axis=0)
        apart = pairs, rng.randint(1, 4, len(pairs)).astype(float)
        price[tuple(pairs.T)] = price[tuple(pairs.T[::-1])] = apart[1]
    children, heights, broken = merged(
        agglomerate, X, linkage, triplets, by_centers=by_centers, apart=apart, forced=forced
    )
    expected = oracle.recon(
        oracle.cluster_distance(linkage, squareform(pdist(X)), X),
        n,
        triplets,
        lambda A, B: price[np.ix_(A, B)].sum(),
        forced.tolist(),
    )
    assert oracle.merges_of(children) == [sorted([a, b]) for a, b, _ in expected]
    np.testing.assert_allclose(heights, [d for _, _, d in expected], atol=1e-6)
    paid = [price[np.ix_(a, b)].sum() for a, b, _ in expected]
    np.testing.assert_allclose(broken, paid, atol=1e-6)


@pytest.mark.parametrize("linkage", LINKAGES)
@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 12),
    share=st.sampled_from([0, 0.3, 0.8, 2]),
    priced=st.booleans(),
    n_forced=st.integers(0, 3),
)
def test_the_merges_are_those_of_the_reference(linkage, seed, n, share, priced, n_forced):
    for by_centers in (False, True) if linkage in ("centroid", "ward") else (False,):
        compare(
            plain(kernel.agglomerate),
            seed,
            n,
            linkage,
            share,
            by_centers=by_centers,
            priced=priced,
            n_forced=n_forced,
        )


@pytest.mark.parametrize(
    ("linkage", "by_centers", "share", "priced"),
    [
        ("centroid", True, 0, False),
        ("ward", True, 0.8, False),
        ("average", False, 0.8, True),
    ],
)
def test_compiled_they_are_the_same(linkage, by_centers, share, priced):
    # Each of these is compiled for itself, with what it needs and no more.
    for seed in range(20):
        compare(
            kernel.agglomerate,
            seed,
            5 + seed % 8,
            linkage,
            share,
            by_centers=by_centers,
            priced=priced,
            n_forced=seed % 3,
        )


def test_the_kernel_comes_back_before_the_first_merge():
    # Ctrl-C is heard between calls, and the first merge takes a look at all pairs.
    X = np.random.RandomState(0).normal(size=(40, 2))
    clusters = kernel.new_clusters(np.full(40, -1))
    clusters.lowest[:-1] = -1.0
    clusters.tally[kernel.N_LEFT] = 50
    children, heights, broken = np.empty((39, 2), np.int64), np.empty(39), np.zeros(39)
    points = np.ascontiguousarray(X.T)
    for run in (kernel.agglomerate, plain(kernel.agglomerate)):
        run(points, None, 0, NONE, clusters, None, NONE[:, 0], None, children, heights, broken, 39)
        assert clusters.tally[kernel.N_DONE] == 0
        assert clusters.tally[kernel.N_LEFT] <= 0
