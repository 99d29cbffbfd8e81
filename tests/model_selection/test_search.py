"""Settings searched by statements held out."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conclust import ITML, ConstrainedKMeans, Constraints, COPKMeans, sample_constraints
from conclust.exceptions import InvalidConstraintsError
from conclust.model_selection import (
    ConstraintKFold,
    ConstraintSearchCV,
    constraint_satisfaction_scorer,
)

X, y = load_iris(return_X_y=True)


def test_a_search_over_statements_finds_the_number_of_clusters():
    # 150 statements about 150 rows: the count must not be mistaken for rows.
    known = sample_constraints(y, 150, random_state=0)
    search = ConstraintSearchCV(
        COPKMeans(n_init=2, random_state=0),
        {"n_clusters": [3, 4, 6, 10]},
        cv=ConstraintKFold(4, random_state=0),
    ).fit(X, constraints=known)
    assert search.best_params_ == {"n_clusters": 3}
    assert search.best_estimator_.n_clusters == 3
    assert known.satisfied(search.labels_).all()
    assert search.predict(X[:5]).tolist() == search.best_estimator_.predict(X[:5]).tolist()
    assert search.n_features_in_ == 4


def test_scores_are_of_held_out_statements_only():
    # Check against doing it by hand.
    known = sample_constraints(y, 60, random_state=1)
    cv = ConstraintKFold(3, random_state=0)
    search = ConstraintSearchCV(ConstrainedKMeans(random_state=0), {"n_clusters": [3]}, cv=cv)
    search.fit(X, constraints=known)
    scores = []
    for k, (train, test) in enumerate(cv.split(known)):
        fitted = ConstrainedKMeans(3, random_state=0).fit(X, constraints=known[train])
        held_out = known[test]
        must = held_out.kinds == "must-link"
        kept = held_out.satisfied(fitted.labels_)
        scores.append((kept[must].mean() + kept[~must].mean()) / 2)
        assert search.cv_results_[f"split{k}_test_score"][0] == pytest.approx(scores[-1])
    assert search.best_score_ == pytest.approx(np.mean(scores))
    assert search.cv_results_["mean_test_score"] == pytest.approx([np.mean(scores)])
    assert search.cv_results_["std_test_score"] == pytest.approx([np.std(scores)])


@pytest.mark.parametrize("routing", [False, True])
def test_a_pipeline_whose_last_step_takes_statements(routing):
    known = sample_constraints(y, 100, random_state=0)
    model = make_pipeline(StandardScaler(), COPKMeans(random_state=0))
    search = ConstraintSearchCV(
        model,
        {"copkmeans__n_clusters": [3, 6]},
        cv=ConstraintKFold(3, random_state=0),
    )
    with sklearn.config_context(enable_metadata_routing=routing):
        search.fit(X, constraints=known)
    assert search.best_params_ == {"copkmeans__n_clusters": 3}
    assert known.satisfied(search.labels_).all()
    assert search.predict(X).shape == (150,)


def test_every_step_that_takes_statements_is_told():
    # Check that a metric and the clusterer after it are both told, and a plain clusterer is not.
    known = sample_constraints(y, 60, random_state=0)
    cv = ConstraintKFold(3, random_state=0)
    search = ConstraintSearchCV(make_pipeline(ITML(), COPKMeans(3, random_state=0)), {}, cv=cv)
    search.fit(X, constraints=known)
    learned = ITML().fit(X, constraints=known)
    assert search.best_estimator_[0].components_ == pytest.approx(learned.components_)
    assert known.satisfied(search.labels_).all()
    plain = make_pipeline(ITML(), KMeans(random_state=0, n_init=5))
    search = ConstraintSearchCV(plain, {"kmeans__n_clusters": [3, 8]}, cv=cv)
    search.fit(X, constraints=known)
    assert search.best_params_ == {"kmeans__n_clusters": 3}
    assert search.best_estimator_[0].components_ == pytest.approx(learned.components_)


def test_other_pipelines():
    known = sample_constraints(y, 60, random_state=0)
    model = make_pipeline(StandardScaler(), PCA(random_state=0), COPKMeans(3, random_state=0))
    search = ConstraintSearchCV(model, {"pca__n_components": [1, 3]}).fit(X, constraints=known)
    assert set(search.cv_results_["param_pca__n_components"]) == {1, 3}
    texts = ["cats purr", "cats meow", "dogs bark", "dogs growl"] * 5
    said = Constraints([(0, 5), (2, 7)], [(0, 2), (1, 6), (4, 10), (8, 14)])
    model = make_pipeline(TfidfVectorizer(), COPKMeans(2, random_state=0))
    search = ConstraintSearchCV(
        model, {"tfidfvectorizer__sublinear_tf": [True, False]}, cv=ConstraintKFold(2)
    ).fit(texts, constraints=said)
    assert search.predict(["cats purr"])[0] == search.labels_[0]


def test_the_score_of_new_rows():
    known = sample_constraints(y, 60, random_state=0)
    search = ConstraintSearchCV(COPKMeans(random_state=0), {"n_clusters": [3]})
    search.fit(X, constraints=known)
    new = X[[0, 1, 100]]
    assert search.score(new, constraints=Constraints([(0, 1)], [(0, 2)])) == 1.0
    assert search.score(new, constraints=Constraints([(0, 2)])) == 0.0


@pytest.mark.parametrize("n_samples", [None, 150])
@pytest.mark.parametrize("n_statements", [3, 150])
@pytest.mark.parametrize("routing", [False, True])
def test_scikit_learn_may_not_cut_rows(n_samples, n_statements, routing):
    # Positions would name other rows in each fold, also where there are as many as statements.
    known = sample_constraints(y, n_statements, random_state=0)
    known = Constraints(known.must_link, known.cannot_link, n_samples=n_samples)
    with sklearn.config_context(enable_metadata_routing=routing):
        model = COPKMeans(3)
        if routing:
            model.set_fit_request(constraints=True)
        with pytest.raises(InvalidConstraintsError, match="ConstraintSearchCV"):
            GridSearchCV(model, {"n_clusters": [2, 3]}, cv=3).fit(X, constraints=known)
        for run in (cross_val_score, cross_validate):
            with pytest.raises(InvalidConstraintsError, match="held_out_score"):
                run(model, X, cv=3, params={"constraints": known})


def test_a_clusterer_without_constraints_is_told_nothing():
    known = sample_constraints(y, 100, random_state=0)
    search = ConstraintSearchCV(
        KMeans(n_init=5, random_state=0), {"n_clusters": [3, 8]}, n_jobs=2
    ).fit(X, constraints=known)
    alone = KMeans(3, n_init=5, random_state=0).fit(X)
    assert search.labels_.tolist() == alone.labels_.tolist()


def test_settings_that_fail_score_nan_and_are_told():
    known = Constraints([(0, 1), (60, 61)], [(0, 60), (0, 120), (60, 120), (1, 121)])
    search = ConstraintSearchCV(
        COPKMeans(random_state=0),
        [{"n_clusters": [1, 3]}, {"n_clusters": [3], "n_init": [1]}],
        cv=ConstraintKFold(2, random_state=0),
    )
    with pytest.warns(FitFailedWarning, match="of 6 fits failed"):
        search.fit(X, constraints=known)
    assert np.isnan(search.cv_results_["mean_test_score"][0])
    assert search.cv_results_["rank_test_score"][0] == 3
    assert search.cv_results_["param_n_init"].mask.tolist() == [True, True, False]
    assert search.best_params_["n_clusters"] == 3


def test_what_cannot_be_searched_is_said():
    known = sample_constraints(y, 60, random_state=0)
    search = ConstraintSearchCV(COPKMeans(), {"n_clusters": [1]})
    with pytest.raises(ValueError, match="None of the 5 fits of COPKMeans"):
        search.fit(X, constraints=known)
    with pytest.raises(ValueError, match="constraints is missing.*pass constraints="):
        search.fit(X)
    with pytest.raises(ValueError, match="Invalid parameter 'clusters'"):
        ConstraintSearchCV(COPKMeans(), {"clusters": [2]}).fit(X, constraints=known)
    with pytest.raises(NotFittedError):
        search.predict(X)


def test_scikit_learns_rules_for_parameters():
    search = ConstraintSearchCV(COPKMeans(2), {"n_clusters": [2]}, n_jobs=2)
    again = clone(search).set_params(estimator__n_init=3, n_jobs=1)
    assert again.get_params()["estimator__n_init"] == 3
    assert search.get_params()["estimator__n_init"] == 10
    assert len(repr(search)) < 300


class Fitted:
    def __init__(self, labels):
        self.labels_ = np.array(labels)


def test_the_score_is_not_fooled_by_one_or_by_all_clusters():
    known = Constraints([(0, 1)], [(0, 2), (1, 2), (0, 3)], must_link_weight=[5])
    assert constraint_satisfaction_scorer(Fitted([0, 0, 0, 0]), known) == 0.5
    assert constraint_satisfaction_scorer(Fitted([0, 1, 2, 3]), known) == 0.5
    assert constraint_satisfaction_scorer(Fitted([0, 0, 1, 1]), known) == 1.0
    assert constraint_satisfaction_scorer(Fitted([0, 0]), Constraints([(0, 1)])) == 1.0
    assert constraint_satisfaction_scorer(Fitted([0, 0]), Constraints()) == 1.0
