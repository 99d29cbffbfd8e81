import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conclust import Constraints, sample_constraints
from conclust._kernels import build as kernel
from conclust._kernels.triplet_cuts import keep_by_cuts
from conclust.constraints._relative import looks, one_tree, satisfied_by_tree
from conclust.exceptions import InconsistentConstraintsError, InvalidConstraintsError
from tests.oracles import hierarchy as oracle

N = 5


def triplets(n=N, max_size=8):
    row = st.permutations(range(n)).map(lambda p: tuple(p[:3]))
    return st.lists(row, max_size=max_size)


pairs = st.lists(st.permutations(range(N)).map(lambda p: tuple(p[:2])), max_size=3)


@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=100)
@given(rows=triplets())
def test_build_against_all_trees(compiled, rows):
    # Check that BUILD finds a tree exactly when one of the 105 trees displays all rows.
    build = kernel.build if compiled else kernel.build.py_func
    rows = np.array(rows, dtype=np.int64).reshape(-1, 3)
    parent, stuck = np.full(2 * N, -1), np.empty(N, dtype=np.int64)
    n_nodes, n_stuck = build(rows, N, parent, stuck)
    assert (n_stuck == 0) == oracle.consistent(rows, range(N))
    if n_stuck == 0:
        assert satisfied_by_tree(parent[:n_nodes], rows).all()
    else:
        inside = set(stuck[:n_stuck].tolist())
        assert not oracle.consistent([r for r in rows if inside.issuperset(r)], range(N))


@settings(max_examples=40)
@given(st.sampled_from(list(oracle.trees(range(5)))))
def test_displayed_against_clades(tree):
    every = np.array(
        [(a, b, c) for a in range(5) for b in range(a) for c in range(5) if c not in (a, b)]
    )
    holds = Constraints(relative=every).satisfied_by(tree)
    assert holds.tolist() == [oracle.displays(tree, t) for t in every]


@settings(max_examples=100)
@given(triplets(), pairs)
def test_conflicts_tell_consistency_and_are_minimal(rows, must):
    # Check, must-links as clades: conflicts exactly when no tree exists, each without a statement
    # to spare.
    known = Constraints(must_link=must, relative=rows)
    conflicts = known.conflicts()
    assert bool(conflicts) != oracle.consistent(known.relative, range(N), must)
    for conflict in conflicts:
        said = conflict.statements
        assert not oracle.consistent(said.relative, range(N), said.must_link.tolist())
        for i in range(len(said)):
            fewer = said[np.arange(len(said)) != i]
            assert oracle.consistent(fewer.relative, range(N), fewer.must_link.tolist())


@settings(max_examples=60)
@given(triplets(), pairs, pairs)
@example(  # a triplet taken late ends the contradiction of one skipped before it
    [(0, 2, 4), (0, 4, 1), (2, 3, 1), (0, 2, 3), (1, 2, 0), (0, 1, 2)], [(1, 2)], []
)
def test_repair_is_consistent_and_leaves_out_no_more_than_it_must(rows, must, cannot):
    known = Constraints(must, cannot, rows)
    repaired = known.repaired()
    assert repaired.conflicts() == []
    assert repaired.repaired() == repaired
    assert len(repaired) + len(repaired.dropped) == len(known)
    for statement in repaired.dropped:
        if statement.kind == "relative":
            assert (repaired + Constraints(relative=[statement.samples])).conflicts()


@settings(max_examples=60)
@given(triplets(max_size=7), st.data())
def test_repair_is_near_the_heaviest(rows, data):
    known = Constraints(relative=rows)
    weight = data.draw(st.lists(st.floats(0.1, 9), min_size=len(known), max_size=len(known)))
    known = Constraints(relative=known.relative, relative_weight=weight)
    best = oracle.heaviest_consistent(known.relative.tolist(), known.weight, range(N))
    kept = known.repaired().weight.sum()
    assert kept <= best + 1e-9
    heaviest = known.weight.max(initial=0)
    assert kept >= heaviest  # greedy starts with the heaviest statement


def test_implies_by_name():
    known = Constraints.from_hierarchy([["a", "b"], ["c", "d"]], ids=["d", "c", "b", "a"])
    assert known.implies("a", "b", "d")
    assert not known.implies("a", "c", "d")
    assert known.implies(3, 2, 0)  # positions, too
    with pytest.raises(InvalidConstraintsError, match="'e' is not among the 4 ids"):
        known.implies("a", "b", "e")


@settings(max_examples=60)
@given(triplets(max_size=5), st.permutations(range(N)))
def test_implies_against_all_trees(rows, order):
    a, b, c = order[:3]
    known = Constraints(relative=rows)
    keeping = [t for t in oracle.trees(range(N)) if all(oracle.displays(t, r) for r in rows)]
    if not keeping:
        with pytest.raises(InconsistentConstraintsError, match="contradict each other"):
            known.implies(a, b, c)
        return
    assert known.implies(a, b, c) == all(oracle.displays(t, (a, b, c)) for t in keeping)


def test_inference_of_the_paper():
    known = Constraints(relative=[(0, 1, 2), (2, 3, 0)])
    assert known.implies(0, 1, 3)
    assert known.implies(1, 0, 3)
    assert not known.implies(0, 3, 1)
    assert not known.implies(0, 1, 7)
    with pytest.raises(InvalidConstraintsError, match="different samples"):
        known.implies(0, 1, 1)


