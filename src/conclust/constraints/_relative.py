"""What relative statements say together: consistent or not, why not, what follows.

A set of triplets is consistent when some tree satisfies all of them, which BUILD decides. With
must-links the groups they make are clades: statements between groups and statements inside a
group are then two problems that do not touch. ``ab|c`` with c in the group of a or b puts all
three into it; a cannot-link inside a group contradicts it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray
from conclust._kernels import build as kernel
from conclust._kernels._short import short
from conclust._kernels.triplet_cuts import keep_by_cuts
from conclust._words import claim, no_hierarchy
from conclust.constraints._conflicts import repair
from conclust.exceptions import InconsistentConstraintsError

if TYPE_CHECKING:
    from conclust.constraints._constraints import Constraints

# With more contradictions than this, wrong statements that come early would drive out too many
# right ones for the order of weights to win.
MAX_BY_WEIGHT = 100

# Numberings of the samples that a repair tries, and starts of each of its cuts; one numbering
# if there are so many statements that each takes seconds.
N_NUMBERINGS, N_STARTS, MAX_SEVERAL = 3, 16, 10_000
N_LOOKS = 4  # rounds of telling samples apart by what is said about them

# What BUILD does for each sample and triplet, some statements on each of some thirty levels: this
# decides whether it is worth compiling.
STEPS_OF_BUILD = 500


def one_tree(triplets: IntArray, n: int) -> tuple[IntArray | None, IntArray]:
    """The least resolved tree of all triplets, or None and the samples where BUILD is stuck.

    The tree is the parent of each node: leaves are 0..n-1, the root is n.
    """
    parent = np.full(2 * max(n, 1), -1, dtype=np.int64)
    stuck = np.empty(n, dtype=np.int64)
    build = short(kernel.build, STEPS_OF_BUILD * (n + len(triplets)))
    n_nodes, n_stuck = build(np.ascontiguousarray(triplets), n, parent, stuck)
    return (None, stuck[:n_stuck]) if n_stuck else (parent[:n_nodes], stuck[:0])


def satisfied_by_tree(parent: IntArray, triplets: IntArray) -> npt.NDArray[np.bool_]:
    """Which triplets of leaves a tree satisfies (Liu, Zhang & Wang 2011, Definition 4.1)."""
    holds = np.zeros(len(triplets), dtype=np.bool_)
    kernel.displayed(parent, np.ascontiguousarray(triplets), holds)
    return holds


class Contracted(NamedTuple):
    """Triplets about groups, and triplets inside groups, as one set of triplets about vertices."""

    triplets: IntArray
    statement: IntArray  # the triplet each row comes from
    n: int


class Statements:
    """Must-links, cannot-links and triplets over few samples, with one question: consistent?"""

    def __init__(self, must_link: IntArray, cannot_link: IntArray, triplets: IntArray):
        ends = np.concatenate([must_link.ravel(), cannot_link.ravel(), triplets.ravel()])
        self.samples, place = np.unique(ends, return_inverse=True)
        self.n = len(self.samples)
        m, c = must_link.size, cannot_link.size
        self.must_link = place[:m].reshape(-1, 2)
        self.cannot_link = place[m : m + c].reshape(-1, 2)
        self.triplets = place[m + c :].reshape(-1, 3)

    def groups(self, must: IntArray, rows: IntArray) -> IntArray:
        """The group of each sample after must-links, and triplets that enlarge their groups."""
        group = np.empty(self.n, dtype=np.int64)
        linked_groups = short(kernel.linked_groups, 10 * (self.n + 3 * len(rows)))
        linked_groups(self.must_link[must], self.triplets[rows], self.n, group)
        return group

    def contracted(self, group: IntArray, rows: IntArray) -> Contracted:
        """Triplets between three groups (about groups) and inside one (about samples)."""
        triplets = self.triplets[rows]
        ends = group[triplets]
        inner = (ends[:, 0] == ends[:, 1]) & (ends[:, 0] == ends[:, 2])
        outer = ends[:, 0] != ends[:, 1]
        joined = np.concatenate([triplets[inner], ends[outer] + self.n])
        vertices, joined = np.unique(joined, return_inverse=True)
        statement = np.concatenate([rows[inner], rows[outer]])
        return Contracted(joined.reshape(-1, 3), statement, len(vertices))

    def clash(self, must: IntArray, cannot: IntArray, rows: IntArray) -> IntArray | None:
        """None when these statements agree; else cannot-links in a group, or stuck triplets.

        Cannot-links are returned as ``-1 - index``.
        """
        group = self.groups(must, rows)
        ends = group[self.cannot_link[cannot]]
        inside = cannot[ends[:, 0] == ends[:, 1]]
        if len(inside):
            return -1 - inside
        problem = self.contracted(group, rows)
        tree, stuck = one_tree(problem.triplets, problem.n)
        if tree is not None:
            return None
        is_stuck = np.zeros(problem.n, dtype=np.bool_)
        is_stuck[stuck] = True
        chosen = np.zeros(len(problem.triplets), dtype=np.bool_)
        kernel.spanning_rows(problem.triplets, is_stuck, chosen)
        return problem.statement[chosen]


def quickxplain(
    agrees: Callable[[IntArray], bool], background: IntArray, candidates: IntArray
) -> IntArray:
    """A minimal subset of `candidates` that disagrees with `background` (Junker 2004).

    It halves the candidates, so the recursion is as deep as their number has digits in base 2.
    """
    if not agrees(background):
        return candidates[:0]

    def explain(background: IntArray, new: bool, candidates: IntArray) -> IntArray:
        if new and not agrees(background):
            return candidates[:0]
        if len(candidates) == 1:
            return candidates
        half = len(candidates) // 2
        low, high = candidates[:half], candidates[half:]
        of_high = explain(np.concatenate([background, low]), True, high)
        of_low = explain(np.concatenate([background, of_high]), len(of_high) > 0, low)
        return np.concatenate([of_low, of_high])

    return explain(background, False, candidates)


class _Numbered:
    """The statements of a set, numbered as in the set; groups kept apart written out as pairs."""

    def __init__(self, constraints: "Constraints"):
        pairs = constraints.pairs()
        must, cannot = pairs.sign > 0, pairs.sign < 0
        self.relative = np.flatnonzero(constraints.kinds == "relative")
        self.of_must, self.of_cannot = pairs.statement[must], pairs.statement[cannot]
        self.logic = Statements(pairs.pairs[must], pairs.pairs[cannot], constraints.relative)
        self.is_cannot = np.isin(constraints.kinds, ("cannot-link", "apart"))
        self.is_relative = constraints.kinds == "relative"

    def clash(self, statements: IntArray) -> IntArray | None:
        """Statements that disagree among these (not minimal), or None."""
        asked = np.zeros(len(self.is_relative), dtype=bool)
        asked[statements] = True
        found = self.logic.clash(
            *(np.flatnonzero(asked[of]) for of in (self.of_must, self.of_cannot, self.relative))
        )
        if found is None:
            return None
        return self.of_cannot[-1 - found[:1]] if found[0] < 0 else self.relative[found]

    def agrees(self, statements: IntArray) -> bool:
        return self.clash(statements) is None

    def minimal(self, statements: IntArray) -> IntArray | None:
        """A minimal disagreeing subset of the statements, or None."""
        clash = self.clash(statements)
        if clash is None:
            return None
        if not len(self.of_must):
            return np.sort(quickxplain(self.agrees, clash[:0], clash))
        # With groups any must-link and any triplet that enlarged a group may have a part in it.
        others = np.setdiff1d(statements[~self.is_cannot[statements]], clash)
        found = quickxplain(self.agrees, clash[:0], np.concatenate([others, clash]))
        # A triplet that enlarges a group can also end a contradiction, so less may clash as well.
        at = 0
        while at < len(found):
            fewer = np.delete(found, at)
            if self.agrees(fewer):
                at += 1
            else:
                found, at = fewer, 0
        return np.sort(found)


def relative_conflicts(
    constraints: "Constraints", at_most: int | None
) -> list[tuple[IntArray, str]]:
    """Minimal sets of statements, each with a triplet, that no hierarchy satisfies, with reasons.

    No two of them share a triplet. Pairs that contradict each other without any triplet are not
    listed here, and the lighter side of each is left aside.
    """
    if not len(constraints.relative):
        return []
    numbered = _Numbered(constraints)
    left = np.ones(len(constraints), dtype=bool)
    left[repair(constraints)] = False
    found = _opposed(constraints, numbered.relative)
    for index in found:
        left[index] = False
    while at_most is None or len(found) < at_most:
        conflict = numbered.minimal(np.flatnonzero(left))
        if conflict is None:
            break
        found.append(conflict)
        left[conflict[numbered.is_relative[conflict]]] = False
    return [(index, _sentence(constraints, index)) for index in found[:at_most]]


def _opposed(constraints: "Constraints", statement: IntArray) -> list[IntArray]:
    """Pairs of statements about the same three samples: at most one of ab|c, ac|b, bc|a holds."""
    key = np.sort(constraints.relative, axis=1)
    order = np.lexsort(key.T)
    same = (key[order[1:]] == key[order[:-1]]).all(axis=1)
    found, last = [], -2
    for at in np.flatnonzero(same).tolist():
        if at != last + 1:  # of three opposed statements two make the conflict
            found.append(np.sort(statement[order[at : at + 2]]))
            last = at
    return found


def _sentence(constraints: "Constraints", index: IntArray) -> str:
    said = (constraints[int(i)] for i in index)
    return no_hierarchy([claim(s.kind, [constraints.name(i) for i in s.samples]) for s in said])


def repair_all(constraints: "Constraints") -> IntArray:
    """Choose statements to drop so that pairs and triplets together are consistent.

    Contradictions among pairs are mended first. Then all statements are taken by falling weight,
    pairs before triplets, and what does not fit is skipped; or first those that a tree of cuts
    satisfies, for several numberings of the samples, then the others: whichever drops least.
    Neither the order of statements nor that of samples decides, but for those that are alike.
    """
    drop = repair(constraints)
    if not len(constraints.relative):
        return drop
    numbered = _Numbered(constraints)
    keep = np.setdiff1d(np.arange(len(constraints)), drop)
    if numbered.agrees(keep):
        return drop
    look = looks(numbered.logic.triplets, constraints.relative_weight, numbered.logic.n)
    order = _in_order(constraints, numbered, look, keep)
    # By weight alone an early wrong statement drives out many right ones; a tree in which they
    # outvote it gives other orders, and the heaviest result counts.
    number = np.argsort(np.argsort(look, kind="stable"), kind="stable")
    shuffle = np.random.RandomState(0).permutation
    found = []
    for turn in range(N_NUMBERINGS if len(order) <= MAX_SEVERAL else 1):
        voted = _kept_by_cuts(
            constraints, numbered, order, shuffle(len(number))[number] if turn else number
        )
        tried = np.concatenate([order[voted], order[~voted]])
        found.append(_skipped(numbered, tried, int(voted.sum())))
    if len(found[0]) <= MAX_BY_WEIGHT:
        found.append(_skipped(numbered, order, len(order)))
    gone = min(found, key=lambda skipped: float(constraints.weight[skipped].sum()))
    return np.union1d(drop, gone)


def looks(triplets: IntArray, weight: FloatArray, n: int) -> npt.NDArray[np.uint64]:
    """A number for each sample that depends on what is said about it, not on its position.

    Samples look alike if they have the same part in the same kinds of statements, about samples
    that look alike: some rounds of colour refinement (Weisfeiler & Leman), with hashes as colours.
    """
    look = np.ones(n, dtype=np.uint64)
    weights = np.ascontiguousarray(weight, dtype=np.float64).view(np.uint64)
    for _ in range(N_LOOKS):
        a, b, c = look[triplets].T
        said = _mixed(_mixed(a) + _mixed(b) + _mixed(_mixed(c)) + _mixed(weights))
        new = _mixed(look)
        np.add.at(new, triplets[:, :2].ravel(), np.repeat(_mixed(said), 2))
        np.add.at(new, triplets[:, 2], _mixed(_mixed(said)))
        look = new
    return look


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A hash of each number (the last steps of splitmix64); sums wrap around."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _in_order(
    constraints: "Constraints", numbered: _Numbered, look: npt.NDArray[np.uint64], keep: IntArray
) -> IntArray:
    """Statements by falling weight, pairs before triplets, these by what they look like."""
    of_rows = look[numbered.logic.triplets]
    near = np.sort(of_rows[:, :2], axis=1)
    looks_of = np.zeros((3, len(constraints)), dtype=np.uint64)
    looks_of[:, numbered.relative] = near[:, 0], near[:, 1], of_rows[:, 2]
    keys = (*looks_of[:, keep], numbered.is_relative[keep], -constraints.weight[keep])
    return keep[np.lexsort(keys)]


def _kept_by_cuts(
    constraints: "Constraints", numbered: _Numbered, order: IntArray, number: IntArray
) -> npt.NDArray[np.bool_]:
    """Which statements come first: pairs, and triplets that a tree of cuts satisfies."""
    first = ~numbered.is_relative[order]
    rows = order[~first]
    kept = np.zeros(len(rows), dtype=np.bool_)
    place = np.searchsorted(numbered.relative, rows)
    cuts = np.ascontiguousarray(number[numbered.logic.triplets[place]])
    keep_by_cuts(cuts, constraints.weight[rows], numbered.logic.n, N_STARTS, kept)
    first[~first] = kept
    return first


def _skipped(numbered: _Numbered, order: IntArray, run: int) -> IntArray:
    """The statements that do not fit those before them."""
    if numbered.is_relative.all():
        kept = np.zeros(len(order), dtype=np.bool_)
        rows = np.ascontiguousarray(numbered.logic.triplets[order])
        kernel.keep_consistent_triplets(rows, numbered.logic.n, run, kept)
        return np.sort(order[~kept])
    taken, left = _taken_in_order(numbered, order[:0], order, run)
    # A triplet that enlarges a group can end a contradiction with one before it: ask again.
    while len(left):
        taken, still = _taken_in_order(numbered, taken, left, 1)
        if len(still) == len(left):
            break
        left = still
    return left


def _taken_in_order(
    numbered: _Numbered, taken: IntArray, order: IntArray, run: int
) -> tuple[IntArray, IntArray]:
    """Add statements that fit those taken, as the kernel does, with must-links contracted."""
    skipped, at = [], 0
    while at < len(order):
        run = min(run, len(order) - at)
        trial = np.concatenate([taken, order[at : at + run]])
        if numbered.agrees(trial):
            taken, at, run = trial, at + run, 2 * run
        elif run == 1:
            skipped.append(order[at])
            at += 1
        else:
            run //= 2
    return taken, np.array(skipped, dtype=np.int64)


def forces(constraints: "Constraints", a: int, b: int, c: int) -> bool:
    """Whether every hierarchy that keeps the statements satisfies ab|c.

    A tree that leaves a, b and c unresolved can be refined to satisfy any of the three, so the
    set forces ab|c exactly when neither ac|b nor bc|a can be added.
    """
    pairs = constraints.pairs()
    must, cannot = pairs.pairs[pairs.sign > 0], pairs.pairs[pairs.sign < 0]

    def agree(relative: IntArray) -> bool:
        logic = Statements(must, cannot, relative)
        everything = (np.arange(len(rows)) for rows in (must, cannot, relative))
        return logic.clash(*everything) is None

    if not agree(constraints.relative):
        raise InconsistentConstraintsError(
            "The constraints contradict each other, so they force everything and nothing; "
            "`constraints.conflicts()` says why, `constraints.repaired()` drops the least weight.",
        )
    return not any(
        agree(np.concatenate([constraints.relative, [other]])) for other in ((a, c, b), (b, c, a))
    )
