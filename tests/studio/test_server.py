"""Every route, who may use it, and what nonsense gets."""

import json

import pytest

from tests.studio.conftest import HOST, TOKEN

pytest.importorskip("starlette")
pytest.importorskip("httpx")

GETS = [
    "/",
    "/static/index.html",
    "/api/project",
    "/api/map",
    "/api/labels",
    "/api/row/3",
    "/api/cluster/0",
    "/api/answers?offset=0&limit=10&order=suspects",
    "/api/conflicts",
    "/api/progress",
    "/api/export/labels.csv",
    "/api/export/answers.jsonl",
]
POSTS = ["next", "answer", "undo", "retract", "keep", "pose", "say"]


@pytest.mark.parametrize("path", GETS)
def test_everything_there_is_to_get(client, project, path):
    project.recluster()
    reply = client.get(path)
    assert reply.status_code == 200, reply.text
    assert "default-src 'none'; script-src 'self'" in reply.headers["content-security-policy"]
    assert "'unsafe-" not in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"


def test_before_the_first_clustering(client):
    assert client.get("/api/map").json()["version"] == 0
    assert set(client.get("/api/map").json()["cluster"]) == {-1}
    assert client.get("/api/cluster/0").status_code == 400
    assert client.get("/api/progress").json()["expected_change"]["share"] is None


def test_a_dialogue(client):
    question = client.post("/api/next", json={"person": "ann"}).json()["question"]
    body = {"person": "ann", "request": "r1", "question": question["id"], "answer": "must-link"}
    reply = client.post("/api/answer", json=body).json()
    assert reply["number"] == 1
    assert client.post("/api/answer", json=body).json() == reply
    twice = client.post("/api/answer", json={**body, "request": "r2"})
    assert twice.status_code == 409
    assert twice.json()["next"]["id"] == reply["next"]["id"]
    back = client.post("/api/undo", json={"person": "ann", "request": "r3"}).json()
    assert back["question"]["samples"] == question["samples"]
    reused = client.post("/api/keep", json={"request": "r3", "number": 1})
    assert reused.status_code == 400
    assert "was used for another action (undo)" in reused.json()["error"]
    said = {"person": "ann", "request": "r4", "verb": "link", "rows": [0, 1]}
    assert len(client.post("/api/say", json=said).json()["numbers"]) == 1


def test_import_and_what_was_left_out(client):
    links = "a,b,type\nrow0,row1,same\nrow2,nobody,same\n"
    taken = client.post("/api/import?name=links.csv", content=links).json()
    assert (taken["taken"], taken["known"], taken["conflicts"]) == (1, 0, 0)
    assert "nobody" in taken["unknown"][0]
    assert client.post("/api/import?name=links.csv", content=links).json()["known"] == 1
    refused = client.post("/api/import?name=links.exe", content=links)
    assert refused.status_code == 400
    assert "are read from .csv" in refused.json()["error"]
    assert client.post("/api/import?name=a.csv", content=b"\xff\x00\x01").status_code == 400


# ---------------------------------------------------------------------- who may


def test_the_token_opens_the_page_and_the_cookie_keeps_it_open(client):
    del client.headers["authorization"]
    refused = client.get("/")
    assert refused.status_code == 403
    assert refused.headers["content-type"] == "text/plain; charset=utf-8"
    assert refused.text.startswith("The token is missing or wrong: open the address that")
    assert client.get("/?token=wrong").status_code == 403
    assert client.get(f"/api/project?token={TOKEN}").status_code == 403  # in the address of / only
    opened = client.get(f"/?token={TOKEN}")
    assert opened.status_code == 200
    cookie = opened.headers["set-cookie"]
    assert "HttpOnly; SameSite=Strict" in cookie
    assert client.get("/api/project").status_code == 200  # the client keeps cookies


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example:7000"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:7001"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://{HOST}"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_other_hosts_and_origins_are_refused(client, headers):
    for reply in (
        client.get("/api/project", headers=headers),
        client.post("/api/next", json={}, headers=headers),
    ):
        assert reply.status_code == 403
        assert reply.json()["error"]


def test_the_own_origin_is_let_in(client):
    headers = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}
    assert client.post("/api/next", json={}, headers=headers).status_code == 200
    assert client.get("/api/project", headers={"host": "localhost:7000"}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/static/nothing.js",
        "/static/..%2f..%2f_store.py",
        "/static/%2e%2e/_store.py",
        "/static/",
        "/image/0/0",
        "/image/x/../../etc/passwd",
        "/image/99/0",
        "/api/nothing",
    ],
)
def test_only_what_is_listed_is_served(client, path):
    reply = client.get(path)
    assert reply.status_code in (400, 404)
    assert reply.json()["error"]


# ---------------------------------------------------------------------- nonsense

NONSENSE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"x"',
    b"\xff\xfe",
    b"[" * 100_000,
    b"{}",
    b'{"person": 7}',
    b'{"person": "\\ud800", "request": "r"}',
    b'{"request": 1e999}',
    b'{"request": "r", "question": {"a": []}, "answer": NaN, "numbers": {}, "number": [], '
    b'"verb": [], "rows": "abc", "samples": 3, "kind": {}, "size": "x"}',
    b'{"request": "r", "question": "pair-0-1-00000000", "answer": "maybe", "numbers": [-1], '
    b'"number": 10, "verb": "merge", "clusters": [99], "samples": [0, 1e5], "size": 99}',
    b'{"request": "r", "question": "pair-0-9999999-00000000", "answer": [[1], [2]], '
    b'"numbers": [1.5], "number": true, "verb": "split", "rows": [0, 0], "samples": [0, 0]}',
    b'{"request": "r", "question": "piles-0-1-2-00000000", "answer": [["x"], {}, 7], '
    b'"verb": "apart", "rows": [0], "with": [0], "samples": [true, false]}',
    b'{"request": "r", "question": "triple-0-1-2-00000000", "answer": 59, "verb": "together", '
    b'"rows": [99999999999999999999]}',
]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("body", NONSENSE)
def test_nonsense_gets_a_sentence(client, project, path, body):
    project.clustering or project.recluster()
    reply = client.post(f"/api/{path}", content=body)
    assert reply.status_code < 500, reply.text
    if reply.status_code != 200:
        assert len(reply.json()["error"]) > 10
    assert len(project.book.answers) == 0


@pytest.mark.parametrize(
    "path",
    [
        "/api/row/-1",
        "/api/row/60",
        "/api/row/1e3",
        "/api/row/" + "9" * 5000,
        "/api/row/%C2%B2",
        "/api/cluster/x",
        "/api/answers?offset=x",
        "/api/answers?order=sideways",
        "/api/export/shadow",
    ],
)
def test_nonsense_in_addresses(client, path):
    reply = client.get(path)
    assert reply.status_code in (400, 404)
    assert reply.json()["error"]


def test_bodies_that_are_too_large(client):
    big = b" " * (2 << 20)
    assert client.post("/api/answer", content=big).status_code == 413

    def without_length():
        yield big

    reply = client.post("/api/answer", content=without_length())
    assert reply.status_code == 413
    assert "larger than 1,048,576 bytes" in reply.json()["error"]


def test_cells_stay_text(client, project):
    project.data.frame["kind"] = project.data.frame["kind"].astype(object)
    project.data.frame.loc[:, "kind"] = '</script><script>alert("\u202e")</script>\ud800'
    reply = client.get("/api/row/0")
    assert reply.headers["content-type"] == "application/json"
    assert reply.content.isascii()
    fields = json.loads(reply.content)["fields"]
    assert fields[-1]["value"].startswith("</script><script>")
