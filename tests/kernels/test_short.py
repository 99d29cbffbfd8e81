"""Kernels run interpreted while that is short."""

import os
import subprocess
import sys
from types import FunctionType

import numpy as np
import pytest

from conclust._kernels import _short, agglomerate, cut
from conclust._kernels._jit import jit
from conclust._kernels._short import is_worth_compiling, plain, short


@jit
def twice(x):
    return 2 * x


@jit
def thrice(x):
    return 3 * x


@pytest.fixture(autouse=True)
def nothing_spent(monkeypatch):
    monkeypatch.setattr(_short, "_is_on_disk", lambda kernel: False)
    monkeypatch.setattr(_short, "_spent", {})
    monkeypatch.setattr(_short, "PATIENCE", 100)


def test_plain_reaches_everything_that_is_called():
    # search is in the same module, stamp in another, root_of in a third.
    names = plain(agglomerate.agglomerate).__globals__
    for name in ("search", "stamp", "root_of"):
        assert type(names[name]) is FunctionType
    assert type(names["stamp"].__globals__["expand"]) is FunctionType
    children, size = np.array([[0, 1], [2, 3]]), np.empty(5, dtype=np.int64)
    plain(cut.cluster_sizes)(children, size)
    assert size.tolist() == [1, 1, 1, 2, 3]


def test_short_work_is_interpreted_until_it_adds_up():
    assert short(twice, 101) is twice
    for _ in range(2):
        assert short(twice, 50).__code__ is twice.py_func.__code__
    assert short(twice, 1) is twice
    assert short(thrice, 100).__code__ is thrice.py_func.__code__  # counted apart
    assert short(thrice, 1, patience=200).__code__ is thrice.py_func.__code__


def test_what_is_compiled_is_used():
    @jit
    def half(x):
        return x / 2

    assert not is_worth_compiling(half, 1)
    assert half(3.0) == 1.5
    assert is_worth_compiling(half, 1) == hasattr(half, "signatures")  # not without numba


def test_what_an_earlier_process_has_compiled_is_used(tmp_path):
    code = """
import sys
from conclust import Constraints, ConstrainedKMeans
from conclust._kernels._short import is_worth_compiling
from conclust._kernels.lloyd import iterate_dense as kernel
if "compile" in sys.argv:
    import conclust._kernels._short as short
    short.PATIENCE = 0
print(is_worth_compiling(kernel, 1))
ConstrainedKMeans(2).fit([[0.0], [1.0], [5.0], [6.0]], constraints=Constraints([(0, 1)], [(0, 2)]))
"""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", code, *extra],
            capture_output=True,
            text=True,
            env=env,
            check=True,
        ).stdout.strip()
        for extra in ([], ["compile"], [])
    ]
    assert said == ["False", "True", "True"]
