"""What every estimator that takes constraints must do, as checks to parametrize a test with.

They stand beside scikit-learn's own estimator checks, which know nothing of constraints.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from conclust._progress import curve_of
from conclust.constraints import Constraints, sample_constraints
from conclust.exceptions import InconsistentConstraintsError, InvalidConstraintsError

Check = Callable[["EstimatorCase"], None]


@dataclass(frozen=True)
class EstimatorCase:
    """An estimator and what it promises.

    Parameters
    ----------
    estimator : estimator
        Unfitted.
    hard : bool, default=None
        Every pairwise statement holds in the result; contradictions raise. By default what the
        class declares; False for a class that does not.
    plain : estimator, default=None
        What it equals when no constraints are given (same `init`).
    relative : bool, default=None
        It uses relative statements. By default as for `hard`.
    """

    estimator: Any
    hard: bool | None = None
    plain: Any = None
    relative: bool | None = None

    def __post_init__(self) -> None:
        takes = getattr(self.estimator, "_takes", None)
        if self.hard is None:
            object.__setattr__(self, "hard", takes is not None and takes.hard)
        if self.relative is None:
            object.__setattr__(self, "relative", takes is not None and "relative" in takes.kinds)

    def __str__(self) -> str:
        return type(self.estimator).__name__

    def fresh(self, **parameters: Any) -> Any:
        """A clone, seeded, with those of `parameters` that it has.

        Parameters
        ----------
        **parameters : dict
            Parameters to set, where the estimator has them.

        Returns
        -------
        estimator
            Not fitted.
        """
        estimator = clone(self.estimator)
        known = estimator.get_params()
        wanted = {"random_state": 0, **parameters}
        return estimator.set_params(**{k: v for k, v in wanted.items() if k in known})


def estimator_checks(case: EstimatorCase) -> Iterator[tuple[EstimatorCase, Check]]:
    """Yield the checks that apply, for ``pytest.mark.parametrize``.

    Parameters
    ----------
    case : EstimatorCase
        The estimator, and what it promises.

    Yields
    ------
    case : EstimatorCase
        The one given.
    check : callable
        Takes the case; raises AssertionError where the promise is broken.

    See Also
    --------
    transformer_checks : The same for metric learners.

    Examples
    --------
    >>> from conclust import COPKMeans
    >>> from conclust.testing import EstimatorCase, estimator_checks
    >>> for case, check in estimator_checks(EstimatorCase(COPKMeans(3))):
    ...     check(case)
    """
    checks: list[Check] = [
        check_same_seed_same_labels,
        check_permuted_samples,
        check_bad_constraints,
        check_float32_stays,
        check_sparse_equals_dense,
        check_routing,
        check_constraints_help,
        check_says_how_it_went,
    ]
    checks.append(check_contradiction_raises if case.hard else check_contradiction_is_survived)
    if case.hard:
        checks += [check_hard_constraints_hold, check_closure_changes_nothing]
    if case.plain is not None:
        checks.append(check_no_constraints_is_plain)
    if "n_jobs" in case.estimator.get_params():
        checks.append(check_n_jobs_changes_nothing)
    for check in checks:
        yield case, check


def _overlapping(
    seed: int = 0, n_constraints: int = 60
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], Constraints]:
    X, y = make_blobs(90, centers=3, n_features=3, cluster_std=4.0, random_state=seed)
    return X, y, sample_constraints(y, n_constraints, random_state=seed)


def _same_partition(a: Any, b: Any) -> bool:
    return adjusted_rand_score(a, b) == 1.0


def _centers(X: npt.NDArray[Any], y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.array([X[y == c].mean(axis=0) for c in np.unique(y)])


def check_hard_constraints_hold(case: EstimatorCase) -> None:
    """Every statement holds, from few statements to nearly all pairs."""
    for seed, n_constraints in enumerate((20, 100, 400, 1500)):
        X, _, constraints = _overlapping(seed, n_constraints)
        labels = case.fresh(n_clusters=3).fit(X, constraints=constraints).labels_
        report = constraints.report(labels)
        assert report.n_violated == 0, f"{n_constraints} constraints: {report}"


def check_closure_changes_nothing(case: EstimatorCase) -> None:
    """Statements and what they imply give the same clusters."""
    X, y, constraints = _overlapping(1, 120)
    must, cannot = constraints.closure().spanning()
    closed = Constraints(must, cannot, n_samples=len(X))
    init = _centers(X, y)
    labels = [
        case.fresh(n_clusters=3, init=init, n_init=1).fit(X, constraints=c).labels_
        for c in (constraints, closed)
    ]
    assert _same_partition(*labels)


def check_same_seed_same_labels(case: EstimatorCase) -> None:
    """Two fits with one seed agree, and leave their inputs alone."""
    X, _, constraints = _overlapping()
    before = X.copy()
    first = case.fresh(n_clusters=3).fit(X, constraints=constraints)
    second = case.fresh(n_clusters=3).fit(X, constraints=constraints)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(X, before)
    assert first.n_iter_ >= 1
    assert isinstance(first.history_, list)


def check_says_how_it_went(case: EstimatorCase) -> None:
    """A fit says whether it converged, what each round did and which statements it keeps.

    The first field of a record is a number, the curve of a report. An integer of few bits is as
    good as any for the number of clusters.
    """
    X, _, constraints = _overlapping()
    fitted = case.fresh(n_clusters=np.int8(3)).fit(X, constraints=constraints)
    assert isinstance(fitted.converged_, bool)
    assert len(fitted.history_) >= 1
    for record in fitted.history_:
        assert isinstance(getattr(record, curve_of(record)), float), record
    assert fitted.report_.n_violated == constraints.report(fitted.labels_).n_violated


def check_permuted_samples(case: EstimatorCase) -> None:
    """Renumbering the samples renumbers the answer."""
    X, y, constraints = _overlapping(2, 40)
    order = np.random.RandomState(0).permutation(len(X))
    place = np.argsort(order)
    moved = Constraints(
        place[constraints.must_link], place[constraints.cannot_link], n_samples=len(X)
    )
    init = _centers(X, y)
    original = Constraints(constraints.must_link, constraints.cannot_link, n_samples=len(X))
    here = case.fresh(n_clusters=3, init=init, n_init=1).fit(X, constraints=original)
    there = case.fresh(n_clusters=3, init=init, n_init=1).fit(X[order], constraints=moved)
    if "init" in case.estimator.get_params():
        assert _same_partition(here.labels_[order], there.labels_)
    else:  # starts drawn by row differ, so only the quality can be compared
        assert (
            abs(adjusted_rand_score(y, here.labels_) - adjusted_rand_score(y[order], there.labels_))
            < 0.3
        )


def check_no_constraints_is_plain(case: EstimatorCase) -> None:
    """Without constraints it is the plain algorithm; an empty set is the same as None."""
    X, y, _ = _overlapping(3)
    init = _centers(X, y) + 0.5
    ours = case.fresh(n_clusters=3, init=init, n_init=1)
    plain = clone(case.plain).set_params(n_clusters=3, init=init, n_init=1)
    plain.fit(X)
    for nothing in (None, Constraints(), Constraints(n_samples=len(X))):
        labels = clone(ours).fit(X, constraints=nothing).labels_
        np.testing.assert_array_equal(labels, plain.labels_)


def check_bad_constraints(case: EstimatorCase) -> None:
    """Wrong arguments give our errors, naming the way out."""
    X, _, _ = _overlapping()
    n = len(X)
    for wrong, error, text in (
        ([(0, 1)], TypeError, "Make one with Constraints"),
        ({"must_link": [(0, 1)]}, TypeError, "conclust.Constraints"),
        (Constraints([(0, n)]), InvalidConstraintsError, f"X has {n} rows"),
        (Constraints([(0, 1)], n_samples=n + 1), InvalidConstraintsError, f"X has {n} rows"),
    ):
        try:
            case.fresh(n_clusters=3).fit(X, constraints=wrong)
        except error as raised:
            assert text in str(raised), str(raised)
        else:
            raise AssertionError(f"{case} accepted {wrong!r}")


def check_contradiction_raises(case: EstimatorCase) -> None:
    """A hard method names the conflict."""
    X, _, constraints = _overlapping()
    clash = constraints + Constraints([(0, 1), (1, 2)], [(0, 2)])
    try:
        case.fresh(n_clusters=3).fit(X, constraints=clash)
    except InconsistentConstraintsError as raised:
        assert raised.conflicts, "the error carries its conflicts"
    else:
        raise AssertionError(f"{case} accepted contradictory constraints")


def check_contradiction_is_survived(case: EstimatorCase) -> None:
    """A soft method clusters all the same."""
    X, _, constraints = _overlapping()
    clash = constraints + Constraints([(0, 1), (1, 2), (3, 4)], [(0, 2), (3, 4)])
    labels = case.fresh(n_clusters=3).fit(X, constraints=clash).labels_
    assert labels.shape == (len(X),)
    assert np.isin(labels, range(3)).all()


def check_float32_stays(case: EstimatorCase) -> None:
    """float32 data are clustered as float32."""
    X, _, constraints = _overlapping()
    fitted = case.fresh(n_clusters=3).fit(X.astype(np.float32), constraints=constraints)
    centers = getattr(fitted, "cluster_centers_", None)
    if centers is not None:
        assert centers.dtype == np.float32


def check_sparse_equals_dense(case: EstimatorCase) -> None:
    """A CSR matrix gives the labels of the same matrix written out, or a clear refusal.

    Which of the two is what scikit-learn's tag says.
    """
    X, y, constraints = _overlapping(4)
    X = np.where(np.abs(X) < 2, 0.0, X)
    init = _centers(X, y)
    dense = case.fresh(n_clusters=3, init=init, n_init=1).fit(X, constraints=constraints)
    promised = get_tags(case.estimator).input_tags.sparse
    try:
        sparse = case.fresh(n_clusters=3, init=init, n_init=1).fit(
            sp.csr_array(X), constraints=constraints
        )
    except TypeError as refused:
        assert "sparse" in str(refused).lower()
        assert not promised, f"{case} says by its tags that it takes sparse rows"
    else:
        assert _same_partition(dense.labels_, sparse.labels_)
        assert promised, f"{case} says by its tags that it refuses sparse rows"


def check_n_jobs_changes_nothing(case: EstimatorCase) -> None:
    """The number of workers does not change the labels."""
    X, _, constraints = _overlapping()
    labels = [
        case.fresh(n_clusters=3, n_jobs=n).fit(X, constraints=constraints).labels_ for n in (1, 2)
    ]
    np.testing.assert_array_equal(*labels)


def check_routing(case: EstimatorCase) -> None:
    """`constraints` reaches the estimator through a Pipeline by metadata routing."""
    X, _, constraints = _overlapping()
    with config_context(enable_metadata_routing=True):
        estimator = case.fresh(n_clusters=3)
        assert isinstance(estimator, BaseEstimator)
        pipeline = make_pipeline(StandardScaler(), estimator.set_fit_request(constraints=True))
        pipeline.fit(X, constraints=constraints)
        direct = case.fresh(n_clusters=3).fit(
            StandardScaler().fit_transform(X), constraints=constraints
        )
    np.testing.assert_array_equal(pipeline[-1].labels_, direct.labels_)


def check_constraints_help(case: EstimatorCase) -> None:
    """Many true statements do not make the result worse than none."""
    X, y, constraints = _overlapping(5, 300)
    with_them = case.fresh(n_clusters=3).fit(X, constraints=constraints).labels_
    without = case.fresh(n_clusters=3).fit(X).labels_
    gain = adjusted_rand_score(y, with_them) - adjusted_rand_score(y, without)
    assert gain > -0.05, f"the adjusted Rand index fell by {-gain:.2f}"
