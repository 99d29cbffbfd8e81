"""The arrays behind the live tree, and its linked lists. See :mod:`conclust._kernels.live_tree`.

Everything is an integer in a table with named columns, so that nothing is allocated while clusters
merge, and taking an entry out of a list never searches it: lists are linked both ways.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._kernels._jit import helper

IntArray = npt.NDArray[np.int64]

# Columns of `node`. What is read on the way up comes first, to lie in one cache line.
UP, STATE, SEEN, HOLDER, MEMBER, STAMP, VIA = range(7)
CHILD, NEXT, PREV, N_CHILDREN, LEAF, ANSWER, TAG = range(8, 15)
CELL, N_CELLS, ROW, UNIT, N_UNITS, TOUCHED, FUSED = range(15, 22)
N_NODE_COLUMNS = 24  # three cache lines
LAZY, EXPANDED, IS_LEAF = 0, 1, 2
GONE = -2

# Columns of `leaf`: two forests (which cluster a leaf belongs to, and which leaf node it has gone
# into), and the list of the rows that name the cluster before the bar.
SET, PLACE, NODE, LIVE, SIDE, LAST_SIDE, N_SIDES, OPEN = range(8)
N_LEAF_COLUMNS = 8

# Columns of `row`; from CELL_0 on three for the cell of a and b, then three for the cell of c.
A, B, C, HOME, ROW_PREV, ROW_NEXT, CELL_0 = range(7)
OWNER, CELL_PREV, CELL_NEXT = range(3)
NEXT_SIDE = 12  # of a, then of b
N_ROW_COLUMNS = 14

# Entries of `clock`.
FREE, N_TAGS, N_STAMPS, N_TESTS, N_LEVELS, N_TOUCHED, N_JOINED, N_REFUSED, N_LINKS, WITNESS = range(
    10
)

# Columns of `work`: a stack, rows and units of a level, members and rows of a test.
STACK, LEVEL_ROW, TEST_MEMBER, LEVEL_UNIT, TEST_ROW = range(5)

# Tags of nodes share a table with numbers of clusters, and are never equal to one.
FIRST_TAG = 1 << 30

# Refused pairs there is room for at first. Half a table of this size is hardly ever filled where
# statements fit the data, so that the code that enlarges it need not even be compiled.
FIRST_TABLE = 1024


class LiveTree(NamedTuple):
    """The state, for l clusters that m triplets name."""

    node: IntArray  # (2 l + 2, 24)     the first l are the leaves at the start, then the root
    leaf: IntArray  # (l, 8)            clusters
    row: IntArray  # (m + l, 14)        triplets, then links between leaves of one cluster
    clock: IntArray  # (10,)            counters
    work: IntArray  # (2 l + m + 4, 5)  scratch
    refused: IntArray  # (2^b, 2)       a hash table: refused pairs, each with its witness


def new_tree(triplets: IntArray, n_leaves: int) -> LiveTree:
    """Put all leaves and triplets under a root that is not yet expanded."""
    m, root = len(triplets), n_leaves
    node = np.full((2 * n_leaves + 2, N_NODE_COLUMNS), -1, dtype=np.int64)
    node[:, [N_CHILDREN, N_CELLS]] = 0
    node[:, TAG] = FIRST_TAG + np.arange(len(node))
    node[:, NEXT] = np.arange(len(node)) + 1  # the unused ones are chained
    leaves = np.arange(n_leaves)
    node[leaves, STATE], node[leaves, LEAF], node[leaves, UP] = IS_LEAF, leaves, root
    node[leaves, NEXT], node[leaves, PREV] = leaves - 1, leaves + 1
    node[n_leaves - 1, PREV] = -1
    node[root, [STATE, NEXT]] = LAZY, -1
    node[root, [CHILD, N_CHILDREN, ROW]] = n_leaves - 1, n_leaves, m - 1
    row = np.full((m + n_leaves, N_ROW_COLUMNS), -1, dtype=np.int64)
    rows = np.arange(m)
    row[:m, :3], row[:m, HOME] = triplets, root
    row[:m, ROW_NEXT], row[:m, ROW_PREV] = rows - 1, rows + 1
    row[m - 1, ROW_PREV] = -1
    row[:m, NEXT_SIDE : NEXT_SIDE + 2], head = linked_lists(triplets[:, :2], n_leaves)
    leaf = np.full((n_leaves, N_LEAF_COLUMNS), -1, dtype=np.int64)
    leaf[:, SET] = leaf[:, PLACE] = leaf[:, NODE] = leaves
    leaf[:, LIVE] = np.bincount(triplets.ravel(), minlength=n_leaves)
    leaf[:, N_SIDES] = np.bincount(triplets[:, :2].ravel(), minlength=n_leaves)
    leaf[:, SIDE : LAST_SIDE + 1] = head
    clock = np.zeros(10, dtype=np.int64)
    clock[FREE], clock[N_LINKS], clock[N_TAGS] = root + 1, m, FIRST_TAG + len(node)
    work = np.empty((len(node) + m + 2, 5), dtype=np.int64)
    return LiveTree(node, leaf, row, clock, work, np.full((FIRST_TABLE, 2), -1, dtype=np.int64))


def linked_lists(pairs: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """For each of n owners the ends of pairs that name it; end s of pair e is entry 2 e + s.

    Returns the entry that follows each end, (m, 2), and the first and last of each owner, (n, 2).
    """
    entry = np.argsort(pairs.ravel(), kind="stable")
    at = pairs.ravel()[entry]
    same = at[1:] == at[:-1]
    following = np.full(2 * len(pairs), -1, dtype=np.int64)
    following[entry[:-1][same]] = entry[1:][same]
    head = np.full((n, 2), -1, dtype=np.int64)
    head[at[::-1], 0] = entry[::-1]
    head[at, 1] = entry
    return following.reshape(-1, 2), head


@helper
def root_of(table, column, i):
    """The root of i in the forest that a column holds, halving the path on the way."""
    while table[i, column] != i:
        table[i, column] = table[table[i, column], column]
        i = table[i, column]
    return i


@helper
def new_node(node, clock):
    """Take an unused number for a lazy node without children."""
    v = clock[FREE]
    clock[FREE] = node[v, NEXT]
    node[v, UP] = node[v, CHILD] = node[v, NEXT] = node[v, PREV] = -1
    node[v, N_CHILDREN] = node[v, N_CELLS] = 0
    node[v, STATE] = LAZY
    node[v, LEAF] = node[v, CELL] = node[v, ROW] = node[v, STAMP] = -1
    node[v, ANSWER] = node[v, TOUCHED] = node[v, SEEN] = node[v, MEMBER] = -1
    clock[N_TAGS] += 1
    node[v, TAG] = clock[N_TAGS]
    return v


@helper
def release(node, clock, v):
    """Give a number back."""
    node[v, NEXT] = clock[FREE]
    clock[FREE] = v


@helper
def add_child(node, u, v):
    first = node[u, CHILD]
    node[v, UP] = u
    node[v, PREV] = -1
    node[v, NEXT] = first
    if first >= 0:
        node[first, PREV] = v
    node[u, CHILD] = v
    node[u, N_CHILDREN] += 1


@helper
def remove_child(node, v):
    u, before, after = node[v, UP], node[v, PREV], node[v, NEXT]
    if before >= 0:
        node[before, NEXT] = after
    else:
        node[u, CHILD] = after
    if after >= 0:
        node[after, PREV] = before
    node[u, N_CHILDREN] -= 1


@helper
def add_row(node, row, v, r):
    first = node[v, ROW]
    row[r, HOME] = v
    row[r, ROW_PREV] = -1
    row[r, ROW_NEXT] = first
    if first >= 0:
        row[first, ROW_PREV] = r
    node[v, ROW] = r


@helper
def remove_row(node, row, r):
    before, after = row[r, ROW_PREV], row[r, ROW_NEXT]
    if before >= 0:
        row[before, ROW_NEXT] = after
    else:
        node[row[r, HOME], ROW] = after
    if after >= 0:
        row[after, ROW_PREV] = before


@helper
def add_cell(node, row, v, cell):
    """Cell 2 r stands for a and b of row r, cell 2 r + 1 for its c."""
    r, at = cell >> 1, CELL_0 + 3 * (cell & 1)
    first = node[v, CELL]
    row[r, at + OWNER] = v
    row[r, at + CELL_PREV] = -1
    row[r, at + CELL_NEXT] = first
    if first >= 0:
        row[first >> 1, CELL_0 + 3 * (first & 1) + CELL_PREV] = cell
    node[v, CELL] = cell
    node[v, N_CELLS] += 1


@helper
def remove_cell(node, row, cell):
    r, at = cell >> 1, CELL_0 + 3 * (cell & 1)
    v = row[r, at + OWNER]
    if v < 0:
        return
    before, after = row[r, at + CELL_PREV], row[r, at + CELL_NEXT]
    if before >= 0:
        row[before >> 1, CELL_0 + 3 * (before & 1) + CELL_NEXT] = after
    else:
        node[v, CELL] = after
    if after >= 0:
        row[after >> 1, CELL_0 + 3 * (after & 1) + CELL_PREV] = before
    node[v, N_CELLS] -= 1
    row[r, at + OWNER] = -1


@helper
def move_cells(node, row, source, target):
    cell = node[source, CELL]
    while cell >= 0:
        after = row[cell >> 1, CELL_0 + 3 * (cell & 1) + CELL_NEXT]
        add_cell(node, row, target, cell)
        cell = after
    node[source, CELL] = -1
    node[source, N_CELLS] = 0


@helper
def move_contents(node, row, source, target):
    """Give the children and triplets of one node to another."""
    w = node[source, CHILD]
    while w >= 0:
        after = node[w, NEXT]
        add_child(node, target, w)
        w = after
    r = node[source, ROW]
    while r >= 0:
        after = row[r, ROW_NEXT]
        add_row(node, row, target, r)
        r = after
