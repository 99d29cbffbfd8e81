"""Serve a project on this computer until it is stopped."""

import contextlib
import secrets
import socket
import sys
from collections.abc import Callable
from typing import Any

from conclust.exceptions import MissingExtraError, SessionError
from conclust.studio._project import Project

# Requests wait at most so long for a thread that computes; five times the usual rate.
SWITCH = 0.001


def require_web() -> Any:
    """The web server, or the error that says how to get it."""
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise MissingExtraError(
            f"The studio needs {error.name}, which is not installed: "
            'pip install "conclust[studio]".'
        ) from error
    return uvicorn


def serve(
    project: Project,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    on_ready: Callable[[str], None] = print,
) -> None:
    """Serve the page until Ctrl-C.

    Parameters
    ----------
    project : Project
        The project to serve.
    host : str, default="127.0.0.1"
        Other computers can reach the page only under another address of this one.
    port : int, default=None
        None: that of the last time if it is free, else any.
    on_ready : callable, default=print
        Told the address, with the token that opens the page.

    See Also
    --------
    open_project : Makes the project, or opens it again.

    Examples
    --------
    >>> from conclust.studio import Data, open_project, serve
    >>> project = open_project(Data("x", [[0.0], [1.0], [5.0]]), "x.studio")  # doctest: +SKIP
    >>> serve(project)  # doctest: +SKIP
    """
    uvicorn = require_web()
    from conclust.studio._server import LAST, make_app

    listening = _listen(host, port, project.store.fact("port"))
    port = int(listening.getsockname()[1])
    token = project.store.fact("token") or secrets.token_urlsafe(24)
    project.store.set_facts(port=port, token=token)
    config = uvicorn.Config(
        make_app(project, token, host, port),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        limit_concurrency=500,
    )
    sys.setswitchinterval(SWITCH)
    project.background.start()
    on_ready(address(host, port, token))

    class Server(uvicorn.Server):  # type: ignore[name-defined]
        async def shutdown(self, sockets: Any = None) -> None:
            project.tell_listeners(LAST)  # pages that listen would keep it from stopping
            await super().shutdown(sockets)

    with contextlib.suppress(KeyboardInterrupt):  # raised again by uvicorn once it has stopped
        Server(config).run(sockets=[listening])


def address(host: str, port: int, token: str) -> str:
    """What is opened in a browser."""
    named = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host
    return f"http://{f'[{named}]' if ':' in named else named}:{port}/?token={token}"


def _listen(host: str, port: int | None, last: int | None) -> socket.socket:
    wanted = [port] if port is not None else [*([last] if last else []), 0]
    for each in wanted:
        try:
            return _bound(host, each)
        except OSError as error:
            if each == wanted[-1]:
                raise SessionError(
                    f"{host}:{each} cannot be listened on ({error.strerror}); choose another with "
                    "--host and --port."
                ) from error
    raise AssertionError


def _bound(host: str, port: int) -> socket.socket:
    family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening
