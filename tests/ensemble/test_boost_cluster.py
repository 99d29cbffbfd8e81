import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    KMeans,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from conclust import BoostCluster, ConstrainedKMeans, Constraints, sample_constraints
from conclust.ensemble import CoAssociation
from conclust.ensemble._boost_cluster import (
    Masses,
    best_decrease,
    boost_cluster,
    inconsistency,
    kernel_embedding,
    links_of,
    masses,
    step,
    together,
)
from conclust.testing import any_constraints
from tests.oracles import boost_cluster as oracle

X, y = load_iris(return_X_y=True)
X = scale(X)
KNOWN = sample_constraints(y, 120, random_state=0)
labels_of_ten = st.lists(st.integers(0, 3), min_size=10, max_size=10).map(np.array)
probability = st.floats(0.01, 0.99)


def fitted(**parameters):
    settings = {"n_clusters": 3, "random_state": 0, **parameters}
    return BoostCluster(**settings).fit(X, constraints=KNOWN)


# --- equations ---------------------------------------------------------------------------------


@given(any_constraints(), st.lists(st.tuples(labels_of_ten, st.floats(0, 3)), max_size=4))
def test_loss_and_masses_are_the_printed_ones(constraints, rounds):
    # Check eqs (1), (5), (6) and A, B, C, D against ordered sums over n × n matrices.
    must, cannot = oracle.link_matrices(constraints, 10)
    links = links_of(constraints)
    K = np.zeros((10, 10))
    for labels, alpha in rounds:
        K += alpha * oracle.same(labels)
    at = links.rows[links.must], links.rows[links.cannot]
    now = inconsistency(K[at[0][:, 0], at[0][:, 1]], K[at[1][:, 0], at[1][:, 1]], links)
    p, q = oracle.pq(K, must, cannot)
    if len(links.must) and len(links.cannot):
        # Each sum counts every pair twice, so the product is four times ours.
        assert np.exp(now.log_loss) * 4 == pytest.approx(oracle.loss(K, must, cannot))
        assert p.sum() * q.sum() == pytest.approx(oracle.loss(K, must, cannot))
        labels = rounds[-1][0] if rounds else np.arange(10)
        A, B, C, D = oracle.masses(p, q, oracle.same(labels))
        found = masses(now, *together(labels[links.rows], links))
        expected = (A / (A + B), B / (A + B), C / (C + D), D / (C + D))
        np.testing.assert_allclose(found, expected, atol=1e-12)


@given(any_constraints(), st.lists(labels_of_ten, min_size=1, max_size=6))
def test_theorem_1(constraints, rounds):
    # Check L_T = |S⁺| |S⁻| Π (1 − γ_t) on dense matrices, whatever the clusterings were.
    must, cannot = oracle.link_matrices(constraints, 10)
    K, bound = np.zeros((10, 10)), must.sum() * cannot.sum()
    if bound == 0:
        return
    for labels in rounds:
        p, q = oracle.pq(K, must, cannot)
        mass = Masses(*oracle.masses(p, q, oracle.same(labels)))
        if min(mass) == 0:
            continue  # α of eq. (13) is infinite
        K += step(mass) * oracle.same(labels)
        bound *= 1 - best_decrease(mass)
        assert oracle.loss(K, must, cannot) == pytest.approx(bound, rel=1e-6)


@given(probability, probability)
def test_alpha_is_the_minimum_of_the_loss(must_kept, cannot_kept):
    mass = Masses(1 - must_kept, must_kept, cannot_kept, 1 - cannot_kept)
    alpha = step(mass)
    assert oracle.log_change(mass, alpha) == pytest.approx(np.log1p(-best_decrease(mass)), abs=1e-9)
    for other in (alpha - 0.1, alpha + 0.1, 0.0):
        assert oracle.log_change(mass, alpha) <= oracle.log_change(mass, other) + 1e-12


share = st.one_of(st.just(0.0), st.just(1.0), st.floats(0, 1), st.floats(0, 1e-6))


@given(share, share, st.integers(1, 10_000))
def test_smoothed_alpha_is_bounded_and_never_raises_the_loss(must_kept, cannot_kept, n_pairs):
    mass = Masses(1 - must_kept, must_kept, cannot_kept, 1 - cannot_kept)
    alpha = step(mass, 0.5 / n_pairs)
    assert alpha <= np.log1p(2 * n_pairs) + 1e-9
    assert not np.isnan(alpha)
    if alpha > 0:
        assert oracle.log_change(mass, alpha) <= 1e-12


