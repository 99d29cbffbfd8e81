"""Compiling is said once, on stderr, where it takes long, and not when it is read from the cache."""

import os
import subprocess
import sys

import pytest

from conclust._kernels import _compiling as compiling
from conclust._kernels._compiling import Watch

CODE = """
import conclust._kernels._compiling as compiling
compiling.PATIENCE = 0.0
{before}
import numpy as np
from conclust._kernels.disjoint_set import components
components(np.array([[0, 1], [1, 2]]), 4, np.empty(4, np.int64))
print("done")
"""
SILENT = "import logging; logging.getLogger('conclust').setLevel('ERROR')"


def test_only_what_takes_long_is_said(caplog):
    watch = Watch(patience=3600.0)
    watch.start(True)
    watch.start(True)  # a part of the first
    watch.end()
    assert watch._timer.is_alive()
    watch.end()
    watch._timer.join()
    assert not watch.said
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("is_cached", "words"), [(True, "once on this machine"), (False, "NUMBA_CACHE_DIR")]
)
def test_it_is_said_once(caplog, is_cached, words):
    watch = Watch(patience=0.0)
    for _ in range(2):
        watch.start(is_cached)
        watch._timer.join()
        watch.end()
    assert watch.said
    (message,) = caplog.messages
    assert words in message


def test_first_and_later_processes(tmp_path):
    # Check one line on stderr while compiling, none when read or silenced, nothing else on stdout.
    numba = pytest.importorskip("numba")
    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled under NUMBA_DISABLE_JIT")
    for folder, before, n_lines in (
        ("one", "", 1),
        ("one", "", 0),
        ("two", SILENT, 0),
    ):
        result = subprocess.run(
            [sys.executable, "-c", CODE.format(before=before)],
            capture_output=True,
            text=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / folder)},
        )
        assert result.stdout == "done\n"
        assert len(result.stderr.splitlines()) == n_lines, result.stderr


def test_functions_of_others_may_have_no_module():
    numba = pytest.importorskip("numba")
    compiling.watch_compiling()
    found = {}
    exec("def double(x):\n    return 2 * x", found)
    found["double"].__module__ = None
    assert numba.njit(found["double"])(3) == 6
