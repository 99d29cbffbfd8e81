"""Slow, obvious answers about rooted trees and triplets, straight from the definitions."""

from itertools import combinations, permutations, product

import numpy as np


def binary_trees(leaves):
    """Every rooted binary tree on these leaves, as nested pairs: (2n - 3)!! of them."""
    leaves = list(leaves)
    if len(leaves) == 1:
        yield leaves[0]
        return
    first, rest = leaves[0], leaves[1:]
    for size in range(len(rest)):
        for beside in combinations(rest, size):
            other = [x for x in rest if x not in beside]
            for left in binary_trees([first, *beside]):
                for right in binary_trees(other):
                    yield (left, right)


def trees(leaves):
    """Every rooted tree in which inner nodes have two or more children, as nested tuples."""
    leaves = list(leaves)
    if len(leaves) == 1:
        yield leaves[0]
        return
    for blocks in partitions(leaves):
        if len(blocks) > 1:
            yield from _under(blocks)


def _under(blocks):
    if not blocks:
        yield ()
        return
    for first in trees(blocks[0]):
        for rest in _under(blocks[1:]):
            yield (first, *rest)


def partitions(items):
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for blocks in partitions(rest):
        yield [[first], *blocks]
        for i in range(len(blocks)):
            yield [*blocks[:i], [first, *blocks[i]], *blocks[i + 1 :]]


def clades(tree):
    """The leaf sets of all nodes of a nested tree."""
    if not isinstance(tree, tuple | list):
        return [frozenset([tree])]
    below = [clades(child) for child in tree]
    return [frozenset().union(*(c[0] for c in below)), *(s for c in below for s in c)]


def displays(tree, triplet):
    """ab|c: some clade holds a and b but not c."""
    a, b, c = triplet
    return any(a in clade and b in clade and c not in clade for clade in clades(tree))


def triplets_of(tree):
    """Every triplet a tree satisfies, a < b."""
    sets = clades(tree)
    return {
        (a, b, c)
        for a, b, c in permutations(sorted(sets[0]), 3)
        if a < b and any(a in s and b in s and c not in s for s in sets)
    }


def random_tree_triplets(rng, n, share):
    """A share of n out of all triplets of a random binary tree: consistent, unrelated to data."""
    parts = list(range(n))
    while len(parts) > 1:
        i, j = sorted(rng.choice(len(parts), 2, replace=False))
        parts[i] = (parts[i], parts.pop(j))
    every = np.array(sorted(triplets_of(parts[0])))
    return every[rng.permutation(len(every))[: int(share * n)]]


def consistent(triplets, leaves, must_link=()):
    """Some tree displays all triplets; with must-links only trees whose groups are clades."""
    triplets = [tuple(map(int, t)) for t in triplets]
    groups = must_link_groups(must_link, triplets, leaves)
    for tree in binary_trees(leaves):
        sets = clades(tree)
        if all(g in sets for g in groups) and all(
            any(a in s and b in s and c not in s for s in sets) for a, b, c in triplets
        ):
            return True
    return False


def must_link_groups(must_link, triplets, leaves):
    """Groups of must-linked samples, grown by ab|c with c linked to a or b, until nothing moves."""
    groups = [{x} for x in leaves]

    def of(x):
        return next(g for g in groups if x in g)

    def join(x, y):
        if of(x) is not of(y):
            other = of(y)
            of(x).update(other)
            groups.remove(other)
            return True
        return False

    for a, b in must_link:
        join(a, b)
    while any(
        join(a, b)
        for a, b, c in triplets
        if of(a) is not of(b) and (of(c) is of(a) or of(c) is of(b))
    ):
        pass
    return [frozenset(g) for g in groups if len(g) > 1]


def heaviest_consistent(triplets, weight, leaves):
    """The weight of the heaviest set of triplets that one tree displays."""
    return max(
        sum(w for t, w in zip(triplets, weight, strict=True) if displays(tree, t))
        for tree in binary_trees(leaves)
    )


# ------------------------------------------------------------------ ReCon, as printed


def one_tree_exists(triplets, vertices):
    """OneTree of the paper, recursively: whether a tree exists."""
    vertices = set(vertices)
    if len(vertices) <= 2:
        return True
    parts = [{v} for v in vertices]
    for a, b, _ in triplets:
        pa, pb = (next(p for p in parts if x in p) for x in (a, b))
        if pa is not pb:
            pa |= pb
            parts.remove(pb)
    if len(parts) == 1:
        return False
    return all(one_tree_exists([t for t in triplets if p.issuperset(t)], p) for p in parts)


def may_merge(triplets, clusters, i, j):
    """Whether clusters i and j can become one: contract, drop aa|c, refuse ab|a, ask OneTree."""
    merged = []
    for t in triplets:
        a, b, c = (i if x == j else x for x in t)
        if a == b:
            continue
        if c in (a, b):
            return False
        merged.append((a, b, c))
    return one_tree_exists(merged, set(clusters) - {j})


def contracted(triplets, i, j):
    """The triplets after cluster j has become part of cluster i; those that hold now are gone."""
    renamed = [tuple(i if x == j else x for x in t) for t in triplets]
    return [t for t in renamed if t[0] != t[1]]


