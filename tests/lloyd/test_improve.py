"""What follows the starts: swaps of centres, and a result that is never worse."""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_blobs

from conclust import Constraints, COPKMeans, PCKMeans, sample_constraints
from conclust._lloyd import improve
from conclust._lloyd.best import best_of_starts
from conclust._lloyd.improve import Improver, best_improved, swapped
from conclust._lloyd.rows import open_rows
from tests.oracles.exact_moves import least_of_all

X, y = load_iris(return_X_y=True)


class Run(NamedTuple):
    value: float
    history: list
    converged: bool = True


def key(run):
    return (run.value,)


def test_without_an_improver_it_is_the_best_of_starts():
    runs = [Run(value, [0] * 5) for value in (3.0, 1.0, 2.0)]

    def start(number, _):
        return runs[number]

    assert best_improved(start, 3, key, None) is best_of_starts(start, 3, key) is runs[1]


def test_the_best_distinct_runs_are_improved_and_the_best_is_kept():
    asked, restarted = [], []
    runs = [Run(value, [0] * 20) for value in (5.0, 1.0, 1.0, 2.0, 9.0)]

    def further(run):
        asked.append(run.value)
        return run._replace(value=0.5) if run.value == 2.0 else run

    def restart(run):
        restarted.append(run.value)
        return Run(0.4 if len(restarted) == 1 else 7.0, [0] * 10)

    best = best_improved(lambda number, _: runs[number], 5, key, Improver(further, restart))
    assert asked == [1.0, 2.0, 5.0]
    assert restarted[:2] == [0.5, 0.4]
    assert best.value == 0.4
    # Check that the iterations spent end it.
    assert len(restarted) <= improve.SHARE * 100 / 10 + 1


def test_a_start_that_was_cut_off_stays_as_it_is():
    run = Run(1.0, [0], converged=False)
    assert best_improved(lambda *_: run, 1, key, Improver(None, None)) is run


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_a_centre_goes_where_it_is_missing(container):
    # Check with two centres in one of three blobs and one between the other two.
    rows, blob = make_blobs([40, 40, 40], centers=[[0, 0], [9, 0], [9, 9]], random_state=0)
    centers = np.array([rows[blob == 0][0], rows[blob == 0][1], [9.0, 4.5]])
    with open_rows(container(rows), 3) as near:
        near.sweep(centers)
        new = swapped(near, centers, np.ones(len(rows)), np.random.RandomState(0))
    assert (new != centers).any(axis=1).sum() == 1
    assert_allclose(new[2], centers[2])
    put = new[(new != centers).any(axis=1)][0]
    assert put[0] > 5


@pytest.mark.parametrize("sizes", [{}, {"size_min": 28, "size_max": 32}], ids=["any", "sized"])
@pytest.mark.parametrize("model", [COPKMeans, PCKMeans])
def test_what_follows_the_starts_is_never_worse(model, sizes, monkeypatch):
    value = "inertia_" if model is COPKMeans else "objective_"
    given = sizes | ({} if model is COPKMeans else {"penalty": 1.0})
    for seed in range(5):
        known = sample_constraints(y, 40, random_state=seed)
        fitted = model(5, random_state=seed, n_init=3, **given).fit(X, constraints=known)
        with monkeypatch.context() as patch:
            patch.setattr(improve, "N_IMPROVED", 0)
            patch.setattr(improve, "SHARE", 0.0)
            before = model(5, random_state=seed, n_init=3, **given).fit(X, constraints=known)
        assert getattr(fitted, value) <= getattr(before, value) * (1 + 1e-9)
        assert fitted.n_iter_ == len(fitted.history_)
        if sizes:
            assert set(np.bincount(fitted.labels_)) <= set(range(28, 33))
        values = [getattr(each, value[:-1]) for each in fitted.history_]
        assert (np.diff(values) <= 1e-9 * values[0]).all()


@pytest.mark.parametrize("model", [COPKMeans, PCKMeans])
def test_full_clusters_swap_what_a_move_alone_cannot_better(model, monkeypatch):
    # Check with two clusters of two: for given means the assignment is the best, yet 10.5 becomes
    # 8.5 once the means move along.
    rows = np.array([[1.0, 3.0], [5.0, 3.0], [3.0, 0.0], [1.0, 1.0]])
    given = {"init": [[3.0, 3.0], [2.0, 0.5]], "n_init": 1, "size_min": 2, "size_max": 2}
    known = Constraints(cannot_link=[(0, 2)])
    fitted = model(2, **given).fit(rows, constraints=known)
    assert fitted.inertia_ == pytest.approx(8.5)
    assert fitted.labels_[0] == fitted.labels_[3] != fitted.labels_[1] == fitted.labels_[2]
    monkeypatch.setattr(improve, "N_IMPROVED", 0)
    assert model(2, **given).fit(rows, constraints=known).inertia_ == pytest.approx(10.5)


@pytest.mark.parametrize("hard", [True, False])
def test_the_optimum_of_few_rows_is_found(hard):
    # Check against every labelling of eight rows.
    found = 0
    for seed in range(12):
        random = np.random.RandomState(seed)
        rows, classes = random.normal(size=(8, 2)), random.randint(3, size=8)
        known = sample_constraints(classes, 6, random_state=seed)
        pairs, sign, *_ = known.pairs()
        price = np.full(len(pairs), 1e6 if hard else 0.7)
        model = COPKMeans(3) if hard else PCKMeans(3, penalty=0.7)
        fitted = model.set_params(random_state=0).fit(rows, constraints=known)
        value = fitted.inertia_ if hard else fitted.objective_
        least = least_of_all(rows, np.ones(8), 3, pairs, sign, price)
        assert value >= least - 1e-9
        found += value <= least + 1e-9
    assert found >= 11
