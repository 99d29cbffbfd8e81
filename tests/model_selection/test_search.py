import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score

from conclust import ConstrainedKMeans, Constraints, COPKMeans, sample_constraints
from conclust.model_selection import (
    ConstraintKFold,
    OnConstraints,
    constraint_satisfaction_scorer,
)

X, y = load_iris(return_X_y=True)


def test_a_search_over_statements_finds_the_number_of_clusters():
    # 150 statements about 150 rows: the count must not be mistaken for rows.
    known = sample_constraints(y, 150, random_state=0)
    search = GridSearchCV(
        OnConstraints(COPKMeans(n_init=2, random_state=0), X),
        {"estimator__n_clusters": [3, 4, 6, 10]},
        cv=ConstraintKFold(4, random_state=0),
        scoring=constraint_satisfaction_scorer,
    ).fit(known)
    assert search.best_params_ == {"estimator__n_clusters": 3}
    assert search.best_estimator_.labels_.shape == (150,)
    assert known.satisfied(search.best_estimator_.labels_).all()


def test_cross_val_score_sees_only_held_out_statements():
    # Check against doing it by hand.
    known = sample_constraints(y, 60, random_state=1)
    cv = ConstraintKFold(3, random_state=0)
    model = ConstrainedKMeans(3, random_state=0)
    scores = cross_val_score(
        OnConstraints(model, X), known, cv=cv, scoring=constraint_satisfaction_scorer
    )
    for score, (train, test) in zip(scores, cv.split(known), strict=True):
        fitted = ConstrainedKMeans(3, random_state=0).fit(X, constraints=known[train])
        held_out = known[test]
        must = held_out.kinds == "must-link"
        kept = held_out.satisfied(fitted.labels_)
        assert score == pytest.approx((kept[must].mean() + kept[~must].mean()) / 2)


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
