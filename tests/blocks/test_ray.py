"""Ray datasets as X: swept by the tasks of a real local Ray, with the answers of one array."""

import os
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

import conclust
from conclust import (
    ConstrainedGaussianMixture,
    ConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    COPKMeans,
    Guided,
    MiniBatchConstrainedKMeans,
    MPCKMeans,
    PCKMeans,
    blocks,
    sample_constraints,
)
from conclust._summaries import model_html
from tests.blocks.killing import MANY, KillsAtSecondStart, first_rows, fitted

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow  # a Ray takes some ten seconds to start

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 60, random_state=0)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    # Workers import conclust from where the tests do.
    environment = {"env_vars": {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}}
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
        runtime_env=environment,
        object_store_memory=500_000_000,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def in_parts(X):
    return ray.data.from_numpy([X[:40], X[40:41], X[41:100], X[100:]])


def as_table(X):
    return ray.data.from_pandas(
        [pd.DataFrame(part, columns=list("abcd")) for part in (X[:70], X[70:])]
    )


def labels_of(dataset):
    return np.concatenate([batch["label"] for batch in dataset.iter_batches(batch_format="numpy")])


def test_a_task_works_on_several_parts_where_there_are_many(monkeypatch):
    source = blocks.open(ray.data.from_numpy(np.array_split(X, 30))).source
    bundles = source._bundles(list(range(30)))
    assert [len(bundle) for bundle in bundles] == [4] * 6 + [3] * 2  # four for each processor
    monkeypatch.setattr("conclust.blocks._ray.BUNDLE", 2 * X[:5].nbytes)  # of two parts, no more
    bundles = source._bundles(list(range(1, 30)))
    assert max(map(len, bundles)) == 2
    assert sorted(chain.from_iterable(bundles)) == list(range(1, 30))
    rows = np.sort(np.random.RandomState(0).permutation(len(X))[:50])
    assert_array_equal(source.take(rows), X[rows])


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_blocks_are_copied_only_where_their_numbers_must_change(kind):
    rows = (10 * X).astype(kind)
    source = blocks.open(ray.data.from_numpy([rows[:40], rows[40:]])).source
    copied = [isinstance(ray.get(part), np.ndarray) for part, _ in source._counted]
    assert copied == [kind == np.int64] * 2
    assert_array_equal(source.take(np.arange(30, 50)), rows[30:50])


@pytest.mark.parametrize(
    ("model", "weight"),
    [
        (ConstrainedKMeans(3, n_init=2, random_state=0), None),
        (COPKMeans(3, n_init=2, metric="cosine", random_state=0), None),
        (PCKMeans(3, n_init=2, penalty=1.0, random_state=0), 1.0 + y),
    ],
)
def test_answers_are_those_of_one_array(model, weight):
    rows = in_parts(X)
    models = [clone(model).fit(each, constraints=KNOWN, sample_weight=weight) for each in (rows, X)]
    assert isinstance(models[0].labels_, ray.data.Dataset)
    assert_array_equal(labels_of(models[0].labels_), models[1].labels_)
    assert_allclose(models[0].cluster_centers_, models[1].cluster_centers_)
    assert models[0].inertia_ == pytest.approx(models[1].inertia_)
    labels = models[0].predict(rows)
    assert isinstance(labels, ray.data.Dataset)
    assert_array_equal(labels_of(labels), models[1].predict(X))
    assert_array_equal(models[0].predict(blocks.open(rows)), models[1].predict(X))


def test_tables_have_names_and_rows_are_read_in_order():
    table = as_table(X).add_column("name", lambda batch: ["x"] * len(batch))
    rows = blocks.open(table, columns=list("abcd"))
    assert rows.columns == list("abcd")
    assert_array_equal(rows.to_numpy(), X)
    assert_array_equal(rows[[149, 3, 60]], X[[149, 3, 60]])
    model = ConstrainedKMeans(3, random_state=0).fit(as_table(X), constraints=KNOWN)
    assert model.feature_names_in_.tolist() == list("abcd")
    expected = ConstrainedKMeans(3, random_state=0).fit(X, constraints=KNOWN).labels_
    assert_array_equal(labels_of(model.labels_), expected)
    some = as_table(X).filter(lambda row: row["a"] > 5.8)  # may leave parts empty
    few = ConstrainedKMeans(2, random_state=0).fit(some)
    assert_array_equal(labels_of(few.predict(some)), labels_of(few.labels_))
    assert blocks.open(ray.data.from_numpy(X.astype(np.float32))).dtype == np.float32


def test_members_of_an_ensemble_side_by_side():
    model = ConstrainedKMeansEnsemble(3, n_estimators=4, n_jobs=2, random_state=0)
    fitted = clone(model).fit(in_parts(X), constraints=KNOWN)
    expected = model.fit(X, constraints=KNOWN)
    assert_array_equal(labels_of(fitted.labels_), expected.labels_)
    assert_array_equal(labels_of(fitted.predict(in_parts(X))), expected.predict(X))


