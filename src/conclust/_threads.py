"""How many threads to use, and how many BLAS may use beside them."""

import contextlib
from typing import Any

import joblib
import numpy as np

from conclust._arrays import engine_of
from conclust._sklearn import threadpool_controller

SMALL_TABLE = 1_000_000  # numbers


def one_blas_thread() -> Any:
    """Hold BLAS at one thread, as a context: beside our own threads its pool fights for the cores.

    Whoever runs several fits in threads of its own should hold this around all of them.
    """
    return threadpool_controller().limit(limits=1, user_api="blas")


def one_thread() -> Any:
    """Hold BLAS and OpenMP at one thread: for many small fits, where threads would only wait."""
    return threadpool_controller().limit(limits=1)


def threads_worth(X: Any) -> Any:
    """Hold BLAS and OpenMP at one thread around fits to a small table; else leave them be.

    scikit-learn's k-means on a few thousand rows waits for its threads longer than it computes: on
    busy cores a hundred times as long.
    """
    if engine_of(X) is not None:
        return contextlib.nullcontext()
    X = X if hasattr(X, "__len__") else np.asarray(X)
    n_rows, *n_columns = X.shape if hasattr(X, "shape") else (len(X),)
    is_small = n_rows * max(n_columns, default=1) <= SMALL_TABLE
    return one_thread() if is_small else contextlib.nullcontext()


def available_threads() -> int:
    """As many threads as scikit-learn would use: OMP_NUM_THREADS and joblib's workers count."""
    openmp = threadpool_controller().select(user_api="openmp").info()
    limit = min((pool["num_threads"] for pool in openmp), default=1)
    return min(limit, joblib.cpu_count(only_physical_cores=True))
