"""Algorithm 2 of "Clustering by Learning Constraints Priorities", slow and line by line."""

from typing import NamedTuple


class Result(NamedTuple):
    labels: list[int]
    n_iter: int
    n_empty: int  # the most clusters empty in one iteration, those emptied to fill others included
    margin: float  # the closest that rows came to a tie that decides, as a share of all distances


def modified_cop_kmeans(
    X,
    pairs,
    sign,
    orders,
    centers,
    sample_weight=None,
    *,
    stop_at_cycles=False,
    stop_at_stalls=False,
):
    """Run one iteration per order; stop when the clustering does not change.

    ``orders`` holds, for each iteration, the pairs in the order in which they are visited. With
    ``stop_at_cycles``, for an order that never changes, stop also one assignment after a clustering
    is met again. With ``stop_at_stalls``, for orders that change, stop likewise (the last order is
    used again) after an iteration that changes no row outside the pairs and does not lower the
    inertia.
    """
    weight = [1.0] * len(X) if sample_weight is None else sample_weight
    labels = None
    n_empty = 0
    margin = 1.0
    n_iter = 0
    met = []
    cycles = False
    lowest = float("inf")
    free = set(range(len(X))) - {x for pair in pairs for x in pair}
    order = None
    for next_order in orders:
        order = order if cycles and stop_at_stalls else next_order
        n_iter += not cycles
        distances = [[squared_distance(x, c) for c in centers] for x in X]
        scale = max(max(row) for row in distances) or 1.0
        for i, j in pairs:
            # Which of the two is nearer to its centre decides, unless both lie on the start.
            d_i, d_j = min(distances[i]), min(distances[j])
            if d_i + d_j > 0:
                margin = min(margin, abs(d_i - d_j) / scale)
        previous, labels = labels, assign(distances, pairs, sign, order)
        if labels == previous or cycles:
            break
        if stop_at_cycles and len(set(labels)) == len(centers):
            cycles = labels in met
            met.append(labels)
        if stop_at_stalls:
            inertia = sum(
                w * distances[x][c] for x, (w, c) in enumerate(zip(weight, labels, strict=True))
            )
            if lowest < float("inf") and lowest > 0:
                margin = min(margin, abs(inertia / lowest - (1 - 1e-3)))
            stays = previous is not None and all(labels[x] == previous[x] for x in free)
            cycles = stays and inertia >= lowest * (1 - 1e-3)
            lowest = min(lowest, inertia)
        own = sorted(distances[x][label] for x, label in enumerate(labels))
        if len(set(labels)) < len(centers) and len(own) > 1:
            # The paper does not say what fills an empty cluster; of two rows equally far, either.
            margin = min(margin, (own[-1] - own[-2]) / scale)
        homes = fill_empty(labels, distances)
        without = [len(set(range(len(centers))) - set(rows)) for rows in (labels, homes)]
        n_empty = max(n_empty, sum(without))
        centers = means(X, weight, homes, len(centers))
    return Result(labels, n_iter, n_empty, margin)


def by_priority(priority):
    """Line 5: descending; sorted() is stable, so ties keep the order given."""
    return sorted(range(len(priority)), key=lambda n: -priority[n])


def assign(distances, pairs, sign, order):
    """Lines 5 to 40: linked rows pair by pair, then the others."""
    labels = place_pairs(distances, pairs, sign, order)
    return [
        nearest(distances[x]) if label is None else label  # line 40
        for x, label in enumerate(labels)
    ]


def place_pairs(distances, pairs, sign, order):
    label = [None] * len(distances)
    for n in order:
        i, j = pairs[n]
        must_link = sign[n] == 1
        if label[i] is None and label[j] is None:  # 6
            c_i, c_j = nearest(distances[i]), nearest(distances[j])  # 7
            d_i, d_j = distances[i][c_i], distances[j][c_j]
            if must_link:  # 8
                if d_i < d_j:  # 9
                    label[i] = label[j] = c_i  # 10
                else:
                    label[i] = label[j] = c_j  # 12
            elif c_i != c_j:  # 15
                label[i], label[j] = c_i, c_j  # 16
            elif d_i < d_j:  # 18
                label[i], label[j] = c_i, nearest_but(c_i, distances[j])  # 19
            else:
                label[j], label[i] = c_j, nearest_but(c_j, distances[i])  # 21
        elif label[i] is not None and label[j] is None:  # 25
            if must_link:  # 27
                label[j] = label[i]  # 28
            else:
                label[j] = nearest_but(label[i], distances[j])  # 30
        elif label[i] is None and label[j] is not None:  # 32
            if must_link:  # 34
                label[i] = label[j]  # 35
            else:
                label[i] = nearest_but(label[j], distances[i])  # 37
    return label


def nearest(row):
    return row.index(min(row))  # the lowest cluster on ties


def nearest_but(cluster, row):
    others = [c for c in range(len(row)) if c != cluster]
    return min(others, key=lambda c: (row[c], c)) if others else cluster


def squared_distance(x, center):
    return sum((a - b) ** 2 for a, b in zip(x, center, strict=True))


def fill_empty(labels, distances):
    """Each empty cluster takes the row farthest from its own centre."""
    homes = list(labels)
    own = [distances[x][label] for x, label in enumerate(labels)]
    farthest = sorted(range(len(labels)), key=lambda x: -own[x])
    for cluster in range(len(distances[0])):
        if cluster not in labels:
            homes[farthest.pop(0)] = cluster
    return homes


def means(X, weight, homes, n_clusters):
    centers = []
    for cluster in range(n_clusters):
        members = [x for x in range(len(X)) if homes[x] == cluster]
        mass = sum(weight[x] for x in members) or float("nan")
        centers.append([sum(weight[x] * X[x][f] for x in members) / mass for f in range(len(X[0]))])
    return centers
