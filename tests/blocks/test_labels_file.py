"""Labels in a file: the same ones, mapped, and whole or not there."""

import gc

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from conclust import (
    BoostedConstrainedKMeans,
    ConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    Constraints,
    COPKMeans,
    MiniBatchConstrainedKMeans,
    PCKMeans,
    TrustEnsemble,
    blocks,
    sample_constraints,
)
from conclust.exceptions import InfeasibleConstraintsError

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 60, random_state=0)
MODELS = [
    ConstrainedKMeans(3, n_init=3, random_state=0),
    MiniBatchConstrainedKMeans(3, batch_size=50, random_state=0),
    COPKMeans(3, n_init=3, random_state=0),
    PCKMeans(3, n_init=3, random_state=0),
    BoostedConstrainedKMeans(3, n_estimators=3, random_state=0),
    ConstrainedKMeansEnsemble(3, n_estimators=3, n_jobs=2, random_state=0),
    TrustEnsemble(3, n_estimators=2, n_judges=2, max_iter=3, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_labels_are_those_in_memory(model, tmp_path):
    labels = model.fit(X, constraints=KNOWN).labels_
    rows = blocks.open(X, block_rows=31, labels_file=tmp_path / "labels.npy")
    model.fit(rows, constraints=KNOWN)
    assert_array_equal(model.labels_, labels)
    assert_array_equal(np.load(tmp_path / "labels.npy"), labels)
    model.fit(X)
    gc.collect()
    assert [file.name for file in tmp_path.iterdir()] == ["labels.npy"]


def test_labels_are_mapped_and_new_ones_are_a_new_file(tmp_path):
    path = tmp_path / "labels.npy"
    rows = blocks.open(blocks.open(X), labels_file=path)
    model = ConstrainedKMeans(3, random_state=0).fit(rows, constraints=KNOWN)
    assert isinstance(model.labels_, np.ndarray)
    assert not model.labels_.flags.owndata
    first = model.labels_.copy()
    found = model.predict(rows)
    assert_array_equal(found, model.predict(X))
    assert_array_equal(np.load(path), found)
    assert (found != first).any()  # statements are not applied again
    assert_array_equal(model.labels_, first)
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask():
    import os

    umask = os.umask(0)
    os.umask(umask)
    return umask


def test_known_labels_are_in_the_file_too(tmp_path):
    partly = np.where(np.arange(150) % 10, -1, y)
    rows = blocks.open(X, labels_file=tmp_path / "labels.npy")
    model = COPKMeans(3, random_state=0).fit(rows, partly)
    assert_array_equal(np.load(tmp_path / "labels.npy"), model.labels_)
    assert_array_equal(model.labels_[::10], y[::10])


def test_a_fit_that_fails_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "labels.npy"
    path.write_text("old")
    rows = blocks.open(X, labels_file=path)
    triangle = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)])
    with pytest.raises(InfeasibleConstraintsError):
        COPKMeans(2).fit(rows, constraints=triangle)
    gc.collect()
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_wrong_names_are_refused(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    with pytest.raises(ValueError, match=r"labels_file='labels\.csv': its name must end in \.npy"):
        blocks.open(X, labels_file="labels.csv")
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        blocks.open(X, labels_file=tmp_path / "no" / "labels.npy")
    with pytest.raises(ValueError, match="is the file of the rows"):
        blocks.open(tmp_path / "rows.npy", labels_file=tmp_path / "." / "rows.npy")
