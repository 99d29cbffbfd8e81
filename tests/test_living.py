"""Clusterings that go on: `update` with new rows and statements."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

import conclust
from conclust import (
    AutoCluster,
    ConstrainedGaussianMixture,
    ConstrainedKMeans,
    Constraints,
    COPKMeans,
    MPCKMeans,
    PCKMeans,
    sample_constraints,
)
from conclust.exceptions import (
    ConstraintsIgnoredWarning,
    InconsistentConstraintsError,
    InfeasibleConstraintsError,
    InfeasibleSizesError,
)

IRIS, SPECIES = load_iris(return_X_y=True)
ORDER = np.random.RandomState(0).permutation(150)
X, Y = IRIS[ORDER], SPECIES[ORDER]

MODELS = [
    COPKMeans(3, random_state=0),
    PCKMeans(3, random_state=0),
    ConstrainedKMeans(3, random_state=0),
    ConstrainedGaussianMixture(3, random_state=0),
    ConstrainedGaussianMixture(3, flip_rate="auto", covariance_type="tied", random_state=0),
    AutoCluster(3, random_state=0),
    MPCKMeans(3, random_state=0),
]
models = pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
knowing_models = pytest.mark.parametrize("model", MODELS[:6], ids=lambda m: type(m).__name__)
centers_models = pytest.mark.parametrize("model", MODELS[:3], ids=lambda m: type(m).__name__)


def unconcerned(model, said, n_old):
    """Rows of before that no new statement names or joins to one it names."""
    unit = (
        model.constraints_.pairwise[model.constraints_.pairwise.kinds == "must-link"]
        .closure()
        .component
    )
    named = np.isin(unit, unit[said.samples])
    return np.flatnonzero(~named[:n_old])


@models
@pytest.mark.parametrize("n_told", [0, 60])
def test_rows_that_are_not_concerned_keep_their_label(model, n_told):
    said = sample_constraints(Y[:110], n_told, random_state=1) if n_told else None
    found = clone(model).fit(X[:110], constraints=said)
    before = found.labels_.copy()
    new = sample_constraints(Y, 12, random_state=2)
    again = found.update(X[110:], new)
    assert again is found
    assert len(found.labels_) == 150
    rows = unconcerned(found, new, 110)
    assert (found.labels_[rows] == before[rows]).mean() >= 0.99
    assert len(found.constraints_) <= n_told + 12
    assert found.constraints_.n_samples == 150
    assert new.satisfied(found.labels_).mean() > 0.8
    assert (found.labels_[110:] == found.predict(X[110:])).mean() > 0.8
    changed = found.changes_
    assert changed["row"].tolist() == sorted(
        {*np.flatnonzero(found.labels_[:110] != before), *range(110, 150)}
    )
    assert (changed["to"] == found.labels_[changed["row"]]).all()
    assert (changed["from"][changed["row"] >= 110] == -1).all()


@models
def test_nothing_new_changes_nothing(model):
    said = sample_constraints(Y, 40, random_state=1)
    found = clone(model).fit(X, constraints=said)
    before = found.labels_.copy()
    found.update()
    assert (found.labels_ == before).mean() >= 0.99
    assert found.constraints_ == said
    assert len(found.changes_) <= 1


@models
def test_a_fit_forgets(model):
    found = clone(model).fit(X[:100]).update(X[100:])
    assert len(found.changes_) >= 50
    found.fit(X)
    with pytest.raises(AttributeError, match="after `update`"):
        _ = found.changes_


@models
def test_updates_add_up(model):
    # Check that rows and statements come one after another, and that parameters stay.
    found = clone(model).fit(X[:60])
    for stop in (90, 120, 150):
        found.update(X[stop - 30 : stop], Constraints(must_link=[(0, stop - 1)]))
    assert found.constraints_.must_link.tolist() == [[0, 89], [0, 119], [0, 149]]
    assert found.get_params() == model.get_params()
    assert len(found.labels_) == 150


@models
def test_new_clusters_open_where_asked(model):
    rows, truth = make_blobs([60, 60, 60], centers=[[0, 0], [9, 0], [0, 60]], random_state=0)
    two = clone(model)
    two = two.set_params(**{k: 2 for k in ("n_clusters", "n_components") if k in two.get_params()})
    two.fit(rows)
    before = two.labels_.copy()
    two.update(n_clusters=3)
    assert len(set(zip(truth, two.labels_, strict=True))) == 3
    assert (two.labels_[truth == 2] == before[truth == 2]).all()  # numbers stay
    assert set(two.labels_) == {0, 1, 2}
    assert set(two.changes_["why"]) == {"a cluster opened there"}


@pytest.mark.parametrize("model", [MODELS[0], MODELS[3]], ids=lambda m: type(m).__name__)
def test_new_clusters_open_where_statements_demand_it(model):
    found = clone(model).fit(X)
    firsts = [int(np.flatnonzero(found.labels_ == c)[0]) for c in range(3)]
    extra = int(np.flatnonzero(found.labels_ == 0)[5])
    before = found.labels_.copy()
    found.update(constraints_new=Constraints().apart([*firsts, extra]))
    assert found.report_.n_violated == 0
    assert found._n_clusters == 4
    stayed = found.labels_ < 3
    rows = np.setdiff1d(np.flatnonzero(stayed), [*firsts, extra])
    assert (found.labels_[rows] == before[rows]).mean() >= 0.99
    with pytest.raises(InfeasibleConstraintsError):
        clone(model).fit(X).update(constraints_new=Constraints().apart(range(5)), n_clusters=4)


@centers_models
def test_a_split_by_verb(model):
    rows, truth = make_blobs([70, 50, 60], centers=[[0, 0], [6, 0], [0, 60]], random_state=0)
    found = clone(model).set_params(n_clusters=2).fit(rows)
    both = found.labels_[truth == 0][0]
    said = Constraints().split(both, found.labels_, rows)
    found.update(constraints_new=said, n_clusters=3)
    assert len(set(zip(truth, found.labels_, strict=True))) == 3


@pytest.mark.parametrize("model", [MODELS[0], MODELS[3]], ids=lambda m: type(m).__name__)
def test_what_raises_changes_nothing(model):
    found = clone(model).fit(X, constraints=Constraints(must_link=[(0, 1)]))
    before = copy.deepcopy(vars(found))
    for wrong in (
        {"constraints_new": Constraints(cannot_link=[(0, 1)])},
        {"constraints_new": Constraints(must_link=[(0, 150)])},
        {"X_new": [[1.0, 2.0]]},
        {"X_new": X[:3], "X": X[:20]},
        {"n_clusters": 2},
        {"keep": 2},
    ):
        with pytest.raises((ValueError, InconsistentConstraintsError)):
            found.update(**wrong)
        assert (found.labels_ == before["labels_"]).all()
        assert found.constraints_ == before["constraints_"]
        assert "_changes" not in vars(found)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"X_new": [[1.0, 2.0]]}, r"X_new has shape \(1, 2\), .* 4 features"),
        ({"X": X[:20]}, "X has 20 rows, but the model was fitted to 150"),
        ({"n_clusters": 2}, "there are 3 clusters, and `update` closes none.*match_labels"),
        ({"n_clusters": 151}, "n_samples=150 should be >= n_clusters=151"),
        ({"n_clusters": 3.5}, "n_clusters=3.5 must be a whole number"),
        ({"keep": 1.5}, "keep=1.5 is a share"),
        ({"keep": "all"}, "keep='all' is a share"),
        ({"X_new": sp.csr_array(X[:, :2])}, r"X_new has shape \(150, 2\), .* 4 features"),
        ({"constraints_new": [(0, 1)]}, "constraints_new must be a conclust.Constraints or None"),
        ({"sample_weight_new": [1.0]}, r"sample_weight_new has shape \(1,\), but there are 0 new"),
    ],
)
def test_messages(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message):
        COPKMeans(3, random_state=0).fit(X).update(**wrong)


@pytest.mark.parametrize("shared", [True, False])
def test_learned_metrics_are_gone_on_with(shared):
    # Check that features of noise, found to be so once, do not move rows again.
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 60)[rng.permutation(120)]
    rows = np.column_stack([y + 0.25 * rng.normal(size=120), 20 * rng.uniform(size=(120, 20))])
    said = sample_constraints(y[:90], 90, random_state=0)
    found = MPCKMeans(2, metric="full", shared=shared, random_state=0)
    before = found.fit(rows[:90], constraints=said).labels_
    found.update(rows[90:], keep=0)
    assert (found.labels_[:90] == before).all()
    found.update(n_clusters=3)
    assert len(found.metrics_) == len(found.cluster_centers_) == 3


@models
def test_as_many_clusters_as_rows(model):
    # Check that a cluster of one row is never the one to be parted.
    rows = np.arange(12.0)[:, np.newaxis] ** 2
    found = clone(model).fit(np.hstack([rows, rows])).update(n_clusters=12)
    assert found._n_clusters == 12


@models
def test_a_model_without_its_rows_asks_for_them(model):
    # Check that rows are not written along, and that they can be given again.
    here = clone(model).fit(X[:100])
    read = pickle.loads(pickle.dumps(here))
    assert here._fitted.X is not None
    assert read._fitted.X is None
    with pytest.raises(ValueError, match="not kept with it: pass them as X"):
        read.update(X[100:])
    read.update(X[100:], X=X[:100])
    assert (read.labels_ == here.update(X[100:]).labels_).all()
    read.update(X[:5])  # from then on they are known


@knowing_models
def test_on_disk(model, tmp_path):
    pytest.importorskip("skops")
    y = np.where(np.arange(100) % 5, None, np.array(["a", "b", "c"], dtype=object)[Y[:100]])
    here = clone(model).fit(X[:100], y).update(X[100:])
    conclust.save(here, tmp_path / "model.skops")
    read = conclust.load(tmp_path / "model.skops")
    assert read.classes_.tolist() == ["a", "b", "c"]
    assert read.changes_.equals(here.changes_)
    assert read.update(X[:9], X=X).labels_.tolist() == here.update(X[:9]).labels_.tolist()


def test_frames_sparse_rows_and_weights():
    dense = COPKMeans(3, random_state=0).fit(X[:100]).update(X[100:]).labels_
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"r{i}" for i in range(150)])
    known = Constraints.from_frame(
        pd.DataFrame({"a": ["r0"], "b": ["r1"], "type": ["same"]}), ids=frame.index[:100]
    )
    model = COPKMeans(3, random_state=0).fit(frame[:100], constraints=known)
    later = Constraints.from_frame(
        pd.DataFrame({"a": ["r140"], "b": ["r1"], "type": ["same"]}), ids=frame.index
    )
    model.update(frame[100:], later)
    assert model.constraints_.must_link.tolist() == [[0, 1], [140, 1]]
    assert model.constraints_.ids.tolist() == frame.index.tolist()
    with pytest.raises(ValueError, match="data frame with the columns .* 'a', 'b', 'c', 'd'"):
        model.update(X[:2])
    sparse = COPKMeans(3, random_state=0).fit(sp.csr_array(X[:100])).update(sp.csr_array(X[100:]))
    assert (sparse.labels_ == dense).mean() > 0.99
    weighted = COPKMeans(3, random_state=0).fit(X[:100], sample_weight=np.ones(100))
    weighted.update(X[100:], sample_weight_new=np.full(50, 2.0))
    assert weighted._fitted.more["sample_weight"].tolist() == [1.0] * 100 + [2.0] * 50
    with pytest.raises(ValueError, match="fitted with priority"):
        ConstrainedKMeans(3).fit(X, constraints=known.extended(150), priority=[1]).update()


def test_relative_statements_are_kept_for_those_who_use_them():
    with pytest.warns(ConstraintsIgnoredWarning):
        model = PCKMeans(3, random_state=0).fit(X, constraints=Constraints(relative=[(0, 1, 2)]))
    with pytest.warns(ConstraintsIgnoredWarning):
        model.update(constraints_new=Constraints(relative=[(3, 4, 5)]))
    assert model.constraints_.relative.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_why():
    rows = np.r_[np.linspace(0, 1, 10), np.linspace(9, 10, 10)][:, np.newaxis]
    model = COPKMeans(2, random_state=0).fit(rows, constraints=Constraints(must_link=[(2, 3)]))
    a, b = model.labels_[0], model.labels_[-1]
    model.update([[0.5]], Constraints(must_link=[(2, 15), (2, 16), (2, 17), (15, 18)]))
    assert model.changes_.to_dict("list") == {
        "row": [2, 3, 20],
        "from": [a, a, -1],
        "to": [b, b, a],
        "why": ["named in a new statement", "must-linked to a row of a new statement", "new row"],
    }


@given(
    st.integers(0, 2**16),
    st.integers(0, 40),
    st.integers(0, 30),
    st.integers(0, 25),
    st.sampled_from([0, 1]),
)
@settings(max_examples=25)
def test_whatever_comes(seed, n_told, n_said, n_new, which):
    # Check the promises on overlapping clusters: numbers and labels stay, statements hold (hard),
    # everything new is there.
    rows, truth = make_blobs(80 + n_new, centers=3, cluster_std=3.0, random_state=seed)
    told = sample_constraints(truth[:80], n_told, random_state=seed)
    said = sample_constraints(truth, n_said, random_state=seed + 1)
    model = clone(MODELS[which]).set_params(n_init=2).fit(rows[:80], constraints=told)
    before = model.labels_.copy()
    model.update(rows[80:] if n_new else None, said)
    others = unconcerned(model, said, 80)
    n_moved = int((model.labels_[others] != before[others]).sum())
    if which == 0:
        assert model.report_.n_violated == 0
    if n_moved > 0.01 * len(others):
        # Only rows of statements, which would have been broken.
        moved = others[model.labels_[others] != before[others]]
        assert np.isin(moved, model.constraints_.samples).all()
        held = model.labels_.copy()
        held[moved] = before[moved]
        assert (model.report_.kept & ~model.constraints_.satisfied(held)).any()
    assert len(model.labels_) == 80 + n_new
    assert model.constraints_.n_samples == 80 + n_new


@pytest.mark.parametrize("model", MODELS[:3], ids=lambda m: type(m).__name__)
def test_the_inertia_is_that_of_the_labels(model):
    # Check it where rows were put back: without clusters, all boundaries move.
    rows, weight = np.random.RandomState(0).uniform(size=(178, 2)), np.linspace(1, 2, 178)
    found = clone(model).set_params(n_clusters=6).fit(rows[:60], sample_weight=weight[:60])
    found.update(rows[60:], sample_weight_new=weight[60:], keep=1)
    assert not (found.labels_ == found.predict(rows)).all()
    own = ((rows - found.cluster_centers_[found.labels_]) ** 2).sum(axis=1)
    assert found.inertia_ == pytest.approx(own @ weight)
    read = pickle.loads(pickle.dumps(found))  # weights are kept, rows are not
    assert read.update(X=rows).inertia_ == pytest.approx(found.update().inertia_)


@pytest.mark.parametrize("kind", [COPKMeans, PCKMeans])
@pytest.mark.parametrize("weighted", [False, True])
def test_sizes_hold_where_rows_are_put_back(kind, weighted):
    # Check that labels stay as far as sizes let them, and that statements hold all the same.
    for seed in range(6):
        rows, classes = make_blobs(90, 3, centers=4, cluster_std=3, random_state=seed)
        weight = np.random.RandomState(seed).randint(1, 3, 90) if weighted else np.ones(90)
        sizes = np.array([15, 12, 9]), np.array([30, 35, 60])
        bounds = [(1.5 if weighted else 1) * size for size in sizes]
        model = kind(3, size_min=bounds[0], size_max=bounds[1], random_state=seed)
        known = sample_constraints(classes[:70] % 3, 10, random_state=seed)
        model.fit(rows[:70], constraints=known, sample_weight=weight[:70])
        model.update(rows[70:], Constraints(must_link=[(0, 75)]), sample_weight_new=weight[70:])
        mass = np.bincount(model.labels_, weight)
        assert (bounds[0] <= mass).all()
        assert (mass <= bounds[1]).all()
        assert kind is PCKMeans or model.report_.kept.all()


@pytest.mark.parametrize("kind", [COPKMeans, PCKMeans])
def test_the_share_set_aside_is_that_of_the_labels(kind):
    for seed in range(4):
        rows, _ = make_blobs(90, 3, centers=4, cluster_std=3, random_state=seed)
        model = kind(3, outliers=0.1, random_state=seed).fit(rows[:70]).update(rows[70:])
        assert model.outlier_share_ == pytest.approx((model.labels_ < 0).mean())


def test_labels_on_a_real_set_with_many_new_rows():
    rows, _ = load_wine(return_X_y=True)
    rows = StandardScaler().fit_transform(rows)[np.random.RandomState(0).permutation(178)]
    model = PCKMeans(3, random_state=0).fit(rows[:60])
    before = model.labels_.copy()
    model.update(rows[60:])
    assert (model.labels_[:60] == before).mean() >= 0.99
    free = PCKMeans(3, random_state=0).fit(rows[:60]).update(rows[60:], keep=0)
    assert len(free.labels_) == 178


def crowded():
    """Two groups and a cluster each, full to the brim; then rows come to the first."""
    rng = np.random.RandomState(0)
    rows = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(4, 1, (40, 2))])
    return rows, rng.normal(0, 1, (30, 2))


@pytest.mark.parametrize("kind", [COPKMeans, PCKMeans])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_put_back_leave_the_sizes_as_asked(kind, weighted):
    rows, new = crowded()
    weight, weight_new = np.linspace(0.5, 1.5, 80), np.linspace(0.5, 1.5, 30)
    model = kind(2, size_min=30, size_max=60, random_state=0).fit(
        rows, sample_weight=weight if weighted else None
    )
    model.update(new, sample_weight_new=weight_new if weighted else None, keep=1.0)
    mass = np.append(weight, weight_new) if weighted else None
    sizes = np.bincount(model.labels_, mass)
    assert sizes.max() <= 60 + 1e-9
    squared = model.transform(np.vstack([rows, new])) ** 2
    own = squared[np.arange(110), model.labels_]
    assert model.inertia_ == pytest.approx(own.sum() if mass is None else own @ mass)


@pytest.mark.parametrize("kind", [COPKMeans, PCKMeans])
def test_rows_put_back_leave_no_more_set_aside_than_asked(kind):
    rows, new = crowded()
    far = np.random.RandomState(1).uniform(20, 60, (4, 2))
    model = kind(2, outliers=0.05, random_state=0).fit(rows)
    assert (model.labels_ < 0).sum() == 4
    model.update(np.vstack([new[:10], far]), keep=1.0)
    assert (model.labels_ < 0).sum() <= 0.05 * 94
    assert model.outlier_share_ == pytest.approx((model.labels_ < 0).mean())


@pytest.mark.parametrize("kind", [COPKMeans, PCKMeans])
def test_clusters_with_sizes_of_their_own_keep_their_numbers(kind):
    rows, new = crowded()
    model = kind(2, size_max=np.array([90, 41]), random_state=0).fit(rows)
    model.update(new, keep=1.0)
    assert np.bincount(model.labels_)[1] <= 41


def test_sizes_that_new_rows_exceed_are_said():
    rows, new = crowded()
    model = COPKMeans(2, size_max=41, random_state=0).fit(rows)
    with pytest.raises(InfeasibleSizesError, match="size_max adds up to 82"):
        model.update(new)
