"""Put units into clusters, cheaply and with linked units apart: greedy start, descent, tabu repair.

A unit is a must-link component, its cost in a cluster the sum over its members; a link joins two
units that must not share a cluster. A link inside a cluster is *broken*. Everything here works on
the pair (weight of the broken links, total cost), smaller first component first. Graphs are CSR
(`indptr`, `indices`, and `weight` along `indices`), symmetric, without loops.
"""

import numpy as np

from conclust._kernels._jit import helper, inlined, jit

FREE = -1  # no cluster yet

# A change of cost (of broken weight) counts only above this share of the largest cost (weight):
# below it is rounding, and rounding up and down could go on for ever.
ROUNDING = 1e-12


@jit
def find_parents(indptr, indices, peeled, parent):
    """Find the one neighbour that was left when a leaf was peeled off.

    indptr, indices            int64   in    CSR of the graph
    peeled    (n_peeled,)      int64   in    units outside the 2-core, in the order of removal
    parent    (n_peeled,)      int64   out   FREE for the last unit of a tree
    """
    position = np.empty(len(indptr) - 1, np.int64)
    for u in range(len(position)):
        position[u] = len(indptr)
    for at in range(len(peeled)):
        position[peeled[at]] = at
    for at in range(len(peeled)):
        parent[at] = FREE
        for e in range(indptr[peeled[at]], indptr[peeled[at] + 1]):
            if position[indices[e]] > at:
                parent[at] = indices[e]


@jit
def fold_leaves(peeled, parent, cost):
    """Add to each unit's cost what its choice costs the leaves hanging on it.

    peeled, parent  (n_peeled,)            int64     in       see `find_parents`
    cost            (n_units, n_clusters)  float64   in/out   n_clusters >= 2

    A leaf v under p takes its cheapest cluster but p's, so p pays min_{d != c} cost[v, d] for
    choosing c: the least cost but for v's own cheapest cluster, where it is the second least.
    This is exact, so trees are placed at least cost and only the 2-core is left to search.
    """
    n_clusters = cost.shape[1]
    for at in range(len(peeled)):
        if parent[at] == FREE:
            continue
        leaf, unit = peeled[at], parent[at]
        best, second = _two_cheapest(cost, leaf)
        for c in range(n_clusters):
            cost[unit, c] += cost[leaf, second if c == best else best]


@jit
def unfold_leaves(peeled, parent, cost, labels):
    """Give each leaf its cheapest cluster but its parent's, from the core outwards.

    peeled, parent  (n_peeled,)            int64     in       see `find_parents`
    cost            (n_units, n_clusters)  float64   in       folded
    labels          (n_units,)             int64     in/out   set for the core, filled for the rest
    """
    for at in range(len(peeled) - 1, -1, -1):
        best, second = _two_cheapest(cost, peeled[at])
        taken = parent[at] != FREE and labels[parent[at]] == best
        labels[peeled[at]] = second if taken else best


@inlined
def _two_cheapest(cost, unit):
    """Return the cheapest and the second cheapest cluster, lower numbers first; FREE for none."""
    best, second = 0, FREE
    for c in range(1, cost.shape[1]):
        if cost[unit, c] < cost[unit, best]:
            best, second = c, best
        elif second == FREE or cost[unit, c] < cost[unit, second]:
            second = c
    return best, second


@jit
def violated_weight(indptr, indices, weight, component, labels, broken):
    """Sum the weight of the broken links of each component.

    indptr, indices                      int64     in    CSR of the graph
    weight        (nnz,)                 float64   in    along `indices`
    component, labels  (n_units,)        int64     in
    broken        (n_components,)        float64   out
    """
    broken[:] = 0.0
    for u in range(len(labels)):
        for e in range(indptr[u], indptr[u + 1]):
            if indices[e] > u and labels[indices[e]] == labels[u]:
                broken[component[u]] += weight[e]


