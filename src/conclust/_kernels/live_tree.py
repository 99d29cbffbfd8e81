r"""The BUILD tree of a set of triplets, kept up to date while clusters are merged.

ReCon asks before each merge whether the triplets stay consistent. The tree answers most of these
questions at the node u where the two clusters i and j meet, with P and Q the children of u that
hold them:

* P and Q are i and j themselves: yes;
* u has no other children: no, the merge would leave nothing to split;
* no triplet decided at u (ab below one child, c below another) joins P and Q: yes, and the tree of
  the merged set is the old one with the two paths below u zipped together;
* otherwise BUILD on P ∪ Q alone decides.

One merge, of i and j. The paths below u that lead to them become one, level by level; whatever
hangs beside them (s, t) or beside P and Q (r) stays as it is, with everything below::

           u                        u                        u
        /  |  \                   /   \                    /   \
       P   Q   r     merge     (PQ)    r     expand       PQ    r
      / \  |\       ------>    /  \         ------->    / | \
     i   s j t                P    Q                   ij s  t
                             / \   |\
                            i   s  j t
                            +------+  link

Work is put off until a question needs it. A lazy node, in brackets above, stands for the BUILD tree
of all leaves below it, which is not worked out yet: its children, the members, are leaves or
expanded nodes, right each for itself, and its rows are the triplets that go across them. A merge
puts P and Q below one lazy node, with a link: a row that says that i and j, each still a leaf below
its member, are one cluster. Expanding takes one level of the members away. Their children are the
units; those that a row or a link puts together are the members of a lazy node one level down, all
others stay as they are, with everything below. So a merge costs what it changes, not what lies
below. The path above a cluster is worked out before questions about it (`stamp`).

Clusters named by no live triplet are free to merge and need not be in the tree at all.
"""

from conclust._kernels._jit import helper, jit

# fmt: off
from conclust._kernels.live_lists import (  # isort: skip
    A, ANSWER, B, C, CELL, CELL_0, CELL_NEXT, CHILD, EXPANDED, FUSED, GONE, HOLDER, HOME, IS_LEAF,
    LAST_SIDE, LAZY, LEAF, LEVEL_ROW, LEVEL_UNIT, LIVE, MEMBER, N_CELLS, N_CHILDREN, N_JOINED,
    N_LEVELS, N_LINKS, N_REFUSED, N_SIDES, N_STAMPS, N_TAGS, N_TESTS, N_TOUCHED, N_UNITS, NEXT,
    NEXT_SIDE, NODE, OPEN, OWNER, PLACE, ROW, ROW_NEXT, SEEN, SET, SIDE, STACK, STAMP, STATE, TAG,
    TEST_MEMBER, TEST_ROW, TOUCHED, UNIT, UP, VIA, WITNESS, add_cell, add_child, add_row,
    move_cells, move_contents, new_node, release, remove_cell, remove_child, remove_row,
    root_of,
)
# fmt: on


# ------------------------------------------------------------------ one level of the tree


@helper
def unit_of(node, leaf, clock, i):
    """The child of a member of the level that holds cluster i; the member itself if it is a leaf.

    The answer is left along the path, so that the questions of one level climb each path once.
    """
    now = clock[N_LEVELS]
    start = leaf[root_of(leaf, PLACE, i), NODE]
    v = start
    while node[v, SEEN] != now and node[v, MEMBER] != now and node[node[v, UP], MEMBER] != now:
        v = node[v, UP]
    unit = node[v, HOLDER] if node[v, SEEN] == now else v
    while start != v:
        node[start, SEEN], node[start, HOLDER] = now, unit
        start = node[start, UP]
    node[v, SEEN], node[v, HOLDER] = now, unit
    return unit


@helper
def join_units(node, leaf, clock, work, i, j):
    """Put the units that hold clusters i and j into one part of the level.

    Units are listed and made parts of their own when they are met first: most never are.
    """
    a, b = unit_of(node, leaf, clock, i), unit_of(node, leaf, clock, j)
    for v in (a, b):
        if node[v, TOUCHED] != clock[N_LEVELS]:
            node[v, TOUCHED] = clock[N_LEVELS]
            node[v, UNIT] = v
            node[v, N_UNITS] = 1
            node[v, FUSED] = -1
            work[clock[N_TOUCHED], LEVEL_UNIT] = v
            clock[N_TOUCHED] += 1
    a, b = root_of(node, UNIT, a), root_of(node, UNIT, b)
    if a != b:
        node[a, UNIT] = b
        node[b, N_UNITS] += node[a, N_UNITS]
        clock[N_JOINED] += 1


