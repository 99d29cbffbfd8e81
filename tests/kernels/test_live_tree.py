"""The live tree against BUILD run anew on the merged triplets, and its lists against each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust._kernels import live_lists as ll
from conclust._kernels import live_tree
from conclust._kernels._jit import jit
from conclust._kernels._short import plain
from tests.oracles import hierarchy as oracle

# Parts of kernels can be called from compiled code only.
merge, may_merge, stamp = live_tree.merge, live_tree.may_merge, live_tree.stamp
surely_not, mark_open = live_tree.surely_not, live_tree.mark_open
N_STAMPS = ll.N_STAMPS


@jit
def ask(tree, i, j, i_is_stamped, join):
    """One question, or a merge; one kernel for all, so that it is compiled once."""
    if join:
        return merge(tree, i, j)
    if i_is_stamped:
        now = tree.clock[N_STAMPS]
        return 1 if surely_not(tree.node, tree.leaf, tree.refused, now, j) else 0
    return 1 if may_merge(tree, i, j) else 0


@jit
def open_to(tree, i):
    stamp(tree, i)
    mark_open(tree, i)


def in_list(table, first, following):
    found = []
    while first >= 0:
        found.append(int(first))
        first = table[first, following]
    return found


def leaves_below(tree, v):
    if tree.node[v, ll.STATE] == ll.IS_LEAF:
        return {int(tree.node[v, ll.LEAF])}
    children = in_list(tree.node, tree.node[v, ll.CHILD], ll.NEXT)
    return set().union(*(leaves_below(tree, w) for w in children))


def cells_of(tree, v):
    found, cell = [], tree.node[v, ll.CELL]
    while cell >= 0:
        at = ll.CELL_0 + 3 * (cell & 1)
        assert tree.row[cell >> 1, at + ll.OWNER] == v
        found.append(int(cell))
        cell = tree.row[cell >> 1, at + ll.CELL_NEXT]
    return found


def set_of(tree, i):
    while tree.leaf[i, ll.SET] != i:
        i = tree.leaf[i, ll.SET]
    return int(i)


def place_of(tree, i):
    while tree.leaf[i, ll.PLACE] != i:
        i = tree.leaf[i, ll.PLACE]
    return int(i)


def check_structure(tree, triplets, clusters):
    """Every list, every home, every number of a node.

    triplets, clusters: at the start, and for each leaf the cluster that it belongs to now.
    """
    node, leaf, row, clock = tree.node, tree.leaf, tree.row, tree.clock
    n, m = len(leaf), len(triplets)
    # Leaves belong to the clusters that were merged.
    assert [set_of(tree, i) for i in range(n)] == clusters
    # The tree: children know their parent and their neighbours.
    root = leaf[place_of(tree, 0), ll.NODE]
    while node[root, ll.UP] >= 0:
        root = node[root, ll.UP]
    reached, waiting = [], [int(root)]
    while waiting:
        v = waiting.pop()
        reached.append(v)
        children = in_list(node, node[v, ll.CHILD], ll.NEXT)
        assert len(children) == node[v, ll.N_CHILDREN]
        assert (len(children) == 0) == (node[v, ll.STATE] == ll.IS_LEAF)
        assert [node[w, ll.PREV] for w in children] == [-1, *children][: len(children)]
        assert all(node[w, ll.UP] == v for w in children)
        waiting.extend(children)
        assert len(cells_of(tree, v)) == node[v, ll.N_CELLS]
    # Every number is in the tree or free.
    free = []
    v = int(clock[ll.FREE])
    while v < len(node):
        free.append(v)
        v = int(node[v, ll.NEXT])
    assert sorted(reached + free) == list(range(len(node)))
    # Every leaf is where its forest says.
    for i in range(n):
        v = leaf[place_of(tree, i), ll.NODE]
        assert v in reached
        assert node[v, ll.STATE] == ll.IS_LEAF
    # Triplets that hold already are gone; all others are listed once, at home.
    live = [r for r, (a, b, _) in enumerate(triplets) if clusters[a] != clusters[b]]
    assert [r for r in range(m) if row[r, ll.HOME] >= 0] == live
    counted = np.zeros(n, dtype=int)
    for r in live:
        for x in triplets[r]:
            counted[clusters[x]] += 1
    assert all(leaf[c, ll.LIVE] == counted[c] for c in set(clusters))
    listed = [(r, v) for v in reached for r in in_list(row, node[v, ll.ROW], ll.ROW_NEXT)]
    assert sorted(r for r, _ in listed if r < m) == live
    for r, v in listed:
        assert row[r, ll.HOME] == v
        if r >= m:  # a link
            assert node[v, ll.STATE] == ll.LAZY
            continue
        a, b, c = (place_of(tree, x) for x in triplets[r])
        near, far = row[r, ll.CELL_0 + ll.OWNER], row[r, ll.CELL_0 + 3 + ll.OWNER]
        assert {a, b, c} <= leaves_below(tree, v)
        if node[v, ll.STATE] == ll.EXPANDED:
            # Decided here: a and b below one child, c below another.
            assert node[near, ll.UP] == v
            assert node[far, ll.UP] == v
            assert near != far
            assert {a, b} <= leaves_below(tree, near)
            assert c in leaves_below(tree, far)
        else:
            assert node[v, ll.STATE] == ll.LAZY
            assert near == -1
            assert far == -1


def drive(ask, open_to, seed, n, share):
    """Ask about random pairs, and merge some that may; compare each answer with BUILD."""
    rng = np.random.RandomState(seed)
    named, rows = np.unique(oracle.random_tree_triplets(rng, n, share), return_inverse=True)
    triplets = [tuple(t) for t in rows.reshape(-1, 3).tolist()]
    tree = ll.new_tree(np.array(triplets), len(named))
    clusters = list(range(len(named)))
    left = triplets
    check_structure(tree, triplets, clusters)
    for _ in range(4 * n):
        live = sorted({x for t in left for x in t})
        if len(live) < 2:
            break
        i, j = (int(x) for x in rng.permutation(live)[:2])
        expected = oracle.may_merge(left, live, i, j)
        assert ask(tree, i, j, False, False) == expected
        witness = int(tree.clock[ll.WITNESS])
        if witness >= 0:
            assert not expected
            assert clusters[witness] not in (i, j)
        if rng.rand() < 0.3:
            open_to(tree, i)
            for k in live:
                if k != i:
                    refused = ask(tree, i, k, True, False)
                    assert refused == (tree.leaf[k, ll.OPEN] != tree.clock[ll.N_STAMPS])
                    assert not (refused and oracle.may_merge(left, live, i, k))
        if expected and rng.rand() < 0.7:
            remains = int(ask(tree, i, j, False, True))
            assert remains in (i, j)
            gone = i + j - remains
            clusters = [remains if x == gone else x for x in clusters]
            left = oracle.contracted(left, remains, gone)
        check_structure(tree, triplets, clusters)
    return len(set(clusters))


@settings(max_examples=80)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 14), share=st.sampled_from([0.4, 0.8, 1.5, 3]))
def test_every_answer_is_that_of_build(seed, n, share):
    drive(plain(ask), plain(open_to), seed, n, share)


def test_compiled_it_answers_the_same():
    for seed in range(120):
        drive(ask, open_to, seed, 5 + seed % 12, (0.4, 0.8, 1.5, 3)[seed % 4])


def test_merging_goes_on_to_the_end():
    # With all triplets of a binary tree the only way is to rebuild that tree, from below.
    tree = ll.new_tree(np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]), 4)
    answers = {
        (i, j): plain(ask)(tree, i, j, False, False) for i in range(4) for j in range(i + 1, 4)
    }
    assert [pair for pair, yes in answers.items() if yes] == [(0, 1)]
    c = plain(ask)(tree, 0, 1, False, True)
    assert plain(ask)(tree, c, 2, False, False)
    assert not plain(ask)(tree, c, 3, False, False)
    c = plain(ask)(tree, c, 2, False, True)
    assert tree.leaf[c, ll.LIVE] == tree.leaf[3, ll.LIVE] == 0


@pytest.mark.parametrize("compiled", [True, False])
def test_rehash_keeps_what_is_alive(compiled):
    rehash = live_tree.rehash if compiled else plain(live_tree.rehash)
    alive = np.array([True, True, False, True])
    tag = ll.FIRST_TAG + 5
    pairs = {(0, 1): 3, (0, 2): 1, (1, 3): 0, (tag, tag + 1): -1}
    clock = np.zeros(10, dtype=np.int64)
    table = np.full((8, 2), -1)
    for (x, y), witness in pairs.items():
        plain(live_tree.refuse)(table, clock, y, x, witness)
    assert clock[ll.N_REFUSED] == 4
    larger = np.full((16, 2), -1)
    rehash(table, clock, alive, larger)
    assert clock[ll.N_REFUSED] == 3
    for (x, y), witness in pairs.items():
        at = plain(live_tree.slot_of)(larger, x, y)
        assert (at >= 0) == ((x, y) != (0, 2))
        if at >= 0:
            assert larger[at, 1] == witness
