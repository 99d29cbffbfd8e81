"""The same estimators on rows in blocks: same answers, and messages that name file and row."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_blobs

from conclust import (
    BoostedConstrainedKMeans,
    ConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    Constraints,
    COPKMeans,
    GeneralizedKMeans,
    PCKMeans,
    TrustEnsemble,
    blocks,
    sample_constraints,
)
from conclust._lloyd.rows import open_rows
from conclust.blocks import _blocks

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 60, random_state=0)
FAMILY = [ConstrainedKMeans, COPKMeans, PCKMeans]


def uneven(X):
    cuts = [0, 1, 2, 40, 40, 149, 150]
    return blocks.open([X[a:b] for a, b in pairwise(cuts)])


SPLITS = {
    "rows": lambda X: blocks.open(X, block_rows=1),
    "sevens": lambda X: blocks.open(X, block_rows=7),
    "whole": blocks.open,
    "uneven": uneven,
    "function": lambda X: blocks.open(lambda: np.array_split(X, 4)),
}


def same(one, other):
    assert_array_equal(one.labels_, other.labels_)
    assert_allclose(one.cluster_centers_, other.cluster_centers_)
    assert one.inertia_ == pytest.approx(other.inertia_)
    assert one.n_iter_ == other.n_iter_
    assert_array_equal(one.report_.kept, other.report_.kept)


@pytest.mark.parametrize("known", [None, KNOWN], ids=["no statements", "statements"])
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("estimator", FAMILY)
def test_answers_are_those_of_one_array(estimator, split, known):
    # Also the starts: of so few rows no sample is taken.
    model = estimator(3, n_init=3, random_state=0)
    whole = model.fit(X, constraints=known).labels_, model.cluster_centers_, model.inertia_
    model.fit(SPLITS[split](X), constraints=known)
    assert_array_equal(model.labels_, whole[0])
    assert_allclose(model.cluster_centers_, whole[1])
    assert model.inertia_ == pytest.approx(whole[2])
    assert model.n_features_in_ == 4
    assert_array_equal(model.predict(SPLITS[split](X)), model.predict(X))


@pytest.mark.parametrize(
    "how",
    [
        {"metric": "cosine"},
        {"init": "random"},
        {"init": X[[0, 60, 120]]},
        {"init": lambda X, n_clusters, random_state: X[[0, 60, 120]]},
        {"sample_weight": np.random.RandomState(0).uniform(0.5, 2, len(X))},
        {"y": np.where(np.arange(len(X)) % 10, -1, y)},
        {"dtype": np.float32},
    ],
    ids=lambda how: next(iter(how)) + str(next(iter(how.values())))[:8],
)
@pytest.mark.parametrize("estimator", FAMILY)
def test_options_work_as_on_one_array(estimator, how):
    more = {name: how[name] for name in ("sample_weight", "y") if name in how}
    given = {name: how[name] for name in ("metric", "init") if name in how}
    data = X.astype(how.get("dtype", np.float64))
    models = [
        estimator(3, n_init=2, random_state=0, **given).fit(rows, constraints=KNOWN, **more)
        for rows in (data, blocks.open(data, block_rows=31))
    ]
    same(*models)
    assert models[1].cluster_centers_.dtype == data.dtype


@pytest.mark.parametrize(
    "how", [{"outliers": 0.05}, {"outliers": "auto"}, {"size_min": 45}], ids=lambda how: str(how)
)
@pytest.mark.parametrize("estimator", [COPKMeans, PCKMeans])
def test_sizes_and_outliers_too(estimator, how):
    models = [
        estimator(3, n_init=2, random_state=0, **how).fit(rows, constraints=KNOWN)
        for rows in (X, blocks.open(X, block_rows=31))
    ]
    same(*models)


def test_random_orders_and_empty_clusters():
    far = np.vstack([X[[0, 60]], np.full((1, 4), 100.0)])
    for how in ({"order": "random"}, {"init": far}):
        models = [
            ConstrainedKMeans(3, random_state=0, **how).fit(rows, constraints=KNOWN)
            for rows in (X, blocks.open(X, block_rows=31))
        ]
        same(*models)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_blocks_change_nothing(data):
    # Check any cut into blocks, for rows and statements of any kind.
    n = data.draw(st.integers(5, 40), label="rows")
    seed = data.draw(st.integers(0, 1000), label="seed")
    generator = np.random.RandomState(seed)
    rows, truth = generator.normal(size=(n, 2)), generator.randint(3, size=n)
    known = sample_constraints(truth, data.draw(st.integers(0, n)), random_state=seed)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=6), label="cuts"))
    parts = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, n], strict=True)]
    estimator = data.draw(st.sampled_from(FAMILY))
    model = estimator(3, n_init=2, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = model.fit(rows, constraints=known).labels_
        assert_array_equal(model.fit(blocks.open(parts), constraints=known).labels_, labels)


ENSEMBLES = {
    BoostedConstrainedKMeans: {"n_estimators": 5},
    ConstrainedKMeansEnsemble: {"n_estimators": 4, "n_jobs": 2},
    TrustEnsemble: {"n_estimators": 2, "n_judges": 2, "max_iter": 5, "n_jobs": 2},
}


@pytest.mark.parametrize("estimator", ENSEMBLES)
def test_ensembles_answer_as_on_one_array(estimator):
    rows = blocks.open(X, block_rows=31)
    model = estimator(3, random_state=0, **ENSEMBLES[estimator])
    labels = model.fit(X, constraints=KNOWN).labels_
    model.fit(rows, constraints=KNOWN)
    assert_array_equal(model.labels_, labels)
    assert_array_equal(model.predict(rows), model.predict(X))
    assert len(model.suspects(3)) == 3


def test_threads_share_the_blocks():
    # Check that a sweep by several threads labels and sums as one thread does.
    rows, _ = make_blobs(5000, 16, centers=4, random_state=0)
    centers, linked = rows[:40].copy(), np.arange(3, 5000, 7)
    placed = (linked % 40).astype(np.int32)
    found = []
    for n_threads in (1, 3):
        source = blocks.open(rows, block_rows=1500).checked()
        with open_rows(source, 40, linked=linked, n_threads=n_threads) as near:
            assert len(near._work) == n_threads
            near.sweep(centers)
            near.add(placed, centers)
            found.append((near.labels, near.means(centers), near.inertia(centers)))
    assert_array_equal(found[0][0], found[1][0])
    assert_array_equal(found[0][0][linked], placed)
    assert_allclose(found[0][1], found[1][1])
    assert found[0][2] == pytest.approx(found[1][2])


@pytest.mark.parametrize("estimator", FAMILY)
def test_starts_come_from_a_sample_of_many_rows(estimator, monkeypatch):
    # Check against one array and centres drawn from the sample by hand.
    monkeypatch.setattr(_blocks, "START_ROWS", 100)
    seen = []

    def init(rows, n_clusters, random_state):
        seen.append(rows)
        return rows[:n_clusters]

    model = estimator(3, init=init, n_init=2, random_state=0).fit(blocks.open(X, block_rows=9))
    assert len(seen[0]) == 100
    assert all(rows is seen[0] for rows in seen)
    centers = seen[0][:3] + X.mean(axis=0)
    other = estimator(3, init=centers, random_state=0).fit(X)
    assert_array_equal(model.labels_, other.labels_)
    plain = estimator(3, n_init=2, random_state=0)
    again = plain.fit(blocks.open(X), constraints=KNOWN).labels_
    assert_array_equal(plain.fit(blocks.open(X), constraints=KNOWN).labels_, again)


@pytest.mark.parametrize(
    ("value", "said"), [(np.nan, r"NaN \(or nothing\)"), (-np.inf, "infinity")]
)
@pytest.mark.parametrize("estimator", FAMILY)
def test_values_that_are_no_numbers_are_found(estimator, value, said, tmp_path):
    bad = X.copy()
    bad[131, 2] = value
    np.save(tmp_path / "rows.npy", bad)
    rows = blocks.open(tmp_path / "rows.npy", block_rows=20)
    match = rf"rows\.npy: row 131 holds {said} in column 2\. Fill"
    with pytest.raises(ValueError, match=match):
        estimator(3).fit(rows)
    with pytest.raises(ValueError, match=match):
        estimator(3).fit(X).predict(rows)


def test_rows_without_direction_and_huge_values_are_found():
    bad = X.copy()
    bad[77] = 0
    with pytest.raises(ValueError, match="X: row 77 is all zeros.*metric='cosine'"):
        PCKMeans(3, metric="cosine").fit(blocks.open(bad, block_rows=20))
    bad[77] = 1e200
    with pytest.raises(ValueError, match=r"X holds values up to 1e\+200"):
        PCKMeans(3).fit(blocks.open(bad, block_rows=20))


def test_features_are_counted_and_named(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    table = pa.table({name: X[:, i] for i, name in enumerate("abcd")})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    rows = blocks.open(tmp_path / "rows.parquet")
    model = ConstrainedKMeans(3, random_state=0).fit(rows)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert_array_equal(model.predict(table.to_pandas()), model.labels_)
    with pytest.raises(ValueError, match=r"rows\.parquet has .*'b', 'a'.*fitted to 'a', 'b'"):
        model.predict(blocks.open(tmp_path / "rows.parquet", columns=["b", "a", "c", "d"]))
    with pytest.raises(ValueError, match="X has 2 features, but ConstrainedKMeans was fitted to 4"):
        model.predict(blocks.open(X[:, :2]))
    assert not hasattr(model.fit(blocks.open(X)), "feature_names_in_")


def test_who_needs_all_rows_says_so():
    rows = blocks.open(X)
    with pytest.raises(TypeError, match=r"needs all rows at once; COPKMeans.*X\.to_numpy\(\)"):
        GeneralizedKMeans(3).fit(rows)
    with pytest.raises(TypeError, match="`update` needs all rows at once"):
        COPKMeans(3).fit(rows).update(X[:2], Constraints(must_link=[(0, 150)]))


def test_distances_and_score_block_by_block():
    model = PCKMeans(3, random_state=0).fit(X, constraints=KNOWN)
    rows = blocks.open(X, block_rows=20)
    assert_allclose(model.transform(rows), model.transform(X))
    weight = np.arange(len(X)) + 1.0
    assert model.score(rows, sample_weight=weight) == pytest.approx(model.score(X, None, weight))


@pytest.mark.parametrize("how", ["init", "hard"])
def test_known_labels_of_more_rows_than_the_sample_for_the_starts(how):
    generator = np.random.RandomState(0)
    truth = generator.randint(3, size=70_000)
    rows = 8.0 * np.eye(3)[truth] + generator.normal(size=(70_000, 3))
    partial = np.full(70_000, -1)
    partial[-30:] = truth[-30:]
    model = ConstrainedKMeans(3, seeds=how, n_init=1, random_state=0)
    model.fit(blocks.open(rows), partial)
    assert (model.labels_ == truth).mean() > 0.99
