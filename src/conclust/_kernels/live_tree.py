"""The BUILD tree of a set of triplets, kept up to date while clusters are merged.

ReCon asks before each merge whether the triplets stay consistent. The tree answers most of these
questions at the node u where the two clusters i and j meet, with P and Q the children of u that
hold them:

* P and Q are i and j themselves: yes;
* u has no other children: no, the merge would leave nothing to split;
* no triplet decided at u (ab below one child, c below another) joins P and Q: yes, and the tree of
  the merged set is the old one with the two paths below u zipped together;
* otherwise BUILD on P ∪ Q alone decides.

Work is put off until a question needs it. A lazy node stands for the BUILD tree of all leaves below
it, which is not worked out yet: its children, the members, are leaves or expanded nodes, right each
for itself, and its rows are the triplets that go across them. A merge puts P and Q below one lazy
node, with a link: a row that says that i and j, each still a leaf below its member, are one
cluster. Expanding takes one level of the members away. Their children are the units; those that a
row or a link puts together are the members of a lazy node one level down, all others stay as they
are, with everything below. So a merge costs what it changes, not what lies below.

Clusters named by no live triplet are free to merge and need not be in the tree at all.

State, plain integer arrays with named columns:

    node      (2 l + 2, 24)       nodes; the first l are the leaves at the start, then the root
    leaf      (l, 8)              clusters, as a union-find forest over those at the start; a second
                                  one tells which leaf is gone into which
    row       (m + l, 14)         triplets, then links; each is listed at its home node, and a
                                  triplet decided there in one cell list at the child that holds a
                                  and b and one at the child that holds c
    free      (2 l + 2,)          unused node numbers
    clock     (9,)                counters
    work      (2 l + m + 4, 5)    scratch
    refused   (2^b, 2)            pairs of nodes or clusters known to be refused, a hash table;
                                  those of clusters with a witness
"""

import numpy as np

from conclust._kernels._jit import jit

# What is read on the way up comes first, to lie in one cache line.
UP, STATE, SEEN, HOLDER, MEMBER, STAMP, VIA, UNDER = range(8)
CHILD, NEXT, PREV, N_CHILDREN, LEAF, ANSWER, TAG = range(8, 15)
CELL, N_CELLS, ROW, UNIT, N_UNITS, TOUCHED, FUSED = range(15, 22)
N_NODE_COLUMNS = 24
LAZY, EXPANDED, IS_LEAF = 0, 1, 2
GONE = -2

SET, PLACE, NODE, LIVE, SIDE, LAST_SIDE, N_SIDES, OPEN = range(8)
N_LEAF_COLUMNS = 8

A, B, C, HOME, ROW_PREV, ROW_NEXT, CELL_0 = range(7)
OWNER, CELL_PREV, CELL_NEXT = range(3)  # of the cell of a and b, then of the cell of c
NEXT_SIDE = 12  # of a, then of b
N_ROW_COLUMNS = 14

N_FREE, N_TAGS, N_STAMPS, N_TESTS, N_TOUCHES, N_REFUSED, N_LINKS, TOP_LAZY, WITNESS = range(9)

FIRST_TABLE = 1024
FIRST_TAG = 1 << 30  # tags of nodes are never numbers of clusters


def new_state(triplets, n_leaves):
    """Allocate the arrays and put all leaves and triplets under a root that is not yet expanded."""
    n_nodes = 2 * n_leaves + 2
    node = np.full((n_nodes, N_NODE_COLUMNS), -1, dtype=np.int64)
    leaf = np.full((n_leaves, N_LEAF_COLUMNS), -1, dtype=np.int64)
    row = np.full((len(triplets) + n_leaves, N_ROW_COLUMNS), -1, dtype=np.int64)
    row[: len(triplets), :3] = triplets
    free = np.arange(n_nodes)
    clock = np.zeros(9, dtype=np.int64)
    work = np.empty((n_nodes + len(triplets) + 2, 5), dtype=np.int64)
    refused = np.full((FIRST_TABLE, 2), -1, dtype=np.int64)
    fill(node, leaf, row, len(triplets), free, clock)
    return node, leaf, row, free, clock, work, refused


