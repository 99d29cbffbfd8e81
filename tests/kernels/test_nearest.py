"""The sweep against distances worked out in full, on numbers that leave no rounding."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from conclust._kernels import nearest
from conclust._kernels.nearest import BLOCK, Factors, Linked, Totals, Work

N_ROWS, N_FEATURES, N_CLUSTERS = 2 * BLOCK + 37, 5, 4

compiled_and_plain = pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])
kinds = pytest.mark.parametrize(
    ("kind", "dtype"), [("dense", "f8"), ("dense", "f4"), ("csr", "f8"), ("csr", "f4")]
)


def kernel(name, kind, plain):
    function = getattr(nearest, f"{name}_{kind}")
    return function.py_func if plain else function


def numbers(dtype, seed=0):
    """Small whole numbers: ties are common and every sum is exact."""
    rng = np.random.RandomState(seed)
    X = rng.randint(-2, 3, (N_ROWS, N_FEATURES)).astype(dtype)
    centers = rng.randint(-2, 3, (N_CLUSTERS, N_FEATURES)).astype(dtype)
    weight = rng.randint(0, 4, N_ROWS).astype(dtype)
    linked = np.sort(rng.permutation(N_ROWS)[: N_ROWS // 3])
    return X, centers, weight, linked


def parts(X, kind):
    X = sp.csr_matrix(X) if kind == "csr" else X
    return (X.data, X.indices, X.indptr) if kind == "csr" else (X,)


def sweep(X, centers, weight, linked, labels, ranges, kind, plain, *, all_distances, turned=False):
    """Sweep over ranges one after the other, as threads would, into one set of sums."""
    n_linked, n_clusters = len(linked), len(centers)
    ranks = np.full((3, n_linked), -7, dtype=np.int32)
    nearest_distance = np.full(n_linked, np.nan, dtype=X.dtype)
    distances = np.full((n_linked * all_distances, n_clusters), np.nan, dtype=X.dtype)
    totals = Totals(np.zeros_like(centers), np.zeros(n_clusters, dtype=X.dtype))
    about = Linked(
        linked,
        (X[linked] ** 2).sum(axis=1),
        *ranks,
        nearest_distance,
        distances,
        np.empty(n_linked, dtype=np.uint32),
    )
    work = Work(
        np.empty(n_clusters * BLOCK, dtype=X.dtype),
        np.empty((2, BLOCK), dtype=X.dtype),
        np.empty((2, BLOCK), dtype=np.int32),
    )
    unused = np.empty((0, 0), dtype=X.dtype)
    rows, columns = -2 * centers, np.ascontiguousarray(-2 * centers.T)
    turned = kind == "csr" or turned
    factors = Factors(
        unused if turned else rows, columns if turned else unused, (centers**2).sum(axis=1)
    )
    n_changed = 0
    for start, stop in ranges:
        n_changed += kernel("sweep", kind, plain)(
            *parts(X, kind),
            weight,
            factors,
            start,
            stop,
            int(np.searchsorted(linked, start)),
            float(np.finfo(X.dtype).eps),
            about,
            work,
            labels,
            totals,
        )
    return about, totals, n_changed


def squared_distances(X, centers):
    return ((X[:, np.newaxis] - centers) ** 2).sum(axis=2)


def check_totals(totals, X, weight, labels):
    for cluster, (total, mass) in enumerate(zip(*totals, strict=True)):
        members = labels == cluster
        assert_array_equal(total, weight[members] @ X[members])
        assert mass == weight[members].sum()


@compiled_and_plain
@kinds
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("turned", [False, True], ids=["by rows", "by columns"])
def test_sweep(kind, dtype, weighted, turned, plain):
    # Check every output of one sweep, ties included, over two ranges that cut a block.
    X, centers, weight, linked = numbers(dtype)
    if not weighted:
        weight = np.ones_like(weight)
    full = squared_distances(X, centers)
    nearest = full.argmin(axis=1)
    before = np.where(np.arange(N_ROWS) % 2, nearest, -1).astype(np.int32)
    labels = before.copy()

    about, totals, n_changed = sweep(
        X,
        centers,
        weight if weighted else weight[:0],
        linked,
        labels,
        [(0, BLOCK + 3), (BLOCK + 3, N_ROWS)],
        kind,
        plain,
        all_distances=True,
        turned=turned,
    )

    assert_array_equal(labels, nearest)
    assert n_changed == (before != nearest).sum()
    check_totals(totals, X, weight, nearest)

    assert_array_equal(about.before, before[linked])
    assert_array_equal(about.distances, full[linked])
    assert_array_equal(about.nearest, nearest[linked])
    assert_array_equal(about.nearest_distance, full[linked].min(axis=1))
    but_nearest = full[linked].copy()
    but_nearest[np.arange(len(linked)), nearest[linked]] = np.inf
    assert_array_equal(about.second, but_nearest.argmin(axis=1))


@compiled_and_plain
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_one_cluster_is_both_nearest_and_second(kind, plain):
    X, centers, _, linked = numbers("f8")
    about, *_ = sweep(
        X,
        centers[:1],
        X[:0, 0],
        linked,
        np.full(N_ROWS, -1, dtype=np.int32),
        [(0, N_ROWS)],
        kind,
        plain,
        all_distances=False,
    )
    assert not about.nearest.any()
    assert not about.second.any()


@compiled_and_plain
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_rows_on_a_centre_are_at_distance_zero(kind, plain):
    # Check that rounding in ‖x‖² + ‖c‖² − 2 x·c does not part rows that lie on their centres.
    rng = np.random.RandomState(0)
    X = rng.uniform(1, 2, (40, 7))
    linked = np.arange(40)
    labels = np.full(40, -1, dtype=np.int32)
    about, *_ = sweep(
        X, X.copy(), X[:0, 0], linked, labels, [(0, 40)], kind, plain, all_distances=False
    )
    assert not about.nearest_distance.any()


@compiled_and_plain
@kinds
def test_linked_rows_move_to_where_they_were_placed(kind, dtype, plain):
    # Check labels and sums after moving some rows, against those of the final labels.
    X, centers, weight, linked = numbers(dtype, seed=1)
    full = squared_distances(X, centers)
    nearest = full.argmin(axis=1)
    before = np.random.RandomState(0).randint(-1, N_CLUSTERS, N_ROWS).astype(np.int32)
    labels = before.copy()
    about, totals, n_changed = sweep(
        X, centers, weight, linked, labels, [(0, N_ROWS)], kind, plain, all_distances=False
    )
    placed = np.where(
        np.arange(len(linked)) % 2, about.nearest, (about.nearest + 1) % N_CLUSTERS
    ).astype(np.int32)
    expected = nearest.copy()
    expected[linked] = placed
    for start, stop in ((0, 50), (50, len(linked))):
        n_changed += kernel("move", kind, plain)(
            *parts(X, kind),
            weight,
            start,
            stop,
            about,
            placed,
            labels,
            totals,
        )

    assert_array_equal(labels, expected)
    assert n_changed == (before != expected).sum()
    check_totals(totals, X, weight, expected)


@compiled_and_plain
@kinds
def test_distance_to_the_own_centre(kind, dtype, plain):
    X, centers, *_ = numbers(dtype, seed=2)
    labels = np.random.RandomState(0).randint(N_CLUSTERS, size=N_ROWS).astype(np.int32)
    out = np.full(N_ROWS, np.nan, dtype=dtype)
    norms = (centers**2).sum(axis=1)
    for start, stop in ((0, 100), (100, N_ROWS)):
        here = out[start:stop]
        kernel("measure", kind, plain)(*parts(X, kind), centers, norms, start, stop, labels, here)
    expected = squared_distances(X, centers)[np.arange(N_ROWS), labels]
    assert_array_equal(out, expected)
