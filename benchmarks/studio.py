"""How long from key to next question, and do twenty people lose an answer?

A real server in a process of its own, over HTTP on this computer.

    python benchmarks/studio.py                 # both tables, and twenty people for a minute
    python benchmarks/studio.py --rows 10000 --seconds 10
"""

import argparse
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
from sklearn.datasets import make_blobs

N_FEATURES, N_GROUPS = 50, 10


def command(table: Path, *options: str) -> list[str]:
    given = options or ("-k", str(N_GROUPS))
    start = [sys.executable, "-m", "conclust", "studio", str(table)]
    return [*start, *given, "--no-browser", "--json"]


class Server:
    """A studio in another process, which prints its address."""

    def __init__(self, command: list[str]):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        lines = []
        while not lines or lines[-1].strip() != "}":
            lines.append(self.process.stdout.readline())
        self.url = json.loads("".join(lines))["url"]
        url = urlsplit(self.url)
        self.host, self.token = url.netloc, parse_qs(url.query)["token"][0]

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)


class Person:
    """Somebody who answers by the labels, over a connection of their own."""

    def __init__(self, server: Server, name: str, labels, wrong: float = 0.0):
        self.server, self.name, self.labels, self.wrong = server, name, labels, wrong
        self.connection = http.client.HTTPConnection(server.host, timeout=60)
        self.random = np.random.RandomState(abs(hash(name)) % 2**31)
        self.seconds, self.numbers, self.errors = [], [], []
        self.question = self.post("/api/next", {"person": name})["question"]

    def post(self, path: str, body: dict):
        headers = {"Authorization": f"Bearer {self.server.token}"}
        self.connection.request("POST", path, json.dumps(body), headers)
        response = self.connection.getresponse()
        content = json.loads(response.read())
        if response.status != 200:
            self.errors.append((response.status, content))
        return content

    def answer(self):
        if self.question is None:
            time.sleep(0.1)
            self.question = self.post("/api/next", {"person": self.name}).get("question")
            return
        a, b = self.question["samples"]
        same = (self.labels[a] == self.labels[b]) != (self.random.rand() < self.wrong)
        body = {
            "person": self.name,
            "request": str(uuid.uuid4()),
            "question": self.question["id"],
            "answer": "must-link" if same else "cannot-link",
            "seconds": 1.0,
        }
        began = time.perf_counter()
        reply = self.post("/api/answer", body)
        self.seconds.append(time.perf_counter() - began)
        self.question = reply.get("next")
        if "number" in reply:
            self.numbers.append(reply["number"])


def get(server: Server, path: str):
    connection = http.client.HTTPConnection(server.host, timeout=60)
    connection.request("GET", path, headers={"Authorization": f"Bearer {server.token}"})
    return json.loads(connection.getresponse().read())


def one_person(server: Server, labels, seconds: float, pause: float) -> None:
    """Somebody quick, while the clustering runs again and again."""
    person = Person(server, "ann", labels)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        person.answer()
        time.sleep(pause)
    show("one person", [person])


def many_people(server: Server, labels, n_people: int, rate: float, seconds: float) -> None:
    """So many people, so many answers a second in all; every one has to be there in the end."""
    people = [Person(server, f"person {i}", labels, wrong=0.05) for i in range(n_people)]
    until = time.monotonic() + seconds

    def work(person: Person) -> None:
        due = time.monotonic() + person.random.rand() * n_people / rate
        while due < until:
            time.sleep(max(due - time.monotonic(), 0))
            person.answer()
            due += n_people / rate

    threads = [threading.Thread(target=work, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    show(f"{n_people} people, {rate:g} answers/s", people)
    total = get(server, "/api/answers?limit=0")["total"]
    acknowledged = [number for person in people for number in person.numbers]
    print(f"  acknowledged {len(acknowledged)}, all different {len(set(acknowledged))}", end="")
    print(f", answers in the project {total}, errors {sum(len(p.errors) for p in people)}")
    for person in people:
        for error in person.errors[:2]:
            print("  ", error)


def show(what: str, people: list) -> None:
    times = 1000 * np.array([s for person in people for s in person.seconds])
    median, p99, most = np.percentile(times, [50, 99, 100])
    print(
        f"  {what}: {len(times)} answers, key to next question: "
        f"median {median:.0f} ms, p99 {p99:.0f} ms, longest {most:.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--rate", type=float, default=10.0, help="answers a second, of all")
    given = parser.parse_args()
    print(f"{os.cpu_count()} cores, d = {N_FEATURES}, k = {N_GROUPS}")
    for n_rows in given.rows:
        X, labels = make_blobs(
            n_rows, N_FEATURES, centers=N_GROUPS, cluster_std=6.0, random_state=0
        )
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder, "rows.npy")
            np.save(table, X)
            began = time.monotonic()
            server = Server(command(table))
            print(f"n = {n_rows:,}: served after {time.monotonic() - began:.1f} s")
            try:
                one_person(server, labels, given.seconds / 2, pause=0.3)
                many_people(server, labels, given.people, given.rate, given.seconds)
                fits = get(server, "/api/progress")["stability"]
                print(f"  clustered {len(fits)} times meanwhile")
            finally:
                server.stop()


if __name__ == "__main__":
    main()