@jit
def fill(node, leaf, row, n_triplets, free, clock):
    """Link up a fresh state."""
    n = len(leaf)
    clock[N_LINKS] = n_triplets
    clock[N_TAGS] = FIRST_TAG
    for at in range(len(free)):
        free[at] = len(free) - 1 - at
    clock[N_FREE] = len(free)
    for i in range(n):
        v = new_node(node, free, clock)
        node[v, STATE] = IS_LEAF
        node[v, LEAF] = i
        leaf[i, SET] = leaf[i, PLACE] = i
        leaf[i, NODE] = v
        leaf[i, LIVE] = 0
        leaf[i, N_SIDES] = 0
    root = new_node(node, free, clock)
    for i in range(n):
        add_child(node, root, i)
    for r in range(n_triplets):
        add_row(node, row, root, r)
        for side in range(3):
            leaf[row[r, side], LIVE] += 1
        for side in range(2):
            add_side(leaf, row, row[r, side], 2 * r + side)


@jit
def new_node(node, free, clock):
    clock[N_FREE] -= 1
    v = free[clock[N_FREE]]
    node[v, UP] = node[v, CHILD] = node[v, NEXT] = node[v, PREV] = -1
    node[v, N_CHILDREN] = node[v, N_CELLS] = 0
    node[v, STATE] = LAZY
    node[v, LEAF] = node[v, CELL] = node[v, ROW] = node[v, STAMP] = -1
    node[v, ANSWER] = node[v, TOUCHED] = node[v, SEEN] = node[v, MEMBER] = node[v, UNDER] = -1
    retag(node, clock, v)
    return v


@jit
def retag(node, clock, v):
    """Forget what was remembered about a node."""
    clock[N_TAGS] += 1
    node[v, TAG] = clock[N_TAGS]


@jit
def release(free, clock, v):
    free[clock[N_FREE]] = v
    clock[N_FREE] += 1


@jit
def add_child(node, u, v):
    first = node[u, CHILD]
    node[v, UP] = u
    node[v, PREV] = -1
    node[v, NEXT] = first
    if first >= 0:
        node[first, PREV] = v
    node[u, CHILD] = v
    node[u, N_CHILDREN] += 1


@jit
def remove_child(node, v):
    u, before, after = node[v, UP], node[v, PREV], node[v, NEXT]
    if before >= 0:
        node[before, NEXT] = after
    else:
        node[u, CHILD] = after
    if after >= 0:
        node[after, PREV] = before
    node[u, N_CHILDREN] -= 1


@jit
def add_row(node, row, v, r):
    first = node[v, ROW]
    row[r, HOME] = v
    row[r, ROW_PREV] = -1
    row[r, ROW_NEXT] = first
    if first >= 0:
        row[first, ROW_PREV] = r
    node[v, ROW] = r


@jit
def remove_row(node, row, r):
    before, after = row[r, ROW_PREV], row[r, ROW_NEXT]
    if before >= 0:
        row[before, ROW_NEXT] = after
    else:
        node[row[r, HOME], ROW] = after
    if after >= 0:
        row[after, ROW_PREV] = before


@jit
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


@jit
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


@jit
def move_cells(node, row, source, target):
    cell = node[source, CELL]
    while cell >= 0:
        after = row[cell >> 1, CELL_0 + 3 * (cell & 1) + CELL_NEXT]
        add_cell(node, row, target, cell)
        cell = after
    node[source, CELL] = -1
    node[source, N_CELLS] = 0


@jit
def add_side(leaf, row, i, side):
    """Append row side >> 1 to the rows that name cluster i before the bar."""
    row[side >> 1, NEXT_SIDE + (side & 1)] = -1
    last = leaf[i, LAST_SIDE]
    if last >= 0:
        row[last >> 1, NEXT_SIDE + (last & 1)] = side
    else:
        leaf[i, SIDE] = side
    leaf[i, LAST_SIDE] = side
    leaf[i, N_SIDES] += 1


@jit
def cluster_of(leaf, i):
    while leaf[i, SET] != i:
        leaf[i, SET] = leaf[leaf[i, SET], SET]
        i = leaf[i, SET]
    return i


@jit
def node_of(leaf, i):
    """The leaf node of cluster i; where links are not yet settled, one of its leaf nodes."""
    while leaf[i, PLACE] != i:
        leaf[i, PLACE] = leaf[leaf[i, PLACE], PLACE]
        i = leaf[i, PLACE]
    return leaf[i, NODE]


