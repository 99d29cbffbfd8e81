"""Place linked rows two by two: the modified COP-Kmeans without its k-means.

Algorithm 2, lines 5 to 39, of Okabe & Yamada, "Clustering by Learning Constraints Priorities",
visits pair after pair. Its cases come to one rule. One row of the pair leads: the one already
placed or, if neither is, the one strictly nearer to its nearest centre, where it is put (x_j on
equality). The other row follows: to the same cluster under a must-link, to its nearest centre but
that one under a cannot-link. A pair whose rows are both placed is passed over, broken or not.

So a row is placed by the first pair that names it, whatever the distances. Which pairs place a row,
and who leads once one row is placed, follows from the order alone: `plan_pairs` finds it once per
order, and `place_pairs` does the rest for each new set of centres without looking back.

Positions are unsigned: a signed index might count from the end, and the compiler would have to look
each time, which doubles the cost.
"""

from typing import NamedTuple

import numpy as np

from conclust._kernels._jit import helper, jit


class Plan(NamedTuple):
    """The pairs that place rows when visited in some order."""

    openings: np.ndarray  # (any, 2) uint32: x_i, x_j, both placed by their pair
    opening_sign: np.ndarray  # (any,) int8
    extensions: np.ndarray  # (any, 2) uint32: the row that leads, the row it places
    extension_sign: np.ndarray  # (any,) int8


@jit
def plan_pairs(pairs, sign, order, is_placed, plan):
    """Find the pairs that place a row: both its rows (openings), or one (extensions).

    pairs            (p, 2)     uint32   in     positions among the constrained rows
    sign             (p,)       int8     in     +1 must-link, −1 cannot-link
    order            (p,)       uint32   in     the order in which pairs are visited
    is_placed        (m,)       bool     work   all False on entry
    plan                        Plan     out    room for p pairs of each kind

    Returns how many openings and how many extensions there are.
    """
    openings, opening_sign, extensions, extension_sign = plan
    n_openings = 0
    n_extensions = 0
    for n in order:
        lead, other = pairs[n]
        if is_placed[lead] and is_placed[other]:
            continue
        if not is_placed[lead] and not is_placed[other]:
            openings[n_openings, 0] = lead
            openings[n_openings, 1] = other
            opening_sign[n_openings] = sign[n]
            n_openings += 1
        else:
            if is_placed[other]:
                lead, other = other, lead
            extensions[n_extensions, 0] = lead
            extensions[n_extensions, 1] = other
            extension_sign[n_extensions] = sign[n]
            n_extensions += 1
        is_placed[lead] = True
        is_placed[other] = True
    return n_openings, n_extensions


@jit
def place_pairs(nearest, second, nearest_distance, plan, labels):
    """Give every constrained row a cluster.

    nearest          (m,)       int32    in     nearest centre of each constrained row
    second           (m,)       int32    in     nearest but that one; k = 1: that one
    nearest_distance (m,)       float    in     squared or not
    plan                        Plan     in     from `plan_pairs`, cut to length
    labels           (m,)       int32    out
    """
    openings, opening_sign, extensions, extension_sign = plan
    for n in range(openings.shape[0]):
        i, j = openings[n]
        i_leads = nearest_distance[i] < nearest_distance[j]
        lead = i if i_leads else j
        other = j if i_leads else i
        labels[lead] = nearest[lead]
        labels[other] = _follow(labels[lead], opening_sign[n], nearest[other], second[other])
    # No extension comes before the pair that placed its leading row.
    for n in range(extensions.shape[0]):
        lead, other = extensions[n]
        labels[other] = _follow(labels[lead], extension_sign[n], nearest[other], second[other])


@helper
def _follow(taken, sign, nearest, second):
    apart = second if nearest == taken else nearest
    return taken if sign > 0 else apart


@jit
def count_violated(pairs, sign, labels):
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
