"""AutoCluster: the estimator for those who do not want to choose."""

import weakref

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score as ari
from sklearn.metrics import normalized_mutual_info_score as nmi

import conclust
from conclust import AutoCluster, Constraints, sample_constraints
from conclust.constraints import must_link_components
from conclust.datasets import make_wedges
from conclust.model_selection import _auto, _stack
from conclust.model_selection._consensus import agree
from conclust.model_selection._stack import (
    Candidate,
    Fitter,
    Judged,
    believe,
    judge,
    log_likelihood,
    members_of,
    misfit,
    problem_of,
    reweighted,
    rightness,
    share_out,
    told_groups,
)

X, y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def told():
    return sample_constraints(y, 120, noise=0.1, random_state=0)


@pytest.fixture(scope="module")
def fitted(told):
    return AutoCluster(3, random_state=0).fit(X, constraints=told)


def test_better_than_told_nothing(fitted):
    plain = KMeans(3, n_init=10, random_state=0).fit(X)
    assert nmi(y, fitted.labels_) > nmi(y, plain.labels_) + 0.1


def test_says_what_it_did(fitted, told):
    assert fitted.n_clusters_ == 3
    assert fitted.converged_
    assert "model" in fitted.method_
    assert all(reason.endswith(".") for reason in fitted.reasons_)
    frame = fitted.candidates_
    assert list(frame.columns) == ["candidate", "held_out", "told", "weight", "seconds"]
    assert frame["weight"].sum() == pytest.approx(1)
    assert frame["weight"].is_monotonic_decreasing
    assert len(frame) == fitted.n_iter_ == len(fitted.history_)
    assert (frame["weight"] > 0).all()
    assert (frame["held_out"].dropna() < 0).all()
    assert frame["held_out"].notna().sum() > 5
    assert fitted.report_.n_violated == told.report(fitted.labels_).n_violated


def test_finds_the_wrong_ones(fitted, told):
    flipped = told.to_frame()["flipped"].to_numpy()
    assert fitted.suspects(int(flipped.sum()))["flipped"].mean() > 0.7
    assert ((fitted.doubt_ >= 0) & (fitted.doubt_ <= 1)).all()
    must = told.kinds == "must-link"
    assert abs(fitted.flip_rate_[0] - flipped[must].mean()) < 0.1
    assert abs(fitted.flip_rate_[1] - flipped[~must].mean()) < 0.1


def test_confidence(fitted):
    np.testing.assert_allclose(fitted.probabilities_.sum(axis=1), 1)
    assert fitted.confidence().shape == (150,)
    np.testing.assert_array_equal(fitted.probabilities_.argmax(axis=1), fitted.labels_)
    same, apart = fitted.confidence([(0, 1), (0, 149)])
    assert same > 0.9
    assert apart < -0.9


def test_new_rows_go_where_old_ones_are(fitted):
    assert (fitted.predict(X) == fitted.labels_).mean() > 0.93


def test_a_model_survives_the_disk(fitted, tmp_path):
    pytest.importorskip("skops")
    conclust.save(fitted, tmp_path / "model.skops")
    back = conclust.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(back.predict(X), fitted.predict(X))
    assert back.candidates_.equals(fitted.candidates_)


def test_shapes_that_k_means_cuts():
    rows, truth = make_wedges(random_state=0)
    model = AutoCluster(2, random_state=0).fit(
        rows, constraints=sample_constraints(truth, 60, random_state=0)
    )
    assert ari(truth, model.labels_) > 0.95


def test_without_statements_it_is_k_means():
    model = AutoCluster(3, random_state=0).fit(X)
    assert model.method_ == "k-means"
    assert "no statements" in " ".join(model.reasons_)
    assert ari(model.labels_, KMeans(3, n_init=10, random_state=0).fit_predict(X)) > 0.95
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert np.isnan(model.flip_rate_).all()


def test_relative_statements_alone():
    told = sample_constraints(y, n_relative=100, random_state=0)
    model = AutoCluster(3, random_state=0).fit(X, constraints=told)
    assert set(model.candidates_["candidate"]) >= {"k-means", "a tree (ReCon)"}
    assert model.method_ in set(model.candidates_["candidate"])
    assert (model.predict(X) == model.labels_).all()
    assert "relative statements only" in " ".join(model.reasons_)


