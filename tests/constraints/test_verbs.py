"""Decisions as verbs: few statements that make them so."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from conclust import Constraints, COPKMeans, PCKMeans
from conclust.exceptions import InvalidConstraintsError
from conclust.testing import any_constraints

LABELS = np.repeat([0, 1, 2], [40, 60, 25])
X = np.arange(125.0)[:, np.newaxis] ** 2

some_rows = st.lists(st.integers(0, 9), min_size=2, max_size=6, unique=True)


@given(any_constraints(n_samples=10), some_rows)
def test_together_makes_one_unit(known, rows):
    # Check that the rows are joined, that no cannot-link is left within their unit, and that
    # everything else is as it was.
    told = known.together(rows)
    unit = told[told.kinds == "must-link"].closure().component
    assert len(set(unit[rows])) == 1
    a, b = unit[told.cannot_link].T
    assert not ((a == b) & (a == unit[rows[0]])).any()
    assert len(told.must_link) <= len(known.must_link) + len(rows) - 1
    assert len(told.cannot_link) + len(told.dropped) == len(known.cannot_link)


@given(any_constraints(n_samples=10), some_rows)
def test_apart_parts_every_two(known, rows):
    told = known.apart(rows)
    pairs = told.pairs()
    said = {frozenset(p) for p in pairs.pairs[pairs.sign < 0].tolist()}
    assert {frozenset((a, b)) for a in rows for b in rows if a != b} <= said
    assert not np.isin(told.must_link, rows).all(axis=1).any()
    assert len(told.must_link) + len(told.dropped) == len(known.must_link)
    assert len(told) <= len(known) + 1


def test_apart_from_others():
    known = Constraints([(0, 5), (0, 1), (5, 6)]).apart([0, 1], [5, 6], weight=2.0)
    assert known.cannot_link.tolist() == [[0, 5], [0, 6], [1, 5], [1, 6]]
    assert known.must_link.tolist() == [[0, 1], [5, 6]]
    assert known.dropped.must_link.tolist() == [[0, 5]]
    assert (known.cannot_link_weight == 2).all()


def test_a_decision_about_nothing_says_nothing():
    known = Constraints([(0, 1)])
    for rows in ([], [3], [3, 3]):
        assert known.together(rows) == known
        assert known.apart(rows) == known


def test_rows_by_name():
    import pandas as pd

    links = pd.DataFrame({"a": ["ann"], "b": ["cid"], "type": ["same"]})
    known = Constraints.from_frame(links, ids=["ann", "bob", "cid", "dan"])
    assert known.together(["bob", "dan"]).must_link.tolist() == [[0, 2], [1, 3]]
    assert known.apart(["ann", "cid"]).dropped.must_link.tolist() == [[0, 2]]


def test_merging_joins_typical_rows():
    known = Constraints().merge(0, 1, LABELS, X)
    links = known.must_link
    assert known.n_samples == 125
    assert (LABELS[links[:, 0]] != LABELS[links[:, 1]]).all()  # each from one to the other
    assert len(np.unique(links)) == len(links) + 1 == 13 + 16  # a tree: none could be spared
    assert len(np.unique(known.closure().component[np.unique(links)])) == 1


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_typical_rows_lead_from_the_middle_to_the_edge(make):
    known = Constraints().merge(0, 1, LABELS, make(X), n_rows=3)
    for cluster in (0, 1):
        rows = np.flatnonzero(cluster == LABELS)
        outwards = rows[np.argsort(np.abs(X[rows, 0] - X[rows].mean()))]
        named = outwards[[0, (len(rows) - 1) // 2, -1]]
        assert set(known.must_link[LABELS[known.must_link] == cluster]) == set(named)


def test_the_number_of_statements_grows_slowly():
    counts = [len(Constraints().merge(0, 1, np.arange(n) % 2)) for n in (200, 20_000)]
    assert counts == [39, 399]
    assert len(Constraints().merge(0, 1, np.arange(200) % 2, n_rows=200)) == 199


def test_drawn_rows_are_the_same_each_time():
    assert Constraints().merge(0, 1, LABELS) == Constraints().merge(0, 1, LABELS)
    other = Constraints().merge(0, 1, LABELS, random_state=1)
    assert Constraints().merge(0, 1, LABELS) != other


def test_the_newest_word_counts():
    # Check that what held and would no longer is left out, and nothing else.
    known = Constraints(must_link=[(0, 1), (0, 50)], cannot_link=[(0, 41), (0, 110), (2, 3)])
    merged = known.merge(0, 1, LABELS)
    assert merged.dropped.cannot_link.tolist() == [[0, 41]]
    assert merged.cannot_link.tolist() == [[0, 110], [2, 3]]
    split = known.split(0, LABELS, rows=[1, 5, 6, 7])
    assert split.dropped.must_link.tolist() == [[0, 1]]
    assert [0, 50] in split.must_link.tolist()
    twice = merged.split(0, LABELS, rows=[1])
    assert len(twice.dropped) == 2


def test_splitting_by_rows_and_by_halves():
    for known in (
        Constraints().split(1, LABELS, rows=np.arange(70, 300)),
        Constraints().split(1, LABELS, X),
    ):
        component = known.closure().component
        a, b = known.cannot_link.T
        assert len(set(component[a])) == len(set(component[b])) == 1
        assert component[a[0]] != component[b[0]]
        assert (LABELS[known.samples] == 1).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.merge(0, 7, LABELS), r"Cluster 7 has no row in labels; .* 0, 1, 2\."),
        (lambda c: c.merge(1, 1, LABELS), "both 1; name two"),
        (lambda c: c.merge(0, 1, LABELS, X[:5]), r"X has shape \(5, 1\), but labels has 125"),
        (lambda c: c.split(0, LABELS), "pass X, .* or `rows`"),
        (lambda c: c.split(0, LABELS, rows=[99]), "40 rows, of which 0 would leave"),
        (lambda c: c.split(0, [0, 1, 1], [[1], [2], [3]]), "1 rows, of which 0 would leave"),
        (lambda c: c.together("ann"), "rows must be a sequence of rows; got 'ann'"),
        (lambda c: c.together([0, -1]), "rows: positions count from 0"),
        (lambda c: c.apart([0, 1.5]), "rows: positions are whole numbers"),
        (lambda c: c.apart([[0, 1]]), r"rows has shape \(1, 2\)"),
        (lambda c: c.on(5).together([0, 5]), "rows: there are only 5 samples"),
        (lambda c: c.together([0, 1], weight=0), "must be positive"),
        (lambda c: c.apart([0, 1, 2], weight=-1), "weight must be positive"),
        (lambda c: c.from_piles([[0, 1], [1]]), "no row can lie in two piles; found 1"),
    ],
)
def test_what_cannot_be_decided(call, message):
    with pytest.raises(InvalidConstraintsError, match=message):
        call(Constraints())


@pytest.mark.parametrize(
    ("piles", "n_must", "n_cannot"),
    [
        ([[7, 8, 9]], 2, 0),
        ([[7, 8], [9]], 1, 1),
        ([[7, 9], [8]], 1, 1),
        ([[8, 9], [7]], 1, 1),
        ([[7], [8], [9]], 0, 3),
    ],
)
def test_the_five_outcomes_of_a_triple(piles, n_must, n_cannot):
    # Check against the truth for each two rows: in one pile, or not.
    known = Constraints.from_piles(piles)
    assert (len(known.must_link), len(known.cannot_link)) == (n_must, n_cannot)
    pile_of = {row: number for number, pile in enumerate(piles) for row in pile}
    pairs = [(7, 8), (7, 9), (8, 9)]
    truth = [1 if pile_of[a] == pile_of[b] else -1 for a, b in pairs]
    assert known.closure().implied(pairs).tolist() == truth


@pytest.mark.parametrize("estimator", [COPKMeans, PCKMeans])
@pytest.mark.parametrize("seed", range(3))
def test_a_merge_survives_a_second_run(estimator, seed):
    # Check that two of four clear clusters come out as one, and the others as they were.
    centers = [[0, 0], [6, 0], [0, 30], [30, 0]]
    rows, truth = make_blobs([80, 60, 70, 50], centers=centers, random_state=seed)
    known = Constraints().merge(0, 1, truth, rows)
    found = estimator(3, random_state=seed).fit(rows, constraints=known).labels_
    assert len(set(found[truth < 2])) == 1
    assert len(set(zip(truth[truth > 1], found[truth > 1], strict=True))) == 2


@pytest.mark.parametrize("estimator", [COPKMeans, PCKMeans])
def test_a_split_survives_a_second_run(estimator):
    rows, truth = make_blobs([80, 60, 70], centers=[[0, 0], [6, 0], [0, 30]], random_state=0)
    two = np.array([0, 0, 1])[truth]
    known = Constraints().split(0, two, rows)
    found = estimator(3, random_state=0).fit(rows, constraints=known).labels_
    assert len(set(zip(truth, found, strict=True))) == 3


@pytest.mark.parametrize(
    ("decide", "message"),
    [
        (lambda known: known.merge(0, 1, LABELS, X, n_rows=0), "n_rows=0 must be a whole number"),
        (lambda known: known.merge(0, 1, LABELS, X, n_rows=2.5), "n_rows=2.5 must be a whole"),
        (lambda known: known.merge(1, -1, np.where(LABELS, LABELS, -1)), "-1 in labels marks rows"),
        (lambda known: known.split(-1, np.where(LABELS, LABELS, -1), X), "-1 in labels marks rows"),
        (lambda known: known.merge(0, 1, LABELS, X * np.nan), "X holds NaN"),
        (lambda known: known.apart([1, 2], [2, 3]), "rows and others both hold 2"),
        (lambda known: known.together(LABELS == 0), r"np.flatnonzero\(mask\)"),
    ],
)
def test_traps_are_named(decide, message):
    with pytest.raises(InvalidConstraintsError, match=message):
        decide(Constraints())