def recon(distance, n, triplets, penalty=None, forced=()):
    """Agglomerative clustering by trying all pairs in order of distance.

    distance(A, B) gives the distance of two clusters (lists of samples); penalty(A, B) comes
    first. The clusters of the pairs in `forced` merge before all others. Returns the merges as
    (members of one, members of the other, distance).
    """
    members = {i: [i] for i in range(n)}
    triplets = [tuple(map(int, t)) for t in triplets]
    merges = []
    while len(members) > 1:
        if len(merges) < len(forced):
            i, j = sorted(next(i for i in members if x in members[i]) for x in forced[len(merges)])
            d = distance(members[i], members[j])
        else:
            pairs = sorted(
                (
                    penalty(members[i], members[j]) if penalty else 0.0,
                    distance(members[i], members[j]),
                    i,
                    j,
                )
                for i, j in combinations(sorted(members), 2)
            )
            _, d, i, j = next(p for p in pairs if may_merge(triplets, members, *p[2:]))
        merges.append((sorted(members[i]), sorted(members[j]), d))
        members[i] = members[i] + members.pop(j)
        triplets = contracted(triplets, i, j)
    return merges


def cluster_distance(linkage, D=None, X=None):
    """Distance of two clusters from its definition."""

    def centroid(A, B):
        return float(np.linalg.norm(X[A].mean(axis=0) - X[B].mean(axis=0)))

    def ward(A, B):
        return centroid(A, B) * np.sqrt(2 * len(A) * len(B) / (len(A) + len(B)))

    between = {"average": np.mean, "complete": np.max, "single": np.min}
    if linkage == "centroid":
        return centroid
    if linkage == "ward":
        return ward
    return lambda A, B: float(between[linkage](D[np.ix_(A, B)]))


# ------------------------------------------------------------------ cuts


def members_of(children):
    """The samples of every cluster of a dendrogram, scipy's numbering."""
    members = [[i] for i in range(len(children) + 1)]
    for a, b in children:
        members.append(members[a] + members[b])
    return members


def merges_of(children):
    """What the two clusters of each merge hold."""
    members = members_of(children)
    return [sorted([sorted(members[a]), sorted(members[b])]) for a, b in children]


def gain(children, v, triplets, weight):
    """Weight of ab|c with c taken from ab by undoing merge v, less that with a taken from b."""
    members = members_of(children)
    left, right = (set(members[x]) for x in children[v])
    total = 0.0
    for (a, b, c), w in zip(triplets, weight, strict=True):
        sides = [x in left for x in (a, b, c) if x in left | right]
        if len(sides) == 3 and sides[0] == sides[1] != sides[2]:
            total += w
        if a in left | right and b in left | right and (a in left) != (b in left):
            total -= w
    return total


def best_cut_value(children, gains, k):
    """The largest total gain, then order, of k - 1 merges undone from the top, by trying all."""
    n = len(children) + 1
    parent = {int(c): n + v for v, pair in enumerate(children) for c in pair}
    best = None
    for chosen in combinations(range(n - 1), k - 1):
        if all(n + v == 2 * n - 2 or parent[n + v] - n in chosen for v in chosen):
            value = (round(sum(gains[v] for v in chosen), 6), sum(chosen))
            best = value if best is None else max(best, value)
    return best


def statement_likelihoods(others, rates):
    """For each cluster of a, of b and of c: the likelihood of ab|c, over all clusters of the rest.

    `rates`: of ab|c where clusters say ab|c, where they say another, where they leave it open.
    """
    said = np.zeros_like(others)
    for t, (a, b, c) in enumerate(others):
        for i, j, h in product(range(others.shape[2]), repeat=3):
            if i == j != h:
                rate = rates[0]
            elif (i == h != j) or (j == h != i):
                rate = rates[1]
            else:
                rate = rates[2]
            said[t, 0, i] += rate * b[j] * c[h]
            said[t, 1, j] += rate * a[i] * c[h]
            said[t, 2, h] += rate * a[i] * b[j]
    return said


def said_by_clusters(others):
    """How probably clusters say ab|c, ac|b, bc|a, or leave it open, by going through them all."""
    found = np.zeros((len(others), 4))
    for t, (a, b, c) in enumerate(others):
        for i, j, h in product(range(others.shape[2]), repeat=3):
            answers = [i == j != h, i == h != j, j == h != i]
            found[t, answers.index(True) if any(answers) else 3] += a[i] * b[j] * c[h]
    return found


def log_densities_without(X, share, shrinkage):
    """Gaussian clusters with one covariance, fitted again without each row."""
    n, found = len(X), np.empty(share.shape)
    prior = shrinkage * np.diag(X.var(axis=0))
    for i in range(n):
        rest = np.arange(n) != i
        size = share[rest].sum(axis=0)
        means = share[rest].T @ X[rest] / size[:, None]
        scatter = prior.copy()
        for j, mean in enumerate(means):
            away = X[rest] - mean
            scatter += (share[rest, j, None] * away).T @ away
        inverse = np.linalg.inv(scatter / (n - 1 + shrinkage))
        for j, mean in enumerate(means):
            found[i, j] = np.log(size[j] / n) - (X[i] - mean) @ inverse @ (X[i] - mean) / 2
    return found
