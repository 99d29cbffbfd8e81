"""Single moves against objectives written out, from labels alone."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conclust import Constraints
from conclust._lloyd import exact_moves
from conclust._lloyd.exact_moves import NO_GROUPS, ExactMoves, Statements, parts_of
from conclust._lloyd.rows import open_rows
from conclust._pairs import Graph
from conclust._placement.links import link_rows
from conclust._placement.units import units_of
from conclust.testing import any_constraints, consistent_constraints
from tests.oracles.exact_moves import least_after_one_move, least_within_sizes, objective

N, K = 12, 3


def data(seed, weighted):
    random = np.random.RandomState(seed)
    X = np.round(random.normal(size=(N, 2)), random.choice([0, 1, 8]))
    weight = random.choice([0.0, 0.5, 1.0, 3.0], size=N) if weighted else np.ones(N)
    return X, weight, random


def soft_parts(links, price, weight):
    slots = np.arange(len(links.rows))
    statements = Statements(links.rows, slots, links.graph, links.sign, price)
    return parts_of(statements, links.groups, weight)


def moved(X, weight, parts, labels, vertex_labels, container=np.asarray, bounds=None):
    """Labels, vertex labels and centres after the moves, and how many there were."""
    linked = parts.statements.rows
    with open_rows(container(X), K, sample_weight=weight, linked=linked) as rows:
        rows.labels = labels.copy()
        moves = ExactMoves(rows, parts, X.shape[1], bounds=bounds)
        vertex_labels = vertex_labels.copy()
        centers, n_moves = moves(moves.means(np.zeros((K, X.shape[1]))), vertex_labels)
        return rows.labels, vertex_labels, centers, n_moves


def check_means(X, weight, labels, centers):
    for cluster in range(K):
        inside = labels == cluster
        if weight[inside].sum() > 0:
            mean = np.average(X[inside], axis=0, weights=weight[inside])
            assert_allclose(centers[cluster], mean, atol=1e-8)


@settings(max_examples=60)
@given(any_constraints(n_samples=N, max_pairs=10), st.integers(0, 10_000), st.booleans())
def test_soft_moves_end_where_none_pays(known, seed, weighted):
    # Check by the objective of the labels: it falls, and no row and no component can better it.
    X, weight, random = data(seed, weighted)
    links = link_rows(known.pairwise)
    price = links.weight * random.choice([0.0, 0.3, 2.0])
    labels = random.randint(K, size=N).astype(np.int32)
    parts = soft_parts(links, price, weight)
    after, of_vertices, centers, n_moves = moved(X, weight, parts, labels, labels[links.rows])
    pairs = links.rows[links.pairs]
    told = (pairs, links.sign, price)
    reached = objective(X, weight, after, *told)
    before = objective(X, weight, labels, *told)
    assert reached < before if n_moves else reached == before
    starts, members = links.groups
    groups = [links.rows[members[a:b]] for a, b in itertools.pairwise(starts)]
    single = [np.array([i]) for i in range(N)]
    least = least_after_one_move(X, weight, after, K, *told, groups + single)
    assert least > reached - 1e-9 * (1 + before)
    assert_array_equal(of_vertices, after[links.rows])
    check_means(X, weight, after, centers)


@settings(max_examples=60)
@given(consistent_constraints(n_samples=N, n_classes=K, max_pairs=15), st.integers(0, 10_000))
def test_hard_moves_break_nothing(case, seed):
    # Check that units move whole and none to where a cannot-link forbids it, nor stays for nothing.
    known, truth = case
    X, weight, _ = data(seed, weighted=True)
    rows, unit, graph = units_of(known.closure(N))
    links = Graph(graph.indptr, graph.indices, np.zeros(len(graph.indices), np.int64))
    told = Statements(rows, unit, links, np.full(1, -1, np.int8), np.full(1, np.inf))
    parts = parts_of(told, NO_GROUPS, weight)
    labels = np.asarray(truth).astype(np.int32)
    of_units = np.empty(graph.n_units, np.int64)
    of_units[unit] = labels[rows]
    after, of_units, centers, _ = moved(X, weight, parts, labels, of_units)
    assert known.satisfied(after).all()
    assert_array_equal(of_units[unit], after[rows])
    pairs, sign, *_ = known.pairs()
    told = (pairs, sign, np.full(len(pairs), 1e6))
    wholes = [rows[unit == u] for u in range(graph.n_units)]
    wholes += [np.array([i]) for i in np.setdiff1d(np.arange(N), rows)]
    reached = objective(X, weight, after, *told)
    assert reached <= objective(X, weight, labels, *told) + 1e-9
    assert least_after_one_move(X, weight, after, K, *told, wholes) > reached - 1e-8
    check_means(X, weight, after, centers)


def hard_parts(known, weight):
    """Units that must not break a cannot-link, and the rows of each part."""
    rows, unit, graph = units_of(known.closure(N))
    links = Graph(graph.indptr, graph.indices, np.zeros(len(graph.indices), np.int64))
    told = Statements(rows, unit, links, np.full(1, -1, np.int8), np.full(1, np.inf))
    wholes = [rows[unit == u] for u in range(graph.n_units)]
    wholes += [np.array([i]) for i in np.setdiff1d(np.arange(N), rows)]
    return parts_of(told, NO_GROUPS, weight), wholes


@settings(max_examples=40)
@given(
    consistent_constraints(n_samples=N, n_classes=K, max_pairs=12),
    st.integers(0, 10_000),
    st.booleans(),
)
def test_hard_swaps_keep_sizes_and_statements(case, seed, weighted):
    # Check that neither a move nor a swap within the sizes is left that would pay.
    known, truth = case
    X, _, random = data(seed, weighted=False)
    weight = random.choice([1.0, 2.0], size=N) if weighted else np.ones(N)
    labels = np.asarray(truth).astype(np.int32)
    sizes = np.bincount(labels, weight, K)
    bounds = sizes - random.choice([0.1, 1.1]), sizes + random.choice([0.1, 1.1])
    parts, wholes = hard_parts(known, weight)
    of_units = labels[[part[0] for part in wholes[: parts.statements.vertex.max(initial=-1) + 1]]]
    after, *_, centers, n_moves = moved(X, weight, parts, labels, of_units, bounds=bounds)
    assert known.satisfied(after).all()
    reached_sizes = np.bincount(after, weight, K)
    assert (reached_sizes >= bounds[0]).all()
    assert (reached_sizes <= bounds[1]).all()
    pairs, sign, *_ = known.pairs()
    told = (pairs, sign, np.full(len(pairs), 1e6))
    reached, before = (objective(X, weight, each, *told) for each in (after, labels))
    assert reached < before if n_moves else reached == before
    least = least_within_sizes(X, weight, after, K, *told, wholes, bounds)
    assert least > reached - 1e-9 * (1 + before)
    check_means(X, weight, after, centers)


@settings(max_examples=40)
@given(any_constraints(n_samples=N, max_pairs=8), st.integers(0, 10_000))
def test_soft_swaps_count_prices_and_keep_sizes(known, seed):
    # Check with sizes that are met exactly: only swaps of parts of equal size are left.
    X, weight, random = data(seed, weighted=False)
    links = link_rows(known.pairwise)
    price = links.weight * random.choice([0.0, 0.3, 2.0])
    labels = random.permutation(np.arange(N) % K).astype(np.int32)
    sizes = np.bincount(labels, minlength=K)
    bounds = sizes - 0.5, sizes + 0.5
    parts = soft_parts(links, price, weight)
    after, of_vertices, centers, _ = moved(
        X, weight, parts, labels, labels[links.rows], bounds=bounds
    )
    assert_array_equal(np.sort(after), np.sort(labels))
    assert_array_equal(of_vertices, after[links.rows])
    told = (links.rows[links.pairs], links.sign, price)
    reached = objective(X, weight, after, *told)
    starts, members = links.groups
    groups = [links.rows[members[a:b]] for a, b in itertools.pairwise(starts)]
    single = [np.array([i]) for i in range(N)]
    least = least_within_sizes(X, weight, after, K, *told, groups + single, bounds)
    assert reached <= objective(X, weight, labels, *told)
    assert least > reached - 1e-9 * (1 + reached)
    check_means(X, weight, after, centers)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_blocks_and_containers_do_not_matter(container, monkeypatch):
    X, weight, random = data(5, weighted=True)
    links = link_rows(known_pairs())
    labels = random.randint(K, size=N).astype(np.int32)
    case = X, weight, soft_parts(links, 0.1 * links.weight, weight), labels, labels[links.rows]
    expected = moved(*case)
    assert expected[3] > 0
    assert_array_equal(moved(*case, container)[0], expected[0])
    monkeypatch.setattr(exact_moves, "BLOCK", 6)
    told = (links.rows[links.pairs], links.sign, 0.1 * links.weight)
    after = moved(*case, container)[0]
    assert objective(X, weight, after, *told) < objective(X, weight, labels, *told)
    single = [np.array([i]) for i in range(N)]
    least = least_after_one_move(X, weight, after, K, *told, single)
    assert least > objective(X, weight, after, *told) - 1e-9


def test_kernel_compiled_and_plain(monkeypatch):
    X, weight, random = data(8, weighted=False)
    links = link_rows(known_pairs())
    labels = random.randint(K, size=N).astype(np.int32)
    case = X, weight, soft_parts(links, 0.1 * links.weight, weight), labels, labels[links.rows]
    sizes = np.bincount(labels, minlength=K)
    for bounds in (None, (sizes - 0.5, sizes + 0.5)):
        answers = []
        for way in (lambda kernel, _: kernel, lambda kernel, _: kernel.py_func):
            monkeypatch.setattr(exact_moves, "short", way)
            answers.append(moved(*case, bounds=bounds))
        assert_array_equal(answers[0][0], answers[1][0])
        assert answers[0][3] == answers[1][3] > 0


def test_batch_steps_stay_where_a_single_move_pays():
    # Check with 0, 1, 3.9 | 7: 3.9 is nearer to the mean of the first three than to 7, but 7's
    # cluster comes towards it.
    X = np.array([[0.0], [1.0], [3.9], [7.0]])
    nothing = Statements(
        np.empty(0, np.int64),
        np.empty(0, np.int64),
        Graph(np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)),
        np.empty(0, np.int8),
        np.empty(0),
    )
    parts = parts_of(nothing, NO_GROUPS, np.ones(4))
    labels = np.array([0, 0, 0, 1], np.int32)
    with open_rows(X, 2) as rows:
        rows.labels = labels
        moves = ExactMoves(rows, parts, 1)
        centers, n_moves = moves(moves.means(np.zeros((2, 1))), np.empty(0, np.int32))
    assert n_moves == 1
    assert labels.tolist() == [0, 0, 1, 1]
    assert_allclose(centers, [[0.5], [5.45]])


def known_pairs():
    return Constraints(must_link=[(0, 1), (1, 2), (7, 8)], cannot_link=[(0, 3), (4, 5), (8, 9)])
