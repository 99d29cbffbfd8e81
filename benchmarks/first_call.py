"""What a newcomer waits for: the first fit of every estimator, with nothing compiled yet.

``python benchmarks/first_call.py [COPKMeans ReCon ...] [--kinds] [--demo] [--functions]``.

Iris, 50 statements, three clusters; each estimator in a process of its own with an empty folder
for compiled kernels, then in a second process that finds what the first one left there. One thread,
and seconds of processor time: what a free machine takes, whatever else runs on this one.
``--kinds`` also asks for float32 and CSR rows after the first fit, ``--demo`` times ``conclust
demo`` cold and warm, ``--functions`` says which kernels took how long to compile. Without names,
all estimators, all kinds and the demo.
"""

import argparse
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

N_STATEMENTS = 50
TOLD_BY_TRIPLETS = ("ReCon", "RelativeMetric")
WITH_KINDS = ("COPKMeans", "PCKMeans")


def estimators():
    """Names of the public classes that learn from statements."""
    import conclust

    return [
        name
        for name in sorted(conclust._HOMES)
        if inspect.isclass(value := getattr(conclust, name))
        and "constraints" in inspect.signature(getattr(value, "fit", len)).parameters
        and "estimator" not in _required(value)
    ]


def _required(cls):
    parameters = inspect.signature(cls).parameters.values()
    return [p.name for p in parameters if p.default is p.empty]


def watch_compiling():
    """Collect (function, signature, seconds without what it calls) of everything compiled."""
    from numba.core import event

    class Listener(event.Listener):
        def __init__(self):
            self.compiled, self.open = [], []

        def on_start(self, event):
            self.open.append([time.process_time(), 0.0])

        def on_end(self, event):
            began, inside = self.open.pop()
            seconds = time.process_time() - began
            if self.open:
                self.open[-1][1] += seconds
            dispatcher = event.data["dispatcher"]
            name = f"{dispatcher.py_func.__module__}.{dispatcher.__name__}"
            if "conclust" in name:
                signature = ", ".join(map(str, event.data["args"]))
                self.compiled.append((name, signature, seconds - inside))

    listener = Listener()
    event.register("numba:compile", listener)
    return listener.compiled


def measure_here(name, kinds):
    """Import, first and second fit (and first fits of other kinds of rows), in this process."""
    began = time.process_time()
    import conclust
    from conclust import sample_constraints

    cls = getattr(conclust, name)
    found = {"import": time.process_time() - began}
    import scipy.sparse as sp
    from sklearn.datasets import load_iris

    compiled = watch_compiling()
    X, y = load_iris(return_X_y=True)
    size = {"n_relative" if name in TOLD_BY_TRIPLETS else "n_pairs": N_STATEMENTS}
    known = sample_constraints(y, random_state=0, **size)
    takes = inspect.signature(cls).parameters
    given = {k: 3 for k in ("n_clusters", "n_components") if k in takes and name != "ITML"}
    if "random_state" in takes:
        given["random_state"] = 0
    rows = {"first": X, "second": X}
    if kinds:
        rows |= {"float32": X.astype("float32"), "csr": sp.csr_matrix(X)}
        rows |= {"csr float32": sp.csr_matrix(X.astype("float32"))}
    for kind, data in rows.items():
        given_rows = [data[:, :2], data[:, 2:]] if name == "CoTraining" else data
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cls(**given).fit(given_rows, constraints=known)
        found[kind] = time.process_time() - began
    return found | {"compiled": compiled}


def in_fresh_process(command, cache):
    settings = {"NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    began = _spent_by_children()
    answer = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True)
    if answer.returncode:
        sys.exit(answer.stderr)
    return answer.stdout, _spent_by_children() - began


def _spent_by_children():
    spent = os.times()
    return spent.children_user + spent.children_system


def measure(name, kinds):
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, "--here", name, *(["--kinds"] if kinds else [])]
        cold = json.loads(in_fresh_process(command, cache)[0])
        warm = json.loads(in_fresh_process(command, cache)[0])
        kilobytes = sum(f.stat().st_size for f in Path(cache).rglob("*") if f.is_file()) / 1024
    return cold, warm, kilobytes


def print_estimator(name, kinds, functions):
    cold, warm, kilobytes = measure(name, kinds)
    n_compiled = len(cold["compiled"])
    print(
        f"| {name} | {cold['import']:.1f} | {cold['first']:.1f} | {cold['second']:.3f} "
        f"| {warm['first']:.2f} | {n_compiled} | {kilobytes:.0f} |",
        flush=True,
    )
    for kind in ("float32", "csr", "csr float32"):
        if kind in cold:
            print(f"|   then {kind} | | {cold[kind]:.1f} | | {warm[kind]:.2f} | | |", flush=True)
    if functions:
        for function, signature, seconds in sorted(cold["compiled"], key=lambda row: -row[2]):
            print(f"    {seconds:6.2f} s  {function}({signature})")


def print_demo():
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-c", "from conclust.cli import main; main()", "demo", "-o"]
        command.append(str(Path(cache) / "demo"))
        cold, warm = (in_fresh_process(command, Path(cache) / "kernels")[1] for _ in range(2))
    print(f"\nconclust demo: cold {cold:.1f} s, warm {warm:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        print(json.dumps(measure_here(asked.names[0], asked.kinds)))
        return
    everything = not asked.names and not asked.demo
    if everything or asked.names:
        print("| estimator | import | first fit, cold | second | warm process | compiled | KB |")
        print("|---|---|---|---|---|---|---|")
    for name in asked.names or (estimators() if everything else ()):
        kinds = asked.kinds or (everything and name in WITH_KINDS)
        print_estimator(name, kinds, asked.functions)
    if everything or asked.demo:
        print_demo()


if __name__ == "__main__":
    main()
