"""MiniBatchConstrainedKMeans: scikit-learn's batches, and statements that reach across them."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

import conclust
from conclust import (
    ConstrainedKMeans,
    Constraints,
    MiniBatchConstrainedKMeans,
    blocks,
    sample_constraints,
)
from conclust.exceptions import ConstraintsIgnoredWarning
from conclust.testing import any_constraints
from tests.oracles import mini_batch as oracle

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 60, random_state=0)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weight", [None, np.random.RandomState(1).uniform(0.5, 2, 150)])
def test_without_statements_it_is_scikit_learns(kind, weight):
    # Also the rows to which starved centres go: the third one has no row in the first batch.
    ours = MiniBatchConstrainedKMeans(3, init=X[[0, 60, 120]], random_state=0)
    plain = MiniBatchKMeans(3, init=X[[0, 60, 120]], n_init=1, random_state=0)
    for start in range(0, 150, 30):
        batch = slice(start, start + 30)
        own = None if weight is None else weight[batch]
        ours.partial_fit(kind(X[batch]), sample_weight=own)
        plain.partial_fit(kind(X[batch]), sample_weight=own)
        assert_allclose(ours.cluster_centers_, plain.cluster_centers_)
    assert ours.n_steps_ == len(ours.history_) == 5
    assert ours.history_[0].n_reassigned > 0
    assert_array_equal(ours.predict(X), plain.predict(X))


def test_one_batch_of_all_rows_is_one_iteration():
    init = X[[0, 60, 120]]
    plain = ConstrainedKMeans(3, init=init, max_iter=1).fit(X)
    model = MiniBatchConstrainedKMeans(3, init=init, max_iter=1).fit(X)
    assert_allclose(model.cluster_centers_, plain.cluster_centers_)
    assert_array_equal(model.labels_, plain.labels_)
    assert model.inertia_ == pytest.approx(plain.inertia_)
    again = MiniBatchConstrainedKMeans(3, init=init).partial_fit(X)
    assert_allclose(again.cluster_centers_, plain.cluster_centers_)


@settings(max_examples=40, deadline=None)
@given(any_constraints(n_samples=14), st.integers(0, 10_000), st.data())
def test_batches_against_the_oracle(known, seed, data):
    # Check labels and centres of each batch, whatever was said, and when.
    generator = np.random.RandomState(seed)
    rows = generator.normal(size=(14, 2))
    weight = generator.choice([0.0, 1.0, 2.5], size=14)
    cuts = sorted(data.draw(st.sets(st.integers(4, 13), max_size=4)))
    weight[[0, *cuts]] = 1.0  # no batch without any
    numbers = generator.permutation(14) if data.draw(st.booleans()) else np.arange(14)
    init = rows[:3] + 0.1
    model = MiniBatchConstrainedKMeans(3, init=init, reassignment_ratio=0)
    slow = oracle.Stream(init)
    said = known.pairwise
    half = np.arange(len(said)) % 2 == 0
    for n, (start, stop) in enumerate(zip([0, *cuts], [*cuts, 14], strict=True)):
        told = said[half if n == 0 else ~half] if n < 2 else None
        here = slice(start, stop)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.partial_fit(
                rows[here], constraints=told, rows=numbers[here], sample_weight=weight[here]
            )
        if told is not None:
            # Passed rows that nobody had named are not kept.
            named = {int(i) for i in np.ravel(slow.pairs)} if slow.pairs else set()
            for row in set(slow.seen) - named:
                del slow.seen[row], slow.weights[row]
            slow.pairs, slow.sign, slow.weight = [], [], []
            pairs = model.constraints_.pairs()
            slow.tell(pairs.pairs.tolist(), pairs.sign.tolist(), pairs.weight.tolist())
        labels = slow.step(rows[here].tolist(), numbers[here].tolist(), weight[here].tolist())
        assert model.labels_.tolist() == labels
        assert_allclose(model.cluster_centers_, slow.centers)


@settings(max_examples=20, deadline=None)
@given(any_constraints(n_samples=12), st.integers(0, 10_000))
def test_what_is_promised_holds_in_fit(known, seed):
    # Check that must-links taken hold and that cannot-links break only where no cluster is left.
    rows = np.random.RandomState(seed).normal(size=(12, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = MiniBatchConstrainedKMeans(3, random_state=0).fit(rows, constraints=known).labels_
    pairs = known.pairs()
    groups, apart = oracle.taken(pairs.pairs.tolist(), pairs.sign, pairs.weight)
    assert all(len({labels[row] for row in group}) == 1 for group in groups.values())
    for i, j in apart:
        if labels[i] == labels[j]:
            near = [
                labels[b if groups[a] is group else a]
                for group in (groups[i], groups[j])
                for a, b in apart
                if groups[a] is group or groups[b] is group
            ]
            assert set(near) == {0, 1, 2}


def test_statements_reach_across_batches():
    far = Constraints(must_link=[(0, 149), (149, 75)], cannot_link=[(149, 140), (20, 1)])
    model = MiniBatchConstrainedKMeans(3, random_state=0).partial_fit(X[:50], constraints=far)
    assert model.report_.counts == {"cannot-link": (1, 1)}  # the other rows are yet to come
    model.partial_fit(X[50:100])
    model.partial_fit(X[100:])
    assert model.report_.n_violated == 0
    assert len(model.report_.kept) == 4
    rows, labels = model.linked_labels()
    assert rows.tolist() == [0, 1, 20, 75, 140, 149]
    assert labels[0] == labels[3] == labels[5] != labels[4]
    assert_array_equal(model.labels_[[40, 49]], labels[[4, 5]])
    assert model.n_rows_seen_ == 150
    broken = MiniBatchConstrainedKMeans(1).partial_fit(X, constraints=far).report_.violated
    assert broken[["a", "b"]].to_numpy().tolist() == [[149, 140], [20, 1]]


def test_rows_may_come_again_under_their_numbers():
    model = MiniBatchConstrainedKMeans(3, random_state=0).partial_fit(X[:100])
    late = Constraints(must_link=[(3, 120)], cannot_link=[(4, 5)])
    with pytest.warns(ConstraintsIgnoredWarning, match=r"3 rows.*not kept.*: 3, 4, 5\. .*rows=\[3"):
        model.partial_fit(X[100:], constraints=late)
    assert len(model.report_.kept) == 0
    model.partial_fit(X[3:6], rows=[3, 4, 5])
    assert model.n_rows_seen_ == 150
    assert len(model.report_.kept) == 2
    assert model.report_.n_violated == 0


def test_heavier_statements_win():
    clash = Constraints([(0, 1), (1, 2)], [(0, 2)], must_link_weight=[1, 2], cannot_link_weight=3)
    labels = MiniBatchConstrainedKMeans(2, random_state=0).fit(X, constraints=clash).labels_
    assert labels[1] == labels[2] != labels[0]


@pytest.mark.parametrize("known", [None, KNOWN], ids=["no statements", "statements"])
@pytest.mark.parametrize("weight", [None, np.random.RandomState(1).uniform(0.5, 2, 150)])
def test_blocks_answer_as_one_array(known, weight, monkeypatch):
    from conclust.cluster import _mini_batch_kmeans as module

    monkeypatch.setattr(module, "AHEAD_ROWS", 100)
    model = MiniBatchConstrainedKMeans(3, batch_size=20, random_state=0)
    model.fit(X, constraints=known, sample_weight=weight)
    assert model.n_steps_ > 10
    for source in (
        blocks.open(X, block_rows=31),
        blocks.open(lambda: np.array_split(X, 4)),
        blocks.open(X.astype(np.float32)),
    ):
        other = MiniBatchConstrainedKMeans(3, batch_size=20, random_state=0)
        other.fit(source, constraints=known, sample_weight=weight)
        assert_array_equal(other.labels_, model.labels_)
        assert_allclose(other.cluster_centers_, model.cluster_centers_, rtol=1e-4)
        assert other.inertia_ == pytest.approx(model.inertia_, rel=1e-4)
        assert other.cluster_centers_.dtype == source.dtype
        assert_array_equal(other.predict(source), model.predict(X))


def test_batches_come_near_to_all_rows():
    rows, truth = make_blobs(20_000, 8, centers=5, cluster_std=3.0, random_state=0)
    known = sample_constraints(truth, 500, random_state=0)
    whole = ConstrainedKMeans(5, n_init=3, random_state=0).fit(rows, constraints=known)
    model = MiniBatchConstrainedKMeans(5, random_state=0).fit(rows, constraints=known)
    assert model.converged_
    assert model.inertia_ < 1.02 * whole.inertia_
    assert model.report_.n_violated == 0
    assert adjusted_rand_score(model.labels_, whole.labels_) > 0.9


def test_far_from_zero_nothing_is_lost():
    here = MiniBatchConstrainedKMeans(3, batch_size=50, random_state=0).fit(X, constraints=KNOWN)
    away = MiniBatchConstrainedKMeans(3, batch_size=50, random_state=0)
    away.fit(X + 1e6, constraints=KNOWN)
    assert_array_equal(away.labels_, here.labels_)
    for start in (0, 50, 100):
        batch = X[start : start + 50]
        here.partial_fit(batch)
        away.partial_fit(batch + 1e6)
    assert_allclose(away.cluster_centers_ - 1e6, here.cluster_centers_, atol=1e-6)


def test_starved_centres_are_put_elsewhere():
    init = np.vstack([X[[0, 60]], np.full((1, 4), 1e3)])
    model = MiniBatchConstrainedKMeans(3, init=init, random_state=0).fit(X, constraints=KNOWN)
    assert model.history_[0].n_reassigned == 1
    assert len(set(model.labels_)) == 3
    with pytest.warns(conclust.exceptions.DegenerateClusteringWarning):
        stays = MiniBatchConstrainedKMeans(3, init=init, reassignment_ratio=0.0).fit(X)
    assert_array_equal(stays.cluster_centers_[2], init[2])


def test_it_stops_when_it_is_told_to():
    few = MiniBatchConstrainedKMeans(3, batch_size=30, max_iter=2, random_state=0).fit(X)
    assert (few.n_steps_, few.n_iter_, few.converged_) == (10, 2, False)
    loose = MiniBatchConstrainedKMeans(3, batch_size=30, tol=1e3, random_state=0).fit(X)
    assert (loose.n_steps_, loose.converged_) == (1, True)
    ever = MiniBatchConstrainedKMeans(3, max_no_improvement=None, max_iter=40).fit(X)
    assert ever.n_steps_ == 40


def test_a_fit_goes_on_with_batches(tmp_path):
    pytest.importorskip("skops")
    model = MiniBatchConstrainedKMeans(3, random_state=0).fit(X[:100])
    model.partial_fit(X[100:120], constraints=Constraints(must_link=[(100, 130)], n_samples=150))
    conclust.save(model, tmp_path / "model.skops")
    again = conclust.load(tmp_path / "model.skops")
    for one in (model, again):
        one.partial_fit(X[120:])
        assert one.report_.n_violated == 0
        assert len(one.report_.kept) == 1
    assert_array_equal(again.labels_, model.labels_)
    assert_allclose(again.cluster_centers_, model.cluster_centers_)


def test_groups_apart_and_relative_statements():
    apart = Constraints.from_groups(apart=np.where(np.arange(150) % 50 == 7, 1, -1))
    model = MiniBatchConstrainedKMeans(3, random_state=0).fit(X, constraints=apart)
    assert model.report_.n_violated == 0
    with pytest.warns(ConstraintsIgnoredWarning, match="1 relative"):
        model.partial_fit(X, constraints=Constraints(relative=[(0, 1, 2)]))


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"constraints": [(0, 1)]}, TypeError, "constraints must be a conclust.Constraints"),
        ({"rows": [1, 2]}, ValueError, r"rows has shape \(2,\).*the batch has 150 rows"),
        ({"rows": X[:, 0]}, ValueError, "type float64.*whole number"),
        ({"rows": np.arange(150) - 1}, ValueError, "rows holds -1"),
        ({"sample_weight": [1]}, ValueError, "sample_weight"),
    ],
)
def test_wrong_batches_are_refused(more, error, said):
    with pytest.raises(error, match=said):
        MiniBatchConstrainedKMeans(3).partial_fit(X, **more)


def test_the_first_batch_must_hold_the_centres_and_blocks_go_to_fit():
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        MiniBatchConstrainedKMeans(3).partial_fit(X[:2])
    with pytest.raises(TypeError, match="one batch at a time: pass it to fit"):
        MiniBatchConstrainedKMeans(3).partial_fit(blocks.open(X))


def test_verbose_tells_of_batches(capsys):
    MiniBatchConstrainedKMeans(3, verbose=1, random_state=0).fit(X)
    assert "MiniBatchConstrainedKMeans: " in capsys.readouterr().err
