"""The cosine metric: unit rows, unit centres, in every estimator that takes it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from conclust import (
    AutoCluster,
    BoostedConstrainedKMeans,
    ConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    Constraints,
    COPKMeans,
    PCKMeans,
    TrustEnsemble,
    sample_constraints,
)
from conclust._declare import estimators
from conclust._kernels import exact_moves as kernels
from conclust._lloyd import exact_moves
from conclust._lloyd.exact_moves import ExactMoves, Statements, parts_of
from conclust._lloyd.rows import open_rows
from conclust._lloyd.sweep import on_sphere
from conclust._placement.links import link_rows
from tests.oracles import spherical

X, y = (part[:200] for part in load_digits(return_X_y=True))
SCALED = X * np.random.RandomState(0).uniform(0.1, 10, (len(X), 1))
KNOWN = sample_constraints(y, 60, random_state=0)
SMALL = {"n_estimators": 5}
MODELS = [
    ConstrainedKMeans(10),
    ConstrainedKMeans(10, order="random"),
    COPKMeans(10, n_init=2),
    PCKMeans(10, n_init=2),
    ConstrainedKMeansEnsemble(10, **SMALL),
    BoostedConstrainedKMeans(10, **SMALL),
    TrustEnsemble(10, n_estimators=3, n_judges=2),
    AutoCluster(10),
]


def cosine(model, **given):
    return model.__class__(**model.get_params() | {"metric": "cosine", "random_state": 0} | given)


def test_every_class_that_declares_it_is_tested():
    declared = {each for each in estimators().values() if each._takes.cosine}
    assert declared == {type(model) for model in MODELS}


@pytest.mark.parametrize("known", [None, KNOWN], ids=["no statements", "statements"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_lengths_of_rows_do_not_matter(model, known):
    # Check that rows normalised by hand, longer rows and CSR rows give the same answers.
    expected = cosine(model).fit(normalize(X), constraints=known)
    for rows in (SCALED, sp.csr_matrix(X)):
        fitted = cosine(model).fit(rows, constraints=known)
        if sp.issparse(rows) and isinstance(model, AutoCluster) and known is not None:
            continue  # sparse rows are reduced by another method there
        assert_array_equal(fitted.labels_, expected.labels_)
        assert_array_equal(fitted.predict(rows), expected.predict(X))


@pytest.mark.parametrize("model", MODELS[:4], ids=str)
def test_centers_distances_and_score_are_those_of_the_sphere(model):
    fitted = cosine(model).fit(SCALED, constraints=KNOWN)
    rows, centers = normalize(X), fitted.cluster_centers_
    assert_allclose(np.linalg.norm(centers, axis=1), 1)
    chords = np.sqrt(np.maximum(2 - 2 * rows @ centers.T, 0))
    assert_allclose(fitted.transform(X), chords, atol=1e-7)
    assert_array_equal(fitted.predict(X), chords.argmin(axis=1))
    assert fitted.score(X) == pytest.approx(-(chords.min(axis=1) ** 2).sum())
    own = chords[np.arange(len(X)), fitted.labels_] ** 2
    assert fitted.inertia_ == pytest.approx(own.sum())


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_constrained_kmeans_is_what_is_done_by_hand(seed):
    random = np.random.RandomState(seed)
    rows = random.normal(size=(20, 3)) + 0.5
    pairs = random.permutation(20)[:8].reshape(4, 2)
    sign = random.choice([-1, 1], size=4)
    known = Constraints(pairs[sign > 0], pairs[sign < 0])
    pairs, sign, *_ = known.pairs()
    labels, _ = spherical.spherical_kmeans(rows, pairs, sign, rows[:3], max_iter=4)
    model = ConstrainedKMeans(3, init=rows[:3], max_iter=3, tol=0, metric="cosine")
    fitted = model.fit(rows, constraints=known)
    assert_array_equal(fitted.labels_, labels)


def test_plain_spherical_kmeans_by_hand():
    # Check to the end, labels and centres, without statements.
    init = X[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]
    labels, centers = spherical.spherical_kmeans(X, [], [], init, max_iter=100)
    for model in (ConstrainedKMeans, COPKMeans, PCKMeans):
        fitted = model(10, init=init, tol=0, metric="cosine").fit(SCALED)
        assert_array_equal(fitted.labels_, labels)
        assert_allclose(fitted.cluster_centers_, centers, atol=1e-12)


@pytest.mark.parametrize("model", [COPKMeans(10, n_init=3), PCKMeans(10, n_init=3)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_never_rises(model, weighted):
    weight = np.random.RandomState(1).uniform(0.2, 3, len(X)) if weighted else None
    fitted = cosine(model).fit(X, constraints=KNOWN, sample_weight=weight)
    objective = [getattr(r, "objective", r.inertia) for r in fitted.history_]
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()


def test_float32_stays():
    fitted = cosine(MODELS[3]).fit(X.astype(np.float32), constraints=KNOWN)
    assert fitted.cluster_centers_.dtype == np.float32


@pytest.mark.parametrize("rows", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_rows_of_zeros_are_named(rows):
    some = X.copy()
    some[[3, 8]] = 0
    with pytest.raises(ValueError, match=r"2 of the 200 rows .* zeros .*: 3, 8\. Leave them out"):
        PCKMeans(3, metric="cosine").fit(rows(some))
    fitted = PCKMeans(3, metric="cosine", random_state=0).fit(rows(X))
    with pytest.raises(ValueError, match="zeros"):
        fitted.predict(rows(some))
    PCKMeans(3).fit(rows(some))


def test_rows_that_cancel_out_keep_their_center():
    means, centers = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    assert_allclose(on_sphere(means, centers), [[1, 0], [0.6, 0.8]])
    fitted = ConstrainedKMeans(1, metric="cosine", random_state=0).fit([[1.0, 0], [-1, 0]])
    assert fitted.inertia_ == pytest.approx(4)


@pytest.mark.parametrize("kernel", [kernels.move_parts, kernels.move_parts.py_func])
@pytest.mark.parametrize("seed", range(5))
def test_single_moves_end_where_none_pays(kernel, seed, monkeypatch):
    # Check by the objective written out: it falls, and no row can better it.
    monkeypatch.setattr(exact_moves, "short", lambda *_: kernel)
    random = np.random.RandomState(seed)
    n, k = 14, 3
    rows = normalize(random.normal(size=(n, 2)))
    weight = random.choice([0.5, 1.0, 3.0], size=n)
    links = link_rows(Constraints([(0, 1)], [(0, 3), (4, 5)]))
    price = 0.2 * links.weight
    slots = np.arange(len(links.rows))
    parts = parts_of(
        Statements(links.rows, slots, links.graph, links.sign, price), links.groups, weight
    )
    labels = random.randint(k, size=n).astype(np.int32)
    with open_rows(rows, k, sample_weight=weight, linked=links.rows, spherical=True) as near:
        near.labels = labels.copy()
        moves = ExactMoves(near, parts, 2, spherical=True)
        of_rows = labels[links.rows]
        centers, n_moves = moves(np.eye(k, 2) + 0.1, of_rows)
        after = near.labels
    told = links.rows[links.pairs], links.sign, price
    reached = spherical.objective(rows, weight, after, *told)
    assert n_moves > 0
    assert reached < spherical.objective(rows, weight, labels, *told)
    for i in range(n):
        for cluster in range(k):
            other = after.copy()
            other[i] = cluster
            assert spherical.objective(rows, weight, other, *told) > reached - 1e-9
    for cluster in set(after.tolist()):
        inside = after == cluster
        assert_allclose(centers[cluster], spherical.unit(weight[inside] @ rows[inside]))


def test_plain_auto_cluster_says_what_it_is():
    model = AutoCluster(3, metric="cosine", random_state=0).fit(X)
    assert model.method_ == "spherical k-means"
