"""Sums over all labellings that keep linked units apart: normalisers and marginals, in logarithms.

A labelling l of the units has the weight Π_u exp(score[u, l_u]), or 0 when two linked units share a
cluster. Trees are folded into what they hang on; the rest is swept by a frontier: the units behind
it that still have links ahead, whose labels are all the sweep has to remember. Both are exact.
Scores may be -inf (a cluster closed to a unit); logarithms throughout, since densities in many
dimensions differ by more than any float can hold.
"""

import numpy as np

from conclust._kernels._jit import helper, inlined, jit
from conclust._kernels.disjoint_set import find, union
from conclust._kernels.place_hard import FREE


@jit
def fold_sums(peeled, parent, score, message):
    """Add to each unit's score the logarithm of what its choice leaves to the leaves under it.

    peeled, parent  (n_peeled,)            int64     in       see `find_parents`
    score           (n_units, n_clusters)  float64   in/out   n_clusters >= 2
    message         (n_peeled, n_clusters) float64   out      log Σ_{d != c} exp score[leaf, d]
    """
    for at in range(len(peeled)):
        _log_sums_without(score[peeled[at]], message[at])
        if parent[at] != FREE:
            for c in range(score.shape[1]):
                score[parent[at], c] += message[at, c]


@jit
def unfold_marginals(peeled, parent, score, message, component, marginal, log_z):
    """Marginals of the folded units, from the core outwards.

    peeled, parent  (n_peeled,)            int64     in       see `find_parents`
    score           (n_units, n_clusters)  float64   in       folded
    message         (n_peeled, n_clusters) float64   in
    component       (n_units,)             int64     in
    marginal        (n_units, n_clusters)  float64   in/out   set for the core, filled for the rest
    log_z           (n_components,)        float64   in/out   roots of trees add theirs

    P(leaf = c) = Σ_{d != c} P(parent = d) exp(score[leaf, c] - message[leaf, d]).
    """
    n_clusters = score.shape[1]
    for at in range(len(peeled) - 1, -1, -1):
        leaf = peeled[at]
        if parent[at] == FREE:
            total = _log_sum(score[leaf])
            log_z[component[leaf]] += total
            for c in range(n_clusters):
                marginal[leaf, c] = np.exp(score[leaf, c] - total)
            continue
        marginal[leaf] = 0.0
        for d in range(n_clusters):
            above = marginal[parent[at], d]
            if above > 0:
                for c in range(n_clusters):
                    if c != d:
                        marginal[leaf, c] += above * np.exp(score[leaf, c] - message[at, d])


@jit
def plan_sweeps(indptr, indices, members, first, n_clusters, most, order, width, clash, keep, fits):
    """Choose in which order to sweep each component, with a frontier as narrow as is easy to find.

    indptr, indices                       int64   in    CSR of the graph
    members           (n_units,)          int64   in    units, component after component
    first             (n_components + 1,) int64   in    where each component begins in `members`
    n_clusters, most                      int     in    give up above so many labellings, all steps
    order             (n_units,)          int64   out   units in the order of the sweep
    width             (n_units,)          int64   out   units on the frontier before each step
    clash             (n_units,)          int64   out   bits: places on it linked to the unit
    keep              (n_units,)          int64   out   bits: places (its own last) kept after it
    fits              (n_components,)     bool    out   Σ n_clusters^(width + 1) <= most

    A sweep starts at a unit with the fewest links and goes on with one that leaves the narrowest
    frontier. Where it does not fit, the other outputs are no plan.
    """
    n_units = len(indptr) - 1
    left = indptr[1:] - indptr[:-1]  # neighbours not swept yet
    swept = np.zeros(n_units, np.bool_)
    frontier = np.empty(n_units, np.int64)
    for part in range(len(first) - 1):
        size = 0
        total = 0.0
        fits[part] = True
        for step in range(first[part], first[part + 1]):
            if step == first[part]:
                u = members[step]
                for m in range(first[part], first[part + 1]):
                    if left[members[m]] < left[u]:
                        u = members[m]
            else:
                u = _narrowest(indptr, indices, frontier, size, left, swept)
            total += float(n_clusters) ** (size + 1)
            if total > most:
                fits[part] = False
                break
            order[step], width[step] = u, size
            swept[u] = True
            clash[step] = 0
            for e in range(indptr[u], indptr[u + 1]):
                left[indices[e]] -= 1
                for place in range(size):
                    if indices[e] == frontier[place]:
                        clash[step] |= 1 << place
            frontier[size] = u
            kept = 0
            keep[step] = 0
            for place in range(size + 1):
                if left[frontier[place]] > 0:
                    keep[step] |= 1 << place
                    frontier[kept] = frontier[place]
                    kept += 1
            size = kept


