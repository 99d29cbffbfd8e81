import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust import Constraints
from conclust._kernels import disjoint_set
from conclust._kernels.paths import shortest_paths
from conclust._pairs import graph_of
from conclust.constraints import _conflicts
from conclust.constraints._conflicts import hitting_set
from conclust.exceptions import InconsistentConstraintsError
from conclust.testing import any_constraints, consistent_constraints, contradictory_constraints
from tests.oracles import constraints as oracle


@given(consistent_constraints(n_samples=9))
def test_a_consistent_set_has_no_conflicts_and_needs_no_repair(case):
    known, truth = case
    assert known.conflicts() == []
    assert known.conflicts(n_clusters=len(set(truth))) == []
    assert known.repaired() == known
    assert len(known.repaired().dropped) == 0


@given(contradictory_constraints(n_samples=8, max_pairs=6))
def test_each_contradiction_is_a_shortest_one(known):
    # Check: every cannot-link inside a component is explained, by as few must-links as possible,
    # and no proper subset of the statements already clashes.
    together, _ = oracle.closure(known.must_link, [], 8)
    inside = [p for p in known.cannot_link.tolist() if frozenset(p) in together]
    conflicts = known.conflicts()
    assert len(conflicts) == len(inside) > 0
    for conflict, (a, b) in zip(conflicts, inside, strict=True):
        said = conflict.statements
        assert said.cannot_link.tolist() == [[a, b]]
        assert len(said.must_link) == oracle.shortest_path_length(known.must_link, a, b)
        assert not oracle.feasible(said, 8, 2)
        for i in range(len(said)):
            assert not Constraints.conflicts(said[np.arange(len(said)) != i])


@settings(max_examples=100)
@given(any_constraints(n_samples=6, max_pairs=14), st.integers(1, 4))
def test_conflicts_of_a_small_set_tell_feasibility(known, k):
    # Check against trying all labellings: no conflicts exactly when some labelling keeps all.
    known = known.repaired()
    conflicts = known.conflicts(n_clusters=k)
    assert bool(conflicts) != oracle.feasible(known, 6, k)
    for conflict in conflicts:
        assert not oracle.feasible(conflict.statements, 6, k)
        assert conflict.n_clusters == k


@given(any_constraints(n_samples=6, max_pairs=9))
def test_repair_is_consistent_idempotent_and_near_the_heaviest(known):
    repaired = known.repaired()
    assert repaired.conflicts() == []
    assert repaired.repaired() == repaired
    assert len(repaired) + len(repaired.dropped) == len(known)
    total = known.weight.sum()
    best = oracle.heaviest_consistent(known, 6)
    assert repaired.weight.sum() <= best + 1e-9
    # Greedy, but never by much: what is lost is at most twice what has to be.
    assert total - repaired.weight.sum() <= 3 * (total - best) + 1e-9


@given(any_constraints(n_samples=7, max_pairs=12))
def test_nothing_dropped_could_have_stayed(known):
    repaired = known.repaired()
    for statement in repaired.dropped:
        kind = statement.kind.replace("-", "_")
        one_more = repaired + Constraints(**{kind: [statement.samples]})
        assert one_more.conflicts()


@given(contradictory_constraints(n_samples=8))
def test_without_breaks_up_every_conflict(known):
    conflicts = known.conflicts()
    rest = known.without(conflicts)
    dropped = {(s.kind, s.samples) for s in rest.dropped}
    for conflict in conflicts:
        assert dropped & {(s.kind, s.samples) for s in conflict.statements}


def test_sentences_use_the_users_ids():
    import pandas as pd

    frame = pd.DataFrame(
        {"a": ["ann", "bob", "ann"], "b": ["bob", "cid", "cid"], "type": ["ml", "ml", "cl"]}
    )
    (conflict,) = Constraints.from_frame(frame, ids=["cid", "bob", "ann"]).conflicts()
    assert str(conflict) == (
        "ann and cid may not share a cluster, yet must-links join them: ann – bob – cid."
    )
    both = Constraints([(0, 1)], [(0, 1)])
    assert str(both.conflicts()[0]) == "0 and 1 are both must-linked and cannot-linked."