def test_relative_statements_beside_pairs():
    pairs = sample_constraints(y, 40, random_state=0)
    both = Constraints(
        pairs.must_link,
        pairs.cannot_link,
        sample_constraints(y, n_relative=40, random_state=1).relative,
    )
    model = AutoCluster(3, random_state=0).fit(X, constraints=both)
    assert "weight the features" in " ".join(model.reasons_)
    assert model.doubt_.shape == (len(both),)
    assert nmi(y, model.labels_) > 0.7
    assert model.predict(X[:3]).shape == (3,)


def test_the_number_of_clusters_is_found():
    told = sample_constraints(y, 150, random_state=0)
    model = AutoCluster(random_state=0).fit(X, constraints=told)
    assert model.n_clusters_ == 3
    assert model.curve_.chosen == 3
    assert model.reasons_[0].startswith("3 clusters")


def test_many_features_and_sparse_ones_are_brought_down():
    rows, truth = make_blobs(120, n_features=80, centers=3, random_state=0)
    told = sample_constraints(truth, 30, random_state=0)
    for given in (rows, sp.csr_array(np.where(rows > 0, rows, 0))):
        model = AutoCluster(3, random_state=0).fit(given, constraints=told)
        assert ari(truth, model.labels_) > 0.9
        assert "leading components" in " ".join(model.reasons_)
        assert (model.predict(given) == model.labels_).mean() > 0.95


def test_many_rows_are_looked_at_by_a_sample(monkeypatch):
    monkeypatch.setattr(_auto, "MAX_ROWS_CHOOSING", 500)
    monkeypatch.setattr(_auto, "SAMPLE_ROWS", 300)
    rows, truth = make_blobs(2000, centers=4, cluster_std=2.0, random_state=1)
    told = sample_constraints(truth, 100, noise=0.1, random_state=0)
    model = AutoCluster(4, random_state=0).fit(rows, constraints=told)
    assert model.labels_.shape == (2000,)
    assert "of 2,000 rows" in " ".join(model.reasons_)
    assert nmi(truth, model.labels_) > nmi(truth, KMeans(4, n_init=10).fit_predict(rows)) - 0.05


def test_a_time_budget_ends_the_trying(told):
    model = AutoCluster(3, time_budget=1e-9, random_state=0).fit(X, constraints=told)
    assert not model.converged_
    assert "No statements could be held out" in " ".join(model.reasons_)
    assert nmi(y, model.labels_) > 0.6


def test_progress_names_the_stage(told, capsys):
    AutoCluster(3, verbose=1, random_state=0).fit(X, constraints=told)
    assert "holding statements out" in capsys.readouterr().err


@pytest.mark.parametrize(
    "known",
    [
        Constraints([(0, 1)]),
        Constraints(cannot_link=[(0, 149)]),
        Constraints([(0, 1), (1, 2)], [(0, 2)]),
        Constraints([(0, 149)], [(0, 149)]),
        Constraints.from_groups(apart=np.r_[np.zeros(5), np.arange(1, 146)]),
    ],
)
def test_few_or_contradictory_statements(known):
    model = AutoCluster(3, random_state=0).fit(X, constraints=known)
    assert np.isfinite(model.probabilities_).all()
    assert model.doubt_.shape == (len(known),)


def test_small_and_dull_data():
    told = Constraints([(0, 1)], [(1, 2)])
    for rows in (X[:3], np.ones((6, 2)), np.c_[np.arange(8.0), np.zeros(8)]):
        for k in (1, 2, 3):
            model = AutoCluster(k, random_state=0).fit(rows, constraints=told)
            assert set(model.labels_) <= set(range(k))
    with pytest.raises(ValueError, match="n_clusters=9"):
        AutoCluster(9).fit(X[:3])


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"n_clusters": "many"}, "n_clusters"), ({"time_budget": -1}, "time_budget")],
)
def test_bad_parameters_are_named(settings, named):
    with pytest.raises(ValueError, match=named):
        AutoCluster(**settings).fit(X)


# ---------------------------------------------------------------------- the parts