@jit
def joined_by_row(node, row, p, q):
    """Whether a triplet decided above p and q has a and b below one and c below the other."""
    if node[p, N_CELLS] > node[q, N_CELLS]:
        p, q = q, p
    cell = node[p, CELL]
    while cell >= 0:
        if row[cell >> 1, CELL_0 + 3 * (1 - (cell & 1)) + OWNER] == q:
            return True
        cell = row[cell >> 1, CELL_0 + 3 * (cell & 1) + CELL_NEXT]
    return False


@jit
def crossing_rows(node, row, work, p, q):
    """List the triplets that join p and q in column 4 of work; return their number."""
    if node[p, N_CELLS] > node[q, N_CELLS]:
        p, q = q, p
    n_rows = 0
    cell = node[p, CELL]
    while cell >= 0:
        r = cell >> 1
        if row[r, CELL_0 + 3 * (1 - (cell & 1)) + OWNER] == q:
            work[n_rows, 4] = r
            n_rows += 1
        cell = row[r, CELL_0 + 3 * (cell & 1) + CELL_NEXT]
    return n_rows


@jit
def unit_of(node, leaf, clock, i):
    """The child of a member of the test that holds cluster i; the member itself if it is a leaf.

    The answer is left along the path, so that the questions of one level climb each path once.
    """
    now = clock[N_TOUCHES]
    start = node_of(leaf, i)
    v = start
    while node[v, SEEN] != now and node[v, MEMBER] != now and node[node[v, UP], MEMBER] != now:
        v = node[v, UP]
    unit = node[v, HOLDER] if node[v, SEEN] == now else v
    while start != v:
        node[start, SEEN], node[start, HOLDER] = now, unit
        start = node[start, UP]
    node[v, SEEN], node[v, HOLDER] = now, unit
    return unit


@jit
def touch(node, clock, work, n_touched, v):
    """Make a node a unit of its own, once in each level, and list it in column 3 of work."""
    if node[v, TOUCHED] == clock[N_TOUCHES]:
        return n_touched
    node[v, TOUCHED] = clock[N_TOUCHES]
    node[v, UNIT] = v
    node[v, N_UNITS] = 1
    node[v, FUSED] = -1
    work[n_touched, 3] = v
    return n_touched + 1


@jit
def root_of(node, v):
    while node[v, UNIT] != v:
        node[v, UNIT] = node[node[v, UNIT], UNIT]
        v = node[v, UNIT]
    return v


@jit
def join_units(node, v, w):
    """Put two touched units into one part; return 1 when they were in different ones."""
    v, w = root_of(node, v), root_of(node, w)
    if v == w:
        return 0
    node[v, UNIT] = w
    node[w, N_UNITS] += node[v, N_UNITS]
    return 1


@jit
def in_part(node, clock, v, part):
    return node[v, TOUCHED] == clock[N_TOUCHES] and root_of(node, v) == part


@jit
def find_witness(leaf, row, clock, r, i, j):
    """Name a sample of triplet r that is in neither of clusters i and j.

    Where merging i and j gets BUILD stuck, whatever contains them gets it stuck as well as long as
    something else is left there: merges contract a connected graph, which stays connected.
    """
    for side in (C, A, B):
        if is_outside(leaf, row[r, side], i, j):
            clock[WITNESS] = row[r, side]
            return


