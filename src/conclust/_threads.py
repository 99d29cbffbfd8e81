"""How many threads to use, and how many BLAS may use beside them."""

from typing import Any

import joblib

from conclust._sklearn import threadpool_controller


def one_blas_thread() -> Any:
    """Hold BLAS at one thread, as a context: beside our own threads its pool fights for the cores.

    Whoever runs several fits in threads of its own should hold this around all of them.
    """
    return threadpool_controller().limit(limits=1, user_api="blas")


def one_thread() -> Any:
    """Hold BLAS and OpenMP at one thread: for many small fits, where threads would only wait."""
    return threadpool_controller().limit(limits=1)


def available_threads() -> int:
    """As many threads as scikit-learn would use: OMP_NUM_THREADS and joblib's workers count."""
    openmp = threadpool_controller().select(user_api="openmp").info()
    limit = min((pool["num_threads"] for pool in openmp), default=1)
    return min(limit, joblib.cpu_count(only_physical_cores=True))
