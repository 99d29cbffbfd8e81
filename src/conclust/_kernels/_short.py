"""Short work is left to the interpreter: compiling takes seconds, loading what was compiled tenths.

A hierarchy of 150 samples takes the interpreter a tenth of a second, less than loading the compiled
code. So kernels run interpreted as long as that is short, all such calls of one process together;
then they are compiled; what an earlier process has compiled is used at once. The code is the same,
and so are its answers.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

# Steps that are interpreted before a kernel is compiled, all calls together: about one second, and
# a thirtieth of that for kernels that compile in less than a second.
PATIENCE = 3_000_000
LITTLE = 100_000

COMPILED = -1
_spent: dict[str, int] = {}  # steps of each kernel so far, or COMPILED
_namespaces: dict[int, dict[str, Any]] = {}


def short(
    kernel: Callable[..., Any], n_steps: int, patience: int | None = None
) -> Callable[..., Any]:
    """Choose how a kernel runs: interpreted while that is short, then compiled.

    Parameters
    ----------
    kernel : callable
        Decorated by :func:`conclust._kernels._jit.jit`.
    n_steps : int
        About how often its innermost statements are passed in this call.
    patience : int, default=None
        `PATIENCE` unless given.
    """
    return kernel if is_worth_compiling(kernel, n_steps, patience) else plain(kernel)


def is_worth_compiling(kernel: Any, n_steps: int, patience: int | None = None) -> bool:
    """Whether a kernel was compiled before, or has had as much work as that would be worth."""
    name = f"{kernel.__module__}.{kernel.__name__}"
    spent = _spent.get(name, 0)
    # What is compiled stays so; to ask numba each time takes longer than a small kernel.
    if spent == COMPILED:
        return True
    if getattr(kernel, "signatures", None) or _is_on_disk(kernel):
        _spent[name] = COMPILED
        return True
    if spent + n_steps > (PATIENCE if patience is None else patience):
        return True
    _spent[name] = spent + n_steps
    return False


@functools.cache
def _is_on_disk(kernel: Any) -> bool:
    """Whether an earlier process has left the kernel compiled in the cache."""
    folder = kernel.stats.cache_path if hasattr(kernel, "stats") else None
    if folder is None:
        return False
    module = Path(kernel.py_func.__code__.co_filename).stem
    return any(Path(folder).glob(f"{module}.{kernel.__name__}-*.nbi"))


def plain(kernel: Any) -> Callable[..., Any]:
    """The kernel as the interpreter runs it, and so everything that it calls."""
    function: FunctionType = kernel.py_func
    if function is kernel:
        return function  # nothing is compiled here
    names = function.__globals__
    if id(names) not in _namespaces:
        own = _namespaces[id(names)] = dict(names)
        for name, value in names.items():
            if hasattr(value, "py_func"):
                own[name] = plain(value)
    return FunctionType(function.__code__, _namespaces[id(names)], function.__name__)
