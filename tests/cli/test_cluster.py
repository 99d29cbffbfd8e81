import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import conclust
from tests.cli.conftest import read, run, write


def test_the_documented_call_writes_labels_and_report(blobs):
    out = blobs.folder / "OUT"
    result = run(
        "cluster", blobs.data, "--constraints", blobs.links, "--id-col", "key", "-k", 3,
        "--method", "bckm", "-o", out,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    rows = read(out / "labels.csv")
    assert list(rows[0]) == ["id", "label", "confidence"]
    assert [row["id"] for row in rows] == [f"r{i:02d}" for i in range(30)]
    assert adjusted_rand_score(blobs.y, [int(row["label"]) for row in rows]) == 1.0
    assert all(0 <= float(row["confidence"]) <= 1 for row in rows)
    assert (out / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "4 of 4" in result.stdout


def test_labels_are_those_of_the_estimator(blobs):
    # The command is glue: the same numbers to the same class give the same labels.
    out = blobs.folder / "OUT"
    run("cluster", blobs.data, "--constraints", blobs.links, "--id-col", "key", "-k", 3,
        "--method", "pckmeans", "--seed", 5, "--raw", "-o", out)  # fmt: skip
    frame = pd.read_csv(blobs.data)
    known = conclust.read_constraints(blobs.links, ids=frame["key"])
    model = conclust.PCKMeans(3, random_state=5).fit(
        frame[["x", "y"]].to_numpy(), constraints=known
    )
    assert [int(row["label"]) for row in read(out / "labels.csv")] == model.labels_.tolist()


def test_json_is_one_object_and_equals_run_json(blobs):
    out = blobs.folder / "OUT"
    result = run("cluster", blobs.data, "--constraints", blobs.links, "--id-col", "key", "-k", 3,
                 "-o", out, "--json")  # fmt: skip
    said = json.loads(result.stdout)
    kept = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert said == kept
    assert said["seed"] == 0
    assert set(said["inputs"]) == {"data", "constraints"}
    assert len(said["inputs"]["data"]["sha256"]) == 64
    assert said["statements"]["n_violated"] == 0
    assert sum(said["cluster_sizes"]) == 30


def test_running_again_gives_the_same_labels(blobs):
    checksums = []
    for name in ("one", "two"):
        result = run("cluster", blobs.data, "--constraints", blobs.links, "--id-col", "key",
                     "--method", "bckm", "-k", 4, "-o", blobs.folder / name, "--json")  # fmt: skip
        checksums.append(json.loads(result.stdout)["labels_sha256"])
    assert checksums[0] == checksums[1]
    for file in ("labels.csv", "model.skops"):
        one, two = ((blobs.folder / n / file) for n in ("one", "two"))
        assert one.exists() == two.exists()
    assert (blobs.folder / "one/labels.csv").read_bytes() == (
        blobs.folder / "two/labels.csv"
    ).read_bytes()


def test_no_statements_is_plain_k_means(blobs):
    result = run("cluster", blobs.data, "--id-col", "key", "-k", 3, "-o", blobs.folder / "o")
    assert result.exit_code == 0, result.output
    assert "plain k-means" in result.stdout


def test_rows_are_named_by_position_without_ids(blobs):
    links = blobs.folder / "positions.csv"
    write(links, ["a", "b", "type"], [[0, 5, "ml"], [0, 10, "cl"]])
    out = blobs.folder / "o"
    result = run(
        "cluster", blobs.data, "--constraints", links, "--columns", "x,y", "-k", 3, "-o", out
    )
    assert result.exit_code == 0, result.output
    assert [row["id"] for row in read(out / "labels.csv")] == [str(i) for i in range(30)]


@pytest.mark.parametrize("suffix", [".tsv", ".parquet", ".npy", ".npz", ".sparse.npz"])
def test_every_format_gives_the_same_clusters(blobs, suffix):
    frame = pd.read_csv(blobs.data)
    path = blobs.folder / f"same{suffix}"
    options = ["--id-col", "key"]
    links = blobs.links
    if suffix == ".tsv":
        frame.to_csv(path, sep="\t", index=False)
    elif suffix == ".parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        X, options = frame[["x", "y"]].to_numpy(), []
        links = blobs.folder / "positions.json"
        conclust.read_constraints(blobs.links, ids=frame["key"]).write(links, ids=range(30))
        if suffix == ".npy":
            np.save(path, X)
        elif suffix == ".npz":
            np.savez(path, X=X, ids=np.arange(30))
        else:
            import scipy.sparse as sp

            sp.save_npz(path, sp.csr_matrix(X))
    out = blobs.folder / "o"
    result = run("cluster", path, "--constraints", links, *options, "-k", 3, "-o", out)
    assert result.exit_code == 0, result.output
    labels = [int(row["label"]) for row in read(out / "labels.csv")]
    assert adjusted_rand_score(blobs.y, labels) == 1.0


def test_k_auto_finds_the_groups_and_shows_the_curve(blobs):
    # Only 4 statements: stability decides.
    out = blobs.folder / "o"
    result = run("cluster", blobs.data, "--constraints", blobs.links, "--id-col", "key", "-o", out,
                 "--json")  # fmt: skip
    record = json.loads(result.stdout)
    assert record["n_clusters"] == 3
    assert [p["n_clusters"] for p in record["n_clusters_tried"]] == list(range(2, 11))
    assert "How many clusters?" in (out / "report.html").read_text(encoding="utf-8")


def test_k_auto_by_held_out_statements(blobs):
    known = conclust.sample_constraints(blobs.y, 40, random_state=0)
    links = blobs.folder / "many.csv"
    known.write(links, ids=[f"r{i:02d}" for i in range(30)])
    result = run("cluster", blobs.data, "--constraints", links, "--id-col", "key",
                 "-o", blobs.folder / "o", "--json")  # fmt: skip
    record = json.loads(result.stdout)
    assert record["n_clusters"] == 3
    assert record["statements"]["share"] == 1.0


def test_mixed_columns_are_prepared_aloud(tmp_path):
    # Missing numbers and words, a constant, free text and a date: no row is lost, all is said.
    n = 60
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 9, n).round(1),
            "colour": rng.choice(["red", "green"], n),
            "same": 1,
            "note": [f"note number {i}" for i in range(n)],
            "member": rng.choice([True, False], n),
        }
    )
    frame.loc[3, "age"] = np.nan
    frame.loc[4, "colour"] = np.nan
    frame.to_csv(tmp_path / "mixed.csv", index=False)
    out = tmp_path / "o"
    result = run("cluster", tmp_path / "mixed.csv", "-k", 2, "-o", out, "--standardize")
    assert result.exit_code == 0, result.output
    assert len(read(out / "labels.csv")) == n
    for said in (
        "age: 1 missing value, replaced by the median",
        "colour: 1 missing value, kept as a value of its own",
        "same is left out: the same value in every row",
        "note is left out: 60 different values",
    ):
        assert said in result.stdout
    assert "colour, member: each value a column of 0 and 1" in result.stdout


