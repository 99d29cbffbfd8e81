import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust._kernels import codes as kernels
from conclust.ensemble import CoAssociation, consensus
from conclust.ensemble._consensus import collapse
from tests.oracles import ensemble as oracle


@st.composite
def clusterings(draw, max_samples=14):
    n = draw(st.integers(2, max_samples))
    n_rounds = draw(st.integers(1, 6))
    codes = np.array(
        draw(
            st.lists(
                st.lists(st.integers(0, 2), min_size=n_rounds, max_size=n_rounds),
                min_size=n,
                max_size=n,
            )
        )
    )
    weights = np.array(draw(st.lists(st.floats(0.1, 3), min_size=n_rounds, max_size=n_rounds)))
    return codes, weights


@settings(max_examples=100)
@given(clusterings(), st.data())
def test_it_is_dense_kernel_kmeans_from_the_same_start(case, data):
    # Check labels and objective; starts with an empty cluster are left to a test of their own.
    codes, weights = case
    n = len(codes)
    k = data.draw(st.integers(1, min(3, n)))
    start = np.array(
        data.draw(
            st.permutations(
                [
                    *range(k),
                    *data.draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k)),
                ]
            )
        )
    )
    K = oracle.kernel(codes, weights)
    expected = oracle.kernel_kmeans(K, start, k)
    found = CoAssociation(codes, weights).cluster(k, init=start)
    if len(set(expected)) == k and _unambiguous(K, start, k):
        np.testing.assert_array_equal(found.labels, expected)
    # The paper's kernel is twice ours up to a constant, so distances double.
    assert 2 * found.objective == pytest.approx(oracle.objective(K, found.labels, k), abs=1e-6)


def _unambiguous(K, labels, k):
    """No two clusters are equally near along the way, and none runs empty."""
    for _ in range(100):
        d = oracle.kernel_distances(K, labels, k)
        if np.isinf(d).any():
            return False
        if k > 1:
            two = np.sort(d, axis=1)[:, :2]
            if ((two[:, 1] - two[:, 0]) < 1e-7).any():
                return False
        new = d.argmin(axis=1)
        if (new == labels).all():
            return True
        labels = new
    return False


@given(clusterings())
def test_confidence_is_the_kernel(case):
    codes, weights = case
    K = oracle.kernel(codes, weights)
    pairs = [(i, j) for i in range(len(codes)) for j in range(len(codes))]
    found = CoAssociation(codes, weights).confidence(pairs)
    np.testing.assert_allclose(found, [K[p] / weights.sum() for p in pairs], atol=1e-12)


@settings(max_examples=100)
@given(clusterings(), st.integers(1, 30), st.booleans(), st.booleans())
def test_extreme_pairs_against_listing_all(case, n, most, equal):
    # Check the values of the best n pairs, that they are different, and none is excluded.
    codes, weights = case
    weights = np.ones_like(weights) if equal else weights
    together = CoAssociation(codes, weights)
    K = oracle.kernel(codes, weights)
    exclude = np.array([[0, 1]])
    ranked = [v for v, p in oracle.sorted_confidence(K, weights.sum()) if p != (0, 1)]
    ranked = ranked if most else ranked[::-1]
    search = together.most_confident if most else together.least_confident
    found = search(n, exclude=exclude, random_state=0)
    expected = ranked[:n]
    assert len(found.pairs) == len(expected)
    np.testing.assert_allclose(found.confidence, expected, atol=1e-9)
    keys = {tuple(p) for p in found.pairs.tolist()}
    assert len(keys) == len(found.pairs)
    assert (0, 1) not in keys
    assert all(a < b for a, b in keys)


@pytest.mark.parametrize("most", [True, False])
@pytest.mark.parametrize("scan", [True, False], ids=["scan", "draw"])
def test_ties_are_drawn_uniformly(most, scan, monkeypatch):
    # 4 + 3 samples in two groups: 9 pairs always together, 12 always apart; 4 000 draws of one.
    import conclust.ensemble._consensus as module

    if scan:
        monkeypatch.setattr(module, "_unanimous", lambda *args: None)
    codes = np.repeat([[0, 0], [1, 1]], [4, 3], axis=0)
    together = CoAssociation(codes)
    search = together.most_confident if most else together.least_confident
    counts = {}
    for seed in range(4000):
        pair = tuple(search(1, random_state=seed).pairs[0].tolist())
        counts[pair] = counts.get(pair, 0) + 1
    expected = 9 if most else 12
    assert len(counts) == expected
    assert all(abs(c - 4000 / expected) < 5 * np.sqrt(4000 / expected) for c in counts.values())


