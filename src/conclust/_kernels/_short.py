"""Short work is left to the interpreter: compiling takes seconds, loading what was compiled tenths.

A hierarchy of 150 samples takes the interpreter a tenth of a second, less than loading the compiled
code. So kernels run interpreted as long as that is short, all such calls of one process together;
then they are compiled. The code is the same, and so are its answers.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

# Steps that are interpreted before a kernel is compiled, all calls together: about one second.
PATIENCE = 3_000_000

_spent: dict[str, int] = {}
_namespaces: dict[int, dict[str, Any]] = {}


def short(kernel: Callable[..., Any], n_steps: int) -> Callable[..., Any]:
    """Choose how a kernel runs: interpreted while that is short, then compiled.

    Parameters
    ----------
    kernel : callable
        Decorated by :func:`conclust._kernels._jit.jit`.
    n_steps : int
        About how often its innermost statements are passed in this call.
    """
    name = f"{kernel.__module__}.{kernel.__name__}"
    if _spent.get(name, 0) + n_steps > PATIENCE:
        return kernel
    _spent[name] = _spent.get(name, 0) + n_steps
    return plain(kernel)


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
