"""A session on disk."""

import json
import shutil
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from conclust import Constraints
from conclust.active import Labels, Session
from conclust.exceptions import SessionError
from tests.active.test_session import X, Y, assert_same, begun, tell_truth

PLAIN = KMeans(3, n_init=1)  # takes any statement, and is quick


def loaded(path, rows=X, **more):
    return Session.load(path, rows, **{"estimator": PLAIN} | more)


STEPS = st.sampled_from(["must-link", "cannot-link", "unsure", "skip", "undo", "triple", "piles"])


@given(st.lists(STEPS, max_size=15), st.integers(0, 50))
@settings(max_examples=30)
def test_what_is_loaded_is_what_was_saved(tmp_path_factory, steps, seed):
    # Check a session kept on the way, one saved at the end, and one loaded halfway.
    path = tmp_path_factory.mktemp("session") / "answers.jsonl"
    given = Constraints([(0, 1)], [(0, 5)], [(8, 9, 0)], must_link_weight=[2.5])
    session = begun(random_state=seed, path=path, constraints=given, estimator=PLAIN)
    for step in steps:
        if step == "undo":
            if len(session):
                session.undo()
        elif step in ("triple", "piles"):
            session.tell(session.pose((3, 5, 9), step), 9 if step == "triple" else [[3], [5, 9]])
        else:
            for question in session.ask():
                session.tell(question, step, weight=0.7, by="ann")
        if len(session) == 3:
            session = loaded(path)
    kept = path.with_name("kept.jsonl")
    shutil.copy(path, kept)
    session.save(path.with_name("saved.jsonl"))
    for other in (loaded(kept), loaded(path.with_name("saved.jsonl"))):
        assert other.history_.equals(session.history_)
        assert other.constraints_.to_frame().equals(session.constraints_.to_frame())
        session.save(path)
        assert_same(other, loaded(path))


def test_answers_are_added_to_the_file_that_was_saved(tmp_path):
    session = begun()
    tell_truth(session, session.ask(2))
    session.save(tmp_path / "a.jsonl")
    before = (tmp_path / "a.jsonl").read_bytes()
    tell_truth(session, session.ask(2))
    after = (tmp_path / "a.jsonl").read_bytes()
    assert after.startswith(before)
    events = [json.loads(line)["event"] for line in after.splitlines()]
    assert events == ["session", "reserved"] + ["told"] * 4


def test_a_question_from_before_a_restart_is_not_taken_for_another(tmp_path):
    # Check by number, as a page would tell: it knows of no restart.
    session = begun(path=tmp_path / "a.jsonl")
    held = session.ask(3)[2].id
    again = loaded(tmp_path / "a.jsonl")
    again.ask(10)
    with pytest.raises(SessionError, match="was not asked in this session"):
        again.tell(held, "must-link")


def test_two_sessions_do_not_write_into_one_file(tmp_path):
    first = begun(path=tmp_path / "a.jsonl")
    questions = first.ask(2)
    second = loaded(tmp_path / "a.jsonl")
    tell_truth(second, second.ask(1))
    with pytest.raises(SessionError, match="was changed by somebody else; nothing was told"):
        first.tell(questions[0], "must-link")
    assert len(first) == 0
    assert len(loaded(tmp_path / "a.jsonl")) == 1


def test_names_and_unsure_pairs_known_beforehand_survive(tmp_path):
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(12)])
    links = pd.DataFrame({"a": ["r0", "r3"], "b": ["r1", "r4"], "type": ["ml", "unsure"]})
    session = Session(
        frame,
        3,
        strategy="random",
        constraints=Constraints.from_frame(links, ids=frame.index),
        path=tmp_path / "a.jsonl",
    )
    asked = session.ask()[0].names
    again = Session.load(tmp_path / "a.jsonl", frame)
    assert again._skipped == session._skipped == [(3, 4)]
    assert again.ask()[0].names == asked


