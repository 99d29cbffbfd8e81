import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conclust._placement import hard
from conclust._placement.apart_graph import ApartGraph
from conclust._placement.hard import Outcome, place
from tests.oracles import coloring as graphs
from tests.oracles import placement as oracle

seeds = st.integers(0, 2**31 - 1)


def apart_graph(pairs, n_units, weight=None):
    pairs = np.sort(np.array(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
    weight = np.ones(len(pairs)) if weight is None else np.asarray(weight, dtype=float)
    return ApartGraph(pairs, weight, n_units)


def complete(n):
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


def hidden_labeling(seed, n_units, n_clusters, share):
    """Links drawn from a labelling nobody else sees; at most `share` of the true ones."""
    rng = np.random.RandomState(seed)
    truth = rng.randint(n_clusters, size=n_units)
    pairs = [(i, j) for i, j in complete(n_units) if truth[i] != truth[j]]
    pairs = [pairs[p] for p in rng.permutation(len(pairs))[: round(share * len(pairs))]]
    return rng.uniform(size=(n_units, n_clusters)), apart_graph(pairs, n_units)


def random_links(seed, n_units, n_clusters, share):
    """Links drawn without care; there may be no way to keep them all."""
    rng = np.random.RandomState(seed)
    pairs = [pair for pair in complete(n_units) if rng.uniform() < share]
    weight = rng.randint(1, 6, size=len(pairs))
    return rng.uniform(size=(n_units, n_clusters)), apart_graph(pairs, n_units, weight)


def cost_of(cost, labels):
    return cost[np.arange(len(cost)), labels].sum()


def check_report(placement, cost, graph):
    labels = placement.labels
    assert labels.shape == (len(cost),)
    assert labels.dtype == np.int64
    assert set(labels) <= set(range(cost.shape[1]))
    assert placement.cost == pytest.approx(cost_of(cost, labels))
    broken = [p for p, (i, j) in enumerate(graph.apart) if labels[i] == labels[j]]
    assert placement.broken.tolist() == broken


@given(seeds, st.integers(2, 40), st.integers(2, 6), st.floats(0, 1))
def test_feasible_links_are_kept(seed, n_units, n_clusters, share):
    cost, graph = hidden_labeling(seed, n_units, n_clusters, share)
    placement = place(cost, graph)
    check_report(placement, cost, graph)
    assert placement.outcome == Outcome.FEASIBLE
    assert len(placement.broken) == 0
    assert len(placement.witness) == 0


@given(seeds, st.integers(3, 6))
def test_all_true_links_leave_only_the_names_open(seed, n_clusters):
    # Check that with every cannot-link of a labelling given, its clusters come back, each under
    # the cheapest of the names there are.
    cost, graph = hidden_labeling(seed, 40, n_clusters, 1.0)
    truth = np.random.RandomState(seed).randint(n_clusters, size=40)
    assume(len(set(truth)) == n_clusters)
    placement = place(cost, graph)
    assert placement.outcome == Outcome.FEASIBLE
    names = itertools.permutations(range(n_clusters))
    least = min(cost_of(cost, np.array(name)[truth]) for name in names)
    assert placement.cost == pytest.approx(least)


@given(seeds, st.sampled_from([(3, 4.7), (4, 8.5), (5, 12.5), (6, 17.0)]))
def test_hard_planted_colourings_are_solved(seed, case):
    # Check the densities (links per unit) where a random graph is just about colourable.
    n_clusters, degree = case
    share = 40 * degree / 2 / (40 * 39 / 2 * (1 - 1 / n_clusters))
    cost, graph = hidden_labeling(seed, 40, n_clusters, share)
    placement = place(cost, graph)
    assert placement.outcome == Outcome.FEASIBLE
    assert len(placement.broken) == 0


@given(seeds, st.integers(1, 6), st.integers(2, 4), st.floats(0, 0.8))
def test_tiny_cases_against_every_labelling(seed, n_units, n_clusters, share):
    cost, graph = random_links(seed, n_units, n_clusters, share)
    weight, least = oracle.cheapest(cost, graph.apart, graph.apart_weight)
    strict, relaxed = place(cost, graph), place(cost, graph, relax=True)
    check_report(strict, cost, graph)
    check_report(relaxed, cost, graph)
    if weight == 0:
        assert strict.outcome == relaxed.outcome == Outcome.FEASIBLE
        # Measured on 1 345 such cases: 1.0001 times the least on average, 1.07 at worst.
        assert least - 1e-12 <= strict.cost <= 1.5 * least
    else:
        assert strict.outcome == Outcome.INFEASIBLE
        assert relaxed.outcome == Outcome.RELAXED
        assert graph.apart_weight[relaxed.broken].sum() == weight
        among = graph.restricted(np.sort(strict.witness))
        assert not graphs.has_coloring(among.apart, among.n_units, n_clusters)


@given(seeds, st.integers(1, 10), st.floats(0, 0.5))
def test_two_clusters_are_exact(seed, n_units, share):
    cost, graph = random_links(seed, n_units, 2, share)
    weight, least = oracle.cheapest(cost, graph.apart, graph.apart_weight)
    placement = place(cost, graph)
    assert (placement.outcome == Outcome.FEASIBLE) == (weight == 0)
    if weight == 0:
        assert placement.cost == pytest.approx(least)


@given(seeds, st.integers(1, 12), st.integers(1, 5))
def test_without_links_everyone_gets_the_cheapest(seed, n_units, n_clusters):
    cost = np.random.RandomState(seed).uniform(size=(n_units, n_clusters))
    placement = place(cost, apart_graph([], n_units))
    assert placement.labels.tolist() == cost.argmin(axis=1).tolist()
    assert placement.outcome == Outcome.FEASIBLE
    assert placement.rung == "tree"


@given(seeds, st.integers(2, 40), st.integers(2, 6), st.floats(0, 0.6), st.booleans())
def test_never_worse_than_before(seed, n_units, n_clusters, share, relax):
    # Check that new costs never leave more than the old labels would cost under them.
    cost, graph = hidden_labeling(seed, n_units, n_clusters, share)
    before = place(cost, graph).labels
    new_cost = cost + np.random.RandomState(seed).uniform(-0.3, 0.3, size=cost.shape)
    after = place(new_cost, graph, previous=before, relax=relax)
    assert after.outcome == Outcome.FEASIBLE
    assert after.cost <= cost_of(new_cost, before) + 1e-12
    # And the same costs leave it where it is, so that k-means can see that nothing changed.
    again = place(new_cost, graph, previous=after.labels, relax=relax)
    assert again.cost <= after.cost
    assert again.cost < after.cost - 1e-12 or again.labels.tolist() == after.labels.tolist()


@given(seeds, st.integers(4, 12), st.integers(2, 3))
def test_relaxed_never_breaks_more_than_before(seed, n_units, n_clusters):
    cost, graph = random_links(seed, n_units, n_clusters, 0.7)
    before = place(cost, graph, relax=True)
    after = place(cost[::-1], graph, previous=before.labels, relax=True)
    weights = [graph.apart_weight[p.broken].sum() for p in (after, before)]
    assert weights[0] <= weights[1]
    if weights[0] == weights[1]:
        assert after.cost <= cost_of(cost[::-1], before.labels) + 1e-12


def test_one_more_than_fits():
    # Check that five mutual links are named, among others that do no harm.
    links = [*complete(5), *[(i, i + 1) for i in range(4, 20)], (0, 20)]
    graph = apart_graph(links, 21)
    placement = place(np.zeros((21, 4)), graph)
    assert placement.outcome == Outcome.INFEASIBLE
    assert sorted(placement.witness) == [0, 1, 2, 3, 4]
    assert place(np.zeros((21, 5)), graph).outcome == Outcome.FEASIBLE


def test_odd_cycle_with_two_clusters():
    # Check a ring of seven with a tail: the ring is named, and three clusters are enough.
    links = [*((v, (v + 1) % 7) for v in range(7)), (3, 7), (7, 8)]
    graph = apart_graph(links, 9)
    placement = place(np.zeros((9, 2)), graph)
    assert placement.outcome == Outcome.INFEASIBLE
    assert sorted(placement.witness) == list(range(7))
    assert place(np.zeros((9, 3)), graph).outcome == Outcome.FEASIBLE
    relaxed = place(np.zeros((9, 2)), graph, relax=True)
    assert relaxed.outcome == Outcome.RELAXED
    assert len(relaxed.broken) == 1


def test_infeasible_without_a_clique():
    # Check the graph without triangles that needs four clusters.
    links, n = graphs.groetzsch()
    graph = apart_graph(links, n)
    placement = place(np.random.RandomState(0).uniform(size=(n, 3)), graph)
    assert placement.outcome == Outcome.INFEASIBLE
    assert placement.rung == "colouring"
    assert sorted(placement.witness) == list(range(n))
    assert place(np.zeros((n, 4)), graph).outcome == Outcome.FEASIBLE
    assert len(place(np.zeros((n, 3)), graph, relax=True).broken) == 1


def test_one_cluster():
    cost = np.array([[1.0], [2.0]])
    assert place(cost, apart_graph([], 2)).outcome == Outcome.FEASIBLE
    placement = place(cost, apart_graph([(0, 1)], 2))
    assert placement.outcome == Outcome.INFEASIBLE
    assert placement.witness.tolist() == [0, 1]
    relaxed = place(cost, apart_graph([(0, 1)], 2), relax=True)
    assert (relaxed.outcome, relaxed.broken.tolist(), relaxed.cost) == (Outcome.RELAXED, [0], 3.0)


@pytest.mark.parametrize("n_clusters", [1, 2, 3])
def test_no_units(n_clusters):
    placement = place(np.empty((0, n_clusters)), apart_graph([], 0))
    assert placement.outcome == Outcome.FEASIBLE
    assert placement.cost == 0.0
    assert len(placement.labels) == len(placement.broken) == 0


def test_a_light_link_is_as_hard_as_a_heavy_one():
    # Check links whose weights differ beyond rounding: none may be forgotten.
    weight = np.geomspace(1e-14, 1e6, 15)
    cost = np.tile([0.0, 1.0, 10.0, 100.0, 1000.0], (6, 1))
    ring = [*complete(5), *((i, 5) for i in range(4))]
    graph = apart_graph(ring, 6, weight[: len(ring)])
    placement = place(cost, graph)
    assert placement.outcome == Outcome.FEASIBLE
    assert len(placement.broken) == 0


def test_the_lightest_link_of_a_triangle_is_broken():
    graph = apart_graph([(0, 1), (0, 2), (1, 2)], 3, [3.0, 1.0, 2.0])
    relaxed = place(np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 0.0]]), graph, relax=True)
    assert relaxed.broken.tolist() == [1]
    assert relaxed.rung == "relaxed"


