import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree
from scipy.cluster.hierarchy import linkage as scipy_linkage
from sklearn.metrics import adjusted_rand_score

from conclust import Constraints, ReCon, sample_constraints
from conclust._kernels import cut as kernel
from conclust._kernels._short import plain
from conclust.hierarchy._cut import Statements, auto_size, gains, levels
from tests.oracles import constraints as pair_oracle
from tests.oracles import hierarchy as oracle
from tests.oracles.hierarchy import random_tree_triplets


def by_sample(rows, n):
    """For each sample the rows that name it, in two arrays: starts, and row numbers."""
    named = [[r for r, row in enumerate(rows.tolist()) for x in row if x == i] for i in range(n)]
    starts = np.cumsum([0, *map(len, named)])
    return starts, np.array([r for rs in named for r in rs], dtype=np.int64)


def case(seed, n):
    rng = np.random.RandomState(seed)
    children = scipy_linkage(rng.normal(size=(n, 2)), "average")[:, :2].astype(np.int64)
    triplets = random_tree_triplets(rng, n, 1.0)
    return children, triplets, rng.uniform(0.5, 2, len(triplets))


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(4, 9), st.integers(2, 4))
def test_the_best_splits_by_trying_all(seed, n, k):
    children, triplets, weight = case(seed, n)
    said = Statements(triplets, weight, np.empty((0, 2), np.int64), np.empty(0))
    # Only triplets that the hierarchy satisfies count; a cut is asked for nothing else.
    holds = Constraints(relative=triplets).satisfied_by(children)
    said = Statements(triplets[holds], weight[holds], said.apart, said.apart_weight)
    gain = gains(children, said)
    np.testing.assert_allclose(
        gain,
        [
            oracle.gain(children, v, said.triplets.tolist(), said.triplet_weight)
            for v in range(n - 1)
        ],
    )
    for best_splits in (kernel.best_splits, plain(kernel.best_splits)):
        split = np.zeros(n - 1, bool)
        size = np.ones(2 * n - 1, np.int64)
        kernel.cluster_sizes(children, size)
        assert best_splits(children, size, gain, np.zeros(n - 1, bool), k, 1, False, split) == k
        found = (round(gain[split].sum(), 6), int(np.flatnonzero(split).sum()))
        assert found == oracle.best_cut_value(children, gain, k)
        # At most k: the fewest that are worth as much as any.
        split[:] = False
        fewest = best_splits(children, size, gain, np.zeros(n - 1, bool), k, 1, True, split)
        worth = [oracle.best_cut_value(children, gain, j)[0] for j in range(1, k + 1)]
        assert fewest == split.sum() + 1
        assert worth[fewest - 1] == pytest.approx(max(worth))
        assert all(w < max(worth) for w in worth[: fewest - 1])


@pytest.mark.parametrize("cut_by", ["constraints", "order"])
@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    linkage=st.sampled_from(["centroid", "average"]),
    smallest=st.sampled_from(["auto", 1, 2, 5]),
)
def test_no_cut_breaks_a_triplet_or_a_must_link(cut_by, seed, linkage, smallest):
    rng = np.random.RandomState(seed)
    n = 24
    X = rng.normal(size=(n, 2))
    must = np.array([rng.permutation(n)[:2] for _ in range(seed % 4)]).reshape(-1, 2)
    known = Constraints(must, relative=random_tree_triplets(rng, n, 0.8)).repaired()
    model = ReCon(n_clusters=None, linkage=linkage, cut_by=cut_by, min_branch_size=smallest)
    model.fit(X, constraints=known)
    n_groups = n - model._tree.n_forced
    for k in range(1, n_groups + 1):
        labels = model.cut(k)
        assert len(np.unique(labels)) == k
        assert all(pair_oracle.holds(s, labels) for s in known)


@pytest.mark.parametrize("linkage", ["centroid", "ward", "average", "complete", "single"])
@pytest.mark.parametrize("cut_by", ["constraints", "order"])
def test_without_constraints_a_plain_cut_is_scipys(linkage, cut_by):
    X = np.random.RandomState(0).normal(size=(40, 3))
    model = ReCon(n_clusters=None, linkage=linkage, cut_by=cut_by, min_branch_size=1).fit(X)
    Z = scipy_linkage(X, linkage)
    for k in range(1, 41):
        labels = model.cut(k)
        assert labels.max() == k - 1
        if linkage != "centroid":  # cut_tree wants heights that rise
            assert adjusted_rand_score(labels, cut_tree(Z, k).ravel()) == 1
        else:
            members = oracle.members_of(Z[:, :2].astype(int))
            present = set(range(40 + len(Z) - k + 1)) - set(
                Z[: len(Z) - k + 1, :2].astype(int).ravel()
            )
            assert {frozenset(members[v]) for v in present} == {
                frozenset(np.flatnonzero(labels == c)) for c in range(k)
            }


