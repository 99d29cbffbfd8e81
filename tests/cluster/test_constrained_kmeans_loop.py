"""The modified COP-Kmeans as a function: scikit-learn without pairs, the paper's loop with them."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs

from conclust._lloyd.start import centered, init_centers
from conclust._sklearn import scaled_tolerance
from conclust.cluster._constrained_kmeans import Round, constrained_kmeans
from tests.oracles import kmeans as oracle

MUST, CANNOT = 1, -1
NO_PAIRS = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int8), None


def both(X, init, weight=None, tol=0.0, max_iter=300, n_threads=None):
    """The same start for scikit-learn and for us."""
    n_clusters = len(init)
    theirs = KMeans(
        n_clusters, init=init, n_init=1, max_iter=max_iter, tol=tol, algorithm="lloyd"
    ).fit(X, sample_weight=weight)
    data = centered(X)
    start = init_centers(data.X, n_clusters, init, weight, np.random.RandomState(0), mean=data.mean)
    ours = constrained_kmeans(
        data.X,
        *NO_PAIRS,
        start,
        sample_weight=weight,
        tol=scaled_tolerance(X, tol),
        max_iter=max_iter,
        n_threads=n_threads,
    )
    return theirs, ours._replace(centers=ours.centers + data.mean)


def check_equal(theirs, ours, dtype=np.float64):
    rtol = 1e-4 if dtype == np.float32 else 1e-10
    assert_array_equal(ours.labels, theirs.labels_)
    assert ours.labels.dtype == theirs.labels_.dtype
    assert ours.n_iter == theirs.n_iter_ == len(ours.history)
    assert ours.centers.dtype == theirs.cluster_centers_.dtype == dtype
    assert_allclose(ours.centers, theirs.cluster_centers_, rtol=rtol, atol=rtol)
    assert_allclose(ours.inertia, theirs.inertia_, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_without_pairs_it_is_scikit_learns_kmeans(load, weighted, sparse, dtype):
    X = load().data.astype(dtype)
    rng = np.random.RandomState(1)
    weight = rng.uniform(0.5, 2, len(X)).astype(dtype) if weighted else None
    for n_clusters in (1, 3, 8):
        init = X[rng.permutation(len(X))[:n_clusters]]
        check_equal(*both(sp.csr_matrix(X) if sparse else X, init, weight), dtype)


@pytest.mark.parametrize("tol", [1e-4, 1e-2])
@pytest.mark.parametrize("max_iter", [1, 2, 300])
def test_it_stops_where_scikit_learn_stops(tol, max_iter):
    X = load_digits().data
    check_equal(*both(X, X[:10], tol=tol, max_iter=max_iter))


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@given(st.data())
def test_few_distinct_rows_and_far_centres_as_in_scikit_learn(data):
    # Check empty clusters: relocated, more than distinct rows, rows without weight.
    n_samples, n_features = data.draw(st.integers(2, 8)), data.draw(st.integers(1, 3))
    n_clusters = data.draw(st.integers(1, n_samples))

    def table(n_rows, low, high):
        row = st.lists(st.integers(low, high), min_size=n_features, max_size=n_features)
        return np.array(data.draw(st.lists(row, min_size=n_rows, max_size=n_rows)), dtype=float)

    X, init = table(n_samples, 0, 2), table(n_clusters, -1, 5)
    weight = data.draw(
        st.none() | st.lists(st.integers(0, 2), min_size=n_samples, max_size=n_samples)
    )
    assume(weight is None or sum(weight) > 0)
    if weight is not None:
        weight = np.array(weight, dtype=float)
    if data.draw(st.booleans()):
        X = sp.csr_matrix(X)
    check_equal(*both(X, init, weight, max_iter=20))


@st.composite
def problems(draw):
    """Rows in general position, centres at some of them, pairs of which some clash."""
    n_samples, n_features = draw(st.integers(6, 20)), draw(st.integers(1, 3))
    n_clusters = draw(st.integers(1, 4))
    rng = np.random.RandomState(draw(st.integers(0, 2**31 - 1)))
    X = rng.standard_normal((n_samples, n_features))
    n_pairs = draw(st.integers(0, 15))
    pairs = (
        np.array([rng.permutation(n_samples)[:2] for _ in range(n_pairs)])
        .astype(int)
        .reshape(-1, 2)
    )
    sign = rng.choice([MUST, CANNOT], n_pairs)
    priority = rng.randint(0, 3, n_pairs).astype(float)
    weight = rng.uniform(0.5, 2, n_samples) if draw(st.booleans()) else None
    return X, pairs, sign, priority, X[rng.permutation(n_samples)[:n_clusters]], weight


def is_clear(result):
    """Whether rounding has no say: two rows alone in a cluster are equally far from its centre.

    Then either is the nearer one of a pair, and either fills an empty cluster: the paper does not
    say which. What becomes of two empty clusters is left open, too.
    """
    return result.margin > 1e-9 and result.n_empty <= 1


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_with_pairs_it_is_the_papers_algorithm(sparse):
    # Check labels and iterations against Algorithm 2 written out line by line. After max_iter
    # rounds we assign once more, which the paper would do as the first step of the next round.
    @given(problems(), st.integers(1, 12))
    def check(problem, max_iter):
        X, pairs, sign, priority, centers, weight = problem
        order = oracle.by_priority(priority)
        expected = oracle.modified_cop_kmeans(
            X.tolist(),
            pairs,
            sign,
            [order] * (max_iter + 1),
            centers.tolist(),
            weight,
            stop_at_cycles=len(pairs) > 0,
        )
        assume(is_clear(expected))
        run = constrained_kmeans(
            sp.csr_matrix(X) if sparse else X,
            pairs,
            sign,
            priority,
            centers,
            sample_weight=weight,
            max_iter=max_iter,
            tol=-1.0,  # only the labels decide, as in the paper
        )
        assert run.labels.tolist() == expected.labels
        assert run.n_iter == min(expected.n_iter, max_iter)

    check()


@given(problems(), st.integers(0, 100))
def test_random_order_is_drawn_anew_in_each_iteration(problem, seed):
    # Check against the oracle with the same draws; priorities are ignored, the draws repeat.
    X, pairs, sign, priority, centers, weight = problem
    rng = np.random.RandomState(seed)
    orders = [rng.permutation(len(pairs)).tolist() for _ in range(8)]
    expected = oracle.modified_cop_kmeans(
        X.tolist(),
        pairs,
        sign,
        [*orders, orders[-1]],
        centers.tolist(),
        weight,
        stop_at_stalls=len(pairs) > 0,
    )
    assume(is_clear(expected))
    first, again = (
        constrained_kmeans(
            X,
            pairs,
            sign,
            priority,
            centers,
            sample_weight=weight,
            max_iter=8,
            tol=-1.0,
            order="random",
            random_state=seed,
        )
        for _ in range(2)
    )
    assert first.labels.tolist() == again.labels.tolist() == expected.labels


def test_higher_priority_is_placed_first():
    # Check descending priorities, and ties in the order given.
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    pairs, sign = np.array([(0, 1), (0, 1)]), np.array([MUST, CANNOT])
    centers = X[[0, 2]]

    def labels(priority):
        return constrained_kmeans(X, pairs, sign, priority, centers, max_iter=1).labels.tolist()

    assert labels([1.0, 2.0])[0] != labels([1.0, 2.0])[1]
    assert labels([2.0, 1.0])[0] == labels([2.0, 1.0])[1]
    assert labels([1.0, 1.0])[0] == labels(None)[0] == labels(None)[1]


def test_an_emptied_cluster_restarts_at_the_farthest_row():
    # Check by hand: the must-link draws row 3 away from its own centre, which the row farthest from
    # its centre then takes over: row 3 itself, at distance 8 from centre 0.
    X = np.array([[0.0], [1.0], [1.5], [8.0]])
    run = constrained_kmeans(
        X, [(0, 3)], [MUST], None, np.array([[0.0], [7.0]]), max_iter=1, tol=np.inf
    )
    assert run.centers.ravel().tolist() == pytest.approx([2.5 / 3, 8.0])
    assert run.history[0].inertia == pytest.approx(0 + 1 + 1.5**2 + 8**2)


def test_of_two_rows_equally_far_either_fills_an_empty_cluster():
    # Check by hand: rows 0 and 1 are alone with their mean and equally far from it, cluster 2 is
    # empty. The paper leaves open which of them restarts it, and so do we: rounding decides.
    X = np.array([[-2.0], [2.0], [10.0], [11.0]])
    centers = np.array([[0.0], [10.5], [100.0]])
    run = constrained_kmeans(X, [(2, 3)], [MUST], None, centers, max_iter=1, tol=np.inf)
    assert sorted(run.centers.ravel()) == pytest.approx([-2.0, 2.0, 10.5])
    assert run.labels[0] != run.labels[1]


def test_must_linked_rows_on_their_own_centres_share_one_of_them():
    # Check by hand: both rows are at distance 0 from their centres but for rounding, which decides
    # where the two go; that they go together does not depend on it.
    X = np.array([[0.1, 0.7], [0.3, 0.9], [5.0, 5.0]])
    run = constrained_kmeans(X, [(0, 1)], [MUST], None, X + 1e-17, max_iter=1, tol=np.inf)
    assert run.labels[0] == run.labels[1]
    assert run.labels[0] in (0, 1)


def test_fractions_of_weight_leave_nothing_behind():
    # Check by hand: 0.1 + 0.2 + 0.3 − 0.1 − 0.2 − 0.3 is not 0 in binary, yet cluster 1 is empty
    # once its rows follow row 0, and restarts at the farthest of them.
    X = np.array([[0.0], [9.0], [10.0], [11.0]])
    run = constrained_kmeans(
        X,
        [(0, 1), (0, 2), (0, 3)],
        [MUST, MUST, MUST],
        None,
        np.array([[0.0], [8.0]]),
        sample_weight=np.array([1.0, 0.1, 0.2, 0.3]),
        max_iter=1,
        tol=np.inf,
    )
    assert run.centers.ravel().tolist() == pytest.approx([(0.9 + 2.0) / 1.3, 11.0])


def test_float32_stays_float32():
    # Check the type of the answer with pairs, and that it is the answer in double precision.
    X, y = make_blobs(500, 5, centers=4, cluster_std=3.0, random_state=0)
    rng = np.random.RandomState(0)
    pairs = rng.randint(500, size=(200, 2))
    sign = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], MUST, CANNOT)
    data = centered(X).X
    for kind in (np.asarray, sp.csr_matrix):
        single, double = (
            constrained_kmeans(kind(data.astype(dtype)), pairs, sign, None, data[:4], max_iter=20)
            for dtype in (np.float32, np.float64)
        )
        assert single.centers.dtype == np.float32
        assert_array_equal(single.labels, double.labels)
        assert_allclose(single.centers, double.centers, rtol=1e-4, atol=1e-4)


def test_the_record_of_each_round():
    # Check what history holds, that the callback sees the same, and that the answer is consistent.
    X, y = make_blobs(300, 4, centers=4, cluster_std=6.0, random_state=0)
    rng = np.random.RandomState(0)
    pairs = rng.randint(300, size=(400, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    sign = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], MUST, CANNOT)
    seen: list[Round] = []
    run = constrained_kmeans(X, pairs, sign, None, X[:4], max_iter=5, on_round=seen.append)
    assert seen == run.history
    assert run.n_iter == len(run.history) == 5
    assert not run.converged
    assert run.history[0].n_changed == 300
    first = constrained_kmeans(X, pairs, sign, None, X[:4], max_iter=0)
    same = first.labels[pairs[:, 0]] == first.labels[pairs[:, 1]]
    assert run.history[0].n_violated == (same != (sign == MUST)).sum()
    assert run.history[0].inertia == pytest.approx(first.inertia)
    assert first.inertia == pytest.approx(((X - X[:4][first.labels]) ** 2).sum())
    assert run.inertia == pytest.approx(((X - run.centers[run.labels]) ** 2).sum())
    assert all(r.seconds > 0 for r in run.history)


def test_converged_runs_say_so():
    X = load_iris().data
    run = constrained_kmeans(X, *NO_PAIRS, X[[0, 50, 100]])
    assert run.converged
    assert run.history[-1].n_changed == 0
    loose = constrained_kmeans(X, *NO_PAIRS, X[[0, 50, 100]], tol=1.0)
    assert loose.converged
    assert loose.n_iter < run.n_iter
    assert loose.history[-1].center_shift <= 1.0


def test_the_start_is_left_alone():
    X = load_iris().data
    start = X[[0, 50, 100]]
    before = start.copy()
    constrained_kmeans(X, [(0, 1)], [CANNOT], None, start)
    assert_array_equal(start, before)


def test_centring_keeps_digits():
    # Check that far from the origin the answer is that of the same data near it.
    X, _ = make_blobs(400, 3, centers=3, cluster_std=2.0, random_state=0)
    far = centered(X + 1e7).X
    near = constrained_kmeans(centered(X).X, *NO_PAIRS, centered(X).X[:3])
    assert_array_equal(constrained_kmeans(far, *NO_PAIRS, far[:3]).labels, near.labels)


@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_draws_are_scikit_learns(init, weighted):
    # Check through KMeans itself: same seed, same start, hence same result.
    X = load_wine().data
    weight = np.random.RandomState(0).uniform(size=len(X)) if weighted else None
    theirs = KMeans(3, init=init, n_init=1, random_state=5, tol=0).fit(X, sample_weight=weight)
    data = centered(X)
    start = init_centers(data.X, 3, init, weight, np.random.RandomState(5), mean=data.mean)
    ours = constrained_kmeans(data.X, *NO_PAIRS, start, sample_weight=weight)
    check_equal(theirs, ours._replace(centers=ours.centers + data.mean))
