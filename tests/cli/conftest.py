"""Small tables with known clusters, as files."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner

from conclust.cli import main

CENTERS = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])


@pytest.fixture
def blobs(tmp_path):
    """Thirty rows in three far groups, with ids `r00` to `r29`, and true links about them."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], 10)
    X = CENTERS[y] + rng.normal(scale=0.5, size=(30, 2))
    ids = [f"r{i:02d}" for i in range(30)]
    data, links = tmp_path / "table.csv", tmp_path / "links.csv"
    write(data, ["key", "x", "y"], [[i, *row] for i, row in zip(ids, X.tolist(), strict=True)])
    write(
        links,
        ["a", "b", "type"],
        [
            ["r00", "r05", "must-link"],
            ["r10", "r15", "must-link"],
            ["r00", "r10", "cannot-link"],
            ["r20", "r11", "cannot-link"],
        ],
    )
    return Files(tmp_path, data, links, y)


class Files:
    def __init__(self, folder, data, links, y):
        self.folder, self.data, self.links, self.y = folder, data, links, y


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def run(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


def assert_bad_input(result, *words):
    """Check for exit code 2 and one or two lines on stderr that hold these words."""
    assert result.exit_code == 2, (result.exit_code, result.output, result.exception)
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("Usage:", "Try "))]
    assert 1 <= len(told) <= 2, result.stderr
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.stderr, (word, result.stderr)
