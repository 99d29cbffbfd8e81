import sys

import pytest

from conclust.cli._compiling import say_when_compiling


@pytest.mark.parametrize(("terminal", "n_lines"), [(True, 1), (False, 0)])
def test_compiling_is_said_once_and_on_a_terminal_only(monkeypatch, capsys, terminal, n_lines):
    numba = pytest.importorskip("numba")
    from numba.core import event

    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled under NUMBA_DISABLE_JIT")
    before = list(event._registered["numba:compile"])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    say_when_compiling()
    try:
        for function in (lambda x: x + 1, lambda x: x + 2):
            numba.njit(function)(1)
    finally:
        event._registered["numba:compile"][:] = before
    assert capsys.readouterr().err.count("Compiling") == n_lines
