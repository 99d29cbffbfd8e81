"""Rules against the stored files, and the wedges against their description."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import rand_score

from conclust.datasets import load, make_balance_scale, make_monks, make_wedges


def test_balance_scale_equals_the_stored_file(data_folder):
    # Check values and order.
    X, y = make_balance_scale()
    stored = load("balance")
    assert stored.source.startswith("files")
    np.testing.assert_array_equal(X, stored.data)
    np.testing.assert_array_equal(y, stored.target)


@pytest.mark.parametrize("problem", [1, 2, 3])
def test_monks_equal_the_stored_files(data_folder, problem):
    # Check values and order.
    X, y = make_monks(problem)
    stored = load(f"monks{problem}_full")
    assert stored.source.startswith("files")
    np.testing.assert_array_equal(X, stored.data)
    np.testing.assert_array_equal(y, stored.target)


@pytest.mark.parametrize(("problem", "n_noisy"), [(1, 0), (2, 0), (3, 6)])
def test_monks_agree_with_the_training_files(data_folder, problem, n_noisy):
    # Check the concepts against UCI's own labels: only the third problem has noise, 6 rows.
    X, y = make_monks(problem)
    concept = {tuple(row): label for row, label in zip(X, y, strict=True)}
    train = load(f"monks{problem}_train")
    said = [concept[tuple(row)] for row in train.data]
    assert np.sum(said != train.target) == n_noisy


@pytest.mark.parametrize(
    ("row", "label"), [((1, 1, 1, 1), 0), ((5, 1, 2, 2), 1), ((1, 1, 1, 2), 2), ((2, 3, 3, 2), 0)]
)
def test_balance_scale_by_hand(row, label):
    # Check a few scales one can compute in the head.
    X, y = make_balance_scale()
    assert y[(row == X).all(axis=1)] == [label]


@pytest.mark.parametrize(
    ("problem", "row", "label"),
    [
        (1, (1, 1, 1, 1, 3, 1), 1),
        (1, (1, 2, 1, 1, 3, 1), 0),
        (2, (1, 1, 2, 2, 2, 2), 1),
        (2, (1, 1, 1, 2, 2, 2), 0),
        (3, (1, 3, 1, 1, 3, 1), 1),
        (3, (1, 3, 1, 2, 3, 1), 0),
        (3, (1, 2, 1, 1, 4, 1), 0),
    ],
)
def test_monks_by_hand(problem, row, label):
    # Check a row on each side of each concept.
    X, y = make_monks(problem)
    assert y[(row == X).all(axis=1)] == [label]


def test_first_rows_are_in_ucis_order():
    # Check that the last attribute runs fastest.
    X, _ = make_monks(1)
    np.testing.assert_array_equal(X[:3, 4:], [[1, 1], [1, 2], [2, 1]])


@pytest.mark.parametrize("problem", [0, 4, "1", None])
def test_monks_refuses_other_problems(problem):
    # Check that the message names the three.
    with pytest.raises(ValueError, match="1, 2 or 3"):
        make_monks(problem)


def test_monks_refuses_what_no_rule_gives():
    # Check that the training file is pointed at.
    with pytest.raises(ValueError, match="load\\('monks2_train'\\)"):
        make_monks(2, subset="train")


def test_wedges_shape_and_sizes():
    # Check sizes, types, and that the small group lies above the large one.
    X, y = make_wedges((30, 50), random_state=0)
    assert X.shape == (80, 2)
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert np.bincount(y).tolist() == [30, 50]
    assert X[y == 0, 1].min() > X[y == 1, 1].max()
    assert make_wedges(random_state=0)[0].shape == (260, 2)


def test_wedges_are_reproducible():
    # Check that equal seeds give equal points and others do not, without touching global state.
    before = np.random.get_state()[1].copy()
    first, second, other = (make_wedges(random_state=seed)[0] for seed in (7, 7, 8))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)
    np.testing.assert_array_equal(before, np.random.get_state()[1])


def test_wedges_are_wedges():
    # Check that each group is longer than broad and narrows towards its tip.
    X, y = make_wedges((2000, 2000), random_state=0)
    for label, tip_is_left in [(0, False), (1, True)]:
        group = X[y == label]
        assert np.ptp(group[:, 0]) > 4 * np.ptp(group[:, 1])
        left = group[:, 0] < np.median(group[:, 0])
        narrow, broad = (left, ~left) if tip_is_left else (~left, left)
        assert np.std(group[narrow, 1]) < 0.8 * np.std(group[broad, 1])


def test_kmeans_cuts_across_the_wedges():
    # Check what the example is for: compact clusters are not the true ones.
    X, y = make_wedges(random_state=1)
    labels = KMeans(2, n_init=3, random_state=0).fit_predict(X)
    assert rand_score(y, labels) < 0.7


@pytest.mark.parametrize("n_samples", [100, (0, 5), (5, -1), (1, 2, 3), "ab", None])
def test_wedges_refuse_other_sizes(n_samples):
    # Check that the message shows the way out.
    with pytest.raises(ValueError, match=r"such as \(60, 200\)"):
        make_wedges(n_samples)
