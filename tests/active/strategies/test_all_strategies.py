"""What every strategy owes: open, distinct questions, whatever the rows and the answers."""

import numpy as np
import pytest
from sklearn.base import clone

from conclust.active import STRATEGIES, Labels, Session, ask
from tests.active.strategies.conftest import tell, tell_truly

NAMES = sorted(STRATEGIES)
# Questions about more than two rows have tests of their own.
PAIRWISE = [name for name in NAMES if name not in ("relative", "piles")]


def proposals_of(name, state, n=1, seed=0):
    return STRATEGIES[name]().propose(state, n, np.random.RandomState(seed))


@pytest.mark.parametrize("name", NAMES)
def test_parameters_only(name):
    # Check that a strategy can be cloned, and has nothing but parameters.
    strategy = STRATEGIES[name]()
    assert vars(clone(strategy)) == strategy.get_params()


@pytest.mark.parametrize("name", NAMES)
def test_one_row_has_no_questions(name, make_state):
    assert proposals_of(name, make_state([[0.0, 1.0]]), 3) == []


@pytest.mark.parametrize("n_clusters", [None, 1, 2])
@pytest.mark.parametrize("name", PAIRWISE)
def test_two_rows_have_one_question(name, n_clusters, make_state):
    state = make_state([[0.0], [1.0]], n_clusters)
    (proposal,) = proposals_of(name, state, 5)
    assert set(proposal.samples) == {0, 1}
    tell(state, 0, 1, 0)
    assert proposals_of(name, state, 5) == []


@pytest.mark.parametrize("n_clusters", [None, 1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_equal_rows_are_asked_about_too(name, n_clusters, make_state):
    state = make_state(np.zeros((6, 2)), n_clusters)
    found = proposals_of(name, state, 4)
    assert found
    assert len({frozenset(proposal.samples) for proposal in found}) == len(found)


@pytest.mark.parametrize("name", PAIRWISE)
def test_nothing_is_left_when_everything_follows(name, make_state):
    X, y = np.arange(8.0)[:, np.newaxis], np.repeat([0, 1], 4)
    together = [(i, i + 1) for i in range(7) if y[i] == y[i + 1]]
    assert proposals_of(name, make_state(X, 2, together, [(0, 7)]), 3) == []
    assert proposals_of(name, make_state(X, None, together, [(0, 7)]), 3) == []


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("n_clusters", [None, 3])
@pytest.mark.parametrize("name", PAIRWISE)
def test_questions_are_open_and_distinct_until_all_is_known(
    name, n_clusters, batch, blobs, make_state
):
    # Check that true answers, one in five "unsure", come to an end, without a question twice.
    X, y = blobs
    rows = np.r_[0:4, 10:14, 20:24]
    X, y = X[rows], y[rows]
    state = make_state(X, n_clusters)
    for turn in range(66):
        found = proposals_of(name, state, batch, seed=turn)
        pairs = [frozenset(proposal.samples) for proposal in found]
        assert len(set(pairs)) == len(pairs) <= batch
        assert all(bool(state.is_open(*proposal.samples)) for proposal in found)
        if not found:
            break
        if turn % 5 == 4:
            tell(state, *found[0].samples, 0)
            found = found[1:]
        tell_truly(state, [p for p in found if bool(state.is_open(*p.samples))], y)
    a, b = np.triu_indices(len(X), k=1)
    assert not state.is_open(a, b).any()


@pytest.mark.parametrize("name", PAIRWISE)
def test_questions_in_the_air_are_not_asked_again(name, blobs, make_state):
    X, _ = blobs
    state = make_state(X, 3, cannot=[(0, 10), (0, 20), (10, 20)])
    first = proposals_of(name, state, 3)
    state.held = {frozenset(proposal.samples) for proposal in first}
    second = proposals_of(name, state, 3)
    assert second
    assert not state.held & {frozenset(proposal.samples) for proposal in second}


@pytest.mark.parametrize("name", PAIRWISE)
def test_random_answers_do_not_stop_it(name, blobs):
    # Check that answers that contradict each other leave every question open and new.
    X, _ = blobs
    random_state = np.random.RandomState(0)

    def guess(questions):
        return [random_state.choice(["must-link", "cannot-link", "unsure"]) for _ in questions]

    session = ask(X, guess, 40, n_clusters=3, strategy=name, batch=2, random_state=0)
    asked = {frozenset(samples) for samples in session.history_["samples"]}
    assert len(asked) == len(session)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_session_twice(name, blobs):
    X, y = blobs
    first, second = (
        ask(X, Labels(y), 12, n_clusters=3, strategy=name, random_state=1) for _ in range(2)
    )
    assert list(first.history_["samples"]) == list(second.history_["samples"])


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_taken_back_is_forgotten(name, blobs):
    # Check that the next question after an answer and its undoing is the one asked before.
    X, y = blobs
    n_told = 2 if name == "piles" else 6  # which may be all there is to tell
    session = ask(X, Labels(y), n_told, n_clusters=3, strategy=name, random_state=1)
    (before,) = Session(X, 3, strategy=name, constraints=session.constraints_, random_state=0).ask()
    again = Session(X, 3, strategy=name, constraints=session.constraints_, random_state=0)
    (question,) = again.ask()
    again.tell(question, "unsure")
    again.undo()
    assert again.ask()[0].samples == before.samples
