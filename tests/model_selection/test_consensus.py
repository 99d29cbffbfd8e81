"""Several clusterings taken together as one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conclust._placement.belief import Rates
from conclust.model_selection._consensus import FLOOR, Heard, agree, sharpness_of
from tests.oracles import consensus as oracle

RATES = Rates(0.1, 0.2)


class Said:
    """Says of row [i] what it said of row i of the fit."""

    def __init__(self, log_prior):
        self._log_prior = log_prior

    def log_prior(self, X):
        return self._log_prior[X[:, 0].astype(int)]


def member(log_prior, weight):
    shares = np.exp(log_prior) / np.exp(log_prior).sum(axis=1, keepdims=True)
    return Heard(weight, Said(log_prior), shares, log_prior, RATES)


def around(labels, n_clusters, rng, spread=0.5):
    return 2.0 * np.eye(n_clusters)[labels] + rng.normal(0, spread, (len(labels), n_clusters))


@pytest.fixture
def members():
    rng = np.random.RandomState(0)
    labels = np.arange(30) % 3
    return [member(around(labels, 3, rng), weight) for weight in (0.5, 0.3, 0.2)]


def test_scores_are_those_of_the_definition(members):
    found = agree(members)
    said = [one.responsibilities for one in members]
    first = sum(one.weight * one.responsibilities for one in members).argmax(axis=1)
    scores = oracle.scores(said, [one.weight for one in members], first)
    expected = np.array([oracle.softmax(row, found.consensus.sharpness) for row in scores])
    np.testing.assert_allclose(found.prior, expected * (1 - FLOOR) + FLOOR / 3, atol=1e-5)
    np.testing.assert_allclose(found.rates, RATES)


def test_rows_of_the_fit_are_told_the_same_as_new_rows(members):
    found = agree(members)
    np.testing.assert_allclose(
        found.consensus.prior(np.arange(30)[:, None]), found.prior, atol=1e-5
    )


def test_names_of_clusters_do_not_matter(members):
    order = np.array([2, 0, 1])
    one = members[1]
    renamed = one._replace(
        responsibilities=one.responsibilities[:, order], log_prior=one.log_prior[:, order]
    )
    np.testing.assert_allclose(
        agree([members[0], renamed, members[2]]).prior, agree(members).prior, atol=1e-6
    )


def test_renumbered(members):
    found = agree(members)
    number = np.array([1, 2, 0])
    rows = np.arange(30)[:, None]
    np.testing.assert_allclose(
        found.consensus.renumbered(number).prior(rows)[:, number], found.consensus.prior(rows)
    )


def test_as_sure_as_the_members_are(members):
    mean = sum(one.weight * one.responsibilities for one in members)
    assert agree(members).prior.max(axis=1).mean() == pytest.approx(
        mean.max(axis=1).mean(), abs=0.01
    )


def test_members_that_cut_elsewhere_still_tell_which_rows_are_alike():
    # Four groups of rows. The first member is unsure between groups 0 and 1, the second joins 2
    # and 3, and divides what the first leaves open: no two clusters match, but all groups are told.
    groups = np.repeat(np.arange(4), 10)
    first = np.log(
        np.array([[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]) + 0.01
    )
    second = np.log(np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]]) + 0.01)
    noise = np.random.RandomState(0).normal(0, 0.05, (2, 40, 4))
    found = agree([member(first[groups] + noise[0], 0.6), member(second[groups] + noise[1], 0.4)])
    labels = found.prior.argmax(axis=1)
    assert all(len(set(labels[groups == g])) == 1 for g in range(4))
    assert len(set(labels)) == 4


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 12), st.integers(0, 100))
def test_always_probabilities(n_members, n_clusters, n_samples, seed):
    rng = np.random.RandomState(seed)
    given = [
        member(rng.normal(0, 3, (n_samples, n_clusters)), 1 / n_members) for _ in range(n_members)
    ]
    found = agree(given)
    assert (found.prior > 0).all()
    np.testing.assert_allclose(found.prior.sum(axis=1), 1)


def test_sharpness_of_scores_that_are_all_alike_is_a_number():
    assert np.isfinite(sharpness_of(np.zeros((4, 2)), np.full((4, 2), 0.5)))
