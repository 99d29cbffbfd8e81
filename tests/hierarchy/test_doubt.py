"""Relative statements that are doubted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import pairwise_distances

from conclust import Constraints, ReCon, pairwise_f1, sample_constraints
from conclust.exceptions import InconsistentConstraintsError
from conclust.hierarchy import _doubt
from tests.oracles import hierarchy as oracle

IRIS = load_iris(return_X_y=True)


def probabilities(rng, *shape):
    values = rng.gamma(0.5, size=shape) + 1e-6
    return values / values.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_messages_are_sums_over_all_clusters(k):
    others = probabilities(np.random.RandomState(k), 20, 3, k)
    for rate, openness in ((0.1, 1.0), (0.3, 0.2), (0.002, 0.05)):
        slow = oracle.statement_likelihoods(others, (1 - rate, rate / 2, openness / 3))
        np.testing.assert_allclose(_doubt.messages(others, rate, openness), slow, atol=1e-12)


@pytest.mark.parametrize("k", [2, 4])
def test_what_clusters_say_is_a_sum_over_all_of_them(k):
    others = probabilities(np.random.RandomState(k), 20, 3, k)
    np.testing.assert_allclose(_doubt.evidence(others), oracle.said_by_clusters(others), atol=1e-12)


def test_open_by_chance_is_what_the_oracle_counts():
    share = np.array([0.5, 0.3, 0.2])
    slow = oracle.said_by_clusters(np.tile(share, (1, 3, 1)))[0, 3]
    assert _doubt.open_by_chance(share) == pytest.approx(slow)


@pytest.mark.parametrize("cells", [1 << 20, 20])
def test_densities_without_a_row_are_those_fitted_again(cells, monkeypatch):
    monkeypatch.setattr(_doubt, "CELLS", cells)
    rng = np.random.RandomState(0)
    X = rng.normal(size=(30, 4))
    X -= X.mean(axis=0)
    share = probabilities(rng, 30, 3)
    slow = oracle.log_densities_without(X, share, 1.2)
    fast = _doubt.log_densities_without(X, share, 1.2)
    np.testing.assert_allclose(fast, slow, rtol=1e-8)


def test_a_cluster_of_one_row_and_an_empty_one_have_densities():
    X = np.array([[-3.0], [-1.0], [1.0], [3.0]])
    share = np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]])
    assert np.isfinite(_doubt.log_densities_without(X, share, 0.3)).all()


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("noise", [0.05, 0.2])
def test_the_share_of_flipped_statements_is_found(load, noise):
    X, y = load(return_X_y=True)
    known = sample_constraints(y, n_relative=len(y), noise=noise, random_state=0)
    model = ReCon(3, flip_rate="auto").fit(X, constraints=known)
    flipped = known.provenance["flipped"].astype(bool)
    assert model.flip_rate_ == pytest.approx(noise, abs=0.02)
    assert flipped[model.doubt_ > 0.5].mean() > 0.9
    assert (model.doubt_[flipped] > 0.5).mean() > 0.8
    before = ReCon(3, on_conflict="repair").fit(X, constraints=known)
    assert pairwise_f1(y, model.labels_) > pairwise_f1(y, before.labels_) + 0.05


def test_statements_that_are_all_right_are_all_believed():
    X, y = IRIS
    known = sample_constraints(y, n_relative=len(y), random_state=1)
    model = ReCon(3, flip_rate="auto").fit(X, constraints=known)
    assert model.flip_rate_ < 0.01
    assert model.doubt_.max() < 0.2
    assert len(model.dropped_) == len(model.turned_) == 0
    np.testing.assert_array_equal(model.labels_, ReCon(3).fit(X, constraints=known).labels_)


def test_a_turned_statement_stands_in_the_place_of_a_doubtful_one():
    X, y = IRIS
    known = sample_constraints(y, n_relative=len(y), noise=0.1, random_state=2)
    model = ReCon(3, flip_rate=0.1).fit(X, constraints=known)
    assert model.flip_rate_ == 0.1
    a, b, c = y[model.turned_.relative].T
    assert len(model.turned_) > 5
    assert ((a == b) & (a != c)).mean() > 0.9
    given_samples = {frozenset(row) for row in model.dropped_.relative.tolist()}
    assert {frozenset(row) for row in model.turned_.relative.tolist()} <= given_samples
    assert len(model.constraints_) == len(known) - len(model.dropped_) + len(model.turned_)
    assert model.constraints_.satisfied(model.labels_).all()
    assert model.constraints_.satisfied_by(model.linkage_matrix()).all()


def test_suspects_are_sorted_and_numbered_as_given():
    X, y = IRIS
    known = sample_constraints(y, 20, n_relative=150, noise=0.1, random_state=0)
    model = ReCon(3, flip_rate="auto", on_conflict="repair").fit(X, constraints=known)
    table = model.suspects(15)
    assert (np.diff(table["doubt"]) <= 0).all()
    assert (table["type"] == "relative").all()
    np.testing.assert_array_equal(table["doubt"], model.doubt_[table["statement"]])
    assert table["flipped"].astype(bool).mean() > 0.8
    assert (model.doubt_[known.kinds != "relative"] == 0).all()


def test_without_a_flip_rate_nothing_is_doubted():
    X, y = IRIS
    known = sample_constraints(y, n_relative=150, noise=0.1, random_state=0)
    model = ReCon(3, on_conflict="repair").fit(X, constraints=known)
    assert model.flip_rate_ == 0
    assert not model.doubt_.any()
    assert len(model.turned_) == 0
    assert len(model.suspects(4)) == 4


@pytest.mark.parametrize(
    ("metric", "linkage"), [("precomputed", "average"), ("cityblock", "complete")]
)
def test_other_distances_are_judged_by_neighbors(metric, linkage):
    X, y = IRIS
    known = sample_constraints(y, n_relative=150, noise=0.1, random_state=0)
    rows = pairwise_distances(X) if metric == "precomputed" else X
    model = ReCon(3, metric=metric, linkage=linkage, flip_rate="auto").fit(rows, constraints=known)
    flipped = known.provenance["flipped"].astype(bool)
    assert flipped[model.doubt_ > 0.5].mean() > 0.9
    assert model.flip_rate_ == pytest.approx(0.1, abs=0.03)


def test_statements_inside_a_cluster_are_not_doubted():
    rng = np.random.RandomState(0)
    fine = np.repeat(np.arange(4), 20)
    X = rng.normal(size=(80, 3)) + 8 * (fine // 2)[:, None] + 2 * (fine % 2)[:, None]
    sampled = [
        sample_constraints(fine[half], n_relative=40, random_state=0).relative + 40 * at
        for at, half in enumerate((slice(0, 40), slice(40, 80)))
    ]
    known = Constraints(relative=np.concatenate(sampled), n_samples=80)
    model = ReCon(2, flip_rate="auto").fit(X, constraints=known)
    assert len(model.dropped_) == 0


def test_order_of_samples_does_not_matter():
    X, y = IRIS
    known = sample_constraints(y, n_relative=150, noise=0.1, random_state=0)
    order = np.random.RandomState(0).permutation(150)
    rank = np.argsort(order)
    moved = Constraints(relative=rank[known.relative], n_samples=150)
    one = ReCon(3, flip_rate="auto").fit(X, constraints=known)
    two = ReCon(3, flip_rate="auto").fit(X[order], constraints=moved)
    assert two.flip_rate_ == pytest.approx(one.flip_rate_, abs=1e-6)
    np.testing.assert_allclose(two.doubt_, one.doubt_, atol=1e-6)


def test_only_ratios_of_weights_count():
    X, y = IRIS
    known = sample_constraints(y, n_relative=150, noise=0.1, random_state=0)
    heavy = Constraints(relative=known.relative, relative_weight=np.full(150, 7.0), n_samples=150)
    one = ReCon(3, flip_rate="auto").fit(X, constraints=known)
    two = ReCon(3, flip_rate="auto").fit(X, constraints=heavy)
    np.testing.assert_allclose(two.doubt_, one.doubt_, atol=1e-9)


triples = st.lists(st.integers(0, 11), min_size=3, max_size=3, unique=True)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(triples, max_size=40),
    st.sampled_from(["auto", 0.05, 0.3]),
    st.integers(1, 4),
    st.booleans(),
)
def test_any_triplets_are_taken(rows, flip_rate, k, flat):
    X = np.zeros((12, 2)) if flat else np.random.RandomState(0).normal(size=(12, 2))
    known = Constraints(relative=np.reshape(rows, (-1, 3)).astype(int), n_samples=12)
    model = ReCon(k, flip_rate=flip_rate).fit(X, constraints=known)
    assert ((model.doubt_ >= 0) & (model.doubt_ <= 1)).all()
    assert len(model.doubt_) == len(known)
    assert 0 <= model.flip_rate_ < 0.5
    assert len(np.unique(model.labels_)) == k
    assert model.constraints_.satisfied(model.labels_).all()
    assert (np.diff(model.suspects(40)["doubt"]) <= 0).all()


@settings(deadline=None, max_examples=40)
@given(st.lists(triples, max_size=20), st.integers(1, 4))
def test_a_flip_rate_of_0_is_none(rows, k):
    X = np.random.RandomState(0).normal(size=(12, 2))
    known = Constraints(relative=np.reshape(rows, (-1, 3)).astype(int), n_samples=12)
    one = ReCon(k, on_conflict="repair").fit(X, constraints=known)
    two = ReCon(k, on_conflict="repair", flip_rate=0.0).fit(X, constraints=known)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.constraints_ == known.repaired()


def test_few_statements_are_believed_by_auto():
    X, y = IRIS
    known = sample_constraints(y, n_relative=19, noise=0.5, random_state=0)
    model = ReCon(3, flip_rate="auto").fit(X, constraints=known)
    assert model.flip_rate_ == 0
    assert not model.doubt_.any()


def test_pairs_that_contradict_each_other_are_still_said():
    X, _ = IRIS
    known = Constraints([(0, 1)], [(0, 1)], [(2, 3, 4)])
    with pytest.raises(InconsistentConstraintsError):
        ReCon(3, flip_rate=0.1).fit(X, constraints=known)


def test_clusters_are_needed_to_judge_by():
    with pytest.raises(ValueError, match="n_clusters=None"):
        ReCon(None, flip_rate="auto").fit(IRIS[0], constraints=Constraints(relative=[(0, 1, 2)]))
