import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_breast_cancer, load_iris, make_moons
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.mixture import GaussianMixture

from conclust import Constraints, DistBoost, sample_constraints
from conclust.cluster import Mixture
from conclust.exceptions import ConclustWarning
from conclust.metric_learning._dist_boost import (
    Beliefs,
    WeakLearner,
    agreement,
    beliefs_of,
    choose_n_components,
    importance,
    reweigh,
    similarity,
    similarity_of_pairs,
    weights_of_rows,
)
from tests.oracles.metric_learning import boosted_distance, weights_in_product_space

X, y = load_iris(return_X_y=True)


# --- equations


def test_similarity_by_hand():
    first = Beliefs(np.array([0, 0, 1]), np.array([1.0, 0.5, 0.8]))
    second = Beliefs(np.array([0, 1, 1]), np.array([1.0, 0.6, 0.5]))
    np.testing.assert_allclose(similarity(first, second), [1.0, -0.3, 0.4])


def test_importance_by_hand():
    assert importance(0.0) == 0
    assert importance(0.6) == pytest.approx(np.log(1.6 / 0.4) / 2)
    assert agreement(np.ones(4), np.array([1, 1, -1, -1]), np.array([1, 1, -1, -1])) == 0.8
    assert np.isfinite(importance(agreement(np.ones(1), np.array([1]), np.array([-1.0]))))


@given(
    similar=arrays(float, 7, elements=st.floats(-1, 1)),
    weight=arrays(float, 7, elements=st.floats(0.01, 5)),
    sign=arrays(float, 7, elements=st.sampled_from([-1.0, 1.0])),
)
def test_each_round_lowers_the_exponential_loss(similar, weight, sign):
    # Schapire and Singer: Σ W exp(−α y h̃) ≤ Σ W √(1 − r²) for h̃ in [−1, 1].
    r = agreement(weight, sign, similar)
    loss = weight @ np.exp(-importance(r) * sign * similar) / weight.sum()
    assert loss <= np.sqrt(1 - r**2) + 1e-9


def test_weights_equal_those_of_all_pairs_written_out():
    # Check two updates, and the weights of rows, against n x n arrays.
    n = 8
    rng = np.random.RandomState(0)
    pairs, sign = np.array([(0, 1), (1, 2), (4, 7)]), np.array([1.0, -1, 1])
    statement, h = np.zeros((n, n)), np.zeros((n, n))
    W = np.full((n, n), 1 / n**2)
    weight, other = np.full(3, 2 / n**2), 1 - 6 / n**2
    for _ in range(2):
        similar, alpha = rng.uniform(-1, 1, 3), rng.uniform(0.2, 1)
        for (i, j), s, value in zip(pairs, sign, similar, strict=True):
            statement[i, j] = statement[j, i] = s
            h[i, j] = h[j, i] = value
        W = weights_in_product_space(W, statement, h, alpha)
        weight, other = reweigh(weight, other, sign, similar, alpha)
        np.testing.assert_allclose(weight, [2 * W[i, j] for i, j in pairs])
        assert other == pytest.approx(W[statement == 0].sum())
        np.testing.assert_allclose(weights_of_rows(weight, other, pairs, n), W.sum(axis=1) * n)


def test_beliefs_are_those_of_a_gaussian_mixture():
    theirs = GaussianMixture(3, random_state=0).fit(X)
    mixture = Mixture(
        theirs.weights_, theirs.means_, theirs.covariances_, theirs.precisions_cholesky_
    )
    found = beliefs_of(X, mixture, "full")
    np.testing.assert_array_equal(found.component, theirs.predict(X))
    np.testing.assert_allclose(found.probability, theirs.predict_proba(X).max(axis=1))
    pairs = np.array([(0, 60), (60, 61), (149, 0)])
    first, second = (Beliefs(*(column[pairs[:, i]] for column in found)) for i in (0, 1))
    np.testing.assert_allclose(
        similarity_of_pairs(X, mixture, "full", pairs), similarity(first, second)
    )


# --- the estimator


@pytest.fixture(scope="module")
def fitted():
    known = sample_constraints(y, 150, random_state=0)
    return DistBoost(n_estimators=6, random_state=0).fit(X, constraints=known)


def test_distances_are_those_of_the_definition(fitted):
    rows = fitted._standardized(X[::15])
    rounds = [beliefs_of(rows, mixture, "full") for mixture in fitted.estimators_]
    of_row = [[(b.component[i], b.probability[i]) for b in rounds] for i in range(len(rows))]
    D = fitted.pairwise(X[::15])
    for i in range(len(rows)):
        for j in range(i):
            expected = boosted_distance(of_row[i], of_row[j], fitted.estimator_weights_)
            assert D[i, j] == pytest.approx(expected)
    assert D.min() >= 0
    assert D.max() <= 1


def test_the_embedding_has_the_distances_where_rounds_are_sure(fitted):
    beliefs = fitted._beliefs(X)
    sure = np.flatnonzero((beliefs.probability > 1 - 1e-6).all(axis=1))
    assert len(sure) > 20
    squared = pairwise_distances(fitted.transform(X[sure])) ** 2
    np.testing.assert_allclose(squared, fitted.pairwise(X[sure]), atol=1e-5)
    assert fitted.transform(X).shape == (150, len(fitted.estimators_) * fitted.n_components_)
    assert len(fitted.get_feature_names_out()) == fitted.transform(X).shape[1]


def test_equal_rows_have_distance_zero(fitted):
    rows = X[[0, 70, 120, 70]]
    D = fitted.pairwise(rows, X[[70, 3]])
    assert D[1, 0] == D[3, 0] == 0
    assert D[0, 0] > 0
    np.testing.assert_array_equal(fitted.score_pairs(X[[[70, 70], [0, 0]]]), 0)