@jit
def compatible(node, leaf, row, free, clock, work, p, q, i, j):
    """TestCompatibility of the paper on P ∪ Q: +1 yes, 0 no, -1 no for any pair of P × Q.

    Members of the test (column 2 of work) are nodes, P and Q at first. Below a member the tree
    stays as it is, so its children are the units of the next level, and only the triplets between
    members (column 4) put units together, and the merge of i and j. The units in the part of i and
    j are the next members. With no triplet left between members, nothing can get stuck.
    """
    clock[N_TESTS] += 1
    n_rows = crossing_rows(node, row, work, p, q)
    work[0, 2], work[1, 2] = p, q
    n_members, top = 2, True
    while n_rows:
        for at in range(n_members):
            if node[work[at, 2], STATE] == LAZY:
                work[at, 2] = expand(node, leaf, row, free, clock, work, work[at, 2])
        clock[N_TOUCHES] += 1
        n_parts = 0
        for at in range(n_members):
            v = work[at, 2]
            node[v, MEMBER] = clock[N_TOUCHES]
            n_parts += 1 if node[v, STATE] == IS_LEAF else node[v, N_CHILDREN]
        n_touched = 0
        for at in range(n_rows):
            r = work[at, 4]
            a = unit_of(node, leaf, clock, row[r, A])
            b = unit_of(node, leaf, clock, row[r, B])
            n_touched = touch(node, clock, work, n_touched, a)
            n_touched = touch(node, clock, work, n_touched, b)
            n_parts -= join_units(node, a, b)
        if top and n_parts == 2:
            find_witness(leaf, row, clock, work[0, 4], i, j)
            return -1
        top = False
        a, b = unit_of(node, leaf, clock, i), unit_of(node, leaf, clock, j)
        n_touched = touch(node, clock, work, n_touched, a)
        n_touched = touch(node, clock, work, n_touched, b)
        n_parts -= join_units(node, a, b)
        if n_parts == 1:
            find_witness(leaf, row, clock, work[0, 4], i, j)
            return 0
        part = root_of(node, a)
        n_kept = 0
        for at in range(n_rows):
            r = work[at, 4]
            a = unit_of(node, leaf, clock, row[r, A])
            c = unit_of(node, leaf, clock, row[r, C])
            if in_part(node, clock, a, part) and in_part(node, clock, c, part):
                work[n_kept, 4] = r
                n_kept += 1
        for at in range(n_members):
            v = work[at, 2]
            r = node[v, ROW] if node[v, STATE] != IS_LEAF else -1
            while r >= 0:
                if in_part(node, clock, row[r, CELL_0 + OWNER], part) and in_part(
                    node, clock, row[r, CELL_0 + 3 + OWNER], part
                ):
                    work[n_kept, 4] = r
                    n_kept += 1
                r = row[r, ROW_NEXT]
        n_rows, n_members = n_kept, 0
        for at in range(n_touched):
            if root_of(node, work[at, 3]) == part:
                work[n_members, 2] = work[at, 3]
                n_members += 1
    return 1


@jit
def slot_of(refused, key):
    """Where a pair stands in the table, or would stand: linear probing."""
    high, low = key >> 31, key & 0x7FFFFFFF
    at = (((high * 2654435761) >> 9) ^ (low * 40503)) & (len(refused) - 1)
    while refused[at, 0] != key and refused[at, 0] >= 0:
        at = (at + 1) & (len(refused) - 1)
    return at


@jit
def is_refused(refused, key):
    return refused[slot_of(refused, key), 0] == key


@jit
def is_outside(leaf, w, i, j):
    """Whether witness w is in neither of the clusters i and j, which are then still refused."""
    w = cluster_of(leaf, w)
    return w not in (i, j)


@jit
def refuse(refused, clock, key, witness):
    """Remember a refused pair. The caller sees to it that the table is never full."""
    at = slot_of(refused, key)
    if refused[at, 0] != key:
        refused[at, 0] = key
        clock[N_REFUSED] += 1
    refused[at, 1] = witness


@jit
def roomy(refused, clock, alive, n_more):
    """The table, or a larger one when it would be more than half full; dead clusters are left out.

    alive   (n,) bool   in   which clusters there are; higher numbers in keys are tags of nodes
    """
    if 2 * (clock[N_REFUSED] + n_more) < len(refused):
        return refused
    size = len(refused)
    while size < 4 * (clock[N_REFUSED] + n_more):
        size *= 2
    larger = np.full((size, 2), -1, np.int64)
    clock[N_REFUSED] = 0
    for at in range(len(refused)):
        key = refused[at, 0]
        if key >= 0:
            x, y = key >> 31, key & 0x7FFFFFFF
            if x >= len(alive) or (alive[x] and alive[y]):
                refuse(larger, clock, key, refused[at, 1])
    return larger


@jit
def pair_key(x, y):
    return (x << 31) | y if x < y else (y << 31) | x


@jit
def stamp(node, leaf, clock, i):
    """Mark the path from cluster i to the root, for the questions about i that follow."""
    clock[N_STAMPS] += 1
    restamp(node, leaf, clock, i)


