"""A plain install has no hypothesis: only the strategies may miss it."""

import subprocess
import sys

BLOCKED = """
import sys
sys.modules["hypothesis"] = None  # importing it fails, and it is not found
import inspect, pydoc
"""


def run(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_walking_through_the_package():
    run(
        "import conclust\n"
        "for name in dir(conclust): getattr(conclust, name)\n"
        "inspect.getmembers(conclust)\n"
        "inspect.getmembers(conclust.testing)\n"
        "from conclust import *\n"
        "from conclust.testing import *\n"
        "assert 'COPKMeans' in pydoc.render_doc(conclust)\n"
    )


def test_checks_work_and_strategies_say_what_to_install():
    out = run(
        "from conclust import ITML\n"
        "from conclust.testing import EstimatorCase, _transformer_checks\n"
        "_transformer_checks.check_float32_stays(EstimatorCase(ITML()))\n"
        "import conclust.testing\n"
        "assert 'any_constraints' not in dir(conclust.testing)\n"
        "try:\n"
        "    from conclust.testing import any_constraints\n"
        "except ImportError as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    assert out == (
        "MissingExtraError conclust.testing.any_constraints needs hypothesis: "
        "pip install hypothesis.\n"
    )


def test_with_hypothesis_all_is_there():
    import conclust.testing

    assert {"any_constraints", "estimator_checks"} <= set(dir(conclust.testing))
    assert callable(conclust.testing.any_constraints)
