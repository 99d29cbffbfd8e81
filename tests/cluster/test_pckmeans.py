"""PCKMeans against its objective written out, KMeans, and cases one can read."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from conclust import Constraints, MPCKMeans, sample_constraints
from conclust._lloyd.start import seed_neighborhoods
from conclust._placement.links import link_rows
from conclust._placement.soft import best_to_move
from conclust.cluster._pckmeans import PCKMeans, pckmeans
from conclust.cluster._penalty import choose_price, price_by_regret
from conclust.exceptions import DegenerateClusteringWarning, InvalidConstraintsError
from conclust.testing import any_constraints, consistent_constraints, contradictory_constraints
from tests.oracles.pckmeans import pckmeans_objective

# Two clumps on a line and a row between them, nearer to the left one.
LINE = np.array([[0.0], [1.0], [4.0], [10.0], [11.0]])
ENDS = np.array([[0.5], [10.5]])


def blobs(n_samples=60, seed=0):
    X, y = make_blobs(n_samples, centers=3, n_features=2, cluster_std=3.0, random_state=seed)
    return X, y, sample_constraints(y, 40, noise=0.2, random_state=seed)


# --- cases one can read ------------------------------------------------------------------------


def test_a_statement_is_broken_when_that_is_cheaper():
    # Row 2 lies 3.5² = 12.25 from 0.5 and 6.5² = 42.25 from 10.5: obeying costs 30, before the
    # centres move.
    known = Constraints(must_link=[(2, 3)])
    cheap = PCKMeans(2, penalty=5.0, init=ENDS).fit(LINE, constraints=known)
    assert cheap.labels_.tolist() == [0, 0, 0, 1, 1]
    assert cheap.objective_ == pytest.approx(cheap.inertia_ + 5.0)
    dear = PCKMeans(2, penalty=50.0, init=ENDS).fit(LINE, constraints=known)
    assert dear.labels_.tolist() == [0, 0, 1, 1, 1]
    assert dear.objective_ == pytest.approx(dear.inertia_)


def test_the_heavier_of_two_contradictory_statements_wins():
    for must, cannot, together in ((3.0, 1.0, True), (1.0, 3.0, False)):
        known = Constraints(
            [(2, 3)], [(2, 3)], must_link_weight=[must], cannot_link_weight=[cannot]
        )
        model = PCKMeans(2, penalty=50.0, init=ENDS).fit(LINE, constraints=known)
        assert (model.labels_[2] == model.labels_[3]) == together
        assert model.report_.n_violated == 1


def test_more_rows_apart_than_clusters_cost_what_they_cost():
    # Five rows all apart in two clusters: two and three together break 1 + 3 pairs.
    known = Constraints.from_groups(apart=np.zeros(5))
    model = PCKMeans(2, penalty=1000.0, random_state=0).fit(LINE, constraints=known)
    assert model.objective_ == pytest.approx(model.inertia_ + 4000.0)
    assert model.history_[-1].n_violated == 4


def test_weight_of_rows_stands_against_price_of_statements():
    known = Constraints(must_link=[(2, 3)])
    fit = PCKMeans(2, penalty=50.0, init=ENDS).fit
    assert fit(LINE, constraints=known).labels_[2] == 1
    heavy = fit(LINE, constraints=known, sample_weight=[1, 1, 9, 9, 1])
    assert heavy.labels_[2] == 0


# --- against slow or foreign routes ------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_objective_is_what_it_says(container, weighted):
    X, _, known = blobs()
    weight = np.random.RandomState(1).uniform(0, 3, size=len(X)) if weighted else None
    model = PCKMeans(3, penalty=7.0, n_init=2, random_state=0)
    model.fit(container(X), constraints=known, sample_weight=weight)
    expected = pckmeans_objective(
        X, model.labels_, model.cluster_centers_, known, 7.0, sample_weight=weight
    )
    assert model.objective_ == pytest.approx(expected)
    assert model.history_[-1].n_violated == model.report_.n_violated


@pytest.mark.parametrize("nothing", [None, Constraints()])
@pytest.mark.parametrize("weighted", [False, True])
def test_without_constraints_it_is_kmeans(nothing, weighted):
    X, _, _ = blobs(200)
    weight = np.random.RandomState(1).randint(1, 4, size=len(X)) if weighted else None
    init = X[:4]
    ours = PCKMeans(4, init=init).fit(X, constraints=nothing, sample_weight=weight)
    theirs = KMeans(4, init=init, n_init=1).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    assert ours.objective_ == ours.inertia_
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X))
    assert ours.score(X, sample_weight=weight) == pytest.approx(
        theirs.score(X, sample_weight=weight)
    )


def test_price_by_leads():
    # By hand: after k-means the centres are 5/3 and 10.5. Leads are differences of squares.
    leads = np.abs((LINE - 5 / 3) ** 2 - (LINE - 10.5) ** 2).ravel()
    price = price_by_regret(LINE, ENDS, np.ones(5))
    assert price == pytest.approx(0.6 * np.median(leads))
    assert price_by_regret(LINE, ENDS, np.full(5, 2.0)) == pytest.approx(2 * price)
    assert price_by_regret(LINE, ENDS[:1], np.ones(5)) == 1.0
    assert price_by_regret(np.ones((4, 1)), np.ones((2, 1)), np.ones(4)) == 0.6


def test_held_out_statements_choose_the_price():
    # The clusterer keeps the held-out statements only at the price it is told to like.
    known = Constraints([(i, i + 1) for i in range(30)])
    for liked in (1.0, 4.0, 16.0):

        def cluster(train, price, n_init, seed, liked=liked):
            assert 20 <= len(train) < 30
            return np.zeros(31, int) if price == 2 * liked else np.arange(31)

        assert choose_price(2.0, known, cluster, np.random.RandomState(0)) == 2 * liked
    few = choose_price(2.0, known[:10], None, np.random.RandomState(0))
    assert few == 8.0
    tie = choose_price(2.0, known, lambda *_: np.zeros(31, int), np.random.RandomState(0))
    assert tie == 2.0


def test_what_follows_from_the_rest_does_not_choose_the_price():
    # Nine rows linked in every way: each pair follows from the others, so nothing can be asked.
    known = Constraints([(i, j) for i in range(9) for j in range(i)])
    assert choose_price(2.0, known, None, np.random.RandomState(0)) == 8.0


def test_wrong_statements_lower_the_price():
    X, y = load_iris(return_X_y=True)
    prices = [
        np.mean([
            PCKMeans(3, n_init=1, random_state=seed)
            .fit(X, constraints=sample_constraints(y, 300, noise=noise, random_state=seed))
            .penalty_
            for seed in range(4)
        ])
        for noise in (0.0, 0.2)
    ]  # fmt: skip
    assert prices[0] >= prices[1]


# --- properties --------------------------------------------------------------------------------


@st.composite
def data_sets(draw, n_samples=10, n_features=2):
    seed = draw(st.integers(0, 1000))
    X = np.random.RandomState(seed).normal(size=(n_samples, n_features))
    # Rows that repeat and lie on each other are where ties and empty clusters come from.
    return np.round(X, draw(st.sampled_from([0, 1, 8])))


@pytest.mark.filterwarnings("ignore::conclust.exceptions.DegenerateClusteringWarning")
@given(
    X=data_sets(),
    known=st.one_of(any_constraints(), contradictory_constraints()),
    n_clusters=st.integers(1, 4),
    penalty=st.sampled_from(["auto", 0.0, 0.3, 100.0]),
    init=st.sampled_from(["neighborhoods", "k-means++", "random"]),
)
def test_the_objective_never_rises(X, known, n_clusters, penalty, init):
    # Contradictory or not: nothing raises, and no iteration makes it worse.
    model = PCKMeans(n_clusters, penalty=penalty, init=init, n_init=1, tol=0, random_state=0)
    model.fit(X, constraints=known)
    fell = [*(record.objective for record in model.history_), model.objective_]
    scale = np.sum(X**2) + fell[0]
    assert (np.diff(fell) <= 1e-9 * scale).all()
    expected = pckmeans_objective(X, model.labels_, model.cluster_centers_, known, model.penalty_)
    assert model.objective_ == pytest.approx(expected, abs=1e-9 * scale)
    assert model.converged_


@pytest.mark.filterwarnings("ignore::conclust.exceptions.DegenerateClusteringWarning")
@given(case=consistent_constraints(n_samples=10, n_classes=2), X=data_sets())
def test_a_huge_penalty_keeps_what_two_clusters_can_keep(case, X):
    known, _ = case
    model = PCKMeans(2, penalty=1e6, n_init=5, random_state=0).fit(X, constraints=known)
    assert model.report_.n_violated == 0


@given(known=any_constraints(n_samples=20, max_pairs=15), factor=st.sampled_from([0.25, 8.0]))
def test_units_do_not_matter(known, factor):
    # Neither those of the rows' weights nor those of the features.
    X, _, _ = blobs(20)
    model = PCKMeans(3, init=X[:3], random_state=0)
    plain = model.fit(X, constraints=known)
    labels, penalty = plain.labels_, plain.penalty_
    weighted = clone(model).fit(X, constraints=known, sample_weight=np.full(20, factor))
    np.testing.assert_array_equal(weighted.labels_, labels)
    assert weighted.penalty_ == pytest.approx(factor * penalty)
    scaled = clone(model).set_params(init=factor * X[:3]).fit(factor * X, constraints=known)
    np.testing.assert_array_equal(scaled.labels_, labels)


def test_a_row_without_weight_is_not_there():
    X, _, _ = blobs(40)
    known = Constraints([(0, 1), (2, 3)], [(4, 5), (0, 2)])
    weight = np.ones(len(X))
    weight[30:] = 0
    model = PCKMeans(3, init=X[:3], random_state=0)
    all_rows = clone(model).fit(X, constraints=known, sample_weight=weight)
    fewer = clone(model).fit(X[:30], constraints=known)
    np.testing.assert_array_equal(all_rows.labels_[:30], fewer.labels_)
    assert all_rows.penalty_ == pytest.approx(fewer.penalty_)


# --- where it starts ---------------------------------------------------------------------------


def seeds(X, known, n_clusters, *, farthest_first=True, seed=0):
    centers = seed_neighborhoods(
        X,
        link_rows(known),
        n_clusters,
        np.ones(X.shape[0]),
        np.random.RandomState(seed),
        farthest_first=farthest_first,
    )
    return centers[np.lexsort(centers.T)]


def test_seeds_are_means_of_neighborhoods():
    # The largest neighbourhood first, then weight times distance: 2·9 against 2·4.
    X = np.array([[0.0], [1.0], [2.0], [5.0], [5.0], [10.0], [10.0]])
    known = Constraints(must_link=[(0, 1), (1, 2), (3, 4), (5, 6)])
    np.testing.assert_allclose(seeds(X, known, 1), [[1.0]])
    np.testing.assert_allclose(seeds(X, known, 2), [[1.0], [10.0]])
    np.testing.assert_allclose(seeds(X, known, 3), [[1.0], [5.0], [10.0]])
    for seed in range(3):
        drawn = seeds(X, known, 2, farthest_first=False, seed=seed)
        assert np.isin(drawn, [1.0, 5.0, 10.0]).all()


def test_a_must_link_that_contradicts_cannot_links_melts_no_seeds():
    X = np.array([[0.0], [2.0], [10.0], [12.0]])
    known = Constraints([(0, 1), (2, 3), (1, 2)], [(0, 2), (1, 3), (1, 2)])
    np.testing.assert_allclose(seeds(X, known, 2), [[1.0], [11.0]])


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_missing_seeds_are_drawn(container):
    # One neighbourhood, three clusters: the others are rows, distinct as long as there are any.
    X = container(np.array([[0.0], [2.0], [10.0], [30.0]]))
    known = Constraints(must_link=[(0, 1)])
    found = seeds(X, known, 3).ravel()
    assert 1.0 in found
    assert len(np.unique(found)) == 3
    assert len(np.unique(seeds(X, Constraints(cannot_link=[(0, 1)]), 3))) == 3
    np.testing.assert_allclose(seeds(container(np.ones((4, 1))), known, 3), np.ones((3, 1)))


def test_equal_neighborhoods_are_chosen_once_each():
    X = np.array([[3.0], [3.0], [3.0], [3.0], [3.0], [3.0]])
    known = Constraints(must_link=[(0, 1), (2, 3), (4, 5)])
    np.testing.assert_allclose(seeds(X, known, 3), np.full((3, 1), 3.0))


@pytest.mark.parametrize(
    "init", ["neighborhoods", "k-means++", "random", LINE[[0, 4]], lambda X, k, random_state: X[:k]]
)
def test_every_kind_of_start(init):
    model = PCKMeans(2, init=init, n_init=3, random_state=0)
    model.fit(LINE, constraints=Constraints(cannot_link=[(0, 4)]))
    assert adjusted_rand_score(model.labels_, [0, 0, 0, 1, 1]) == 1.0


def test_more_starts_are_not_worse():
    X, _, known = blobs(100)
    objectives = [
        PCKMeans(6, penalty=5.0, n_init=n, init="random", random_state=0)
        .fit(X, constraints=known)
        .objective_
        for n in (1, 4, 12)
    ]
    assert objectives == sorted(objectives, reverse=True)


def test_an_empty_cluster_is_filled_by_the_row_that_saves_most():
    # Row 3 lies farthest out, but three must-links hold it; row 0 is free.
    X = np.array([[-9.0], [0.0], [1.0], [10.0], [0.5]])
    known = Constraints(must_link=[(3, 1), (3, 2), (3, 4)])
    init = np.array([[0.0], [1000.0]])
    for data in (X, sp.csr_array(X)):
        model = PCKMeans(2, penalty=1000.0, init=init).fit(data, constraints=known)
        assert model.labels_.tolist() == [1, 0, 0, 0, 0]
        free = PCKMeans(2, penalty=1.0, init=init).fit(data, constraints=known)
        assert free.labels_.tolist() == [0, 0, 0, 1, 0]


def test_no_row_moves_to_an_empty_cluster_for_nothing():
    links = link_rows(Constraints(must_link=[(0, 1)]))
    labels, nothing = np.zeros(3, dtype=np.int32), np.zeros(3)
    price = np.ones((1, 1))
    assert best_to_move(labels, links, price, nothing, nothing, 1, 0.0) == -1
    assert best_to_move(labels, links, price, np.array([0.5, 0, 0.1]), nothing, 1, 0.0) == 2
    assert best_to_move(labels, links, price, np.array([1.5, 0, 0.1]), nothing, 1, 0.0) == 0


# --- the estimator -----------------------------------------------------------------------------


def test_wrong_statements_degrade_the_result():
    # Check the share of wrong statements against the adjusted Rand index, 0.62 without any.
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for noise, target in ((0.0, 0.86), (0.05, 0.79), (0.1, 0.74), (0.2, 0.6)):
        found = [
            adjusted_rand_score(y, PCKMeans(3, random_state=seed).fit_predict(X, constraints=known))
            for seed in range(5)
            for known in [sample_constraints(y, 200, noise=noise, random_state=seed)]
        ]
        assert np.mean(found) > target


@pytest.mark.slow
@pytest.mark.parametrize("model", [PCKMeans(3), MPCKMeans(3)], ids=["PCKMeans", "MPCKMeans"])
@pytest.mark.parametrize("drawn", ["random", "half"])
def test_iris_with_wrong_statements(model, drawn):
    """Mean adjusted Rand index over ten draws of 200 statements, 5, 10 and 20 % wrong."""
    X, y = load_iris(return_X_y=True)
    for noise, least in ((0.05, 0.85), (0.1, 0.80), (0.2, 0.60)):
        found = []
        for seed in range(10):
            number = (
                {"n_pairs": 200}
                if drawn == "random"
                else {"n_must_link": 100, "n_cannot_link": 100}
            )
            known = sample_constraints(y, noise=noise, random_state=seed, **number)
            labels = clone(model).set_params(random_state=seed).fit_predict(X, constraints=known)
            found.append(adjusted_rand_score(y, labels))
        assert np.mean(found) >= least, (noise, np.mean(found))


def test_float32_and_sparse_end_where_float64_ends():
    X, _, known = blobs(100)
    model = PCKMeans(3, init=X[:3], random_state=0)
    expected = clone(model).fit(X, constraints=known)
    single = clone(model).fit(X.astype(np.float32), constraints=known)
    sparse = clone(model).fit(sp.csr_matrix(X), constraints=known)
    np.testing.assert_array_equal(single.labels_, expected.labels_)
    np.testing.assert_array_equal(sparse.labels_, expected.labels_)
    assert single.cluster_centers_.dtype == single.transform(X).dtype == np.float32
    assert expected.labels_.dtype == np.int32


def test_data_far_from_the_origin():
    X, _, known = blobs(100)
    near = PCKMeans(3, init=X[:3], random_state=0).fit(X, constraints=known)
    far = PCKMeans(3, init=X[:3] + 1e6, random_state=0).fit(X + 1e6, constraints=known)
    np.testing.assert_array_equal(far.labels_, near.labels_)
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-6)


def test_data_frames():
    pd = pytest.importorskip("pandas")
    X, _, known = blobs()
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = PCKMeans(3, random_state=0).set_output(transform="pandas").fit(frame, constraints=known)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.transform(frame).columns.tolist() == ["pckmeans0", "pckmeans1", "pckmeans2"]


def test_max_iter_stops():
    X, _, known = blobs(300)
    model = PCKMeans(5, max_iter=1, n_init=1, random_state=0).fit(X, constraints=known)
    assert model.n_iter_ == len(model.history_) == 1
    assert not model.converged_
    expected = pckmeans_objective(X, model.labels_, model.cluster_centers_, known, model.penalty_)
    assert model.objective_ == pytest.approx(expected)


def test_the_function_alone_calls_back():
    X, _, known = blobs()
    seen = []
    run = pckmeans(X, link_rows(known), 1.0, X[:3], on_round=seen.append)
    assert seen == run.history


def test_verbose_shows_progress(capsys):
    PCKMeans(2, n_init=2, verbose=1, random_state=0).fit(LINE)
    assert "PCKMeans" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalty": -1.0}, "'penalty' parameter"),
        ({"penalty": "much"}, "'penalty' parameter"),
        ({"init": "neighbours"}, "'init' parameter"),
        ({"init": LINE[:3]}, r"init has shape \(3, 1\), but n_clusters=2"),
        ({"n_clusters": 6}, "n_samples=5 should be >= n_clusters=6"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        PCKMeans(2).set_params(**parameters).fit(LINE)


def test_wrong_constraints():
    with pytest.raises(InvalidConstraintsError, match="X has 5 rows"):
        PCKMeans(2).fit(LINE, constraints=Constraints(must_link=[(0, 9)]))
    with pytest.raises(TypeError, match=r"must be a conclust\.Constraints"):
        PCKMeans(2).fit(LINE, constraints=[(0, 1)])


def test_too_few_distinct_rows_are_mentioned():
    with pytest.warns(DegenerateClusteringWarning, match="Only 1 of n_clusters=2"):
        PCKMeans(2, random_state=0).fit(np.ones((4, 1)))
