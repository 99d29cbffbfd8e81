"""Every estimator against scikit-learn's checks and our own."""

import tracemalloc

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from conclust import (
    ITML,
    AutoCluster,
    BoostCluster,
    BoostedConstrainedKMeans,
    ConstrainedGaussianMixture,
    ConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    Constraints,
    COPKMeans,
    CoTraining,
    DistBoost,
    GeneralizedKMeans,
    MiniBatchConstrainedKMeans,
    MPCKMeans,
    PCKMeans,
    ReCon,
    RelativeMetric,
    SemiSupervisedKernelKMeans,
    SpectralLearning,
    TrustEnsemble,
    _declare,
    sample_constraints,
)
from conclust.testing import EstimatorCase, all_estimators, estimator_checks, transformer_checks

CASES = [
    EstimatorCase(COPKMeans(n_clusters=3, n_init=2), plain=KMeans()),
    EstimatorCase(ConstrainedKMeans(n_clusters=3), plain=KMeans()),
    EstimatorCase(ConstrainedKMeans(n_clusters=3, order="random", max_iter=30), plain=KMeans()),
    EstimatorCase(MiniBatchConstrainedKMeans(n_clusters=3)),
    EstimatorCase(PCKMeans(n_clusters=3, n_init=2), plain=KMeans()),
    EstimatorCase(COPKMeans(n_clusters=3, n_init=2, outliers=0.1)),
    EstimatorCase(PCKMeans(n_clusters=3, n_init=2, size_max=1e9)),
    EstimatorCase(MPCKMeans(n_clusters=3, n_init=2)),
    EstimatorCase(GeneralizedKMeans(n_clusters=3, n_init=2)),
    EstimatorCase(GeneralizedKMeans(n_clusters=3, n_init=2, update="online")),
    EstimatorCase(AutoCluster(n_clusters=3)),
    EstimatorCase(ConstrainedGaussianMixture(n_components=3)),
    EstimatorCase(ConstrainedGaussianMixture(n_components=3, flip_rate="auto"), hard=False),
    EstimatorCase(SemiSupervisedKernelKMeans(n_clusters=3, n_init=2)),
    EstimatorCase(SpectralLearning(n_clusters=3)),
    EstimatorCase(BoostedConstrainedKMeans(n_clusters=3, n_estimators=10)),
    EstimatorCase(ConstrainedKMeansEnsemble(n_clusters=3, n_estimators=10)),
    EstimatorCase(TrustEnsemble(n_clusters=3, n_estimators=4, n_judges=3)),
    EstimatorCase(
        CoTraining(n_clusters=3, estimator=ConstrainedKMeansEnsemble(n_estimators=5), n_rounds=2)
    ),
    EstimatorCase(ConstrainedKMeansEnsemble(n_clusters=3, n_estimators=10, reorder="run")),
    EstimatorCase(BoostCluster(n_clusters=3, n_estimators=10)),
    EstimatorCase(ReCon(n_clusters=3, on_conflict="repair")),
    EstimatorCase(ReCon(n_clusters=3, linkage="average", on_conflict="repair")),
]

LEARNERS = [
    EstimatorCase(ITML()),
    EstimatorCase(DistBoost(n_estimators=5)),
    EstimatorCase(DistBoost(n_estimators=5, n_components=3)),
    EstimatorCase(RelativeMetric()),
]

# The start is drawn from the rows, so weighting a row and repeating it draw different starts, and
# the run ends elsewhere. scikit-learn expects the same of KMeans; with `init` given the two agree,
# which tests/cluster checks.
STARTS_FROM_ROWS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "the start is drawn from the rows, as in KMeans"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [case.estimator for case in CASES + LEARNERS],
    expected_failed_checks=lambda estimator: STARTS_FROM_ROWS,
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("case", "check"),
    [pair for case in CASES for pair in estimator_checks(case)]
    + [pair for case in LEARNERS for pair in transformer_checks(case)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_ours(case, check):
    check(case)


@pytest.mark.parametrize("case", CASES + LEARNERS, ids=str)
def test_constructible_without_arguments(case):
    type(case.estimator)()


def test_every_estimator_has_a_case():
    # Check that a class that is written is tested: it is found, nobody lists it.
    cases = {type(case.estimator) for case in CASES + LEARNERS}
    missing = {name for name, estimator in all_estimators() if estimator not in cases}
    assert not missing, f"add an EstimatorCase of {missing} to CASES or LEARNERS"


def test_every_estimator_is_public_and_says_what_it_takes():
    found = dict(all_estimators())
    silent = {name for name, estimator in found.items() if "_takes" not in vars(estimator)}
    assert not silent, f"declare `_takes` on {silent}"
    private = found.keys() - _declare.estimators().keys()
    assert not private, f"add {private} to __all__ of the package and to conclust._HOMES"
    assert found == _declare.estimators()


def test_an_estimator_that_is_written_is_found(monkeypatch):
    # Check the finder itself: a class in any module counts, an imported or a base class does not.
    import conclust.cluster._penalty as module

    class Written(ConstrainedKMeans):
        pass

    Written.__module__ = module.__name__
    monkeypatch.setattr(module, "Written", Written, raising=False)
    monkeypatch.setattr(module, "Imported", COPKMeans, raising=False)
    found = dict(all_estimators())
    assert found["Written"] is Written
    assert not {"Imported", "CentersMixin", "ConstraintSearchCV"} & found.keys()
    with pytest.raises(AssertionError, match="Written"):
        test_every_estimator_has_a_case()
    with pytest.raises(AssertionError, match="_takes"):
        test_every_estimator_is_public_and_says_what_it_takes()


@pytest.mark.parametrize("case", CASES + LEARNERS, ids=str)
def test_tags_are_what_the_class_declares(case):
    assert get_tags(case.estimator).input_tags.sparse == case.estimator._takes.sparse


# Parameters may switch weights off, so one case of each class.
ONE_OF_EACH = {type(case.estimator): case for case in reversed(CASES + LEARNERS)}.values()


@pytest.mark.parametrize("case", ONE_OF_EACH, ids=str)
def test_weights_of_statements_count_where_the_class_says_so(case):
    rng = np.random.RandomState(0)
    X, y = make_blobs(90, centers=3, n_features=3, cluster_std=4.0, random_state=1)
    takes = case.estimator._takes
    noise = 0.0 if takes.hard else 0.2
    numbers = {"n_relative": 60} if case.relative else {"n_pairs": 60}

    def answer(known):
        fitted = case.fresh().fit(X, constraints=known)
        return fitted.labels_ if hasattr(fitted, "labels_") else fitted.transform(X)

    def changes(seed):
        known = sample_constraints(y, **numbers, noise=noise, random_state=seed)
        weighted = known.to_frame().assign(weight=rng.exponential(3, len(known)) + 0.05)
        return not np.array_equal(answer(known), answer(Constraints.from_frame(weighted)))

    assert any(changes(seed) for seed in range(4)) == bool(takes.weights)


@pytest.mark.parametrize("case", ONE_OF_EACH, ids=str)
def test_an_array_of_n_by_n_is_held_where_the_class_says_so(case):
    n = 1500
    X, y = make_blobs(n, centers=3, n_features=3, random_state=1)
    numbers = {"n_relative": 40} if case.relative else {"n_pairs": 40}
    known = sample_constraints(y, **numbers, random_state=0)
    estimator = case.fresh(n_init=1)
    estimator.fit(X[:300], constraints=sample_constraints(y[:300], **numbers))  # compile
    tracemalloc.start()
    try:
        estimator.fit(X, constraints=known)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (peak > 8 * n**2) == case.estimator._takes.square
