"""The BUILD tree of a set of triplets, kept up to date while clusters are merged.

ReCon asks before each merge whether the triplets stay consistent. The tree answers most of these
questions at the node u where the two clusters i and j meet, with P and Q the children of u that
hold them:

* P and Q are i and j themselves: yes;
* u has no other children: no, the merge would leave nothing to split;
* no triplet decided at u (ab below one child, c below another) joins P and Q: yes, and the tree of
  the merged set is the old one with the two paths below u zipped together;
* otherwise BUILD on P ∪ Q alone decides.

A node is expanded into its parts when a question first lies inside it. Clusters named by no live
triplet are free to merge and need not be in the tree at all.

State, plain integer arrays with named columns:

    node      (2 l + 2, 21)       nodes; the first l are the leaves at the start, then the root
    leaf      (l, 9)              clusters, as a union-find forest over those at the start
    row       (m, 14)             triplets; each is listed at its home node and, once decided there,
                                  in one cell list at the child that holds a and b and one at the
                                  child that holds c
    free      (2 l + 2,)          unused node numbers
    clock     (6,)                counters
    work      (2 l + m + 4, 5)    scratch
    refused   (2^b,)              pairs of nodes or clusters known to be refused, a hash table
"""

import numpy as np

from conclust._kernels._jit import jit

UP, CHILD, NEXT, PREV, N_CHILDREN, STATE, LEAF = range(7)
CELL, N_CELLS, ROW, TAG, STAMP, VIA, ANSWER = range(7, 14)
UNIT, N_UNITS, TOUCHED, FUSED, SEEN, HOLDER, MEMBER = range(14, 21)  # used by one test
N_NODE_COLUMNS = 21
LAZY, EXPANDED, IS_LEAF = 0, 1, 2

SET, NODE, LIVE, SIDE, LAST_SIDE, N_SIDES, PART, NUMBER, OPEN = range(9)
N_LEAF_COLUMNS = 9

A, B, C, HOME, ROW_PREV, ROW_NEXT, CELL_0 = range(7)
OWNER, CELL_PREV, CELL_NEXT = range(3)  # of the cell of a and b, then of the cell of c
NEXT_SIDE = 12  # of a, then of b
N_ROW_COLUMNS = 14

N_FREE, N_TAGS, N_STAMPS, N_TESTS, N_TOUCHES, N_REFUSED = range(6)

FIRST_TABLE = 1024


def new_state(triplets, n_leaves):
    """Allocate the arrays and put all leaves and triplets under a root that is not yet expanded."""
    n_nodes = 2 * n_leaves + 2
    node = np.full((n_nodes, N_NODE_COLUMNS), -1, dtype=np.int64)
    leaf = np.full((n_leaves, N_LEAF_COLUMNS), -1, dtype=np.int64)
    row = np.full((len(triplets), N_ROW_COLUMNS), -1, dtype=np.int64)
    row[:, :3] = triplets
    free = np.arange(n_nodes)
    clock = np.zeros(6, dtype=np.int64)
    work = np.empty((n_nodes + len(triplets) + 2, 5), dtype=np.int64)
    refused = np.full(FIRST_TABLE, -1, dtype=np.int64)
    fill(node, leaf, row, free, clock)
    return node, leaf, row, free, clock, work, refused


@jit
def fill(node, leaf, row, free, clock):
    """Link up a fresh state."""
    n = len(leaf)
    clock[N_TAGS] = 4 * n + 4  # tags of nodes never equal numbers of clusters
    for at in range(len(free)):
        free[at] = len(free) - 1 - at
    clock[N_FREE] = len(free)
    for i in range(n):
        v = new_node(node, free, clock)
        node[v, STATE] = IS_LEAF
        node[v, LEAF] = i
        leaf[i, SET] = i
        leaf[i, NODE] = v
        leaf[i, LIVE] = 0
        leaf[i, N_SIDES] = 0
    root = new_node(node, free, clock)
    for i in range(n):
        add_child(node, root, i)
    for r in range(len(row)):
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
    node[v, ANSWER] = node[v, TOUCHED] = node[v, SEEN] = node[v, MEMBER] = -1
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
def part_of(leaf, i):
    while leaf[i, PART] != i:
        leaf[i, PART] = leaf[leaf[i, PART], PART]
        i = leaf[i, PART]
    return i