@jit
def restamp(node, leaf, clock, i):
    v, below, lazy = node_of(leaf, i), -1, -1
    while v >= 0:
        node[v, STAMP] = clock[N_STAMPS]
        node[v, VIA] = below
        node[v, UNDER] = -1
        if node[v, STATE] == LAZY:
            lazy = v
        below = v
        v = node[v, UP]
    # Below the topmost lazy node nothing is certain.
    clock[TOP_LAZY] = lazy
    if lazy >= 0:
        v = node_of(leaf, i)
        while v != node[lazy, UP]:
            node[v, UNDER] = clock[N_STAMPS]
            v = node[v, UP]


@jit
def unfold(node, leaf, row, free, clock, work, i):
    """Expand the topmost lazy node above cluster i (stamped)."""
    expand(node, leaf, row, free, clock, work, clock[TOP_LAZY])
    restamp(node, leaf, clock, i)


@jit
def meet(node, leaf, row, free, clock, work, i, j):
    """Where clusters i (stamped) and j part: the lowest node above both, and its two children."""
    while True:
        q, v = -1, node_of(leaf, j)
        while node[v, STAMP] != clock[N_STAMPS]:
            q = v
            v = node[v, UP]
        if node[v, UNDER] != clock[N_STAMPS]:
            return v, node[v, VIA], q
        unfold(node, leaf, row, free, clock, work, i)


@jit
def surely_not(node, leaf, row, free, clock, work, refused, i, j):
    """Whether the tree refuses i (stamped) and j at a glance; False when a test has to tell.

    The answer is the same for all clusters below Q, so it is left there for the next questions
    about i: a row of questions visits each node once.
    """
    now = clock[N_STAMPS]
    start = node_of(leaf, j)
    v, q = start, -1
    while node[v, STAMP] != now:
        if node[v, ANSWER] >> 1 == now:
            answer = node[v, ANSWER] & 1
            break
        q = v
        v = node[v, UP]
    else:
        if node[v, UNDER] == now:
            unfold(node, leaf, row, free, clock, work, i)
            return surely_not_in(node, leaf, row, free, clock, work, refused, i, j)
        answer = glance(node, refused, v, node[v, VIA], q)
        node[q, ANSWER] = 2 * now + answer
    v = start
    while v != q:
        node[v, ANSWER] = 2 * now + answer
        v = node[v, UP]
    return answer == 1


@jit
def surely_not_in(node, leaf, row, free, clock, work, refused, i, j):
    """The same after the node above both has been expanded."""
    u, p, q = meet(node, leaf, row, free, clock, work, i, j)
    answer = glance(node, refused, u, p, q)
    node[q, ANSWER] = 2 * clock[N_STAMPS] + answer
    return answer == 1


@jit
def mark_open(node, leaf, row, free, clock, work, refused, i):
    """Mark all clusters that `surely_not` does not refuse to i (stamped), from the top down.

    Cheaper than asking for each one when nearly all are refused.
    """
    now = clock[N_STAMPS]
    while clock[TOP_LAZY] >= 0:
        unfold(node, leaf, row, free, clock, work, i)
    p = node_of(leaf, i)
    while node[p, UP] >= 0:
        u = node[p, UP]
        q = node[u, CHILD]
        while q >= 0:
            if q != p and glance(node, refused, u, p, q) == 0:
                stack = 0
                work[stack, 0] = q
                while stack >= 0:
                    v = work[stack, 0]
                    stack -= 1
                    if node[v, STATE] == IS_LEAF:
                        leaf[cluster_of(leaf, node[v, LEAF]), OPEN] = now
                    w = node[v, CHILD]
                    while w >= 0:
                        stack += 1
                        work[stack, 0] = w
                        w = node[w, NEXT]
            q = node[q, NEXT]
        p = u


@jit
def glance(node, refused, u, p, q):
    """1 when every pair of P × Q is known to be refused, else 0."""
    if node[p, STATE] == IS_LEAF and node[q, STATE] == IS_LEAF:
        return 0
    if node[u, N_CHILDREN] == 2:
        return 1
    key = pair_key(node[p, TAG], node[q, TAG])
    return 1 if is_refused(refused, key) else 0


@jit
def may_merge(node, leaf, row, free, clock, work, refused, i, j):
    """Whether the triplets stay consistent when clusters i (stamped) and j become one."""
    clock[WITNESS] = -1
    u, p, q = meet(node, leaf, row, free, clock, work, i, j)
    if node[p, STATE] == IS_LEAF and node[q, STATE] == IS_LEAF:
        return True
    if glance(node, refused, u, p, q):
        return False
    if not joined_by_row(node, row, p, q):
        return True
    key = pair_key(node[p, TAG], node[q, TAG])  # nodes can change their numbers in a test
    answer = compatible(node, leaf, row, free, clock, work, p, q, i, j)
    if answer < 0:
        # Every pair of P × Q is refused until P or Q grows: merges inside contract a connected
        # graph, which stays connected.
        refuse(refused, clock, key, -1)
    return answer > 0


