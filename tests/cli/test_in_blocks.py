"""`conclust cluster` in blocks: the same labels, whatever the cut, and whoever stops it."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import conclust
from conclust.cli import _big_table, _cluster_in_blocks, _memory
from tests.cli.conftest import assert_bad_input, read, run, write

pytest.importorskip("pyarrow")

FITTED = ("--id-col", "key", "-k", 4, "--method", "ckm")


class Case:
    def __init__(self, folder, n_rows=600):
        generator = np.random.RandomState(0)
        self.folder, self.y = folder, generator.randint(4, size=n_rows)
        X = 3.0 * np.eye(4)[self.y] + generator.normal(size=(n_rows, 4))
        self.frame = pd.DataFrame(X, columns=list("wxyz"))
        self.frame["w"] = np.exp(self.frame["w"])  # skewed
        self.frame.loc[::50, "x"] = np.nan
        self.frame["kind"] = np.array(["red", "green", "blue", "grey"])[self.y]
        self.frame["rooms"] = generator.randint(1, 5, size=n_rows)
        self.frame["constant"] = 1
        self.frame.insert(0, "key", [f"r{i}" for i in range(n_rows)])
        self.data, self.links = folder / "table.parquet", folder / "links.csv"
        self.frame.to_parquet(self.data, row_group_size=250)
        pairs = generator.randint(n_rows, size=(40, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        self.said = [
            [f"r{a}", f"r{b}", "must-link" if self.y[a] == self.y[b] else "cannot-link"]
            for a, b in pairs
        ]
        write(self.links, ["a", "b", "type"], self.said)

    def cluster(self, *more, data=None, out="out"):
        return run(
            "cluster", data or self.data, "--constraints", self.links, *FITTED,
            "-o", self.folder / out, *more,
        )  # fmt: skip

    def labels(self, out="out"):
        return (self.folder / out / "labels.csv").read_bytes()


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


def record(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


# ---------------------------------------------------------------------- the same as in memory


def test_labels_and_record_are_those_of_the_whole_table(case):
    whole = case.cluster("--no-blocks", out="whole")
    blocks = case.cluster("--blocks", "--block-rows", 7)
    assert whole.exit_code == blocks.exit_code == 0, blocks.output
    assert case.labels() == case.labels("whole")
    one, other = record(case.folder / "whole"), record(case.folder / "out")
    for name in (
        "cluster_sizes",
        "labels_sha256",
        "n_rows",
        "statements",
        "preparation",
        "columns",
    ):
        assert one[name] == other[name], name
    assert not (case.folder / "out" / ".resume").exists()
    assert "read in blocks of 7" in blocks.output


@pytest.mark.parametrize("how", ["--blocks", "--no-blocks"])
def test_labels_as_parquet(case, how):
    # Check that --parquet gives the ids and labels of labels.csv, whole or block by block.
    out = case.folder / "o"
    more = ["--block-rows", 100] if how == "--blocks" else []
    asked = ["--parquet", "--no-model", "-o", out, how, *more]
    result = run("cluster", case.data, *FITTED, *asked)
    assert result.exit_code == 0, result.output
    assert "labels.parquet" in result.output
    pd.testing.assert_frame_equal(
        pd.read_parquet(out / "labels.parquet"), pd.read_csv(out / "labels.csv"), check_dtype=False
    )
    run("cluster", case.data, *FITTED, "--no-model", "-o", out, how)
    assert not (out / "labels.parquet").exists()


def test_a_folder_of_files_is_one_table(case):
    parts = case.folder / "parts"
    parts.mkdir()
    for i in range(3):
        case.frame[200 * i : 200 * (i + 1)].to_parquet(parts / f"part-{i}.parquet")
    result = case.cluster(data=parts)
    assert result.exit_code == 0, result.output
    case.cluster("--no-blocks", out="whole")
    assert case.labels() == case.labels("whole")


@pytest.mark.parametrize("more", [(), ("--standardize",)])
def test_arrays_are_read_as_they_are(tmp_path, more):
    generator = np.random.RandomState(0)
    y = generator.randint(3, size=300)
    np.save(tmp_path / "rows.npy", 4.0 * np.eye(3)[y] + generator.normal(size=(300, 3)))
    write(tmp_path / "links.csv", ["a", "b", "type"], [[0, 5, "ml" if y[0] == y[5] else "cl"]])
    for out, how in (("whole", ["--no-blocks"]), ("blocks", ["--blocks", "--block-rows", 11])):
        result = run("cluster", tmp_path / "rows.npy", "--constraints", tmp_path / "links.csv",
                     "-k", 3, "--method", "ckm", "-o", tmp_path / out, *how, *more)  # fmt: skip
        assert result.exit_code == 0, result.output
    one, other = ((tmp_path / out / "labels.csv").read_bytes() for out in ("whole", "blocks"))
    assert one == other


def test_auto_says_what_it_is_beyond_memory_and_chooses_k(case):
    result = run("cluster", case.data, "--constraints", case.links, "--id-col", "key",
                 "-k", "auto:3-5", "--blocks", "-o", case.folder / "out")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "read in blocks: k-means that obeys" in result.stdout
    assert record(case.folder / "out")["n_clusters"] in (3, 4, 5)


def test_the_model_predicts_and_names_are_written(case):
    pytest.importorskip("skops")
    case.cluster("--blocks", "--model", "--names", "0=First")
    rows = read(case.folder / "out" / "labels.csv")
    assert {row["cluster_name"] for row in rows if row["label"] == "0"} == {"First"}
    model = conclust.load(case.folder / "out" / "model.skops")[-1]
    assert not hasattr(model, "labels_")
    again = run("predict", case.folder / "out" / "model.skops", case.data, "--json")
    labels = [int(row["label"]) for row in rows]
    assert np.mean(np.equal(json.loads(again.stdout)["label"], labels)) > 0.9


@pytest.mark.parametrize("method", ["cop-kmeans", "ensemble"])
def test_other_methods_that_read_blocks(case, method):
    result = case.cluster("--blocks", "--block-rows", 100, "--method", method)
    assert result.exit_code == 0, result.output
    assert len(read(case.folder / "out" / "labels.csv")) == 600


def test_a_sample_tells_what_to_do_with_columns(case, monkeypatch):
    # Check on a sample of a sixth of the rows that the ends of columns are known all the same.
    monkeypatch.setattr(_big_table, "SAMPLE", 100)
    monkeypatch.setattr(_cluster_in_blocks, "SHOWN", 20)
    case.frame["row"] = np.random.RandomState(1).permutation(600) + 7
    case.frame["rare"] = 0.0
    case.frame.loc[431, "rare"] = 1.0
    case.frame.to_parquet(case.data, row_group_size=250)
    result = case.cluster("--blocks", "--block-rows", 64)
    assert result.exit_code == 0, result.output
    assert "row left out: it counts the rows" in result.stdout
    assert re.search("learned from 1.. of the 600 rows", result.stdout)
    told = record(case.folder / "out")
    assert told["statements"]["n_statements"] == len(case.said)
    page = (case.folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "of the 600 rows, drawn at random or named in statements" in page
    assert told["n_rows_in_report"] < 20 + 2 * len(case.said) + 1
    assert "rare" not in record(case.folder / "out")["columns"]["left_out"]
    labels = [int(row["label"]) for row in read(case.folder / "out" / "labels.csv")]
    assert conclust.metrics.pairwise_f1(case.y, labels) > 0.8
    case.frame.loc[200, "y"] = np.inf
    case.frame.to_parquet(case.data)
    assert_bad_input(case.cluster("--blocks"), "y is infinite in row 'r200'")


# ---------------------------------------------------------------------- when


def test_by_the_size_of_the_memory(case, monkeypatch):
    assert not _big_table.wants_blocks(case.data, None)
    monkeypatch.setattr(_big_table, "SHARE", 1e-12)
    assert _big_table.wants_blocks(case.data, None)
    assert not _big_table.wants_blocks(case.data, False)
    assert not _big_table.wants_blocks(case.folder / "links.csv", None)


def test_the_limit_of_a_process_counts():
    resource = pytest.importorskip("resource")
    code = "from conclust.cli._memory import allowed_memory; print(allowed_memory())"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (10**9, 10**9)),
    )  # fmt: skip
    assert int(found.stdout) <= 10**9
    assert _memory.allowed_memory() > 10**6


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--method", "recon"], ["needs all rows in memory", "ckm", "--no-blocks"]),
        (["--join"], ["--join", "--no-blocks"]),
        (["--id-col", "kee"], ["no column 'kee'", "'key'"]),
        (["--id-col", "kind"], ["must be unique"]),
        (["--columns", "v"], ["no column 'v'"]),
        (["--id-col", "x"], ["row 0 (counted from 0) has no id"]),
    ],
)
def test_what_cannot_be_done_in_blocks_is_named(case, more, words):
    assert_bad_input(case.cluster("--blocks", *more), *words)
    assert not (case.folder / "out").exists()


def test_bad_tables_and_statements(case):
    assert_bad_input(
        run("cluster", case.links, "--blocks", "-k", 2), "cannot be read in blocks", "Parquet"
    )
    assert_bad_input(run("cluster", case.folder, "--no-blocks", "-k", 2), "is a folder")
    (case.folder / "empty").mkdir()
    assert_bad_input(run("cluster", case.folder / "empty", "-k", 2), "no file whose name ends")
    write(case.links, ["a", "b", "type"], [["r1", "r700", "ml"]])
    assert_bad_input(case.cluster("--blocks"), "'r700' is not among the 600 ids", "--skip-unknown")
    result = case.cluster("--blocks", "--skip-unknown")
    assert result.exit_code == 0
    assert "1 statements name an id that no row has" in result.stdout


# ---------------------------------------------------------------------- stopped

VICTIM = """
import sys
from conclust.cli import _resume, main
_resume.SECONDS = 0.0
main(sys.argv[1:])
"""


@pytest.fixture
def long_case(tmp_path):
    """Rows without clusters, in which k-means takes long to come to rest."""
    case = Case(tmp_path, 6000)
    case.frame[["w", "x", "y", "z"]] = np.random.RandomState(0).normal(size=(6000, 4))
    case.frame[["key", "w", "x", "y", "z"]].to_parquet(case.data, row_group_size=500)
    return case


def stop(case, number, *more):
    """Start the command as a process, and send it a signal in its second start."""
    command = [sys.executable, "-c", VICTIM, "cluster", case.data, "--constraints", case.links,
               *FITTED, "--blocks", "--block-rows", 40, "-o", case.folder / "out", *more]  # fmt: skip
    process = subprocess.Popen([str(c) for c in command], stderr=subprocess.PIPE, text=True)
    place, deadline = case.folder / "out" / ".resume" / "place.npz", time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if place.exists():
            with np.load(place) as found:
                if found["number"] >= 1 and "history" in found and len(found["history"]) > 3:
                    break
        time.sleep(0.005)
    os.kill(process.pid, number)
    said = process.communicate(timeout=60)[1]
    return process.returncode, said


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_stopped_and_gone_on_with_is_as_if_never_stopped(long_case, number):
    case, cut = long_case, ("--blocks", "--block-rows", 40)
    code, said = stop(case, number)
    if number == signal.SIGINT:
        assert code == 130
        assert "in start 2" in said
        assert "--resume" in said
        assert "Traceback" not in said
    else:
        assert code == -signal.SIGKILL
    assert not (case.folder / "out" / "labels.csv").exists()
    changed = case.cluster(*cut, "--resume", "-k", 5)
    assert_bad_input(changed, "was another one", "-k was 4 and is 5")
    place = case.folder / "out" / ".resume" / "place.npz"
    n_before = int(np.load(place)["number"])
    resumed = case.cluster(*cut, "--resume")
    assert resumed.exit_code == 0, resumed.output
    assert n_before >= 1
    case.cluster(*cut, out="whole")
    assert case.labels() == case.labels("whole")
    one, other = record(case.folder / "whole"), record(case.folder / "out")
    assert one["labels_sha256"] == other["labels_sha256"]
    assert [p.name for p in (case.folder / "out").iterdir() if p.name.startswith(".")] == []


@pytest.fixture
def left_off(long_case):
    stop(long_case, signal.SIGKILL)
    return long_case


@pytest.mark.slow
def test_what_is_not_as_it_was_is_refused(left_off):
    case, cut = left_off, ("--blocks", "--block-rows", 40, "--resume")
    state = case.folder / "out" / ".resume"
    assert_bad_input(case.cluster(*cut, "--seed", 3), "--seed was 0 and is 3")
    links = case.links.read_bytes()
    case.links.write_bytes(links + b"r1,r2,must-link\n")
    assert_bad_input(case.cluster(*cut), "statements have changed")
    case.links.write_bytes(links)
    good = (state / "place.npz").read_bytes()
    (state / "place.npz").write_bytes(good[: len(good) // 2])
    assert_bad_input(case.cluster(*cut), "place.npz cannot be read", "begin anew")
    (state / "place.npz").write_bytes(good)
    about = (state / "run.json").read_text()
    (state / "run.json").write_text("[]")
    assert_bad_input(case.cluster(*cut), "run.json cannot be read")
    (state / "run.json").write_text(about)
    case.frame[["key", "w", "x", "y", "z"]].to_parquet(case.data, row_group_size=400)
    assert_bad_input(case.cluster(*cut), "table has changed")
    result = case.cluster(*cut[:-1])  # begins anew
    assert result.exit_code == 0, result.output
    assert not state.exists()


def test_nothing_to_go_on_with(case):
    assert_bad_input(case.cluster("--blocks", "--resume"), "holds no run that was stopped")
    assert_bad_input(case.cluster("--no-blocks", "--resume"), "--resume", "--blocks")
