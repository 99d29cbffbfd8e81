"""The decorators behind which every kernel is compiled.

What a first call costs is the number of functions and of their argument types, rather than their
length: a kernel that Python calls gets `jit`, what only kernels call gets `helper`, or `inlined`
where each of them calls it in one place only.
"""

import functools
import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from conclust._kernels._compiling import watch_compiling


def jit(function: Callable[..., Any]) -> Any:
    """Compile on first call, cache on disk, release the GIL; degrade instead of failing.

    A read-only installation makes numba's ``cache=True`` raise while the module is imported, so
    it is retried without a cache; without numba the plain function runs, slowly but rightly.
    ``py_func`` is the plain function in every case, so that tests can compare the two.
    """
    numba = _numba()
    if numba is None:
        return _quiet(function)
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # "cannot cache function ...: no locator available"
        return numba.njit(**_OPTIONS)(function)


def helper(function: Callable[..., Any]) -> Any:
    """Compile as a part of the kernels that call it; called from Python, it is the plain function.

    Without an entry for Python and a file of its own in the cache, a small function compiles in
    two thirds of the time. Of a kernel that has both, ``helper(kernel)`` is one that has not.
    """
    function = getattr(function, "py_func", function)
    numba = _numba()
    if numba is None:
        return _plain(function)
    dispatcher = numba.njit(no_cpython_wrapper=True, **_OPTIONS)(function)
    return _seen_by_kernels()(function, dispatcher)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile as lines of the one kernel that calls it: called in several places, `helper` is less.

    Saves half of what a small function costs.
    """
    numba = _numba()
    return _plain(function) if numba is None else numba.njit(inline="always", **_OPTIONS)(function)


# Nobody calls kernels from C: that entry would be a tenth of the time to compile.
_OPTIONS = {"nogil": True, "no_cfunc_wrapper": True}


class _Helper:
    """A plain function to Python, a compiled one to kernels."""

    def __init__(self, function: Callable[..., Any], dispatcher: Any):
        functools.update_wrapper(self, function)
        self.py_func, self.dispatcher = function, dispatcher

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)


@functools.cache
def _seen_by_kernels() -> Any:
    """`_Helper`, once numba knows that it stands for the function compiled."""
    typeof_impl = importlib.import_module("numba.extending").typeof_impl
    typeof_impl.register(_Helper)(lambda helper, context: typeof_impl(helper.dispatcher, context))
    return _Helper


@functools.cache
def _numba() -> Any:
    try:
        numba: Any = importlib.import_module("numba")
    except ImportError as error:
        warnings.warn(
            f"conclust runs without numba ({error}): the answers are the same, but loops over "
            'rows and statements run in Python, slowly. "pip install numba" makes them fast.',
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    if numba.config.DISABLE_JIT:
        return None
    watch_compiling()
    return numba


def _quiet(function: Callable[..., Any]) -> Any:
    """The plain function; as silent as a compiled one where a hash overflows, as it should."""

    @functools.wraps(function)
    def kernel(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    kernel.py_func = function  # type: ignore[attr-defined]
    return kernel


def _plain(function: Any) -> Any:
    function.py_func = function
    return function