@helper
def in_part(node, clock, v, root):
    return node[v, TOUCHED] == clock[N_LEVELS] and root_of(node, UNIT, v) == root


@helper
def take_in(node, row, clock, u, v, root):
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
            # It grows, so nothing that was remembered about it holds any more.
            clock[N_TAGS] += 1
            node[v, TAG] = clock[N_TAGS]
            node[root, FUSED] = v
            return
        into = new_node(node, clock)
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


@helper
def part_of(node, leaf, clock, i):
    """The node that holds cluster i after its unit has joined a part, if it has."""
    v = unit_of(node, leaf, clock, i)
    if node[v, TOUCHED] != clock[N_LEVELS] and node[v, TOUCHED] != GONE:
        return v
    into = node[root_of(node, UNIT, v), FUSED]
    return into if into >= 0 else v


@helper
def expand(tree, v):
    """Work out one level below lazy node v; return its number, which can change."""
    node, leaf, row, clock, work = tree.node, tree.leaf, tree.row, tree.clock, tree.work
    clock[N_LEVELS] += 1
    clock[N_TOUCHED] = 0
    n_rows, largest = 0, -1
    r = node[v, ROW]
    while r >= 0:
        work[n_rows, LEVEL_ROW] = r
        n_rows += 1
        r = row[r, ROW_NEXT]
    node[v, ROW] = -1
    w = node[v, CHILD]
    while w >= 0:
        node[w, MEMBER] = clock[N_LEVELS]
        if node[w, STATE] != IS_LEAF and (
            largest < 0 or node[w, N_CHILDREN] > node[largest, N_CHILDREN]
        ):
            largest = w
        w = node[w, NEXT]
    # Which units belong together.
    for at in range(n_rows):
        r = work[at, LEVEL_ROW]
        join_units(node, leaf, clock, work, row[r, A], row[r, B])
    # The units become the children of one node, the largest member if there is one.
    if largest >= 0:
        w = node[v, CHILD]
        while w >= 0:
            after = node[w, NEXT]
            if node[w, STATE] == IS_LEAF:
                add_child(node, largest, w)
            elif w != largest:
                move_contents(node, row, w, largest)
                release(node, clock, w)
            w = after
        move_cells(node, row, v, largest)
        add_child(node, node[v, UP], largest)
        remove_child(node, v)
        node[largest, TAG] = node[v, TAG]  # the same clusters are below
        release(node, clock, v)
        v = largest
    node[v, MEMBER] = clock[N_LEVELS]
    node[v, STATE] = EXPANDED
    # A link between two leaves is settled: one of them goes.
    n_kept = 0
    for at in range(n_rows):
        r = work[at, LEVEL_ROW]
        settled = False
        if row[r, C] < 0:
            a = unit_of(node, leaf, clock, row[r, A])
            b = unit_of(node, leaf, clock, row[r, B])
            settled = node[a, STATE] == IS_LEAF and node[b, STATE] == IS_LEAF
            if settled:
                leaf[node[a, LEAF], PLACE] = node[b, LEAF]
                move_cells(node, row, a, b)
                remove_child(node, a)
                node[a, TOUCHED] = GONE
                node[root_of(node, UNIT, a), N_UNITS] -= 1
        if not settled:
            work[n_kept, LEVEL_ROW] = r
            n_kept += 1
    # Lazy units first: one of them becomes the node of its part.
    for lazy in (True, False):
        for at in range(clock[N_TOUCHED]):
            w = work[at, LEVEL_UNIT]
            root = root_of(node, UNIT, w)
            if (
                node[root, N_UNITS] > 1
                and node[w, TOUCHED] != GONE
                and (node[w, STATE] == LAZY) == lazy
            ):
                take_in(node, row, clock, v, w, root)
    # A triplet is decided here, or goes down with the part that holds all of it.
    for at in range(n_kept):
        r = work[at, LEVEL_ROW]
        a = part_of(node, leaf, clock, row[r, A])
        c = a if row[r, C] < 0 else part_of(node, leaf, clock, row[r, C])
        if a == c:
            add_row(node, row, a, r)
        else:
            add_row(node, row, v, r)
            add_cell(node, row, a, 2 * r)
            add_cell(node, row, c, 2 * r + 1)
    for at in range(clock[N_TOUCHED]):
        if node[work[at, LEVEL_UNIT], TOUCHED] == GONE:
            release(node, clock, work[at, LEVEL_UNIT])
    return v


