"""Where rows come from: every source gives the same rows, and says what is wrong with them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import conclust
from conclust import blocks
from conclust.blocks._blocks import Blocks

X = np.random.RandomState(0).normal(size=(23, 3))


def npy(folder, X):
    np.save(folder / "rows.npy", X)
    return blocks.open(folder / "rows.npy", block_rows=5)


def npy_by_columns(folder, X):
    np.save(folder / "rows.npy", np.asfortranarray(X))
    return blocks.open(str(folder / "rows.npy"), block_rows=5)


def npz(folder, X):
    np.savez(folder / "rows.npz", other=np.arange(3), X=X)
    return blocks.open(folder / "rows.npz", member="X", block_rows=5)


def npz_packed(folder, X):
    np.savez_compressed(folder / "rows.npz", X)
    return blocks.open(folder / "rows.npz", block_rows=5)


def memory_map(folder, X):
    np.save(folder / "rows.npy", X)
    return blocks.open(np.load(folder / "rows.npy", mmap_mode="r"), block_rows=5)


def in_memory(folder, X):
    return blocks.open(X)


def arrays(folder, X):
    return blocks.open([X[:1], X[1:12], X[12:12], X[12:].tolist()], block_rows=4)


def function(folder, X):
    return blocks.open(lambda: (X[at : at + 6] for at in range(0, len(X), 6)), block_rows=4)


def _write(path, X, names="abc", row_group_size=None):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    table = pa.table(
        {name: X[:, i] for i, name in enumerate(names)} | {"id": list(map(str, X[:, 0]))}
    )
    pyarrow.parquet.write_table(table, path, row_group_size=row_group_size)


def parquet(folder, X):
    _write(folder / "rows.parquet", X, row_group_size=4)
    return blocks.open(folder / "rows.parquet", columns=["a", "b", "c"], block_rows=5)


def parquet_folder(folder, X):
    (folder / "rows" / "deep").mkdir(parents=True)
    _write(folder / "rows" / "part-0.parquet", X[:9], row_group_size=4)
    _write(folder / "rows" / "part-1.parquet", X[9:9])
    _write(folder / "rows" / "part-2.parquet", X[9:])
    return blocks.open(folder / "rows", columns=["a", "b", "c"])


SOURCES = [
    npy, npy_by_columns, npz, npz_packed, memory_map, in_memory, arrays, function, parquet,
    parquet_folder,
]  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_rows(source, tmp_path):
    rows = source(tmp_path, X)
    assert isinstance(rows, Blocks)
    assert rows.shape == X.shape
    assert rows.dtype == np.float64
    assert_array_equal(rows.to_numpy(), X)
    assert_array_equal(rows.to_numpy(), X)  # a second pass
    chosen = np.array([22, 0, 7, 7, 11, 12, 4])
    assert_array_equal(rows[chosen], X[chosen])
    assert rows[np.array([], dtype=int)].shape == (0, 3)
    assert max(len(block) for _, block in rows.read()) <= rows.block_rows


@pytest.mark.parametrize("source", SOURCES)
def test_single_precision_stays(source, tmp_path):
    rows = source(tmp_path, X.astype(np.float32))
    if source is not arrays:  # the list in it has no type
        assert rows.dtype == np.float32
        assert_array_equal(rows.to_numpy(), X.astype(np.float32))


def test_whole_numbers_and_truth_values_become_numbers(tmp_path):
    counts = np.arange(6).reshape(3, 2)
    assert blocks.open(counts).to_numpy().dtype == np.float64
    _write(tmp_path / "rows.parquet", counts > 2, names="ab")
    rows = blocks.open(tmp_path / "rows.parquet", columns=["b", "a"])
    assert_array_equal(rows.to_numpy(), (counts > 2)[:, ::-1])
    assert rows.columns == ["b", "a"]


def test_blocks_pass_through_open_and_name_themselves():
    rows = blocks.open(X)
    assert blocks.open(rows) is rows
    assert repr(rows) == "Blocks(X: 23 × 3, float64)"
    assert len(rows) == 23
    assert conclust.blocks is blocks


def test_what_cannot_be_read_says_why(tmp_path):
    def refused(error, match, *source, **how):
        with pytest.raises(error, match=match):
            blocks.open(*source, **how)

    refused(FileNotFoundError, "no file or folder .*none.npy", tmp_path / "none.npy")
    refused(ValueError, "holds no file whose name ends in .parquet", tmp_path)
    (tmp_path / "rows.csv").write_text("1,2\n")
    refused(ValueError, r"rows.csv: .*\.npy, \.npz or \.parquet", tmp_path / "rows.csv")
    refused(TypeError, "generator, which can be passed over once only", (x for x in [X]))
    refused(TypeError, "source is a int; pass a path", 3)
    refused(ValueError, r"shape \(23,\); rows are the first", X[:, 0])
    refused(ValueError, "has 0 rows of 3 features", X[:0])
    refused(ValueError, "holds no block", [])
    refused(ValueError, r"block 1 has shape \(23, 2\)", [X, X[:, :2]])
    refused(TypeError, "values of type <U1", np.array([["a"]]))
    refused(ValueError, r"block_rows=0 must be", X, block_rows=0)
    refused(ValueError, r"columns=\['a'\], but X has no names", X, columns=["a"])
    np.savez(tmp_path / "two.npz", a=X, b=X)
    refused(ValueError, "Choose one of its arrays: member= 'a', 'b'", tmp_path / "two.npz")
    refused(ValueError, "There is no 'c' there", tmp_path / "two.npz", member="c")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "two.npz").read_bytes()[:200])
    refused(ValueError, "cut.npz is not a whole .npz file", tmp_path / "cut.npz")
    (tmp_path / "cut.npy").write_bytes(b"not an array")
    refused(ValueError, "cut.npy cannot be read", tmp_path / "cut.npy")
    (tmp_path / "cut.parquet").write_bytes(b"not a table")
    refused(ValueError, "cut.parquet cannot be read", tmp_path / "cut.parquet")


def test_nothing_is_unpickled(tmp_path):
    objects = np.array([[X], [X]], dtype=object)[:, :, 0, 0]
    np.save(tmp_path / "objects.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "objects.npz", objects)
    with pytest.raises(ValueError, match=r"objects\.npy cannot be read as an array of numbers"):
        blocks.open(tmp_path / "objects.npy")
    with pytest.raises(ValueError, match="holds Python objects, which are never loaded"):
        blocks.open(tmp_path / "objects.npz")


def test_columns_of_a_parquet_file_are_checked(tmp_path):
    _write(tmp_path / "rows.parquet", X)
    with pytest.raises(
        TypeError,
        match=r"rows\.parquet: 'id' holds no numbers \(string\).*columns=\['a', 'b', 'c'\]",
    ):
        blocks.open(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"rows\.parquet has no column 'z'; it has 'a', 'b'"):
        blocks.open(tmp_path / "rows.parquet", columns=["z"])
    _write(tmp_path / "zz.parquet", X, names="abd")
    with pytest.raises(ValueError, match=r"zz\.parquet has no column 'c'"):
        blocks.open(tmp_path, columns=["a", "c"])


def test_a_source_that_changes_is_noticed():
    passes = iter([X, X[:-1]])
    rows = blocks.open(lambda: [next(passes)])
    with pytest.raises(ValueError, match="gave 22 rows in this pass, but 23 when it was opened"):
        rows.to_numpy()


def test_blocks_are_not_loaded_unasked():
    with pytest.raises(TypeError, match=r"would be loaded into memory whole.*X\.to_numpy\(\)"):
        np.asarray(blocks.open(X))


def test_a_pass_over_a_parquet_file_holds_a_part_of_it(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    path = tmp_path / "rows.parquet"
    table = pa.table({"x": np.random.RandomState(0).normal(size=1_000_000)})
    pyarrow.parquet.write_table(table, path, row_group_size=50_000)
    del table
    before, most = pa.total_allocated_bytes(), 0
    for _ in conclust.blocks.open(path, block_rows=10_000).read():
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < path.stat().st_size / 4
