"""The seam: rows from another source run through the loops of k-means unchanged."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.metrics import euclidean_distances

from conclust import Constraints, sample_constraints
from conclust._lloyd.rows import open_rows
from conclust._lloyd.start import centered
from conclust._lloyd.sweep import Assigned, NearestCenters
from conclust._placement.links import link_rows
from conclust._placement.units import units_of
from conclust.cluster import constrained_kmeans, pckmeans
from conclust.cluster._cop_kmeans import HardLloyd, cop_kmeans

X, y = load_iris(return_X_y=True)
X = centered(X).X
KNOWN = sample_constraints(y, 60, random_state=0)
WEIGHT = np.random.RandomState(0).uniform(0.5, 2, len(X))


class TwoBlocks:
    """Rows that lie in two arrays, as they would in two files."""

    def __init__(self, X, cut):
        self.blocks = [X[:cut].copy(), X[cut:].copy()]
        self.shape, self.dtype = X.shape, X.dtype

    def open_rows(self, n_clusters, *, sample_weight, linked, all_distances, spherical, n_threads):
        return OpenBlocks(self, n_clusters, sample_weight, linked)


class OpenBlocks:
    """The verbs, block after block, in plain numpy: whatever is needed is looked up again."""

    is_small = False

    def __init__(self, source, n_clusters, sample_weight, linked):
        self.blocks, self.n_clusters = source.blocks, n_clusters
        self.weight = np.ones(source.shape[0]) if sample_weight is None else sample_weight
        self.linked = np.empty(0, np.int64) if linked is None else linked
        self.forget()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def forget(self):
        self.labels = np.full(len(self.weight), -1, np.int32)

    def fingerprint(self):
        return hash(self.labels.tobytes())

    def sweep(self, centers):
        squared = np.concatenate(
            [euclidean_distances(block, centers, squared=True) for block in self.blocks]
        )
        self.before = self.labels
        self.labels = squared.argmin(axis=1).astype(np.int32)
        self.distances = squared[self.linked]
        ranked = np.argsort(self.distances, axis=1, kind="stable").astype(np.int32)
        self.nearest = ranked[:, 0].copy()
        self.second = ranked[:, min(1, self.n_clusters - 1)].copy()
        self.nearest_distance = self.distances.min(axis=1)
        return Assigned(int((self.labels != self.before).sum()), self.inertia(centers))

    def add(self, placed, centers):
        swept, inertia = self.labels, self.inertia(centers)
        self.labels = swept.copy()
        self.labels[self.linked] = placed
        changed = (self.labels != self.before).sum() - (swept != self.before).sum()
        return Assigned(int(changed), self.inertia(centers) - inertia)

    def move(self, i, cluster):
        self.labels[i] = cluster

    def means(self, centers, *, refill=True):
        labels = self.labels.copy()
        if refill:
            farthest = np.argsort(-self.distances_to_own(centers), kind="stable")
            empty = np.setdiff1d(np.arange(self.n_clusters), labels)
            labels[farthest[: len(empty)]] = empty
        means = centers.copy()
        for cluster in np.unique(labels):
            rows = np.flatnonzero(labels == cluster)
            means[cluster] = np.average(
                [self.row(i) for i in rows], axis=0, weights=self.weight[rows]
            )
        return means

    def inertia(self, centers):
        return float(self.weight @ self.distances_to_own(centers))

    def distances_to_own(self, centers):
        return ((np.concatenate(self.blocks) - centers[self.labels]) ** 2).sum(axis=1)

    def sums(self, rows, part, n_parts):
        rows = np.arange(len(self.weight)) if rows is None else rows
        sums = np.zeros((n_parts, self.blocks[0].shape[1]))
        for i, p in zip(rows, part, strict=True):
            sums[p] += self.weight[i] * self.row(i)
        return sums

    def squared_distances(self, points):
        start = 0
        for block in self.blocks:
            yield start, start + len(block), euclidean_distances(block, points, squared=True)
            start += len(block)

    def row(self, i):
        first, second = self.blocks
        return first[i] if i < len(first) else second[i - len(first)]

    @property
    def total_norm(self):
        return sum(float((block**2).sum()) for block in self.blocks)

    @property
    def n_free_changed(self):
        free = np.setdiff1d(np.arange(len(self.labels)), self.linked)
        return int((self.labels[free] != self.before[free]).sum())

    @property
    def all_filled(self):
        return len(np.unique(self.labels)) == self.n_clusters


def cop(rows, known, centers, weight):
    return cop_kmeans(rows, units_of(known.closure(len(X))), centers, sample_weight=weight)


def pck(rows, known, centers, weight):
    return pckmeans(rows, link_rows(known), 0.3, centers, sample_weight=weight)


def in_given_order(rows, known, centers, weight):
    pairs, sign, *_ = known.pairs()
    return constrained_kmeans(rows, pairs, sign, None, centers, sample_weight=weight)


def in_random_orders(rows, known, centers, weight):
    pairs, sign, *_ = known.pairs()
    return constrained_kmeans(
        rows, pairs, sign, None, centers, sample_weight=weight, order="random", random_state=0
    )


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("known", [Constraints(), KNOWN], ids=["no statements", "statements"])
@pytest.mark.parametrize("loop", [cop, pck, in_given_order, in_random_orders])
def test_loops_run_on_any_rows(loop, known, weight):
    known = known.on(len(X))
    blocks, whole = (loop(rows, known, X[[0, 60, 120]], weight) for rows in (TwoBlocks(X, 70), X))
    assert_array_equal(blocks.labels, whole.labels)
    assert_allclose(blocks.centers, whole.centers)
    assert blocks.inertia == pytest.approx(whole.inertia)
    assert [r.n_changed for r in blocks.history] == [r.n_changed for r in whole.history]


@pytest.mark.parametrize("loop", [pck, in_given_order])
def test_empty_clusters_are_filled_on_any_rows(loop):
    # Check with a centre far from all rows, which nothing but the filling can bring back.
    centers = np.vstack([X[[0, 60]], np.full((1, 4), 100.0)])
    known = Constraints(must_link=[(0, 1), (70, 120)]).on(len(X))
    blocks, whole = (loop(rows, known, centers, None) for rows in (TwoBlocks(X, 10), X))
    assert_array_equal(blocks.labels, whole.labels)
    assert len(np.unique(whole.labels)) == 3


def test_arrays_are_opened_as_they_are():
    with open_rows(X, np.int8(3)) as rows:
        assert isinstance(rows, NearestCenters)
        assert rows.X is X


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_moving_a_row_changes_labels_and_means(kind, weight):
    # Check against means computed anew, where a cluster runs empty and stays where it was.
    centers = np.vstack([X[[0, 120]], X[[41]] - 100.0])
    w = np.ones(len(X)) if weight is None else weight
    with open_rows(kind(X), 3, sample_weight=weight, linked=np.array([3, 5])) as rows:
        rows.sweep(centers)
        assert_allclose(rows.means(centers, refill=False)[2], centers[2])
        rows.move(7, 2)
        rows.move(100, 2)
        rows.move(7, 1)
        assert rows.labels[[7, 100]].tolist() == [1, 2]
        expected = [
            np.average(X[rows.labels == c], axis=0, weights=w[rows.labels == c]) for c in range(3)
        ]
        assert_allclose(rows.means(centers, refill=False), expected)
        assert_allclose(rows.total_norm, w @ (X**2).sum(axis=1))
        assert_allclose(rows.row(100), X[100])
        own = ((X - centers[rows.labels]) ** 2).sum(axis=1)
        assert_allclose(rows.distances_to_own(centers), own, atol=1e-9)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
def test_going_on_runs_on_any_rows(weight):
    # Single moves and swaps after the starts, by the verbs alone.
    units = units_of(KNOWN.on(len(X)).closure())
    answers = []
    for rows in (TwoBlocks(X, 70), X):
        with HardLloyd(rows, units, 5, sample_weight=weight) as loop:
            how = {"max_iter": 50, "tol": 0.0}
            improve, restart = loop.improver(np.random.RandomState(0), **how)
            first = loop.run(X[[0, 1, 2, 60, 120]], **how)
            second = improve(first)
            answers.append((first, second, restart(second)))
    for blocks, whole in zip(*answers, strict=True):
        assert_array_equal(blocks.labels, whole.labels)
        assert blocks.inertia == pytest.approx(whole.inertia)
    assert answers[0][1].inertia < answers[0][0].inertia


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_sums_and_squared_distances(kind, weight):
    w = np.ones(len(X)) if weight is None else weight
    chosen, part = np.array([3, 9, 40]), np.array([1, 0, 1])
    with open_rows(kind(X), 3, sample_weight=weight) as rows:
        expected = [w[9] * X[9], w[3] * X[3] + w[40] * X[40]]
        assert_allclose(rows.sums(chosen, part, 2), expected)
        assert_allclose(rows.sums(None, y, 3)[1], w[y == 1] @ X[y == 1])
        found = np.concatenate([squared for *_, squared in rows.squared_distances(X[:4])])
        assert_allclose(found, ((X[:, None] - X[:4]) ** 2).sum(axis=2), atol=1e-12)
