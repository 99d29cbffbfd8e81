"""One file, whole after any end, open once."""

import os
import sqlite3
import stat

import pytest

from conclust.exceptions import SessionError
from conclust.studio import Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.studio"


def test_events_replies_and_facts_are_there_again(path):
    store = Store(path)
    store.append(
        [(1, {"event": "answer"}), (2, {"event": "keep", "number": 1})], "r1", {"number": 1}
    )
    store.append([(3, {"event": "retract"})])
    store.set_facts(token="x", port=5)
    store.set_facts(port=6)
    store.close()
    store = Store(path)
    assert [number for number, _ in store.events()] == [1, 2, 3]
    assert store.reply("r1") == {"number": 1}
    assert store.reply("r2") is None
    assert (store.fact("token"), store.fact("port"), store.fact("none")) == ("x", 6, None)
    store.close()


def test_all_or_nothing(path):
    # Check that a number given twice leaves nothing of the whole batch.
    store = Store(path)
    with pytest.raises(sqlite3.IntegrityError):
        store.append([(1, {"event": "a"}), (1, {"event": "b"})], "r", {})
    assert list(store.events()) == []
    assert store.reply("r") is None
    store.append([(1, {"event": "a"})], "r", {})
    store.close()


def test_open_in_one_studio_at_a_time(path):
    store = Store(path)
    with pytest.raises(SessionError, match="a.studio is open in another studio; use its page"):
        Store(path)
    store.close()
    Store(path).close()


def test_only_the_owner_reads_it(path):
    # It holds the token.
    Store(path).close()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_another_file_is_refused_and_left_as_it_is(path):
    path.write_text("key,value\n1,2\n" * 100)
    with pytest.raises(SessionError, match="no project of the studio.*--project"):
        Store(path)
    assert path.read_text() == "key,value\n1,2\n" * 100


def test_a_database_of_another_program_is_refused(path):
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (x)")
    other.commit()
    other.close()
    with pytest.raises(SessionError, match="another program wrote it"):
        Store(path)


def test_a_folder_is_no_project(tmp_path):
    with pytest.raises(SessionError, match="is a folder; name the file"):
        Store(tmp_path)
