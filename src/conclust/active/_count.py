"""How many clusters there are, by the groups that answers have made.

Who asks where rows belong learns the number by the way: groups that are all apart are as many
clusters, and where nearly every row asked about fell into one of them there are few others. The
balance of broken statements, by which the number is found otherwise, is for pairs at random; these
were chosen where rows mislead.
"""

import numpy as np

from conclust._arrays import FloatArray, IntArray
from conclust.active._closure import LiveClosure

# Groups are counted where the rows of those not met yet are at most this share of all, by so many
# standard errors.
MOST_UNMET, SURE = 0.1, 2.0


def counted(sizes: IntArray, turned_away: FloatArray) -> tuple[int, int] | None:
    """The fewest and the most clusters that groups speak for; None where too little was asked.

    Parameters
    ----------
    sizes : ndarray of shape (n_groups,)
        Rows asked about of each of the groups that are all apart.
    turned_away : ndarray of shape (n_others,)
        For whatever else was asked about, the share of these groups that it is apart from.

    Notes
    -----
    With f1 groups of one row and f2 of two among n rows, rows of groups not met yet have a share of
    about f1 / n (Good 1953), give or take √(f1 + 2 f2) / n (Esty 1983), and G groups stand for
    G / (1 - f1 / n) (Chao and Lee 1992). That is of rows whose group is known. A row asked about
    until it is in a group is soon done, one of a group not met yet is last: what is on its way
    counts as a row, and as one alone, by the share of groups that turned it away.
    """
    n_groups, alone = len(sizes), float((sizes == 1).sum() + turned_away.sum())
    n_rows = float(sizes.sum() + turned_away.sum())
    spread = np.sqrt(alone + 2 * (sizes == 2).sum() + 1)
    if n_groups < 2 or alone + SURE * spread > MOST_UNMET * n_rows:
        return None
    return n_groups, round(n_groups / (1 - alone / n_rows))


def counted_by_answers(closure: LiveClosure, asked: IntArray) -> tuple[int, int] | None:
    """The same by what follows from answers about the rows `asked`."""
    names = [int(closure.group[rows[0]]) for rows in closure.all_apart]
    others = {int(closure.group[rows[0]]) for rows in closure.groups}.difference(names)
    away = [len(closure.apart_from(name).intersection(names)) for name in others]
    sizes = [np.isin(closure.members(name), asked).sum() for name in names]
    return counted(np.array(sizes, dtype=np.int64), np.array(away) / max(len(names), 1))
