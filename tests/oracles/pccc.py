"""K-means whose assignment step is an integer programme, as in PCCC (Baumann & Hochbaum)."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.cluster import kmeans_plusplus


def pccc(X, n_clusters, constraints, seed):
    """Labels and inertia: k-means++ on must-link components, exact assignments while they help."""
    component = constraints.closure(len(X)).component
    n_units = component.max() + 1
    size = np.bincount(component)
    sums = np.zeros((n_units, X.shape[1]))
    np.add.at(sums, component, X)
    squares = np.bincount(component, (X**2).sum(axis=1))
    apart = component[constraints.cannot_link]
    centers, _ = kmeans_plusplus(
        sums / size[:, None], n_clusters, sample_weight=size.astype(float), random_state=seed
    )
    one_each = sp.kron(sp.eye(n_units), np.ones((1, n_clusters)))
    n = len(apart) * n_clusters
    ends = (apart[:, :, None] * n_clusters + np.arange(n_clusters)).transpose(1, 0, 2).reshape(2, n)
    not_both = sp.coo_matrix(
        (np.ones(2 * n), (np.tile(np.arange(n), 2), ends.ravel())), (n, n_units * n_clusters)
    )
    best, labels = np.inf, None
    while True:
        cost = squares[:, None] - 2 * sums @ centers.T + size[:, None] * (centers**2).sum(axis=1)
        solution = milp(
            cost.ravel(),
            integrality=np.ones(cost.size),
            bounds=Bounds(0, 1),
            constraints=[LinearConstraint(one_each, 1, 1), LinearConstraint(not_both, ub=1)],
        )
        found = solution.x.reshape(cost.shape).argmax(axis=1)[component]
        for cluster in np.unique(found):
            centers[cluster] = X[found == cluster].mean(axis=0)
        inertia = ((X - centers[found]) ** 2).sum()
        if inertia >= best - 1e-9:
            return labels, best
        best, labels = inertia, found
