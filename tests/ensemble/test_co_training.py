import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from conclust import (
    BoostedConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    Constraints,
    CoTraining,
    sample_constraints,
)
from conclust.ensemble import CoAssociation
from conclust.ensemble._co_training import NOTHING, agreeing, agreement_of, co_train, offer

X, y = load_iris(return_X_y=True)
VIEWS = [X[:, :2], X[:, 2:]]
KNOWN = sample_constraints(y, 10, random_state=0)
SMALL = ConstrainedKMeansEnsemble(n_estimators=6)


def fitted(**settings):
    settings = {"estimator": SMALL, "n_rounds": 3, "random_state": 0} | settings
    return CoTraining(3, **settings).fit(VIEWS, constraints=KNOWN)


def test_each_view_adds_its_pairs_in_each_round():
    model = fitted(n_must_link=2, n_cannot_link=1)
    table = model.added_constraints_.to_frame()
    for kind, number in (("must-link", 2), ("cannot-link", 1)):
        counts = table[table["type"] == kind].groupby(["round", "view"]).size()
        assert counts.max() <= number
        assert counts.sum() + sum(r.n_skipped for r in model.history_) >= number * 6 - 6
    assert set(table["view"].astype(int)) == {0, 1}
    assert set(table["round"].astype(int)) == {0, 1, 2}
    assert table["confidence"].astype(float).between(-1, 1).all()
    assert len(model.history_) == 4
    assert model.history_[-1].n_must_link == model.history_[-1].n_cannot_link == 0
    assert model.round_labels_.shape == (4, 2, 150)
    np.testing.assert_array_equal(model.view_labels_, model.round_labels_[-1])


def test_no_pair_twice_and_none_that_is_given():
    model = fitted(n_must_link=3, n_cannot_link=3, n_rounds=5)
    added = np.sort(model.added_constraints_.pairs().pairs, axis=1)
    assert len(np.unique(added, axis=0)) == len(added)
    given = {tuple(sorted(pair)) for pair in KNOWN.pairs().pairs.tolist()}
    assert not given & {tuple(pair) for pair in added.tolist()}


def test_nothing_added_contradicts_the_closure_of_what_is_given():
    known = sample_constraints(y, 120, random_state=1)
    model = CoTraining(
        3, estimator=SMALL, n_rounds=4, n_must_link=10, n_cannot_link=10, random_state=0
    ).fit(VIEWS, constraints=known)
    given = known.closure(150)
    pairs, sign, *_ = model.added_constraints_.pairs()
    assert (given.implied(pairs) != -sign).all()


def test_contradictions_are_skipped_by_hand():
    offered = NOTHING._replace(
        pairs=np.array([[0, 1], [2, 3], [4, 5]]),
        sign=np.array([1, -1, 1], np.int8),
        round=np.zeros(3, int),
        view=np.zeros(3, int),
        confidence=np.ones(3),
    )
    kept = agreeing(offered, np.array([-1, -1, 0], np.int8))
    assert kept.pairs.tolist() == [[2, 3], [4, 5]]


def test_the_surest_pairs_against_all_pairs():
    rng = np.random.RandomState(0)
    together = CoAssociation(rng.randint(3, size=(12, 7)))
    known = np.array([[0, 1], [2, 3]])
    offered = offer(together, (4, 3), known, rng)
    every = np.array(
        [(i, j) for i in range(12) for j in range(i) if (j, i) not in ((0, 1), (2, 3))]
    )
    values = np.sort(together.confidence(every))
    np.testing.assert_allclose(np.sort(offered.confidence[offered.sign > 0])[::-1], values[:-5:-1])
    np.testing.assert_allclose(np.sort(offered.confidence[offered.sign < 0]), values[:3])


def test_the_second_view_sees_what_the_first_has_added():
    told = []

    class Model:
        def __init__(self, labels):
            self.labels_, self.co_association_ = labels, CoAssociation(labels[:, None])

    def cluster(view, constraints, seed):
        told.append((view, len(constraints)))
        return Model(np.arange(10) % 2)

    given = Constraints([(0, 2)], n_samples=10)
    first = [cluster(view, given, 0) for view in range(2)]
    co_train(cluster, given, first, [(1, 0), (0, 2)], 2, np.random.RandomState(0))
    assert told == [(0, 1), (1, 1), (0, 4), (1, 4), (0, 7), (1, 7)]


def test_auto_stops_when_nothing_is_added():
    def cluster(view, constraints, seed):
        raise AssertionError("nothing new to cluster")

    first = fitted(n_rounds=0).estimators_
    given = Constraints(n_samples=150)
    rng = np.random.RandomState(0)
    done = co_train(cluster, given, first, [(0, 0), (0, 0)], 5, rng, until_trusted=True)
    assert len(done.history) == 1


def test_same_seed_same_pairs():
    one, two = fitted(), fitted()
    np.testing.assert_array_equal(one.view_labels_, two.view_labels_)
    assert one.added_constraints_ == two.added_constraints_