@jit
def merge(node, leaf, row, free, clock, work, i, j):
    """Make clusters i and j one, where `may_merge` said yes; return which of the two remains."""
    stamp(node, leaf, clock, i)
    u, p, q = meet(node, leaf, row, free, clock, work, i, j)
    both_leaves = node[p, STATE] == IS_LEAF and node[q, STATE] == IS_LEAF
    if both_leaves and node[u, N_CHILDREN] == 2:
        settle(node, leaf, p, q)
        release(free, clock, p)
        release(free, clock, q)
        node[u, STATE] = IS_LEAF
        node[u, CHILD] = -1
        node[u, N_CHILDREN] = 0
        node[u, LEAF] = node[q, LEAF]
        leaf[node[u, LEAF], NODE] = u
        return unite(node, leaf, row, i, j)
    if node[q, STATE] == IS_LEAF and not (both_leaves and node[p, N_CELLS] < node[q, N_CELLS]):
        p, q, i, j = q, p, j, i
    if node[p, STATE] == IS_LEAF and not joined_by_row(node, row, p, q):
        # The leaf goes into the other one, wherever its cluster is in there.
        settle(node, leaf, p, node_of(leaf, j))
        move_cells(node, row, p, q)
        remove_child(node, p)
        release(free, clock, p)
        retag(node, clock, q)
        return unite(node, leaf, row, i, j)
    clock[N_TOUCHES] += 1
    touch(node, clock, work, touch(node, clock, work, 0, p), q)
    join_units(node, p, q)
    root = root_of(node, p)
    if node[q, STATE] == LAZY:
        p, q, i, j = q, p, j, i
    take_in(node, row, free, clock, u, p, root)
    take_in(node, row, free, clock, u, q, root)
    link = clock[N_LINKS]
    clock[N_LINKS] += 1
    row[link, A], row[link, B] = i, j
    add_row(node, row, node[root, FUSED], link)
    for v in (p, q):
        if node[v, TOUCHED] == GONE:
            release(free, clock, v)
    return unite(node, leaf, row, i, j)


@jit
def settle(node, leaf, p, q):
    """Whatever is at leaf node p is at leaf node q from now on."""
    leaf[node[p, LEAF], PLACE] = node[q, LEAF]


@jit
def take_in(node, row, free, clock, u, v, root):
    """Put unit v, a child of u, below the lazy node that its part becomes.

    A lazy unit gives its members and rows; the first one becomes the node of the part itself.
    Triplets decided at u that lie within the part become rows of the lazy node. A unit that is
    used up is marked as gone, to be released by the caller.
    """
    into = node[root, FUSED]
    if into == v:
        return
    if into < 0:
        if node[v, STATE] == LAZY:
            node[root, FUSED] = v
            retag(node, clock, v)
            return
        into = new_node(node, free, clock)
        node[root, FUSED] = into
        add_child(node, u, into)
    cell = node[v, CELL]
    while cell >= 0:
        r = cell >> 1
        after = row[r, CELL_0 + 3 * (cell & 1) + CELL_NEXT]
        other = row[r, CELL_0 + 3 * (1 - (cell & 1)) + OWNER]
        remove_cell(node, row, cell)
        if other == into or in_part(node, clock, other, root):
            remove_cell(node, row, 2 * r + 1 - (cell & 1))
            remove_row(node, row, r)
            add_row(node, row, into, r)
        else:
            add_cell(node, row, into, cell)
        cell = after
    remove_child(node, v)
    if node[v, STATE] == LAZY:
        move_contents(node, row, v, into)
        node[v, TOUCHED] = GONE
    else:
        add_child(node, into, v)


