"""Fill the table: each case in a process with a time limit, from where an earlier run stopped."""

import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from reproduction._runner import finished, key_of

import conclust
from benchmarks.report._cases import ENVIRONMENT, RIVALS
from benchmarks.report._one import LATE

TOP = Path(__file__).parents[2]
ONE = Path(__file__).with_name("_one.py")
FOLDER = TOP / "build" / "rivals"
WAIT = 10  # times the limit, which is of the processor: others may be at work
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def fill(cases, checkpoint, limit, fresh=False):
    """Measure what the checkpoint does not hold, and return rows by case and who is missing.

    `fresh` measures these cases anew; others that the checkpoint holds stay.
    """
    done, missing = finished(checkpoint), {}
    if fresh:
        done = {}
    for case in cases:
        rival = ENVIRONMENT.get(case["who"])
        if rival and not python_of(rival).exists():
            missing[case["who"]] = reason(rival)
    todo = [
        case for case in cases if case["who"] not in missing and not is_current(case, done, limit)
    ]
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    with checkpoint.open("a", encoding="utf-8") as file:
        for number, case in enumerate(todo, 1):
            row = measured(case, limit)
            done[key_of(case)] = row
            print(f"{number} of {len(todo)}: {case} {row}", file=sys.stderr, flush=True)
            file.write(json.dumps({"case": case, "result": row}) + "\n")
            file.flush()
            os.fsync(file.fileno())
    wanted = {key_of(case) for case in cases}
    return {key: row for key, row in done.items() if key in wanted}, missing


def is_current(case, done, limit):
    """Whether a row is of this code, and did not fail for want of time that there is now."""
    row = done.get(key_of(case))
    if row is None or row.get("limit", limit) < limit:
        return False
    return case["who"] in ENVIRONMENT or row["code"] == code()


def measured(case, limit):
    rival = ENVIRONMENT.get(case["who"])
    python = str(python_of(rival)) if rival else sys.executable
    env = os.environ | dict.fromkeys(THREADS, "1")
    if rival:
        env.pop("PYTHONPATH", None)
    asked = json.dumps(case | {"beside": rival is None})
    command = [python, str(ONE), asked, str(limit)]
    late = {"failed": f"more than {limit:g} s", "limit": limit, "code": code()}
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=WAIT * limit, env=env)
    except subprocess.TimeoutExpired:
        return late
    if ran.returncode == LATE:
        return late
    if ran.returncode:
        said = ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"]
        return {"failed": said[-1][:200], "code": code()}
    return json.loads(ran.stdout.strip().splitlines()[-1]) | {"code": code()}


@cache
def code():
    """Name the state of the code that rows of ours depend on."""
    digest = hashlib.sha256(ONE.read_bytes())
    for path in sorted(Path(conclust.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def python_of(rival):
    return FOLDER / rival / "bin" / "python"


def reason(rival):
    """Why there is no environment of a rival."""
    log = FOLDER / f"{rival}.log"
    if not log.exists():
        return "not asked for (`--rivals` installs it)"
    lines = [line for line in log.read_text().splitlines() if line.startswith("ERROR")]
    return f"pip said: {lines[-1][:200]}" if lines else "pip did not finish in time"


def install_rivals(limit=600):
    """Make the environments that are not there yet; one that fails leaves its log."""
    for rival, packages in RIVALS.items():
        if python_of(rival).exists():
            continue
        print(f"installing {rival}", file=sys.stderr, flush=True)
        made = FOLDER / f"{rival}.new"
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(made)], check=True)
        pip = [str(made / "bin" / "python"), "-m", "pip", "install", *packages]
        with (FOLDER / f"{rival}.log").open("w") as log:
            try:
                ran = subprocess.run(pip, stdout=log, stderr=log, timeout=limit).returncode
            except subprocess.TimeoutExpired:
                ran = 1
        if ran == 0:
            made.rename(FOLDER / rival)