@jit
def expand(node, leaf, row, free, clock, work, v):
    """Split a lazy node, all of whose children are leaves, into the parts of one BUILD level."""
    node[v, STATE] = EXPANDED
    if node[v, ROW] < 0:
        return
    n_leaves = 0
    w = node[v, CHILD]
    while w >= 0:
        i = node[w, LEAF]
        leaf[i, PART] = i
        leaf[i, NUMBER] = -1
        work[n_leaves, 0] = w
        n_leaves += 1
        w = node[w, NEXT]
    n_rows = 0
    r = node[v, ROW]
    while r >= 0:
        work[n_rows, 1] = r
        n_rows += 1
        p = part_of(leaf, cluster_of(leaf, row[r, A]))
        q = part_of(leaf, cluster_of(leaf, row[r, B]))
        if p != q:
            leaf[p, PART] = q
        r = row[r, ROW_NEXT]
    # A part of two or more leaves becomes a node of its own.
    for at in range(n_leaves):
        w = work[at, 0]
        i = node[w, LEAF]
        p = part_of(leaf, i)
        if p != i and leaf[p, NUMBER] < 0:
            part = new_node(node, free, clock)
            add_child(node, v, part)
            leaf[p, NUMBER] = part
    for at in range(n_leaves):
        w = work[at, 0]
        part = leaf[part_of(leaf, node[w, LEAF]), NUMBER]
        if part >= 0:
            remove_child(node, w)
            add_child(node, part, w)
    for at in range(n_rows):
        r = work[at, 1]
        p = part_of(leaf, cluster_of(leaf, row[r, A]))
        c = cluster_of(leaf, row[r, C])
        q = part_of(leaf, c)
        if p == q:
            remove_row(node, row, r)
            add_row(node, row, leaf[p, NUMBER], r)
        else:
            side_of_c = leaf[q, NUMBER] if leaf[q, NUMBER] >= 0 else leaf[c, NODE]
            add_cell(node, row, leaf[p, NUMBER], 2 * r)
            add_cell(node, row, side_of_c, 2 * r + 1)


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
    start = leaf[i, NODE]
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
        clock[N_TOUCHES] += 1
        n_parts = 0
        for at in range(n_members):
            v = work[at, 2]
            if node[v, STATE] == LAZY:
                expand(node, leaf, row, free, clock, work, v)
            node[v, MEMBER] = clock[N_TOUCHES]
            n_parts += 1 if node[v, STATE] == IS_LEAF else node[v, N_CHILDREN]
        n_touched = 0
        for at in range(n_rows):
            r = work[at, 4]
            a = unit_of(node, leaf, clock, cluster_of(leaf, row[r, A]))
            b = unit_of(node, leaf, clock, cluster_of(leaf, row[r, B]))
            n_touched = touch(node, clock, work, n_touched, a)
            n_touched = touch(node, clock, work, n_touched, b)
            n_parts -= join_units(node, a, b)
        if top and n_parts == 2:
            return -1
        top = False
        a, b = unit_of(node, leaf, clock, i), unit_of(node, leaf, clock, j)
        n_touched = touch(node, clock, work, n_touched, a)
        n_touched = touch(node, clock, work, n_touched, b)
        n_parts -= join_units(node, a, b)
        if n_parts == 1:
            return 0
        part = root_of(node, a)
        n_kept = 0
        for at in range(n_rows):
            r = work[at, 4]
            a = unit_of(node, leaf, clock, cluster_of(leaf, row[r, A]))
            c = unit_of(node, leaf, clock, cluster_of(leaf, row[r, C]))
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
    while refused[at] != key and refused[at] >= 0:
        at = (at + 1) & (len(refused) - 1)
    return at


@jit
def is_refused(refused, key):
    return refused[slot_of(refused, key)] == key


@jit
def refuse(refused, clock, key):
    """Remember a refused pair. The caller sees to it that the table is never full."""
    at = slot_of(refused, key)
    if refused[at] != key:
        refused[at] = key
        clock[N_REFUSED] += 1


@jit
def roomy(refused, clock):
    """The table, or one of twice its size once it is half full."""
    if 2 * clock[N_REFUSED] < len(refused):
        return refused
    larger = np.full(2 * len(refused), -1, np.int64)
    for key in refused:
        if key >= 0:
            larger[slot_of(larger, key)] = key
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
    v, below = leaf[i, NODE], -1
    while v >= 0:
        node[v, STAMP] = clock[N_STAMPS]
        node[v, VIA] = below
        below = v
        v = node[v, UP]


@jit
def meet(node, leaf, row, free, clock, work, i, j):
    """Where clusters i (stamped) and j part: the lowest node above both, and its two children."""
    while True:
        q, v = -1, leaf[j, NODE]
        while node[v, STAMP] != clock[N_STAMPS]:
            q = v
            v = node[v, UP]
        if node[v, STATE] != LAZY:
            return v, node[v, VIA], q
        expand(node, leaf, row, free, clock, work, v)
        restamp(node, leaf, clock, i)


