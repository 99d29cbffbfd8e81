"""Place linked rows two by two: the sequential part of the modified COP-Kmeans."""

from conclust._kernels._jit import jit

FREE = -1  # the label of a row not yet placed


@jit
def place_pairs(nearest, second, gap, pairs, sign, order, labels):
    """Give the two rows of each pair a cluster, pair after pair; the first statement wins.

    nearest      (m,)           int32    in     nearest centre of each constrained row
    second       (m,)           int32    in     nearest but that one; k = 1: that one
    gap          (m,)           float    in     distance to the nearest, squared or not
    pairs        (p, 2)         int32    in     positions among the constrained rows
    sign         (p,)           int8     in     +1 must-link, −1 cannot-link
    order        (p,)           int64    in     the order in which pairs are visited
    labels       (m,)           int32    inout  FREE on entry

    Algorithm 2, lines 5 to 39, of Okabe & Yamada, "Clustering by Learning Constraints Priorities".
    Every case there asks for the nearest centre or for the nearest but one that is taken, so two
    ranks per row say all. Where x_i is not strictly nearer than x_j, x_j decides. A pair whose rows
    are both placed already is passed over, broken or not.
    """
    for n in order:
        i, j = pairs[n]
        must_link = sign[n] > 0
        if labels[i] == FREE and labels[j] == FREE:
            if must_link:
                labels[i] = nearest[i] if gap[i] < gap[j] else nearest[j]
                labels[j] = labels[i]
            elif nearest[i] != nearest[j]:
                labels[i] = nearest[i]
                labels[j] = nearest[j]
            elif gap[i] < gap[j]:
                labels[i] = nearest[i]
                labels[j] = second[j]
            else:
                labels[i] = second[i]
                labels[j] = nearest[j]
        elif labels[j] == FREE:
            labels[j] = labels[i] if must_link else _nearest_but(labels[i], nearest[j], second[j])
        elif labels[i] == FREE:
            labels[i] = labels[j] if must_link else _nearest_but(labels[j], nearest[i], second[i])


@jit
def _nearest_but(taken, nearest, second):
    return second if nearest == taken else nearest


@jit
def count_broken(pairs, sign, labels):
    """Count the pairs that ``labels`` breaks.

    pairs        (p, 2)         int      in
    sign         (p,)           int8     in     +1 must-link, −1 cannot-link
    labels                      int      in     label of each row that ``pairs`` names
    """
    n_broken = 0
    for n in range(pairs.shape[0]):
        i, j = pairs[n]
        n_broken += (labels[i] == labels[j]) != (sign[n] > 0)
    return n_broken