@inlined
def _narrowest(indptr, indices, frontier, size, left, swept):
    """The unit next to the frontier that leaves it narrowest; the first one found on ties."""
    best, least = FREE, len(left)
    for place in range(size):
        for e in range(indptr[frontier[place]], indptr[frontier[place] + 1]):
            u = indices[e]
            if swept[u]:
                continue
            # u joins unless nothing lies ahead of it; those that waited for u alone leave.
            change = 1 if left[u] > 0 else 0
            for f in range(indptr[u], indptr[u + 1]):
                if swept[indices[f]] and left[indices[f]] == 1:
                    change -= 1
            if change < least:
                best, least = u, change
    return best


@jit
def sweep_components(score, first, order, width, clash, keep, marginal, log_z):
    """Sum over all labellings of each component and find the marginals of its units.

    score       (n_units, n_clusters)      float64   in
    first, order, width, clash, keep       int64     in    see `plan_sweeps`
    marginal    (n_units, n_clusters)      float64   out
    log_z       (n_components,)            float64   out   log Σ Π exp score; -inf: no labelling
    """
    for part in range(len(first) - 1):
        here = slice(first[part], first[part + 1])
        log_z[part] = _sweep(score, order[here], width[here], clash[here], keep[here], marginal)


@helper
def _sweep(score, order, width, clash, keep, marginal):
    """Forwards, log sums over what lies behind each state of the frontier; then back."""
    n_clusters = score.shape[1]
    n_steps = len(order)
    starts = np.zeros(n_steps + 1, np.int64)
    widest = 1
    for step in range(n_steps):
        n_states = n_clusters ** width[step]
        starts[step + 1] = starts[step] + n_states
        widest = max(widest, n_states)
    table = np.empty(starts[-1])
    table[0] = 0.0
    highest, sums = np.empty(widest), np.empty(widest)
    log_z = -np.inf
    for step in range(n_steps):
        n_after = starts[step + 2] - starts[step + 1] if step + 1 < n_steps else 1
        highest[:n_after] = -np.inf
        sums[:n_after] = 0.0
        for state in range(n_clusters ** width[step]):
            behind = table[starts[step] + state]
            if behind == -np.inf:
                continue
            for c in range(n_clusters):
                if _clashes(state, c, clash[step], n_clusters):
                    continue
                value = behind + score[order[step], c]
                if value == -np.inf:
                    continue
                after = _after(state, c, width[step], keep[step], n_clusters)
                if value > highest[after]:
                    sums[after] = sums[after] * np.exp(highest[after] - value) + 1.0
                    highest[after] = value
                else:
                    sums[after] += np.exp(value - highest[after])
        for state in range(n_after):
            value = highest[state] + np.log(sums[state]) if sums[state] > 0 else -np.inf
            if step + 1 < n_steps:
                table[starts[step + 1] + state] = value
            else:
                log_z = value
    if log_z == -np.inf:
        return log_z
    ahead, before = np.zeros(widest), np.empty(widest)
    for step in range(n_steps - 1, -1, -1):
        unit = order[step]
        marginal[unit] = 0.0
        for state in range(n_clusters ** width[step]):
            behind = table[starts[step] + state]
            top, total = -np.inf, 0.0
            if behind > -np.inf:
                for c in range(n_clusters):
                    if _clashes(state, c, clash[step], n_clusters):
                        continue
                    after = _after(state, c, width[step], keep[step], n_clusters)
                    value = score[unit, c] + ahead[after]
                    if value == -np.inf:
                        continue
                    marginal[unit, c] += np.exp(behind + value - log_z)
                    if value > top:
                        total = total * np.exp(top - value) + 1.0
                        top = value
                    else:
                        total += np.exp(value - top)
            before[state] = top + np.log(total) if total > 0 else -np.inf
        ahead, before = before, ahead
    return log_z


