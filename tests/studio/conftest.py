"""Small tables, projects on them, and a client that may speak to the server."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

import conclust.studio
from conclust.studio import Data

TOKEN, HOST = "a-token", "127.0.0.1:7000"


@pytest.fixture(scope="session")
def blobs():
    return make_blobs(60, 4, centers=3, cluster_std=0.6, random_state=0)


@pytest.fixture
def data(blobs):
    X, _ = blobs
    frame = pd.DataFrame(X, columns=list("pqrs")).round(3)
    frame["kind"] = np.where(np.arange(60) % 2, "odd", "even")
    return Data(
        "table.csv",
        X,
        frame,
        ids=[f"row{i}" for i in range(60)],
        used=frame,
        numbers=list("pqrs"),
        categories=["kind"],
    )


@pytest.fixture
def open_project(tmp_path):
    """Open a project; what is opened twice is closed before, and all in the end."""
    opened = {}

    def open_it(data, name="table.csv.studio", n_clusters=3):
        close(name)
        opened[name] = conclust.studio.open_project(data, tmp_path / name, n_clusters=n_clusters)
        return opened[name]

    def close(name):
        if name in opened:
            opened.pop(name).close()

    yield open_it
    for name in list(opened):
        close(name)


@pytest.fixture
def project(open_project, data):
    return open_project(data)


@pytest.fixture
def requests():
    """Names of actions that no other has."""
    return map("request {}".format, itertools.count())


@pytest.fixture
def client(project):
    pytest.importorskip("starlette")
    pytest.importorskip("httpx")
    from starlette.testclient import TestClient

    from conclust.studio._server import make_app

    app = make_app(project, TOKEN, "127.0.0.1", 7000)
    client = TestClient(app, base_url=f"http://{HOST}", raise_server_exceptions=False)
    client.headers["authorization"] = f"Bearer {TOKEN}"
    return client
