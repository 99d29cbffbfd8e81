"""Trimmed k-means by hand: in each round the farthest rows count in no mean."""

import numpy as np


def trimmed_kmeans(X, n_aside, centers, max_iter=100):
    """Labels, -1 for rows set aside, and centres, from given centres until labels stay."""
    labels = None
    for _ in range(max_iter):
        squared = np.array([[((x - c) ** 2).sum() for c in centers] for x in X])
        previous, labels = labels, squared.argmin(axis=1)
        for i in sorted(range(len(X)), key=lambda i: -squared[i].min())[:n_aside]:
            labels[i] = -1
        if previous is not None and (labels == previous).all():
            break
        centers = np.array([X[labels == c].mean(axis=0) for c in range(len(centers))])
    return labels, centers
