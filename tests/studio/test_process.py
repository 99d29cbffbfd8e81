"""`conclust studio` as a process: killed, stopped, resumed, exported."""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


class Server:
    def __init__(self, table, *options):
        command = [sys.executable, "-m", "conclust", "studio", str(table), "--no-browser", "--json"]
        self.process = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        text = ""
        while not text.endswith("}\n"):
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            text += line
        self.url = json.loads(text)["url"]
        parts = urlsplit(self.url)
        self.host, self.token = parts.netloc, parse_qs(parts.query)["token"][0]

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=20)
        try:
            headers = {"Authorization": f"Bearer {self.token}"}
            connection.request(
                method, path, json.dumps(body) if body is not None else None, headers
            )
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            connection.close()

    def stop(self, how=signal.SIGINT):
        self.process.send_signal(how)
        _, err = self.process.communicate(timeout=120)
        return self.process.returncode, err


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, np.random.RandomState(0).normal(size=(300, 4)))
    return path


class Person(threading.Thread):
    """Answers on and on; what was not acknowledged is sent again until it is."""

    def __init__(self, name, server):
        super().__init__(daemon=True)
        self.person, self.server = name, server  # the server of the moment, in a list
        self.acknowledged, self.wrong, self.stopped = {}, [], False

    def run(self):
        while not self.stopped:
            question = self.until_told("/api/next", {"person": self.person})["question"]
            if question is None:
                return
            body = {
                "person": self.person,
                "request": str(uuid.uuid4()),
                "question": question["id"],
                "answer": random.choice(["must-link", "cannot-link", "unsure"]),
            }
            reply = self.until_told("/api/answer", body)
            if "number" in reply:
                self.acknowledged[reply["number"]] = (question["samples"], body["answer"])

    def until_told(self, path, body):
        while True:
            try:
                status, reply = self.server[0].ask("POST", path, body)
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.02)  # it was killed; the next one will be there soon
                continue
            if status not in (200, 409):
                self.wrong.append((status, reply))
            return reply


def n_told(people):
    return sum(len(person.acknowledged) for person in people)


def killed_under_load(table, n_kills):
    """Kill and start again; return what people were told, and what is there in the end."""
    server = [Server(table)]
    people = [Person(f"person {i}", server) for i in range(4)]
    for person in people:
        person.start()
    chance = random.Random(0)
    for _ in range(n_kills):
        before, more = n_told(people), chance.randint(1, 20)
        while n_told(people) < before + more:  # some answers later, at whatever moment that is
            time.sleep(chance.uniform(0.001, 0.02))
        server[0].process.kill()
        server[0].process.communicate()
        server[0] = Server(table)
    for person in people:
        person.stopped = True
    for person in people:
        person.join()
        assert person.wrong == []
    there, offset = {}, 0
    while len(
        page := server[0].ask("GET", f"/api/answers?limit=500&offset={offset}")[1]["answers"]
    ):
        there |= {a["number"]: (a["samples"], a["answer"]) for a in page}
        offset += 500
    server[0].stop()
    told = [entry for person in people for entry in person.acknowledged.items()]
    return told, there


def check_nothing_lost(told, there):
    assert len(told) >= 5
    assert len(dict(told)) == len(told)  # no number twice
    assert {number: there.get(number) for number, _ in told} == dict(told)
    assert len(there) == len(told)  # nor an answer twice


def test_five_kills_lose_nothing(table):
    check_nothing_lost(*killed_under_load(table, 5))


@pytest.mark.slow
def test_fifty_kills_lose_nothing(table):
    check_nothing_lost(*killed_under_load(table, 50))


def test_stops_cleanly_and_goes_on_under_the_same_address(table):
    server = Server(table)
    question = server.ask("POST", "/api/next", {"person": "ann"})[1]["question"]
    body = {"person": "ann", "request": "r", "question": question["id"], "answer": "must-link"}
    # A page that listens for events does not keep the server from stopping.
    listening = http.client.HTTPConnection(server.host, timeout=20)
    listening.request("GET", "/api/events", headers={"Authorization": f"Bearer {server.token}"})
    assert listening.getresponse().readline().startswith(b"event: busy")
    assert server.ask("POST", "/api/answer", body)[0] == 200
    code, err = server.stop()
    assert code == 0
    assert "Stopped. All answers are in" in err
    assert "Traceback" not in err
    again = Server(table)
    assert again.url == server.url
    assert again.ask("GET", "/api/answers")[1]["total"] == 1
    code, err = again.stop(signal.SIGTERM)
    assert "Traceback" not in err
    assert not os.path.exists(f"{table}.studio-wal")


def test_a_port_that_is_taken_and_a_project_that_is_open(table, tmp_path):
    server = Server(table)
    port = server.host.rpartition(":")[2]
    command = [sys.executable, "-m", "conclust", "studio", str(table), "--no-browser"]
    second = subprocess.run(command, capture_output=True, text=True)
    assert second.returncode == 2
    assert "is open in another studio" in second.stderr
    third = subprocess.run(
        [*command, "--port", port, "--project", str(tmp_path / "other.studio")],
        capture_output=True,
        text=True,
    )
    assert third.returncode == 2
    assert f"127.0.0.1:{port} cannot be listened on" in third.stderr
    server.stop()