def test_nothing_learned_from_what_is_held_out_is_asked_for(monkeypatch, told):
    heard, asked = [], []

    class Spy(Fitter):
        def __init__(self, problem, known):
            super().__init__(problem, known)
            heard.append(known)

    def spied(member, questions):
        asked.append((heard[-1], questions))
        return rightness(member, questions)

    problem = problem_of(X, 3, 0)
    members = members_of(Fitter(problem, told))
    monkeypatch.setattr(_stack, "Fitter", Spy)
    monkeypatch.setattr(_stack, "rightness", spied)
    judge(problem, told, members)
    assert asked
    for known, questions in asked:
        told_pairs = {frozenset(pair) for pair in known.pairs().pairs.tolist()}
        assert not told_pairs & {frozenset(pair) for pair in questions.pairs().pairs.tolist()}
        group = must_link_components(known)[0]
        assert all(group[a] != group[b] for a, b in questions.pairs().pairs.tolist())


def test_what_was_not_told_is_known_by_hand(told):
    member = Fitter(problem_of(X, 3, 0), told).fit([Candidate("shared covariance", "k-means")])[0]
    r = member.found.responsibilities
    found = rightness(member, Constraints([(0, 60)], [(0, 1)]))
    for value, (a, b), must in zip(found, [(0, 60), (0, 1)], [True, False], strict=True):
        same = sum(r[a, c] * r[b, c] for c in range(3))
        assert value == pytest.approx(same if must else 1 - same)


def test_likelihood_at_the_likeliest_rate_by_hand():
    right = np.array([0.9, 0.8, 0.1])
    by_rate = [
        sum(np.log((1 - e) * p + e * (1 - p)) for p in right) + np.log(e) + 9 * np.log(1 - e)
        for e in _stack.RATES
    ]
    assert log_likelihood(right) == pytest.approx(max(by_rate) / 3)


def test_being_unsure_is_no_merit():
    # The same answers, four of five right, by one who is sure and by one who is not.
    sure, unsure = np.tile([1.0, 1.0, 1.0, 1.0, 0.0], 40), np.full(200, 0.55)
    assert log_likelihood(sure) > log_likelihood(unsure)


def test_more_errors_than_known_speak_against_a_model_by_hand(told):
    rates = _stack.Rates(0.02, 0.3)
    member = Fitter(problem_of(X, 3, 0, rates), told).fit(
        [Candidate("own covariances", "k-means")]
    )[0]
    sign, doubt = told.pairs().sign, np.where(told.pairs().sign > 0, 0.2, 0.1)
    member = member._replace(found=member.found._replace(doubt=doubt))
    # Pairs in two clusters are believed to be must-links more often than is known to occur; those
    # in one to be cannot-links less often, which speaks against nothing.
    wrong, right = 0.2 * (sign > 0).sum(), 0.9 * (sign < 0).sum()
    apart, rate = wrong + right, wrong / (wrong + right)
    assert rate > 0.02
    each = rate * np.log(rate / 0.02) + (1 - rate) * np.log((1 - rate) / 0.98)
    for n_checked in (0, 40, 10**6):
        problem = problem_of(X, 3, 0, rates, n_checked)
        expected = min(n_checked, len(sign)) * apart / len(sign) * each
        assert misfit(member, told, problem) == pytest.approx(expected)
    assert misfit(member, told, problem_of(X, 3, 0)) == 0


def test_a_rate_that_was_checked_counts_against_models_that_doubt_more(told):
    def weights(n_checked):
        model = AutoCluster(3, flip_rate=0.1, n_checked=n_checked, random_state=0)
        model.fit(X, constraints=told)
        return model.candidates_.set_index("candidate")["weight"]

    unchecked, checked = weights(0), weights(200)
    assert not np.allclose(unchecked, checked[unchecked.index])


def test_all_starts_have_a_part_in_what_their_model_is_worth(told):
    problem = problem_of(X, 3, 0)
    fitter = Fitter(problem, told)
    judged = judge(problem, told, members_of(fitter))
    found = share_out(judged, fitter.members.values(), told, problem)
    assert {one.member.candidate for one in found} == set(fitter.members)
    assert all(one.weight > 0 for one in found)

    def worth(of, model):
        return sum(one.weight for one in of if one.member.candidate.model == model)

    for model in {one.member.candidate.model for one in found}:
        assert worth(found, model) == pytest.approx(worth(judged, model))


