"""What every estimator answers, so that a change of structure can show it changed nothing.

    python tests/golden/golden.py            compare with golden.json; say what differs
    python tests/golden/golden.py --write    make golden.json anew, when a change of answers is wanted

Twenty seeds, dense and CSR rows where the method takes them. Labels (or learned components) are
kept as a checksum, beside `n_iter_` and the value of the objective. Rounding, hence now and then a
label, depends on the processor and its BLAS: the file says where it was made.
"""

import argparse
import hashlib
import json
import platform
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

import conclust
from conclust import Constraints, sample_constraints

FILE = Path(__file__).with_name("golden.json")
N_SEEDS = 20

# Estimator by name, whether it takes CSR rows, and what it is told.
PAIRS, NOISY, RELATIVE = "pairs", "noisy", "relative"
CASES: dict[str, tuple[Callable[[int], Any], bool, str]] = {
    "COPKMeans": (lambda s: conclust.COPKMeans(3, random_state=s), True, PAIRS),
    "COPKMeans relax": (
        lambda s: conclust.COPKMeans(3, n_init=3, on_infeasible="relax", random_state=s),
        True,
        NOISY,
    ),
    "ConstrainedKMeans": (
        lambda s: conclust.ConstrainedKMeans(3, n_init=3, random_state=s),
        True,
        NOISY,
    ),
    "ConstrainedKMeans random": (
        lambda s: conclust.ConstrainedKMeans(3, order="random", random_state=s),
        True,
        NOISY,
    ),
    "MiniBatchConstrainedKMeans": (
        lambda s: conclust.MiniBatchConstrainedKMeans(3, batch_size=50, random_state=s),
        True,
        NOISY,
    ),
    "PCKMeans": (lambda s: conclust.PCKMeans(3, random_state=s), True, NOISY),
    "PCKMeans k-means++": (
        lambda s: conclust.PCKMeans(4, penalty=1.0, init="k-means++", random_state=s),
        True,
        PAIRS,
    ),
    "MPCKMeans": (lambda s: conclust.MPCKMeans(3, random_state=s), True, NOISY),
    "MPCKMeans own": (
        lambda s: conclust.MPCKMeans(3, shared=False, n_init=3, random_state=s),
        True,
        NOISY,
    ),
    "GeneralizedKMeans": (
        lambda s: conclust.GeneralizedKMeans(3, n_init=3, random_state=s),
        False,
        PAIRS,
    ),
    "GeneralizedKMeans online": (
        lambda s: conclust.GeneralizedKMeans(3, update="online", n_init=3, random_state=s),
        False,
        PAIRS,
    ),
    "ConstrainedGaussianMixture": (
        lambda s: conclust.ConstrainedGaussianMixture(3, n_init=3, random_state=s),
        False,
        PAIRS,
    ),
    "SemiSupervisedKernelKMeans": (
        lambda s: conclust.SemiSupervisedKernelKMeans(3, random_state=s),
        True,
        NOISY,
    ),
    "SpectralLearning": (lambda s: conclust.SpectralLearning(3, random_state=s), True, NOISY),
    "BoostedConstrainedKMeans": (
        lambda s: conclust.BoostedConstrainedKMeans(3, n_estimators=20, random_state=s),
        True,
        NOISY,
    ),
    "ConstrainedKMeansEnsemble": (
        lambda s: conclust.ConstrainedKMeansEnsemble(3, n_estimators=10, random_state=s),
        True,
        NOISY,
    ),
    "ConstrainedKMeansEnsemble run": (
        lambda s: conclust.ConstrainedKMeansEnsemble(
            3, n_estimators=10, reorder="run", random_state=s
        ),
        True,
        NOISY,
    ),
    "TrustEnsemble": (
        lambda s: conclust.TrustEnsemble(3, n_estimators=6, n_judges=4, random_state=s),
        True,
        NOISY,
    ),
    "CoTraining": (
        lambda s: conclust.CoTraining(
            3,
            estimator=conclust.ConstrainedKMeansEnsemble(n_estimators=5),
            n_rounds=2,
            random_state=s,
        ),
        True,
        PAIRS,
    ),
    "BoostCluster": (
        lambda s: conclust.BoostCluster(n_clusters=3, n_estimators=8, random_state=s),
        True,
        NOISY,
    ),
    "ReCon": (lambda s: conclust.ReCon(3), False, RELATIVE),
    "ReCon average": (
        lambda s: conclust.ReCon(3, linkage="average", on_conflict="repair"),
        False,
        RELATIVE,
    ),
    "ITML": (lambda s: conclust.ITML(random_state=s), False, NOISY),
    "RelativeMetric": (lambda s: conclust.RelativeMetric(), False, RELATIVE),
    "DistBoost": (lambda s: conclust.DistBoost(n_estimators=4, random_state=s), False, NOISY),
}