@jit
def expand(node, leaf, row, free, clock, work, v):
    """Work out one level below lazy node v; return its number, which can change."""
    n_rows, largest = 0, -1
    r = node[v, ROW]
    while r >= 0:
        work[n_rows, 1] = r
        n_rows += 1
        r = row[r, ROW_NEXT]
    node[v, ROW] = -1
    clock[N_TOUCHES] += 1
    now = clock[N_TOUCHES]
    w = node[v, CHILD]
    while w >= 0:
        node[w, MEMBER] = now
        if node[w, STATE] != IS_LEAF and (
            largest < 0 or node[w, N_CHILDREN] > node[largest, N_CHILDREN]
        ):
            largest = w
        w = node[w, NEXT]
    # Which units belong together.
    n_touched = 0
    for at in range(n_rows):
        r = work[at, 1]
        a, b = unit_of(node, leaf, clock, row[r, A]), unit_of(node, leaf, clock, row[r, B])
        n_touched = touch(node, clock, work, n_touched, a)
        n_touched = touch(node, clock, work, n_touched, b)
        join_units(node, a, b)
    # The units become the children of one node, the largest member if there is one.
    if largest >= 0:
        w = node[v, CHILD]
        while w >= 0:
            after = node[w, NEXT]
            if node[w, STATE] == IS_LEAF:
                add_child(node, largest, w)
            elif w != largest:
                move_contents(node, row, w, largest)
                release(free, clock, w)
            w = after
        move_cells(node, row, v, largest)
        add_child(node, node[v, UP], largest)
        remove_child(node, v)
        node[largest, TAG] = node[v, TAG]
        release(free, clock, v)
        v = largest
    node[v, MEMBER] = now
    node[v, STATE] = EXPANDED
    # A link between two leaves is settled: one of them goes.
    n_kept = 0
    for at in range(n_rows):
        r = work[at, 1]
        if row[r, C] < 0:
            a, b = unit_of(node, leaf, clock, row[r, A]), unit_of(node, leaf, clock, row[r, B])
            if node[a, STATE] == IS_LEAF and node[b, STATE] == IS_LEAF:
                settle(node, leaf, a, b)
                move_cells(node, row, a, b)
                remove_child(node, a)
                node[a, TOUCHED] = GONE
                node[root_of(node, a), N_UNITS] -= 1
                continue
        work[n_kept, 1] = r
        n_kept += 1
    for lazy in (True, False):
        for at in range(n_touched):
            w = work[at, 3]
            root = root_of(node, w)
            if (
                node[root, N_UNITS] > 1
                and node[w, TOUCHED] != GONE
                and (node[w, STATE] == LAZY) == lazy
            ):
                take_in(node, row, free, clock, v, w, root)
    for at in range(n_kept):
        r = work[at, 1]
        a = part_of(node, clock, unit_of(node, leaf, clock, row[r, A]))
        c = a if row[r, C] < 0 else part_of(node, clock, unit_of(node, leaf, clock, row[r, C]))
        if a == c:
            add_row(node, row, a, r)
        else:
            add_row(node, row, v, r)
            add_cell(node, row, a, 2 * r)
            add_cell(node, row, c, 2 * r + 1)
    for at in range(n_touched):
        if node[work[at, 3], TOUCHED] == GONE:
            release(free, clock, work[at, 3])
    return v


@jit
def part_of(node, clock, v):
    """The node that holds unit v: that of its part, or v itself if it is alone."""
    if node[v, TOUCHED] != clock[N_TOUCHES] and node[v, TOUCHED] != GONE:
        return v
    into = node[root_of(node, v), FUSED]
    return into if into >= 0 else v


@jit
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


@jit
def unite(node, leaf, row, i, j):
    """Make cluster i part of cluster j, or the reverse; drop triplets ij|c."""
    if leaf[i, N_SIDES] > leaf[j, N_SIDES]:
        i, j = j, i
    leaf[i, SET] = j
    leaf[j, LIVE] += leaf[i, LIVE]
    side = leaf[i, SIDE]
    while side >= 0:
        r = side >> 1
        after = row[r, NEXT_SIDE + (side & 1)]
        if row[r, HOME] >= 0:
            if cluster_of(leaf, row[r, A]) == cluster_of(leaf, row[r, B]):
                remove_row(node, row, r)
                remove_cell(node, row, 2 * r)
                remove_cell(node, row, 2 * r + 1)
                row[r, HOME] = -1
                leaf[j, LIVE] -= 2
                leaf[cluster_of(leaf, row[r, C]), LIVE] -= 1
            else:
                add_side(leaf, row, j, side)
        side = after
    return j