def test_predicting_runs_nothing_but_the_first_row(tmp_path):
    def note(batch):
        (tmp_path / f"{batch['data'][0, 0]}").touch()
        return batch

    model = ConstrainedKMeans(3, random_state=0).fit(X)
    rows = ray.data.from_numpy(np.array_split(X, 30)).map_batches(note, batch_size=None)
    labels = model.predict(rows)
    n_run = len(list(tmp_path.iterdir()))
    assert_array_equal(labels_of(labels), model.labels_)
    assert n_run < len(list(tmp_path.iterdir()))


@pytest.mark.parametrize(
    "model",
    [
        COPKMeans(3, n_init=1, outliers=0.1, random_state=0),
        MiniBatchConstrainedKMeans(3, random_state=0),
        ConstrainedGaussianMixture(3, covariance_type="tied", random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_labels_of_a_fit_stay_in_the_store(model, tmp_path):
    rows = in_parts(X)
    expected = clone(model).fit(blocks.open(rows), constraints=KNOWN)
    labels = model.fit_predict(rows, constraints=KNOWN)
    assert labels is model.labels_
    assert isinstance(expected.labels_, np.ndarray)
    assert labels.schema().names == ["label"]
    sizes = [len(part["label"]) for part in labels.iter_batches(batch_size=None)]
    assert sizes == [40, 1, 59, 50]
    assert labels_of(labels).dtype == np.int32
    assert_array_equal(labels_of(labels), expected.labels_)
    assert_array_equal(labels_of(labels.map(lambda row: row)), expected.labels_)  # in order
    assert model.report_.as_dict() == expected.report_.as_dict()
    assert model_html(model) == model_html(expected)


def test_models_are_kept_without_lazy_labels_and_others_take_these(tmp_path):
    pytest.importorskip("skops")
    model = ConstrainedKMeans(3, seeds="hard", random_state=0).fit(in_parts(X), constraints=KNOWN)
    assert model._fitted.X is None  # which would hold all rows in the store
    conclust.save(model, tmp_path / "model.skops")
    again = conclust.load(tmp_path / "model.skops")
    assert not hasattr(again, "labels_")
    assert again.report_.as_dict() == model.report_.as_dict()
    assert_array_equal(again.predict(X), model.predict(X))
    labels = model.labels_
    assert KNOWN.report(labels).as_dict() == model.report_.as_dict()
    assert_array_equal(
        conclust.match_labels(labels, y), conclust.match_labels(labels_of(labels), y)
    )
    with pytest.raises(TypeError, match="`update` needs all rows at once"):
        model.update(constraints_new=KNOWN)


def test_statements_bound_to_an_estimator():
    guided = Guided(ConstrainedKMeans(3, random_state=0), KNOWN).fit(in_parts(X))
    expected = ConstrainedKMeans(3, random_state=0).fit(X, constraints=KNOWN).labels_
    assert_array_equal(labels_of(guided.labels_), expected)


def test_what_is_wrong_with_the_rows_is_said():
    bad = X.copy()
    bad[131, 2] = np.nan
    with pytest.raises(ValueError, match=r"^Ray dataset: row 131 holds NaN .* in column 2"):
        ConstrainedKMeans(3).fit(in_parts(bad))
    with pytest.raises(ValueError, match="Ray dataset: row 131 holds NaN .* in column 'c'"):
        ConstrainedKMeans(3).fit(as_table(bad))
    model = ConstrainedKMeans(3).fit(X)
    with pytest.raises(ValueError, match="Ray dataset has 2 features, but ConstrainedKMeans"):
        model.predict(in_parts(X[:, :2]))
    table = as_table(X).add_column("name", lambda batch: ["x"] * len(batch))
    with pytest.raises(TypeError, match="Ray dataset holds values of type object"):
        model.fit(table)
    with pytest.raises(ValueError, match="Ray dataset has no column 'z'; it has 'a', 'b'"):
        blocks.open(table, columns=["a", "z"])
    with pytest.raises(ValueError, match="Ray dataset has 0 rows"):
        model.fit(in_parts(X).filter(lambda row: False))
    with pytest.raises(TypeError, match="X is a Ray ObjectRef; rows are a Ray dataset"):
        model.fit(ray.put(X))
    with pytest.raises(TypeError, match=r"a Ray .*Dataset, .*needs all rows.*X\.to_pandas\(\)"):
        MPCKMeans(3).fit(in_parts(X))


def test_a_worker_that_dies_is_survived():
    rows = ray.data.from_numpy(np.array_split(MANY, 10))
    victim = ray.get(ray.remote(lambda: os.getpid()).remote())
    labels = fitted(rows, KillsAtSecondStart(victim)).labels_
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)
    assert_array_equal(labels_of(labels), fitted(blocks.open(MANY), first_rows).labels_)