OBJECTIVES = ("objective_", "inertia_", "lower_bound_", "error_")


def data_sets() -> list[tuple[np.ndarray, np.ndarray]]:
    """Iris, scaled wine and 240 digits: three shapes, no files needed."""
    iris, wine, digits = (loader(return_X_y=True) for loader in (load_iris, load_wine, load_digits))
    return [
        iris,
        (StandardScaler().fit_transform(wine[0]), wine[1]),
        (digits[0][:240], digits[1][:240] // 4),
    ]


def statements(y: np.ndarray, told: str, seed: int) -> Constraints:
    """What the estimator is told about rows of these classes."""
    if told == RELATIVE:
        return sample_constraints(y, n_relative=60, random_state=seed)
    return sample_constraints(y, 60, noise=0.1 if told == NOISY else 0.0, random_state=seed)


def answers(
    seeds: int = N_SEEDS, names: list[str] | None = None
) -> Iterator[tuple[str, list[Any]]]:
    """One entry per estimator, seed and kind of rows: checksum, iterations, objective."""
    sets = data_sets()
    for name, (make, takes_sparse, told) in CASES.items():
        if names and name not in names:
            continue
        for seed in range(seeds):
            X, y = sets[seed % len(sets)]
            for kind in ("dense", "csr") if takes_sparse else ("dense",):
                rows = sp.csr_matrix(X) if kind == "csr" else X
                if name == "CoTraining":
                    half = X.shape[1] // 2
                    rows = [rows[:, :half], rows[:, half:]]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model = make(seed).fit(rows, constraints=statements(y, told, seed))
                yield f"{name} | {kind} | {seed}", summary(model, X)


def summary(model: Any, X: np.ndarray) -> list[Any]:
    """Checksum of what was found, iterations, objective."""
    found = (
        np.asarray(model.labels_, np.int64)
        if hasattr(model, "labels_")
        else np.round(np.asarray(model.transform(X[:20]), float), 6) + 0.0
    )
    checksum = hashlib.sha256(found.tobytes()).hexdigest()[:12]
    n_iter = np.ravel(getattr(model, "n_iter_", -1)).tolist()
    objective = next((getattr(model, a) for a in OBJECTIVES if hasattr(model, a)), None)
    return [checksum, n_iter, None if objective is None else float(f"{objective:.9g}")]


def where() -> dict[str, Any]:
    """What the last digits depend on."""
    blas = sorted(
        {
            f"{pool['internal_api']} {pool.get('version')} {pool.get('architecture')}"
            for pool in threadpool_info()
            if pool["user_api"] == "blas"
        }
    )
    import sklearn

    return {
        "machine": platform.machine(),
        "blas": blas,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }


def differences(new: dict[str, list[Any]], old: dict[str, list[Any]]) -> list[str]:
    """Entries that are not what they were, in words."""
    return [
        f"{key}: {old.get(key)} -> {value}" for key, value in new.items() if old.get(key) != value
    ]


def main() -> int:
    """Compare, or write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", nargs="*", help="names of estimators")
    arguments = parser.parse_args()
    new = dict(answers(names=arguments.only))
    if arguments.write:
        old = json.loads(FILE.read_text())["answers"] if arguments.only else {}
        entries = ",\n".join(
            f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in {**old, **new}.items()
        )
        FILE.write_text(
            f'{{"made": {json.dumps(where())},\n "answers": {{\n{entries}\n}}}}\n', encoding="utf-8"
        )
        print(f"{len(new)} answers written to {FILE.name}")
        return 0
    old = json.loads(FILE.read_text())["answers"]
    changed = differences(new, old)
    print("\n".join(changed[:40]))
    print(f"{len(new)} answers, {len(changed)} differ")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
