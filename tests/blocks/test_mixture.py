"""The mixture with one shared covariance on rows in blocks: the answers of one array."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from conclust import ConstrainedGaussianMixture, Constraints, blocks, sample_constraints
from conclust.exceptions import InfeasibleConstraintsError

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 60, random_state=0)
NOISY = sample_constraints(y, 100, noise=0.2, random_state=0)
WEIGHT = np.random.RandomState(0).choice([0.0, 0.5, 2.0], len(X))


def tied(**how):
    return ConstrainedGaussianMixture(
        3, covariance_type="tied", random_state=0, **{"tol": 1e-6, **how}
    )


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"constraints": KNOWN},
        {"constraints": KNOWN, "n_init": 3},
        {"constraints": KNOWN, "sample_weight": WEIGHT},
        {"sample_weight": WEIGHT},
        {"constraints": KNOWN, "init": X[[0, 60, 120]]},
        {"constraints": NOISY, "flip_rate": "auto"},
        {"constraints": NOISY, "flip_rate": (0.1, 0.2), "n_init": 2, "sample_weight": WEIGHT},
        {"flip_rate": "auto"},
        {"constraints": KNOWN, "y": np.where(np.arange(150) % 10, -1, y)},
    ],
    ids=lambda how: ", ".join(how) or "plain",
)
def test_answers_are_those_of_one_array(how):
    given = {name: how[name] for name in ("n_init", "init", "flip_rate") if name in how}
    more = {name: value for name, value in how.items() if name not in given}
    whole = tied(**given).fit(X, **more)
    rows = blocks.open(X, block_rows=31)
    model = tied(**given).fit(rows, **more)
    assert_array_equal(model.labels_, whole.labels_)
    assert_allclose(model.means_, whole.means_)
    assert_allclose(model.covariances_, whole.covariances_)
    assert_allclose(model.weights_, whole.weights_)
    assert model.lower_bound_ == pytest.approx(whole.lower_bound_)
    assert model.n_iter_ == whole.n_iter_
    assert_array_equal(model.report_.kept, whole.report_.kept)
    assert model.flip_rate_ == pytest.approx(whole.flip_rate_)
    assert_allclose(model.doubt_, whole.doubt_, atol=1e-6)
    assert not hasattr(model, "responsibilities_")
    assert_array_equal(model.predict(rows), whole.predict(X))
    assert_allclose(model.predict_proba(rows), whole.predict_proba(X), atol=1e-8)
    assert model.score(rows) == pytest.approx(whole.score(X))


def test_float32_and_labels_in_a_file(tmp_path):
    rows = blocks.open(X.astype(np.float32), block_rows=31, labels_file=tmp_path / "labels.npy")
    model = tied(tol=1e-3).fit(rows, constraints=KNOWN)
    assert_array_equal(model.labels_, tied(tol=1e-3).fit(X, constraints=KNOWN).labels_)
    assert_array_equal(np.load(tmp_path / "labels.npy"), model.labels_)
    assert_array_equal(model.predict(rows), np.load(tmp_path / "labels.npy"))
    assert hasattr(model.fit(X), "responsibilities_")
    assert not hasattr(model.fit(rows), "responsibilities_")


@pytest.mark.parametrize("how", [{"covariance_type": "full"}, {"init": "random"}], ids=str)
def test_what_needs_all_rows_says_so(how):
    name, value = next(iter(how.items()))
    model = tied().set_params(**how)
    with pytest.raises(ValueError, match=rf"{name}='{value}' needs all rows.*X\.to_numpy\(\)"):
        model.fit(blocks.open(X))


def test_what_cannot_be_kept_is_named():
    triangle = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2), (3, 0), (3, 1), (3, 2)])
    with pytest.raises(InfeasibleConstraintsError, match="n_components=3"):
        tied().fit(blocks.open(X), constraints=triangle)