def test_learned_distances_make_better_clusters(fitted):
    labels = KMeans(3, n_init=5, random_state=0).fit_predict(fitted.transform(X))
    assert adjusted_rand_score(y, labels) > 0.9
    tree = AgglomerativeClustering(3, metric="precomputed", linkage="average")
    assert adjusted_rand_score(y, tree.fit_predict(fitted.pairwise(X))) > 0.9


def test_distances_of_new_rows_respect_classes():
    # Learn on half of the rows, measure on the other half: cannot-linked ones are farther apart.
    rows, classes = load_breast_cancer(return_X_y=True)
    known = sample_constraints(classes[::2], 200, random_state=0)
    model = DistBoost(10, n_components=2, random_state=0).fit(rows[::2], constraints=known)
    D, same = model.pairwise(rows[1::2]), classes[1::2, None] == classes[1::2]
    assert D[~same].mean() > D[same].mean() + 0.4


def test_more_rounds_keep_more_statements():
    rows, classes = make_moons(200, noise=0.1, random_state=0)
    known = sample_constraints(classes, 200, random_state=0)
    pairs = known.pairs()
    loss = []
    for n in (1, 5, 30):
        model = DistBoost(n, n_components=6, random_state=0).fit(rows, constraints=known)
        similar = 1 - 2 * model.score_pairs(rows[pairs.pairs])
        loss.append((pairs.sign * similar <= 0).mean())
    assert loss[-1] <= loss[0]
    assert loss[-1] < 0.25


@pytest.mark.parametrize("kind", ["constant", "collinear", "repeated", "wide", "huge", "tiny"])
@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_singular_covariances_do_no_harm(kind, covariance_type):
    # The paper's runs failed on five of nine data sets when inverting covariances.
    rng = np.random.RandomState(0)
    rows = {
        "constant": lambda: np.column_stack([X, np.full(150, 7.0)]),
        "collinear": lambda: np.hstack([X, X, X[:, :1] - X[:, 1:2]]),
        "repeated": lambda: np.repeat(X[::50], 50, axis=0),
        "wide": lambda: np.hstack([X, rng.standard_normal((150, 300))]),
        "huge": lambda: X * 1e12,
        "tiny": lambda: X * 1e-12,
    }[kind]()
    known = sample_constraints(y, 100, random_state=0)
    model = DistBoost(
        4, n_components=3, covariance_type=covariance_type, reg_covar=1e-3, random_state=0
    )
    D = model.fit(rows, constraints=known).pairwise(rows)
    assert np.isfinite(D).all()
    assert len(model.estimators_) >= 1


def test_statements_that_cannot_be_kept_still_boost():
    # More mutually apart groups than components, and plain contradictions.
    known = sample_constraints(y, 100, noise=0.1, random_state=0)
    crowd = Constraints.from_groups(apart=np.where(np.arange(150) < 5, 0, -1))
    model = DistBoost(5, n_components=3, random_state=0).fit(X, constraints=known + crowd)
    assert len(model.estimators_) >= 1
    learner = WeakLearner(X, known + crowd, "full", 0.1)
    assert not learner.can_keep(3)
    assert learner.can_keep(150)


def test_n_components_is_found():
    known = sample_constraints(y, 300, random_state=1)
    pairs = known.pairs()
    learner = WeakLearner((X - X.mean(axis=0)) / X.std(axis=0), known, "full", 0.1)
    rng = np.random.RandomState(0)
    assert choose_n_components(learner, pairs.pairs, pairs.sign, pairs.weight, rng) in (3, 4)
    only = Constraints(cannot_link=[(0, 60), (0, 120), (60, 120)])
    assert DistBoost(2, random_state=0).fit(X, constraints=only).n_components_ >= 3


def test_nothing_learned_leaves_distances_euclidean():
    # Equal rows can be no better than chance.
    rows = np.ones((6, 2))
    with pytest.warns(ConclustWarning, match="better than chance"):
        model = DistBoost(30, n_components=2, random_state=0).fit(
            rows, constraints=Constraints((), [(0, 1), (2, 3)])
        )
    assert model.stop_reason_ == "20 rounds in a row no better than chance"
    np.testing.assert_array_equal(model.transform(X[:3, :2]), X[:3, :2])
    np.testing.assert_allclose(model.pairwise(X[:3, :2]), pairwise_distances(X[:3, :2]), atol=1e-7)
    np.testing.assert_array_equal(model.score_pairs([[[0, 0], [3, 4]]]), 5)


def test_bad_input():
    known = Constraints([(0, 1)])
    with pytest.raises(TypeError, match="Sparse"):
        DistBoost().fit(sp.csr_array(X), constraints=known)
    with pytest.raises(ValueError, match="should be >= n_components=200"):
        DistBoost(n_components=200).fit(X, constraints=known)
    with pytest.raises(ValueError, match="'reg_covar'"):
        DistBoost(reg_covar=0).fit(X, constraints=known)
    model = DistBoost(2, random_state=0).fit(X, constraints=known)
    with pytest.raises(ValueError, match="pass X\\[pairs\\]"):
        model.score_pairs([(0, 1)])


def test_history_and_progress(capsys):
    model = DistBoost(4, n_components=3, verbose=1, random_state=0)
    model.fit(X, constraints=sample_constraints(y, 60, random_state=0))
    assert len(model.history_) == model.n_iter_ == 4
    assert all(-1 <= record.agreement <= 1 for record in model.history_)
    assert "agreement" in capsys.readouterr().err
