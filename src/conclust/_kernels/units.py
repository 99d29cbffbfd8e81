"""Rows that move as one."""

from conclust._kernels._jit import jit


@jit
def sum_costs(distances, unit, weight, cost):
    """Add up the weighted distances of the rows of each unit.

    distances   (n_rows, n_clusters)  float   in    squared distances
    unit        (n_rows,)             int64   in    unit of each row
    weight      (n_rows,) or (0,)     float   in    weight of each row; empty: all 1
    cost        (n_units, n_clusters) float64 out   zero on entry
    """
    weighted = len(weight) > 0
    for row in range(len(unit)):
        factor = float(weight[row]) if weighted else 1.0
        for cluster in range(distances.shape[1]):
            cost[unit[row], cluster] += factor * distances[row, cluster]