KILLED = """
import sys
import numpy as np
from conclust.active import Session

session = Session(np.arange(200.0).reshape(100, 2), 2, strategy="random", random_state=0, path=sys.argv[1])
while True:
    for question in session.ask():
        number = session.tell(question, "cannot-link").number
        print(number, flush=True)
"""


def test_kill_9_loses_no_answer(tmp_path):
    # Check with a real process, killed while it tells one answer after the other.
    path = tmp_path / "a.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
    )
    told = [int(process.stdout.readline()) for _ in range(40)][-1]
    process.send_signal(signal.SIGKILL)
    told = max([told, *map(int, process.stdout.read().split())])
    process.wait()
    session = Session.load(path, np.arange(200.0).reshape(100, 2))
    assert told + 1 <= len(session) <= told + 2  # one more may be on the disk and not yet printed
    (question,) = session.ask()
    session.tell(question, "must-link")
    assert len(Session.load(path, np.arange(200.0).reshape(100, 2))) == len(session)


def test_a_line_cut_off_does_not_count(tmp_path):
    path = tmp_path / "a.jsonl"
    session = begun(path=path)
    tell_truth(session, session.ask(3))
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    again = loaded(path)
    assert len(again) == 2
    tell_truth(again, again.ask(1))
    assert len(loaded(path)) == 3


def test_what_cannot_be_written_is_not_told(tmp_path):
    path = tmp_path / "a.jsonl"
    session = begun(path=path)
    tell_truth(session, session.ask(2))
    path.unlink()
    (question,) = session.ask()
    with pytest.raises(SessionError, match="is gone; nothing was told"):
        session.tell(question, "must-link")
    with pytest.raises(SessionError, match="is gone"):
        session.undo()
    assert len(session) == 2
    session.save(path)
    session.tell(question, "must-link")
    assert len(loaded(path)) == 3


def test_a_new_session_does_not_overwrite_an_old_one(tmp_path):
    begun(path=tmp_path / "a.jsonl")
    with pytest.raises(SessionError, match="is there already; Session.load"):
        begun(path=tmp_path / "a.jsonl")


def test_other_rows(tmp_path):
    begun(path=tmp_path / "a.jsonl")
    with pytest.raises(SessionError, match="is about 12 rows, but X has 11"):
        loaded(tmp_path / "a.jsonl", X[1:])
    with pytest.raises(SessionError, match="other rows than X, or the same in another order"):
        loaded(tmp_path / "a.jsonl", X[::-1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no session"),
        ("a,b,type\n", "line 1 is not a line of a session"),
        ("[1]\n", "line 1 is not a line"),
        ('{"a": 1}\n', "holds no session"),
        ('{"event": "session", "version": 9}\n', "version 9; this release reads version 1"),
        ('{"event": "session", "version": 1}\n', "damaged: KeyError"),
        ("HEADER\nxyz\n", "line 3 is not a line of a session"),
        ('HEADER\n{"event": "told"}\n', "damaged: KeyError"),
        ('HEADER\n{"event": "retracted", "number": 4}\n', "damaged: KeyError"),
    ],
)
def test_files_that_are_no_session(tmp_path, content, message):
    begun(path=tmp_path / "ok.jsonl")
    header = (tmp_path / "ok.jsonl").read_text().strip()
    (tmp_path / "a.jsonl").write_text(content.replace("HEADER", header))
    with pytest.raises(SessionError, match=message):
        loaded(tmp_path / "a.jsonl")


def test_an_answer_in_the_file_that_is_none(tmp_path):
    path = tmp_path / "a.jsonl"
    session = begun(path=path)
    tell_truth(session, session.ask(1))
    path.write_text(path.read_text().replace(f'"{Labels(Y)(_asked(session))[0]}"', '"perhaps"'))
    with pytest.raises(SessionError, match="'perhaps' is no answer"):
        loaded(path)


def _asked(session):
    return [told.question for told in session._told.values()]
