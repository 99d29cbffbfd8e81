"""Guided: statements bound to an estimator, for callers that know only ``fit(X, y)``."""

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from conclust._arrays import IntArray
from conclust._fitting import fit_told, labels_of, takes_statements
from conclust._summaries import Shown
from conclust.constraints import Constraints
from conclust.model_selection import AutoCluster


def _has(name: str) -> Callable[[Any], bool]:
    def check(guided: "Guided") -> bool:
        # Raises the estimator's own message where there is none.
        return callable(getattr(vars(guided).get("estimator_") or guided._estimator(), name))

    return check


class Guided(Shown, MetaEstimatorMixin, ClusterMixin, BaseEstimator):
    """Statements bound to an estimator, so that it works where only ``fit(X, y)`` is called.

    For BERTopic (``hdbscan_model=``), pipelines without metadata routing and other tools that know
    nothing of constraints. Everything else is the estimator's: `labels_`, `predict`, `report_`, …

    Parameters
    ----------
    estimator : estimator, default=None
        One whose `fit` takes `constraints`, or a pipeline with such a step;
        :class:`~conclust.AutoCluster` by default.
    constraints : Constraints, default=None
        About the rows that `fit` will be given, in their order. With `n_samples` known, other rows
        are refused.

    Attributes
    ----------
    estimator_ : estimator
        Fitted. Its attributes and methods can be had from here as well.
    labels_ : ndarray of shape (n_samples,)

    See Also
    --------
    ConstraintSearchCV : Chooses settings by statements held out.

    Notes
    -----
    A `y` is handed on; clusterers use one that leaves rows open (-1), see their `seeds`, and ignore
    others. A step that drops or repeats rows makes positions name others: it must not come before.

    Examples
    --------
    >>> from conclust import Constraints, Guided, PCKMeans
    >>> known = Constraints(must_link=[(0, 2)], cannot_link=[(0, 1)])
    >>> model = Guided(PCKMeans(2, random_state=0), known)
    >>> model.fit([[0, 0], [0, 1], [4, 0], [4, 1]], y=None).report_
    ConstraintReport(2 of 2 kept: 1 of 1 must-link, 1 of 1 cannot-link)
    """

    def __init__(self, estimator: Any = None, constraints: Constraints | None = None):
        self.estimator = estimator
        self.constraints = constraints

    def fit(self, X: Any, y: Any = None) -> "Guided":
        """Fit a copy of the estimator with the statements.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows, as the estimator takes them.
        y : array-like of shape (n_samples,), default=None
            Handed on to the estimator.

        Returns
        -------
        self
            The fitted estimator.
        """
        estimator = clone(self._estimator())
        if not takes_statements(estimator):
            raise TypeError(
                f"`fit` of {type(estimator).__name__} takes no constraints, so none can be bound "
                "to it. Use an estimator of conclust, or BoostCluster around this one."
            )
        self.estimator_ = fit_told(estimator, X, self.constraints, y)
        return self

    def _estimator(self) -> Any:
        return AutoCluster() if self.estimator is None else self.estimator

    @property
    def labels_(self) -> IntArray:
        """Labels of the rows of `fit`."""
        check_is_fitted(self)
        return labels_of(self.estimator_)

    @available_if(_has("predict"))
    def predict(self, X: Any) -> Any:
        """What the estimator predicts; statements are not applied again."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the clusters, by the estimator."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_has("transform"))
    def transform(self, X: Any) -> Any:
        """What the estimator makes of rows."""
        check_is_fitted(self)
        return self.estimator_.transform(X)

    @available_if(_has("transform"))
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """`fit`, then what the estimator makes of the same rows."""
        return self.fit(X, y).transform(X)

    @available_if(_has("score"))
    def score(self, X: Any, y: Any = None) -> Any:
        """The estimator's score."""
        check_is_fitted(self)
        return self.estimator_.score(X, y)

    @available_if(_has("update"))
    def update(self, *args: Any, **kwargs: Any) -> "Guided":
        """Go on from this clustering as the estimator does: new rows, new statements, or both."""
        check_is_fitted(self)
        self.estimator_.update(*args, **kwargs)
        return self

    def __getattr__(self, name: str) -> Any:
        fitted = vars(self).get("estimator_")
        if fitted is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(fitted, name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inside = get_tags(self._estimator())
        tags.input_tags.sparse = inside.input_tags.sparse
        tags.transformer_tags = inside.transformer_tags
        return tags