def test_a_crowd_is_named_with_its_must_links():
    # Check that the statements of a clique include the must-links that carry it.
    known = Constraints([(0, 4)], [(0, 1), (4, 2), (1, 2), (5, 6)])
    (conflict,) = known.conflicts(n_clusters=2)
    assert conflict.kind == "too few clusters"
    assert "3 samples (or must-linked groups)" in str(conflict)
    assert {s.samples for s in conflict.statements} == {(0, 4), (0, 1), (4, 2), (1, 2)}


def test_an_odd_ring_is_named():
    ring = [(i, (i + 1) % 5) for i in range(5)]
    (conflict,) = Constraints(cannot_link=ring).conflicts(n_clusters=2)
    assert "ring of 5 cannot-links" in str(conflict)
    assert Constraints(cannot_link=ring).conflicts(n_clusters=3) == []


def test_a_graph_without_triangles_that_needs_four_colours():
    # The Grötzsch graph: no clique tells that three clusters are too few.
    outer = [(i, (i + 1) % 5) for i in range(5)]
    inner = [(5 + i, (i + 1) % 5) for i in range(5)] + [(5 + i, (i - 1) % 5) for i in range(5)]
    hub = [(5 + i, 10) for i in range(5)]
    known = Constraints(cannot_link=outer + inner + hub)
    (conflict,) = known.conflicts(n_clusters=3)
    assert "11 samples (or must-linked groups) with 20 cannot-links" in str(conflict)
    assert known.conflicts(n_clusters=4) == []


def test_groups_in_conflicts():
    known = Constraints.from_groups(apart=[0] * 6)
    (conflict,) = known.conflicts(n_clusters=5)
    assert "6 samples of one group must all be apart, but n_clusters=5" in str(conflict)
    assert known.conflicts(n_clusters=6) == []
    clash = known + Constraints([(0, 3), (1, 3)])
    assert len(clash.conflicts()) == 2
    assert len(clash.repaired().dropped.must_link) == 2  # the group stands for 15 pairs
    assert clash.repaired().conflicts() == []


@pytest.mark.parametrize("k", [0, -1, 2.5])
def test_n_clusters_is_checked(k):
    with pytest.raises(ValueError, match="n_clusters must be a positive integer"):
        Constraints([(0, 1)]).conflicts(n_clusters=k)