def test_alpha_by_hand():
    assert step(Masses(0.2, 0.8, 0.9, 0.1)) == pytest.approx(np.log(36) / 2)
    assert step(Masses(0.5, 0.5, 0.9, 0.1)) == pytest.approx(np.log(9) / 2)  # no must-links
    assert step(Masses(0.0, 1.0, 1.0, 0.0), 0.5 / 10) == pytest.approx(np.log(21))
    assert step(Masses(1.0, 0.0, 1.0, 0.0), 0.05) == 0  # all apart: says nothing


# --- the kernel --------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [600, 0])
def test_the_embedding_is_the_kernel(monkeypatch, limit):
    # Check Z V Vᵀ Zᵀ = K for a complete embedding, and the leading part against eigh of K.
    monkeypatch.setattr("conclust.ensemble._boost_cluster.SMALL_GRAM", limit)
    rng = np.random.RandomState(0)
    codes, weights = rng.randint(4, size=(40, 6)), np.array([1.0, 0.3, 0.0, 2.0, 0.7, 0.1])
    K = oracle.kernel(codes, weights)
    complete = kernel_embedding(CoAssociation(codes, weights), 40)
    np.testing.assert_allclose(complete @ complete.T, K, atol=1e-10)
    leading = kernel_embedding(CoAssociation(codes, weights), 3)
    values, vectors = np.linalg.eigh(K)
    expected = vectors[:, -3:] * np.sqrt(values[-3:])
    np.testing.assert_allclose(leading @ leading.T, expected @ expected.T, atol=1e-8)


# --- the estimator -----------------------------------------------------------------------------


def test_the_record_of_each_round():
    # Check loss, weights and γ against eqs (1) and (13) replayed on the members' labels.
    model = fitted(n_estimators=6)
    must, cannot = oracle.link_matrices(KNOWN, len(X))
    K = np.zeros((len(X), len(X)))
    assert model.n_iter_ == len(model.history_) == len(model.loss_) >= 1
    smoothing = 0.5 / len(KNOWN)
    for t, record in enumerate(model.history_):
        Delta = oracle.same(model.co_association_.codes[:, t])
        p, q = oracle.pq(K, must, cannot)
        A, B, C, D = oracle.masses(p, q, Delta)
        mass = Masses(A / (A + B), B / (A + B), C / (C + D), D / (C + D))
        assert record.gamma == pytest.approx(best_decrease(mass), abs=1e-9)
        assert record.alpha == pytest.approx(max(step(mass, smoothing), 0), abs=1e-9)
        K += record.alpha * Delta
        assert model.loss_[t] * 4 == pytest.approx(oracle.loss(K, must, cannot))
        labels = model.co_association_.codes[:, t]
        assert record.share_satisfied == pytest.approx(KNOWN.report(labels).share)
    assert (np.diff(model.loss_) <= 1e-9 * model.loss_[0]).all()
    assert model.loss_[0] <= len(KNOWN.must_link) * len(KNOWN.cannot_link)