def test_no_rounds_is_the_ensemble_on_each_view():
    model = fitted(n_rounds=0)
    assert len(model.added_constraints_) == 0
    for view, estimator in enumerate(model.estimators_):
        seed = estimator.get_params()["random_state"]
        alone = ConstrainedKMeansEnsemble(3, n_estimators=6, random_state=seed)
        np.testing.assert_array_equal(
            alone.fit_predict(VIEWS[view], constraints=KNOWN), model.view_labels_[view]
        )


def test_views_as_frames_columns_sparse_and_lists():
    model = fitted()
    frame = pd.DataFrame(X, columns=list("abcd"))
    by_names = CoTraining(
        3, estimator=SMALL, n_rounds=3, views=[["a", "b"], ["c", "d"]], random_state=0
    )
    by_numbers = CoTraining(3, estimator=SMALL, n_rounds=3, views=[[0, 1], [2, 3]], random_state=0)
    for other, data in (
        (by_names, frame),
        (by_numbers, X),
        (CoTraining(3, estimator=SMALL, n_rounds=3, random_state=0), [v.tolist() for v in VIEWS]),
        (
            CoTraining(3, estimator=SMALL, n_rounds=3, random_state=0),
            [frame[["a", "b"]], frame[["c", "d"]]],
        ),
    ):
        np.testing.assert_array_equal(other.fit(data, constraints=KNOWN).labels_, model.labels_)
    sparse = CoTraining(3, estimator=SMALL, n_rounds=1, random_state=0)
    assert sparse.fit([sp.csr_matrix(v) for v in VIEWS], constraints=KNOWN).n_features_in_ == 4


def test_labels_are_those_of_the_better_view_or_of_both():
    model = fitted()
    np.testing.assert_array_equal(model.labels_, model.view_labels_[model.best_view_])
    assert model.view_scores_[model.best_view_] == model.view_scores_.max()
    both = fitted(consensus="joint")
    assert both.co_association_.codes.shape == (150, 12)
    for one in (model, both):
        new = one.predict([view[:20] for view in VIEWS])
        assert (new == one.labels_[:20]).mean() > 0.7


def test_auto_takes_the_setting_and_the_round_it_trusts_most():
    model = fitted(n_must_link="auto", n_cannot_link="auto")
    assert (model.n_must_link_[0], model.n_cannot_link_[0]) in {(0, 0), (5, 0), (0, 5), (2, 3)}
    assert 0 <= model.n_iter_ <= 3
    assert len(model.history_) == model.n_iter_ + 1
    trust = [record.share_kept + record.agreement for record in model.history_]
    assert trust[-1] == max(trust)


def test_other_ensembles_and_what_is_not_one():
    model = fitted(estimator=BoostedConstrainedKMeans(n_estimators=5), n_rounds=1)
    assert isinstance(model.estimators_[0], BoostedConstrainedKMeans)
    with pytest.raises(TypeError, match="estimator=PlainKMeans has no `co_association_`"):
        fitted(estimator=PlainKMeans())


class PlainKMeans(KMeans):
    def fit(self, X, y=None, *, constraints=None):
        return super().fit(X)


def test_agreement_of_views():
    assert agreement_of([y, y]) == pytest.approx(1)
    assert np.isnan(agreement_of([y]))
    assert agreement_of([y, y, np.zeros(150)]) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("settings", "data", "message"),
    [
        ({}, [X, X[:10]], r"The views have \[150, 10\] rows"),
        ({"n_must_link": "auto"}, VIEWS, 'give "auto" for both or for neither'),
        ({"n_must_link": [1]}, VIEWS, r"n_must_link=\[1\] must be a whole number, or a list of 2"),
        (
            {"views": [["a"], ["z"]]},
            pd.DataFrame(X, columns=list("abcd")),
            r"columns \['z'\], which X does not have",
        ),
        ({}, [X[:2], X[:2]], "n_samples=2 should be >= n_clusters=3"),
        ({}, [X, np.full_like(X, np.nan)], "view 1 contains NaN"),
    ],
)
def test_bad_input_is_named(settings, data, message):
    with pytest.raises(ValueError, match=message):
        CoTraining(3, estimator=SMALL, n_rounds=1, **settings).fit(data)


def test_predict_wants_as_many_views():
    with pytest.raises(ValueError, match="X has 1 views, but fit had 2"):
        fitted(n_rounds=0).predict([X])


def test_a_view_of_noise_is_not_the_better_one():
    # Told ten statements, noise keeps them as well as petals do; told none, it does not.
    noise = np.random.RandomState(0).standard_normal((150, 2))
    for views, best in (([X[:, 2:], noise], 0), ([noise, X[:, 2:]], 1)):
        model = CoTraining(3, estimator=SMALL, n_rounds=1, random_state=0)
        model.fit(views, constraints=KNOWN)
        assert model.best_view_ == best
        assert model.view_scores_[best] > model.view_scores_[1 - best] + 0.1