@jit
def surely_not(node, leaf, row, free, clock, work, refused, i, j):
    """Whether the tree refuses i (stamped) and j at a glance; False when a test has to tell.

    The answer is the same for all clusters below Q, so it is left there for the next questions
    about i: a row of questions visits each node once.
    """
    now = clock[N_STAMPS]
    start = leaf[j, NODE]
    v, q = start, -1
    while node[v, STAMP] != now:
        if node[v, ANSWER] >> 1 == now:
            answer = node[v, ANSWER] & 1
            break
        q = v
        v = node[v, UP]
    else:
        if node[v, STATE] == LAZY:
            expand(node, leaf, row, free, clock, work, v)
            restamp(node, leaf, clock, i)
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
    p = leaf[i, NODE]
    while node[p, UP] >= 0:
        u = node[p, UP]
        if node[u, STATE] == LAZY:
            expand(node, leaf, row, free, clock, work, u)
            restamp(node, leaf, clock, i)
            p = leaf[i, NODE]
            continue
        q = node[u, CHILD]
        while q >= 0:
            if q != p and glance(node, refused, u, p, q) == 0:
                stack = 0
                work[stack, 0] = q
                while stack >= 0:
                    v = work[stack, 0]
                    stack -= 1
                    if node[v, STATE] == IS_LEAF:
                        leaf[node[v, LEAF], OPEN] = now
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
    u, p, q = meet(node, leaf, row, free, clock, work, i, j)
    if node[p, STATE] == IS_LEAF and node[q, STATE] == IS_LEAF:
        return True
    if glance(node, refused, u, p, q):
        return False
    if not joined_by_row(node, row, p, q):
        return True
    answer = compatible(node, leaf, row, free, clock, work, p, q, i, j)
    if answer < 0:
        # Every pair of P × Q is refused until P or Q grows: merges inside contract a connected
        # graph, which stays connected.
        key = pair_key(node[p, TAG], node[q, TAG])
        refuse(refused, clock, key)
    return answer > 0


@jit
def merge(node, leaf, row, free, clock, work, i, j):
    """Make clusters i and j one, where `may_merge` said yes; return which of the two remains."""
    stamp(node, leaf, clock, i)
    u, p, q = meet(node, leaf, row, free, clock, work, i, j)
    both_leaves = node[p, STATE] == IS_LEAF and node[q, STATE] == IS_LEAF
    if both_leaves and node[u, N_CHILDREN] == 2:
        release(free, clock, p)
        release(free, clock, q)
        node[u, STATE] = IS_LEAF
        node[u, CHILD] = -1
        node[u, N_CHILDREN] = 0
        at = u
    elif both_leaves or not joined_by_row(node, row, p, q):
        at = zip_paths(node, leaf, row, free, clock, work, p, q, i, j)
    else:
        at = fuse(node, leaf, row, free, clock, work, p, q, i, j)
    return unite(node, leaf, row, at, i, j)


@jit
def zip_paths(node, leaf, row, free, clock, work, p, q, i, j):
    """Join siblings p (with i) and q (with j) level by level; return the node of the new leaf."""
    while True:
        if node[p, STATE] == IS_LEAF or node[q, STATE] == IS_LEAF:
            # The leaf goes into the other one, wherever its cluster is in there.
            if node[q, STATE] == IS_LEAF and (
                node[p, STATE] != IS_LEAF or node[q, N_CELLS] < node[p, N_CELLS]
            ):
                p, q, i, j = q, p, j, i
            move_cells(node, row, p, q)
            remove_child(node, p)
            release(free, clock, p)
            retag(node, clock, q)
            return leaf[j, NODE]
        if node[p, STATE] != node[q, STATE]:
            expand(node, leaf, row, free, clock, work, p if node[p, STATE] == LAZY else q)
        if node[p, N_CHILDREN] > node[q, N_CHILDREN]:
            p, q, i, j = q, p, j, i
        lazy = node[p, STATE] == LAZY
        p_below, q_below = below(node, leaf, p, i), below(node, leaf, q, j)
        move_cells(node, row, p, q)
        move_contents(node, row, p, q)
        remove_child(node, p)
        release(free, clock, p)
        retag(node, clock, q)
        if lazy:
            remove_child(node, p_below)
            release(free, clock, p_below)
            return q_below
        p, q = p_below, q_below


@jit
def below(node, leaf, v, i):
    """The child of v that holds cluster i."""
    w = leaf[i, NODE]
    while node[w, UP] != v:
        w = node[w, UP]
    return w