def test_components_are_judged_apart():
    # Check that what cannot be kept in one component does not loosen the others.
    links = [*complete(3), *[(i + 3, j + 3) for i, j in graphs.groetzsch()[0]], (14, 15)]
    graph = apart_graph(links, 16)
    cost = np.random.RandomState(0).uniform(size=(16, 3))
    placement = place(cost, graph, relax=True)
    assert len(placement.broken) == 1
    assert graph.apart[placement.broken[0]].min() >= 3


def stuck(monkeypatch, **limits):
    """Take away the steps of the ladder that would have solved the case."""
    for name, value in limits.items():
        monkeypatch.setattr(hard, name, value)


def hard_case():
    cost, graph = hidden_labeling(13, 40, 3, 40 * 4.7 / 2 / (40 * 39 / 2 * 2 / 3))
    assert place(cost, graph).rung == "repair"
    return cost, graph


def test_without_repair_the_colouring_answers(monkeypatch):
    # Check the colouring rung, alone and with the solver's cheaper placement behind it.
    cost, graph = hard_case()
    stuck(monkeypatch, SHORT_REPAIR=0)
    exact = place(cost, graph)
    assert (exact.outcome, exact.rung) == (Outcome.FEASIBLE, "colouring")
    stuck(monkeypatch, MAX_SOLVER_VARIABLES=0)
    colored = place(cost, graph)
    assert (colored.outcome, colored.rung) == (Outcome.FEASIBLE, "colouring")
    assert len(exact.broken) == len(colored.broken) == 0
    assert exact.cost <= colored.cost


