"""Search settings by statements held out."""

import time
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from conclust._arrays import IntArray
from conclust._fitting import fit_told, labels_of
from conclust._lazy_labels import LazyLabels
from conclust.constraints import Constraints
from conclust.model_selection._split import ConstraintKFold


class ConstraintSearchCV(LazyLabels, MetaEstimatorMixin, ClusterMixin, BaseEstimator):
    """Search over settings of a clusterer by the held-out statements it keeps; no labels needed.

    scikit-learn's searches cut rows into folds. Constraints name rows by position, so here it is
    the statements that are cut while all rows stay.

    Parameters
    ----------
    estimator : clusterer or Pipeline that ends in one
        In a pipeline the statements go to every step whose `fit` takes `constraints`, such as a
        learned metric and the clusterer after it; metadata routing need not be switched on. A
        clusterer that takes no constraints is told nothing.
    param_grid : dict or list of dict
        As in :class:`~sklearn.model_selection.GridSearchCV`.
    cv : ConstraintKFold or None, default=None
        ``ConstraintKFold()`` by default.
    n_jobs : int, default=None
        Fits at a time (joblib).

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted anew with all statements.
    best_params_ : dict
    best_score_ : float
        Mean over folds of :func:`constraint_satisfaction_scorer`.
    best_index_ : int
    cv_results_ : dict of ndarray
        ``params``, ``param_*``, ``split*_test_score``, ``mean_test_score``, ``std_test_score``,
        ``rank_test_score`` and ``mean_fit_time``; settings that could not be fitted have NaN.
    labels_ : ndarray of shape (n_samples,)
        Of the best estimator.
    n_features_in_, feature_names_in_
        Of the best estimator, where it has them.

    See Also
    --------
    choose_n_clusters : The number of clusters alone, also where there are few statements.
    held_out_score : The score of one estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from conclust import ConstrainedKMeans, sample_constraints
    >>> from conclust.model_selection import ConstraintKFold, ConstraintSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_constraints(y, 120, random_state=0)
    >>> search = ConstraintSearchCV(
    ...     make_pipeline(StandardScaler(), ConstrainedKMeans(random_state=0)),
    ...     {"constrainedkmeans__n_clusters": [2, 3, 4, 5]},
    ...     cv=ConstraintKFold(5, random_state=0),
    ... ).fit(X, constraints=known)
    >>> search.best_params_
    {'constrainedkmeans__n_clusters': 3}
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        cv: ConstraintKFold | None = None,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any = None, *, constraints: Constraints | None = None
    ) -> "ConstraintSearchCV":
        """Score every setting, then fit the best with all statements.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints
            Must-links, cannot-links or relative statements; needed.

        Returns
        -------
        self
            The fitted estimator.
        """
        if not isinstance(constraints, Constraints) or not constraints:
            raise ValueError(
                f"constraints is {_kind_of(constraints)}: settings are scored by statements held "
                "out, so pass constraints=Constraints(...) with some."
            )
        constraints = constraints.on_rows_of(X)
        candidates = list(ParameterGrid(self.param_grid))
        cv = ConstraintKFold() if self.cv is None else self.cv
        splits = list(cv.split(constraints))
        # Set before the work starts, so that an unknown parameter is one error, not many warnings.
        models = [clone(self.estimator).set_params(**clone(p, safe=False)) for p in candidates]
        tried = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_and_score)(clone(model), X, constraints, *split)
            for model in models
            for split in splits
        )
        failures = [reason for _, _, reason in tried if reason]
        if len(failures) == len(tried):
            raise ValueError(
                f"None of the {len(tried)} fits of {self.estimator} succeeded; the first said: "
                f"{failures[0]}"
            )
        if failures:
            warnings.warn(
                f"{len(failures)} of {len(tried)} fits failed; their settings score NaN. The first "
                f"said: {failures[0]}",
                FitFailedWarning,
                stacklevel=2,
            )
        scores, seconds = (
            np.array([row[i] for row in tried], float).reshape(len(models), -1) for i in (0, 1)
        )
        self.cv_results_ = _results(candidates, scores, seconds)
        self.best_index_ = int(np.argmin(self.cv_results_["rank_test_score"]))
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.best_estimator_ = fit_told(models[self.best_index_], X, constraints)
        self.labels_ = labels_of(self.best_estimator_)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def predict(self, X: Any) -> IntArray:
        """Clusters of new rows by the best estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            The cluster of each row.
        """
        check_is_fitted(self)
        labels: IntArray = self.best_estimator_.predict(X)
        return labels

    def score(self, X: Any, y: Any = None, *, constraints: Constraints) -> float:
        """Score the clusters of new rows by the statements about them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
            Here because scikit-learn's API asks for it.
        constraints : Constraints
            About the rows of X.

        Returns
        -------
        float
            As :func:`constraint_satisfaction_scorer`.
        """
        return _share_kept(constraints.on_rows_of(X), self.predict(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = getattr(self.estimator, "__sklearn_tags__", None)
        if inner is not None:
            tags.input_tags = inner().input_tags
        return tags


def _kind_of(constraints: Any) -> str:
    if isinstance(constraints, Constraints):
        return "empty"
    return "missing" if constraints is None else f"a {type(constraints).__name__}"


def _fit_and_score(
    model: Any, X: Any, constraints: Constraints, train: IntArray, test: IntArray
) -> tuple[float, float, str]:
    """Score, seconds of the fit, and why it failed or ""."""
    began = time.perf_counter()
    try:
        fit_told(model, X, constraints[train])
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        return np.nan, time.perf_counter() - began, str(error) or type(error).__name__
    seconds = time.perf_counter() - began
    return constraint_satisfaction_scorer(model, constraints[test]), seconds, ""


def _results(
    candidates: list[dict[str, Any]], scores: np.ndarray, seconds: np.ndarray
) -> dict[str, Any]:
    results: dict[str, Any] = {"mean_fit_time": seconds.mean(axis=1), "params": candidates}
    for name in sorted({name for params in candidates for name in params}):
        missing = [name not in params for params in candidates]
        column = np.ma.MaskedArray(np.empty(len(candidates), object), mask=missing)
        for i, params in enumerate(candidates):
            if name in params:
                column[i] = params[name]
        results[f"param_{name}"] = column
    for k, column in enumerate(scores.T):
        results[f"split{k}_test_score"] = column
    mean = scores.mean(axis=1)
    results["mean_test_score"], results["std_test_score"] = mean, scores.std(axis=1)
    ranks = rankdata(-np.where(np.isnan(mean), -np.inf, mean), method="min")
    results["rank_test_score"] = ranks.astype(np.int32)
    return results


def constraint_satisfaction_scorer(
    estimator: Any, constraints: Constraints, y: Any = None
) -> float:
    """Score a fitted clusterer by the weight of held-out statements it keeps.

    Must-links and cannot-links (with relative statements) count half each when both kinds are
    there: one cluster would keep every must-link, one cluster per row every cannot-link.

    Parameters
    ----------
    estimator : fitted clusterer or Pipeline that ends in one
        With `labels_`.
    constraints : Constraints
        Statements that were not used in the fit.
    y : ignored
        Here because scikit-learn's API asks for it.

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    See Also
    --------
    ConstraintSearchCV : Uses it on held-out statements.
    conclust.metrics.violations : Which statements are broken.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import COPKMeans, Constraints, constraint_satisfaction_scorer
    >>> X, _ = load_iris(return_X_y=True)
    >>> told, held_out = Constraints([(0, 10)]), Constraints([(1, 11)], [(0, 60)])
    >>> model = COPKMeans(n_clusters=3, random_state=0).fit(X, constraints=told)
    >>> constraint_satisfaction_scorer(model, held_out)
    1.0
    """
    return _share_kept(constraints, labels_of(estimator))


def _share_kept(constraints: Constraints, labels: IntArray) -> float:
    kept = constraints.satisfied(labels)
    weight = constraints.weight
    must = constraints.kinds == "must-link"
    shares = [
        float((weight * kept)[side].sum() / weight[side].sum())
        for side in (must, ~must)
        if side.any()
    ]
    return sum(shares) / len(shares) if shares else 1.0
