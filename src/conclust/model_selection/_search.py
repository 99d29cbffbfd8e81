"""Cross-validate over statements with scikit-learn's own search tools."""

from typing import Any

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone

from conclust.constraints import Constraints


class OnConstraints(MetaEstimatorMixin, BaseEstimator):
    """Turn "cluster these rows" into an estimator whose samples are statements.

    scikit-learn's searches cut rows into folds. Constraints name rows by position, so it is the
    statements that must be cut while all rows stay. This wrapper holds the rows; what is passed
    to `fit`, cut by the search, are the statements.

    Parameters
    ----------
    estimator : clusterer
        With ``fit(X, constraints=...)`` and ``labels_``.
    X : array-like of shape (n_samples, n_features)

    Attributes
    ----------
    estimator_ : clusterer
        The fitted clone.
    labels_ : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from conclust import ConstrainedKMeans, sample_constraints
    >>> from conclust.model_selection import (
    ...     ConstraintKFold, OnConstraints, constraint_satisfaction_scorer)
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 120, random_state=0)
    >>> search = GridSearchCV(
    ...     OnConstraints(ConstrainedKMeans(random_state=0), X),
    ...     {"estimator__n_clusters": [2, 3, 4, 5]},
    ...     cv=ConstraintKFold(5, random_state=0),
    ...     scoring=constraint_satisfaction_scorer,
    ... ).fit(known)
    >>> search.best_params_
    {'estimator__n_clusters': 3}
    """

    def __init__(self, estimator: Any, X: Any):
        self.estimator = estimator
        self.X = X

    def fit(self, constraints: Constraints, y: Any = None) -> "OnConstraints":
        """Cluster all rows under these statements.

        Parameters
        ----------
        constraints : Constraints
        y : ignored

        Returns
        -------
        self
        """
        self.estimator_ = clone(self.estimator).fit(self.X, constraints=constraints)
        self.labels_ = self.estimator_.labels_
        return self


def constraint_satisfaction_scorer(
    estimator: Any, constraints: Constraints, y: Any = None
) -> float:
    """Score a fitted clusterer by the weight of held-out statements it keeps.

    Must-links and cannot-links (with relative statements) count half each when both kinds are
    there: one cluster would keep every must-link, one cluster per row every cannot-link.

    Parameters
    ----------
    estimator : fitted clusterer
        With `labels_`.
    constraints : Constraints
        Statements that were not used in the fit.
    y : ignored

    Returns
    -------
    float
        Between 0 and 1, larger is better.
    """
    kept = constraints.satisfied(estimator.labels_)
    weight = constraints.weight
    must = constraints.kinds == "must-link"
    shares = [
        float((weight * kept)[side].sum() / weight[side].sum())
        for side in (must, ~must)
        if side.any()
    ]
    return sum(shares) / len(shares) if shares else 1.0
