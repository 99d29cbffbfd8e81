"""Spherical k-means by hand: rows and means divided by their lengths, everything else k-means."""

import numpy as np

from tests.oracles import kmeans


def unit(vector):
    return np.asarray(vector) / np.sqrt(np.sum(np.square(vector)))


def spherical_kmeans(X, pairs, sign, centers, max_iter):
    """Labels and centres of Algorithm 2 on the sphere, pairs in the order given."""
    X, centers = [unit(x) for x in X], [unit(c) for c in centers]
    labels = None
    for _ in range(max_iter):
        distances = [[kmeans.squared_distance(x, c) for c in centers] for x in X]
        previous, labels = labels, kmeans.assign(distances, pairs, sign, range(len(pairs)))
        if labels == previous:
            break
        members = [
            [x for x, label in zip(X, labels, strict=True) if label == c]
            for c in range(len(centers))
        ]
        centers = [unit(np.sum(rows, axis=0)) for rows in members]
    return labels, np.array(centers)


def objective(X, weight, labels, pairs, sign, price):
    """Σ w ‖x − c‖² with c the direction of the sum of each cluster, and prices of broken pairs."""
    total = 0.0
    for cluster in set(labels.tolist()):
        inside = labels == cluster
        total += 2 * (weight[inside].sum() - np.linalg.norm(weight[inside] @ X[inside]))
    return total + sum(
        p
        for (i, j), s, p in zip(pairs, sign, price, strict=True)
        if (labels[i] == labels[j]) != (s > 0)
    )
