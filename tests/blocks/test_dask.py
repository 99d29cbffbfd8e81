"""Dask arrays and frames as X: swept by the workers of a real cluster, with one array's answers."""

import os
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

import conclust
from conclust import (
    BoostedConstrainedKMeans,
    ConstrainedGaussianMixture,
    ConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    Constraints,
    COPKMeans,
    MiniBatchConstrainedKMeans,
    MPCKMeans,
    PCKMeans,
    TrustEnsemble,
    blocks,
    sample_constraints,
)
from conclust._summaries import model_html
from tests.blocks.killing import MANY, KillsAtSecondStart, first_rows, fitted

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 60, random_state=0)


def in_parts(X):
    return da.from_array(X, chunks=((40, 1, 59, 50), 2))


def is_like(labels, rows):
    """Whether labels are an array of dask, cut as the rows are."""
    is_array = isinstance(labels, da.Array) and labels.dtype == np.int32
    return is_array and labels.chunks == rows.chunks[:1]


@pytest.fixture
def here():
    """No cluster, be there one or not."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def cluster():
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**how) as workers, distributed.Client(workers) as client:
        yield client


@pytest.mark.parametrize(
    ("model", "weight"),
    [
        (ConstrainedKMeans(3, n_init=2, random_state=0), None),
        (COPKMeans(3, n_init=2, metric="cosine", random_state=0), None),
        (PCKMeans(3, n_init=2, penalty=1.0, random_state=0), 1.0 + y),
        pytest.param(
            COPKMeans(3, n_init=2, outliers=0.05, random_state=0), None, marks=pytest.mark.slow
        ),
    ],
)
def test_answers_are_those_of_one_array(model, weight, cluster):
    rows = in_parts(X).persist()
    models = [clone(model).fit(each, constraints=KNOWN, sample_weight=weight) for each in (rows, X)]
    assert is_like(models[0].labels_, rows)
    assert_array_equal(models[0].labels_.compute(), models[1].labels_)
    assert_allclose(models[0].cluster_centers_, models[1].cluster_centers_)
    assert models[0].inertia_ == pytest.approx(models[1].inertia_)
    labels = models[0].predict(rows)
    assert is_like(labels, rows)
    assert_array_equal(labels.compute(), models[1].predict(X))
    assert_array_equal(models[0].predict(blocks.open(rows)), models[1].predict(X))


def test_members_of_an_ensemble_side_by_side(cluster):
    model = ConstrainedKMeansEnsemble(3, n_estimators=4, n_jobs=2, random_state=0)
    rows = in_parts(X).persist()
    fitted = clone(model).fit(rows, constraints=KNOWN)
    expected = model.fit(X, constraints=KNOWN)
    assert is_like(fitted.labels_, rows)
    assert_array_equal(fitted.labels_.compute(), expected.labels_)
    assert_array_equal(fitted.predict(rows).compute(), expected.predict(X))


def test_frames_and_rows_of_unknown_number():
    # Without a cluster, too: dask computes in threads then.
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(name="x")
    table = dd.from_pandas(frame, npartitions=3)
    rows = blocks.open(table, columns=list("abcd"))
    assert rows.columns == list("abcd")
    assert_array_equal(rows.to_numpy(), X)
    assert_array_equal(rows[[149, 3, 60]], X[[149, 3, 60]])
    model = ConstrainedKMeans(3, random_state=0).fit(table[list("abcd")], constraints=KNOWN)
    expected = ConstrainedKMeans(3, random_state=0).fit(X, constraints=KNOWN).labels_
    assert_array_equal(model.labels_.compute(), expected)
    assert model.labels_.chunks == ((50, 50, 50),)
    assert model.feature_names_in_.tolist() == list("abcd")
    array = da.from_array(X, chunks=50)
    long = array[array[:, 0] > 5]  # some of its parts may be empty
    assert blocks.open(long).shape == ((X[:, 0] > 5).sum(), 4)
    none_of_some = array[array[:, 0] > 5.8]
    few = ConstrainedKMeans(2, random_state=0).fit(none_of_some)
    sizes = tuple(int((X[start : start + 50, 0] > 5.8).sum()) for start in (0, 50, 100))
    assert sizes[0] == 0
    assert few.labels_.chunks == (sizes,)  # which none_of_some itself does not know
    assert_array_equal(few.predict(none_of_some).compute(), few.labels_.compute())


def test_predicting_computes_nothing():
    def refuse(part):
        if len(part):  # dask tries functions on nothing
            raise AssertionError("computed")
        return part

    model = ConstrainedKMeans(3, random_state=0).fit(X)
    never = da.from_array(X, chunks=(50, 4)).map_blocks(refuse, dtype=float)
    for rows in (never, never[never[:, 0] > 5]):  # whose number is known, and is not
        labels = model.predict(rows)
        assert labels.ndim == 1
        assert labels.dtype == np.int32


@pytest.mark.parametrize(
    "model",
    [
        ConstrainedKMeans(3, max_iter=1, random_state=0),
        ConstrainedKMeans(3, order="random", metric="cosine", random_state=0),
        COPKMeans(3, n_init=1, outliers=0.1, random_state=0),
        PCKMeans(3, n_init=1, size_min=45, penalty=0.1, random_state=0),
        MiniBatchConstrainedKMeans(3, random_state=0),
        BoostedConstrainedKMeans(3, n_estimators=3, random_state=0),
        TrustEnsemble(3, n_estimators=3, n_judges=2, random_state=0),
        ConstrainedGaussianMixture(3, covariance_type="tied", random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_labels_of_a_fit_are_lazy_and_those_of_blocks(model, here):
    # Check every way to labels that the nearest centre does not explain, on the same parts.
    rows = in_parts(X)
    expected = clone(model).fit(blocks.open(rows), constraints=KNOWN)
    model = clone(model)
    labels = model.fit_predict(rows, constraints=KNOWN)
    assert labels is model.labels_
    assert is_like(labels, rows)
    assert isinstance(expected.labels_, np.ndarray)
    assert_array_equal(labels.compute(), expected.labels_)
    assert labels.compute().dtype == expected.labels_.dtype
    assert model.report_.as_dict() == expected.report_.as_dict()
    pd.testing.assert_frame_equal(model.report_.violated, expected.report_.violated)
    assert model_html(model) == model_html(expected)


def test_looking_at_labels_computes_nothing_and_here_stays_little(here):
    computed = []

    def count(part):
        computed.append(len(part))
        return part

    rows = da.from_array(MANY, chunks=(10_000, 8)).map_blocks(count, dtype=float)
    known = Constraints(must_link=np.arange(20).reshape(2, 10).T + [0, 50_000])
    model = ConstrainedKMeans(5, max_iter=5, random_state=0).fit(rows, constraints=known)
    n_computed = len(computed)
    assert model.labels_.shape == (100_000,)
    assert repr(model.labels_)
    assert model._repr_html_()
    assert model.report_.n_violated == 0
    assert len(pickle.dumps(model)) < 50_000  # 4 bytes per row would be 400 000
    assert len(computed) == n_computed
    labels = model.labels_.compute()
    assert len(computed) == n_computed + 10
    others = set(np.flatnonzero(labels != model.predict(MANY)))  # not at their nearest centre
    assert others
    assert others <= set(known.samples)


@pytest.mark.parametrize("kind", [COPKMeans, ConstrainedKMeansEnsemble])
def test_models_are_kept_without_lazy_labels(kind, tmp_path, here):
    pytest.importorskip("skops")
    rows = in_parts(X)
    model = kind(3, random_state=0).fit(rows, constraints=KNOWN)
    conclust.save(model, tmp_path / "model.skops")
    for again in (conclust.load(tmp_path / "model.skops"), pickle.loads(pickle.dumps(model))):
        with pytest.raises(AttributeError, match="stayed with the engine.*predict"):
            _ = again.labels_
        assert again.report_.as_dict() == model.report_.as_dict()
        assert model_html(again) == model_html(model)
        assert_array_equal(again.predict(rows).compute(), model.predict(rows).compute())
        if kind is COPKMeans:
            with pytest.raises(TypeError, match="`update` needs all rows at once.* Fit again"):
                again.update(X=X, constraints_new=Constraints(must_link=[(0, 1)]))


def test_what_takes_labels_takes_lazy_ones(here):
    rows, model = in_parts(X), ConstrainedKMeans(3, seeds="hard", random_state=0)
    known = model.fit(rows, constraints=KNOWN).labels_
    assert KNOWN.report(known).as_dict() == model.report_.as_dict()
    assert_array_equal(conclust.match_labels(known, y), conclust.match_labels(known.compute(), y))
    seeded = model.fit(rows, da.where(da.arange(150, chunks=50) < 100, known, -1))
    assert_array_equal(seeded.labels_[:100].compute(), known[:100].compute())
    with pytest.raises(TypeError, match="`update` needs all rows at once"):
        model.update(constraints_new=KNOWN)
    guided = conclust.Guided(ConstrainedKMeans(3, random_state=0), KNOWN).fit(rows)
    assert_array_equal(guided.labels_.compute(), known.compute())
    assert "3 clusters of 150 rows" in guided._repr_html_()
    settings = {"n_clusters": [2, 3]}
    search = conclust.ConstraintSearchCV(ConstrainedKMeans(random_state=0), settings)
    search.fit(rows, constraints=KNOWN)
    assert_array_equal(search.labels_.compute(), guided.labels_.compute())
    assert not hasattr(pickle.loads(pickle.dumps(search)), "labels_")


def test_what_is_wrong_with_the_rows_is_said():
    bad = X.copy()
    bad[131, 2] = np.nan
    rows = da.from_array(bad, chunks=(50, 4))
    with pytest.raises(ValueError, match="dask array: row 131 holds NaN .* in column 2"):
        ConstrainedKMeans(3).fit(rows)
    model = ConstrainedKMeans(3).fit(X)
    with pytest.raises(ValueError, match="a part of the dask array: row 31 holds NaN"):
        model.predict(rows).compute()
    with pytest.raises(ValueError, match="dask array has 2 features, but ConstrainedKMeans"):
        model.predict(rows[:, :2])
    with pytest.raises(ValueError, match=r"dask array has shape \(150,\)"):
        model.fit(rows[:, 0])
    with pytest.raises(ValueError, match="dask array has 0 rows of 4 features"):
        model.fit(rows[:0])
    dd = pytest.importorskip("dask.dataframe")
    table = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(name="x"), npartitions=2)
    with pytest.raises(TypeError, match="dask dataframe holds values of type object"):
        model.fit(table)
    with pytest.raises(ValueError, match="dask dataframe has no column 'z'; it has 'a', 'b'"):
        blocks.open(table, columns=["a", "z"])
    with pytest.raises(TypeError, match=r"a dask Array, .*needs all rows.*X\.compute\(\)"):
        MPCKMeans(3).fit(rows)
    with pytest.raises(TypeError, match="`update` needs all rows at once"):
        COPKMeans(3).fit(X).update(rows, Constraints(must_link=[(0, 150)]))


@pytest.mark.slow
def test_a_worker_that_dies_is_survived():
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**how) as workers, distributed.Client(workers) as client:
        rows = da.from_array(MANY, chunks=(10_000, 8)).persist()
        distributed.wait(rows)
        victim = next(iter(client.run(os.getpid).values()))
        labels = fitted(rows, KillsAtSecondStart(victim)).labels_
        assert victim not in client.run(os.getpid).values()
        labels = labels.compute()
    assert_array_equal(labels, fitted(blocks.open(MANY), first_rows).labels_)