@jit
def fuse(node, leaf, row, free, clock, work, p, q, i, j):
    """Join siblings p (with i) and q (with j) that triplets join; return the node of the new leaf.

    The children of both become children of one node. Those that the joining triplets, now decided
    below, or the merge itself put together become one lazy node; all others stay as they are.
    """
    while True:
        for v in (p, q):
            if node[v, STATE] == LAZY:
                expand(node, leaf, row, free, clock, work, v)
        if node[q, STATE] == IS_LEAF or (
            node[p, STATE] != IS_LEAF and node[p, N_CHILDREN] > node[q, N_CHILDREN]
        ):
            p, q, i, j = q, p, j, i
        n_rows = crossing_rows(node, row, work, p, q)
        for at in range(n_rows):
            r = work[at, 4]
            remove_cell(node, row, 2 * r)
            remove_cell(node, row, 2 * r + 1)
            remove_row(node, row, r)
        move_cells(node, row, p, q)
        remove_child(node, p)
        if node[p, STATE] == IS_LEAF:
            add_child(node, q, p)
        else:
            move_contents(node, row, p, q)
            release(free, clock, p)
        retag(node, clock, q)
        clock[N_TOUCHES] += 1
        node[q, MEMBER] = clock[N_TOUCHES]
        n_touched = 0
        for at in range(n_rows):
            r = work[at, 4]
            a = unit_of(node, leaf, clock, cluster_of(leaf, row[r, A]))
            b = unit_of(node, leaf, clock, cluster_of(leaf, row[r, B]))
            c = unit_of(node, leaf, clock, cluster_of(leaf, row[r, C]))
            n_touched = touch(node, clock, work, n_touched, a)
            n_touched = touch(node, clock, work, n_touched, b)
            add_row(node, row, q, r)
            add_cell(node, row, a, 2 * r)
            add_cell(node, row, c, 2 * r + 1)
            join_units(node, a, b)
        p_unit, q_unit = below(node, leaf, q, i), below(node, leaf, q, j)
        n_touched = touch(node, clock, work, n_touched, p_unit)
        n_touched = touch(node, clock, work, n_touched, q_unit)
        join_units(node, p_unit, q_unit)
        part = root_of(node, p_unit)
        alone = node[part, N_UNITS] == 2
        for at in range(n_touched):
            v = work[at, 3]
            root = root_of(node, v)
            if node[root, N_UNITS] > 1 and not (alone and root == part):
                take_in(node, leaf, row, free, clock, work, q, v, root)
        if not alone:
            v = leaf[i, NODE]
            remove_child(node, v)
            release(free, clock, v)
            return leaf[j, NODE]
        if not joined_by_row(node, row, p_unit, q_unit):
            return zip_paths(node, leaf, row, free, clock, work, p_unit, q_unit, i, j)
        p, q = p_unit, q_unit


@jit
def take_in(node, leaf, row, free, clock, work, q, v, root):
    """Move all below v, a child of q, into the lazy node that its part becomes."""
    if node[root, FUSED] < 0:
        node[root, FUSED] = new_node(node, free, clock)
        add_child(node, q, node[root, FUSED])
    into = node[root, FUSED]
    cell = node[v, CELL]
    while cell >= 0:
        r = cell >> 1
        after = row[r, CELL_0 + 3 * (cell & 1) + CELL_NEXT]
        other = row[r, CELL_0 + 3 * (1 - (cell & 1)) + OWNER]
        if other == into or in_part(node, clock, other, root):
            remove_cell(node, row, 2 * r)
            remove_cell(node, row, 2 * r + 1)
            remove_row(node, row, r)
            add_row(node, row, into, r)
        else:
            remove_cell(node, row, cell)
            add_cell(node, row, into, cell)
        cell = after
    node[v, TOUCHED] = -1
    remove_child(node, v)
    stack = 0
    work[stack, 0] = v
    while stack >= 0:
        x = work[stack, 0]
        stack -= 1
        if node[x, STATE] == IS_LEAF:
            node[x, CELL] = -1
            node[x, N_CELLS] = 0
            add_child(node, into, x)
            continue
        r = node[x, ROW]
        while r >= 0:
            after = row[r, ROW_NEXT]
            row[r, CELL_0 + OWNER] = row[r, CELL_0 + 3 + OWNER] = -1
            add_row(node, row, into, r)
            r = after
        w = node[x, CHILD]
        while w >= 0:
            stack += 1
            work[stack, 0] = w
            w = node[w, NEXT]
        release(free, clock, x)


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
def unite(node, leaf, row, at, i, j):
    """Make cluster i part of cluster j, or the reverse, at a node; drop triplets ij|c."""
    if leaf[i, N_SIDES] > leaf[j, N_SIDES]:
        i, j = j, i
    leaf[i, SET] = j
    leaf[j, NODE] = at
    node[at, LEAF] = j
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
