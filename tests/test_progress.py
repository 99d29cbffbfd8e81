"""The records of a fit: kept, timed, handed on, documented, and drawn by every report."""

import re
import time
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_iris

from conclust import Constraints, sample_constraints
from conclust._progress import Rounds, curve_of, progress
from conclust.reporting._facts import gather
from tests.test_common import CASES, LEARNERS

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 40, random_state=0) + sample_constraints(
    y, n_relative=40, random_state=0
)


class Timed(NamedTuple):
    loss: float
    n_changed: int
    seconds: float


class Untimed(NamedTuple):
    loss: float


def test_a_round_is_timed_kept_and_handed_on():
    seen: list[Timed] = []
    rounds = Rounds(Timed, seen.append)
    time.sleep(0.02)
    first = rounds.note(3.0, 7)
    second = rounds.note(2.0, 0)
    assert rounds.history == seen == [first, second]
    assert first[:2] == (3.0, 7)
    assert first.seconds >= 0.02 > second.seconds > 0


def test_the_callback_s_time_is_not_the_round_s():
    rounds = Rounds(Timed, lambda record: time.sleep(0.02))
    rounds.note(1.0, 0)
    assert rounds.note(1.0, 0).seconds < 0.02


def test_rounds_run_in_one_go_share_the_time():
    rounds = Rounds(Timed)
    time.sleep(0.02)
    rounds.note_all([(3.0, 1), (2.0, 1)])
    assert [r.loss for r in rounds.history] == [3.0, 2.0]
    assert rounds.history[0].seconds == rounds.history[1].seconds >= 0.01
    rounds.note_all([])
    assert len(rounds.history) == 2


def test_records_without_time_and_rounds_to_go_on_from():
    before = [Untimed(5.0)]
    rounds = Rounds(Untimed, history=before)
    rounds.note(4.0)
    assert rounds.history == [Untimed(5.0), Untimed(4.0)]
    assert before == [Untimed(5.0)]


def test_progress_can_advance_without_news(capsys):
    with progress(1, "Test", 2) as show:
        show(Untimed(0.125))
        show(advance=1)
    # One plain line where there is no terminal.
    assert re.fullmatch(r"Test: 1/2, loss 0\.125, \d+\.\d s\n", capsys.readouterr().err)
    with progress(0, "Test", 2) as show:
        show(advance=1)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("case", CASES + LEARNERS, ids=str)
@pytest.mark.filterwarnings("ignore::conclust.exceptions.ConstraintsIgnoredWarning")
def test_every_history_has_a_curve_that_a_report_draws(case):
    # Check the records of the fit itself, then the report's curve of the last one repeated: not
    # every fit has two rounds.
    fitted = case.fresh(n_clusters=3).fit(X, constraints=KNOWN)
    assert isinstance(fitted.converged_, bool)
    last = fitted.history_[-1]
    assert isinstance(getattr(last, curve_of(last)), float)
    labels = getattr(fitted, "labels_", y)
    (curve,) = gather(X, labels, Constraints(), history=[last, last]).curves
    assert curve.y_label == curve_of(last)
    assert np.isfinite(curve.y).all()


@pytest.mark.parametrize("case", CASES + LEARNERS, ids=str)
def test_how_a_fit_went_is_documented(case):
    attributes = type(case.estimator).__doc__.split("Attributes\n")[1].split("See Also\n")[0]
    names = ["converged_ : bool", "history_ : list of", "n_iter_ : int"]
    if case in CASES:
        names.append("report_ : ConstraintReport")
    for name in names:
        assert name in attributes, name