def test_a_hundred_thousand_rows_without_a_matrix():
    rng = np.random.RandomState(0)
    truth = rng.randint(5, size=100_000)
    codes = np.where(
        rng.uniform(size=(100_000, 20)) < 0.02, rng.randint(5, size=(100_000, 20)), truth[:, None]
    )
    together = CoAssociation(codes)
    most = together.most_confident(50, random_state=0)
    least = together.least_confident(50, random_state=0)
    assert (most.confidence == 1).all()
    assert (least.confidence == -1).all()
    labels = together.cluster(5, n_init=3, random_state=0).labels
    from sklearn.metrics import adjusted_rand_score

    assert adjusted_rand_score(truth, labels) > 0.99


@given(clusterings())
def test_collapsing_keeps_every_row(case):
    codes, _ = case
    first, row, count = collapse(codes.astype(np.uint8))
    np.testing.assert_array_equal(codes[first][row], codes)
    assert len(first) == len({tuple(r) for r in codes.tolist()})
    np.testing.assert_array_equal(np.bincount(row), count)


def test_an_empty_cluster_takes_the_farthest_row():
    codes = np.array([[0, 0], [0, 0], [0, 1], [1, 2]])
    found = CoAssociation(codes).cluster(2, init=[0, 0, 0, 0])
    assert sorted(np.bincount(found.labels)) == [1, 3]
    assert found.labels[3] != found.labels[0]


def test_more_clusters_than_distinct_rows():
    found = CoAssociation(np.zeros((4, 3), dtype=int)).cluster(3, random_state=0)
    assert found.objective == 0
    assert found.labels.shape == (4,)


def test_weights_and_wide_codes():
    codes = np.column_stack([np.arange(400), np.zeros(400, dtype=int)])
    assert CoAssociation(codes).codes.dtype == np.uint16
    heavy = consensus([[0, 0], [0, 1], [1, 0], [1, 1]], [10, 1], 2, random_state=0)
    assert heavy[0] == heavy[1] != heavy[2] == heavy[3]


@pytest.mark.parametrize(
    ("labels", "weights", "message"),
    [
        ([0, 1], None, "one row per sample and one column per clustering"),
        ([[0.5]], None, "integers from 0 to 65535"),
        ([[-1]], None, "integers from 0"),
        ([[0], [1]], [1, 2], r"weights has shape \(2,\), but there are 1 clusterings"),
        ([[0], [1]], [-1], "not negative"),
        ([[0], [1]], [0], "all zero"),
        ([[0], [1]], [np.nan], "finite"),
    ],
)
def test_bad_input(labels, weights, message):
    with pytest.raises(ValueError, match=message):
        consensus(labels, weights, 1)


def test_n_clusters_is_checked():
    with pytest.raises(
        ValueError, match="n_clusters=3 must lie between 1 and the number of samples, 2"
    ):
        consensus([[0], [1]], None, 3)


@settings(max_examples=20)
@given(clusterings(max_samples=6))
def test_kernels_compiled_and_plain_agree(case):
    codes, weights = case
    codes = codes.astype(np.uint8)
    mass = np.arange(1.0, len(codes) + 1)
    labels = np.arange(len(codes)) % 2
    results = []
    for plain in (False, True):

        def pick(kernel, plain=plain):
            return kernel.py_func if plain else kernel

        counts = np.zeros((codes.shape[1], 3, 2))
        pick(kernels.count_codes)(codes, mass, labels, counts)
        out = np.empty(len(codes))
        pick(kernels.distances_to_row)(codes, weights, 0, out)
        agree = np.empty(1)
        pick(kernels.agreement)(codes, weights, np.array([[0, 1]]), agree)
        new, distances = labels.copy(), np.empty(len(codes))
        pick(kernels.nearest_profiles)(codes, counts, np.ones(2), 0.0, new, distances)
        results.append((counts, out, agree, new, distances))
    for one, two in zip(*results, strict=True):
        np.testing.assert_allclose(one, two)
