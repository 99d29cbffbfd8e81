"""Dask arrays and frames: swept by the workers of a real cluster, with the answers of one array."""

import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

from conclust import ConstrainedKMeans, COPKMeans, PCKMeans, blocks, sample_constraints

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 60, random_state=0)


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
    ],
)
def test_answers_are_those_of_one_array(model, weight, cluster):
    rows = blocks.open(da.from_array(X, chunks=((40, 1, 59, 50), 2)).persist())
    models = [clone(model).fit(each, constraints=KNOWN, sample_weight=weight) for each in (rows, X)]
    assert_array_equal(models[0].labels_, models[1].labels_)
    assert_allclose(models[0].cluster_centers_, models[1].cluster_centers_)
    assert models[0].inertia_ == pytest.approx(models[1].inertia_)
    assert_array_equal(models[0].predict(rows), models[1].predict(X))


def test_frames_and_rows_of_unknown_number():
    # Without a cluster, too: dask computes in threads then.
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(name="x")
    rows = blocks.open(dd.from_pandas(frame, npartitions=3), columns=list("abcd"))
    assert rows.columns == list("abcd")
    assert_array_equal(rows.to_numpy(), X)
    assert_array_equal(rows[[149, 3, 60]], X[[149, 3, 60]])
    labels = ConstrainedKMeans(3, random_state=0).fit(rows, constraints=KNOWN).labels_
    expected = ConstrainedKMeans(3, random_state=0).fit(X, constraints=KNOWN).labels_
    assert_array_equal(labels, expected)
    array = da.from_array(X, chunks=50)
    assert blocks.open(array[array[:, 0] > 5]).shape == ((X[:, 0] > 5).sum(), 4)


def test_a_dask_collection_as_x_is_pointed_to_blocks():
    with pytest.raises(TypeError, match=r"conclust\.blocks\.open\(X\)"):
        ConstrainedKMeans(3).fit(da.from_array(X))
