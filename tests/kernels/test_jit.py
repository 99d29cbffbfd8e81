"""The compile decorator degrades instead of failing."""

import json
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


FITS = """
import json, sys, warnings
{before}
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import conclust
    from sklearn.datasets import load_iris

    X, y = (part[::3] for part in load_iris(return_X_y=True))
    pairs = conclust.sample_constraints(y, 20, random_state=0)
    triplets = conclust.sample_constraints(y, n_relative=20, random_state=0)
    models = [
        conclust.COPKMeans(3, n_init=2, random_state=0),
        conclust.ConstrainedKMeans(3, n_init=2, random_state=0),
        conclust.PCKMeans(3, n_init=2, random_state=0),
        conclust.ConstrainedGaussianMixture(3, n_init=2, random_state=0),
        conclust.BoostedConstrainedKMeans(3, n_estimators=5, random_state=0),
        conclust.SemiSupervisedKernelKMeans(3, n_init=2, random_state=0),
    ]
    labels = [model.fit(X, constraints=pairs).labels_.tolist() for model in models]
    labels.append(conclust.ReCon(3).fit(X, constraints=triplets).labels_.tolist())
print(json.dumps([labels, [str(w.message) for w in told if w.category is RuntimeWarning]]))
"""


def test_without_numba_answers_are_the_same_and_one_warning_says_why_it_takes_long():
    compiled, _ = _printed(FITS.format(before=""))
    plain, told = _printed(FITS.format(before=NO_NUMBA))
    assert plain == compiled
    (warning,) = told
    assert "without numba" in warning
    assert "pip install numba" in warning


def _printed(code):
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)
