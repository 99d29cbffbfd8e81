"""What an installation weighs, what imports cost, and what numba saves.

    python benchmarks/install.py [--newcomer]

Seconds are of the processor, the least of five, each in a process of its own. ``--newcomer`` does
what the first page says, from a clone to the first picture, and times each step.
"""

import importlib.metadata
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).parents[1]

IMPORTS = [
    "import conclust",
    "import conclust.cli",
    "from conclust import Constraints",
    "import sklearn.cluster",
    "import sys; sys.modules['pandas'] = None; import sklearn.cluster",
    "import sklearn.cluster, numba",
    "from conclust import COPKMeans",
    "from conclust import AutoCluster",
]
PACKAGES = [
    "llvmlite",
    "scipy",
    "pandas",
    "numpy",
    "scikit-learn",
    "numba",
    "rich",
    "pygments",
    "click",
    "conclust",
]
FIT = """
import sys, time
{before}
import numpy as np
from conclust import {name}, sample_constraints
rng = np.random.RandomState(0)
y = rng.randint(5, size=2000)
X = 3 * rng.normal(size=(5, 10))[y] + rng.normal(size=(2000, 10))
known = sample_constraints(y, 200, random_state=0)
model = {name}(5, n_init=2, random_state=0)
model.fit(X, constraints=known)  # compiles, or reads what was compiled
began = time.perf_counter()
model.fit(X, constraints=known)
print(time.perf_counter() - began)
"""


def seconds(code):
    """Of the processor, for one run of a line."""
    return seconds_of([sys.executable, "-c", code])


def seconds_of(command, **settings):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, **settings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def newcomer():
    """Clone, then the commands of the first block of docs/first_steps.md, as they stand there."""
    page = (TOP / "docs" / "first_steps.md").read_text(encoding="utf-8")
    steps = re.search(r"```sh\n(.*?)```", page, flags=re.DOTALL)[1].splitlines()
    environment = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "NUMBA_CACHE_DIR")
    }
    with tempfile.TemporaryDirectory() as folder:
        for step in [f"git clone -q {TOP} conclust", *steps]:
            where = folder if step.startswith("git") else f"{folder}/conclust"
            began = time.perf_counter()
            used = seconds_of(
                shlex.split(step), cwd=where, env=environment, stdout=subprocess.DEVNULL
            )
            print(
                f"{time.perf_counter() - began:6.1f} s, processor {used:5.1f} s  {step}", flush=True
            )
        report = Path(folder, "conclust", "conclust-demo", "report.html")
        print(f"{report.name}: {report.stat().st_size / 1e3:.0f} kB")


def megabytes(package):
    files = importlib.metadata.files(package) or []
    return sum(f.locate().stat().st_size for f in files if f.locate().is_file()) / 1e6


def fit_seconds(name, before=""):
    code = FIT.format(before=before, name=name)
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True
    )
    return float(result.stdout)


def main():
    for package in PACKAGES:
        try:
            print(f"{megabytes(package):7.1f} MB  {package}")
        except importlib.metadata.PackageNotFoundError:
            print(f"      -     {package}")
    for code in IMPORTS:
        print(f"{min(seconds(code) for _ in range(5)):6.2f} s  {code}")
    for name in ("COPKMeans", "PCKMeans", "ConstrainedKMeans"):
        compiled, plain = fit_seconds(name), fit_seconds(name, "sys.modules['numba'] = None")
        print(f"{compiled:6.3f} s  {name} with numba; {plain:.2f} s without")


if __name__ == "__main__":
    if "--newcomer" in sys.argv[1:]:
        newcomer()
    else:
        main()
