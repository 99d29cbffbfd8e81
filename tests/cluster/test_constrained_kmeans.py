import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, make_blobs

from conclust import ConstrainedKMeans, Constraints, sample_constraints
from conclust.exceptions import ConstraintsIgnoredWarning, DegenerateClusteringWarning

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("data", ["iris", "digits"])
def test_without_constraints_it_is_kmeans(data, make, dtype):
    # Check labels, inertia, centres and iterations against scikit-learn from the same start.
    rows, k = (X, 3) if data == "iris" else (load_digits().data[:600], 10)
    rows = make(rows.astype(dtype))
    init = np.asarray(
        rows[:: rows.shape[0] // k][:k].todense()
        if sp.issparse(rows)
        else rows[:: len(rows) // k][:k]
    )
    weight = np.random.RandomState(0).uniform(0.5, 2, rows.shape[0])
    ours = ConstrainedKMeans(k, init=init, n_init=1).fit(rows, sample_weight=weight)
    theirs = KMeans(k, init=init, n_init=1).fit(rows, sample_weight=weight)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-5)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=2e-4, atol=1e-4)
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    np.testing.assert_allclose(ours.transform(rows), theirs.transform(rows), rtol=1e-3, atol=2e-3)
    np.testing.assert_allclose(ours.score(rows), theirs.score(rows), rtol=1e-4)


def test_priority_decides_which_of_two_clashing_statements_holds():
    # 0 and 1 are near each other; one statement joins them, the other parts them.
    rows = np.array([[0.0], [0.1], [5.0], [5.1]])
    for must_weight, kept in ((2.0, [True, False]), (0.5, [False, True])):
        clash = Constraints([(0, 1)], [(0, 1)], must_link_weight=[must_weight])
        model = ConstrainedKMeans(2, init=rows[[0, 2]]).fit(rows, constraints=clash)
        assert model.report_.kept.tolist() == kept
    clash = Constraints([(0, 1)], [(0, 1)])
    model = ConstrainedKMeans(2, init=rows[[0, 2]]).fit(rows, constraints=clash, priority=[1, 9])
    assert model.report_.kept.tolist() == [False, True]
    first = ConstrainedKMeans(2, init=rows[[0, 2]]).fit(rows, constraints=clash)
    assert first.report_.kept.tolist() == [True, False]  # a tie: the order given


def test_interleaved_order_is_the_order_given():
    # Check that ties follow the order of the file, not must-links first.
    frame = pd.DataFrame({"a": [0, 0], "b": [1, 1], "type": ["cl", "ml"]})
    rows = np.array([[0.0], [0.1], [5.0], [5.1]])
    model = ConstrainedKMeans(2, init=rows[[0, 2]]).fit(
        rows, constraints=Constraints.from_frame(frame)
    )
    assert model.report_.kept.tolist() == [True, False]


@pytest.mark.parametrize("priority", [[1], [[1, 2]], [1, np.nan]])
def test_priority_is_checked(priority):
    with pytest.raises(ValueError, match="priority"):
        ConstrainedKMeans(2).fit(X, constraints=Constraints([(0, 1), (2, 3)]), priority=priority)


