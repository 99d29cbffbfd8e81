"""Sizes of clusters: the assignment step against every assignment there is, and its messages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conclust._kernels import flow as flow_kernels
from conclust._kernels import place_sized as kernels
from conclust._pairs import graph_of
from conclust._placement import sizes as module
from conclust._placement.sizes import Sized, Sizes, Vertices, dual_prices, sizes_of
from conclust.exceptions import InfeasibleSizesError
from tests.oracles.sizes import cheapest, total

NO_PAIRS = np.empty((0, 2), np.int64), np.empty(0, np.int8), np.empty(0)


def bounds(random, n_clusters, whole, slack):
    """Sizes that a random assignment has, give or take."""
    load = np.bincount(random.randint(n_clusters, size=int(whole)), minlength=n_clusters)
    return Sizes(
        np.maximum(load - random.randint(slack + 1, size=n_clusters), 0).astype(float),
        (load + random.randint(slack + 1, size=n_clusters)).astype(float),
        "rows",
    )


def argmin(cost):
    return cost.argmin(axis=1)


def count(labels, sizes, mass=None):
    load = np.bincount(labels, mass, len(sizes.lower))
    assert (load >= sizes.lower - 1e-9).all()
    assert (load <= sizes.upper + 1e-9).all()


@settings(max_examples=80)
@given(st.integers(0, 100_000))
def test_flow_is_the_cheapest_within_the_sizes(seed):
    # Check against all assignments, from any prices, and that the prices prove it.
    random = np.random.RandomState(seed)
    n, k = random.randint(1, 8), random.randint(1, 4)
    cost = np.round(random.uniform(size=(n, k)), random.choice([1, 8]))
    sizes = bounds(random, k, n, slack=2)
    price, labels = random.normal(size=k) * random.choice([0, 1]), np.empty(n, np.int64)
    flow_kernels.flow.py_func(cost, sizes.lower.astype(int), sizes.upper.astype(int), price, labels)
    count(labels, sizes)
    own = cost[np.arange(n), labels]
    least = cheapest(cost, np.ones(n), sizes.lower, sizes.upper, *NO_PAIRS)
    assert own.sum() == pytest.approx(least)
    assert (own + price[labels] <= (cost + price).min(axis=1) + 1e-9).all()
    load = np.bincount(labels, minlength=k)
    assert ((price <= 1e-9) | (load == sizes.upper)).all()
    assert ((price >= -1e-9) | (load == sizes.lower)).all()


def test_kernels_compiled_and_plain():
    random = np.random.RandomState(0)
    cost, mass = random.uniform(size=(40, 3)), random.uniform(0.5, 2, 40)
    whole = np.full(3, 10), np.full(3, 15)
    pairs = random.permutation(40)[:20].reshape(10, 2)
    links = graph_of(pairs, 40), random.choice([-1, 1], 10).astype(np.int8), np.full(10, 0.3)
    answers = []
    for of in (lambda kernel: kernel, lambda kernel: kernel.py_func):
        labels, price, load = np.empty(40, np.int64), np.zeros(3), np.empty(3)
        n_paths = of(flow_kernels.flow)(cost, *whole, price, labels)
        bound = of(kernels.price_labels)(cost, mass, price, first := labels.copy(), load)
        moved, load = labels.copy(), np.bincount(labels, mass, 3)
        even = np.full(3, mass.sum() / 3)
        misfit = of(kernels.fit_sizes)(
            cost, mass, *links[0], *links[1:], even - 0.5, even + 0.5, 0.0, 1e-9, 20, 1000, moved,
            load,
        )  # fmt: skip
        answers.append((labels, price, n_paths, bound, first, moved, load, misfit))
    for compiled, plain in zip(*answers, strict=True):
        assert_allclose(compiled, plain)
    assert misfit <= 1e-9
    assert_allclose(load, np.bincount(moved, mass, 3))


@pytest.mark.parametrize("n", [30, 3000])
def test_many_rows_are_assigned_exactly(n, monkeypatch):
    # Check that prices to begin with change nothing, and that they prove the answer.
    random = np.random.RandomState(n)
    cost = random.uniform(size=(n, 4))
    sizes = Sizes(np.full(4, n // 4 - 1.0), np.full(4, n // 4 + 1.0), "rows")
    vertices = Vertices(
        np.empty(0, np.int64), np.empty(0, np.int64), graph_of(NO_PAIRS[0], 0), *NO_PAIRS[1:],
        None, n,
    )  # fmt: skip
    answers = []
    for few in (0, 10**6):
        monkeypatch.setattr(module, "FEW", few)
        _, labels = Sized(sizes, vertices)(cost, argmin)
        answers.append(labels)
        count(labels, sizes)
    assert_array_equal(*answers)
    own = cost[np.arange(n), answers[0]].sum()
    _, bound = dual_prices(cost, np.ones(n), sizes, np.zeros(4))
    assert bound <= own + 1e-9
    assert bound == pytest.approx(own, rel=1e-2)


def tiny(seed, hard, weighted):
    """A few rows with pairs that are hard (cannot-links) or priced (both kinds)."""
    random = np.random.RandomState(seed)
    n, k = random.randint(3, 7), random.randint(2, 4)
    cost = random.uniform(size=(n, k))
    n_pairs = random.randint(0, 4)
    pairs = np.array([random.choice(n, 2, replace=False) for _ in range(n_pairs)], int).reshape(
        -1, 2
    )
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    sign = random.choice([-1] if hard else [-1, 1], len(pairs)).astype(np.int8)
    price = np.full(len(pairs), np.inf) if hard else random.uniform(0, 1, len(pairs))
    mass = random.choice([0.5, 1.0, 2.0], n) if weighted else np.ones(n)
    if weighted:
        even = mass.sum() / k
        sizes = Sizes(np.full(k, even - 1.0), np.full(k, even + 1.0), "weight")
    else:
        sizes = bounds(random, k, n, slack=1)
    rows, slots = np.unique(pairs, return_inverse=True)
    graph = graph_of(slots.reshape(-1, 2), len(rows))
    vertices = Vertices(
        rows, np.arange(len(rows)), graph, sign, price, mass if weighted else None, n
    )
    return cost, mass, sizes, (pairs, sign, price), vertices


@settings(max_examples=80)
@given(st.integers(0, 100_000), st.booleans(), st.booleans())
def test_small_cases_are_solved_exactly(seed, hard, weighted):
    # Check against all assignments: the least cost, or that there is none.
    cost, mass, sizes, told, vertices = tiny(seed, hard, weighted)
    least = cheapest(cost, mass, sizes.lower, sizes.upper, *told)
    try:
        sized = Sized(sizes, vertices)
        # Links are not heeded at first: the sizes' moves and the exact step do it.
        _, labels = sized(cost, lambda priced: separate(priced, vertices, hard))
    except InfeasibleSizesError as error:
        assert least == np.inf, error
        return
    count(labels, sizes, mass)
    assert total(cost, labels, *told) == pytest.approx(least)


def separate(cost, vertices, hard):
    """Labels that break no hard link, or the cheapest; by looking at all."""
    from itertools import product

    if not hard:
        return cost.argmin(axis=1)
    indptr, neighbor, _ = vertices.graph
    best, least = None, np.inf
    for labels in product(range(cost.shape[1]), repeat=len(cost)):
        clash = any(
            labels[u] == labels[v]
            for u in range(len(cost))
            for v in neighbor[indptr[u] : indptr[u + 1]]
        )
        value = sum(cost[u, c] for u, c in enumerate(labels))
        if not clash and value < least:
            best, least = np.array(labels), value
    return best if best is not None else cost.argmin(axis=1)


@pytest.mark.parametrize("weighted", [False, True])
def test_larger_cases_come_close_and_hold(weighted, monkeypatch):
    # Check the placement by prices and moves against the integer programme.
    random = np.random.RandomState(0)
    gaps = []
    for _ in range(5):
        n, k = 60, 3
        cost = random.uniform(size=(n, k))
        pairs = random.permutation(n)[:30].reshape(15, 2)
        rows, slots = np.unique(pairs, return_inverse=True)
        told = np.full(15, -1, np.int8), random.uniform(0, 1, 15)
        mass = random.uniform(0.5, 2, n) if weighted else None
        even = n / k if mass is None else mass.sum() / k
        sizes = Sizes(np.full(k, even - 0.5), np.full(k, even + 0.5), "rows")
        vertices = Vertices(rows, np.arange(30), graph_of(slots.reshape(-1, 2), 30), *told, mass, n)
        values = []
        for most in (0, 10_000):
            monkeypatch.setattr(module, "MAX_EXACT", most)
            _, labels = Sized(sizes, vertices)(cost, argmin)
            count(labels, sizes, mass)
            values.append(total(cost, labels, pairs, *told))
        gaps.append(values[0] / values[1] - 1)
    assert np.min(gaps) > -1e-6
    assert np.mean(gaps) < 0.03


def test_an_assignment_is_not_worse_than_the_last():
    random = np.random.RandomState(3)
    cost, _, sizes, told, vertices = tiny(4, hard=False, weighted=False)
    sized = Sized(sizes, vertices)
    last = sized(cost, argmin)[1]
    for _ in range(10):
        cost = cost + random.uniform(0, 0.2, cost.shape)
        labels = sized(cost, lambda priced: random.randint(priced.shape[1], size=len(priced)))[1]
        assert total(cost, labels, *told) <= total(cost, last, *told) + 1e-9
        last = labels


def test_sizes_per_cluster_and_rounding():
    assert sizes_of(None, None, 3, None, 10) is None
    lower, upper, unit = sizes_of(2.5, [4, 5, np.inf], 3, None, 10)
    assert (lower.tolist(), upper.tolist(), unit) == ([3, 3, 3], [4, 5, 10], "rows")
    lower, upper, unit = sizes_of(None, 2.5, 3, np.full(10, 0.5), 10)
    assert (lower.tolist(), upper.tolist(), unit) == ([0, 0, 0], [2.5, 2.5, 2.5], "weight")
    assert sizes_of(1, None, 2, np.ones(4), 4).unit == "rows"
    assert sizes_of(None, [36, 35], 2, None, 100, 0.29).upper.sum() == 71  # 0.29 * 100 < 29


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"size_min": 4},
            r"size_min adds up to 12 rows over 3 clusters, 2 more than the 10 .*\(to 3 at most",
        ),
        (
            {"size_max": 3},
            r"size_max adds up to 9 rows over 3 clusters, 1 fewer than the 10 .*\(to 4 at least",
        ),
        ({"size_min": [5, 1, 1], "size_max": 4}, r"size_min=5 of cluster 0 .* size_max=4"),
        ({"size_min": 11}, r"33 rows over 3 clusters, 23 more"),
    ],
)
def test_sizes_that_contradict_themselves(given, words):
    arguments = {"size_min": None, "size_max": None} | given
    with pytest.raises(InfeasibleSizesError, match=words):
        sizes_of(*arguments.values(), 3, None, 10)


def test_sizes_that_rows_set_aside_make_impossible():
    with pytest.raises(InfeasibleSizesError, match=r"than the 8 that outliers leaves.*outliers\."):
        sizes_of(3, None, 3, None, 10, 0.2)
    with pytest.raises(InfeasibleSizesError, match=r"than the 8 that outliers leaves.*outliers\."):
        sizes_of(None, 2, 3, None, 10, 0.2)


@pytest.mark.parametrize(
    ("value", "words"),
    [([1, 2], r"size_min has shape \(2,\), but n_clusters=3"), (-1, "negative"), (np.nan, "NaN")],
)
def test_sizes_of_the_wrong_shape(value, words):
    with pytest.raises(ValueError, match=words):
        sizes_of(value, None, 3, None, 10)