def test_the_solver_comes_last(monkeypatch):
    # Check that it finds the least cost, as good as any other way, and that it can say no.
    cost, graph = hard_case()
    least = place(cost, graph).cost
    stuck(monkeypatch, SHORT_REPAIR=0, LONG_REPAIR=0, COLOR_BUDGET=0, CLIQUE_BUDGET=0)
    placement = place(cost, graph)
    assert (placement.outcome, placement.rung) == (Outcome.FEASIBLE, "solver")
    assert len(placement.broken) == 0
    assert placement.cost <= least + 1e-9
    links, n = graphs.groetzsch()
    refused = place(np.ones((n, 3)), apart_graph(links, n))
    assert (refused.outcome, refused.rung) == (Outcome.INFEASIBLE, "solver")
    assert len(refused.witness) == n


def test_a_long_repair_may_do(monkeypatch):
    cost, graph = hard_case()
    stuck(monkeypatch, SHORT_REPAIR=0, COLOR_BUDGET=0)
    placement = place(cost, graph)
    assert (placement.outcome, placement.rung) == (Outcome.FEASIBLE, "repair")


def test_not_knowing_is_said(monkeypatch):
    cost, graph = hard_case()
    stuck(monkeypatch, SHORT_REPAIR=0, LONG_REPAIR=0, COLOR_BUDGET=0, MAX_SOLVER_VARIABLES=0)
    placement = place(cost, graph)
    assert placement.outcome == Outcome.UNKNOWN
    assert len(placement.broken) > 0
    relaxed = place(cost, graph, relax=True)
    assert relaxed.outcome == (Outcome.RELAXED if len(relaxed.broken) else Outcome.FEASIBLE)


