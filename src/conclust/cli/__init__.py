"""The command line: one file per command, loaded when it is called."""

from conclust.cli._main import main

__all__ = ["main"]
