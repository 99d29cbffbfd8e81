"""One line while kernels are compiled, instead of a silent minute."""

import functools
import importlib
import logging
import threading
import time
from typing import Any

# Below this nobody wonders. Seconds of compiling in one process, added up.
PATIENCE = 1.0


class Watch:
    """Says once, and only when compiling takes long, what is being waited for.

    Attributes
    ----------
    said : bool
    """

    def __init__(self, patience: float):
        self.said = False
        self._left, self._depth = patience, 0

    def start(self, is_cached: bool) -> None:
        """A kernel begins to be compiled, perhaps for another one; not when read from the cache."""
        self._depth += 1
        if self._depth == 1 and not self.said:
            self._began = time.monotonic()
            self._timer = threading.Timer(max(self._left, 0), self._say, [is_cached])
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """The kernel that began last is compiled."""
        self._depth -= 1
        if self._depth == 0 and not self.said:
            self._timer.cancel()
            self._left -= time.monotonic() - self._began

    def _say(self, is_cached: bool) -> None:
        self.said = True
        how_often = (
            "once on this machine for each kind of data"
            if is_cached
            else "in every process, unless NUMBA_CACHE_DIR names a folder that can be written"
        )
        # A warning, since what is less is not shown unless somebody asks for it.
        logging.getLogger("conclust").warning(
            "conclust is compiling its loops, %s: 5 to 30 seconds …", how_often
        )


@functools.cache
def watch_compiling() -> None:
    """Watch the kernels of this package from now on; needs numba."""
    event = importlib.import_module("numba.core.event")
    watch = Watch(PATIENCE)

    class Listener(event.Listener):  # type: ignore[name-defined]
        def on_start(self, event: Any) -> None:
            if _is_ours(event):
                watch.start(event.data["dispatcher"]._cache.cache_path is not None)

        def on_end(self, event: Any) -> None:
            if _is_ours(event):
                watch.end()

    event.register("numba:compile", Listener())


def _is_ours(event: Any) -> bool:
    # A function made by `exec` may have no module.
    module: str | None = event.data["dispatcher"].py_func.__module__
    return module is not None and module.split(".")[0] == "conclust"
