"""What the ensembles of constrained k-means share: members, their codes, and what follows."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from conclust._arrays import Labels, in_parts, labels_of
from conclust._lazy_labels import LazyLabels
from conclust._statements import most_doubted
from conclust._summaries import Shown
from conclust._validation import check_new_rows
from conclust.constraints import Constraints
from conclust.ensemble._consensus import CoAssociation, nearest_consensus

if TYPE_CHECKING:
    import pandas as pd


class Member(NamedTuple):
    """One clustering of the ensemble."""

    labels: np.ndarray  # (n_samples,)
    centers: np.ndarray  # (n_clusters, n_features)
    n_iter: int
    converged: bool


def codes_of_members(members: list[Member]) -> np.ndarray:
    """Labels of all members side by side, in as few bytes as they need."""
    shape = len(members[0].labels), len(members)
    codes = np.empty(shape, dtype=_code_type(len(members[0].centers)))
    for t, member in enumerate(members):
        codes[:, t] = member.labels
    return codes


def _code_type(n_clusters: int) -> Any:
    return np.uint8 if n_clusters <= 256 else np.uint16


class VotesMixin(Shown, ClusterMixin, BaseEstimator):
    """`confidence` and `suspects` from `co_association_` and what the members doubt."""

    def confidence(self, pairs: Any) -> np.ndarray:
        """How sure the members are that two rows of `fit` belong together.

        Parameters
        ----------
        pairs : array-like of shape (m, 2)
            The pairs to judge.

        Returns
        -------
        ndarray of shape (m,)
            From -1 (always apart) to 1 (always together), members weighted.
        """
        check_is_fitted(self)
        return self.co_association_.confidence(pairs)

    def suspects(self, n: int = 10) -> "pd.DataFrame":
        """The statements least believed after the fit: "please look at these again".

        Parameters
        ----------
        n : int, default=10
            How many statements at most, the least believed first.

        Returns
        -------
        DataFrame
            The statements as in ``constraints.to_frame()``, with their number `statement` and
            `doubt`, most doubtful first.
        """
        check_is_fitted(self)
        return most_doubted(self.constraints_, self._doubts(), n)

    def _doubts(self) -> np.ndarray:
        """How far each statement is doubted, (len(constraints),)."""
        return self.doubt_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes.sparse
        return tags


class CodesMixin(LazyLabels, VotesMixin):
    """`labels_` from the members' codes, `predict` from their centres."""

    def _combine(
        self,
        members: list[Member],
        constraints: Constraints,
        seed: int,
        weights: np.ndarray | None = None,
    ) -> None:
        """Cluster the co-association of the members; set what all these ensembles have."""
        self.n_iter_ = len(members)
        self.member_centers_ = np.array([member.centers for member in members])
        self.co_association_ = CoAssociation(codes_of_members(members), weights)
        found = self.co_association_.cluster(self.n_clusters, n_init=self.n_init, random_state=seed)
        self.labels_, self.profiles_ = found.labels, found.profiles
        self.constraints_, self.report_ = constraints, constraints.report(found.labels)

    def predict(self, X: Any) -> Any:
        """Cluster of new rows; constraints are not applied again.

        Each member gives a row its nearest centre; the codes so found go to the nearest mean of
        the consensus.

        Parameters
        ----------
        X : {array-like, sparse matrix, Blocks, collection} of shape (n_samples, n_features)
            Collection: a dask array or data frame, a Ray dataset.

        Returns
        -------
        ndarray of shape (n_samples,), int32
            The cluster of each row. Of a collection, one of the same engine that is not computed
            yet: a dask array, a Ray dataset with the column ``label``.
        """
        X = self._check_new_rows(X)
        return labels_of(X, self._label)

    @property
    def _label(self) -> Callable[[Any], Labels]:
        return partial(
            _voted,
            member_centers=self.member_centers_,
            profiles=self.profiles_,
            weights=self.co_association_.weights,
        )

    def _check_new_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_new_rows(self, X, dtype=self.member_centers_.dtype)

    def codes_of(self, X: Any) -> np.ndarray:
        """Nearest centre of new rows in every member, (n_samples, n_members).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, new or old.

        Returns
        -------
        ndarray of shape (n_samples, n_members)
            The cluster of each row in each member.
        """
        X = self._check_new_rows(X)
        return np.concatenate([_codes_of(rows, self.member_centers_) for _, rows in in_parts(X)])


def _codes_of(rows: Any, member_centers: np.ndarray) -> np.ndarray:
    """Nearest centre of each row in every member, in as few bytes as they need."""
    codes = np.empty((rows.shape[0], len(member_centers)), _code_type(member_centers.shape[1]))
    for t, centers in enumerate(member_centers):
        codes[:, t] = pairwise_distances_argmin(rows, centers)
    return codes


def _voted(
    rows: Any, member_centers: np.ndarray, profiles: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Cluster of each row by the votes of the members, (n_samples,) int32."""
    return nearest_consensus(_codes_of(rows, member_centers), profiles, weights)


def usable(alphas: np.ndarray) -> np.ndarray:
    """Weights of the rounds; equal ones when no round was better than chance."""
    return alphas if alphas.any() else np.ones(len(alphas))