def test_a_conflict_is_told_in_sentences_with_ids():
    frame = pd.DataFrame(
        {"a": ["ann", "bob"], "b": ["bob", "cid"], "c": ["cid", "ann"], "type": ["relative"] * 2}
    )
    (conflict,) = Constraints.from_frame(frame, ids=["cid", "bob", "ann"]).conflicts()
    assert str(conflict) == (
        "No hierarchy keeps all of these: ann and bob are closer to each other than to cid; "
        "bob and cid are closer to each other than to ann."
    )


def test_at_most_so_many_conflicts_are_listed():
    start = 3 * np.arange(120)[:, None]
    known = Constraints(relative=np.concatenate([start + [0, 1, 2], start + [0, 2, 1]]))
    assert len(known.conflicts()) == 100
    assert len(known.conflicts(max_listed=3)) == 3
    assert len(known.conflicts(max_listed=None)) == 120


def test_must_links_carry_a_conflict():
    # 0-4 belong together; 01|2 and 42|1 then say 01|2 and 02|1 of the group.
    known = Constraints([(0, 4)], relative=[(0, 1, 2), (4, 2, 1), (5, 6, 7)])
    (conflict,) = known.conflicts()
    assert conflict.index.tolist() == [0, 1, 2]
    assert "0 and 4 belong together" in str(conflict)
    # 0 and 2 together, 01|2: all three together, so 0 and 1 cannot be apart.
    known = Constraints([(0, 2)], [(0, 1)], [(0, 1, 2)])
    (conflict,) = known.conflicts()
    assert len(conflict.index) == 3
    assert "may not share a cluster" in str(conflict)


def test_long_conflicts_are_found_among_many_triplets():
    # A ring in which every statement is needed: the k-th order rule of Bryant and Steel.
    y = np.repeat(np.arange(4), 250)
    known = sample_constraints(y, n_relative=2000, random_state=0)
    a, b, c = known.relative[17]
    clash = known + Constraints(relative=[(a, c, b)])
    (conflict,) = clash.conflicts()
    assert len(conflict.index) == 2
    assert len(clash.repaired().dropped) == 1
    far = known + Constraints(relative=[(0, 250, 1), (1, 251, 0)])
    for conflict in far.conflicts():
        rows = conflict.statements
        assert (
            one_tree(
                np.unique(rows.relative, return_inverse=True)[1].reshape(-1, 3), len(rows.samples)
            )[0]
            is None
        )
    assert far.repaired().conflicts() == []


def test_noise_is_repaired_quickly():
    y = np.repeat(np.arange(3), 500)
    known = sample_constraints(y, n_relative=1500, noise=0.1, random_state=0)
    repaired = known.repaired()
    assert repaired.conflicts() == []
    assert len(repaired) >= 1300
    assert repaired.implies(*repaired.relative[0])


@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=50)
@given(rows=triplets(6, 14))
def test_taking_triplets_one_by_one(compiled, rows):
    # Check against asking OneTree after each row.
    rows = np.array(rows, dtype=np.int64).reshape(-1, 3)
    kept = np.zeros(len(rows), dtype=bool)
    keep = kernel.keep_consistent_triplets if compiled else kernel.keep_consistent_triplets.py_func
    keep(rows, 6, len(rows), kept)
    taken = []
    for row, is_kept in zip(rows.tolist(), kept, strict=True):
        assert is_kept == oracle.one_tree_exists([*taken, row], range(6))
        if is_kept:
            taken.append(row)


@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=50)
@given(rows=triplets(6, 14))
def test_cuts_keep_a_consistent_subset(compiled, rows):
    rows = np.array(rows, dtype=np.int64).reshape(-1, 3)
    kept = np.zeros(len(rows), dtype=bool)
    keep = keep_by_cuts if compiled else keep_by_cuts.py_func
    keep(rows, np.ones(len(rows)), 6, 2, kept)
    assert oracle.one_tree_exists(rows[kept].tolist(), range(6))


def test_a_repair_does_not_depend_on_the_order_of_rows_or_statements():
    rng = np.random.RandomState(0)
    y = np.arange(60) % 3
    known = sample_constraints(y, n_relative=400, noise=0.15, random_state=0)
    found = []
    for _ in range(4):
        new, order = rng.permutation(60), rng.permutation(len(known))
        dropped = Constraints(relative=new[known.relative[order]]).repaired().dropped
        old = np.argsort(new)[dropped.relative]
        found.append({(*sorted(row[:2]), row[2]) for row in old.tolist()})
    assert all(one == found[0] for one in found)


def test_samples_look_alike_where_they_have_the_same_part():
    look = looks(np.array([(0, 1, 2), (3, 4, 5)]), np.ones(2), 6)
    assert look[0] == look[1] == look[3] == look[4]
    assert look[2] == look[5] != look[0]
    heavier = looks(np.array([(0, 1, 2), (3, 4, 5)]), np.array([1.0, 2.0]), 6)
    assert heavier[0] == heavier[1] != heavier[3] == heavier[4]


def test_a_conflict_of_very_many_statements_points_to_the_repair():
    # A ring: each of n samples is closer to the next one than to a common far one, but the last
    # statement says the opposite.
    ring = [(i, i + 1, 99) for i in range(40)] + [(0, 99, 40)]
    (conflict,) = Constraints(relative=ring).conflicts()
    assert len(conflict.statements) == 41
    assert "No hierarchy keeps all of 41 statements" in str(conflict)
    assert "repaired()" in str(conflict)
    assert len(str(conflict)) < 400


def test_wrong_triplets_are_outvoted():
    # Taken by order alone, early wrong statements would drive out hundreds of right ones.
    y = np.repeat(np.arange(2), 200)
    known = sample_constraints(y, n_relative=1600, noise=0.1, random_state=0)
    dropped = known.repaired().dropped
    assert len(dropped) <= 180
    assert dropped.provenance["flipped"].mean() > 0.9