def test_outliers_do_not_become_clusters():
    X = np.concatenate([np.linspace(0, 1, 20), np.linspace(5, 6, 20), [30.0]])[:, None]
    plain = ReCon(n_clusters=2, min_branch_size=1).fit_predict(X)
    assert np.bincount(plain).tolist() == [40, 1]
    labels = ReCon(n_clusters=2).fit_predict(X)  # auto: 2 samples
    assert np.bincount(labels).tolist() == [20, 21]
    assert labels[-1] == labels[-2]


def test_auto_size():
    assert auto_size(1000, 2) == 50
    assert auto_size(100, 25) == 2
    assert auto_size(10, 2) == 1


def test_a_branch_set_aside_joins_what_keeps_the_triplets():
    # The outlier 40 is nearest to the right cluster, but 0 and it are closer than 39.
    X = np.concatenate([np.linspace(0, 1, 20), np.linspace(5, 6, 20), [30.0]])[:, None]
    known = Constraints(relative=[(0, 40, 39)])
    labels = ReCon(n_clusters=2).fit(X, constraints=known).labels_
    assert labels[40] == labels[0] != labels[39]


@pytest.mark.parametrize("compiled", [True, False])
def test_settle_ends_with_no_broken_triplet(compiled):
    settle = kernel.settle if compiled else plain(kernel.settle)
    rng = np.random.RandomState(0)
    truth = rng.randint(3, size=30)
    rows = np.array(
        [
            r
            for r in rng.randint(30, size=(400, 3))
            if len(set(r)) == 3 and truth[r[0]] == truth[r[1]] != truth[r[2]]
        ]
    )
    labels = truth.copy()
    labels[:4] = (labels[:4] + 1) % 3
    assert settle(rows, *by_sample(rows, 30), labels, 3, 500) == 0
    a, b, c = labels[rows].T
    assert (((c != a) & (c != b)) | ((c == a) & (c == b))).all()


def test_a_small_class_is_found_when_statements_ask_for_it():
    # A class of 20 out of 840 samples is smaller than what counts as an outlier otherwise.
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(5), [400, 300, 80, 40, 20])
    X = rng.normal(size=(840, 2)) + rng.normal(size=(5, 2))[y]
    labels = ReCon(n_clusters=5).fit(X, constraints=Constraints.from_hierarchy(y)).labels_
    assert adjusted_rand_score(labels, y) == 1


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), n_must=st.integers(0, 4), n_relative=st.integers(0, 20))
def test_no_branch_can_move_to_break_fewer_cannot_links(seed, n_must, n_relative):
    rng = np.random.RandomState(seed)
    n = 30
    y = rng.permutation(np.arange(n) % 3)
    X = rng.normal(size=(n, 2))
    known = sample_constraints(
        y, 2 * n, n_must_link=n_must, n_relative=n_relative, random_state=seed
    )
    model = ReCon(n_clusters=3).fit(X, constraints=known)
    labels, top = model.labels_, int(np.argmax(model._tree.broken > 0))
    if n - top <= 3:
        return
    hard = [s for s in known if s.kind != "cannot-link"]
    soft = [s for s in known if s.kind == "cannot-link"]

    def broken(labels):
        return sum(not pair_oracle.holds(s, labels) for s in soft)

    assert all(pair_oracle.holds(s, labels) for s in hard)
    for branch in oracle.members_of(model.children_)[: n + top]:
        for label in range(3):
            other = labels.copy()
            other[list(branch)] = label
            fine = len(set(labels[list(branch)])) == 1 and len(np.unique(other)) == 3
            if fine and all(pair_oracle.holds(s, other) for s in hard):
                assert broken(other) >= broken(labels)


def test_branches_move_the_same_without_compilation():
    rng = np.random.RandomState(0)
    n = 40
    children = scipy_linkage(rng.normal(size=(n, 2)), "average")[:, :2].astype(np.int64)
    links = np.array([rng.permutation(n)[:2] for _ in range(60)])
    rows = random_tree_triplets(rng, n, 0.3)
    lists = [by_sample(links, n), by_sample(rows, n)]
    far = rng.uniform(size=(3, 3))
    found = []
    for move_branches in (kernel.move_branches, plain(kernel.move_branches)):
        labels = np.random.RandomState(1).randint(3, size=n)
        move_branches(children, 3, 5, links, np.ones(60), *lists[0], rows, *lists[1], far, labels)
        found.append(labels)
    np.testing.assert_array_equal(*found)


