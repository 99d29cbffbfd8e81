"""Whatever the files hold: an answer or a message, never a traceback."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.conftest import run

cells = st.one_of(
    st.sampled_from(
        ["", "1", "2.5", "-3", "1e400", "nan", "inf", "NA", "true", "2020-01-01", "1.2.2020", "5%", "$1,000", "a", "b", "x y",
         '"', "'", ",", ";", "\t", "=1+1", "é", "\ufeff", "0", "1e3", "007", "1,5", "None"]
    ),
    st.text(max_size=6),
)  # fmt: skip


def _join(rows, separator, end):
    return end.join(separator.join(row) for row in rows).encode("utf-8", "surrogatepass")


def tables(width):
    """Mostly rectangular, with a few cells of trouble."""
    row = st.lists(cells, min_size=1, max_size=width)
    good = st.lists(
        st.lists(st.sampled_from(["1", "2", "7.5", "a", ""]), min_size=3, max_size=3),
        min_size=1,
        max_size=8,
    ).map(lambda rows: [["k", "x", "y"], *([f"r{i}", *r[1:]] for i, r in enumerate(rows))])
    rows = st.one_of(good, st.lists(row, max_size=8))
    return st.builds(
        _join, rows, st.sampled_from([",", ";", "\t"]), st.sampled_from(["\n", "\r\n", "\r"])
    )


statements = st.one_of(
    st.binary(max_size=40),
    st.lists(
        st.tuples(
            st.sampled_from(["r0", "r1", "r2", "r9", "0", "1", ""]),
            st.sampled_from(["r0", "r1", "r3", "2", "x"]),
            st.sampled_from(["ml", "cl", "relative", "skip", "", "?"]),
        ),
        max_size=5,
    ).map(lambda rows: ("a,b,type\n" + "\n".join(map(",".join, rows))).encode()),
)


def check(result):
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (0, 1, 2)
    assert "Traceback" not in result.output
    if result.exit_code == 2:
        assert result.stderr.strip()


@settings(max_examples=40)
@given(
    st.one_of(tables(4), st.binary(max_size=60)),
    statements,
    st.sampled_from(["table.csv", "table.tsv", "table.npy", "table.npz", "table.xlsx", "t.csv.gz"]),
    st.sampled_from(
        [
            ["--id-col", "k"],
            [],
            ["--columns", "x,y"],
            ["--text-col", "y"],
            ["--raw"],
            ["--category", "x"],
        ]
    ),
    st.sampled_from(["1", "2", "3", "auto"]),
)
def test_cluster_and_check(table, links, name, options, k):
    with tempfile.TemporaryDirectory() as folder:
        data, said = Path(folder, name), Path(folder, "links.csv")
        data.write_bytes(table)
        said.write_bytes(links)
        out = Path(folder, "out")
        check(run("cluster", data, "--constraints", said, *options, "-k", k, "-o", out,
                  "--no-model", "--method", "pckmeans"))  # fmt: skip
        check(run("cluster", data, *options, "-k", k, "-o", out, "--no-model", "--json"))
        check(run("check", "--constraints", said))
        check(run("check", "--constraints", said, "--data", data, "--skip-unknown"))
        assert not list(Path(folder).rglob("*.part"))


@settings(max_examples=30)
@given(
    st.binary(max_size=80),
    st.sampled_from(["l.json", "l.jsonl", "l.tsv", "l.csv", "l.csv.gz", "l.xlsx"]),
)
def test_check_of_any_bytes(content, name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        check(run("check", "--constraints", path, "--json"))