@helper
def _clashes(state, c, clash, n_clusters):
    """Whether cluster c is held by a place on the frontier that `clash` names."""
    while clash:
        if clash & 1 and state % n_clusters == c:
            return True
        clash >>= 1
        state //= n_clusters
    return False


@helper
def _after(state, c, width, keep, n_clusters):
    """The state of the frontier when a unit with cluster c has joined and some have left."""
    after, factor = 0, 1
    for place in range(width + 1):
        digit = c if place == width else state % n_clusters
        if keep & 1:
            after += digit * factor
            factor *= n_clusters
        keep >>= 1
        state //= n_clusters
    return after


@jit
def grow_forest(indptr, indices, order, inside):
    """Choose units without a cycle among them: greedily, as many as come.

    indptr, indices         int64   in    CSR of the graph
    order     (n_visited,)  int64   in    units to look at
    inside    (n_units,)    bool    out   false on entry; true for the chosen
    """
    n_units = len(indptr) - 1
    parent = np.arange(n_units)
    size = np.ones(n_units, np.int64)
    seen = np.full(n_units, FREE, np.int64)
    for u in order:
        fits = True
        for e in range(indptr[u], indptr[u + 1]):
            if inside[indices[e]]:
                root = find(parent, indices[e])
                if seen[root] == u:
                    fits = False
                    break
                seen[root] = u
        if not fits:
            continue
        inside[u] = True
        for e in range(indptr[u], indptr[u + 1]):
            if inside[indices[e]]:
                union(parent, size, u, indices[e])


@jit
def close_clusters(indptr, indices, pinned, labels, score):
    """Close to each unit the clusters that its pinned neighbours hold.

    indptr, indices                        int64     in
    pinned   (n_pinned,)                   int64     in
    labels   (n_units,)                    int64     in       read for pinned units
    score    (n_units, n_clusters)         float64   in/out
    """
    for u in pinned:
        for e in range(indptr[u], indptr[u + 1]):
            score[indices[e], labels[u]] = -np.inf


@inlined
def _log_sum(values):
    top = -np.inf
    for c in range(len(values)):
        top = max(top, values[c])
    if top == -np.inf:
        return top
    total = 0.0
    for c in range(len(values)):
        total += np.exp(values[c] - top)
    return top + np.log(total)


@inlined
def _log_sums_without(values, out):
    """Set out[c] = log Σ_{d != c} exp values[d], to full precision also where one value rules."""
    best = 0
    for c in range(len(values)):
        if values[c] > values[best]:
            best = c
    top = values[best]
    total, second = 0.0, -np.inf
    for c in range(len(values)):
        if top > -np.inf:
            total += np.exp(values[c] - top)
        if c != best:
            second = max(second, values[c])
    others = 0.0
    for c in range(len(values)):
        if c != best and second > -np.inf:
            others += np.exp(values[c] - second)
    for c in range(len(values)):
        if c == best:
            out[c] = second + np.log(others) if others > 0 else -np.inf
        else:
            # The largest term stays in the difference, so it is at least 1.
            out[c] = top + np.log(total - np.exp(values[c] - top)) if top > -np.inf else -np.inf