def test_members_are_averaged_one_by_one(told):
    # Check that what a member says of every row is let go before the next one is fitted to all.
    fitter = Fitter(problem_of(X, 3, 0), told)
    members = fitter.fit(Candidate("shared covariance", start) for start in ("k-means",) * 3)
    last = []

    def one_by_one():
        for member in members:
            assert not last or last.pop()() is None
            log_prior = member.found.log_prior.copy()
            last.append(weakref.ref(log_prior))
            found = member.found._replace(log_prior=log_prior)
            del log_prior
            yield Judged(member._replace(found=found), -1.0, -1.0, 1 / 3)
            del found

    mean = agree(map(_auto._heard, one_by_one()))
    assert last
    alone = agree([_auto._heard(Judged(members[0], -1.0, -1.0, 1.0))])
    np.testing.assert_allclose(mean.prior, alone.prior, atol=1e-6)


def test_statements_have_the_last_word():
    prior = np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]])
    found = believe(prior, Constraints([(0, 1)], n_samples=3), _stack.Rates(0.01, 0.01))
    labels = found.probability.argmax(axis=1)
    assert labels[0] == labels[1]
    np.testing.assert_allclose(found.probability[2], prior[2])


def test_reweighted():
    known = Constraints([(0, 1)], [(1, 2)], must_link_weight=2.0)
    found = reweighted(known, np.array([0.5, 0.25]))
    assert found.must_link_weight.tolist() == [1.0]
    assert found.cannot_link_weight.tolist() == [0.25]


def test_groups_told():
    known = Constraints([(0, 1), (1, 2), (4, 5)], [(0, 4), (2, 7), (5, 7)], n_samples=9)
    assert told_groups(known, 3).tolist() == [0, 0, 0, -1, 1, 1, -1, 2, -1]
    assert told_groups(known, 2).tolist() == [0, 0, 0, -1, 1, 1, -1, -1, -1]
    assert told_groups(known, 4) is None
    assert told_groups(Constraints([(0, 1)], n_samples=4), 2) is None


def test_rates_can_be_given():
    # Answers that rows contradict: believed where they are said to be right.
    rows = np.random.RandomState(0).normal(size=(60, 2))
    odd = np.arange(60) % 2
    told = sample_constraints(odd, 60, random_state=0)
    sure = AutoCluster(2, flip_rate=0.01, random_state=0).fit(rows, constraints=told)
    assert sure.report_.share > 0.95
    both = AutoCluster(2, flip_rate=(0.01, 0.3), random_state=0).fit(rows, constraints=told)
    kept = told.satisfied(both.labels_)
    must = told.kinds == "must-link"
    assert kept[must].mean() >= kept[~must].mean()
    with pytest.raises(ValueError, match=r"flip_rate=\(0.1,\)"):
        AutoCluster(2, flip_rate=(0.1,)).fit(rows, constraints=told)


def test_candidates_frame_is_a_frame(fitted):
    assert isinstance(fitted.candidates_, pd.DataFrame)


def test_new_rows_of_another_precision():
    # Check that plain k-means fitted to float32 labels float64 rows, and the other way round.
    X = np.repeat(np.eye(3), 4, axis=0)
    for fitted, new in ((np.float32, np.float64), (np.float64, np.float32)):
        model = AutoCluster(3, random_state=0).fit(X.astype(fitted))
        assert (model.predict(X.astype(new)) == model.labels_).all()


def test_it_says_when_fewer_clusters_have_rows_than_asked_for():
    X, y = make_blobs(150, centers=3, cluster_std=0.3, random_state=0)
    known = sample_constraints(y, 60, random_state=0)
    model = AutoCluster(8, random_state=0).fit(X, constraints=known)
    assert len(np.unique(model.labels_)) == 3
    assert any("Only 3 of 8 clusters have rows" in reason for reason in model.reasons_)
    told = AutoCluster(3, random_state=0).fit(X, constraints=known)
    assert not any("have rows" in reason for reason in told.reasons_)


@pytest.mark.parametrize("kind", ["n_must_link", "n_cannot_link"])
@pytest.mark.parametrize("flip_rate", [0.05, "auto"])
def test_statements_of_one_kind(kind, flip_rate):
    # Rounding made a share above one of cannot-links alone, and all weights NaN.
    X, y = (of[:200] for of in load_digits(return_X_y=True))
    known = sample_constraints(y, **{kind: 20}, random_state=0)
    model = AutoCluster(10, flip_rate=flip_rate, random_state=0).fit(X, constraints=known)
    assert np.isfinite(model.candidates_["weight"]).all()
    assert ari(y, model.labels_) > 0.4
