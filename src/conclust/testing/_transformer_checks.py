"""What every metric learner must do, as checks to parametrize a test with."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conclust.constraints import Constraints, sample_constraints
from conclust.testing._checks import EstimatorCase, _overlapping, check_bad_constraints

Check = Callable[[EstimatorCase], None]


def transformer_checks(case: EstimatorCase) -> Iterator[tuple[EstimatorCase, Check]]:
    """Yield the checks that apply to a metric learner, for ``pytest.mark.parametrize``.

    Parameters
    ----------
    case : EstimatorCase
        A transformer with `pairwise` and `score_pairs`; `relative` if it learns from triplets.

    Yields
    ------
    case : EstimatorCase
        The one given.
    check : callable
        Takes the case; raises AssertionError where the promise is broken.

    See Also
    --------
    estimator_checks : The same for clusterers.

    Examples
    --------
    >>> from conclust import ITML
    >>> from conclust.testing import EstimatorCase, transformer_checks
    >>> for case, check in transformer_checks(EstimatorCase(ITML())):
    ...     check(case)
    """
    for check in (
        check_bad_constraints,
        check_no_constraints_is_identity,
        check_distances_are_distances,
        check_permuted_samples_same_distances,
        check_contradiction_is_survived,
        check_float32_stays,
        check_sparse_equals_dense,
        check_routing_of_transformer,
        check_constraints_help_k_means,
    ):
        yield case, check


def _told(
    case: EstimatorCase, seed: int = 0, n_constraints: int = 60
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], Constraints]:
    X, y, pairs = _overlapping(seed, n_constraints)
    if case.relative:
        return X, y, sample_constraints(y, n_relative=n_constraints, random_state=seed)
    return X, y, pairs


def check_no_constraints_is_identity(case: EstimatorCase) -> None:
    """Without constraints distances stay Euclidean; an empty set is the same as None."""
    X, _, _ = _told(case)
    for nothing in (None, Constraints(), Constraints(n_samples=len(X))):
        fitted = case.fresh().fit(X, constraints=nothing)
        np.testing.assert_allclose(fitted.transform(X), X)
        np.testing.assert_allclose(fitted.pairwise(X), pairwise_distances(X), atol=1e-6)


def check_distances_are_distances(case: EstimatorCase) -> None:
    """`pairwise` is finite, symmetric and 0 on the diagonal, and agrees with `score_pairs`."""
    X, _, known = _told(case)
    fitted = case.fresh().fit(X, constraints=known)
    D = fitted.pairwise(X)
    assert D.shape == (len(X), len(X))
    assert np.isfinite(D).all()
    assert (D >= 0).all()
    np.testing.assert_allclose(D, D.T, atol=1e-8 * D.max())
    np.testing.assert_array_equal(np.diag(D), 0)
    np.testing.assert_allclose(fitted.pairwise(X[:7], X), D[:7], atol=1e-6 * D.max())
    pairs = np.array([(0, 1), (5, 40), (80, 3)])
    np.testing.assert_allclose(fitted.score_pairs(X[pairs]), D[tuple(pairs.T)], atol=1e-6 * D.max())
    try:
        fitted.score_pairs(pairs)
    except ValueError as raised:
        assert "pass X[pairs]" in str(raised), str(raised)
    else:
        raise AssertionError(f"{case} accepted pairs of positions")


def check_permuted_samples_same_distances(case: EstimatorCase) -> None:
    """Renumbering the rows does not change what a deterministic learner learns."""
    X, _, known = _told(case)
    fitted = case.fresh().fit(X, constraints=known)
    if not hasattr(fitted, "components_"):
        return  # starts are drawn by row
    order = np.random.RandomState(1).permutation(len(X))
    place = np.argsort(order)
    moved = Constraints(
        place[known.must_link], place[known.cannot_link], place[known.relative], n_samples=len(X)
    )
    here = fitted.pairwise(X)
    there = case.fresh().fit(X[order], constraints=moved).pairwise(X)
    np.testing.assert_allclose(here, there, rtol=0.05, atol=1e-3 * here.max())


def check_contradiction_is_survived(case: EstimatorCase) -> None:
    """Statements that cannot all hold still give a finite metric."""
    X, _, known = _told(case)
    clash = known + Constraints(
        [(0, 1), (1, 2), (3, 4)], [(0, 2), (3, 4)], [(0, 1, 2), (0, 2, 1)] if case.relative else []
    )
    if case.relative:
        clash = Constraints(relative=clash.relative)
    X[8] = X[7]  # equal rows, one pair of them kept apart
    clash = clash if case.relative else clash + Constraints((), [(7, 8)])
    fitted = case.fresh().fit(X, constraints=clash)
    assert np.isfinite(fitted.transform(X)).all()
    assert np.ptp(fitted.pairwise(X)) > 0


def check_float32_stays(case: EstimatorCase) -> None:
    """float32 rows are transformed to float32."""
    X, _, known = _told(case)
    X = X.astype(np.float32)
    assert case.fresh().fit(X, constraints=known).transform(X).dtype == np.float32


def check_sparse_equals_dense(case: EstimatorCase) -> None:
    """A CSR matrix gives what the same matrix written out gives, or a clear refusal."""
    X, _, known = _told(case, 4)
    X = np.where(np.abs(X) < 2, 0.0, X)
    dense = case.fresh().fit(X, constraints=known)
    try:
        sparse = case.fresh().fit(sp.csr_array(X), constraints=known)
    except TypeError as refused:
        assert "sparse" in str(refused).lower()
    else:
        rows = sparse.transform(sp.csr_array(X))
        rows = rows.toarray() if sp.issparse(rows) else rows
        np.testing.assert_allclose(rows, dense.transform(X), rtol=1e-6, atol=1e-9)


def check_routing_of_transformer(case: EstimatorCase) -> None:
    """`constraints` reaches the learner through a Pipeline by metadata routing."""
    X, _, known = _told(case)
    with config_context(enable_metadata_routing=True):
        learner: Any = case.fresh().set_fit_request(constraints=True)
        pipeline = make_pipeline(StandardScaler(), learner, KMeans(3, random_state=0))
        pipeline.fit(X, constraints=known)
        scaled = StandardScaler().fit_transform(X)
        direct = clone(case.fresh()).fit(scaled, constraints=known)
    np.testing.assert_allclose(pipeline[:-1].transform(X), direct.transform(scaled))


def check_constraints_help_k_means(case: EstimatorCase) -> None:
    """K-means after the learner is better than without, when one feature is loud noise."""
    X, y, known = _told(case, 5, 300)
    X = np.column_stack([X, 20 * np.random.RandomState(0).standard_normal(len(X))])
    learned = case.fresh().fit(X, constraints=known).transform(X)
    after, before = (
        adjusted_rand_score(y, KMeans(3, n_init=10, random_state=0).fit_predict(rows))
        for rows in (learned, X)
    )
    assert after > before + 0.1, f"the adjusted Rand index went from {before:.2f} to {after:.2f}"
