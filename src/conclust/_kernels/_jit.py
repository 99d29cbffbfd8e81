"""The one decorator behind which every kernel is compiled."""

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile on first call, cache on disk, release the GIL; degrade instead of failing.

    A read-only installation makes numba's ``cache=True`` raise while the module is imported, so
    it is retried without a cache; without numba the plain function runs, slowly but rightly.
    ``py_func`` is the plain function in every case, so that tests can compare the two.
    """
    try:
        numba: Any = importlib.import_module("numba")
    except ImportError:
        return _plain(function)
    if numba.config.DISABLE_JIT:
        return _plain(function)
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "cannot cache function ...: no locator available"
        return numba.njit(nogil=True)(function)


def _plain(function: F) -> F:
    function.py_func = function  # type: ignore[attr-defined]
    return function


def part(function: F) -> F:
    """Compile as a part of the kernels that call it; it cannot be called from Python.

    Without the two wrappers and a cache entry of its own a small function costs half the time to
    compile. `py_func` is the plain function here too.
    """
    try:
        numba: Any = importlib.import_module("numba")
    except ImportError:
        return _plain(function)
    if numba.config.DISABLE_JIT:
        return _plain(function)
    return numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