def test_weights_equal_repetition():
    # Check with a given start that weight 2 is the same as two rows.
    init = X[[0, 60, 120]]
    weight = np.where(np.arange(150) % 3 == 0, 2.0, 1.0)
    weighted = ConstrainedKMeans(3, init=init).fit(X, sample_weight=weight)
    repeated = ConstrainedKMeans(3, init=init).fit(np.repeat(X, weight.astype(int), axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_)
    np.testing.assert_allclose(weighted.inertia_, repeated.inertia_)


def test_more_starts_break_no_more_weight():
    known = sample_constraints(y, 200, random_state=0)
    broken = [
        ConstrainedKMeans(3, n_init=n, random_state=0).fit(X, constraints=known).report_.n_violated
        for n in (1, 5, 20)
    ]
    assert broken == sorted(broken, reverse=True)


def test_random_order_draws_a_new_order_each_iteration():
    known = sample_constraints(y, 300, random_state=1)
    settings = {"init": X[[0, 60, 120]], "max_iter": 20}
    given = ConstrainedKMeans(3, **settings).fit(X, constraints=known)
    random = ConstrainedKMeans(3, order="random", random_state=0, **settings).fit(
        X, constraints=known
    )
    other = ConstrainedKMeans(3, order="random", random_state=1, **settings).fit(
        X, constraints=known
    )
    assert (random.labels_ != other.labels_).any()
    assert len(random.history_) == random.n_iter_
    assert given.n_iter_ >= 1


def test_random_order_stops_when_only_linked_rows_move():
    # Contradictory pairs never come to rest; the rest of the rows does.
    linked = np.arange(40, 60)
    pairs = np.stack([linked[:-1], linked[1:]], axis=1)
    known = Constraints(must_link=pairs, cannot_link=pairs[::2])
    model = ConstrainedKMeans(3, order="random", random_state=0).fit(X, constraints=known)
    assert 2 <= model.n_iter_ < 300
    *before, last = model.history_
    assert last.n_changed <= len(linked)
    assert last.inertia >= min(one.inertia for one in before) * (1 - 1e-3)


def test_frames_names_and_init_of_many_kinds():
    frame = pd.DataFrame(X, columns=list("wxyz"))
    model = ConstrainedKMeans(3, random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == list("wxyz")
    assert model.get_feature_names_out().tolist() == [f"constrainedkmeans{i}" for i in range(3)]
    model.set_output(transform="pandas")
    assert list(model.transform(frame).columns) == [f"constrainedkmeans{i}" for i in range(3)]
    for init in ("random", X[[0, 60, 120]].tolist(), lambda X, n, random_state: X[:n]):
        assert ConstrainedKMeans(3, init=init, random_state=0).fit(X).labels_.shape == (150,)
    with pytest.raises(ValueError, match=r"init has shape \(2, 4\), but n_clusters=3"):
        ConstrainedKMeans(3, init=X[:2]).fit(X)


@pytest.mark.parametrize(
    ("data", "parameters", "message"),
    [
        (X[:2], {"n_clusters": 3}, "n_samples=2 should be >= n_clusters=3"),
        (np.full((4, 2), np.nan), {"n_clusters": 2}, "NaN"),
        (np.full((4, 2), np.inf), {"n_clusters": 2}, "infinity"),
        (np.empty((0, 3)), {"n_clusters": 2}, "0 sample"),
        (X, {"n_clusters": 0}, "n_clusters"),
        (X, {"order": "sideways"}, "order"),
        (X, {"tol": -1}, "tol"),
        (X, {"init": "best"}, "init"),
    ],
)
def test_bad_input(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        ConstrainedKMeans(**parameters).fit(data)


def test_one_row_one_cluster_and_more_clusters_than_distinct_rows():
    assert ConstrainedKMeans(1).fit([[1.0, 2.0]]).labels_.tolist() == [0]
    known = Constraints([(0, 1)], [(0, 2)])
    one = ConstrainedKMeans(1).fit(X, constraints=known)
    assert (one.labels_ == 0).all()
    with pytest.warns(DegenerateClusteringWarning, match="Only 2 of n_clusters=3"):
        same = ConstrainedKMeans(3, init=np.ones((3, 2))).fit(np.ones((5, 2)), constraints=known)
    assert same.report_.share == 1.0


def test_relative_statements_are_announced_as_ignored():
    with pytest.warns(ConstraintsIgnoredWarning, match="1 relative statements are ignored"):
        ConstrainedKMeans(2).fit(X, constraints=Constraints(relative=[(0, 1, 2)]))


def test_verbose_draws_on_stderr(capsys):
    ConstrainedKMeans(2, n_init=2, verbose=1, random_state=0).fit(X)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "ConstrainedKMeans" in captured.err
    assert "inertia" in captured.err


def test_far_from_the_origin():
    # Check that the distances do not drown in ‖x‖² far away: dense data are centred.
    rows, _ = make_blobs(200, centers=4, random_state=0)
    near = ConstrainedKMeans(4, init=rows[:4]).fit(rows)
    far = ConstrainedKMeans(4, init=rows[:4] + 1e7).fit(rows + 1e7)
    np.testing.assert_array_equal(near.labels_, far.labels_)
    np.testing.assert_allclose(far.inertia_, near.inertia_, rtol=1e-6)
