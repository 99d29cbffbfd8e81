"""k-means‖ of Bahmani et al. (2012), slow and line by line."""

import numpy as np
from sklearn.cluster import kmeans_plusplus


def candidates_of(X, weight, n_clusters, random_state, n_rounds=5, oversampling=2):
    """Numbers of the rows drawn, in order, and the weight of each."""
    drawn = [pick(weight, random_state.random_sample(1)[0])]
    for _ in range(n_rounds):
        chance = [w * min(squared(x, X[c]) for c in drawn) for x, w in zip(X, weight, strict=True)]
        if sum(chance) == 0:
            break
        numbers = random_state.random_sample(oversampling * n_clusters)
        drawn += sorted({pick(chance, number) for number in numbers})
    mass = [0.0] * len(drawn)
    for x, w in zip(X, weight, strict=True):
        distances = [squared(x, X[c]) for c in drawn]
        mass[distances.index(min(distances))] += w
    return drawn, mass


def scalable_plus_plus(X, weight, n_clusters, random_state):
    drawn, mass = candidates_of(X, weight, n_clusters, random_state)
    return kmeans_plusplus(
        X[drawn], n_clusters, sample_weight=np.array(mass), random_state=random_state
    )[0]


def pick(chance, number):
    """The first row at which the chances so far exceed this part of all."""
    aim, so_far = number * float(np.cumsum(chance)[-1]), 0.0
    for row, each in enumerate(chance):
        so_far += each
        if so_far > aim:
            return row
    raise AssertionError


def squared(x, y):
    return float(((x - y) ** 2).sum())
