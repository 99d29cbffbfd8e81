"""Dask arrays and frames as X: swept by the workers of a real cluster, with one array's answers."""

import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

from conclust import (
    ConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    Constraints,
    COPKMeans,
    MPCKMeans,
    PCKMeans,
    blocks,
    sample_constraints,
)
from tests.blocks.killing import MANY, KillsAtSecondStart, first_rows, fitted

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 60, random_state=0)


def in_parts(X):
    return da.from_array(X, chunks=((40, 1, 59, 50), 2))


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
    assert_array_equal(models[0].labels_, models[1].labels_)
    assert_allclose(models[0].cluster_centers_, models[1].cluster_centers_)
    assert models[0].inertia_ == pytest.approx(models[1].inertia_)
    labels = models[0].predict(rows)
    assert isinstance(labels, da.Array)
    assert labels.chunks == rows.chunks[:1]
    assert_array_equal(labels.compute(), models[1].predict(X))
    assert_array_equal(models[0].predict(blocks.open(rows)), models[1].predict(X))


def test_members_of_an_ensemble_side_by_side(cluster):
    model = ConstrainedKMeansEnsemble(3, n_estimators=4, n_jobs=2, random_state=0)
    rows = in_parts(X).persist()
    fitted = clone(model).fit(rows, constraints=KNOWN)
    expected = model.fit(X, constraints=KNOWN)
    assert_array_equal(fitted.labels_, expected.labels_)
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
    assert_array_equal(model.labels_, expected)
    assert model.feature_names_in_.tolist() == list("abcd")
    array = da.from_array(X, chunks=50)
    long = array[array[:, 0] > 5]  # some of its parts may be empty
    assert blocks.open(long).shape == ((X[:, 0] > 5).sum(), 4)
    none_of_some = array[array[:, 0] > 5.8]
    few = ConstrainedKMeans(2, random_state=0).fit(none_of_some)
    assert_array_equal(few.predict(none_of_some).compute(), few.labels_)


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
    assert_array_equal(labels, fitted(blocks.open(MANY), first_rows).labels_)
