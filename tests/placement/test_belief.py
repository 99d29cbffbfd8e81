"""Belief propagation: exact on forests, settled and sensible elsewhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax, logsumexp, softmax

from conclust import Constraints
from conclust._kernels import beliefs as kernels
from conclust._placement.belief import MAX_SWEEPS, Beliefs, Rates, is_forest
from tests.oracles.beliefs import beliefs as by_listing


@st.composite
def forests(draw):
    """A forest of statements, some said twice, with weights; log weights of clusters; rates."""
    n_rows = draw(st.integers(2, 6))
    must, cannot = [], []
    for child in range(1, n_rows):
        parent = draw(st.integers(-1, child - 1))
        if parent < 0:
            continue
        for kind in draw(st.lists(st.booleans(), min_size=1, max_size=2)):
            (must if kind else cannot).append((parent, child))
    pairs = Constraints(must, cannot, n_samples=n_rows).pairs()
    n = len(pairs.sign)
    weight = np.array(draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    seed = draw(st.integers(0, 2**16))
    n_clusters = draw(st.integers(1, 3))
    prior = np.random.RandomState(seed).normal(0, 3, size=(n_rows, n_clusters))
    rate = st.floats(0.01, 0.45)
    return pairs._replace(weight=weight), prior, Rates(draw(rate), draw(rate))


@given(forests())
def test_exact_on_forests(problem):
    pairs, prior, rates = problem
    propagated = Beliefs(pairs, prior.shape[1])
    assert propagated.exact
    found = propagated(prior[propagated.rows], rates)
    marginal, doubt, log_evidence = by_listing(prior, *pairs[:3], rates)
    np.testing.assert_allclose(found.probability, marginal[propagated.rows], atol=1e-9)
    np.testing.assert_allclose(found.doubt, doubt, atol=1e-9)
    np.testing.assert_allclose(found.log_evidence, log_evidence, atol=1e-9)


def test_cycles_settle_near_the_truth():
    known = Constraints([(0, 1), (1, 2), (2, 3)], [(0, 3), (3, 4), (4, 5), (1, 4)])
    pairs = known.pairs()
    prior = np.random.RandomState(0).normal(0, 1.5, size=(6, 3))
    propagated = Beliefs(pairs, 3)
    assert not propagated.exact
    for _ in range(20):
        found = propagated(prior, Rates(0.1, 0.2))
    again = propagated(prior, Rates(0.1, 0.2))
    np.testing.assert_allclose(found.probability, again.probability, atol=1e-4)
    marginal, doubt, log_evidence = by_listing(prior, *pairs[:3], (0.1, 0.2))
    assert np.abs(found.probability - marginal).max() < 0.08
    assert np.abs(found.doubt - doubt).max() < 0.08
    assert abs(found.log_evidence - log_evidence) < 0.2


def test_cycles_stop_when_messages_do(monkeypatch):
    pairs = Constraints([(0, 1), (1, 2), (0, 2)]).pairs()
    propagated = Beliefs(pairs, 2)
    prior = np.array([[3.0, 0.0], [2.0, 0.0], [1.0, 0.0]])
    for _ in range(10):
        propagated(prior, Rates(0.2, 0.2))
    calls = []
    speak = kernels.sweep.py_func

    def counted(*args):
        calls.append(1)
        return speak(*args)

    monkeypatch.setattr(
        "conclust._placement.belief.short",
        lambda kernel, *_: counted if kernel is kernels.sweep else kernel.py_func,
    )
    propagated(prior, Rates(0.2, 0.2))
    assert len(calls) == 1 < MAX_SWEEPS


@pytest.mark.parametrize("n_leaves", [1, 14, 15, 40])
@pytest.mark.parametrize("rate", [0.2, 1e-12])
def test_exact_on_stars_with_far_priors(n_leaves, rate):
    # Forty neighbours that are nearly certain overrule a row that is so about itself.
    own, theirs = np.array([0.0, -800.0, -3.0]), np.array([-900.0, 0.0, -60.0])
    star = Constraints([(0, leaf) for leaf in range(1, n_leaves + 1)])
    prior = np.vstack([own, np.tile(theirs, (n_leaves, 1))])
    found = Beliefs(star.pairs(), 3)(prior, Rates(rate, rate))
    said = np.where(np.eye(3, dtype=bool), np.log1p(-rate), np.log(rate))
    heard = logsumexp(log_softmax(theirs) + said, axis=1)
    joint = log_softmax(own) + n_leaves * heard
    np.testing.assert_allclose(found.probability[0], softmax(joint), atol=1e-9)
    np.testing.assert_allclose(found.log_evidence, logsumexp(joint), rtol=1e-9)
    assert (found.probability[0].argmax() == 1) == (n_leaves == 40 and rate < 0.1)


def test_contradictions_and_certainty_stay_finite():
    known = Constraints([(0, 1), (1, 2)], [(0, 2), (0, 1)])
    found = Beliefs(known.pairs(), 2)(np.array([[500.0, 0], [0, 500], [0, 0]]), Rates(1e-6, 1e-6))
    assert np.isfinite(found.log_evidence)
    np.testing.assert_allclose(found.probability.sum(axis=1), 1)
    assert ((found.doubt >= 0) & (found.doubt <= 1)).all()


@given(forests(), st.randoms(use_true_random=False))
def test_rows_may_be_renumbered(problem, random):
    pairs, prior, rates = problem
    order = list(range(len(prior)))
    random.shuffle(order)
    order = np.array(order)
    one, other = Beliefs(pairs, prior.shape[1]), None
    renamed = pairs._replace(pairs=order[pairs.pairs].reshape(-1, 2))
    other = Beliefs(renamed, prior.shape[1])
    moved = np.empty_like(prior)
    moved[order] = prior
    np.testing.assert_allclose(
        one(prior[one.rows], rates).doubt, other(moved[other.rows], rates).doubt, atol=1e-12
    )


@pytest.mark.parametrize(
    ("must", "cannot", "expected"),
    [
        ([(0, 1), (1, 2)], [], True),
        ([(0, 1)], [(0, 1)], True),
        ([(0, 1), (1, 2)], [(0, 2)], False),
        ([], [], True),
    ],
)
def test_is_forest(must, cannot, expected):
    assert is_forest(Constraints(must, cannot, n_samples=3).pairs()) is expected
