"""The door: what it mends and what it refuses."""

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_iris

from conclust import COPKMeans, PCKMeans
from conclust._validation import with_small_indices

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
