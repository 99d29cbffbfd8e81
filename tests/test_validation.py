"""The door: what it mends and what it refuses."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from conclust import Constraints, COPKMeans, PCKMeans, ReCon, RelativeMetric
from conclust._declare import estimators
from conclust._validation import (
    as_rows,
    check_inputs,
    check_new_rows,
    unit_rows,
    with_small_indices,
)
from conclust.exceptions import ConstraintsIgnoredWarning

X, _ = load_iris(return_X_y=True)


def wide(matrix):
    made = sp.csr_matrix(matrix)
    made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
    return made


def test_indices_that_fit_32_bits_are_taken():
    rows = wide(X)
    before = rows.indices.copy()
    for model in (COPKMeans(3, random_state=0), PCKMeans(3, random_state=0)):
        expected = model.fit(sp.csr_matrix(X)).labels_
        np.testing.assert_array_equal(model.fit(rows).labels_, expected)
        np.testing.assert_array_equal(model.predict(rows), model.predict(sp.csr_matrix(X)))
    assert rows.indices.dtype == np.int64  # the caller's matrix stays as it is
    np.testing.assert_array_equal(rows.indices, before)


def test_other_data_pass_untouched():
    for data in (X, sp.csr_matrix(X), sp.csc_matrix(X)):
        assert with_small_indices(data) is data


@pytest.mark.parametrize("name", estimators())
def test_the_door_does_what_the_class_declares(name):
    # Check that rows and statements are refused or ignored by the declaration and nothing else.
    estimator = estimators()[name]()
    takes = estimator._takes
    known = {
        "must-link": Constraints([(0, 1)]),
        "cannot-link": Constraints((), [(0, 1)]),
        "apart": Constraints.from_groups(apart=[0, 0, 0]),
        "relative": Constraints(relative=[(0, 1, 2)]),
    }
    for kind, statements in known.items():
        if set(statements.kinds) <= takes.kinds:
            check_inputs(estimator, X[:3], statements)
        else:
            with pytest.warns(ConstraintsIgnoredWarning, match=f"{kind} statements are ignored"):
                check_inputs(estimator, X[:3], statements)
    rows = sp.csr_array(X)
    if takes.sparse:
        assert sp.issparse(check_inputs(estimator, rows, None)[0])
        assert sp.issparse(check_new_rows(estimator, rows, dtype=np.float64))
    else:
        for check in (
            lambda: check_inputs(estimator, rows, None),
            lambda: check_new_rows(estimator, rows, dtype=np.float64),
        ):
            with pytest.raises(TypeError, match="[Ss]parse"):
                check()


def test_the_warning_about_ignored_statements_names_who_uses_them():
    both = Constraints([(0, 1)], [(0, 2)], [(0, 1, 2), (0, 1, 3)])
    with pytest.warns(ConstraintsIgnoredWarning) as caught:
        COPKMeans(2).fit(X, constraints=both)
    assert str(caught[0].message) == (
        "COPKMeans uses must-link and cannot-link statements only; the 2 relative statements are "
        "ignored. They are used by AutoCluster, ReCon."
    )
    assert caught[0].filename == __file__  # the line of the caller
    with pytest.warns(
        ConstraintsIgnoredWarning, match="the 2 must-link and cannot-link .* by ITML"
    ):
        RelativeMetric().fit(X, constraints=both)
    ReCon(2).fit(X, constraints=both)


@pytest.mark.parametrize(
    ("library", "said"),
    [
        ("dask_expr._collection", "a dask Rows, .*compute"),
        ("ray.data.dataset", "a Ray Rows, .*to_pandas"),
    ],
)
def test_collections_of_an_engine_are_refused_with_the_way_out(library, said):
    # Neither library need be there: a collection is known by where its type comes from.
    collection = type("Rows", (), {"__module__": library})()
    match = rf"X is {said}\(\)\."
    with pytest.raises(TypeError, match=match):
        ReCon(2).fit(collection)
    with pytest.raises(
        TypeError, match="ReCon needs all rows at once; .*COPKMeans.* where the rows are"
    ):
        ReCon(2).fit(X).predict(collection)
    assert as_rows(ReCon(2), X) is X


def test_dates_are_named_with_the_way_out():
    frame = pd.DataFrame({"x": [1.0, 2.0], "when": pd.to_datetime(["2020-01-01", "2021-01-01"])})
    with pytest.raises(TypeError, match="dates or durations in 'when'.*days since"):
        COPKMeans(2).fit(frame)


@pytest.mark.parametrize("name", [name for name in estimators() if estimators()[name]._takes.names])
def test_a_truth_value_is_no_number_of_clusters(name):
    estimator = estimators()[name]()
    clusters = estimator._takes.clusters
    with pytest.raises(ValueError, match=f"{clusters}=True is a truth value|must be"):
        estimator.set_params(**{clusters: True}).fit(X)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", list(estimators()))
def test_values_that_overflow_are_one_error(name):
    with pytest.raises(ValueError, match=r"overflow.*Scale X first"):
        estimators()[name]().fit(X[:20] * 1e300)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_large_values_that_do_not_overflow(make):
    for scale, dtype in ((1e140, np.float64), (1e15, np.float32)):
        rows = make((X * scale).astype(dtype))
        labels = COPKMeans(3, random_state=0).fit(rows).labels_
        assert adjusted_rand_score(labels, COPKMeans(3, random_state=0).fit(X).labels_) > 0.9
    with pytest.raises(ValueError, match="up to 7.9e"):
        COPKMeans(3).fit(make((X * 1e19).astype(np.float32)))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_matrix])
def test_directions_of_rows_as_small_or_large_as_numbers_can_be(scale, as_given):
    X = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 2.0]])
    X[0] *= scale
    unit = unit_rows(as_given(X))
    unit = unit.toarray() if sp.issparse(unit) else unit
    np.testing.assert_allclose(unit, [[0.6, 0.8], [1, 0], [0, 1]])