def test_columns_that_name_rows_are_not_clustered_by(tmp_path):
    frame = pd.DataFrame(
        {"number": range(1, 13), "name": [f"n{i}" for i in range(12)], "x": [0.0, 9.0] * 6}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = run("cluster", tmp_path / "t.csv", "-k", 2, "-o", tmp_path / "o")
    assert "name is left out: 12 different values" in result.stdout
    assert "number is left out: it counts or names the rows" in result.stdout
    pytest.importorskip("pyarrow")
    frame.set_index("name").to_parquet(tmp_path / "t.parquet")
    result = run("cluster", tmp_path / "t.parquet", "--id-col", "name", "-k", 2,
                 "-o", tmp_path / "o")  # fmt: skip
    assert [row["id"] for row in read(tmp_path / "o" / "labels.csv")] == frame["name"].tolist()


def test_text_columns_are_clustered_by_words(tmp_path):
    texts = ["cats and dogs and pets", "a dog and a cat at home"] * 8
    texts += ["stocks rise on the market", "market falls, stocks too"] * 8
    pd.DataFrame({"id": range(32), "body": texts}).to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "o"
    result = run("cluster", tmp_path / "t.csv", "--id-col", "id", "--text-col", "body", "-k", 2,
                 "-o", out)  # fmt: skip
    assert result.exit_code == 0, result.output
    labels = [int(row["label"]) for row in read(out / "labels.csv")]
    assert adjusted_rand_score([0] * 16 + [1] * 16, labels) == 1.0
    assert "stocks" in (out / "report.html").read_text(encoding="utf-8")


def test_parameters_of_the_method_can_be_set(blobs):
    result = run("cluster", blobs.data, "--constraints", blobs.links, "--id-col", "key", "-k", 3,
                 "--method", "bckm", "--set", "n_estimators=7", "--set", "init=k-means++",
                 "-o", blobs.folder / "o", "--json")  # fmt: skip
    parameters = json.loads(result.stdout)["parameters"]
    assert parameters["n_estimators"] == 7
    assert parameters["init"] == "k-means++"


def test_broken_statements_are_named(blobs):
    links = blobs.folder / "clash.csv"
    write(links, ["a", "b", "type"], [["r00", "r05", "ml"], ["r00", "r05", "cl"]])
    result = run("cluster", blobs.data, "--constraints", links, "--id-col", "key", "-k", 3,
                 "-o", blobs.folder / "o")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "broken: " in result.stdout
    assert "r05" in result.stdout


def test_a_hard_method_asked_for_says_which_statements_clash(blobs):
    links = blobs.folder / "clash.csv"
    write(links, ["a", "b", "type"], [["r00", "r05", "ml"], ["r00", "r05", "cl"]])
    result = run("cluster", blobs.data, "--constraints", links, "--id-col", "key", "-k", 3,
                 "--method", "cop-kmeans", "-o", blobs.folder / "o")  # fmt: skip
    assert result.exit_code == 2
    assert "r00 and r05" in result.stderr
    assert f"conclust check --constraints {links} --repair" in result.stderr
    assert "constraints." not in result.stderr  # a call of the library is no way out here
    assert not (blobs.folder / "o").exists()


def triplets_that_clash(blobs):
    """Statements by the true classes, each fifth turned round."""
    known = conclust.sample_constraints(blobs.y, n_relative=120, noise=0.2, random_state=0)
    rows = [[f"r{i:02d}" for i in row] + ["relative"] for row in known.relative]
    write(blobs.folder / "triplets.csv", ["a", "b", "c", "type"], rows)
    return blobs.folder / "triplets.csv"


def test_a_tree_asked_for_names_its_options_when_statements_clash(blobs):
    links = triplets_that_clash(blobs)
    call = ("cluster", blobs.data, "--constraints", links, "--id-col", "key", "-k", 3, "--method",
            "recon", "-o", blobs.folder / "o")  # fmt: skip
    result = run(*call)
    assert result.exit_code == 2
    assert "--set on_conflict=repair" in result.stderr
    assert "on_conflict='repair'" not in result.stderr
    assert run(*call, "--set", "on_conflict=repair").exit_code == 0


def test_auto_goes_on_and_says_so_when_triplets_clash(blobs):
    links = triplets_that_clash(blobs)
    result = run("cluster", blobs.data, "--constraints", links, "--id-col", "key", "-k", 3,
                 "-o", blobs.folder / "o")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "contradict others or the rows and were not obeyed" in result.stdout.replace("\n", " ")
    assert "show (two in one cluster, the third in another)" in result.stdout


def test_a_taxonomy_in_and_a_tree_out(blobs):
    ids = [f"r{i:02d}" for i in range(30)]
    branches = [",".join(i for i, c in zip(ids, blobs.y, strict=True) if c == k) for k in range(3)]
    (blobs.folder / "tax.nwk").write_text(f"(({branches[0]}),({branches[1]}),({branches[2]}));")
    out = blobs.folder / "o"
    call = ("cluster", blobs.data, "--id-col", "key", "-k", 3, "-o", out)
    result = run(*call, "--constraints", blobs.folder / "tax.nwk", "--method", "recon")
    assert result.exit_code == 0, result.output
    assert "tree.nwk" in result.stdout
    labels = [int(row["label"]) for row in read(out / "labels.csv")]
    assert adjusted_rand_score(blobs.y, labels) == 1.0
    back = conclust.read_constraints(out / "tree.nwk", ids=ids)
    assert len(back) == 28
    run(*call, "--method", "cop-kmeans")
    assert not (out / "tree.nwk").exists()  # it would not belong to the new labels


def test_ids_like_formulas_are_guarded(tmp_path):
    ids = ["=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "-5", "\tx", "plain"]
    write(tmp_path / "t.csv", ["id", "x"], [[name, i * i] for i, name in enumerate(ids)])
    out = tmp_path / "o"
    result = run("cluster", tmp_path / "t.csv", "--id-col", "id", "-k", 2, "-o", out)
    assert result.exit_code == 0, result.output
    written = [row["id"] for row in read(out / "labels.csv")]
    assert written[:3] == ["'=1+1", "'+cmd|' /C calc'!A0", "'@SUM(A1)"]
    assert written[3] == "-5"  # a number is no formula
    assert written[5] == "plain"
    assert not any(name.startswith(("=", "+", "@", "\t")) for name in written)
    assert "apostrophe" in result.stdout


def test_without_skops_the_rest_is_written(blobs, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    out = blobs.folder / "o"
    arguments = ["cluster", blobs.data, "--id-col", "key", "-k", 3, "-o", out]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert 'pip install "conclust[persist]"' in result.stdout
    assert sorted(p.name for p in out.iterdir()) == ["labels.csv", "report.html", "run.json"]
    result = run(*arguments, "--model")
    assert result.exit_code == 2
    assert "skops" in result.stderr


def test_only_whole_files_are_left_when_interrupted(blobs, monkeypatch):
    import conclust.reporting

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(conclust.reporting, "write_report", interrupted)
    out = blobs.folder / "o"
    result = run("cluster", blobs.data, "--id-col", "key", "-k", 3, "-o", out)
    assert result.exit_code == 130
    assert not list(out.glob("*.part"))
    assert not list(out.glob(".*"))
    assert "Traceback" not in result.output


@pytest.mark.parametrize("method", ["auto", "pckmeans", "kmeans"])
def test_conflicts_and_report_are_sought_once(blobs, monkeypatch, method):
    # Check against the fit alone: besides it, one search, and a report only where it made none.
    calls = {"conflicts": 0, "report": 0}

    def counting(name):
        real = getattr(conclust.Constraints, name)

        def counted(*arguments, **named):
            calls[name] += 1
            return real(*arguments, **named)

        monkeypatch.setattr(conclust.Constraints, name, counted)

    counting("conflicts")
    counting("report")
    result = run("cluster", blobs.data, "--constraints", blobs.links, "--id-col", "key", "-k", 3,
                 "--method", method, "--raw", "-o", blobs.folder / "OUT", "--json")  # fmt: skip
    told = json.loads(result.stdout)
    there, calls["report"] = calls["report"], 0
    assert calls["conflicts"] == 1
    if method == "kmeans":
        assert there == 1
        return
    frame = pd.read_csv(blobs.data)
    known = conclust.read_constraints(blobs.links, ids=frame["key"])
    model = getattr(conclust, told["class"])(3, random_state=0)
    model.fit(frame[["x", "y"]].to_numpy(), constraints=known)
    assert there == calls["report"]


@pytest.mark.parametrize("method", ["auto", "pckmeans"])
def test_directions_are_clustered_where_asked(blobs, method, tmp_path):
    # Check with rows along three rays: their lengths say nothing.
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], 10)
    rays = np.eye(3)[y] + rng.normal(scale=0.1, size=(30, 3))
    np.save(tmp_path / "rays.npy", rays * rng.uniform(0.1, 50, (30, 1)))
    out = tmp_path / "out"
    how = ("--method", method, "--set", "metric=cosine", "-k", 3, "-o", out)
    result = run("cluster", tmp_path / "rays.npy", *how)
    assert result.exit_code == 0, result.output
    labels = [row["label"] for row in read(out / "labels.csv")]
    assert adjusted_rand_score(y, labels) == 1