def test_renumbered_units_are_placed_alike():
    # Check that the result does not hang on the order the units come in.
    cost, graph = hidden_labeling(3, 60, 6, 0.1)
    placement = place(cost, graph)
    order = np.random.RandomState(0).permutation(60)
    number = np.argsort(order)
    turned = place(cost[order], apart_graph(number[graph.apart], 60))
    assert turned.labels.tolist() == placement.labels[order].tolist()


def test_a_graph_knows_its_parts():
    # Check a triangle with a tail of two, a linked pair and a loner.
    graph = apart_graph([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (5, 6)], 8)
    assert graph.component.tolist() == [0, 0, 0, 0, 0, 1, 1, 2]
    assert graph.odd.tolist() == [True, False, False]
    assert graph.core_units.tolist() == [0, 1, 2]
    assert graph.core.apart.tolist() == [[0, 1], [0, 2], [1, 2]]
    hangs_on = dict(zip(graph.peeled.tolist(), graph.parent.tolist(), strict=True))
    assert hangs_on == {4: 3, 3: 2, 5: 6, 6: -1, 7: -1}
    assert graph.restricted(np.array([4, 3, 2])).apart.tolist() == [[1, 2], [0, 1]]


@pytest.mark.slow
def test_a_large_case():
    # Check 20 000 units, 50 clusters and 400 000 links: kept, and cheaper than the hidden labels.
    rng = np.random.RandomState(0)
    truth = rng.randint(50, size=20_000)
    centers = rng.normal(size=(50, 8))
    rows = centers[truth] + rng.normal(size=(20_000, 8))
    cost = ((rows[:, None] - centers) ** 2).sum(axis=2)
    pairs = np.sort(rng.randint(20_000, size=(450_000, 2)), axis=1)
    pairs = np.unique(pairs[truth[pairs[:, 0]] != truth[pairs[:, 1]]], axis=0)
    placement = place(cost, apart_graph(pairs, 20_000))
    assert placement.outcome == Outcome.FEASIBLE
    assert len(placement.broken) == 0
    assert placement.cost < cost_of(cost, truth)


def test_what_was_given_up_is_not_tried_again():
    # Four units all apart in three clusters: proved once, and the same answer without the proof.
    pairs = np.array(list(itertools.combinations(range(4), 2)))
    graph = ApartGraph(pairs, np.ones(6), 4)
    given_up = {}
    rng = np.random.RandomState(0)
    for cost in rng.rand(5, 4, 3):
        placed = place(cost, graph, relax=True, given_up=given_up)
        alone = place(cost, graph, relax=True)
        assert placed.labels.tolist() == alone.labels.tolist()
        assert (placed.outcome, len(placed.broken)) == (Outcome.RELAXED, 1)
        assert {number: sorted(units) for number, units in given_up.items()} == {0: [0, 1, 2, 3]}