@jit
def place_greedily(cost, indptr, indices, weight, labels):
    """Place the most constrained unit first, each in its cheapest cluster that breaks no link.

    cost              (n_units, n_clusters)  float64   in
    indptr, indices                          int64     in    CSR of the graph
    weight            (nnz,)                 float64   in    along `indices`
    labels            (n_units,)             int64     out

    Most constrained = fewest clusters still allowed, then largest regret (second cheapest allowed
    - cheapest allowed), then lowest number. A unit with no cluster left breaks the least weight.
    Returns the number of those units. O(links log n_units + n_units n_clusters).
    """
    n_units, n_clusters = cost.shape
    labels[:] = FREE
    taken = np.zeros((n_units, n_clusters), np.uint8)
    n_allowed = np.full(n_units, n_clusters, np.int64)
    best = np.empty(n_units, np.int64)
    second = np.empty(n_units, np.int64)
    regret = np.empty(n_units, np.float64)
    for u in range(n_units):
        _rank_allowed(cost, taken, u, best, second, regret)
    # A heap of units with their places in it. A unit only ever loses clusters, so its turn only
    # comes nearer: updates are a rise, never a fall.
    heap = np.arange(n_units)
    place = np.arange(n_units)
    for at in range(n_units // 2 - 1, -1, -1):
        _sink(heap, place, n_units, at, n_allowed, regret)
    n_stuck = 0
    clash = np.zeros(n_clusters, np.float64)
    for n_waiting in range(n_units - 1, -1, -1):
        u = heap[0]
        heap[0] = heap[n_waiting]
        place[heap[0]] = 0
        _sink(heap, place, n_waiting, 0, n_allowed, regret)
        chosen = best[u]
        if chosen == FREE:
            n_stuck += 1
            _add_clashes(indptr, indices, weight, labels, u, clash)
            chosen = _least_clash(cost, clash, u)
            clash[:] = 0.0
        labels[u] = chosen
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if labels[v] != FREE or taken[v, chosen]:
                continue
            taken[v, chosen] = 1
            n_allowed[v] -= 1
            if chosen == best[v] or chosen == second[v]:
                _rank_allowed(cost, taken, v, best, second, regret)
            _rise(heap, place, place[v], n_allowed, regret)
    return n_stuck


@helper
def _rank_allowed(cost, taken, u, best, second, regret):
    """Find the two cheapest clusters u may still take, and how much worse the second is."""
    first, other = FREE, FREE
    for c in range(cost.shape[1]):
        if taken[u, c]:
            continue
        if first == FREE or cost[u, c] < cost[u, first]:
            first, other = c, first
        elif other == FREE or cost[u, c] < cost[u, other]:
            other = c
    best[u], second[u] = first, other
    regret[u] = np.inf if other == FREE else cost[u, other] - cost[u, first]


@helper
def _comes_before(a, b, n_allowed, regret):
    if n_allowed[a] != n_allowed[b]:
        return n_allowed[a] < n_allowed[b]
    if regret[a] != regret[b]:
        return regret[a] > regret[b]
    return a < b


@helper
def _rise(heap, place, at, n_allowed, regret):
    u = heap[at]
    while at > 0:
        above = (at - 1) // 2
        if not _comes_before(u, heap[above], n_allowed, regret):
            break
        heap[at] = heap[above]
        place[heap[at]] = at
        at = above
    heap[at] = u
    place[u] = at


@helper
def _sink(heap, place, size, at, n_allowed, regret):
    u = heap[at]
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _comes_before(heap[below + 1], heap[below], n_allowed, regret):
            below += 1
        if not _comes_before(heap[below], u, n_allowed, regret):
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = u
    place[u] = at


@helper
def _add_clashes(indptr, indices, weight, labels, u, clash):
    """Add to clash[c] the weight of the links from u into cluster c."""
    for e in range(indptr[u], indptr[u + 1]):
        if labels[indices[e]] != FREE:
            clash[labels[indices[e]]] += weight[e]


@helper
def _least_clash(cost, clash, u):
    chosen = 0
    for c in range(1, len(clash)):
        if clash[c] < clash[chosen] or (clash[c] == clash[chosen] and cost[u, c] < cost[u, chosen]):
            chosen = c
    return chosen


@jit
def place_softly(cost, indptr, indices, weight, order, price, growth, n_sweeps, labels):
    """Let units move one by one while the price of a broken link grows from sweep to sweep.

    cost              (n_units, n_clusters)  float64   in
    indptr, indices                          int64     in       CSR of the graph
    weight            (nnz,)                 float64   in       along `indices`
    order             (n_units,)             int64     in       visiting order
    price, growth                            float     in       first price, factor per sweep
    n_sweeps                                 int       in       most sweeps
    labels            (n_units,)             int64     in/out

    A unit takes the cluster with the least cost[u, c] + price * (weight of its links into c). At
    first the costs speak, in the end the links: where the costs know the answer, and the links
    are too dense for `place_greedily`, this is the way that keeps in sight of both.
    """
    n_units, n_clusters = cost.shape
    clash = np.zeros(n_clusters, np.float64)
    waiting = np.ones(n_units, np.bool_)
    for _ in range(n_sweeps):
        n_clashing = 0
        for u in order:
            if not waiting[u]:
                continue
            _add_clashes(indptr, indices, weight, labels, u, clash)
            home = labels[u]
            best = home
            for c in range(n_clusters):
                if cost[u, c] + price * clash[c] < cost[u, best] + price * clash[best]:
                    best = c
            if best != home:
                labels[u] = best
                for e in range(indptr[u], indptr[u + 1]):
                    waiting[indices[e]] = True
            # Without a broken link a higher price is no reason to move: sleep until woken.
            waiting[u] = clash[best] > 0.0
            n_clashing += waiting[u]
            clash[:] = 0.0
        if n_clashing == 0:
            break
        price *= growth


@jit
def extend(cost, indptr, indices, order, labels):
    """Place the remaining units one by one, each in its cheapest cluster that breaks no link.

    cost              (n_units, n_clusters)  float64   in
    indptr, indices                          int64     in       CSR of the graph
    order             (n_free,)              int64     in       units to place
    labels            (n_units,)             int64     in/out   FREE where not yet placed

    Returns the first unit without such a cluster, or FREE.
    """
    n_clusters = cost.shape[1]
    blocked = np.full(n_clusters, FREE, np.int64)  # stamped
    for u in order:
        for e in range(indptr[u], indptr[u + 1]):
            if labels[indices[e]] != FREE:
                blocked[labels[indices[e]]] = u
        best = FREE
        for c in range(n_clusters):
            if blocked[c] != u and (best == FREE or cost[u, c] < cost[u, best]):
                best = c
        if best == FREE:
            return u
        labels[u] = best
    return FREE


@jit
def improve(cost, indptr, indices, weight, order, max_chain, budget, labels):
    """Lower (broken weight, cost) by moves, evictions and Kempe chains until none helps.

    cost              (n_units, n_clusters)  float64   in
    indptr, indices                          int64     in       CSR of the graph
    weight            (nnz,)                 float64   in       along `indices`
    order             (n_units,)             int64     in       visiting order
    max_chain                                int       in       most units moved at once
    budget                                   int       in       most links looked at
    labels            (n_units,)             int64     in/out

    For a unit u in cluster c, and every other d (only cheaper ones, unless u breaks a link):

    * the move: u goes to d;
    * the eviction: besides, each unit linked to u in d goes to its own cheapest cluster that
      breaks no link. Those units share d, so no links join them and they can choose separately;
    * the Kempe chain: besides, each unit linked to u in d goes to c, those linked to them in c go
      to d, and so on. What has to swap does swap, so no link gets broken, and a link broken
      between the chain and the rest is mended.

    The best of all is made. None raises the broken weight, so a feasible placement stays one.
    Returns the links looked at.

    Evictions and chains are looked at only if u gains more than the units in its way lose at
    least. For evictions nothing is missed; for chains, those that turn profitable further on.
    """
    n_units, n_clusters = cost.shape
    tolerance, light = _tolerances(cost, weight)
    leaving = np.empty(n_units, np.float64)  # what the cheapest other cluster costs a unit more
    for u in range(n_units):
        leaving[u] = _cost_of_leaving(cost, labels, u)
    clash = np.zeros(n_clusters, np.float64)
    clearing = np.zeros(n_clusters, np.float64)  # least cost of sending u's links out of a cluster
    blocked = np.zeros(n_clusters, np.int64)  # stamped
    in_chain = np.zeros(n_units, np.int64)  # stamped
    moved, goal = np.empty(max_chain, np.int64), np.empty(max_chain, np.int64)
    best_moved, best_goal = np.empty(max_chain, np.int64), np.empty(max_chain, np.int64)
    waiting = np.ones(n_units, np.bool_)
    stamp = 0
    spent = 0
    # Each sweep visits the units near a change of the one before. When it finds nothing, a last
    # full sweep looks for what distant changes may have opened; it is worth a repeat if it moves.
    full, n_changed = True, 0
    while spent < budget:
        n_changed = 0
        for u in order:
            if not waiting[u]:
                continue
            waiting[u] = False
            if spent >= budget:
                break
            home = labels[u]
            spent += indptr[u + 1] - indptr[u]
            for e in range(indptr[u], indptr[u + 1]):
                clash[labels[indices[e]]] += weight[e]
                clearing[labels[indices[e]]] += leaving[indices[e]]
            broken = clash[home]
            n_best, best_lost, best_delta = 0, 0.0, -tolerance
            for d in range(n_clusters):
                gain = cost[u, home] - cost[u, d]
                if d == home or (gain <= tolerance and broken <= light):
                    continue
                lost = clash[d] - broken
                if _is_better(lost, -gain, best_lost, best_delta, light):
                    best_moved[0], best_goal[0] = u, d
                    n_best, best_lost, best_delta = 1, lost, -gain
                if clash[d] == 0.0 or (broken <= light and clearing[d] - gain >= best_delta):
                    continue
                stamp += 1
                n_moved, delta, n_seen = _chain(
                    u, d, cost, indptr, indices, labels, stamp, in_chain, moved, goal
                )
                spent += n_seen
                if n_moved > 0:
                    lost = 0.0
                    if broken > light:
                        lost = -_mended(u, indptr, indices, weight, labels, stamp, in_chain)
                    if _is_better(lost, delta, best_lost, best_delta, light):
                        best_moved, moved = moved, best_moved
                        best_goal, goal = goal, best_goal
                        n_best, best_lost, best_delta = n_moved, lost, delta
                n_moved, delta, n_seen, stamp = _evict(
                    u, d, cost, indptr, indices, labels, stamp, blocked, moved, goal
                )
                spent += n_seen
                if n_moved > 0 and _is_better(-broken, delta, best_lost, best_delta, light):
                    best_moved, moved = moved, best_moved
                    best_goal, goal = goal, best_goal
                    n_best, best_lost, best_delta = n_moved, -broken, delta
            clash[:] = 0.0
            clearing[:] = 0.0
            if n_best > 0:
                n_changed += 1
                for m in range(n_best):
                    v = best_moved[m]
                    left = labels[v]
                    labels[v] = best_goal[m]
                    leaving[v] = _cost_of_leaving(cost, labels, v)
                    waiting[v] = True
                    spent += indptr[v + 1] - indptr[v]
                    for e in range(indptr[v], indptr[v + 1]):
                        w = indices[e]
                        if cost[w, left] < cost[w, labels[w]] or labels[w] == left:
                            waiting[w] = True
        if n_changed > 0:
            full = False
        elif full:
            break
        else:
            waiting[:] = True
            full = True
    return spent


@helper
def _cost_of_leaving(cost, labels, u):
    cheapest = np.inf
    for c in range(cost.shape[1]):
        if c != labels[u]:
            cheapest = min(cheapest, cost[u, c])
    return cheapest - cost[u, labels[u]]


@helper
def _tolerances(cost, weight):
    largest, heaviest = 0.0, 0.0
    for u in range(cost.shape[0]):
        for c in range(cost.shape[1]):
            largest = max(largest, abs(cost[u, c]))
    for e in range(len(weight)):
        heaviest = max(heaviest, weight[e])
    return ROUNDING * largest, ROUNDING * heaviest


@helper
def _is_better(lost, delta, best_lost, best_delta, light):
    """Compare (change of broken weight, change of cost), the first one first."""
    if lost < best_lost - light:
        return True
    return lost <= best_lost and delta < best_delta


@helper
def _chain(u, target, cost, indptr, indices, labels, stamp, in_chain, moved, goal):
    """Write the Kempe chain that starts with u going to `target`.

    Returns its size (0 when longer than `moved`), the change of cost, and the links looked at.
    """
    home = labels[u]
    moved[0], goal[0] = u, target
    in_chain[u] = stamp
    n_moved = 1
    delta = 0.0
    n_seen = 0
    at = 0
    while at < n_moved:
        v, to = moved[at], goal[at]
        delta += cost[v, to] - cost[v, labels[v]]
        n_seen += indptr[v + 1] - indptr[v]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if labels[w] != to or in_chain[w] == stamp:
                continue
            if n_moved == len(moved):
                return 0, delta, n_seen
            in_chain[w] = stamp
            moved[n_moved] = w
            goal[n_moved] = home if to == target else target
            n_moved += 1
        at += 1
    return n_moved, delta, n_seen


@helper
def _mended(u, indptr, indices, weight, labels, stamp, in_chain):
    """Weight of the broken links of u that swapping its chain mends: the other end stays."""
    total = 0.0
    for e in range(indptr[u], indptr[u + 1]):
        if labels[indices[e]] == labels[u] and in_chain[indices[e]] != stamp:
            total += weight[e]
    return total


@helper
def _evict(u, target, cost, indptr, indices, labels, stamp, blocked, moved, goal):
    """Write the moves of u to `target` and of its neighbours there to their cheapest way out.

    Returns the number of moves (0 when a neighbour has no way out or they are too many), the
    change of cost, the links looked at, and the last stamp used.
    """
    delta = cost[u, target] - cost[u, labels[u]]
    moved[0], goal[0] = u, target
    n_moved = 1
    n_seen = indptr[u + 1] - indptr[u]
    for e in range(indptr[u], indptr[u + 1]):
        v = indices[e]
        if labels[v] != target:
            continue
        if n_moved == len(moved):
            return 0, delta, n_seen, stamp
        stamp += 1
        blocked[target] = stamp
        n_seen += indptr[v + 1] - indptr[v]
        for f in range(indptr[v], indptr[v + 1]):
            if indices[f] != u:
                blocked[labels[indices[f]]] = stamp
        way_out = FREE
        for c in range(cost.shape[1]):
            if blocked[c] != stamp and (way_out == FREE or cost[v, c] < cost[v, way_out]):
                way_out = c
        if way_out == FREE:
            return 0, delta, n_seen, stamp
        delta += cost[v, way_out] - cost[v, target]
        moved[n_moved], goal[n_moved] = v, way_out
        n_moved += 1
    return n_moved, delta, n_seen, stamp


@jit
def repair(cost, indptr, indices, weight, n_drawn, budget, seed, labels):
    """Mend broken links by tabu search, and keep the best placement met.

    cost              (n_units, n_clusters)  float64   in
    indptr, indices                          int64     in       CSR of the graph
    weight            (nnz,)                 float64   in       along `indices`
    n_drawn                                  int       in       units whose moves a step compares
    budget                                   int       in       most (unit, cluster) moves compared
    seed                                     int       in       of the draws
    labels            (n_units,)             int64     in/out

    Each step draws some units with a broken link and makes the best of their moves, the least
    broken weight first, then the least cost, ties at random; the way back is closed for 0.6
    units-in-trouble + 0..9 steps (Galinier & Hao, 1999; here at most a tenth of the units, or
    little would move where many links stay broken), unless it leads to less broken weight than
    ever. Ends when no link is broken or the budget is spent. Returns the broken weight of
    `labels`.

    Galinier & Hao compare the moves of all units in trouble. Drawing 8 finds placements without
    a broken link in much larger cases at equal work (10 000 units, 10 clusters, 35 links each:
    none broken against 140); where many links stay broken anyhow, all is best.
    """
    n_units, n_clusters = cost.shape
    _, light = _tolerances(cost, weight)
    clash = np.zeros((n_units, n_clusters), np.float64)
    troubled = np.empty(n_units, np.int64)  # units with a broken link, in any order
    where = np.full(n_units, FREE, np.int64)
    n_troubled = 0
    broken, total = 0.0, 0.0
    for u in range(n_units):
        _add_clashes(indptr, indices, weight, labels, u, clash[u])
        broken += clash[u, labels[u]] / 2
        total += cost[u, labels[u]]
        n_troubled = _watch(u, clash[u, labels[u]] > light, troubled, where, n_troubled)
    best_broken, best_total = broken, total
    best_labels = labels.copy()
    journal = np.empty(n_units, np.int64)  # units moved since the best labels were noted
    n_journal = 0
    closed_until = np.zeros((n_units, n_clusters), np.int64)
    state = seed
    spent, step = 0, 0
    while n_troubled > 0 and spent < budget:
        step += 1
        n_compared = min(n_troubled, n_drawn)
        spent += n_compared * n_clusters
        chosen, goal, best_lost, best_delta, n_ties = FREE, FREE, np.inf, np.inf, 0
        state = _next_random(state)
        for at in range(state, state + n_compared):
            u = troubled[at % n_troubled]
            home = labels[u]
            for c in range(n_clusters):
                if c == home:
                    continue
                lost = clash[u, c] - clash[u, home]
                delta = cost[u, c] - cost[u, home]
                if lost > best_lost or (lost == best_lost and delta > best_delta):
                    continue
                if closed_until[u, c] >= step and broken + lost >= best_broken - light:
                    continue
                if lost == best_lost and delta == best_delta:
                    n_ties += 1
                    state = _next_random(state)
                    if state % n_ties != 0:
                        continue
                else:
                    n_ties = 1
                chosen, goal, best_lost, best_delta = u, c, lost, delta
        if chosen == FREE:  # every way is closed: wait
            continue
        home = labels[chosen]
        state = _next_random(state)
        tenure = min((6 * n_troubled) // 10, n_units // 10) + state % 10
        closed_until[chosen, home] = step + tenure
        labels[chosen] = goal
        if n_journal < n_units:
            journal[n_journal] = chosen
        n_journal += 1
        broken += best_lost
        total += best_delta
        n_troubled = _watch(chosen, clash[chosen, goal] > light, troubled, where, n_troubled)
        spent += indptr[chosen + 1] - indptr[chosen]
        for e in range(indptr[chosen], indptr[chosen + 1]):
            v = indices[e]
            clash[v, home] -= weight[e]
            clash[v, goal] += weight[e]
            if labels[v] == home or labels[v] == goal:
                in_trouble = clash[v, labels[v]] > light
                n_troubled = _watch(v, in_trouble, troubled, where, n_troubled)
        if n_troubled == 0:
            broken = 0.0
        if broken < best_broken - light or (broken <= best_broken and total < best_total):
            best_broken, best_total = broken, total
            if n_journal > n_units:  # more moves than units: a plain copy is cheaper
                best_labels[:] = labels
            else:
                for at in range(n_journal):
                    best_labels[journal[at]] = labels[journal[at]]
            n_journal = 0
    labels[:] = best_labels
    return best_broken


@helper
def _watch(u, in_trouble, troubled, where, n_troubled):
    """Put u on the list of units in trouble or take it off; return the length of the list."""
    if in_trouble and where[u] == FREE:
        troubled[n_troubled], where[u] = u, n_troubled
        return n_troubled + 1
    if not in_trouble and where[u] != FREE:
        last = troubled[n_troubled - 1]
        troubled[where[u]], where[last] = last, where[u]
        where[u] = FREE
        return n_troubled - 1
    return n_troubled


@helper
def _next_random(state):
    """Step the minimal standard generator of Park & Miller (1988), all in 64-bit integers."""
    return (48271 * state) % 2147483647


@jit
def sum_costs(distances, unit, weight, cost):
    """Add up the weighted distances of the rows of each unit.

    distances   (n_rows, n_clusters)  float   in    squared distances
    unit        (n_rows,)             int64   in    unit of each row
    weight      (n_rows,) or (0,)     float   in    weight of each row; empty: all 1
    cost        (n_units, n_clusters) float64 out   every unit has a row
    """
    weighted = len(weight) > 0
    is_begun = np.zeros(len(cost), np.bool_)
    for row in range(len(unit)):
        u = unit[row]
        factor = float(weight[row]) if weighted else 1.0
        if is_begun[u]:
            for cluster in range(distances.shape[1]):
                cost[u, cluster] += factor * distances[row, cluster]
        else:
            for cluster in range(distances.shape[1]):
                cost[u, cluster] = factor * distances[row, cluster]
        is_begun[u] = True
