"""A heavy consistent subset of contradictory triplets, by cutting the samples in two, top down."""

import numpy as np

from conclust._kernels._jit import jit

N_POWER = 30  # steps of the power iteration that proposes a cut
N_PASSES = 30  # passes of moves that improve it
ROUNDING = 1e-12  # a gain that is no more than this is none
TINY = 1e-300  # so that nothing is divided by zero


@jit
def flip_gain(triplets, weight, rows, starts, side, i):
    """What moving sample i to the other side adds to the worth of the cut.

    A triplet is worth its weight when a and b lie on one side and c on the other, minus its weight
    when a and b are cut, nothing when all three stay together.
    """
    gain = 0.0
    for at in range(starts[i], starts[i + 1]):
        r = rows[at]
        a, b, c = side[triplets[r, 0]], side[triplets[r, 1]], side[triplets[r, 2]]
        before = -1.0 if a != b else (1.0 if a != c else 0.0)
        if triplets[r, 0] == i:
            a = -a
        elif triplets[r, 1] == i:
            b = -b
        else:
            c = -c
        after = -1.0 if a != b else (1.0 if a != c else 0.0)
        gain += weight[r] * (after - before)
    return gain


@jit
def open_up(open_sets, at, first, last, first_row, last_row):
    """Write one set to be cut: its samples and its rows, as ranges of the two lists."""
    open_sets[at, 0], open_sets[at, 1] = first, last
    open_sets[at, 2], open_sets[at, 3] = first_row, last_row


@jit
def propose(triplets, weight, n_rows, size, largest, side, new):
    """Turn sides towards the leading eigenvector of attractions and repulsions, then to +1 or -1.

    side   (size,) float64   in/out   any start
    new    (size,) float64   out      room
    """
    for _ in range(N_POWER):
        norm = 0.0
        for i in range(size):
            new[i] = largest * side[i]  # a shift that makes the largest eigenvalue lead
        for r in range(n_rows):
            a, b, c = triplets[r, 0], triplets[r, 1], triplets[r, 2]
            w = weight[r]
            new[a] += w * (2 * side[b] - side[c])
            new[b] += w * (2 * side[a] - side[c])
            new[c] -= w * (side[a] + side[b])
        for i in range(size):
            norm = max(norm, abs(new[i]))
        for i in range(size):
            side[i] = new[i] / max(norm, TINY)
    for i in range(size):
        side[i] = 1.0 if side[i] >= 0 else -1.0


@jit
def improve(triplets, weight, rows, starts, size, side):
    """Move samples to the other side as long as that adds to the worth of the cut."""
    for _ in range(N_PASSES):
        moved = False
        for i in range(size):
            if starts[i] < starts[i + 1]:
                gain = flip_gain(triplets, weight, rows, starts, side, i)
                if gain > ROUNDING:
                    side[i] = -side[i]
                    moved = True
        if not moved:
            break


@jit
def worth_of(triplets, weight, n_rows, side):
    """The weight of the triplets whose c is cut from a and b, less that of a cut from b."""
    worth = 0.0
    for r in range(n_rows):
        a, b, c = side[triplets[r, 0]], side[triplets[r, 1]], side[triplets[r, 2]]
        if a != b:
            worth -= weight[r]
        elif a != c:
            worth += weight[r]
    return worth


@jit
def keep_by_cuts(triplets, weight, n, n_starts, kept):
    """Cut the samples again and again; keep the triplets whose c is cut from a and b.

    triplets   (m, 3) int64     in    samples in 0..n-1
    weight     (m,)   float64   in
    n_starts          int       in    of each cut, of which the best counts
    kept       (m,)   bool      out   a consistent subset: those that the tree of cuts satisfies

    The idea of Snir and Rao (2006): pairs before the bar attract each other and repel c, so many
    statements outvote a wrong one. O(m n_starts) for each level of cuts.
    """
    m = len(triplets)
    leaves, rows = np.arange(n), np.arange(m)
    for r in range(m):
        kept[r] = False
    side = np.empty(n)
    new, best = np.empty(n), np.empty(n)
    starts = np.zeros(n + 1, np.int64)
    row_of = np.empty(3 * m, np.int64)
    fill = np.empty(n, np.int64)
    spare = np.empty(max(n, m), np.int64)
    open_sets = np.empty((n + 1, 4), np.int64)
    open_up(open_sets, 0, 0, n, 0, m)
    n_open = 1 if m else 0
    # Samples are renumbered by place inside the set at hand, so that lists stay small.
    place = np.empty(n, np.int64)
    local = np.empty((m, 3), np.int64)
    local_weight = np.empty(m)
    while n_open:
        n_open -= 1
        first, last = open_sets[n_open, 0], open_sets[n_open, 1]
        first_row, last_row = open_sets[n_open, 2], open_sets[n_open, 3]
        size, n_rows = last - first, last_row - first_row
        for i in range(size):
            place[leaves[first + i]] = i
            fill[i] = 0
        for at in range(n_rows):
            r = rows[first_row + at]
            local_weight[at] = weight[r]
            for s in range(3):
                local[at, s] = place[triplets[r, s]]
                fill[local[at, s]] += 1
        total, largest = 0, 0
        for i in range(size):
            starts[i] = total
            total += fill[i]
            largest = max(largest, fill[i])
            fill[i] = starts[i]
        starts[size] = total
        for at in range(n_rows):
            for s in range(3):
                i = local[at, s]
                row_of[fill[i]] = at
                fill[i] += 1
        worth = 0.0
        for start in range(n_starts):
            for i in range(size):
                side[i] = np.cos(1.0 + (7.0 + start) * i)  # any start that is not special
            propose(local, local_weight, n_rows, size, largest, side, new)
            improve(local, local_weight, row_of, starts, size, side)
            found = worth_of(local, local_weight, n_rows, side)
            if found > worth:
                worth = found
                for i in range(size):
                    best[i] = side[i]
        if worth <= 0:
            continue
        for i in range(size):
            side[i] = best[i]
        # Samples and rows of one side first, then those of the other.
        n_left, n_left_rows, n_right_rows = 0, 0, 0
        for i in range(size):
            if side[i] > 0:
                spare[n_left] = leaves[first + i]
                n_left += 1
        at = n_left
        for i in range(size):
            if side[i] < 0:
                spare[at] = leaves[first + i]
                at += 1
        for i in range(size):
            leaves[first + i] = spare[i]
        for at in range(n_rows):
            a, b, c = side[local[at, 0]], side[local[at, 1]], side[local[at, 2]]
            r = rows[first_row + at]
            if a != b:
                continue
            if a != c:
                kept[r] = True
            elif a > 0:
                spare[n_left_rows] = r
                n_left_rows += 1
            else:
                n_right_rows += 1
                spare[n_rows - n_right_rows] = r
        for at in range(n_left_rows):
            rows[first_row + at] = spare[at]
        for at in range(n_right_rows):
            rows[last_row - 1 - at] = spare[n_rows - 1 - at]
        if n_left_rows:
            open_up(open_sets, n_open, first, first + n_left, first_row, first_row + n_left_rows)
            n_open += 1
        if n_right_rows:
            open_up(open_sets, n_open, first + n_left, last, last_row - n_right_rows, last_row)
            n_open += 1