# ------------------------------------------------------------------ pairs known to be refused


@helper
def slot_of(refused, x, y):
    """Where the pair of x and y stands in the table, or ~slot where it would: linear probing.

    Pairs are of clusters, or of tags of nodes.
    """
    high, low = min(x, y), max(x, y)
    key = (high << 31) | low
    at = (((high * 2654435761) >> 9) ^ (low * 40503)) & (len(refused) - 1)
    while refused[at, 0] != key and refused[at, 0] >= 0:
        at = (at + 1) & (len(refused) - 1)
    return at if refused[at, 0] == key else ~at


@helper
def refuse(refused, clock, x, y, witness):
    """Remember a refused pair. The caller sees to it that the table is never full."""
    at = slot_of(refused, x, y)
    if at < 0:
        at = ~at
        refused[at, 0] = (min(x, y) << 31) | max(x, y)
        clock[N_REFUSED] += 1
    refused[at, 1] = witness


@jit
def rehash(refused, clock, alive, larger):
    """Move the table into a larger one; pairs of clusters that are gone stay behind.

    alive    (n,) bool        in    which clusters there are; higher numbers are tags of nodes
    larger   (2^b, 2) int64   out
    """
    clock[N_REFUSED] = 0
    for at in range(len(refused)):
        key = refused[at, 0]
        if key >= 0:
            x, y = key >> 31, key & 0x7FFFFFFF
            if x >= len(alive) or (alive[x] and alive[y]):
                refuse(larger, clock, x, y, refused[at, 1])


# ------------------------------------------------------------------ questions about one cluster


@helper
def stamp(tree, i):
    """Work out the path from cluster i to the root and mark it, for the questions that follow."""
    node, leaf, clock = tree.node, tree.leaf, tree.clock
    done = -1  # nothing is lazy from this node on upwards
    lazy = 0
    while lazy >= 0:
        lazy = -1
        v = leaf[root_of(leaf, PLACE, i), NODE]
        while v != done:
            if node[v, STATE] == LAZY:
                lazy = v
            v = node[v, UP]
        if lazy >= 0:
            done = expand(tree, lazy)
    clock[N_STAMPS] += 1
    v, below = leaf[root_of(leaf, PLACE, i), NODE], -1
    while v >= 0:
        node[v, STAMP] = clock[N_STAMPS]
        node[v, VIA] = below
        below = v
        v = node[v, UP]


@helper
def glance(node, refused, u, p, q):
    """1 when every pair of P × Q is known to be refused, else 0."""
    if node[p, STATE] == IS_LEAF and node[q, STATE] == IS_LEAF:
        return 0
    if node[u, N_CHILDREN] == 2:
        return 1
    return 1 if slot_of(refused, node[p, TAG], node[q, TAG]) >= 0 else 0


@helper
def surely_not(node, leaf, refused, now, j):
    """Whether the tree refuses the stamped cluster and j at a glance; False: a test has to tell.

    The answer is the same for all clusters below Q, so it is left there for the next questions
    about the stamped one: a row of questions visits each node once. `now` is the stamp.
    """
    start = leaf[root_of(leaf, PLACE, j), NODE]
    v, q = start, -1
    while node[v, STAMP] != now and node[v, ANSWER] >> 1 != now:
        q = v
        v = node[v, UP]
    if node[v, STAMP] == now:
        answer = glance(node, refused, v, node[v, VIA], q)
    else:
        answer = node[v, ANSWER] & 1
    while start != v:
        node[start, ANSWER] = 2 * now + answer
        start = node[start, UP]
    return answer == 1


@helper
def mark_open(tree, i):
    """Mark all clusters that `surely_not` does not refuse to i (stamped), from the top down.

    Cheaper than asking for each one when nearly all are refused.
    """
    node, leaf, work, refused = tree.node, tree.leaf, tree.work, tree.refused
    now = tree.clock[N_STAMPS]
    p = leaf[root_of(leaf, PLACE, i), NODE]
    while node[p, UP] >= 0:
        u = node[p, UP]
        q = node[u, CHILD]
        while q >= 0:
            if q != p and glance(node, refused, u, p, q) == 0:
                stack = 0
                work[stack, STACK] = q
                while stack >= 0:
                    v = work[stack, STACK]
                    stack -= 1
                    if node[v, STATE] == IS_LEAF:
                        leaf[root_of(leaf, SET, node[v, LEAF]), OPEN] = now
                    w = node[v, CHILD]
                    while w >= 0:
                        stack += 1
                        work[stack, STACK] = w
                        w = node[w, NEXT]
            q = node[q, NEXT]
        p = u