def taxonomy(rng, depth, branches=(2, 4)):
    """A random tree, all leaves equally deep, as nested lists; and each leaf's branch by depth."""
    codes = np.zeros((1, 0), dtype=np.int64)
    for _ in range(depth):
        n_below = rng.randint(branches[0], branches[1] + 1, size=len(codes))
        above = np.repeat(codes, n_below, axis=0)
        codes = np.column_stack([above, np.arange(len(above))])
    samples = rng.permutation(len(codes))

    def branch(rows):
        if codes[rows[0]].size == depth and len(rows) == 1:
            return int(samples[rows[0]])
        for level in range(depth):
            parts = [rows[codes[rows, level] == c] for c in np.unique(codes[rows, level])]
            if len(parts) > 1:
                return [branch(part) for part in parts]
        raise AssertionError

    of_sample = np.empty_like(codes)
    of_sample[samples] = codes
    return branch(np.arange(len(codes))), of_sample


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), depth=st.integers(2, 4))
def test_a_cut_finds_the_branches_of_a_taxonomy_at_every_depth(seed, depth):
    # Rows that have nothing to do with it: what is found comes from the statements.
    rng = np.random.RandomState(seed)
    tree, branch = taxonomy(rng, depth)
    known = Constraints.from_hierarchy(tree)
    model = ReCon(n_clusters=None).fit(rng.normal(size=(len(branch), 2)), constraints=known)
    for level in range(depth - 1):
        k = len(np.unique(branch[:, level]))
        assert adjusted_rand_score(model.cut(k), branch[:, level]) == 1


def kingdoms(n_families, n_species, seed=0):
    """Rows of families in kingdoms, well apart, and the kingdom and family of each."""
    rng = np.random.RandomState(seed)
    kingdom = np.repeat(np.arange(len(n_families)), n_families)
    centers = 30 * rng.normal(size=(len(n_families), 6))[kingdom]
    centers += 8 * rng.normal(size=centers.shape)
    family = np.repeat(np.arange(len(centers)), n_species)
    return rng.normal(size=(len(family), 6)) + centers[family], kingdom[family], family


def some_species(kingdom, family, n_known, named=None):
    """The taxonomy of the first species of each family, of the kingdoms named."""
    tree = {}
    for f in np.unique(family):
        rows = np.flatnonzero(family == f)
        if named is None or kingdom[rows[0]] in named:
            tree.setdefault(str(kingdom[rows[0]]), {})[str(f)] = rows[:n_known].tolist()
    return tree


@pytest.mark.parametrize("n_families", [(4, 4, 4), (2, 3, 6)])
@pytest.mark.parametrize("n_known", [2, 5, 12])
def test_kingdoms_and_families_are_found_however_many_species_are_known(n_families, n_known):
    X, kingdom, family = kingdoms(n_families, 12)
    known = Constraints.from_hierarchy(some_species(kingdom, family, n_known))
    model = ReCon(n_clusters=3).fit(X, constraints=known)
    assert adjusted_rand_score(model.labels_, kingdom) == 1
    assert adjusted_rand_score(model.cut(sum(n_families)), family) == 1


def test_a_kingdom_that_nobody_speaks_of_is_found_beside_those_they_do():
    X, kingdom, family = kingdoms((4, 4, 4, 4), 12)
    known = Constraints.from_hierarchy(some_species(kingdom, family, 8, named=(0, 2)))
    model = ReCon(n_clusters=4).fit(X, constraints=known)
    assert adjusted_rand_score(model.labels_, kingdom) == 1


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), depth=st.integers(1, 3))
def test_the_level_of_a_statement_is_that_of_its_branches(seed, depth):
    tree, branch = taxonomy(np.random.RandomState(seed), depth)
    triplets = Constraints.from_hierarchy(tree).relative
    a, c = branch[triplets[:, 0]], branch[triplets[:, 2]]
    expected = (a == c).sum(axis=1)
    np.testing.assert_array_equal(levels(triplets, 99).of_statement, expected)
    np.testing.assert_array_equal(levels(triplets, 3).of_statement, np.minimum(expected, 1))
    n_levels = int(expected.max(initial=0)) + 1
    n_branches = [len(np.unique(branch[:, level])) for level in range(n_levels)]
    if len(triplets):
        np.testing.assert_array_equal(levels(triplets, 99).n_branches, n_branches)


@pytest.mark.parametrize("compiled", [True, False])
def test_branches_large_enough_to_be_clusters(compiled):
    branches = kernel.branches if compiled else plain(kernel.branches)
    # [[[0, 1], [2, 3]], [4, [5, 6]]]: the root is 7, then 8 and 9 below it, 10 and 11, 12.
    parent = np.array([10, 10, 11, 11, 9, 12, 12, -1, 7, 7, 8, 8, 9])
    for smallest, expected in ((1, [2, 4, 7]), (2, [2, 3, 3]), (3, [2, 2, 2]), (4, [1, 1, 1])):
        count = np.empty(3, np.int64)
        branches(parent, smallest, count)
        assert count.tolist() == expected


def test_levels_are_the_same_without_compilation():
    rows = Constraints.from_hierarchy([[[0, 1], [2, 3]], [4, [5, 6]]]).relative
    parent = np.array([10, 10, 11, 11, 9, 12, 12, -1, 7, 7, 8, 8, 9])
    found = [np.empty(len(rows), np.int64) for _ in range(2)]
    kernel.levels(parent, rows, found[0])
    plain(kernel.levels)(parent, rows, found[1])
    np.testing.assert_array_equal(*found)
    expected = [int({*row} <= {0, 1, 2, 3} or {*row} <= {4, 5, 6}) for row in rows.tolist()]
    np.testing.assert_array_equal(found[0], expected)