def test_all_planted_conflicts_among_many_links_are_found():
    # 10^5 links true under a labelling with 50 classes, and 1 000 planted contradictions.
    rng = np.random.RandomState(0)
    n, n_links, n_planted = 200_000, 100_000, 1_000
    truth = rng.randint(50, size=n)
    pairs = rng.randint(n, size=(n_links, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    fresh = rng.permutation(n)[: 3 * n_planted].reshape(-1, 3)
    known = Constraints(
        np.concatenate([pairs[same], fresh[:, :2], fresh[:, 1:]]),
        np.concatenate([pairs[~same], fresh[:, ::2]]),
        n_samples=n,
    )
    found = {tuple(c.statements.cannot_link[0]) for c in known.conflicts(max_listed=None)}
    assert {tuple(p) for p in fresh[:, ::2]} <= found
    assert known.repaired().conflicts() == []


def test_no_more_than_asked_for_are_listed():
    # 300 contradictions, and 300 cliques too many for two clusters: a hundred of each.
    triples = np.arange(900).reshape(-1, 3)
    joined = Constraints(np.concatenate([triples[:, :2], triples[:, 1:]]), triples[:, ::2])
    cliques = 900 + np.arange(900).reshape(-1, 3)
    apart = np.concatenate([cliques[:, :2], cliques[:, 1:], cliques[:, ::2]])
    known = joined + Constraints(cannot_link=apart)
    assert len(known.conflicts()) == 100
    kinds = [c.kind for c in known.conflicts(n_clusters=2)]
    assert (kinds.count("contradiction"), kinds.count("too few clusters")) == (100, 100)
    assert len(known.conflicts(n_clusters=2, max_listed=7)) == 14
    assert len(known.conflicts(n_clusters=2, max_listed=None)) == 600
    assert len(Constraints(cannot_link=apart).conflicts(n_clusters=1)) == 100
    with pytest.raises(InconsistentConstraintsError, match="299 more such conflicts") as error:
        known.closure()
    assert len(error.value.conflicts) == 100


def test_a_search_in_very_many_links_stops(monkeypatch):
    # Check that the links looked at are counted: all of 2 000 random ones are, once or twice.
    rng = np.random.RandomState(0)
    pairs = rng.randint(50, size=(2_000, 2))
    known = Constraints(cannot_link=pairs[pairs[:, 0] != pairs[:, 1]])
    everything = known.conflicts(n_clusters=4, max_listed=None)
    monkeypatch.setattr(_conflicts, "MAX_SCANNED", 2 * len(known))
    assert 0 < len(known.conflicts(n_clusters=4, max_listed=None)) <= 3 < len(everything)


def test_all_planted_cliques_among_many_links_are_found():
    rng = np.random.RandomState(1)
    n, k, n_planted = 300_000, 4, 1_000
    pairs = rng.permutation(n)[:180_000].reshape(-1, 2)
    cliques = np.setdiff1d(np.arange(n), pairs)[: n_planted * (k + 1)].reshape(-1, k + 1)
    i, j = np.triu_indices(k + 1, k=1)
    planted = np.column_stack([cliques[:, i].ravel(), cliques[:, j].ravel()])
    known = Constraints(cannot_link=np.concatenate([pairs, planted]), n_samples=n)
    listed = known.conflicts(n_clusters=k, max_listed=None)
    found = {tuple(np.unique(c.statements.cannot_link)) for c in listed}
    assert found == {tuple(c) for c in cliques}


@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=30)
@given(known=any_constraints(n_samples=7))
def test_keep_consistent_kernel(compiled, known):
    # Check against adding statements one by one and closing each time by the rules.
    kernel = disjoint_set.keep_consistent if compiled else disjoint_set.keep_consistent.py_func
    pairs = known.pairs()
    order = np.random.RandomState(len(known)).permutation(len(known))
    kept = np.zeros(len(known), dtype=np.bool_)
    kernel(pairs.pairs, pairs.sign, order, 7, kept)
    must, cannot = [], []
    for m in order:
        together, apart = oracle.closure(must, cannot, 7)
        pair = tuple(pairs.pairs[m])
        fits = frozenset(pair) not in (apart if pairs.sign[m] > 0 else together)
        assert kept[m] == fits
        if fits:
            (must if pairs.sign[m] > 0 else cannot).append(pair)


@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=30)
@given(known=any_constraints(n_samples=9), a=st.integers(0, 8), b=st.integers(0, 8))
def test_shortest_paths_kernel(compiled, known, a, b):
    kernel = shortest_paths if compiled else shortest_paths.py_func
    links = np.ascontiguousarray(known.must_link)
    indptr, out = np.zeros(2, np.int64), np.empty(20, np.int64)
    kernel(*graph_of(links, 9, sort=True), np.array([a]), np.array([b]), indptr, out)
    path = out[: indptr[1]]
    together, _ = oracle.closure(links, [], 9)
    if a == b or frozenset((a, b)) not in together:
        assert len(path) == 0
        return
    assert len(path) == oracle.shortest_path_length(links.tolist(), a, b)
    at = a
    for e in path:
        assert at in links[e]
        at = links[e].sum() - at
    assert at == b


def test_hitting_set_prefers_what_hits_much_for_little():
    sets = [np.array([0, 1]), np.array([0, 2]), np.array([3, 4])]
    assert hitting_set(sets, np.array([1.0, 1, 1, 5, 1])).tolist() == [0, 4]
    assert hitting_set(sets, np.array([9.0, 1, 1, 5, 1])).tolist() == [1, 2, 4]
    assert hitting_set([], np.ones(3)).tolist() == []