@helper
def crossing_rows(node, row, work, p, q):
    """List the triplets that join p and q, decided above both; return their number."""
    if node[p, N_CELLS] > node[q, N_CELLS]:
        p, q = q, p
    n_rows = 0
    cell = node[p, CELL]
    while cell >= 0:
        r = cell >> 1
        if row[r, CELL_0 + 3 * (1 - (cell & 1)) + OWNER] == q:
            work[n_rows, TEST_ROW] = r
            n_rows += 1
        cell = row[r, CELL_0 + 3 * (cell & 1) + CELL_NEXT]
    return n_rows


@helper
def compatible(tree, n_rows, p, q, i, j):
    """TestCompatibility of the paper on P ∪ Q: +1 yes, 0 no, -1 no for any pair of P × Q.

    Members of the test are nodes, P and Q at first. Below a member the tree stays as it is, so its
    children are the units of the next level, and only the triplets between members put units
    together, and the merge of i and j. The units in the part of i and j are the next members. With
    no triplet left between members, nothing can get stuck.

    A no comes with a witness, a sample of a triplet at that level that is in neither i nor j. Where
    merging i and j gets BUILD stuck, whatever contains them gets it stuck as well as long as
    something else is left there: merges contract a connected graph, which stays connected.
    """
    node, leaf, row, clock, work = tree.node, tree.leaf, tree.row, tree.clock, tree.work
    clock[N_TESTS] += 1
    work[0, TEST_MEMBER], work[1, TEST_MEMBER] = p, q
    n_members, top, answer = 2, True, 1
    while n_rows > 0:
        for at in range(n_members):
            if node[work[at, TEST_MEMBER], STATE] == LAZY:
                work[at, TEST_MEMBER] = expand(tree, work[at, TEST_MEMBER])
        clock[N_LEVELS] += 1
        clock[N_TOUCHED] = clock[N_JOINED] = 0
        n_units = 0
        for at in range(n_members):
            v = work[at, TEST_MEMBER]
            node[v, MEMBER] = clock[N_LEVELS]
            n_units += 1 if node[v, STATE] == IS_LEAF else node[v, N_CHILDREN]
        for at in range(n_rows):
            r = work[at, TEST_ROW]
            join_units(node, leaf, clock, work, row[r, A], row[r, B])
        if top and n_units - clock[N_JOINED] == 2:
            answer = -1  # the triplets alone leave two parts: whichever pair merges, one is left
        else:
            join_units(node, leaf, clock, work, i, j)
            if n_units - clock[N_JOINED] == 1:
                answer = 0
        if answer < 1:
            r = work[0, TEST_ROW]
            for side in (C, A, B):
                w = root_of(leaf, SET, row[r, side])
                if w not in (i, j):
                    clock[WITNESS] = row[r, side]
                    break
            break
        root = root_of(node, UNIT, unit_of(node, leaf, clock, i))
        n_kept = 0
        for at in range(n_rows):
            r = work[at, TEST_ROW]
            a = unit_of(node, leaf, clock, row[r, A])
            c = unit_of(node, leaf, clock, row[r, C])
            if in_part(node, clock, a, root) and in_part(node, clock, c, root):
                work[n_kept, TEST_ROW] = r
                n_kept += 1
        for at in range(n_members):
            v = work[at, TEST_MEMBER]
            r = node[v, ROW] if node[v, STATE] != IS_LEAF else -1
            while r >= 0:
                if in_part(node, clock, row[r, CELL_0 + OWNER], root) and in_part(
                    node, clock, row[r, CELL_0 + 3 + OWNER], root
                ):
                    work[n_kept, TEST_ROW] = r
                    n_kept += 1
                r = row[r, ROW_NEXT]
        n_rows, n_members, top = n_kept, 0, False
        for at in range(clock[N_TOUCHED]):
            if root_of(node, UNIT, work[at, LEVEL_UNIT]) == root:
                work[n_members, TEST_MEMBER] = work[at, LEVEL_UNIT]
                n_members += 1
    return answer