@pytest.mark.parametrize(
    "base",
    [
        KMeans(n_init=1), AgglomerativeClustering(linkage="single"), MiniBatchKMeans(n_init=1),
        SpectralClustering(), GaussianMixture(), make_pipeline(StandardScaler(), KMeans(n_init=1)),
        ConstrainedKMeans(), make_pipeline(PCA(1), GaussianMixture()), DBSCAN(0.1),
    ],
    ids=lambda base: type(base).__name__,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_any_clusterer(base):
    before = str(base)
    model = BoostCluster(base, n_clusters=3, n_estimators=5, random_state=0)
    labels = model.fit_predict(X, constraints=KNOWN)
    assert str(base) == before
    assert labels.dtype == np.int32
    assert labels.min() == 0
    if not isinstance(base, DBSCAN):
        assert len(np.unique(labels)) == 3
    again = BoostCluster(base, n_clusters=3, n_estimators=5, random_state=0)
    np.testing.assert_array_equal(again.fit_predict(X, constraints=KNOWN), labels)


class Fixed(ClusterMixin, BaseEstimator):
    """Returns the labels it was told to, and remembers how often it was called."""

    calls: list = []  # noqa: RUF012

    def __init__(self, labels=None, random_state=None):
        self.labels = labels
        self.random_state = random_state

    def fit(self, X, y=None):
        Fixed.calls.append((X.shape, self.random_state))
        self.labels_ = np.asarray(self.labels)
        return self


def test_a_round_that_keeps_every_statement_ends_it():
    model = BoostCluster(Fixed(y), n_clusters=3, random_state=0).fit(X, constraints=KNOWN)
    assert model.stop_reason_ == "a round keeps every statement"
    assert model.n_iter_ == 1
    assert model.report_.share == 1
    assert model.estimator_weights_[0] == pytest.approx(np.log1p(2 * len(KNOWN)))
    assert adjusted_rand_score(y, model.labels_) == 1


def test_rounds_no_better_than_chance_are_skipped_with_new_seeds():
    Fixed.calls.clear()
    model = BoostCluster(Fixed(np.zeros(len(X))), n_clusters=3, random_state=0)
    model.fit(X, constraints=KNOWN)
    assert model.stop_reason_ == "3 rounds in a row no better than chance"
    assert model.n_iter_ == 3
    assert (model.estimator_weights_ == 0).all()
    assert model.selected_ == "X"
    assert len({seed for _, seed in Fixed.calls}) == len(Fixed.calls) == 4
    assert Fixed.calls[-1][0] == (150, 4)  # X itself
    np.testing.assert_array_equal(model.labels_, 0)


def test_an_objective_that_settles_ends_it():
    # The same imperfect clustering again: all that could be gained is gained in round one.
    wrong = y.copy()
    wrong[::5] = (wrong[::5] + 1) % 3
    model = BoostCluster(Fixed(wrong), n_clusters=3, random_state=0).fit(X, constraints=KNOWN)
    assert "ln L fell by less than" in model.stop_reason_ or "chance" in model.stop_reason_
    assert model.n_iter_ < 25


def test_clusters_are_counted_in_the_clone_only():
    base = KMeans(7, n_init=1)
    model = BoostCluster(base, n_clusters=3, random_state=0).fit(X, constraints=KNOWN)
    assert base.n_clusters == 7
    assert len(np.unique(model.labels_)) == 3


def test_no_constraints_is_the_clusterer_itself():
    base = AgglomerativeClustering(3)
    model = BoostCluster(base, n_clusters=3).fit(X)
    assert adjusted_rand_score(model.labels_, base.fit_predict(X)) == 1
    assert (model.n_iter_, model.stop_reason_, model.selected_) == (0, "no constraints", "X")
    assert list(model.staged_labels()) == []
    assert len(model.loss_) == len(model.suspects()) == 0


@pytest.mark.parametrize("kind", ["must_link", "cannot_link"])
def test_one_kind_of_constraint_is_enough(kind):
    only = Constraints(**{kind: getattr(KNOWN, kind)}, n_samples=len(X))
    model = BoostCluster(None, 3, random_state=0).fit(X, constraints=only)
    assert np.isfinite(model.loss_).all()
    assert model.report_.share > 0.8


def test_selection_by_constraints_breaks_the_least():
    model = fitted()
    candidates = [*model.co_association_.codes.T, fitted(selection="paper").labels_]
    assert model.report_.share == pytest.approx(max(KNOWN.report(c).share for c in candidates))
    assert fitted(selection="paper").selected_ == "kernel"


@pytest.mark.parametrize("selection", ["paper", "constraints"])
def test_staged_labels_end_in_the_labels(selection):
    model = fitted(selection=selection)
    stages = list(model.staged_labels())
    assert len(stages) == model.n_iter_
    np.testing.assert_array_equal(stages[-1], model.labels_)
    shorter = fitted(selection=selection, n_estimators=2)
    np.testing.assert_array_equal(stages[shorter.n_iter_ - 1], shorter.labels_)


@pytest.mark.parametrize("solver", ["features", "samples", "operator"])
def test_solvers_sparse_and_dense_agree(solver):
    model = fitted()
    for data in (X, sp.csr_array(X), sp.csr_matrix(X)):
        other = BoostCluster(None, 3, solver=solver, random_state=0).fit(data, constraints=KNOWN)
        assert adjusted_rand_score(other.labels_, model.labels_) == 1
        np.testing.assert_allclose(other.loss_, model.loss_, rtol=1e-6)


def test_a_clusterer_that_refuses_sparse_data_gets_dense_projections():
    base = AgglomerativeClustering(linkage="average")
    dense = BoostCluster(base, 3, random_state=0, selection="paper").fit(X, constraints=KNOWN)
    sparse = BoostCluster(base, 3, random_state=0, selection="paper").fit(
        sp.csr_array(X), constraints=KNOWN
    )
    assert adjusted_rand_score(dense.labels_, sparse.labels_) == 1
    BoostCluster(base, 3, random_state=0).fit(sp.csr_array(X), constraints=KNOWN)


def test_no_direction_left():
    # One cannot-link between rows on the same side of the mean: X T Xᵀ has no positive eigenvalue.
    line = np.array([[1.0], [2.0], [-3.0], [-2.0]])
    apart = Constraints(cannot_link=[(0, 1)])
    model = BoostCluster(AgglomerativeClustering(), 2, random_state=0).fit(line, constraints=apart)
    assert model.history_[0].n_components == 0
    rounds = boost_cluster(
        sp.csr_array(line), links_of(apart), lambda rows, seed: np.zeros(4, int), n_components=2,
        seeds=np.arange(3), takes_x=False,
    )  # fmt: skip
    assert rounds.stop_reason.startswith("no direction is left")
    assert rounds.history == []


def test_wide_sparse_text():
    rng = np.random.RandomState(0)
    topic = np.repeat([0, 1, 2], 60)
    words = 5_000 * topic[:, None] + rng.randint(1500, size=(180, 80))
    common = 15_000 + rng.randint(5_000, size=(180, 80))
    columns = np.hstack([words, common])
    wide = sp.csr_array(
        (
            np.ones(columns.size),
            columns.ravel().astype(np.int32),
            np.arange(0, columns.size + 1, 160, dtype=np.int32),
        ),
        shape=(180, 20_000),
    )
    known = sample_constraints(topic, 300, random_state=0)
    labels = BoostCluster(KMeans(n_init=1), 3, random_state=0).fit_predict(wide, constraints=known)
    assert adjusted_rand_score(topic, labels) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_wrong_statements_do_not_break_it(seed):
    rows, labels = load_wine(return_X_y=True)
    rows = scale(rows)
    noisy = sample_constraints(labels, 300, noise=0.2, random_state=seed)
    model = BoostCluster(None, 3, random_state=0).fit(rows, constraints=noisy)
    assert np.isfinite(model.loss_).all()
    assert np.isfinite(model.embedding_).all()
    assert model.estimator_weights_.max() <= np.log1p(2 * len(noisy))
    assert adjusted_rand_score(labels, model.labels_) > 0.7


def test_many_rounds_do_not_overflow():
    # Weights far apart and statements that contradict each other.
    clash = Constraints(
        [(0, 1), (2, 3), (0, 50)], [(0, 1), (2, 3), (0, 60)],
        must_link_weight=[1e100, 1, 1e-100], cannot_link_weight=[1e100, 1e-100, 1],
    )  # fmt: skip
    with np.errstate(over="raise", invalid="raise"):
        model = BoostCluster(None, 3, n_estimators=50, random_state=0).fit(X, constraints=clash)
    assert np.isfinite([r.log_loss for r in model.history_]).all()


def test_suspects_find_flipped_statements():
    rows, labels = load_wine(return_X_y=True)
    noisy = sample_constraints(labels, 200, noise=0.1, random_state=0)
    model = BoostCluster(None, 3, random_state=0).fit(scale(rows), constraints=noisy)
    table = model.suspects(20)
    assert table["doubt"].is_monotonic_decreasing
    assert table["flipped"].mean() > 0.5
    assert model.confidence([(0, 1)]).shape == (1,)


def test_embedding_and_round_count():
    model = fitted(n_components=2, n_estimators=3)
    assert model.embedding_.shape[0] == len(X)
    assert model.embedding_.shape[1] <= 3
    assert all(1 <= record.n_components <= 2 for record in model.history_)


@pytest.mark.parametrize(
    ("parameter", "value", "text"),
    [
        ("estimator", StandardScaler(), "estimator"), ("n_estimators", 0, "n_estimators"),
        ("n_components", 0, "n_components"), ("selection", "best", "selection"),
        ("solver", "lanczos", "solver"),
    ],
)  # fmt: skip
def test_bad_parameters(parameter, value, text):
    with pytest.raises(ValueError, match=text):
        fitted(**{parameter: value})
