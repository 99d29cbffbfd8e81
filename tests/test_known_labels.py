"""Some labels known: `fit(X, y)` with -1, None or NaN for the others."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.model_selection import GridSearchCV

from conclust import (
    AutoCluster,
    ConstrainedGaussianMixture,
    ConstrainedKMeans,
    Constraints,
    COPKMeans,
    PCKMeans,
)
from conclust._known_labels import known_labels, statements_of
from conclust.exceptions import (
    ConstraintsViolatedWarning,
    InconsistentConstraintsError,
    InfeasibleSizesError,
)

X, Y = load_iris(return_X_y=True)
PARTLY = np.where(np.random.RandomState(0).uniform(size=150) < 0.1, Y, -1)
NAMES = np.array(["setosa", "versicolor", "virginica"], dtype=object)

MODELS = [
    COPKMeans(3, random_state=0),
    PCKMeans(3, random_state=0),
    ConstrainedKMeans(3, random_state=0),
    ConstrainedGaussianMixture(3, random_state=0),
    ConstrainedGaussianMixture(3, flip_rate=0.05, covariance_type="tied", random_state=0),
    AutoCluster(3, random_state=0),
]
models = pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
CLUSTERS = "n_clusters", "n_components"


def with_clusters(model, k):
    model = clone(model)
    return model.set_params(**{name: k for name in CLUSTERS if name in model.get_params()})


@models
@pytest.mark.parametrize("seeds", ["auto", "hard"])
def test_clusters_have_the_numbers_of_their_classes(model, seeds):
    found = clone(model).set_params(seeds=seeds).fit(X, PARTLY)
    assert (found.labels_ == Y).mean() > 0.85
    assert found.classes_.tolist() == [0, 1, 2]
    if seeds == "hard" or found._keeps_all:
        assert (found.labels_ == Y)[PARTLY >= 0].all()
    assert (found.predict(X) == found.labels_).mean() > 0.95
    assert found.report_.constraints == found.constraints_
    assert (found.report_.labels == found.labels_).all()


@models
def test_a_complete_y_is_ignored(model):
    # Check that true classes given for a score do not leak into the clusters.
    plain = clone(model).fit(X)
    given_all = clone(model).fit(X, Y)
    assert (plain.labels_ == given_all.labels_).all()
    assert not hasattr(given_all, "classes_")
    never = clone(model).set_params(seeds=None).fit(X, PARTLY)
    assert (never.labels_ == plain.labels_).all()
    seen = clone(model).set_params(seeds="hard").fit(X, Y)
    assert (seen.labels_ == Y).all()


def test_a_grid_search_scored_by_classes_sees_none_of_them():
    def clusters(model, X, y):
        return float(not hasattr(model, "classes_"))

    search = GridSearchCV(COPKMeans(random_state=0), {"n_clusters": [2, 3]}, scoring=clusters)
    assert search.fit(X, Y).best_score_ == 1.0


@pytest.mark.parametrize(
    "y",
    [
        np.where(PARTLY >= 0, NAMES[PARTLY], None),
        [None if p < 0 else str(NAMES[p]) for p in PARTLY],
        [np.nan if p < 0 else str(NAMES[p]) for p in PARTLY],
    ],
    ids=["objects", "list", "NaN"],
)
def test_classes_with_names(y):
    found = COPKMeans(3, random_state=0).fit(X, y)
    assert found.classes_.tolist() == NAMES.tolist()
    assert (found.classes_[found.labels_] == NAMES[Y]).mean() > 0.85


def test_unknown_rows_that_numpy_made_words_of():
    names = NAMES[Y].astype(str)
    for unknown in (-1, np.nan):
        names[PARTLY < 0] = unknown
        assert COPKMeans(3, random_state=0).fit(X, names).classes_.tolist() == NAMES.tolist()


def test_a_column_of_labels():
    model = COPKMeans(3, random_state=0).fit(X, PARTLY[:, np.newaxis])
    assert model.classes_.tolist() == [0, 1, 2]


def test_labels_that_bind_and_sizes_that_leave_no_room():
    # Check that neither gives way in silence: four rows of class 0 are known.
    rows = np.r_[np.arange(6.0), np.arange(20.0, 26.0)][:, np.newaxis]
    model = PCKMeans(2, seeds="hard", size_max=[3, 12], random_state=0)
    with pytest.raises(
        InfeasibleSizesError, match="By the labels in y cluster 0 has 4, and its size_max=3"
    ):
        model.fit(rows, [0] * 4 + [-1] * 7 + [1])


def test_numbers_with_gaps_are_whole():
    found = COPKMeans(3, random_state=0).fit(X, np.where(PARTLY < 0, np.nan, PARTLY))
    assert found.classes_.tolist() == [0, 1, 2]
    assert all(isinstance(c, int) for c in found.classes_)


@models
def test_a_class_without_a_row_may_appear(model):
    rows, truth = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    y = np.where((truth == 1) | (np.arange(150) % 5 > 0), -1, truth)
    found = clone(model).fit(rows, y)
    assert found.classes_.tolist() == [0, None, 2]
    assert (found.labels_ == truth).all()
    other = clone(model).fit(rows, np.where(y == -1, None, NAMES[y]))
    assert other.classes_.tolist() == ["setosa", "virginica", None]
    assert (other.labels_ == np.array([0, 2, 1])[truth]).all()
    assert with_clusters(model, 4).fit(rows, y).classes_.tolist() == [0, None, 2, None]


@models
def test_more_classes_than_clusters(model):
    message = r"y names 3 classes \(0, 1, 2\), but there are only 2 clusters.*-1"
    with pytest.raises(ValueError, match=message):
        with_clusters(model, 2).fit(X, PARTLY)


def test_the_number_of_clusters_is_found_but_not_below_the_classes():
    rows, truth = make_blobs(120, centers=2, random_state=0)
    four = np.where(np.arange(120) % 3 > 0, -1, 2 * truth + np.arange(120) % 2)
    found = AutoCluster(random_state=0).fit(rows, four)
    assert found.n_clusters_ >= 4
    assert found.classes_.tolist()[:4] == [0, 1, 2, 3]


@models
def test_together_with_constraints(model):
    said = Constraints(must_link=[(0, 7)], cannot_link=[(60, 110)])
    found = clone(model).fit(X, PARTLY, constraints=said)
    assert len(found.constraints_) > len(said)
    assert said.satisfied(found.labels_).all()


def test_only_where_to_start():
    found = COPKMeans(3, seeds="init", random_state=0).fit(X, PARTLY)
    assert len(found.constraints_) == 0
    means = np.array([X[c == PARTLY].mean(axis=0) for c in range(3)])
    by_hand = COPKMeans(3, init=means).fit(X)
    assert (found.labels_ == by_hand.labels_).all()


@pytest.mark.parametrize("model", MODELS[:3], ids=lambda m: type(m).__name__)
def test_sparse_rows_and_centres_given(model):
    dense = clone(model).fit(X, PARTLY)
    assert (clone(model).fit(sp.csr_array(X), PARTLY).labels_ == dense.labels_).mean() > 0.95
    init = np.array([X[c == Y].mean(axis=0) for c in (2, 1, 0)])
    assert (clone(model).set_params(init=init).fit(X, PARTLY).labels_ == Y).mean() > 0.85


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (COPKMeans(3, seeds="soft"), PARTLY, "COPKMeans keeps every statement.*PCKMeans"),
        (COPKMeans(3), PARTLY[:-1], r"y has shape \(149,\), but X has 150 rows"),
        (COPKMeans(3, seeds="hard"), np.c_[PARTLY, PARTLY], r"y has shape \(150, 2\)"),
        (PCKMeans(3), np.c_[PARTLY, PARTLY], r"y has shape \(150, 2\).*in one column"),
        (AutoCluster(3), np.c_[Y, Y], r"y has shape \(150, 2\).*in one column"),
        (COPKMeans(3, seeds="firm"), PARTLY, "seeds"),
        (AutoCluster(3, seeds="init"), PARTLY, "seeds"),
    ],
)
def test_what_cannot_be_used(model, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    with pytest.raises(ValueError, match="priority cannot be given with y"):
        ConstrainedKMeans(3).fit(X, PARTLY, constraints=Constraints([(0, 1)]), priority=[1])


@given(st.lists(st.integers(-1, 3), min_size=2, max_size=30), st.booleans())
@settings(max_examples=60)
def test_few_statements_say_it_all(y, keeps_all):
    # Check that statements follow from the labels, that there are few, and that every labelled
    # row has some.
    y = np.array(y)
    known = known_labels(y, "hard", len(y), 4, keeps_all=keeps_all, name="")
    if known is None:
        assert (y < 0).all()
        return
    said = statements_of(known, keeps_all=keeps_all)
    assert said.satisfied(y).all()
    assert (y[said.samples] >= 0).all()
    n_classes, n_known = len(set(y[y >= 0])), (y >= 0).sum()
    assert len(said) <= 2 * n_known + n_classes**2
    if n_classes > 1:
        assert set(np.flatnonzero(y >= 0)) == set(said.samples)
    if keeps_all:
        assert said.closure().n_components == n_classes + (y < 0).sum()


@pytest.mark.parametrize("keeps_all", [True, False])
def test_many_labelled_rows_make_no_pairs_of_all(keeps_all):
    y = np.random.RandomState(0).randint(-1, 10, size=100_000)
    known = known_labels(y, "hard", len(y), 10, keeps_all=keeps_all, name="")
    assert len(statements_of(known, keeps_all=keeps_all)) < 200_000


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outliers", [None, 0.05])
@pytest.mark.parametrize("model", [COPKMeans(2), PCKMeans(2), PCKMeans(2, penalty=1e-3)])
def test_labels_that_bind_leave_the_sizes_as_asked(model, outliers, weighted):
    # Check labels against the geometry: rows of the second group are said to be in the first.
    rng = np.random.RandomState(0)
    rows = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(6, 1, (40, 2))])
    rows[47] = 50, 50
    y = np.full(80, -1)
    y[[*range(8), *range(44, 48)]], y[[60, 61]] = 0, 1
    weight = np.tile([0.5, 1.5], 40) if weighted else None
    asked = {"seeds": "hard", "size_min": 35, "size_max": 41, "outliers": outliers}
    model = clone(model).set_params(random_state=0, **asked)
    model.fit(rows, y, sample_weight=weight)
    assert (model.labels_[y >= 0] == y[y >= 0]).all()
    inside = model.labels_ >= 0
    sizes = np.bincount(model.labels_[inside], None if weight is None else weight[inside])
    assert sizes.min() >= 35 - 1e-9
    assert sizes.max() <= 41 + 1e-9
    own = model.transform(rows)[np.arange(80), model.labels_] ** 2
    own = own * inside * (1.0 if weight is None else weight)
    assert model.inertia_ == pytest.approx(own.sum())


@pytest.mark.parametrize("kind", [COPKMeans, PCKMeans])
def test_labels_that_no_size_leaves_room_for(kind):
    y = np.repeat([0, -1], [30, 30])
    rows = np.random.RandomState(0).normal(size=(60, 2))
    with pytest.raises(InfeasibleSizesError, match="size_max"):
        kind(3, seeds="hard", size_max=25, random_state=0).fit(rows, y)


def test_labels_that_contradict_statements_are_named():
    a, b = np.flatnonzero(PARTLY == 0)[:2]
    apart = Constraints(cannot_link=[(a, b)], n_samples=150)
    with pytest.raises(
        InconsistentConstraintsError, match=rf"labels in y contradict.*{a} and {b}.*seeds='init'"
    ):
        COPKMeans(3, random_state=0).fit(X, PARTLY, constraints=apart)
    clash = apart + Constraints(must_link=[(a, b)], n_samples=150)
    with pytest.raises(InconsistentConstraintsError, match="The constraints contradict each other"):
        COPKMeans(3, random_state=0).fit(X, PARTLY, constraints=clash)
    relaxed = COPKMeans(3, on_infeasible="relax", random_state=0)
    with pytest.warns(ConstraintsViolatedWarning):
        relaxed.fit(X, PARTLY, constraints=apart)


def test_as_many_clusters_as_classes_at_least():
    # Check that a number chosen by itself is not smaller, and that the reason says why.
    rows, _ = make_blobs(60, centers=[[0, 0], [9, 9]], random_state=0)
    y = np.full(60, -1)
    y[:4] = range(4)
    model = AutoCluster(random_state=0).fit(rows, y)
    assert model.n_clusters_ == 4
    assert model.reasons_[0].startswith("4 clusters: ")
    with pytest.raises(ValueError, match=r"y names 4 classes, but n_clusters_range=\(2, 3\)"):
        AutoCluster(n_clusters_range=(2, 3)).fit(rows, y)
