"""The Gaussian mixture to which statements are evidence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import normalized_mutual_info_score as nmi
from sklearn.preprocessing import scale

from conclust import ConstrainedGaussianMixture, Constraints, sample_constraints
from conclust._placement.belief import Rates
from conclust.cluster import Scatter, _mixture, doubting_mixture, log_joint, normalize, softened
from conclust.cluster._doubting_mixture import (
    estimated_rates,
    log_prior_of,
    m_step,
    rates_of_shares,
    wrong_shares,
)
from tests.oracles.beliefs import beliefs as by_listing

X, y = load_iris(return_X_y=True)
TYPES = ("full", "tied", "diag", "spherical")


def rows_and_start(seed, n=12, k=3, d=2):
    random = np.random.RandomState(seed)
    rows = random.normal(size=(n, d))
    rows -= rows.mean(axis=0)
    return rows, random.dirichlet(np.ones(k), size=n)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_m_step_is_the_weighted_one_with_shrinkage(covariance_type):
    rows, shares = rows_and_start(0)
    weight = np.random.RandomState(1).uniform(0.5, 2, size=12)
    n, d, k = 12, 2, 3
    found = m_step(Scatter(rows, weight), shares, covariance_type, 0.0)
    rows = rows - weight @ rows / weight.sum()
    mass = shares * weight[:, None]
    counts = mass.sum(axis=0)
    np.testing.assert_allclose(found.weights, (counts + 1) / (weight.sum() + k))
    scatters = []
    for c in range(k):
        mean = sum(mass[i, c] * rows[i] for i in range(n)) / counts[c]
        np.testing.assert_allclose(found.means[c], mean)
        away = rows - mean
        scatters.append(sum(mass[i, c] * np.outer(away[i], away[i]) for i in range(n)))
    variances = sum(weight[i] * rows[i] ** 2 for i in range(n)) / weight.sum()
    strength = d if covariance_type == "tied" else 0.3 * d
    shared = (sum(scatters) + strength * np.diag(variances)) / (counts.sum() + strength)
    own = [(s + 0.2 * d * shared) / (m + 0.2 * d) for s, m in zip(scatters, counts, strict=True)]
    expected = {
        "tied": shared,
        "full": np.array(own),
        "diag": np.array([np.diag(c) for c in own]),
        "spherical": np.array([np.diag(c).mean() for c in own]),
    }[covariance_type]
    np.testing.assert_allclose(found.covariances, expected)


def test_units_of_measurement_do_not_matter():
    told = sample_constraints(y, 100, noise=0.1, random_state=0)
    units = np.array([1e-3, 1.0, 50.0, 1e4])
    settings = {"flip_rate": "auto", "covariance_type": "tied", "reg_covar": 0.0}
    one = ConstrainedGaussianMixture(3, init="random", random_state=0, **settings)
    other = ConstrainedGaussianMixture(3, init="random", random_state=0, **settings)
    one.fit(X, constraints=told)
    other.fit(X * units, constraints=told)
    np.testing.assert_allclose(one.responsibilities_, other.responsibilities_, atol=1e-6)


def test_shared_densities_differ_from_whole_ones_by_a_constant_of_each_row():
    rows, shares = rows_and_start(3)
    scatter = Scatter(rows)
    mixture = m_step(scatter, shares, "tied", 1e-6)
    short, constant = log_prior_of(scatter, mixture, "tied")
    whole = log_joint(rows, mixture, "tied")
    gap = whole - short
    np.testing.assert_allclose(gap, np.repeat(gap[:, :1], 3, axis=1))
    np.testing.assert_allclose(gap[:, 0].sum(), constant)
    by_scipy = [multivariate_normal(m, mixture.covariances).logpdf(rows) for m in mixture.means]
    np.testing.assert_allclose(whole, np.column_stack(by_scipy) + np.log(mixture.weights))


@given(st.integers(0, 2**16), st.sampled_from(TYPES))
@settings(max_examples=30)
def test_the_likelihood_is_that_of_rows_and_statements_and_never_falls_on_forests(seed, kind):
    """With the rates given; shrinkage takes part as a prior."""
    rows, shares = rows_and_start(seed, n=7)
    known = Constraints([(0, 1), (1, 2)], [(2, 3), (4, 5)], n_samples=7)
    scatter, rates = Scatter(rows), Rates(0.1, 0.2)
    run = doubting_mixture(
        scatter, known.pairs(), shares, covariance_type=kind, rates=rates, max_iter=30, tol=0.0
    )
    joint = log_joint(rows, run.mixture, kind)
    top = joint.max(axis=1, keepdims=True)
    alone = (top[:, 0] + np.log(np.exp(joint - top).sum(axis=1))).sum()
    marginal, doubt, evidence = by_listing(joint, *known.pairs()[:3], rates)
    np.testing.assert_allclose(run.log_evidence, evidence, atol=1e-8)
    np.testing.assert_allclose(run.log_likelihood, (alone + evidence) / 7, atol=1e-8)
    np.testing.assert_allclose(run.responsibilities, marginal, atol=1e-8)
    np.testing.assert_allclose(run.doubt, doubt, atol=1e-8)
    if kind == "tied":  # shrinkage of the others is towards what moves itself
        objective = [penalized(scatter, known, shares, rates, n) for n in range(1, 8)]
        assert (np.diff(objective) > -1e-7).all()


@pytest.mark.parametrize("kind", TYPES)
def test_a_mixture_is_gone_on_from(kind):
    """The first iteration of a start is its M-step, so both ways are the same."""
    rows, shares = rows_and_start(0, n=30)
    known = Constraints([(0, 1)], [(2, 3)], n_samples=30).pairs()
    scatter, how = Scatter(rows), {"covariance_type": kind, "max_iter": 3, "tol": 0.0}
    first = m_step(scatter, shares, kind, 1e-6)
    by_shares = doubting_mixture(scatter, known, shares, **how)
    by_mixture = doubting_mixture(scatter, known, first, **how)
    np.testing.assert_array_equal(by_mixture.responsibilities, by_shares.responsibilities)


def penalized(scatter, known, shares, rates, n_iter):
    """Log-likelihood after some iterations, with the prior that the M-step stands for."""
    run = doubting_mixture(
        scatter, known.pairs(), shares, rates=rates, max_iter=n_iter, tol=0.0, reg_covar=0.0
    )
    (n, d), S = scatter.X.shape, run.mixture.covariances
    inverse, log_det = np.linalg.inv(S), np.linalg.slogdet(S)[1]
    weights = np.log(run.mixture.weights).sum()
    sphere = -0.5 * d * (log_det + (scatter.variances * np.diag(inverse)).sum())
    return n * run.log_likelihood + weights + sphere


@pytest.mark.parametrize("kind", TYPES)
def test_contradictions_never_raise(kind):
    clash = Constraints([(0, 1), (1, 2), (5, 60)], [(0, 2), (0, 1), (5, 60)])
    model = ConstrainedGaussianMixture(
        3, covariance_type=kind, flip_rate="auto", random_state=0
    ).fit(X, constraints=clash)
    assert ((model.doubt_ >= 0) & (model.doubt_ <= 1)).all()
    np.testing.assert_allclose(model.responsibilities_.sum(axis=1), 1)
    impossible = Constraints(cannot_link=[(i, j) for i in range(5) for j in range(i)])
    ConstrainedGaussianMixture(2, flip_rate=0.1, random_state=0).fit(X, constraints=impossible)


@pytest.mark.parametrize("data", [(X, y), (scale(load_wine().data), load_wine().target)])
@pytest.mark.parametrize("noise", [0.1, 0.2])
def test_rates_and_suspects_are_found(data, noise):
    rows, truth = data
    told = sample_constraints(truth, 300, noise=noise, random_state=1)
    model = ConstrainedGaussianMixture(
        3, covariance_type="tied", flip_rate="auto", random_state=0
    ).fit(rows, constraints=told)
    flipped = told.to_frame()["flipped"].to_numpy()
    must = told.kinds == "must-link"
    assert abs(model.flip_rate_[0] - flipped[must].mean()) < 0.05
    assert abs(model.flip_rate_[1] - flipped[~must].mean()) < 0.05
    assert model.suspects(int(flipped.sum()))["flipped"].mean() > 0.8
    assert nmi(truth, model.labels_) > 0.84
    assert (model.suspects(5)["doubt"].diff().dropna() <= 0).all()


def test_rates_and_shares_by_hand():
    known = Constraints([(0, 1), (2, 3)], [(0, 2)])
    pairs = known.pairs()._replace(weight=np.array([3.0, 1.0, 2.0]))
    doubt = np.array([0.0, 1.0, 0.25])
    # In two clusters: the second must-link and three quarters of the cannot-link.
    apart, together = 1 + 1.5, 3 + 0.5
    rates = estimated_rates(doubt, pairs)
    assert rates == pytest.approx(((1 + 2) / (apart + 20), (0.5 + 2) / (together + 20)))
    assert wrong_shares(doubt, pairs) == pytest.approx(((1 + 1) / 14, (0.5 + 1) / 12))
    many = Constraints([(i, i + 1) for i in range(10_000)]).pairs()
    assert estimated_rates(np.zeros(10_000), many).cannot == 0.005
    assert estimated_rates(np.ones(10_000), many).must == 0.4


@given(st.integers(1, 50), st.integers(1, 50), st.floats(0.01, 0.49), st.floats(0.01, 0.49))
def test_rates_of_shares_give_these_shares(n_must, n_cannot, wrong_must, wrong_cannot):
    rows = np.arange(2 * (n_must + n_cannot)).reshape(-1, 2)
    pairs = Constraints(rows[:n_must], rows[n_must:]).pairs()
    rates = rates_of_shares((wrong_must, wrong_cannot), pairs)
    together = n_must * (1 - wrong_must) + n_cannot * wrong_cannot
    apart = n_must + n_cannot - together
    said_must = apart * rates.must + together * (1 - rates.cannot)
    said_cannot = together * rates.cannot + apart * (1 - rates.must)
    assert apart * rates.must / said_must == pytest.approx(wrong_must)
    assert together * rates.cannot / said_cannot == pytest.approx(wrong_cannot)
    assert rates.must + rates.cannot < 1, "statements say something"


def test_shares_are_found_where_most_must_links_are_wrong():
    # Twelve clusters, each statement wrong with probability 0.2 whatever is true.
    rng = np.random.RandomState(0)
    truth = np.repeat(np.arange(12), 20)
    rows = 1.2 * rng.normal(size=(12, 6))[truth] + rng.normal(size=(240, 6))
    told = sample_constraints(truth, 700, noise=0.2, random_state=0)
    wrong, must = ~told.satisfied(truth), told.kinds == "must-link"
    assert wrong[must].mean() > 0.6
    model = ConstrainedGaussianMixture(
        12, covariance_type="tied", flip_rate="auto", random_state=0
    ).fit(rows, constraints=told)
    assert abs(model.flip_rate_[0] - wrong[must].mean()) < 0.1
    assert abs(model.flip_rate_[1] - wrong[~must].mean()) < 0.05


def test_rates_are_taken_as_given():
    told = sample_constraints(y, 60, random_state=0)
    both = ConstrainedGaussianMixture(3, flip_rate=0.2, random_state=0).fit(X, constraints=told)
    assert both.flip_rate_ == (0.2, 0.2)
    each = ConstrainedGaussianMixture(3, flip_rate=(0.3, 0.0), random_state=0)
    assert each.fit(X, constraints=told).flip_rate_ == (0.3, 0.0)
    must, cannot = told.kinds == "must-link", told.kinds == "cannot-link"
    assert each.doubt_[cannot].max() < 1e-4 < each.doubt_[must].max()


@pytest.mark.parametrize("value", [0.5, -0.1, "some", (0.1,), (0.1, 0.7), (0.1, "auto"), None])
def test_bad_rates_are_named(value):
    with pytest.raises(ValueError, match="flip_rate"):
        ConstrainedGaussianMixture(3, flip_rate=value).fit(X)


def test_certain_statements_have_no_suspects():
    model = ConstrainedGaussianMixture(3, random_state=0).fit(X)
    assert model.flip_rate_ == (0, 0)
    with pytest.raises(ValueError, match="flip_rate=0.0.*'auto'|flip_rate=0.0.*\"auto\""):
        model.suspects()


def test_weights_of_statements_multiply_their_pull():
    pairs = [(70, 120)]
    doubts = [
        ConstrainedGaussianMixture(3, flip_rate=0.2, random_state=0)
        .fit(X, constraints=Constraints(pairs, must_link_weight=weight))
        .doubt_[0]
        for weight in (0.5, 1.0, 4.0)
    ]
    assert doubts[0] > doubts[1] > doubts[2]


def test_weights_of_rows_count_like_copies():
    twice = np.concatenate([X, X[::3]])
    weight = np.ones(len(X))
    weight[::3] = 2
    centers = X[[0, 60, 120]]
    settings = {"flip_rate": 0.1, "covariance_type": "tied", "init": centers, "tol": 1e-8}
    told = Constraints([(1, 2)], [(1, 70)])
    model = ConstrainedGaussianMixture(3, **settings).fit(X, constraints=told, sample_weight=weight)
    copied = ConstrainedGaussianMixture(3, **settings).fit(twice, constraints=told)
    np.testing.assert_allclose(model.means_, copied.means_, atol=1e-6)


def test_without_statements_rows_decide():
    model = ConstrainedGaussianMixture(3, flip_rate="auto", random_state=0).fit(X)
    assert model.doubt_.shape == (0,)
    assert nmi(y, model.labels_) > 0.7
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_one_row_one_component_and_constant_data():
    model = ConstrainedGaussianMixture(1, flip_rate=0.1).fit(X[:1])
    assert model.labels_.tolist() == [0]
    same = ConstrainedGaussianMixture(2, flip_rate="auto", random_state=0)
    same.fit(np.ones((6, 2)), constraints=Constraints([(0, 1)], [(2, 3)]))
    assert np.isfinite(same.responsibilities_).all()


def test_soft_start():
    np.testing.assert_allclose(softened(np.array([1, 0]), 2), [[0.05, 0.95], [0.95, 0.05]])


@pytest.mark.parametrize("covariance_type", TYPES)
def test_many_rows_are_looked_at_in_blocks(covariance_type, monkeypatch):
    # Check that blocks of five rows give what all together do: densities, shares, the M-step.
    rows, shares = rows_and_start(0)

    def both():
        mixture = m_step(Scatter(rows), shares, covariance_type, 0.0)
        joint = log_joint(rows, mixture, covariance_type)
        return *mixture, joint, *normalize(joint)

    whole = both()
    monkeypatch.setattr(_mixture, "BLOCK", 5)
    for one, other in zip(both(), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
