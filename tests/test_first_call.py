"""Which kernels a first fit compiles, for how many types of arguments: this is what it waits for.

    python tests/test_first_call.py --write    make first_call.json anew, when a change is wanted

Every new kernel, and every new type of an argument (int32 beside int64, Fortran beside C order),
adds a tenth of a second and more to the first fit of all users. `benchmarks/first_call.py` has the
seconds.
"""

import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("first_call.json")
TOLD_BY_TRIPLETS = ("ReCon", "RelativeMetric")


def estimators():
    """Public classes that learn from statements, by name."""
    import conclust

    classes = {name: getattr(conclust, name) for name in sorted(conclust._HOMES)}
    return {
        name: cls
        for name, cls in classes.items()
        if inspect.isclass(cls)
        and "constraints" in inspect.signature(getattr(cls, "fit", len)).parameters
        and "estimator" not in _required(cls)
    }


def _required(cls):
    parameters = inspect.signature(cls).parameters.values()
    return [parameter.name for parameter in parameters if parameter.default is parameter.empty]


def kernels():
    """All compiled functions that Python can call, by name."""
    import conclust._kernels as package

    return {
        f"{module.name}.{name}": value
        for module in pkgutil.iter_modules(package.__path__)
        for name, value in vars(
            importlib.import_module(f"{package.__name__}.{module.name}")
        ).items()
        if hasattr(value, "signatures") and value.__module__.endswith(f".{module.name}")
    }


def signatures_of_fits():
    """The signatures that the fit of each estimator on iris makes or finds on disk."""
    from sklearn.datasets import load_iris

    from conclust import sample_constraints
    from conclust._kernels import _short

    _short._is_on_disk = lambda kernel: False  # as on a machine that has compiled nothing yet
    X, y = load_iris(return_X_y=True)
    pairs = sample_constraints(y, 50, random_state=0)
    triplets = sample_constraints(y, n_relative=50, random_state=0)
    for name, cls in estimators().items():
        takes = inspect.signature(cls).parameters
        sizes = ("n_clusters",) if name == "ITML" else ("n_clusters", "n_components")
        given = {key: 3 for key in sizes if key in takes}
        if "random_state" in takes:
            given["random_state"] = 0
        rows = [X[:, :2], X[:, 2:]] if name == "CoTraining" else X
        known = triplets if name in TOLD_BY_TRIPLETS else pairs
        # Twice: the first time kernels that others call may be compiled, too; read from disk, only
        # those count that Python calls.
        for _ in range(2):
            _short._spent.clear()
            for kernel in kernels().values():
                kernel._reset_overloads()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                cls(**given).fit(rows, constraints=known)
        yield (
            name,
            {
                key: [str(signature) for signature in kernel.signatures]
                for key, kernel in kernels().items()
                if kernel.signatures
            },
        )


def in_fresh_process():
    answer = subprocess.run(
        [sys.executable, __file__, "--show"], capture_output=True, text=True, check=True
    )
    return json.loads(answer.stdout)


def test_a_first_fit_compiles_what_the_table_says():
    numba = pytest.importorskip("numba")
    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled under NUMBA_DISABLE_JIT")
    expected = json.loads(FILE.read_text())
    found = in_fresh_process()
    changes = []
    for name in sorted(expected.keys() | found.keys()):
        before, now = expected.get(name, {}), found.get(name, {})
        for kernel in sorted(before.keys() | now.keys()):
            signatures = now.get(kernel, [])
            if len(signatures) != before.get(kernel, 0):
                changes.append(
                    f"{name}: {kernel} compiled {len(signatures)} times, by the table "
                    f"{before.get(kernel, 0)}" + "".join(f"\n    {one}" for one in signatures)
                )
    assert not changes, "\n".join(
        [*changes, "If that is wanted: python tests/test_first_call.py --write"]
    )


if __name__ == "__main__":
    if "--show" in sys.argv:
        print(json.dumps(dict(signatures_of_fits())))
    elif "--write" in sys.argv:
        table = {
            name: {kernel: len(signatures) for kernel, signatures in sorted(found.items())}
            for name, found in in_fresh_process().items()
        }
        FILE.write_text(json.dumps(table, indent=1) + "\n")
        for name, counts in table.items():
            print(f"{name}: {sum(counts.values())}")
