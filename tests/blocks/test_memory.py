"""A file five times as large as the memory a process may take."""

import subprocess
import sys

import numpy as np
import pytest

ALLOWED = 32  # MB, beside what the process has once loops are compiled
N_ROWS = 5 * ALLOWED * 2**20 // (16 * 4)

SCRIPT = f"""
import resource
import sys
from pathlib import Path

import numpy as np

from conclust import ConstrainedKMeans, Constraints, MiniBatchConstrainedKMeans, blocks

path, labels_file, name = map(str, sys.argv[1:])
model = {{
    "ConstrainedKMeans": ConstrainedKMeans(5, max_iter=3, random_state=0),
    "MiniBatchConstrainedKMeans": MiniBatchConstrainedKMeans(5, max_iter=1, random_state=0),
}}[name]
few = np.load(path, mmap_mode="r")[:20_000]
model.fit(blocks.open(few), constraints=Constraints([(0, 5)], [(0, 1)]))  # compile
pairs = np.random.RandomState(0).randint({N_ROWS} // 5, size=(10_000, 2)) * 5
pairs = pairs[pairs[:, 0] != pairs[:, 1]]  # rows 0, 5, 10, … are of one blob
known = Constraints(must_link=pairs, cannot_link=pairs + [0, 1])
status = Path("/proc/self/status").read_text()
has = int(status.split("VmData:")[1].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (has + {ALLOWED} * 2**20,) * 2)
try:
    np.ones(2 * {ALLOWED} * 2**20 // 8)
    sys.exit("the limit does not hold")
except MemoryError:
    pass
model.fit(blocks.open(path, labels_file=labels_file), constraints=known)
assert model.report_.n_violated == 0, model.report_
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "rows.npy"
    generator = np.random.RandomState(0)
    centers = generator.normal(scale=8.0, size=(5, 16)).astype(np.float32)
    table = np.lib.format.open_memmap(path, "w+", np.float32, (N_ROWS, 16))
    for start in range(0, N_ROWS, 1 << 18):
        here = np.arange(start, min(start + (1 << 18), N_ROWS))
        table[here] = centers[here % 5] + generator.normal(size=(len(here), 16))
    del table
    yield path
    path.unlink()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
@pytest.mark.parametrize("name", ["ConstrainedKMeans", "MiniBatchConstrainedKMeans"])
def test_a_file_of_five_times_the_memory_goes_through(name, rows, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, rows, tmp_path / "labels.npy", name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(np.load(tmp_path / "labels.npy", mmap_mode="r")) == N_ROWS
