"""Place linked rows two by two: the sequential part of the modified COP-Kmeans."""

from conclust._kernels._jit import jit

FREE = -1  # the label of a row not yet placed


@jit
def place_pairs(nearest, second, gap, pairs, sign, order, labels):
    """Give the two rows of each pair a cluster, pair after pair; the first statement wins.

    nearest      (m,)           int32    in     nearest centre of each constrained row
    second       (m,)           int32    in     nearest but that one; k = 1: that one
    gap          (m,)           float    in     distance to the nearest, squared or not
    pairs        (p, 2)         uint32   in     positions among the constrained rows
    sign         (p,)           int8     in     +1 must-link, −1 cannot-link
    order        (p,)           uint32   in     the order in which pairs are visited
    labels       (m,)           int32    inout  FREE on entry

    Algorithm 2, lines 5 to 39, of Okabe & Yamada, "Clustering by Learning Constraints Priorities".
    Its cases come to one rule. One row of the pair leads: the one already placed or, if neither is,
    the one strictly nearer to its nearest centre, where it is put (x_j on equality). The other row
    follows: to the same cluster if linked, to its nearest centre but that one if not. A pair whose
    rows are both placed already is passed over, broken or not.

    Other integers do as well, only slower: a signed one might count from the end, and the compiler
    must look each time.
    """
    for n in order:
        lead, other = pairs[n]
        if labels[lead] != FREE and labels[other] != FREE:
            continue
        if labels[lead] == FREE and (labels[other] != FREE or not gap[lead] < gap[other]):
            lead, other = other, lead
        if labels[lead] == FREE:
            labels[lead] = nearest[lead]
        if sign[n] > 0:
            labels[other] = labels[lead]
        elif nearest[other] == labels[lead]:
            labels[other] = second[other]
        else:
            labels[other] = nearest[other]


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
