"""The compile decorator degrades instead of failing."""

import os
import subprocess
import sys

import pytest

CODE = """
import sys
{before}
from conclust import Constraints
from conclust._kernels.disjoint_set import components
print(Constraints([(0, 1), (1, 2)]).closure(4).component.tolist(), hasattr(components, "signatures"),
      components.py_func is not None)
"""
NO_NUMBA = "sys.modules['numba'] = None"


@pytest.mark.parametrize(
    ("before", "environment", "compiled"),
    [
        ("", {}, True),
        ("", {"NUMBA_CACHE_DIR": "/dev/null/nowhere"}, True),
        ("", {"NUMBA_DISABLE_JIT": "1"}, False),
        (NO_NUMBA, {}, False),
    ],
    ids=["usual", "unwritable cache", "NUMBA_DISABLE_JIT", "numba absent"],
)
def test_kernels_work(before, environment, compiled):
    result = subprocess.run(
        [sys.executable, "-c", CODE.format(before=before)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == f"[0, 0, 0, 1] {compiled} True"
