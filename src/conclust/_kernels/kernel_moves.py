"""Kernel k-means, row by row: move a row whenever that lowers the objective.

The objective is J = tr K − Σ_c W_c / n_c, with W_c the sum of K inside cluster c. Moving row i from
a to b changes it by

    W_a / n_a − (W_a − 2 K(i, a) + K_ii) / (n_a − 1)
  + W_b / n_b − (W_b + 2 K(i, b) + K_ii) / (n_b + 1),

whatever the sign of K's eigenvalues: unlike batch steps, moves need no positive definite kernel.
"""

from conclust._kernels._jit import jit


@jit
def move_single_rows(K, labels, towards, within, sizes, least):
    """Visit each row once; move it where the objective falls most, by more than `least`.

    K         (n, n)   float     in       symmetric
    labels    (n,)     int64     in/out
    towards   (n, k)   float64   in/out   sum of K(i, j) over the rows j of each cluster
    within    (k,)     float64   in/out   sum of K inside each cluster
    sizes     (k,)     int64     in/out   rows of each cluster; never falls to 0
    least              float     in

    Returns how many rows moved.
    """
    n, n_clusters = towards.shape
    n_moved = 0
    for i in range(n):
        a = labels[i]
        if sizes[a] == 1:
            continue
        own = K[i, i]
        loss = within[a] / sizes[a] - (within[a] - 2 * towards[i, a] + own) / (sizes[a] - 1)
        best, best_change = a, -least
        for b in range(n_clusters):
            if b == a:
                continue
            if sizes[b] == 0:
                change = loss - own
            else:
                change = (
                    loss + within[b] / sizes[b]
                    - (within[b] + 2 * towards[i, b] + own) / (sizes[b] + 1)
                )  # fmt: skip
            if change < best_change:
                best, best_change = b, change
        if best == a:
            continue
        within[a] += own - 2 * towards[i, a]
        within[best] += own + 2 * towards[i, best]
        sizes[a] -= 1
        sizes[best] += 1
        labels[i] = best
        n_moved += 1
        for j in range(n):
            towards[j, a] -= K[i, j]
            towards[j, best] += K[i, j]
    return n_moved