@helper
def meet(node, leaf, now, j):
    """Where the stamped cluster and j part: the lowest node above both, and its child above j."""
    q, v = -1, leaf[root_of(leaf, PLACE, j), NODE]
    while node[v, STAMP] != now:
        q = v
        v = node[v, UP]
    return v, q


@helper
def may_merge(tree, i, j):
    """Whether the triplets stay consistent when clusters i and j become one."""
    node, clock = tree.node, tree.clock
    clock[WITNESS] = -1
    stamp(tree, i)
    u, q = meet(node, tree.leaf, clock[N_STAMPS], j)
    p = node[u, VIA]
    if node[p, STATE] == IS_LEAF and node[q, STATE] == IS_LEAF:
        return True
    if glance(node, tree.refused, u, p, q) == 1:
        return False
    n_rows = crossing_rows(node, tree.row, tree.work, p, q)
    if n_rows == 0:
        return True
    tag_p, tag_q = node[p, TAG], node[q, TAG]  # nodes can change their numbers in a test
    answer = compatible(tree, n_rows, p, q, i, j)
    if answer < 0:
        # Every pair of P × Q is refused until P or Q grows: merges inside contract a connected
        # graph, which stays connected.
        refuse(tree.refused, clock, tag_p, tag_q, -1)
    return answer > 0


@helper
def merge(tree, i, j):
    """Make clusters i and j one, where `may_merge` said yes; return which of the two remains."""
    node, leaf, row, clock = tree.node, tree.leaf, tree.row, tree.clock
    stamp(tree, i)
    u, q = meet(node, leaf, clock[N_STAMPS], j)
    p = node[u, VIA]
    leaves = node[p, STATE] == IS_LEAF and node[q, STATE] == IS_LEAF
    if leaves and node[u, N_CHILDREN] == 2:
        # Nothing else is below u, which becomes the leaf.
        leaf[node[p, LEAF], PLACE] = node[q, LEAF]
        release(node, clock, p)
        release(node, clock, q)
        node[u, STATE] = IS_LEAF
        node[u, CHILD] = -1
        node[u, N_CHILDREN] = 0
        node[u, LEAF] = node[q, LEAF]
        leaf[node[u, LEAF], NODE] = u
        return unite(node, leaf, row, i, j)
    if node[q, STATE] == IS_LEAF and not (leaves and node[p, N_CELLS] < node[q, N_CELLS]):
        p, q, i, j = q, p, j, i
    if node[p, STATE] == IS_LEAF and crossing_rows(node, row, tree.work, p, q) == 0:
        # The leaf goes into the other one, wherever its cluster is in there.
        into = leaf[root_of(leaf, PLACE, j), NODE]
        leaf[node[p, LEAF], PLACE] = node[into, LEAF]
        move_cells(node, row, p, q)
        remove_child(node, p)
        release(node, clock, p)
        clock[N_TAGS] += 1
        node[q, TAG] = clock[N_TAGS]
        return unite(node, leaf, row, i, j)
    # A level with one part, that of p and q; the other children of u are not touched.
    clock[N_LEVELS] += 1
    for v in (p, q):
        node[v, TOUCHED] = clock[N_LEVELS]
        node[v, UNIT] = q
    node[q, FUSED] = -1
    root = q
    if node[q, STATE] == LAZY:
        p, q, i, j = q, p, j, i
    for v in (p, q):
        take_in(node, row, clock, u, v, root)
    link = clock[N_LINKS]
    clock[N_LINKS] += 1
    row[link, A], row[link, B] = i, j
    add_row(node, row, node[root, FUSED], link)
    for v in (p, q):
        if node[v, TOUCHED] == GONE:
            release(node, clock, v)
    return unite(node, leaf, row, i, j)


@helper
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
            if root_of(leaf, SET, row[r, A]) == root_of(leaf, SET, row[r, B]):
                remove_row(node, row, r)
                remove_cell(node, row, 2 * r)
                remove_cell(node, row, 2 * r + 1)
                row[r, HOME] = -1
                leaf[j, LIVE] -= 2
                leaf[root_of(leaf, SET, row[r, C]), LIVE] -= 1
            else:
                row[r, NEXT_SIDE + (side & 1)] = -1
                last = leaf[j, LAST_SIDE]
                if last >= 0:
                    row[last >> 1, NEXT_SIDE + (last & 1)] = side
                else:
                    leaf[j, SIDE] = side
                leaf[j, LAST_SIDE] = side
                leaf[j, N_SIDES] += 1
        side = after
    return j
