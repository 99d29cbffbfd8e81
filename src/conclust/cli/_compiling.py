"""One line on the terminal while kernels are compiled, instead of silence."""

import sys

import click


def say_when_compiling() -> None:
    """Say so once, on a terminal, when the first kernel has to be compiled; not when it is read."""
    if not sys.stderr.isatty():
        return
    try:
        from numba.core import event
    except ImportError:  # then kernels run as they are
        return

    class Once(event.Listener):
        said = False

        def on_start(self, event: object) -> None:
            if not self.said:
                click.echo("Compiling, once on this machine: 5 to 20 seconds …", err=True)
            self.said = True

        def on_end(self, event: object) -> None:
            pass

    event.register("numba:compile", Once())
