"""A fit that is stopped anywhere and gone on with ends where it would have ended."""

import numpy as np
import pytest

import conclust
from conclust._lloyd.bookmark import remembering, set_state, state_of


class StoppedError(Exception):
    pass


class Notes:
    """Arrays in a dict; the fit is stopped when so many have been left."""

    def __init__(self, n_left=None):
        self.kept, self.n_left = {}, n_left

    def found(self, name):
        return self.kept.get(name)

    def leave(self, name, arrays, *, now):
        self.kept[name] = {key: np.array(value) for key, value in arrays.items()}
        if self.n_left is not None:
            self.n_left -= 1
            if self.n_left < 0:
                raise StoppedError


@pytest.fixture(scope="module")
def case():
    generator = np.random.RandomState(0)
    truth = generator.randint(4, size=400)
    X = 2.0 * np.eye(4)[truth] + generator.normal(size=(400, 4))
    return X, conclust.sample_constraints(truth, 60, noise=0.2, random_state=1)


@pytest.mark.parametrize("order", ["given", "random"])
@pytest.mark.parametrize("told", [True, False])
def test_stopped_after_any_iteration(case, order, told):
    X, known = case
    X = conclust.blocks.open(X, block_rows=64)
    known = known if told else None
    model = conclust.ConstrainedKMeans(5, n_init=3, order=order, max_iter=25, random_state=0)
    with remembering(whole := Notes(10**6)):
        expected = model.fit(X, constraints=known)
        labels, history = expected.labels_, [r[:-1] for r in expected.history_]
    n_left = 10**6 - whole.n_left
    plain = conclust.ConstrainedKMeans(**model.get_params()).fit(X, constraints=known)
    assert np.array_equal(plain.labels_, labels)
    for stop in range(0, n_left, 3):
        notes = Notes(stop)
        with remembering(notes), pytest.raises(StoppedError):
            conclust.ConstrainedKMeans(**model.get_params()).fit(X, constraints=known)
        notes.n_left = None
        with remembering(notes):
            again = conclust.ConstrainedKMeans(**model.get_params()).fit(X, constraints=known)
        assert np.array_equal(again.labels_, labels)
        assert np.array_equal(again.cluster_centers_, plain.cluster_centers_)
        assert [r[:-1] for r in again.history_] == history
        assert again.inertia_ == plain.inertia_
        assert again.converged_ == plain.converged_


def test_generators_go_on_where_they_were():
    generator = np.random.RandomState(3)
    generator.normal(size=7)  # an odd number leaves one in store
    state, expected = state_of(generator), generator.normal(size=5)
    other = np.random.RandomState(0)
    set_state(other, state)
    assert np.array_equal(other.normal(size=5), expected)
